/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lease/lease.h"

#include <stdio.h>
#include <string.h>

#include "tap.h"

static void test_moves(void)
{
	/* row: from; column: to */
	static const bool may[5][5] = {
		[CLF_LEASE_REQUESTED] = { [CLF_LEASE_GRANTED] = true,
					  [CLF_LEASE_RELEASING] = true,
					  [CLF_LEASE_REFUSED] = true },
		[CLF_LEASE_GRANTED] = { [CLF_LEASE_RELEASING] = true, [CLF_LEASE_CLOSED] = true },
		[CLF_LEASE_RELEASING] = { [CLF_LEASE_CLOSED] = true },
	};

	for (int from = 0; from < 5; from++)
		for (int to = 0; to < 5; to++) {
			CLF_CLEANUP(clf_lease_destroyp) struct clf_lease *l = clf_lease_create(NULL);
			struct clf_error err = { 0 };

			l->state = (enum clf_lease_state) from;
			ok(!clf_lease_move(l, (enum clf_lease_state) to, 5, "why", &err) == may[from][to], "%s to %s",
			   clf_lease_state_name((enum clf_lease_state) from),
			   clf_lease_state_name((enum clf_lease_state) to));
			is_int(l->state, may[from][to] ? to : from, "state");
		}
}

static void test_json(void)
{
	CLF_CLEANUP(clf_lease_destroyp) struct clf_lease *l = clf_lease_create(NULL), *m = NULL, *c = NULL;
	json_auto_t *j = NULL, *k = NULL;
	static const char *const bad[] = { "{}",
					   "{\"id\":\"L1\",\"state\":\"open\"}",
					   "{\"id\":\"\",\"state\":\"granted\"}",
					   "{\"id\":\"L1\",\"state\":\"granted\",\"job_id\":-1}",
					   "{\"id\":\"L1\",\"state\":\"granted\",\"job_id\":4294967296}",
					   "{\"id\":\"L1\",\"state\":\"granted\",\"nodes\":3}",
					   "[]" };

	strcpy(l->id, "L3-17");
	l->state = CLF_LEASE_GRANTED;
	l->job_id = 4294967295u;
	l->uid = 4294967294u;
	l->submit_time_s = 1796115660;
	l->array_task_id = 0;
	ok(!clf_lease_set(&l->nodes, "n[1-2]", NULL) && !clf_lease_set(&l->cls, "personal", NULL), "set");
	j = clf_lease_to_json(l);
	ok(!clf_lease_from_json(j, &m, NULL), "read back");
	k = clf_lease_to_json(m);
	ok(json_equal(j, k), "the same in JSON");
	c = clf_lease_copy(m, NULL);
	json_decref(k);
	k = clf_lease_to_json(c);
	ok(json_equal(j, k) && c->nodes != m->nodes, "a copy is equal and its own");
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		json_auto_t *b = json_loads(bad[i], 0, NULL);
		struct clf_lease *out = NULL;
		struct clf_error err = { 0 };

		ok(clf_lease_from_json(b, &out, &err) == -1 && err.code == CLF_E_PARSE && !out, "refused: %s", bad[i]);
	}
}

int main(void)
{
	test_moves();
	test_json();
	return done_testing();
}
