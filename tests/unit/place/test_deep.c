/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The exact search on forests of 3 to 6 levels against brute force over every set of leaves; the largest power of two
 * for pattern rd; what a time budget may and may not change. */
#include <stdlib.h>
#include <string.h>

#include "place/search.h"
#include "rnd.h"
#include "tap.h"

enum { LEAVES = 64 };

struct forest {
	struct clf_search_tree tree;
	uint32_t first[7][LEAVES + 1], parent[7][LEAVES], size[LEAVES], free[LEAVES], required[LEAVES];
};

static uint32_t add(struct forest *f, uint32_t level, uint32_t max_kids, uint32_t max_leaves, uint32_t max_free)
{
	uint32_t g = f->tree.n[level]++;

	if (level == 1) {
		f->free[g] = rnd(max_free + 1);
		f->size[g] = max_free;
		return g;
	}
	f->first[level][g] = f->tree.n[level - 1];
	for (uint32_t c = 1 + rnd(max_kids); c > 0; c--)
		if (f->first[level][g] == f->tree.n[level - 1] || f->tree.n[1] < max_leaves)
			f->parent[level - 1][add(f, level - 1, max_kids, max_leaves, max_free)] = g;
	return g;
}

static void grow(struct forest *f, uint32_t levels, uint32_t roots, uint32_t max_kids, uint32_t max_leaves,
		 uint32_t max_free)
{
	memset(f, 0, sizeof(*f));
	f->tree.levels = levels;
	for (uint32_t l = 1; l <= levels; l++) {
		f->tree.first[l] = f->first[l];
		f->tree.parent[l] = f->parent[l];
	}
	f->tree.size = f->size;
	for (uint32_t r = 0; r < roots; r++)
		add(f, levels, max_kids, max_leaves, max_free);
	for (uint32_t l = 2; l <= levels; l++)
		f->first[l][f->tree.n[l]] = f->tree.n[l - 1];
}

static void count(const struct forest *f, uint64_t set, uint32_t used[7])
{
	uint64_t below = set;

	memset(used, 0, 7 * sizeof(*used));
	used[1] = (uint32_t) __builtin_popcountll(set);
	for (uint32_t l = 2; l <= f->tree.levels; l++) {
		uint64_t here = 0;

		for (uint32_t g = 0; g < f->tree.n[l - 1]; g++)
			if (below >> g & 1)
				here |= UINT64_C(1) << f->parent[l - 1][g];
		below = here;
		used[l] = (uint32_t) __builtin_popcountll(here);
	}
}

static int compare(const struct forest *f, bool hops, const uint32_t *a, const uint32_t *b)
{
	uint32_t x = 0, y = 0;

	for (uint32_t l = f->tree.levels; l > 0; l--) {
		if (!hops && a[l] != b[l])
			return a[l] < b[l] ? -1 : 1;
		x += a[l] > 1 ? a[l] : 0;
		y += b[l] > 1 ? b[l] : 0;
	}
	return !hops || x == y ? 0 : x < y ? -1 : 1;
}

/* Best counts over all sets of leaves; with equal counts *t is the largest power of two that some set allows. */
static bool brute(const struct forest *f, const struct clf_search_ask *ask, uint32_t best[7], uint32_t *t)
{
	bool any = false;

	for (uint64_t set = 1; set < UINT64_C(1) << f->tree.n[1]; set++) {
		uint32_t sum = 0, used[7], most = 0;
		bool good = true;
		int order;

		for (uint32_t l = 0; l < f->tree.n[1]; l++) {
			sum += set >> l & 1 ? f->free[l] : 0;
			good = good && (set >> l & 1 ? f->free[l] > 0 : !ask->required || !f->required[l]);
		}
		count(f, set, used);
		if (!good || sum < ask->need || used[1] > ask->need || used[f->tree.levels] > 1 ||
		    (ask->max_leaves && used[1] > ask->max_leaves))
			continue;
		for (uint32_t e = 1; ask->need % (1u << e) == 0; e++) {
			uint32_t blocks = 0;

			for (uint32_t l = 0; l < f->tree.n[1]; l++)
				blocks += set >> l & 1 ? f->free[l] >> e : 0;
			if (blocks >= ask->need >> e)
				most = e;
		}
		order = any ? compare(f, ask->hops, used, best) : -1;
		*t = order < 0 ? most : order == 0 && most > *t ? most : *t;
		if (order < 0)
			memcpy(best, used, 7 * sizeof(*best));
		any = true;
	}
	return any;
}

static bool sound(const struct forest *f, const struct clf_search_ask *ask, const struct clf_found *got)
{
	uint32_t sum = 0, used[7];
	uint64_t set = 0;

	for (uint32_t l = 0; l < f->tree.n[1]; l++) {
		if (got->take[l] > f->free[l] || (ask->required && got->take[l] < f->required[l]))
			return false;
		sum += got->take[l];
		set |= (uint64_t) (got->take[l] > 0) << l;
	}
	count(f, set, used);
	for (uint32_t l = 1; l <= f->tree.levels; l++)
		if (used[l] != got->used[l])
			return false;
	return sum == ask->need && used[f->tree.levels] == 1 && used[got->level] == 1 &&
	       (got->level == 1 || used[got->level - 1] > 1) && (!ask->max_leaves || used[1] <= ask->max_leaves);
}

static uint32_t total(const uint32_t *v, uint32_t n)
{
	uint32_t sum = 0;

	for (uint32_t i = 0; i < n; i++)
		sum += v[i];
	return sum;
}

static void against_brute(uint32_t levels, uint32_t roots, uint32_t rounds)
{
	uint32_t wrong = 0, high = 0, placed = 0, unplaced = 0, blocks = 0, wrong_blocks = 0;

	for (uint32_t i = 0; i < rounds; i++) {
		struct forest f;
		struct clf_found got;
		uint32_t best[7] = { 0 }, t = 0, must = 0;
		bool can;

		grow(&f, levels, roots, 3, 9, 8);
		if (f.tree.n[1] > 13)
			continue;

		struct clf_search_ask ask = {
			.free = f.free,
			.hops = i & 1,
			.max_leaves = i & 2 ? 1 + rnd(6) : 0,
			.required = i & 4 ? f.required : NULL,
			.blocks = i & 8,
		};

		for (uint32_t l = 0; ask.required && l < f.tree.n[1]; l++)
			if (f.free[l] && !rnd(5))
				must += f.required[l] = 1 + rnd(f.free[l]);
		ask.need = 1 + rnd(total(f.free, f.tree.n[1]) + 2);
		ask.need = ask.need < must ? must : ask.need;

		CLF_CLEANUP(clf_search_ws_destroyp) struct clf_search_ws *ws = clf_search_ws_create(&f.tree, NULL);

		can = brute(&f, &ask, best, &t);
		if (!clf_search(ws, &ask, &got)) {
			wrong += can;
			unplaced++;
			continue;
		}
		placed++;
		high += got.level > 3;
		if (!can || !got.proven || !sound(&f, &ask, &got) || compare(&f, ask.hops, got.used, best) ||
		    got.bound_leaves != got.used[1] || got.bound_pods != got.used[2])
			wrong++;
		if (ask.blocks && !ask.required && !ask.hops && got.used[1] > 1) {
			blocks += t > 0;
			for (uint32_t l = 0; l < f.tree.n[1]; l++)
				wrong_blocks += got.take[l] % (1u << t) != 0;
		}
	}
	ok(!wrong, "%u levels, %u roots: %u of %u differ from brute force", levels, roots, wrong, placed + unplaced);
	ok(placed > rounds / 3 && unplaced > 0, "placed %u, not %u; %u of them above level 3", placed, unplaced, high);
	ok(!wrong_blocks && blocks, "pattern rd: multiples of the largest power of two, in %u cases more than 1",
	   blocks);
}

/* The same search twice, with all the time and with none: what the second says must hold. */
static void budget(uint32_t levels)
{
	uint32_t wrong = 0, unproven = 0, cases = 0;

	for (uint32_t i = 0; i < 2000; i++) {
		struct forest f;
		struct clf_found exact, hasty;
		uint32_t used[7];

		grow(&f, levels, 1, 5, 40, 16);
		if (f.tree.n[1] > LEAVES || !total(f.free, f.tree.n[1]))
			continue;

		CLF_CLEANUP(clf_search_ws_destroyp) struct clf_search_ws *ws = clf_search_ws_create(&f.tree, NULL);
		struct clf_search_ask ask = { .free = f.free,
					      .need = 1 + rnd(total(f.free, f.tree.n[1])),
					      .hops = i & 1 };

		if (!clf_search(ws, &ask, &exact) || !exact.proven) {
			wrong++;
			continue;
		}
		memcpy(used, exact.used, sizeof(used));
		ask.budget_us = 1;
		cases++;
		if (!clf_search(ws, &ask, &hasty) || !sound(&f, &ask, &hasty)) {
			wrong++;
			continue;
		}
		unproven += !hasty.proven;
		wrong += compare(&f, ask.hops, hasty.used, used) < 0;
		wrong += hasty.proven && compare(&f, ask.hops, hasty.used, used);
		wrong += hasty.bound_pods > used[2] ||
			 (hasty.bound_leaves > used[1] && (ask.hops || hasty.bound_pods == used[2]));
	}
	ok(!wrong, "%u levels, no time: %u of %u claims are wrong (%u not proven)", levels, wrong, cases, unproven);
}

int main(void)
{
	for (uint32_t levels = 3; levels <= 6; levels++) {
		against_brute(levels, 1, 3000);
		against_brute(levels, 2, 1500);
	}
	budget(3);
	budget(4);
	budget(5);
	return done_testing();
}
