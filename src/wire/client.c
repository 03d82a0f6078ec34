/* SPDX-License-Identifier: GPL-2.0-or-later */
/* client.c - one connection, deadlines that hold. */
#include "wire/client.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>

struct clf_client {
	struct sockaddr_un addr;
	int fd;
	uint64_t seq; /* of the last message sent */
	struct clf_buf out;
	char in[CLF_WIRE_MAX + 1]; /* one more, to see a packet that is too long */
};

struct clf_client *clf_client_create(const char *socket_path, struct clf_error *err)
{
	struct clf_client *c;

	if (!*socket_path || strlen(socket_path) >= sizeof c->addr.sun_path) {
		clf_fail(err, CLF_E_INVALID, "socket path '%s' is empty or longer than %zu bytes", socket_path,
			 sizeof c->addr.sun_path - 1);
		return NULL;
	}
	c = calloc(1, sizeof *c);
	if (!c) {
		clf_fail(err, CLF_E_NOMEM, "out of memory");
		return NULL;
	}
	c->fd = -1;
	c->out.max = CLF_WIRE_MAX + 1; /* the buffer's own terminator */
	c->addr.sun_family = AF_UNIX;
	strcpy(c->addr.sun_path, socket_path);
	return c;
}

static void drop(struct clf_client *c)
{
	clf_closep(&c->fd);
	c->fd = -1;
}

void clf_client_destroy(struct clf_client *c)
{
	if (!c)
		return;
	drop(c);
	clf_buf_done(&c->out);
	free(c);
}

int clf_client_fd(const struct clf_client *c)
{
	return c->fd;
}

static int64_t now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * INT64_C(1000000) + t.tv_nsec / 1000;
}

/* Wait until fd is ready or the deadline has come. false: it has. fd -1 only sleeps. */
static bool wait_for(int fd, short events, int64_t deadline_us)
{
	struct pollfd p = { .fd = fd, .events = events };

	for (;;) {
		int64_t left = deadline_us - now_us();

		if (left <= 0)
			return false;

		struct timespec t = { .tv_sec = left / 1000000, .tv_nsec = left % 1000000 * 1000 };
		int n = ppoll(&p, 1, &t, NULL);

		if (n > 0)
			return true;
		if (n < 0 && errno != EINTR)
			return false;
	}
}

static int connect_once(struct clf_client *c, struct clf_error *err)
{
	c->fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (c->fd < 0)
		return clf_fail(err, CLF_E_REMOTE, "cannot make a socket: %s", strerror(errno));
	if (!connect(c->fd, (struct sockaddr *) &c->addr, sizeof c->addr))
		return 0;

	int e = errno;

	drop(c);
	errno = e;
	if (e == EAGAIN)
		return clf_fail(err, CLF_E_TIMEOUT, "closfoldd at '%s' is too busy to take a connection",
				c->addr.sun_path);
	return clf_fail(err, CLF_E_REMOTE, "closfoldd at '%s' cannot be reached: %s", c->addr.sun_path, strerror(e));
}

/* A full backlog answers EAGAIN, and no poll tells when there is room: look again each millisecond. */
static int connect_until(struct clf_client *c, int64_t deadline_us, struct clf_error *err)
{
	while (c->fd < 0) {
		struct clf_error e = { 0 };

		if (!connect_once(c, &e))
			break;

		int64_t next = now_us() + 1000;

		if (e.code != CLF_E_TIMEOUT || next >= deadline_us)
			return clf_fail(err, e.code, "%s", e.text);
		wait_for(-1, 0, next);
	}
	return 0;
}

static int lost(struct clf_client *c, const char *what, struct clf_error *err)
{
	drop(c);
	return clf_fail(err, CLF_E_REMOTE, "closfoldd hung up: %s", what);
}

/* Send what is in c->out; deadline 0 = not a moment. */
static int send_out(struct clf_client *c, int64_t deadline_us, struct clf_error *err)
{
	for (;;) {
		ssize_t n = send(c->fd, c->out.data, c->out.len, MSG_NOSIGNAL | MSG_DONTWAIT);

		if (n == (ssize_t) c->out.len)
			return 0;
		if (n >= 0)
			return lost(c, "packet sent in part", err);
		if (errno == EINTR)
			continue;
		if (errno != EAGAIN && errno != EWOULDBLOCK)
			return lost(c, strerror(errno), err);
		if (!deadline_us)
			return clf_fail(err, CLF_E_REMOTE, "socket of closfoldd is full");
		if (!wait_for(c->fd, POLLOUT, deadline_us))
			return clf_fail(err, CLF_E_TIMEOUT, "closfoldd did not take the message in time");
	}
}

static int encode_request(struct clf_client *c, json_t *request, struct clf_error *err)
{
	CLF_AUTO_FREE char *text = clf_json_canonical(request);

	if (!text)
		return clf_fail(err, CLF_E_NOMEM, "out of memory");
	clf_buf_reset(&c->out);
	return clf_msg_encode(CLF_MSG_REQUEST, ++c->seq, text, strlen(text), &c->out, err);
}

int clf_client_receive(struct clf_client *c, uint64_t *seq, json_t **reply, struct clf_error *err)
{
	struct clf_msg m;
	ssize_t n;

	if (c->fd < 0)
		return clf_fail(err, CLF_E_REMOTE, "not connected to closfoldd");
	do
		n = recv(c->fd, c->in, sizeof c->in, MSG_DONTWAIT);
	while (n < 0 && errno == EINTR);
	if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
		return 0;
	if (n <= 0)
		return lost(c, n ? strerror(errno) : "end of connection", err);

	struct clf_error why = { 0 };
	struct clf_text text = { 0 };
	struct clf_json_doc doc = { 0 };

	if (n > (ssize_t) CLF_WIRE_MAX || clf_msg_decode(c->in, (size_t) n, &m, &why) || m.type != CLF_MSG_REPLY)
		return lost(c, why.text[0] ? why.text : "not a reply", err);
	c->in[n] = '\0';
	if (memchr(m.body, 0, m.len) || clf_text_from_string("reply", m.body, &text, &why) ||
	    clf_json_load_text(&text, &doc, &why))
		return lost(c, why.text[0] ? why.text : "reply is not text", err);
	if (!json_is_object(doc.root)) {
		clf_json_doc_done(&doc);
		return lost(c, "reply is no object", err);
	}
	*reply = json_incref(doc.root);
	*seq = m.seq;
	clf_json_doc_done(&doc);
	return 1;
}

/* Replies to earlier messages that timed out are read past. */
static int await(struct clf_client *c, int64_t deadline_us, json_t **reply, struct clf_error *err)
{
	for (;;) {
		uint64_t seq = 0;
		json_auto_t *got = NULL;
		int n = clf_client_receive(c, &seq, &got, err);

		if (n < 0)
			return -1;
		if (n && seq == c->seq) {
			int rc = clf_reply_check(got, err);

			if (!rc && reply)
				*reply = CLF_STEAL(got);
			return rc;
		}
		if (!n && !wait_for(c->fd, POLLIN, deadline_us)) {
			drop(c); /* a late answer must not meet the next question */
			return clf_fail(err, CLF_E_TIMEOUT,
					"no answer from closfoldd in time: whether it acted is unknown");
		}
	}
}

/* A connection that died since it was last used is made once more: nothing of this message has been sent on it. */
static int exchange(struct clf_client *c, int timeout_ms, json_t **reply, struct clf_error *err)
{
	int64_t deadline = now_us() + (timeout_ms > 0 ? timeout_ms : 0) * INT64_C(1000);
	bool fresh = c->fd < 0;
	struct clf_error why = { 0 };

	if (connect_until(c, deadline, err))
		return -1;

	int rc = send_out(c, deadline, &why);

	if (rc && why.code == CLF_E_REMOTE && !fresh) {
		why = (struct clf_error){ 0 };
		if (connect_until(c, deadline, err))
			return -1;
		rc = send_out(c, deadline, &why);
	}
	if (rc) {
		if (err && !err->code)
			*err = why;
		return -1;
	}
	return await(c, deadline, reply, err);
}

int clf_client_call(struct clf_client *c, json_t *request, int timeout_ms, json_t **reply, struct clf_error *err)
{
	if (encode_request(c, request, err))
		return -1;
	return exchange(c, timeout_ms, reply, err);
}

int clf_client_record(struct clf_client *c, const char *record, size_t len, int timeout_ms, struct clf_error *err)
{
	clf_buf_reset(&c->out);
	if (clf_msg_encode(CLF_MSG_RECORD, ++c->seq, record, len, &c->out, err))
		return -1;
	return exchange(c, timeout_ms, NULL, err);
}

/* Connect and send at once; a broken connection is tried anew the next time. */
static int send_now(struct clf_client *c, struct clf_error *err)
{
	struct clf_error why = { 0 };

	if (c->fd < 0 && connect_once(c, &why))
		return clf_fail(err, CLF_E_REMOTE, "%s", why.text);
	return send_out(c, 0, err);
}

int clf_client_record_async(struct clf_client *c, const char *record, size_t len, struct clf_error *err)
{
	clf_buf_reset(&c->out);
	if (clf_msg_encode(CLF_MSG_RECORD_ASYNC, ++c->seq, record, len, &c->out, err))
		return -1;
	return send_now(c, err);
}

int clf_client_send(struct clf_client *c, json_t *request, uint64_t *seq, struct clf_error *err)
{
	if (encode_request(c, request, err) || send_now(c, err))
		return -1;
	*seq = c->seq;
	return 0;
}

static enum clf_code code_of(const char *word)
{
	for (int i = CLF_OK + 1; i <= CLF_E_INTERNAL; i++)
		if (word && !strcmp(word, clf_code_name(i)))
			return i;
	return CLF_E_REMOTE;
}

int clf_reply_check(const json_t *reply, struct clf_error *err)
{
	const json_t *ok = json_object_get(reply, "ok");

	if (json_is_true(ok))
		return 0;
	if (!json_is_false(ok))
		return clf_fail(err, CLF_E_REMOTE, "reply of closfoldd says neither ok nor not");

	const char *text = json_string_value(json_object_get(reply, "text"));
	const char *advice = json_string_value(json_object_get(reply, "advice"));
	enum clf_code code = code_of(json_string_value(json_object_get(reply, "code")));

	if (!text || !*text)
		text = "refused without a word";
	if (advice && *advice)
		return clf_fail(err, code, "%s; %s", text, advice);
	return clf_fail(err, code, "%s", text);
}
