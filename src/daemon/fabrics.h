/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fabrics.h - the fabrics of fabrics.json between the engine and their drivers: one call at a time for each, beside the
 * loop.
 *
 * What the engine has for a fabric while its driver is busy waits and goes out in one sync(). Order of turns: the first
 * check, tasks, then questions of people, then the check and the audit that are due; one that is long overdue goes
 * first. Threads: everything here in the loop's thread; a
 * driver's call runs in a thread of its own and comes back over the pipe as struct clf_work. Memory: open/close. A
 * driver whose call has not come back when closfoldd ends is left as it is.
 */
#ifndef CLF_DAEMON_FABRICS_H
#define CLF_DAEMON_FABRICS_H

#include "daemon/known.h"
#include "engine/run.h"
#include "policy/conf.h"

#define CLF_FAB_ASKS 16u /* questions that wait for one fabric */

enum clf_fab_what { CLF_FAB_SYNC, CLF_FAB_AUDIT, CLF_FAB_CHECK, CLF_FAB_READ, CLF_FAB_PLAN };

/* One call of a driver; owns all it needs. */
struct clf_fab_call {
	size_t fabric;
	enum clf_fab_what what;
	const struct clf_driver *driver;
	void *self;
	int timeout_ms;
	struct clf_net *nets, *task_nets;
	size_t n, ntasks;
	struct clf_strv known;
	struct clf_run_task *tasks;
	struct clf_net_task *answers;
	uint64_t group, peer, seq; /* who asks; 0: closfoldd itself */
	/* results */
	json_t *out;
	struct clf_error error;
	int64_t took_ms;
};
void clf_fab_call_destroy(struct clf_fab_call *c);
void clf_fab_call_run(struct clf_fab_call *c); /* in the thread */

struct clf_fab_ask {
	enum clf_fab_what what;
	uint64_t group, peer, seq;
};
struct clf_fab_one {
	bool busy, repair; /* repair: a sync without tasks is due */
	bool learned;      /* ports were learned: made known to the fabric with the next tick, many at once */
	struct clf_fab_ask asks[CLF_FAB_ASKS];
	size_t nasks;
	int64_t audited_ms;          /* CLOCK_BOOTTIME; 0 = never */
	int64_t checked_ms;          /* the same, of check() */
	bool unchecked;              /* the last check could not be made */
	bool looked;                 /* one could */
	char unfit[300];             /* why isolation is an illusion here, by the last check; "" = it is not */
	json_t *findings;            /* of the last audit, owned; NULL = none yet */
	struct clf_error last_error; /* of the last call that could do nothing */
	uint64_t syncs, tasks;
	int64_t last_sync_ms; /* how long the last one took */
};
struct clf_fab {
	struct clf_fabrics *set; /* NULL: no fabrics */
	struct clf_run_fabric *run;
	struct clf_fab_one *one;
	size_t n;
	struct clf_known known;
	const struct clf_log *sink;
};
CLF_MUST_USE int clf_fab_open(struct clf_fab *f, const struct clf_conf *conf, const struct clf_log *sink,
			      struct clf_error *err);
void clf_fab_close(struct clf_fab *f);
/* Index by name; f->n: none. */
size_t clf_fab_find(const struct clf_fab *f, const char *name);

/* A node's ports by the configuration or its report (NULL: none); what the driver does not know is passed over. */
void clf_fab_learn(struct clf_fab *f, const char *node, const json_t *facts);

/* CLF_E_DENIED while isolation on this fabric is an illusion. */
CLF_MUST_USE int clf_fab_fit(const struct clf_fab *f, size_t fabric, struct clf_error *err);
/* Each second. */
void clf_fab_tick(struct clf_fab *f);
/* CLF_E_EXHAUSTED: too many wait. */
CLF_MUST_USE int clf_fab_ask(struct clf_fab *f, size_t fabric, const struct clf_fab_ask *ask, struct clf_error *err);
/* The next call for a fabric that is idle; NULL: nothing to do, or no memory (err). */
struct clf_fab_call *clf_fab_next(struct clf_fab *f, size_t fabric, struct clf_run *run, int64_t boot_ms,
				  struct clf_error *err);
/* A sync or audit that came back, told to the engine and recorded. */
CLF_MUST_USE int clf_fab_done(struct clf_fab *f, struct clf_fab_call *c, struct clf_run *run, struct clf_error *err);
json_t *clf_fab_status(const struct clf_fab *f, const struct clf_run *run); /* array; new */

#endif
