/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A helper program that stays: lines, deadlines, its end, and restarts. */
#include "base/coproc.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "tap.h"

#define SH(script) ((const char *const[]){ "/bin/sh", "-c", script, NULL })

static int64_t in(int ms)
{
	return clf_coproc_now_ms() + ms;
}

static void test_talk(void)
{
	struct clf_coproc c = CLF_COPROC_INIT(1 << 20);
	struct clf_error err = { 0 };
	char *line = NULL;

	ok(!clf_coproc_start(&c, SH("while read l; do echo \"<$l>\"; done"), NULL, &err), "starts: %s", err.text);
	ok(!clf_coproc_send(&c, "one\ntwo\n", 8, in(2000), &err) && !clf_coproc_line(&c, &line, in(2000), &err),
	   "a line");
	is_str(line, "<one>", "the first");
	ok(!clf_coproc_line(&c, &line, in(2000), &err), "another");
	is_str(line, "<two>", "the second");
	pid_t pid = c.pid;
	clf_coproc_stop(&c);
	ok(!c.pid && kill(pid, 0) && errno == ESRCH, "stopped, and gone");
	clf_coproc_stop(&c);
}

static void test_deadline(void)
{
	struct clf_coproc c = CLF_COPROC_INIT(1 << 20);
	struct clf_error err = { 0 };
	char *line;
	int64_t began = clf_coproc_now_ms();

	ok(!clf_coproc_start(&c, SH("echo $$; sleep 60 & wait"), NULL, NULL) &&
		   !clf_coproc_line(&c, &line, in(2000), NULL),
	   "it hangs");
	ok(clf_coproc_line(&c, &line, in(100), &err) && err.code == CLF_E_TIMEOUT, "no answer is a timeout: %s",
	   err.text);
	clf_coproc_stop(&c);
	ok(clf_coproc_now_ms() - began < 1500, "and it is ended with its children in %lld ms",
	   (long long) (clf_coproc_now_ms() - began));
}

static void test_end(void)
{
	struct clf_coproc c = CLF_COPROC_INIT(1 << 20);
	struct clf_error err = { 0 };
	char *line;
	int status = -1;

	ok(!clf_coproc_start(&c, SH("echo half; echo no port >&2; printf rest"), NULL, NULL) &&
		   !clf_coproc_line(&c, &line, in(2000), NULL),
	   "it ends");
	ok(clf_coproc_line(&c, &line, in(2000), &err) && err.code == CLF_E_REMOTE && strstr(err.text, "no port"),
	   "half a line is none, and its last words are told: %s", err.text);
	clf_coproc_stop(&c);
	err = (struct clf_error){ 0 };
	static char much[1 << 20];
	ok(!clf_coproc_start(&c, SH("exec true"), NULL, NULL), "one that reads nothing");
	nanosleep(&(struct timespec){ .tv_nsec = 100000000 }, NULL);
	ok(clf_coproc_send(&c, much, sizeof much, in(2000), &err) && err.code == CLF_E_REMOTE,
	   "does not kill the writer: %s", err.text);
	clf_coproc_stop(&c);
	ok(!clf_coproc_start(&c, SH("cat >/dev/null; echo done; exit 7"), NULL, NULL), "one that reads to the end");
	ok(!clf_coproc_send(&c, much, sizeof much, in(2000), NULL), "all is sent");
	clf_coproc_end_input(&c);
	ok(!clf_coproc_line(&c, &line, in(2000), NULL) && !strcmp(line, "done") &&
		   !clf_coproc_wait(&c, in(2000), &status, NULL),
	   "it answers and ends");
	is_int(status, 7, "with its status");
}

static void test_cap(void)
{
	struct clf_coproc c = CLF_COPROC_INIT(1000);
	struct clf_error err = { 0 };
	char *line;

	ok(!clf_coproc_start(&c, SH("while :; do printf xxxxxxxxxxxxxxxx; done"), NULL, NULL),
	   "one that never ends its line");
	ok(clf_coproc_line(&c, &line, in(5000), &err) && err.code == CLF_E_NOMEM, "is cut off: %s", err.text);
	clf_coproc_stop(&c);
}

static void test_restart(void)
{
	struct clf_coproc c = CLF_COPROC_INIT(1000);
	struct clf_error err = { 0 };

	for (int i = 0; i < 3; i++) {
		c.not_before_ms = 0;
		if (clf_coproc_start(&c, SH("exit 1"), NULL, NULL))
			break;
		clf_coproc_failed(&c);
	}
	ok(clf_coproc_start(&c, SH("exit 1"), NULL, &err) && err.code == CLF_E_REMOTE &&
		   strstr(err.text, "failed 3 times"),
	   "after failures it waits: %s", err.text);
	ok(c.not_before_ms - clf_coproc_now_ms() > 250 && c.not_before_ms - clf_coproc_now_ms() <= 400,
	   "longer each time");
	clf_coproc_worked(&c);
	ok(!clf_coproc_start(&c, SH("exit 0"), NULL, NULL), "and forgets when it worked");
	clf_coproc_stop(&c);
	err = (struct clf_error){ 0 };
	ok(clf_coproc_start(&c, (const char *const[]){ "sh", NULL }, NULL, &err) && err.code == CLF_E_INVALID,
	   "no search path");
	ok(clf_coproc_start(&c, (const char *const[]){ "/nonexistent/x", NULL }, NULL, NULL), "no program");
}

int main(void)
{
	test_talk();
	test_deadline();
	test_end();
	test_cap();
	test_restart();
	return done_testing();
}
