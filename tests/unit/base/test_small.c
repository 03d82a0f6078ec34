/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Errors, buffers, bitmaps, maps, names, numbers, times, programs. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/bitmap.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/lex.h"
#include "base/log.h"
#include "base/proc.h"
#include "base/strmap.h"
#include "base/strv.h"
#include "tap.h"

static void errors(void)
{
	struct clf_error err = { 0 };
	char buf[600], path[400];

	errno = 7;
	is_int(clf_fail(&err, CLF_E_IO, "first '%s'", "a\nb\033[31m"), -1, "always -1");
	is_int(errno, 7, "errno is kept");
	clf_fail(&err, CLF_E_PARSE, "second");
	ok(err.code == CLF_E_IO && !strncmp(err.text, "first", 5), "the first error wins");
	ok(!strchr(err.text, '\n') && !strchr(err.text, '\033'), "no control characters: %s", err.text);
	clf_error_prefix(&err, "while reading");
	ok(!strncmp(err.text, "while reading: first", 20), "a prefix");
	is_int(clf_fail(NULL, CLF_E_IO, "x"), -1, "no record is allowed");
	err = (struct clf_error){ 0 };
	memset(path, 'p', sizeof(path));
	strcpy(path + 390, "/end.conf");
	clf_fail_at(&err, CLF_E_PARSE, path, 3, 14, "want a number");
	clf_error_string(&err, buf, sizeof(buf));
	ok(strstr(buf, "end.conf:3:14: want a number"), "a long path keeps its end: %s", buf);
	is_str(clf_code_name((enum clf_code) 99), "unknown", "a code that is none has a name too");
}

static void buffers(void)
{
	struct clf_buf b = CLF_BUF_INIT(10);
	struct clf_error err = { 0 };

	ok(!clf_buf_puts(&b, "12345", &err) && !clf_buf_printf(&b, &err, "%d", 67890), "up to the cap");
	ok(clf_buf_puts(&b, "x", &err) == -1 && err.code == CLF_E_NOMEM, "not past it");
	is_str(b.data, "1234567890", "what was there stays");
	clf_buf_reset(&b);
	is_int(b.len, 0, "reset");
	clf_buf_done(&b);
}

static void bitmaps(void)
{
	uint32_t wrong = 0;

	srand(5);
	for (int round = 0; round < 500; round++) {
		uint32_t n = 1 + (uint32_t) rand() % 300, first = (uint32_t) rand() % n, len = (uint32_t) rand() % 320,
			 count = 0, next;
		CLF_CLEANUP(clf_bitmap_destroyp) struct clf_bitmap *a = clf_bitmap_create(n, NULL);
		CLF_CLEANUP(clf_bitmap_destroyp) struct clf_bitmap *b = NULL;

		for (uint32_t i = 0; i < n; i++)
			if (rand() % 2)
				clf_bitmap_set(a, i);
		for (uint32_t i = first; i < n && i < first + len; i++)
			count += clf_bitmap_test(a, i);
		wrong += clf_bitmap_count_range(a, first, len) != count;
		for (next = first; next < n && !clf_bitmap_test(a, next); next++)
			;
		wrong += clf_bitmap_next(a, first) != next;
		b = clf_bitmap_copy(a, NULL);
		clf_bitmap_invert(b);
		wrong += clf_bitmap_intersects(a, b) || clf_bitmap_count(a) + clf_bitmap_count(b) != n;
		clf_bitmap_or(b, a);
		wrong += clf_bitmap_count(b) != n || !clf_bitmap_subset(a, b);
		clf_bitmap_set(a, n);
		clf_bitmap_set(a, n + 64);
		wrong += clf_bitmap_test(a, n);
	}
	is_int(wrong, 0, "500 random bitmaps against single bits");
}

static void maps(void)
{
	CLF_CLEANUP(clf_strmap_done) struct clf_strmap m = { .copy = true };
	struct clf_error err = { 0 };
	uint32_t v = 77, wrong = 0;
	char key[32];

	ok(!clf_strmap_find(&m, "x", &v) && v == 77, "an empty map");
	for (uint32_t i = 0; i < 50000; i++) {
		snprintf(key, sizeof(key), "key%u", i);
		wrong += clf_strmap_add(&m, key, i, &err) != 0;
	}
	for (uint32_t i = 0; i < 50000; i++) {
		snprintf(key, sizeof(key), "key%u", i);
		wrong += !clf_strmap_find(&m, key, &v) || v != i;
	}
	is_int(wrong, 0, "50,000 keys");
	ok(clf_strmap_add(&m, "key7", 1, &err) == -1 && err.code == CLF_E_CONFLICT, "a key twice: %s", err.text);
	ok(!clf_strmap_set(&m, "key7", 1, NULL) && clf_strmap_find(&m, "key7", &v) && v == 1, "set replaces");
	ok(clf_strmap_findn(&m, "key7tail", 4, &v) && v == 1 && !clf_strmap_findn(&m, "key7", 3, &v), "part of a text");
}

static void words(void)
{
	unsigned long long u = 5;
	double d = 5;
	int64_t ms = 0;
	char buf[40];

	ok(clf_strnatcmp("n2", "n10") < 0 && clf_strnatcmp("n10", "n2") > 0 && clf_strnatcmp("n02", "n2") != 0 &&
		   !clf_strnatcmp("a", "a"),
	   "natural order");
	ok(clf_strnatcmp("n99999999999999999999998", "n99999999999999999999999") < 0, "with numbers of any length");
	ok(clf_parse_u64("18446744073709551615", 20, &u) && u == UINT64_MAX, "the largest number");
	u = 5;
	ok(!clf_parse_u64("18446744073709551616", 20, &u) && !clf_parse_u64("-1", 2, &u) &&
		   !clf_parse_u64(" 1", 2, &u) && !clf_parse_u64("1x", 2, &u) && !clf_parse_u64("", 0, &u) && u == 5,
	   "what is no number");
	ok(clf_parse_hex64("0xff", 4, &u) && u == 255 && clf_parse_hex64("FF", 2, &u) && !clf_parse_hex64("0x", 2, &u),
	   "hexadecimal");
	ok(clf_parse_double("1e-3", 4, &d) && d == 1e-3 && !clf_parse_double("inf", 3, &d) &&
		   !clf_parse_double("nan", 3, &d),
	   "finite numbers");
	ok(!clf_time_parse("2026-06-01T00:00:00Z", &ms, NULL) && ms == INT64_C(1780272000000), "a time: %lld",
	   (long long) ms);
	is_str(clf_time_format(ms, buf, sizeof(buf)), "2026-06-01T00:00:00.000Z", "and back");
	ok(clf_time_parse("2026-06-01", &ms, NULL) && clf_time_parse("2026-13-01T00:00:00Z", &ms, NULL) &&
		   clf_time_parse("2026-02-30T00:00:00Z", &ms, NULL) &&
		   clf_time_parse("2026-06-01T00:00:00+05:30", &ms, NULL),
	   "what is no time");
}

static void to_memory(void *arg, enum clf_log_level level, const char *text)
{
	snprintf(arg, 200, "%d %s", level, text);
}

static void logs(void)
{
	char got[200] = "";
	struct clf_log log = { to_memory, got, CLF_LOG_INFO };

	clf_log(&log, CLF_LOG_DEBUG, "hidden");
	is_str(got, "", "below the level");
	clf_log(&log, CLF_LOG_WARN, "a\033[1m%s", "b\n");
	ok(!strchr(got, '\033') && !strchr(got, '\n') && !strncmp(got, "1 a", 3), "escaped: %s", got);
	clf_log(NULL, CLF_LOG_ERROR, "x");
}

static void programs(void)
{
	struct clf_buf out = CLF_BUF_INIT(100), errout = CLF_BUF_INIT(100);
	struct clf_proc_result r = { -1 };
	struct clf_error err = { 0 };
	int leak = open("/dev/null", O_RDONLY), n;
	char marker[64], cmd[300];

	ok(!clf_proc_run((const char *const[]){ "/bin/sh", "-c", "echo out; echo err >&2; exit 3", NULL }, NULL, 5000,
			 &out, &errout, &r, &err),
	   "a program: %s", err.text);
	ok(r.status == 3 && !strcmp(out.data, "out\n") && !strcmp(errout.data, "err\n"), "its status and both outputs");
	clf_buf_reset(&out);
	ok(!clf_proc_run((const char *const[]){ "/bin/sh", "-c", "ls /proc/self/fd | wc -l; env | grep -c HOME", NULL },
			 NULL, 5000, &out, NULL, &r, &err) &&
		   !strcmp(out.data, "4\n0\n"),
	   "no descriptor and no environment is inherited: %s", out.data);
	close(leak);
	ok(!clf_proc_run((const char *const[]){ "/bin/sh", "-c", "kill -9 $$", NULL }, NULL, 5000, NULL, NULL, &r,
			 &err) &&
		   r.status == 137,
	   "a signal");
	clf_buf_reset(&out);
	ok(clf_proc_run((const char *const[]){ "/bin/sh", "-c", "while :; do echo yyyyyyyyyyyyyyyyy; done", NULL },
			NULL, 5000, &out, NULL, &r, &err) == -1 &&
		   err.code == CLF_E_NOMEM,
	   "too much output: %s", err.text);
	snprintf(marker, sizeof(marker), "86400.%d", getpid());
	snprintf(cmd, sizeof(cmd), "sleep %s & sleep %s", marker, marker);
	err = (struct clf_error){ 0 };
	ok(clf_proc_run((const char *const[]){ "/bin/sh", "-c", cmd, NULL }, NULL, 200, NULL, NULL, &r, &err) == -1 &&
		   err.code == CLF_E_TIMEOUT,
	   "too long: %s", err.text);
	snprintf(cmd, sizeof(cmd),
		 "for i in 1 2 3 4 5 6 7 8 9; do pgrep -f '^sleep %s' >/dev/null || exit 0; sleep .1; done; exit 1",
		 marker);
	n = system(cmd);
	is_int(n, 0, "and its children are gone too");
	err = (struct clf_error){ 0 };
	ok(clf_proc_run((const char *const[]){ "sh", NULL }, NULL, 100, NULL, NULL, &r, &err) == -1 &&
		   err.code == CLF_E_INVALID,
	   "no absolute path");
	err = (struct clf_error){ 0 };
	ok(clf_proc_run((const char *const[]){ "/nonexistent", NULL }, NULL, 100, NULL, NULL, &r, &err) == -1 &&
		   err.code == CLF_E_IO,
	   "no program: %s", err.text);
	clf_buf_done(&out);
	clf_buf_done(&errout);
}

int main(void)
{
	errors();
	buffers();
	bitmaps();
	maps();
	words();
	logs();
	programs();
	return done_testing();
}
