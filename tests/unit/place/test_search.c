/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The exact search against brute force over every count vector of small fabrics, and against a full dynamic programme
 * on larger ones. */
#include <stdlib.h>
#include <string.h>

#include "place/search.h"
#include "rnd.h"
#include "tap.h"

struct fabric {
	uint32_t nleaves, npods, free[64], pod_of[64], required[64];
	/* the same as a tree of one root */
	uint32_t first_leaf[65], first_pod[2], root_of[64], size[64];
};

/* Search a fabric; false = none. A workspace of its own, so that nothing is left over from the last one. */
static struct clf_search_ws *open_ws(struct fabric *f)
{
	struct clf_search_tree tree = { .levels = 3,
					.n = { 0, f->nleaves, f->npods, 1 },
					.first = { NULL, NULL, f->first_leaf, f->first_pod },
					.parent = { NULL, f->pod_of, f->root_of },
					.size = f->size };

	for (uint32_t p = 0, l = 0; p < f->npods; p++) {
		f->first_leaf[p] = l;
		while (l < f->nleaves && f->pod_of[l] == p)
			f->size[l] = 64, l++;
		f->first_leaf[p + 1] = l;
	}
	f->first_pod[0] = 0;
	f->first_pod[1] = f->npods;
	return clf_search_ws_create(&tree, NULL);
}

static struct fabric make(uint32_t max_pods, uint32_t max_leaves_a_pod, uint32_t max_free)
{
	struct fabric f = { .npods = 1 + rnd(max_pods) };

	for (uint32_t p = 0; p < f.npods; p++)
		for (uint32_t l = 1 + rnd(max_leaves_a_pod); l > 0; l--) {
			f.free[f.nleaves] = rnd(max_free + 1);
			f.pod_of[f.nleaves++] = p;
		}
	return f;
}

static uint32_t hop_cost(uint32_t pods, uint32_t leaves)
{
	return (pods > 1 ? pods : 0) + (leaves > 1 ? leaves : 0);
}

/* Every set of leaves that includes the required ones and holds the need. true when one exists. */
static bool brute(const struct fabric *f, uint32_t need, uint32_t max_leaves, bool hops, uint32_t *pods,
		  uint32_t *leaves)
{
	bool any = false;

	for (uint32_t set = 1; set < 1u << f->nleaves; set++) {
		uint32_t sum = 0, k = 0, in_pods = 0, p;
		bool good = true;

		for (uint32_t l = 0; l < f->nleaves; l++) {
			if (set >> l & 1) {
				sum += f->free[l];
				k++;
				in_pods |= 1u << f->pod_of[l];
				good = good && f->free[l];
			} else {
				good = good && !f->required[l];
			}
		}
		p = (uint32_t) __builtin_popcount(in_pods);
		if (!good || sum < need || k > need || (max_leaves && k > max_leaves))
			continue;
		if (!any ||
		    (hops ? hop_cost(p, k) < hop_cost(*pods, *leaves) : p < *pods || (p == *pods && k < *leaves))) {
			*pods = p;
			*leaves = k;
		}
		any = true;
	}
	return any;
}

/* Does the answer add up: need nodes, no leaf over its free count, required ones in, as many leaves and pods as it
 * says? */
static bool sound(const struct fabric *f, uint32_t need, const struct clf_found *got)
{
	uint32_t sum = 0, k = 0, pods = 0;

	for (uint32_t l = 0; l < f->nleaves; l++) {
		if (got->take[l] > f->free[l] || got->take[l] < f->required[l])
			return false;
		sum += got->take[l];
		k += got->take[l] > 0;
		pods |= (got->take[l] > 0) << f->pod_of[l];
	}
	for (uint32_t i = 0; i < got->used[1]; i++)
		if (!got->take[got->leaf[i]] || (i && got->leaf[i] <= got->leaf[i - 1]))
			return false;
	return sum == need && k == got->used[1] && (uint32_t) __builtin_popcount(pods) == got->used[2];
}

static void against_brute(uint32_t rounds, bool hops, bool limit, bool required)
{
	uint32_t wrong = 0, placed = 0, unplaced = 0;

	for (uint32_t i = 0; i < rounds; i++) {
		struct fabric f = make(4, 3, 5);
		uint32_t total = 0, need, pods = 0, leaves = 0, must = 0, max = limit ? 1 + rnd(5) : 0;
		struct clf_found got;
		bool can;

		for (uint32_t l = 0; l < f.nleaves; l++) {
			total += f.free[l];
			if (required && f.free[l] && !rnd(3))
				must += f.required[l] = 1 + rnd(f.free[l]);
		}
		need = 1 + rnd(total + 2);
		if (need < must)
			need = must;

		CLF_CLEANUP(clf_search_ws_destroyp) struct clf_search_ws *ws = open_ws(&f);
		struct clf_search_ask in = {
			.free = f.free,
			.required = required ? f.required : NULL,
			.need = need,
			.hops = hops,
			.max_leaves = max,
		};

		can = brute(&f, need, max, hops, &pods, &leaves);
		if (!clf_search(ws, &in, &got)) {
			wrong += can;
			unplaced++;
			continue;
		}
		placed++;
		if (!can || !sound(&f, need, &got) || !got.proven ||
		    (hops ? hop_cost(got.used[2], got.used[1]) != hop_cost(pods, leaves)
			  : got.used[2] != pods || got.used[1] != leaves)) {
			if (!wrong++)
				diag("round %u: got %u pods %u leaves proven %d sound %d, brute force %d %u %u, need "
				     "%u max %u",
				     i, got.used[2], got.used[1], got.proven, sound(&f, need, &got), can, pods, leaves,
				     need, max);
		}
	}
	ok(!wrong, "%s%s%s: %u of %u cases differ from brute force", hops ? "hops" : "lex",
	   limit ? ", limited leaves" : "", required ? ", required nodes" : "", wrong, rounds);
	ok(placed > rounds / 4 && unplaced > 0, "both outcomes were met: %u placed, %u not", placed, unplaced);
}

/* Least leaves in exactly the least number of pods by a plain dynamic programme over all pods: no certificate, no
 * tricks. */
static uint32_t full_programme(const struct fabric *f, uint32_t need, uint32_t m)
{
	enum { M = 17, K = 65 };
	static uint32_t g[M][K];
	uint32_t sorted[64], n;

	memset(g, 0, sizeof(g));
	for (uint32_t p = 0; p < f->npods; p++) {
		n = 0;
		for (uint32_t l = 0; l < f->nleaves; l++)
			if (f->pod_of[l] == p) {
				uint32_t at = n++;

				for (; at > 0 && sorted[at - 1] < f->free[l]; at--)
					sorted[at] = sorted[at - 1];
				sorted[at] = f->free[l];
			}
		for (uint32_t j = m; j > 0; j--)
			for (uint32_t k = K - 1; k > 0; k--)
				for (uint32_t x = 1, sum = 0; x <= n && x <= k; x++) {
					sum += sorted[x - 1];
					if (g[j - 1][k - x] + sum > g[j][k])
						g[j][k] = g[j - 1][k - x] + sum;
				}
	}
	for (uint32_t k = 1; k < K; k++)
		if (g[m][k] >= need)
			return k;
	return UINT32_MAX;
}

static void against_programme(uint32_t rounds)
{
	uint32_t wrong = 0, multi = 0;

	for (uint32_t i = 0; i < rounds; i++) {
		struct fabric f = make(8, 8, 16);
		uint32_t total = 0;
		struct clf_found got;

		for (uint32_t l = 0; l < f.nleaves; l++)
			total += f.free[l];
		if (!total)
			continue;

		CLF_CLEANUP(clf_search_ws_destroyp) struct clf_search_ws *ws = open_ws(&f);
		struct clf_search_ask in = { .free = f.free, .need = 1 + rnd(total) };

		if (!clf_search(ws, &in, &got)) {
			wrong++;
			continue;
		}
		multi += got.used[2] > 1;
		wrong += !sound(&f, in.need, &got) || !got.proven ||
			 got.used[1] != full_programme(&f, in.need, got.used[2]) ||
			 (got.used[2] > 1 && full_programme(&f, in.need, got.used[2] - 1) != UINT32_MAX);
	}
	ok(!wrong, "%u of %u cases differ from a full dynamic programme", wrong, rounds);
	ok(multi > rounds / 4, "%u cases span pods", multi);
}

static void tightness(void)
{
	struct fabric f = { .nleaves = 6, .npods = 2, .free = { 4, 2, 3, 4, 4, 1 }, .pod_of = { 0, 0, 0, 1, 1, 1 } };
	CLF_CLEANUP(clf_search_ws_destroyp) struct clf_search_ws *ws = open_ws(&f);
	struct clf_search_ask in = { .free = f.free, .need = 3 };
	struct clf_found got;

	ok(clf_search(ws, &in, &got) && got.take[2] == 3, "one leaf: the tightest");
	in.need = 6;
	ok(clf_search(ws, &in, &got) && got.used[2] == 1 && got.used[1] == 2, "one pod, two leaves");
	ok(got.take[0] == 4 && got.take[1] == 2,
	   "equal leaves and pods: the fullest leaf, then the tightest for the rest");
	in.need = 9;
	ok(clf_search(ws, &in, &got) && got.used[2] == 1 && got.take[3] == 0, "the pod that fits exactly");
	/* equal leaves: the one in the pod with fewer free nodes */
	struct fabric g = { .nleaves = 4, .npods = 2, .free = { 4, 4, 4, 1 }, .pod_of = { 0, 0, 1, 1 } };
	CLF_CLEANUP(clf_search_ws_destroyp) struct clf_search_ws *ws_g = open_ws(&g);
	struct clf_search_ask in_g = { .free = g.free, .need = 4 };

	ok(clf_search(ws_g, &in_g, &got) && got.take[2] == 4, "one leaf of equals: in the tightest pod");

	/* three pods, two needed: 12 from the first, and 4 of them from the third, which has less than the second */
	struct fabric h = { .nleaves = 6, .npods = 3, .free = { 6, 6, 5, 5, 5, 1 }, .pod_of = { 0, 0, 1, 1, 2, 2 } };
	CLF_CLEANUP(clf_search_ws_destroyp) struct clf_search_ws *ws_h = open_ws(&h);
	struct clf_search_ask in_h = { .free = h.free, .need = 16 };

	ok(clf_search(ws_h, &in_h, &got) && got.used[1] == 3 && got.take[4] == 4,
	   "several pods: the last one the tightest");
	/* two components that cost the same: the one with fewer free nodes */
	struct fabric c = { .nleaves = 4,
			    .npods = 4,
			    .free = { 4, 4, 4, 3 },
			    .pod_of = { 0, 1, 2, 3 },
			    .first_leaf = { 0, 1, 2, 3, 4 },
			    .size = { 4, 4, 4, 4 } };
	uint32_t first_root[] = { 0, 2, 4 }, roots_of[] = { 0, 0, 1, 1 };
	CLF_CLEANUP(clf_search_ws_destroyp) struct clf_search_ws *ws_c = NULL;
	struct clf_search_tree two = { .levels = 3,
				       .n = { 0, 4, 4, 2 },
				       .first = { NULL, NULL, c.first_leaf, first_root },
				       .parent = { NULL, c.pod_of, roots_of },
				       .size = c.size };
	struct clf_search_ask in_c = { .free = c.free, .need = 7 };

	ws_c = clf_search_ws_create(&two, NULL);
	ok(clf_search(ws_c, &in_c, &got) && got.take[2] == 4 && got.take[3] == 3, "two components: the tightest");
	in.need = 10;
	ok(clf_search(ws, &in, &got) && got.used[2] == 2 && got.used[1] == 3, "two pods when none holds it");
}

int main(void)
{
	for (int i = 0; i < 8; i++)
		against_brute(4000, i & 1, i & 2, i & 4);
	against_programme(4000);
	tightness();
	return done_testing();
}
