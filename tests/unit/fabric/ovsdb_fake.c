/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ovsdb_fake.h"

#include <err.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "fabric/ovsdb.h"

/* false: the client is gone. */
static bool say_bytes(int fd, const char *s, size_t n)
{
	while (n) {
		ssize_t w = send(fd, s, n, MSG_NOSIGNAL);

		if (w <= 0)
			return false;
		s += w;
		n -= (size_t) w;
	}
	return true;
}

static bool say(int fd, json_t *msg)
{
	char *s = json_dumps(msg, JSON_COMPACT);
	bool there = say_bytes(fd, s, strlen(s));

	free(s);
	json_decref(msg);
	return there;
}

static json_t *reply(const json_t *msg, json_t *result)
{
	return json_pack("{s:O,s:o,s:n}", "id", json_object_get(msg, "id"), "result", result, "error");
}

static json_t *do_op(const struct fake *f, const json_t *op)
{
	const char *name = json_string_value(json_object_get(op, "op"));
	json_t *rows, *row;
	size_t i;

	if (!strcmp(name, "select")) {
		rows = json_object_get(f->tables, json_string_value(json_object_get(op, "table")));
		rows = rows ? json_deep_copy(rows) : json_array();
		json_array_foreach(rows, i, row) if (f->how == FAKE_LINK_LATE && f->transacts < f->at &&
						     json_object_get(row, "link_state"))
			json_object_set_new(row, "link_state", json_pack("[s,[]]", "set"));
		return json_pack("{s:o}", "rows", rows);
	}
	if (!strcmp(name, "update") || !strcmp(name, "mutate"))
		return json_pack("{s:i}", "count", f->how == FAKE_COUNT_0 ? 0 : f->how == FAKE_COUNT_2 ? 2 : 1);
	if (!strcmp(name, "wait") && f->how == FAKE_WAIT_FAILS)
		return json_pack("{s:s,s:s}", "error", "timed out", "details", "\"where\" clause test failed");
	return json_object();
}

static bool is_write(const json_t *params)
{
	const char *first = json_string_value(json_object_get(json_array_get(params, 1), "op"));

	return first && !strcmp(first, "assert");
}

static json_t *results(const struct fake *f, const json_t *params)
{
	json_t *list = json_array(), *op;
	size_t i;

	json_array_foreach(params, i, op) if (i)
		json_array_append_new(list, f->how == FAKE_NULLS ? json_null() : do_op(f, op));
	if (f->how == FAKE_FEWER)
		json_array_remove(list, json_array_size(list) - 1);
	if (f->how == FAKE_COMMIT_FAILS)
		json_array_append_new(
			list, json_pack("{s:s,s:s}", "error", "constraint violation", "details", "no such thing"));
	return list;
}

static void huge(int fd)
{
	char block[65536];

	memset(block, 'x', sizeof block);
	if (say_bytes(fd, "{\"id\":1,\"result\":\"", 18))
		while (say_bytes(fd, block, sizeof block))
			;
}

/* false: hang up. */
static bool answer_badly(struct fake *f, int fd, const json_t *msg)
{
	json_t *good = reply(msg, results(f, json_object_get(msg, "params")));
	char *s = json_dumps(good, JSON_COMPACT);
	bool on = false;

	switch (f->how) {
	case FAKE_HANG:
		on = true;
		break;
	case FAKE_CLOSE:
		break;
	case FAKE_TRUNCATED:
	case FAKE_STALLED:
		on = say_bytes(fd, s, strlen(s) / 2) && f->how == FAKE_STALLED;
		break;
	case FAKE_GARBAGE:
		on = say_bytes(fd, "HTTP/1.1 400 Bad Request\r\n\r\n", 28);
		break;
	case FAKE_HUGE:
		huge(fd);
		break;
	case FAKE_WRONG_ID:
		on = say(fd, json_pack("{s:i,s:[],s:n}", "id", 4711, "result", "error"));
		break;
	case FAKE_NO_RESULT:
		on = say(fd, json_pack("{s:O}", "id", json_object_get(msg, "id")));
		break;
	case FAKE_RPC_ERROR:
		on = say(fd, json_pack("{s:O,s:n,s:s}", "id", json_object_get(msg, "id"), "result", "error",
				       "unknown database"));
		break;
	case FAKE_ECHO_FIRST:
		on = say(fd, json_pack("{s:s,s:s,s:[]}", "id", "echo", "method", "echo", "params"));
		for (int i = 0; i < 100 && on; i++) { /* the answer comes by the same way, before ours goes out */
			char buf[512];
			ssize_t n = recv(fd, buf, sizeof buf - 1, 0);

			if (n <= 0)
				break;
			buf[n] = '\0';
			f->echoed = strstr(buf, "\"id\":\"echo\"") && strstr(buf, "\"error\":null");
			break;
		}
		on = on && f->echoed && say_bytes(fd, s, strlen(s));
		break;
	default:
		on = say_bytes(fd, s, strlen(s));
	}
	free(s);
	json_decref(good);
	return on;
}

static bool handle(struct fake *f, int fd, const json_t *msg)
{
	const char *method = json_string_value(json_object_get(msg, "method"));
	json_t *params = json_object_get(msg, "params");

	if (f->how == FAKE_MUTE || !method)
		return true;
	if (!strcmp(method, "monitor"))
		return say(fd, reply(msg, json_pack("{s:{s:{s:{s:i}}}}", "Open_vSwitch", "u", "new", "cur_cfg", 5)));
	if (!strcmp(method, "lock")) {
		if (!say(fd, reply(msg, json_pack("{s:b}", "locked", f->how != FAKE_NOT_LOCKED))))
			return false;
		if (f->how == FAKE_NOT_LOCKED && f->at) {
			usleep(200000);
			return say(fd, json_pack("{s:n,s:s,s:[s]}", "id", "method", "locked", "params", "closfold"));
		}
		return true;
	}
	f->transacts++;
	f->writes += is_write(params);
	for (size_t i = 0; i < json_array_size(params); i++) {
		const json_t *tag = json_object_get(json_object_get(json_array_get(params, i), "row"), "tag");

		f->last_tag = tag ? (int) json_integer_value(tag) : f->last_tag;
	}
	if (f->how == FAKE_CLOSE_ONCE)
		return f->transacts != f->at && say(fd, reply(msg, results(f, params)));
	return f->transacts >= f->at ? answer_badly(f, fd, msg) : say(fd, reply(msg, results(f, params)));
}

static void serve(struct fake *f, int fd)
{
	struct clf_ovsdb_frames in = CLF_OVSDB_FRAMES_INIT;
	char buf[4096];
	bool on = true;

	while (on) {
		ssize_t n = recv(fd, buf, sizeof buf, 0);
		json_t *msg = NULL;

		if (n <= 0 || clf_ovsdb_frames_add(&in, buf, (size_t) n, NULL))
			break;
		while (on && !clf_ovsdb_frames_next(&in, &msg, NULL) && msg) {
			on = handle(f, fd, msg);
			json_decref(msg);
		}
	}
	clf_ovsdb_frames_done(&in);
	close(fd);
}

static void *run(void *arg)
{
	struct fake *f = arg;

	for (int fd; (fd = accept(f->fd, NULL, NULL)) >= 0;) {
		f->connections++;
		serve(f, fd);
	}
	return NULL;
}

void fake_start(struct fake *f, const char *path, enum fake_how how, int at, const char *tables)
{
	struct sockaddr_un sun = { .sun_family = AF_UNIX };

	*f = (struct fake){ .how = how, .at = at, .tables = json_loads(tables, 0, NULL) };
	snprintf(f->path, sizeof f->path, "%s", path);
	snprintf(sun.sun_path, sizeof sun.sun_path, "%s", path);
	unlink(path);
	f->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (!f->tables || f->fd < 0 || bind(f->fd, (struct sockaddr *) &sun, sizeof sun) || listen(f->fd, 8) ||
	    pthread_create(&f->thread, NULL, run, f))
		err(2, "fake server on %s", path);
}

void fake_stop(struct fake *f)
{
	shutdown(f->fd, SHUT_RDWR);
	pthread_join(f->thread, NULL);
	close(f->fd);
	unlink(f->path);
	json_decref(f->tables);
}
