/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The client against daemons that are absent, silent, late, rude; and how long it waits. */
#include "wire/client.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "tap.h"

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static char path[108];
static int listener = -1;

static void serve_at(const char *name, int backlog)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };

	snprintf(path, sizeof path, "%.80s/%s", clf_test_dir(), name);
	strcpy(a.sun_path, path);
	listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (bind(listener, (struct sockaddr *) &a, sizeof a) || listen(listener, backlog))
		diag("listen: %s", strerror(errno));
}

/* One answer a connection, made of what `arg` says: text to reply, "" to hang up, NULL to say nothing. */
static void *peer(void *arg)
{
	const char *text = arg;
	int fd = accept(listener, NULL, NULL);
	char in[CLF_WIRE_MAX];
	ssize_t n = recv(fd, in, sizeof in, 0);
	struct clf_msg m;
	struct clf_buf b = CLF_BUF_INIT(CLF_WIRE_MAX + 1);

	if (n > 0 && text && *text && !clf_msg_decode(in, (size_t) n, &m, NULL)) {
		/* an old answer first: it must be passed over */
		if (!clf_msg_encode(CLF_MSG_REPLY, m.seq - 1, "{\"ok\":true,\"old\":1}", 19, &b, NULL))
			send(fd, b.data, b.len, MSG_NOSIGNAL);
		clf_buf_reset(&b);
		if (!clf_msg_encode(CLF_MSG_REPLY, m.seq, text, strlen(text), &b, NULL))
			send(fd, b.data, b.len, MSG_NOSIGNAL);
	}
	if (!text)
		usleep(600000);
	clf_buf_done(&b);
	close(fd);
	return NULL;
}

static enum clf_code ask(const char *answer, int timeout_ms, json_t **reply, int64_t *took, struct clf_error *err)
{
	CLF_CLEANUP(clf_client_destroyp) struct clf_client *c = clf_client_create(path, err);
	json_auto_t *q = json_pack("{s:s}", "op", "status");
	pthread_t t;
	int64_t from = now_ms();
	int rc;

	pthread_create(&t, NULL, peer, (void *) answer);
	rc = clf_client_call(c, q, timeout_ms, reply, err);
	*took = now_ms() - from;
	pthread_join(t, NULL);
	return rc ? err->code : CLF_OK;
}

static void test_answers(void)
{
	static const struct {
		const char *answer;
		enum clf_code want;
		const char *what;
	} cases[] = {
		{ "{\"ok\":true,\"x\":1}", CLF_OK, "an answer" },
		{ "{\"ok\":false,\"code\":\"denied\",\"text\":\"no\",\"advice\":\"ask\"}", CLF_E_DENIED, "a refusal" },
		{ "{\"ok\":false,\"code\":\"new-word\",\"text\":\"no\"}", CLF_E_REMOTE,
		  "a refusal of an unknown kind" },
		{ "{\"ok\":false,\"text\":\"\"}", CLF_E_REMOTE, "a refusal without words" },
		{ "{\"ok\":1}", CLF_E_REMOTE, "neither ok nor not" },
		{ "[1]", CLF_E_REMOTE, "no object" },
		{ "{\"ok\":true", CLF_E_REMOTE, "no JSON" },
		{ "", CLF_E_REMOTE, "hung up" },
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct clf_error err = { 0 };
		json_auto_t *r = NULL;
		int64_t took;

		is_int(ask(cases[i].answer, 5000, &r, &took, &err), cases[i].want, "%s: %s", cases[i].what, err.text);
		ok((r != NULL) == (cases[i].want == CLF_OK) && took < 2000, "reply only then, soon");
		ok(!cases[i].want || *err.text, "a failure has words");
		if (i == 1)
			is_str(err.text, "no; ask", "text and advice");
		if (r)
			is_int(json_integer_value(json_object_get(r, "x")), 1, "and not the old one");
	}
}

static void test_deadlines(void)
{
	struct clf_error err = { 0 };
	json_auto_t *r = NULL;
	int64_t took;

	is_int(ask(NULL, 50, &r, &took, &err), CLF_E_TIMEOUT, "silence: %s", err.text);
	ok(took >= 50 && took < 150, "50 ms are 50 ms (%d)", (int) took);
}

static void test_absent(void)
{
	struct clf_error err = { 0 };
	CLF_CLEANUP(clf_client_destroyp) struct clf_client *c = clf_client_create("/nonexistent/sock", &err);
	json_auto_t *q = json_pack("{s:s}", "op", "status");
	char longer[200];
	uint64_t seq;

	ok(clf_client_call(c, q, 5000, NULL, &err) == -1 && err.code == CLF_E_REMOTE, "nobody there: %s", err.text);
	err = (struct clf_error){ 0 };
	ok(clf_client_record_async(c, "{}", 2, &err) == -1 && err.code == CLF_E_REMOTE, "nor for an async record");
	ok(clf_client_send(c, q, &seq, NULL) == -1 && clf_client_fd(c) == -1, "nor for a pipelined one");
	memset(longer, 'a', sizeof longer - 1);
	longer[sizeof longer - 1] = '\0';
	ok(!clf_client_create(longer, &err) && !clf_client_create("", NULL), "a path that fits no socket is refused");
}

/* A full backlog answers nothing at all: the deadline must hold in connect, too. */
static void test_backlog(void)
{
	struct clf_client *fill[8];
	json_auto_t *q = json_pack("{s:s}", "op", "status");
	struct clf_error err = { 0 };
	enum clf_code code = CLF_OK;
	int64_t took = 0;

	close(listener);
	serve_at("full", 1);
	for (int i = 0; i < 8; i++) {
		int64_t from = now_ms();

		fill[i] = clf_client_create(path, NULL);
		err = (struct clf_error){ 0 };
		if (clf_client_call(fill[i], q, 40, NULL, &err))
			code = err.code;
		took = now_ms() - from;
	}
	ok(code == CLF_E_TIMEOUT && took >= 35 && took < 200, "a full backlog ends at the deadline (%d ms): %s",
	   (int) took, err.text);
	for (int i = 0; i < 8; i++)
		clf_client_destroy(fill[i]);
}

/* A socket that nobody reads fills up: async says so at once. */
static void test_full(void)
{
	CLF_CLEANUP(clf_client_destroyp) struct clf_client *c = NULL;
	CLF_AUTO_FREE char *body = malloc(50000);
	struct clf_error err = { 0 };
	int sent = 0;
	int64_t from = now_ms();

	close(listener);
	serve_at("deaf", 4);
	c = clf_client_create(path, NULL);
	memset(body, ' ', 50000);
	while (sent < 1000 && !clf_client_record_async(c, body, 50000, &err))
		sent++;
	ok(sent > 0 && sent < 1000 && err.code == CLF_E_REMOTE && now_ms() - from < 1000,
	   "after %d records the socket is full, at once", sent);
}

int main(void)
{
	serve_at("peer", 8);
	test_answers();
	test_deadlines();
	test_absent();
	test_backlog();
	test_full();
	return done_testing();
}
