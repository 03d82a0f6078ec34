/* SPDX-License-Identifier: GPL-2.0-or-later */
/* run.h - a job starts, a job ends, and what was missed is repaired: policy, then lease, then fabric, then record.
 *
 * Nothing here is durable when a call returns: records and ledger entries are pending, and the caller commits them (log
 * first, then ledger: no record, no lease) before it tells anybody.
 *
 * Fabrics are slow, so they are asked beside the loop. What they are to do lies in an outbox; the caller takes it once
 * the commit is durable (clf_run_take), gives it to the fabric's driver, and brings the answers back
 * (clf_run_answered). After a failed commit it forgets the outbox (clf_run_forget). A start or release that waits for a
 * fabric is "pending"; its verdict comes through run->verdict, once, also when it is overtaken.
 *
 *   start: policy -> key and ports -> [fabrics: OPEN] -> [nodes: attest, probe] -> granted
 *          any doubt: releasing -> [fabrics: CLOSE, until verified] -> closed; the job is refused
 *   end:   releasing -> [fabrics: CLOSE, until verified] -> closed; the key rests
 *
 * Idempotent: the same job (id and submit time, same restart and nodes) gets the same lease again; the end of an
 * unknown job is no error. Refusal: not an error of the call; result->granted is false and code, text, advice say why.
 * Failed starts are counted per job, over restarts of closfoldd; result->failures is the count. A pool without a free
 * key is no failed start. Errors: -1 when the record or the ledger cannot be kept: CLF_E_IO, CLF_E_NOMEM. Nothing was
 * granted. Memory: results are plain storage; clf_run_done() frees what waits. Threads: one.
 */
#ifndef CLF_ENGINE_RUN_H
#define CLF_ENGINE_RUN_H

#include "audit/record.h"
#include "engine/decide.h"
#include "fabric/driver.h"
#include "lease/reconcile.h"
#include "lease/store.h"

struct clf_run_result {
	bool granted, again; /* again: the lease was there */
	bool pending;        /* neither granted nor refused yet: the verdict on `lease` follows */
	char lease[CLF_LEASE_ID];
	uint32_t failures;
	enum clf_code code; /* of a refusal */
	char rule[80], text[400], advice[400];
};

struct clf_run_fabric {
	const struct clf_fabric_conf *conf;
	const struct clf_driver *driver;
	void *self;
	struct clf_strmap nodes; /* nodes that are on it; all when conf->nodes is NULL */
};

/* Something for a fabric to do; the net is that of the lease as it is when it is handed over. */
struct clf_run_task {
	size_t fabric;
	enum clf_net_op op;
	char lease[CLF_LEASE_ID];
};

struct clf_run_pending; /* run_priv.h */

struct clf_run {
	struct clf_store *store; /* borrowed, like everything here */
	const struct clf_run_fabric *fabrics;
	size_t nfabrics; /* 0: no network is closed, and every record says so */
	const struct clf_clock *clock;
	const char *cluster;
	const struct clf_site *site;  /* NULL = no policy in force */
	const struct clf_strv *nodes; /* that the site was made of */
	const char *policy_sha256;    /* "" or NULL = none */
	/* Append one record. */
	int (*record)(void *arg, struct clf_record_facts *facts, struct clf_error *err);
	/* What a node said of itself last; NULL: nothing that is fresh. NULL function: no node daemons. */
	const json_t *(*facts)(void *arg, const char *node);
	/* May this node run a flagged job, as far as its ports on a fabric go? NULL function: the driver alone judges.
	 */
	int (*eligible)(void *arg, size_t fabric, const char *node, struct clf_error *why);
	/* Variables that the job's steps are offered, for the record; new. NULL function: none. */
	json_t *(*env)(void *arg, const struct clf_lease *l);
	/* Let the nodes of a lease attest and probe; answered by clf_run_nodes_verified(), once, never from inside this
	 * call. NULL function: no node daemons. */
	int (*verify_nodes)(void *arg, const struct clf_lease *l, struct clf_error *err);
	/* The verdict on something that was pending. Committed by the caller before it is told to anybody. */
	void (*verdict)(void *arg, const char *lease, enum clf_net_op op, const struct clf_run_result *res);
	void *arg;

	/* private */
	struct clf_run_pending *pending;
	size_t npending, pending_cap;
	struct clf_run_task *outbox;
	size_t noutbox, outbox_cap;
	bool hurry; /* ask Slurm soon: a port is held by a lease whose job may be gone */
};
void clf_run_done(struct clf_run *r);

/* A site as closfoldd knows it. It has no node table: that a node has a zone's features was Slurm's and job_submit's to
 * see, so every node is taken to have them; zones by node lists are checked. */
CLF_MUST_USE int clf_run_site(const struct clf_policy *policy, const struct clf_topo *topo,
			      const struct clf_strv *nodes, struct clf_site **out, struct clf_error *err);

/* ask: the members of a lease that come from the job; id, state and times are ignored. */
CLF_MUST_USE int clf_run_start(struct clf_run *r, const struct clf_lease *ask, struct clf_run_result *out,
			       struct clf_error *err);

/* result->lease is "" when no open lease was there. pending: the release is durable (when committed) and not verified
 * yet. */
CLF_MUST_USE int clf_run_end(struct clf_run *r, uint32_t job_id, int64_t submit_time_s, const char *reason,
			     struct clf_run_result *out, struct clf_error *err);
/* By an admin. CLF_E_NOTFOUND, CLF_E_CONFLICT when it is closed. */
CLF_MUST_USE int clf_run_release(struct clf_run *r, const char *lease, const char *reason, struct clf_run_result *out,
				 struct clf_error *err);

/* Compare all open leases with Slurm's jobs and begin to finish what was left; retries leases that are "releasing".
 * *out: {"leases":N,"kept":N,"young":N,"released":N,"failed":N,"actions":[{"lease":..,"job_id":..,"why":..,
 * "done":bool}]}; released: closed or on the way; done: closed already. */
CLF_MUST_USE int clf_run_reconcile(struct clf_run *r, const struct clf_live_jobs *jobs, int64_t grace_ms, bool dry_run,
				   json_t **out, struct clf_error *err);

/* ---- fabrics */

/* The next thing for a fabric; false when there is none. Call only when what was committed is durable. */
bool clf_run_take(struct clf_run *r, size_t fabric, struct clf_run_task *out);
/* The last commit failed: nothing of the outbox was promised. */
void clf_run_forget(struct clf_run *r);
/* Does a verdict on this still come? */
bool clf_run_waits(struct clf_run *r, const char *lease, enum clf_net_op op);
/* A task's answer (error and report; borrowed). */
CLF_MUST_USE int clf_run_answered(struct clf_run *r, const struct clf_run_task *task, const struct clf_net_task *answer,
				  struct clf_error *err);
/* why->code CLF_OK: the nodes agree. evidence is borrowed, may be NULL. */
CLF_MUST_USE int clf_run_nodes_verified(struct clf_run *r, const char *lease, const struct clf_error *why,
					const json_t *evidence, struct clf_error *err);
/* Every few seconds: releases that were not verified are tried again, starts that nobody waits for are taken back. */
CLF_MUST_USE int clf_run_tick(struct clf_run *r, struct clf_error *err);
/* Check every granted lease on a fabric again, on all its fabrics (after a restart, after findings). */
CLF_MUST_USE int clf_run_recheck(struct clf_run *r, size_t fabric, struct clf_error *err);
/* Nets of a fabric as the ledger has them: CLF_LEASE_REQUESTED and CLF_LEASE_GRANTED. *nets owned, each with
 * clf_net_done(). */
CLF_MUST_USE int clf_run_nets(const struct clf_run *r, size_t fabric, struct clf_net **nets, size_t *n,
			      struct clf_error *err);
CLF_MUST_USE int clf_run_net_of(const struct clf_lease *l, const char *fabric, struct clf_net *out,
				struct clf_error *err);
bool clf_run_fabric_has(const struct clf_run_fabric *f, const char *node);

#endif
