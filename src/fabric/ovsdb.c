/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/ovsdb.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"

#define CHUNK_BYTES  (64u << 10)
#define ASK_AGAIN_US 500000

struct clf_ovsdb {
	struct clf_stream *stream;
	struct clf_ovsdb_frames frames;
	json_int_t last_id;
	int64_t cur_cfg; /* -1: not heard */
	bool locked, broken;
	char chunk[CHUNK_BYTES];
};

static int64_t now_us(void)
{
	return clf_clock_system.boot_us(NULL);
}

/* framing */

void clf_ovsdb_frames_done(struct clf_ovsdb_frames *f)
{
	clf_buf_done(&f->buf);
	*f = (struct clf_ovsdb_frames) CLF_OVSDB_FRAMES_INIT;
}

int clf_ovsdb_frames_add(struct clf_ovsdb_frames *f, const void *data, size_t n, struct clf_error *err)
{
	if (f->buf.len + n > f->buf.max)
		return clf_fail(err, CLF_E_REMOTE, "message is larger than %zu bytes", f->buf.max);
	return clf_buf_add(&f->buf, data, n, err);
}

static bool blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* One byte of a message: 1 it ends here, 0 it goes on, -1 this is no object. */
static int scan(struct clf_ovsdb_frames *f, char c)
{
	if (f->string) {
		if (f->escape)
			f->escape = false;
		else if (c == '\\')
			f->escape = true;
		else if (c == '"')
			f->string = false;
		return 0;
	}
	if (!f->depth && c != '{')
		return -1;
	if (c == '"')
		f->string = true;
	else if (c == '{' || c == '[')
		return ++f->depth > CLF_OVSDB_DEPTH ? -1 : 0;
	else if (c == '}' || c == ']')
		return --f->depth == 0;
	return 0;
}

/* Drop the first n bytes; what follows is unseen. */
static void drop(struct clf_ovsdb_frames *f, size_t n)
{
	f->buf.len -= n;
	memmove(f->buf.data, f->buf.data + n, f->buf.len);
	f->scanned = 0;
}

static int parse(struct clf_ovsdb_frames *f, json_t **out, struct clf_error *err)
{
	json_error_t je;
	json_t *msg = json_loadb(f->buf.data, f->scanned, JSON_DISABLE_EOF_CHECK | JSON_REJECT_DUPLICATES, &je);

	if (!msg)
		return clf_fail(err, CLF_E_REMOTE, "malformed message: %.120s", je.text);
	if ((size_t) je.position != f->scanned) {
		json_decref(msg);
		return clf_fail(err, CLF_E_REMOTE, "malformed message: its brackets do not match");
	}
	drop(f, f->scanned);
	*out = msg;
	return 0;
}

int clf_ovsdb_frames_next(struct clf_ovsdb_frames *f, json_t **out, struct clf_error *err)
{
	size_t skip = 0;

	*out = NULL;
	if (!f->depth) {
		while (skip < f->buf.len && blank(f->buf.data[skip]))
			skip++;
		if (skip)
			drop(f, skip);
	}
	while (f->scanned < f->buf.len) {
		int rc = scan(f, f->buf.data[f->scanned++]);

		if (rc < 0)
			return clf_fail(err, CLF_E_REMOTE, "malformed message: no JSON object of at most %d levels",
					CLF_OVSDB_DEPTH);
		if (rc)
			return parse(f, out, err);
	}
	return 0;
}

/* messages */

static int send_message(struct clf_ovsdb *db, json_t *msg, int64_t deadline_us, struct clf_error *err)
{
	CLF_AUTO_FREE char *text = msg ? json_dumps(msg, JSON_COMPACT) : NULL;

	json_decref(msg);
	if (!text)
		return clf_fail(err, CLF_E_NOMEM, "out of memory");
	if (clf_stream_send(db->stream, text, strlen(text), deadline_us, err)) {
		db->broken = true;
		return -1;
	}
	return 0;
}

static int receive_message(struct clf_ovsdb *db, int64_t deadline_us, json_t **out, struct clf_error *err)
{
	struct clf_error e = { 0 };
	size_t n;

	for (;;) {
		if (clf_ovsdb_frames_next(&db->frames, out, &e))
			break;
		if (*out)
			return 0;
		if (clf_stream_recv(db->stream, db->chunk, sizeof db->chunk, deadline_us, &n, &e) ||
		    clf_ovsdb_frames_add(&db->frames, db->chunk, n, &e))
			break;
	}
	if (e.code != CLF_E_TIMEOUT)
		db->broken = true;
	return clf_fail(err, e.code, "%s", e.text);
}

static void heard_cfg(struct clf_ovsdb *db, const json_t *updates)
{
	const char *uuid;
	json_t *row, *table = json_object_get(updates, "Open_vSwitch");

	json_object_foreach(table, uuid, row)
	{
		json_t *cfg = json_object_get(json_object_get(row, "new"), "cur_cfg");

		if (json_is_integer(cfg))
			db->cur_cfg = json_integer_value(cfg);
	}
}

/* A message that is no reply. */
static int handle(struct clf_ovsdb *db, const char *method, const json_t *msg, int64_t deadline_us,
		  struct clf_error *err)
{
	json_t *params = json_object_get(msg, "params");

	if (!strcmp(method, "echo"))
		return send_message(
			db, json_pack("{s:O?,s:O?,s:n}", "id", json_object_get(msg, "id"), "result", params, "error"),
			deadline_us, err);
	if (!strcmp(method, "update"))
		heard_cfg(db, json_array_get(params, 1));
	else if (!strcmp(method, "locked") || !strcmp(method, "stolen"))
		db->locked = *method == 'l';
	return 0;
}

/* The next reply (owned). What comes in between is handled. */
static int receive_reply(struct clf_ovsdb *db, int64_t deadline_us, json_t **out, struct clf_error *err)
{
	for (;;) {
		json_auto_t *msg = NULL;
		const char *method;

		if (receive_message(db, deadline_us, &msg, err))
			return -1;
		method = json_string_value(json_object_get(msg, "method"));
		if (!method) {
			*out = CLF_STEAL(msg);
			return 0;
		}
		if (handle(db, method, msg, deadline_us, err))
			return -1;
	}
}

static int unpack_reply(struct clf_ovsdb *db, const json_t *reply, json_t **result, struct clf_error *err)
{
	json_t *id = json_object_get(reply, "id"), *error = json_object_get(reply, "error");
	json_t *res = json_object_get(reply, "result");

	if (!json_is_integer(id) || json_integer_value(id) != db->last_id) {
		db->broken = true;
		return clf_fail(err, CLF_E_REMOTE, "reply has the id of no request");
	}
	if (error && !json_is_null(error)) {
		CLF_AUTO_FREE char *text = json_dumps(error, JSON_COMPACT | JSON_ENCODE_ANY);

		return clf_fail(err, CLF_E_REMOTE, "request was refused: %.200s", text ? text : "no text");
	}
	if (!res) {
		db->broken = true;
		return clf_fail(err, CLF_E_REMOTE, "reply has no result");
	}
	*result = json_incref(res);
	return 0;
}

/* params is stolen; *result owned. */
static int call(struct clf_ovsdb *db, const char *method, json_t *params, int64_t deadline_us, json_t **result,
		struct clf_error *err)
{
	json_auto_t *reply = NULL;

	if (db->broken) {
		json_decref(params);
		return clf_fail(err, CLF_E_REMOTE, "connection is broken");
	}
	if (send_message(db, json_pack("{s:s,s:o,s:I}", "method", method, "params", params, "id", ++db->last_id),
			 deadline_us, err))
		return -1;
	if (receive_reply(db, deadline_us, &reply, err)) {
		db->broken = true; /* its late reply would answer another request */
		return -1;
	}
	return unpack_reply(db, reply, result, err);
}

static int start(struct clf_ovsdb *db, int64_t deadline_us, struct clf_error *err)
{
	json_auto_t *rows = NULL, *lock = NULL;

	if (call(db, "monitor",
		 json_pack("[s,s,{s:{s:[s]}}]", "Open_vSwitch", "closfold", "Open_vSwitch", "columns", "cur_cfg"),
		 deadline_us, &rows, err))
		return -1;
	heard_cfg(db, rows);
	if (db->cur_cfg < 0)
		return clf_fail(err, CLF_E_REMOTE, "database has no row Open_vSwitch; run 'ovs-vsctl init' there");
	if (call(db, "lock", json_pack("[s]", CLF_OVSDB_LOCK), deadline_us, &lock, err))
		return -1;
	db->locked = db->locked || json_is_true(json_object_get(lock, "locked"));
	return 0;
}

int clf_ovsdb_open(const struct clf_stream_conf *remote, int64_t deadline_us, struct clf_ovsdb **out,
		   struct clf_error *err)
{
	CLF_CLEANUP(clf_ovsdb_closep) struct clf_ovsdb *db = calloc(1, sizeof *db);

	if (!db)
		return clf_fail(err, CLF_E_NOMEM, "out of memory");
	db->frames = (struct clf_ovsdb_frames) CLF_OVSDB_FRAMES_INIT;
	db->cur_cfg = -1;
	if (clf_stream_open(remote, deadline_us, &db->stream, err) || start(db, deadline_us, err))
		return -1;
	*out = CLF_STEAL(db);
	return 0;
}

void clf_ovsdb_close(struct clf_ovsdb *db)
{
	if (!db)
		return;
	clf_stream_destroy(db->stream);
	clf_ovsdb_frames_done(&db->frames);
	free(db);
}

bool clf_ovsdb_broken(const struct clf_ovsdb *db)
{
	return db->broken;
}

bool clf_ovsdb_locked(const struct clf_ovsdb *db)
{
	return db->locked;
}

int64_t clf_ovsdb_cur_cfg(const struct clf_ovsdb *db)
{
	return db->cur_cfg;
}

/* One message that is no reply, until the deadline; 0 also when none came. */
static int listen_once(struct clf_ovsdb *db, int64_t deadline_us, bool *heard, struct clf_error *err)
{
	struct clf_error e = { 0 };
	json_auto_t *msg = NULL;
	const char *method;

	*heard = false;
	if (receive_message(db, deadline_us, &msg, &e))
		return e.code == CLF_E_TIMEOUT ? 0 : clf_fail(err, e.code, "%s", e.text);
	method = json_string_value(json_object_get(msg, "method"));
	if (!method) {
		db->broken = true;
		return clf_fail(err, CLF_E_REMOTE, "reply to no request");
	}
	*heard = true;
	return handle(db, method, msg, now_us() + ASK_AGAIN_US, err);
}

int clf_ovsdb_pump(struct clf_ovsdb *db, struct clf_error *err)
{
	bool heard = true;

	while (heard)
		if (listen_once(db, 0, &heard, err))
			return -1;
	return 0;
}

int clf_ovsdb_wait_lock(struct clf_ovsdb *db, int64_t deadline_us, struct clf_error *err)
{
	bool heard;

	while (!db->locked) {
		if (now_us() >= deadline_us)
			return clf_fail(err, CLF_E_CONFLICT,
					"lock '" CLF_OVSDB_LOCK
					"' is held by another client; stop the other closfoldd");
		if (listen_once(db, deadline_us, &heard, err))
			return -1;
	}
	return 0;
}

/* transactions */

static const char *text_of(const json_t *obj, const char *key)
{
	const char *s = json_string_value(json_object_get(obj, key));

	return s ? s : "";
}

static int refused(const json_t *ops, size_t at, const json_t *res, struct clf_error *err)
{
	const char *error = text_of(res, "error"), *details = text_of(res, "details");
	const char *op = at < json_array_size(ops) ? text_of(json_array_get(ops, at), "op") : "commit";

	if (!strcmp(op, "wait") && !strcmp(error, "timed out"))
		return clf_fail(err, CLF_E_CONFLICT,
				"somebody else changed a port meanwhile (operation %zu); nothing was changed", at);
	if (!strcmp(error, "not owner"))
		return clf_fail(err, CLF_E_CONFLICT,
				"lock '" CLF_OVSDB_LOCK "' went to another client; stop the other closfoldd");
	return clf_fail(err, CLF_E_REMOTE, "operation %zu (%s) was refused: %.60s: %.160s; nothing was changed", at, op,
			error, details);
}

int clf_ovsdb_results_check(const json_t *ops, const json_t *results, struct clf_error *err)
{
	size_t n = json_array_size(ops);
	json_t *res;
	size_t i;

	if (!json_is_array(results))
		return clf_fail(err, CLF_E_REMOTE, "result of a transaction is no list");
	json_array_foreach(results, i, res) if (json_object_get(res, "error")) return refused(ops, i, res, err);
	if (json_array_size(results) != n)
		return clf_fail(err, CLF_E_REMOTE, "%zu results for %zu operations", json_array_size(results), n);
	json_array_foreach(results, i, res)
	{
		const char *op = text_of(json_array_get(ops, i), "op");

		if (!json_is_object(res))
			return clf_fail(err, CLF_E_REMOTE, "operation %zu (%s) has no result", i, op);
		if (!strcmp(op, "select") && !json_is_array(json_object_get(res, "rows")))
			return clf_fail(err, CLF_E_REMOTE, "operation %zu (select) has no rows", i);
		if ((!strcmp(op, "update") || !strcmp(op, "mutate")) &&
		    json_integer_value(json_object_get(res, "count")) != 1)
			return clf_fail(err, CLF_E_CONFLICT,
					"operation %zu (%s) did not meet its one row; what it changed is unknown", i,
					op);
	}
	return 0;
}

static int transact(struct clf_ovsdb *db, json_t *ops, int64_t deadline_us, json_t **results, struct clf_error *err)
{
	json_t *params = json_pack("[s]", "Open_vSwitch");
	json_auto_t *res = NULL;

	if (!params || json_array_extend(params, ops)) {
		json_decref(params);
		return clf_fail(err, CLF_E_NOMEM, "out of memory");
	}
	if (call(db, "transact", params, deadline_us, &res, err) || clf_ovsdb_results_check(ops, res, err))
		return -1;
	*results = CLF_STEAL(res);
	return 0;
}

int clf_ovsdb_transact(struct clf_ovsdb *db, json_t *ops, bool write, int64_t deadline_us, json_t **results,
		       struct clf_error *err)
{
	json_auto_t *mine = ops, *res = NULL;

	if (!mine ||
	    (write && json_array_insert_new(ops, 0, json_pack("{s:s,s:s}", "op", "assert", "lock", CLF_OVSDB_LOCK))))
		return clf_fail(err, CLF_E_NOMEM, "out of memory");
	if (transact(db, ops, deadline_us, &res, err))
		return -1;
	if (write)
		json_array_remove(res, 0);
	*results = CLF_STEAL(res);
	return 0;
}

static int ask_cfg(struct clf_ovsdb *db, int64_t deadline_us, struct clf_error *err)
{
	json_auto_t *res = NULL;
	json_t *cfg;

	if (clf_ovsdb_transact(db,
			       json_pack("[{s:s,s:s,s:[],s:[s]}]", "op", "select", "table", "Open_vSwitch", "where",
					 "columns", "cur_cfg"),
			       false, deadline_us, &res, err))
		return -1;
	cfg = json_object_get(json_array_get(json_object_get(json_array_get(res, 0), "rows"), 0), "cur_cfg");
	if (!json_is_integer(cfg))
		return clf_fail(err, CLF_E_REMOTE, "database has no cur_cfg");
	db->cur_cfg = json_integer_value(cfg);
	return 0;
}

int clf_ovsdb_wait_cfg(struct clf_ovsdb *db, int64_t cfg, int64_t deadline_us, struct clf_error *err)
{
	int64_t ask = now_us() + ASK_AGAIN_US, now;
	bool heard;

	while (db->cur_cfg < cfg) {
		now = now_us();
		if (now >= deadline_us)
			return clf_fail(err, CLF_E_TIMEOUT,
					"ovs-vswitchd is at configuration %lld, not %lld: it may apply the change "
					"later; see to it there",
					(long long) db->cur_cfg, (long long) cfg);
		if (now >= ask) {
			if (ask_cfg(db, deadline_us, err))
				return -1;
			ask = now + ASK_AGAIN_US;
		} else if (listen_once(db, ask < deadline_us ? ask : deadline_us, &heard, err)) {
			return -1;
		}
	}
	return 0;
}
