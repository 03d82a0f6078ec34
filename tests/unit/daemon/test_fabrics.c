/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Order of a fabric's turns, and starts on one that is not fit. */
#include "daemon/fabrics.h"

#include <stdio.h>
#include <string.h>

#include "engine/run_priv.h"
#include "tap.h"

static const char *const illusions[] = { "mirror", NULL };
static const struct clf_driver driver = { .name = "fake", .touches_devices = true, .illusions = illusions };
static const struct clf_fabric_conf conf = { .name = "eth", .driver = "fake", .key_min = 1, .key_max = 9 };
static struct clf_run_result said;

static void verdict(void *arg, const char *lease, enum clf_net_op op, const struct clf_run_result *res)
{
	(void) arg, (void) lease;
	if (op == CLF_NET_OPEN)
		said = *res;
}

static int record(void *arg, struct clf_record_facts *f, struct clf_error *err)
{
	(void) arg, (void) f, (void) err;
	return 0;
}

static int add_lease(struct clf_store *s, const char *id, enum clf_lease_state state)
{
	CLF_CLEANUP(clf_lease_destroyp) struct clf_lease *l = clf_lease_create(NULL);
	CLF_CLEANUP(clf_strv_done) struct clf_strv ports = { 0 };

	snprintf(l->id, sizeof l->id, "%s", id);
	l->job_id = 1;
	l->state = state;
	return clf_strv_add(&ports, "a/p1", NULL) || clf_lease_add_net(l, "eth", 1, &ports, NULL) ||
	       clf_store_put(s, l, NULL) || clf_store_commit(s, NULL);
}

int main(void)
{
	struct clf_run_fabric fabric = { .conf = &conf, .driver = &driver };
	struct clf_fab_one one = { 0 };
	struct clf_log sink = clf_log_stderr(CLF_LOG_ERROR);
	struct clf_fab fab = { .run = &fabric, .one = &one, .n = 1, .sink = &sink };
	struct clf_run run = { .fabrics = &fabric,
			       .nfabrics = 1,
			       .clock = &clf_clock_system,
			       .cluster = "t",
			       .record = record,
			       .verdict = verdict };
	struct clf_fab_call *c;
	struct clf_error err = { 0 };

	if (clf_store_open(clf_test_dir(), &run.store, &err) || clf_known_open(&fab.known, clf_test_dir(), &err) ||
	    add_lease(run.store, "L1-1", CLF_LEASE_GRANTED) || clf_run_recheck(&run, 0, &err))
		abort();
	c = clf_fab_next(&fab, 0, &run, 1000, &err);
	ok(c && c->what == CLF_FAB_CHECK, "before anything starts it is known whether isolation is an illusion");
	if (c && c->what == CLF_FAB_CHECK) {
		c->out = json_pack("[{s:s,s:s,s:s,s:s}]", "code", "mirror", "text", "a mirror", "level", "error",
				   "subject", "a");
		ok(!clf_fab_done(&fab, c, &run, &err) && clf_fab_fit(&fab, 0, &err), "it is");
	}
	clf_fab_call_destroy(c);
	c = clf_fab_next(&fab, 0, &run, 1001, &err);
	ok(c && c->what == CLF_FAB_SYNC && c->ntasks == 1, "then the tasks");
	/* a start that was asked for before that was known */
	if (c && c->ntasks == 1) {
		ok(!add_lease(run.store, "L1-1", CLF_LEASE_REQUESTED), "a start");
		run.pending[0].what = CLF_RUN_OPENING;
		ok(!clf_fab_done(&fab, c, &run, &err), "the driver has opened its network");
		is_int(said.code, CLF_E_DENIED, "it is refused: %s", said.text);
		ok(clf_store_find(run.store, "L1-1")->state == CLF_LEASE_RELEASING, "and released");
	}
	clf_fab_call_destroy(c);
	clf_run_done(&run);
	clf_store_close(run.store);
	clf_known_done(&fab.known);
	json_decref(one.findings);
	return done_testing();
}
