/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "audit/producers.h"

#include <stdio.h>
#include <string.h>

#include "tap.h"

static struct clf_canon who(const char *name, int64_t seq)
{
	return (struct clf_canon){
		.producer = { name, strlen(name) }, .boot_id = { "b", 1 }, .run = { "r", 1 }, .producer_seq = seq
	};
}

static bool known(struct clf_producers *p, const char *name, int64_t seq, int64_t now)
{
	struct clf_canon c = who(name, seq);
	bool k = false;

	if (clf_producers_note(p, &c, now, &k, NULL))
		ok(false, "note");
	return k;
}

int main(void)
{
	CLF_CLEANUP(clf_producers_destroyp) struct clf_producers *p = clf_producers_create(NULL);
	struct clf_gap g;
	char name[20];

	ok(!known(p, "a", 5, 1) && known(p, "a", 5, 1), "a retry is known");
	ok(!known(p, "a", 8, 2) && !known(p, "a", 6, 3), "numbers may overtake each other");
	ok(!clf_producers_gap(p, 1000, 10000, &g), "a hole is waited for");
	ok(clf_producers_gap(p, 20000, 10000, &g) && g.first == 7 && g.last == 7 && !strcmp(g.name, "a"),
	   "then it is a gap");
	ok(!clf_producers_gap(p, 90000, 10000, &g), "reported once");
	ok(known(p, "a", 6, 4) && known(p, "a", 8, 4), "what was there is still known");
	ok(!known(p, "a", 8 + 3 * (int64_t) CLF_PRODUCER_WINDOW, 5), "a jump past the window");
	ok(clf_producers_gap(p, 5, 10000, &g) && g.first == 9, "is a gap at once");
	ok(!known(p, "b", 1, 6) && !known(p, "b", 2, 6), "another producer counts for itself");
	clf_producers_forget(p, "b b r", 2);
	ok(!known(p, "b", 2, 6), "what was forgotten is new again");
	clf_producers_forget(p, "b b r", 1);
	ok(!known(p, "b", 1, 6) && known(p, "b", 2, 6), "also below others");
	for (int i = 0; i < 2 * (int) CLF_PRODUCERS_MAX; i++) {
		snprintf(name, sizeof name, "n%d", i);
		if (known(p, name, 1, 100 + i))
			ok(false, "producer %d is new", i);
	}
	ok(known(p, name, 1, 9999), "the newest of too many producers is remembered");
	return done_testing();
}
