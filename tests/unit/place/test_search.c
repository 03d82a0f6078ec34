/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The exact search against brute force over every count vector of small fabrics, and against a full dynamic programme
 * on larger ones. */
#include <stdlib.h>
#include <string.h>

#include "place/search.h"
#include "tap.h"

static uint64_t seed = 88172645463325252u;

static uint32_t rnd(uint32_t n)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (uint32_t) (seed >> 11) % n;
}

struct fabric {
	uint32_t nleaves, npods, free[64], pod_of[64], required[64];
};

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
	return sum == need && k == got->leaves && (uint32_t) __builtin_popcount(pods) == got->pods;
}

static void against_brute(uint32_t rounds, bool hops, bool limit, bool required)
{
	CLF_CLEANUP(clf_search_ws_destroyp) struct clf_search_ws *ws = clf_search_ws_create(NULL);
	uint32_t wrong = 0, placed = 0, unplaced = 0;

	for (uint32_t i = 0; i < rounds; i++) {
		struct fabric f = make(4, 3, 5);
		uint32_t total = 0, need, pods = 0, leaves = 0, must = 0, max = limit ? 1 + rnd(5) : 0;
		struct clf_found got;
		struct clf_error err = { 0 };
		bool can;

		for (uint32_t l = 0; l < f.nleaves; l++) {
			total += f.free[l];
			if (required && f.free[l] && !rnd(3))
				must += f.required[l] = 1 + rnd(f.free[l]);
		}
		need = 1 + rnd(total + 2);
		if (need < must)
			need = must;

		struct clf_search in = {
			.nleaves = f.nleaves,
			.npods = f.npods,
			.free = f.free,
			.pod_of = f.pod_of,
			.required = required ? f.required : NULL,
			.need = need,
			.hops = hops,
			.max_leaves = max,
		};

		can = brute(&f, need, max, hops, &pods, &leaves);
		if (clf_search(ws, &in, &got, &err)) {
			wrong += can || err.code != CLF_E_EXHAUSTED;
			unplaced++;
			continue;
		}
		placed++;
		if (!can || !sound(&f, need, &got) || !got.proven ||
		    (hops ? hop_cost(got.pods, got.leaves) != hop_cost(pods, leaves)
			  : got.pods != pods || got.leaves != leaves)) {
			if (!wrong++)
				diag("round %u: got %u pods %u leaves proven %d sound %d, brute force %d %u %u, need "
				     "%u max %u",
				     i, got.pods, got.leaves, got.proven, sound(&f, need, &got), can, pods, leaves,
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
	CLF_CLEANUP(clf_search_ws_destroyp) struct clf_search_ws *ws = clf_search_ws_create(NULL);
	uint32_t wrong = 0, multi = 0;

	for (uint32_t i = 0; i < rounds; i++) {
		struct fabric f = make(8, 8, 16);
		uint32_t total = 0;
		struct clf_found got;

		for (uint32_t l = 0; l < f.nleaves; l++)
			total += f.free[l];
		if (!total)
			continue;

		struct clf_search in = { .nleaves = f.nleaves,
					 .npods = f.npods,
					 .free = f.free,
					 .pod_of = f.pod_of,
					 .need = 1 + rnd(total) };

		if (clf_search(ws, &in, &got, NULL)) {
			wrong++;
			continue;
		}
		multi += got.pods > 1;
		wrong += !sound(&f, in.need, &got) || !got.proven ||
			 got.leaves != full_programme(&f, in.need, got.pods) ||
			 (got.pods > 1 && full_programme(&f, in.need, got.pods - 1) != UINT32_MAX);
	}
	ok(!wrong, "%u of %u cases differ from a full dynamic programme", wrong, rounds);
	ok(multi > rounds / 4, "%u cases span pods", multi);
}

static void tightness(void)
{
	CLF_CLEANUP(clf_search_ws_destroyp) struct clf_search_ws *ws = clf_search_ws_create(NULL);
	uint32_t free_nodes[] = { 4, 2, 3, 4, 4, 1 }, pod_of[] = { 0, 0, 0, 1, 1, 1 };
	struct clf_search in = { .nleaves = 6, .npods = 2, .free = free_nodes, .pod_of = pod_of, .need = 3 };
	struct clf_found got;

	ok(!clf_search(ws, &in, &got, NULL) && got.take[2] == 3, "one leaf: the tightest");
	in.need = 6;
	ok(!clf_search(ws, &in, &got, NULL) && got.pods == 1 && got.leaves == 2, "one pod, two leaves");
	ok(got.take[0] == 4 && got.take[1] == 2,
	   "equal leaves and pods: the fullest leaf, then the tightest for the rest");
	in.need = 9;
	ok(!clf_search(ws, &in, &got, NULL) && got.pods == 1 && got.take[3] == 0, "the pod that fits exactly");
	in.need = 10;
	ok(!clf_search(ws, &in, &got, NULL) && got.pods == 2 && got.leaves == 3, "two pods when none holds it");
}

int main(void)
{
	for (int i = 0; i < 8; i++)
		against_brute(4000, i & 1, i & 2, i & 4);
	against_programme(4000);
	tightness();
	return done_testing();
}
