/* SPDX-License-Identifier: GPL-2.0-or-later */
/* log.h - the append-only, chained log: one writer, group commit. Format: docs/formats/log.md.
 *
 * append() checks a record, splices log_name, logged_time, sequence and prev into it and keeps it in memory; commit()
 * makes all of them durable with one write and one fdatasync. Nobody may be told of a record before commit() has
 * returned 0.
 *
 * Errors: append: CLF_E_PARSE the bytes are not a record, CLF_E_DENIED it brings members that only closfoldd sets,
 * CLF_E_NOMEM. commit: CLF_E_IO; everything appended since the last commit is gone, and the segment is never written
 * again: the next commit cuts off what may be there behind the last durable byte and goes on in a new segment. open:
 * CLF_E_CONFLICT the log is not what `known` says of it (cut or changed), CLF_E_PARSE damage before the last segment's
 * tail. Locks:  none here; the caller holds the lock of the state directory. Memory: open/close; destroy takes NULL.
 */
#ifndef CLF_AUDIT_LOG_H
#define CLF_AUDIT_LOG_H

#include "base/hash.h"
#include "audit/producers.h"
#include "base/clock.h"

#define CLF_AUDITLOG_SEGMENT     (UINT64_C(256) << 20)
#define CLF_AUDITLOG_PENDING_MAX (16u << 20) /* append fails past it; commit first */
#define CLF_AUDITLOG_ORIGIN_MAX  200

/* records 0..n-1 exist, the last of them hashes to hash; n 0: hash of the genesis line */
struct clf_auditlog_head {
	uint64_t n;
	char hash[CLF_SHA256_HEX];
};
/* What recovery cut off: bytes of a commit that was never acknowledged. bytes 0 = nothing. */
struct clf_auditlog_torn {
	char file[40];
	uint64_t sequence, offset, bytes, lines;
	char sha256[CLF_SHA256_HEX];
};

struct clf_auditlog;
struct clf_auditlog_options {
	const char *dir;    /* made when it does not exist */
	const char *origin; /* for a new log; an old one keeps its own */
	const struct clf_clock *clock;
	const struct clf_auditlog_head *known; /* durable head that somebody else remembers, or NULL */
	bool accept_damage;     /* where the log is not what `known` says: go on behind both in a new segment */
	uint64_t segment_bytes; /* 0 = CLF_AUDITLOG_SEGMENT */
};
CLF_MUST_USE int clf_auditlog_open(const struct clf_auditlog_options *o, struct clf_auditlog_torn *torn,
				   struct clf_auditlog **out, struct clf_error *err);
void clf_auditlog_close(struct clf_auditlog *l);
CLF_DEFINE_CLEANUP(struct clf_auditlog, clf_auditlog_close)

/* *sequence: where it is (known before) or will be. *known: a retry of a record that is there; nothing was added. */
CLF_MUST_USE int clf_auditlog_append(struct clf_auditlog *l, const char *record, size_t len, uint64_t *sequence,
				     bool *known, struct clf_error *err);
CLF_MUST_USE int clf_auditlog_commit(struct clf_auditlog *l, struct clf_error *err);
size_t clf_auditlog_pending(const struct clf_auditlog *l);                       /* bytes waiting for commit */
const struct clf_auditlog_head *clf_auditlog_head(const struct clf_auditlog *l); /* durable; borrowed */
const char *clf_auditlog_origin(const struct clf_auditlog *l);                   /* borrowed */
bool clf_auditlog_gap(struct clf_auditlog *l, int64_t grace_ms, struct clf_gap *out);

/* Hash that the first record's prev has. */
CLF_MUST_USE int clf_auditlog_genesis(const char *origin, size_t len, char hash[CLF_SHA256_HEX], struct clf_error *err);

#endif
