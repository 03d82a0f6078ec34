/* SPDX-License-Identifier: GPL-2.0-or-later */
/* query.h - which records answer a question. Reads files only; says nothing of their truth (verify.h does).
 *
 * Filters: NULL or 0 = any; all given ones must hold. A line that is no record is passed over and counted.
 * Memory: the record handed to `each` is borrowed for that call; line points to its bytes.
 */
#ifndef CLF_AUDIT_QUERY_H
#define CLF_AUDIT_QUERY_H

#include <stdint.h>

#include "base/json.h"
#include "base/strmap.h"

struct clf_query {
	uint32_t job_id; /* its submission is found too: it has no job id yet, but the decision id that the later
			    records name */
	const char *decision;
	const char *event; /* "job.decision", or "job" for all of them */
	const char *user;  /* name or number */
	const char *account;
	const char *node;           /* a host that the record's nodes contain, or its device */
	int64_t since_ms, until_ms; /* [since, until) of the event's time */
	bool denied;                /* status 2 only */
};
struct clf_query_counts {
	uint64_t records, matched, unreadable;
};
/* each returns 0 to go on. */
CLF_MUST_USE int clf_query_log(const char *dir, const struct clf_query *q,
			       int (*each)(void *arg, const json_t *record, const char *line, size_t len), void *arg,
			       struct clf_query_counts *out, struct clf_error *err);
/* decisions: ids of the job's decisions, or NULL; the value in the map is not looked at. */
bool clf_query_match(const struct clf_query *q, const struct clf_strmap *decisions, const json_t *record);

#endif
