/* SPDX-License-Identifier: GPL-2.0-or-later */
/* run.h - a job starts, a job ends, and what was missed is repaired: policy, then lease, then fabric, then record.
 *
 * Nothing here is durable when a call returns: records and ledger entries are pending, and the caller commits them (log
 * first, then ledger: no record, no lease) before it tells anybody. A driver that touches devices is the exception: the
 * lease is committed as "requested" before the first device is asked.
 *
 * Idempotent: the same job (id and submit time, same restart and nodes) gets the same lease again; the end of an
 * unknown job is no error. Refusal: not an error of the call; result->granted is false and code, text, advice say why.
 * Failed starts are counted per job, over restarts of closfoldd; result->failures is the count. Errors:  -1 when the
 * record or the ledger cannot be kept: CLF_E_IO, CLF_E_NOMEM. Nothing was granted. Memory:  results are plain storage.
 * Threads: one.
 */
#ifndef CLF_ENGINE_RUN_H
#define CLF_ENGINE_RUN_H

#include "audit/record.h"
#include "engine/decide.h"
#include "fabric/driver.h"
#include "lease/reconcile.h"
#include "lease/store.h"

#define CLF_RUN_DEVICE_MS 5000 /* a driver call's deadline */

struct clf_run {
	struct clf_store *store; /* borrowed, like everything here */
	const struct clf_driver *driver;
	void *driver_self;
	const struct clf_clock *clock;
	const char *cluster;
	const struct clf_site *site;  /* NULL = no policy in force */
	const struct clf_strv *nodes; /* that the site was made of */
	const char *policy_sha256;    /* "" or NULL = none */
	/* Append one record; commit both log and ledger. */
	int (*record)(void *arg, struct clf_record_facts *facts, struct clf_error *err);
	int (*commit)(void *arg, struct clf_error *err);
	void *arg;
};

struct clf_run_result {
	bool granted, again; /* again: the lease was there */
	char lease[CLF_LEASE_ID];
	uint32_t failures;
	enum clf_code code; /* of a refusal */
	char rule[80], text[400], advice[400];
};

/* A site as closfoldd knows it. It has no node table: that a node has a zone's features was Slurm's and job_submit's to
 * see, so every node is taken to have them; zones by node lists are checked. */
CLF_MUST_USE int clf_run_site(const struct clf_policy *policy, const struct clf_topo *topo,
			      const struct clf_strv *nodes, struct clf_site **out, struct clf_error *err);

/* ask: the members of a lease that come from the job; id, state and times are ignored. */
CLF_MUST_USE int clf_run_start(struct clf_run *r, const struct clf_lease *ask, struct clf_run_result *out,
			       struct clf_error *err);

/* result->lease is "" when no open lease was there. */
CLF_MUST_USE int clf_run_end(struct clf_run *r, uint32_t job_id, int64_t submit_time_s, const char *reason,
			     struct clf_run_result *out, struct clf_error *err);
/* By an admin. CLF_E_NOTFOUND, CLF_E_CONFLICT when it is closed. */
CLF_MUST_USE int clf_run_release(struct clf_run *r, const char *lease, const char *reason, struct clf_error *err);

/* Compare all open leases with Slurm's jobs and finish what was left; retries leases that are "releasing".
 * *out:
 * {"leases":N,"kept":N,"young":N,"released":N,"failed":N,"actions":[{"lease":..,"job_id":..,"why":..,"done":bool}]}. */
CLF_MUST_USE int clf_run_reconcile(struct clf_run *r, const struct clf_live_jobs *jobs, int64_t grace_ms, bool dry_run,
				   json_t **out, struct clf_error *err);

#endif
