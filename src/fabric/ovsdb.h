/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ovsdb.h - client of one ovsdb-server: transactions on Open_vSwitch, what vswitchd has applied, the lock "closfold".
 *
 * Units:   deadlines are points of clf_clock_system.boot_us.
 * Errors:  CLF_E_CONFLICT a wait failed, a row is gone, or the lock is another's: nothing was changed unless the text
 * says otherwise; CLF_E_TIMEOUT; CLF_E_REMOTE closed, malformed, too large, or an operation was refused, with its
 *          place. After CLF_E_TIMEOUT or CLF_E_REMOTE of a transaction with writes its effect is unknown.
 * Threads: one thread at a time uses a client.
 * Memory:  open/close; close takes NULL.
 * Source:  RFC 7047; ovs-vswitchd.conf.db(5) for cur_cfg and next_cfg.
 */
#ifndef CLF_FABRIC_OVSDB_H
#define CLF_FABRIC_OVSDB_H

#include <jansson.h>
#include <stdbool.h>

#include "base/buf.h"
#include "fabric/stream.h"

#define CLF_OVSDB_LOCK      "closfold"
#define CLF_OVSDB_REPLY_MAX (32u << 20) /* bytes of one message */
#define CLF_OVSDB_DEPTH     32

/* Messages out of a byte stream. RFC 7047 has no framing: a message is one JSON object. Bytes are looked at once. */
struct clf_ovsdb_frames {
	struct clf_buf buf;
	size_t scanned;
	unsigned depth;
	bool string, escape;
};
#define CLF_OVSDB_FRAMES_INIT                                                                                          \
	{                                                                                                              \
		.buf = CLF_BUF_INIT(CLF_OVSDB_REPLY_MAX)                                                               \
	}
void clf_ovsdb_frames_done(struct clf_ovsdb_frames *f);
/* CLF_E_REMOTE past the cap. */
CLF_MUST_USE int clf_ovsdb_frames_add(struct clf_ovsdb_frames *f, const void *data, size_t n, struct clf_error *err);
/* The next message (owned), or NULL while it is not complete. CLF_E_REMOTE: no JSON object; give the stream up. */
CLF_MUST_USE int clf_ovsdb_frames_next(struct clf_ovsdb_frames *f, json_t **out, struct clf_error *err);

struct clf_ovsdb;

/* Connects, watches cur_cfg, asks for the lock without waiting for it. */
CLF_MUST_USE int clf_ovsdb_open(const struct clf_stream_conf *remote, int64_t deadline_us, struct clf_ovsdb **out,
				struct clf_error *err);
void clf_ovsdb_close(struct clf_ovsdb *db);
CLF_DEFINE_CLEANUP(struct clf_ovsdb, clf_ovsdb_close)

/* No further use: a message was lost or half read. */
bool clf_ovsdb_broken(const struct clf_ovsdb *db);
bool clf_ovsdb_locked(const struct clf_ovsdb *db);
int64_t clf_ovsdb_cur_cfg(const struct clf_ovsdb *db); /* as last heard */

/* Read what has come and answer it: keepalive of an idle connection. Does not wait. -1: broken. */
CLF_MUST_USE int clf_ovsdb_pump(struct clf_ovsdb *db, struct clf_error *err);

/* CLF_E_CONFLICT when another client has the lock until the deadline. */
CLF_MUST_USE int clf_ovsdb_wait_lock(struct clf_ovsdb *db, int64_t deadline_us, struct clf_error *err);

/* All operations or none. ops: array of operation objects, stolen. write: only while the lock is held (assert first).
 * Each update and mutate must have met exactly one row. *results: array, one for each of ops, owned. */
CLF_MUST_USE int clf_ovsdb_transact(struct clf_ovsdb *db, json_t *ops, bool write, int64_t deadline_us,
				    json_t **results, struct clf_error *err);

/* Until vswitchd has applied configuration number `cfg`; asks now and then, so that a lost notification costs time
 * only. CLF_E_TIMEOUT: it has not, and may later. */
CLF_MUST_USE int clf_ovsdb_wait_cfg(struct clf_ovsdb *db, int64_t cfg, int64_t deadline_us, struct clf_error *err);

/* What a transaction's answer says, against its operations; for clf_ovsdb_transact() and tests. */
CLF_MUST_USE int clf_ovsdb_results_check(const json_t *ops, const json_t *results, struct clf_error *err);

#endif
