/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One placement decision at 10,240 to 102,400 nodes (16 a leaf, 20 leaves a pod), on random and on blocky free sets
 * from 30 to 95 % busy. A line a setting; every setting is printed, the slow ones too. The whole call is timed:
 * counting, search, nodes, order, cost. */
#include <stdio.h>

#include "bench.h"
#include "place/place.h"
#include "topo/topo_synth.h"

enum { ROUNDS = 400 };

static void occupy(struct clf_bitmap *b, uint32_t busy_percent, bool blocky, uint64_t *seed)
{
	uint32_t n = b->nbits, left = (uint32_t) ((uint64_t) n * busy_percent / 100);

	clf_bitmap_fill(b);
	while (left) {
		uint32_t at = bench_rnd(seed, n), run = blocky ? 1 + bench_rnd(seed, 64) : 1;

		for (; run && left && at < n; at++, run--) {
			left -= clf_bitmap_test(b, at);
			clf_bitmap_clear(b, at);
		}
	}
}

static int one(const struct clf_topo *t, struct clf_place_ws *ws, uint32_t busy, bool blocky,
	       enum clf_objective objective)
{
	CLF_CLEANUP(clf_bitmap_destroyp) struct clf_bitmap *b = clf_bitmap_create(clf_topo_nnodes(t), NULL);
	static uint64_t ns[ROUNDS];
	uint64_t seed = 88172645463325252u;
	uint32_t done = 0, unplaced = 0, unproven = 0, spanning = 0;

	if (!b)
		return -1;
	for (uint32_t i = 0; i < ROUNDS; i++) {
		static const uint32_t sizes[] = { 1, 2, 4, 8, 16, 32, 64, 100, 128, 256, 512, 777, 1024 };
		struct clf_placement p;
		struct clf_request req = { .nodes = sizes[bench_rnd(&seed, sizeof(sizes) / sizeof(*sizes))],
					   .free = b,
					   .objective = objective,
					   .budget_us = 5000 };
		uint64_t start;

		if (i % 20 == 0)
			occupy(b, busy, blocky, &seed);
		start = bench_ns();
		if (clf_place_with(ws, &req, &p, NULL)) {
			unplaced++;
			continue;
		}
		ns[done++] = bench_ns() - start;
		unproven += !p.proven;
		spanning += p.cost.pods > 1;
	}
	printf("{\"bench\":\"place\",\"nodes\":%u,\"busy_percent\":%u,\"state\":\"%s\",\"objective\":\"%s\",\"placed\":"
	       "%u,\"unplaced\":%u,"
	       "\"spanning_pods\":%u,\"unproven\":%u,\"proven_percent\":%.1f,\"p50_us\":%.1f,\"p90_us\":%.1f,\"p99_"
	       "us\":%.1f,\"max_us\":%.1f}"
	       "\n",
	       clf_topo_nnodes(t), busy, blocky ? "blocky" : "uniform",
	       objective == CLF_OBJECTIVE_HOPS ? "hops" : "lex", done, unplaced, spanning, unproven,
	       done ? 100.0 * (done - unproven) / done : 100.0, bench_percentile_us(ns, done, 0.5),
	       bench_percentile_us(ns, done, 0.9), bench_percentile_us(ns, done, 0.99),
	       bench_percentile_us(ns, done, 1.0));
	return 0;
}

int main(void)
{
	static const char *const fabrics[] = { "pod:32 leaf:20 node:16", "pod:160 leaf:20 node:16",
					       "pod:320 leaf:20 node:16" };
	static const uint32_t busy[] = { 30, 60, 90, 95 };

	for (size_t f = 0; f < sizeof(fabrics) / sizeof(*fabrics); f++) {
		CLF_CLEANUP(clf_topo_destroyp) struct clf_topo *t = NULL;
		struct clf_error err = { 0 };

		if (clf_topo_synth(fabrics[f], &t, &err)) {
			fprintf(stderr, "bench_place: %s\n", err.text);
			return 1;
		}

		CLF_CLEANUP(clf_place_ws_destroyp) struct clf_place_ws *ws = clf_place_ws_create(t, &err);

		for (size_t k = 0; ws && k < sizeof(busy) / sizeof(*busy); k++)
			for (int blocky = 0; blocky < 2; blocky++)
				for (int hops = 0; hops < 2; hops++)
					if (one(t, ws, busy[k], blocky, hops ? CLF_OBJECTIVE_HOPS : CLF_OBJECTIVE_LEX))
						return 1;
	}
	return 0;
}
