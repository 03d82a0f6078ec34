/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reading a fabric: a dump named on the command line (the director dump of shared data, a generated one), and large
 * fabrics of one line through JSON and back. Median of 9 runs, milliseconds. */
#include <stdio.h>

#include "bench.h"
#include "topo/read/reader.h"
#include "topo/topo_json.h"
#include "topo/topo_synth.h"

enum { RUNS = 9 };

static int dump(const char *path)
{
	uint64_t ns[RUNS];
	struct clf_topo_counts c = { 0 };

	for (int i = 0; i < RUNS; i++) {
		CLF_CLEANUP(clf_topo_destroyp) struct clf_topo *t = NULL;
		struct clf_error err = { 0 };
		uint64_t start = bench_ns();

		if (clf_topo_load("ibnetdiscover", path, &t, &err)) {
			fprintf(stderr, "bench_topo: %s: %s\n", path, err.text);
			return -1;
		}
		ns[i] = bench_ns() - start;
		c = clf_topo_counts(t);
	}
	printf("{\"bench\":\"topo-read\",\"file\":\"%s\",\"nodes\":%u,\"switches\":%u,\"links\":%u,\"p50_ms\":%.2f,"
	       "\"max_ms\":%.2f}\n",
	       path, c.nodes, c.switches, c.links, bench_percentile_us(ns, RUNS, 0.5) / 1000,
	       bench_percentile_us(ns, RUNS, 1) / 1000);
	return 0;
}

static int json(const char *description)
{
	uint64_t write_ns[RUNS], read_ns[RUNS];
	CLF_CLEANUP(clf_topo_destroyp) struct clf_topo *t = NULL;
	struct clf_error err = { 0 };
	size_t len = 0;

	if (clf_topo_synth(description, &t, &err))
		return -1;
	for (int i = 0; i < RUNS; i++) {
		CLF_CLEANUP(clf_topo_destroyp) struct clf_topo *back = NULL;
		CLF_CLEANUP(clf_text_done) struct clf_text text = { 0 };
		uint64_t start = bench_ns();

		if (clf_topo_json_dump(t, &text.data, &text.len, &err))
			return -1;
		write_ns[i] = bench_ns() - start;
		len = text.len;
		start = bench_ns();
		if (clf_reader_find("json")->read(&text, &back, &err)) {
			fprintf(stderr, "bench_topo: %s\n", err.text);
			return -1;
		}
		read_ns[i] = bench_ns() - start;
	}
	printf("{\"bench\":\"topo-json\",\"nodes\":%u,\"bytes\":%zu,\"write_p50_ms\":%.2f,\"read_p50_ms\":%.2f}\n",
	       clf_topo_nnodes(t), len, bench_percentile_us(write_ns, RUNS, 0.5) / 1000,
	       bench_percentile_us(read_ns, RUNS, 0.5) / 1000);
	return 0;
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		if (dump(argv[i]))
			return 1;
	return json("pod:32 leaf:20 node:16") || json("pod:320 leaf:20 node:16");
}
