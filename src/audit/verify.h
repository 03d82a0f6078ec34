/* SPDX-License-Identifier: GPL-2.0-or-later */
/* verify.h - is this log what was written? Hashes the bytes of the files and nothing else.
 *
 * Words: intact      every record is canonical, in sequence, and names the hash of the one before
 *        torn-tail   intact, and bytes of a write that a crash cut behind it (closfoldd cuts them off when it starts)
 *        truncated   records that somebody remembers are missing at the end
 *        gap         records are missing in the middle
 *        duplicate-writer  a sequence number comes twice
 *        modified    a record is not what the next one, or the head remembered, says it was
 *        empty       no record was checked: that is no proof of anything
 * The first bad place is named. A cut tail, or a change of the very last record, shows only against a head from
 * elsewhere: `anchored` says up to which record one was given.
 *
 * Errors: CLF_E_NOTFOUND, CLF_E_IO, CLF_E_NOMEM: nothing was learned. Memory: result is plain storage. Time: one pass.
 */
#ifndef CLF_AUDIT_VERIFY_H
#define CLF_AUDIT_VERIFY_H

#include "audit/log.h"

enum clf_verdict {
	CLF_VERDICT_INTACT,
	CLF_VERDICT_TORN,
	CLF_VERDICT_TRUNCATED,
	CLF_VERDICT_GAP,
	CLF_VERDICT_DUPLICATE,
	CLF_VERDICT_MODIFIED,
	CLF_VERDICT_EMPTY,
};
struct clf_verify_result {
	enum clf_verdict verdict;
	uint64_t checked;  /* good records from the beginning */
	uint64_t segments; /* files looked into */
	uint64_t bytes;
	uint64_t anchored;         /* records 0..anchored-1 are backed by a head from elsewhere; 0 = none was given */
	char head[CLF_SHA256_HEX]; /* of the last good record */
	char origin[CLF_AUDITLOG_ORIGIN_MAX + 1];
	char file[40]; /* of the first bad place, "" = none */
	uint64_t line, offset;
	char what[200];
};
/* heads[0..n-1]: remembered heads, checked where the log passes them. settle_ms: an unfinished last line is looked at
 * again so long, for closfoldd may be writing it right now. */
CLF_MUST_USE int clf_verify_log(const char *dir, const struct clf_auditlog_head *heads, size_t n, int settle_ms,
				struct clf_verify_result *out, struct clf_error *err);
const char *clf_verdict_name(enum clf_verdict v);
bool clf_verdict_good(enum clf_verdict v); /* intact, torn-tail: a crash is no tampering */

/* "N:HASH" */
CLF_MUST_USE int clf_verify_parse_head(const char *s, struct clf_auditlog_head *out, struct clf_error *err);

#endif
