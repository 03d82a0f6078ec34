/* SPDX-License-Identifier: GPL-2.0-or-later */
/* No key in two hands: next-fit, cool-down, restarts, and random histories against a plain model. */
#include "lease/keypool.h"

#include <stdio.h>
#include <string.h>
#include <stdlib.h>

#include "tap.h"

#define NOW  INT64_C(1796115600000)
#define COOL 60000

static const struct clf_keypool pool = { .fabric = "ib", .min = 0x100, .max = 0x103, .cool_down_ms = COOL };

static struct clf_store *reopen(struct clf_store *s)
{
	struct clf_error err = { 0 };

	clf_store_close(s);
	if (clf_store_open(clf_test_dir(), &s, &err)) {
		diag("%s", err.text);
		exit(1);
	}
	return s;
}

static void put(struct clf_store *s, struct clf_lease *l)
{
	if (clf_store_put(s, l, NULL) || clf_store_commit(s, NULL)) {
		diag("cannot write");
		exit(1);
	}
}

/* A lease with the next key; NULL when there is none. */
static struct clf_lease *take(struct clf_store *s, const struct clf_keypool *p, int64_t now)
{
	struct clf_lease *l = clf_lease_create(NULL);
	struct clf_strv ports = { 0 };
	char nodes[600];
	uint16_t key;

	memset(nodes, 'n', sizeof nodes - 1); /* so that the journal passes its limit and a snapshot takes its place */
	nodes[sizeof nodes - 1] = '\0';
	if (clf_keypool_next(s, p, now, &key, NULL)) {
		clf_lease_destroy(l);
		return NULL;
	}
	clf_store_new_id(s, l->id);
	l->job_id = 7;
	if (clf_lease_set(&l->nodes, nodes, NULL) || clf_strv_add(&ports, "p1", NULL) ||
	    clf_lease_add_net(l, p->fabric, key, &ports, NULL))
		exit(1);
	clf_strv_done(&ports);
	put(s, l);
	return l;
}

static void give_back(struct clf_store *s, struct clf_lease *l, int64_t now)
{
	if (clf_lease_move(l, CLF_LEASE_RELEASING, now, "end", NULL))
		exit(1);
	put(s, l);
	if (clf_lease_move(l, CLF_LEASE_CLOSED, now, NULL, NULL))
		exit(1);
	put(s, l);
}

static void in_order(void)
{
	struct clf_store *s = reopen(NULL);
	struct clf_lease *l[5], *again;
	struct clf_error err = { 0 };
	uint16_t key;

	for (int i = 0; i < 4; i++) {
		l[i] = take(s, &pool, NOW);
		ok(l[i] && l[i]->nets[0].key == 0x100 + i, "key %d in order", i);
	}
	ok(clf_keypool_next(s, &pool, NOW, &key, &err) && err.code == CLF_E_EXHAUSTED &&
		   strstr(err.text, "4 of 4 in use"),
	   "exhausted: %s", err.text);
	if (clf_lease_move(l[1], CLF_LEASE_RELEASING, NOW, "end", NULL))
		exit(1);
	put(s, l[1]);
	ok(clf_keypool_next(s, &pool, NOW + 10 * COOL, &key, NULL),
	   "a key in release is not free, however long it takes");
	if (clf_lease_move(l[1], CLF_LEASE_CLOSED, NOW, NULL, NULL))
		exit(1);
	put(s, l[1]);
	ok(clf_keypool_next(s, &pool, NOW + COOL - 1, &key, NULL), "nor one that rests");
	ok(clf_keypool_next(s, &pool, NOW - 1000, &key, NULL), "nor when the clock went back");
	ok(clf_keypool_use(s, &pool, NOW).in_use == 3 && clf_keypool_use(s, &pool, NOW).resting == 1,
	   "and is counted so");
	ok(!clf_keypool_next(s, &pool, NOW + COOL, &key, NULL) && key == 0x101, "then it is");
	s = reopen(s);
	ok(clf_keypool_next(s, &pool, NOW + COOL - 1, &key, NULL), "a restart ends no rest");
	give_back(s, l[0], NOW);
	again = take(s, &pool, NOW + COOL);
	ok(again && again->nets[0].key == 0x100, "next-fit goes round behind the key given last");
	s = reopen(s);
	ok(!clf_keypool_next(s, &pool, NOW + COOL, &key, NULL) && key == 0x101, "also over a restart");
	ok(!clf_keypool_next(s, &(struct clf_keypool){ "eth", 0x100, 0x103, COOL }, NOW, &key, NULL) && key == 0x100,
	   "another fabric has its own");
	for (int i = 0; i < 4; i++)
		clf_lease_destroy(l[i]);
	clf_lease_destroy(again);
	clf_store_close(s);
}

/* Enough leases that closed ones are dropped from the ledger and snapshots are written: rest and order survive that. */
static void many(void)
{
	const struct clf_keypool wide = { .fabric = "wide", .min = 1, .max = 40, .cool_down_ms = 1000 };
	struct clf_store *s = reopen(NULL);
	struct clf_lease *held[40] = { 0 };
	int64_t closed[41] = { 0 }, now = NOW;
	unsigned bad = 0, given = 0, refused = 0;

	srand(7);
	for (int i = 0; i < 6000; i++) {
		int at = rand() % 40;

		now += rand() % 30;
		if (i % 1500 == 1499)
			s = reopen(s);
		if (held[at]) {
			uint16_t key = held[at]->nets[0].key;

			give_back(s, held[at], now);
			closed[key] = now;
			clf_lease_destroy(held[at]);
			held[at] = NULL;
			continue;
		}
		held[at] = take(s, &wide, now);
		if (!held[at]) {
			refused++;
			continue;
		}
		given++;
		for (int k = 0; k < 40; k++)
			bad += k != at && held[k] && held[k]->nets[0].key == held[at]->nets[0].key;
		bad += closed[held[at]->nets[0].key] && now - closed[held[at]->nets[0].key] < 1000;
	}
	ok(!bad, "%u keys given, %u times none was free: never in two hands, never before its rest was over (%u)",
	   given, refused, bad);
	ok(given > 2100, "and more than the ledger keeps closed leases for");
	for (int k = 0; k < 40; k++)
		clf_lease_destroy(held[k]);
	clf_store_close(s);
}

int main(void)
{
	in_order();
	many();
	return done_testing();
}
