/* SPDX-License-Identifier: GPL-2.0-or-later */
/* state.h - everything closfoldd owns: lock, ledger, log, policy in force; opened in order, committed in order, closed
 * in order.
 *
 * Order of a commit: log, then ledger; only then may a reply leave. The order is the promise "no record, no action".
 * Threads: the loop's only; what a worker thread makes is handed over whole.
 */
#ifndef CLF_DAEMON_STATE_H
#define CLF_DAEMON_STATE_H

#include "audit/log.h"
#include "audit/sign.h"
#include "daemon/agents.h"
#include "daemon/fabrics.h"
#include "daemon/inforce.h"
#include "engine/run.h"
#include "policy/conf.h"

struct loop;

struct clf_state {
	const struct clf_conf *conf; /* borrowed */
	const struct clf_log *sink;  /* borrowed */
	uid_t slurm_uid;
	int64_t started_ms;
	struct clf_store *store;
	struct clf_auditlog *log;
	struct clf_run run;
	struct clf_fab fab;
	struct clf_agents *agents;   /* node daemons; NULL before the loop runs */
	struct loop *loop;           /* of loop.c: where verdicts go */
	struct clf_sign_key *key;    /* of leases */
	struct clf_inforce *inforce; /* NULL = no policy in force */
	char inforce_error[600];     /* why the files on disk are not in force, "" = they are */
	uint64_t producer_seq;
	uint64_t failed_commits; /* since start: the loop compares, so that no failure inside a turn is missed */
	bool fenced;             /* somebody else has the state directory: say nothing more, end */
	char log_error[600];     /* last failed commit, "" = the last one succeeded */
	int64_t facts_ms;        /* when the ledger last learned the log's head */
	struct {
		int64_t last_ms; /* 0 = never */
		bool ok;
		char text[400];
		json_t *result; /* owned, of the last one that was no dry run */
	} reconcile;
};

CLF_MUST_USE int clf_state_open(struct clf_state *st, const struct clf_conf *conf, bool accept_damage,
				const struct clf_log *sink, struct clf_error *err);
/* Record log.stop, commit, close. */
void clf_state_close(struct clf_state *st);

/* Append a record of closfoldd's own. */
CLF_MUST_USE int clf_state_record(struct clf_state *st, struct clf_record_facts *f, struct clf_error *err);
CLF_MUST_USE int clf_state_commit(struct clf_state *st, struct clf_error *err);
/* What the lease's steps are told, of all its fabrics; new, NULL when memory ends. */
json_t *clf_state_env(const struct clf_state *st, const struct clf_lease *l);
/* The lease as a node can check it: "body.signature" (docs/formats/lease-token.md); owned, NULL on failure. */
char *clf_state_token(const struct clf_state *st, const struct clf_lease *l, struct clf_error *err);
/* Once a second: remember the log's head in the ledger, record gaps. */
void clf_state_tick(struct clf_state *st);

/* Take what a load made (stolen): in force, or rejected, and recorded either way. */
void clf_state_take_inforce(struct clf_state *st, struct clf_inforce *n);

#endif
