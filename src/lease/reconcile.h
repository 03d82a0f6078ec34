/* SPDX-License-Identifier: GPL-2.0-or-later */
/* reconcile.h - leases against the jobs that Slurm has: no hook is sure, so what was missed is found here.
 *
 * A job is the same when job id and submit time are: ids are given again. A lease is orphaned when its job is gone, is
 * another one, or has ended; one younger than the grace period never is, because the list may be older than the lease.
 * Pure: no I/O, no clock. Memory: results owned (arrays of the caller's struct), strings borrowed from the leases.
 * Errors: parse: CLF_E_PARSE with the line; a list with any bad line is no list.
 * Source: lines of the program conf.slurm_query: {"job_id":N,"submit_time":N,"state":"RUNNING","nodes":"n[1-2]",...}.
 */
#ifndef CLF_LEASE_RECONCILE_H
#define CLF_LEASE_RECONCILE_H

#include "base/lex.h"
#include "base/strmap.h"
#include "lease/lease.h"

#define CLF_JOBS_MAX (1u << 20)

struct clf_live_job {
	uint32_t job_id;
	int64_t submit_time_s;
	bool ended; /* state is one that no node is held in */
	char state[32];
};
struct clf_live_jobs {
	struct clf_live_job *v;
	size_t n, cap;
	struct clf_strmap of_id; /* job id to index */
};
CLF_MUST_USE int clf_live_jobs_parse(const struct clf_text *text, struct clf_live_jobs *out, struct clf_error *err);
void clf_live_jobs_done(struct clf_live_jobs *j);

enum clf_orphan { CLF_KEEP, CLF_KEEP_YOUNG, CLF_ORPHAN_GONE, CLF_ORPHAN_REUSED, CLF_ORPHAN_ENDED };
/* What is to be done with one lease. why (NULL allowed) is a word: "job-gone", "job-id-reused", "job-ended". */
enum clf_orphan clf_reconcile_lease(const struct clf_lease *l, const struct clf_live_jobs *jobs, int64_t now_ms,
				    int64_t grace_ms, const char **why);

#endif
