/* SPDX-License-Identifier: GPL-2.0-or-later */
/* topo_health.c - what is wrong with the cables themselves: slower than their kind, fewer than their neighbours have.
 */
#include <stdio.h>
#include <stdlib.h>

#include "topo/topo_priv.h"

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *) a, y = *(const uint64_t *) b;

	return (x > y) - (x < y);
}

/* The value that occurs most often in sorted v; the larger of two that tie. 0 when there is none. */
static uint64_t usual(const uint64_t *v, size_t n)
{
	uint64_t best = 0;
	size_t most = 0;

	for (size_t i = 0, j; i < n; i = j) {
		for (j = i; j < n && v[j] == v[i]; j++)
			;
		if (j - i >= most) {
			most = j - i;
			best = v[i];
		}
	}
	return best;
}

static int slow_links(struct clf_topo_builder *b, bool node_end, uint64_t *v, struct clf_error *err)
{
	uint64_t normal;
	size_t n = 0;

	for (uint32_t i = 0; i < b->nlinks; i++)
		if (b->links[i].node_end == node_end && b->links[i].speed_mbps)
			v[n++] = b->links[i].speed_mbps;
	qsort(v, n, sizeof *v, by_value);
	normal = usual(v, n);
	for (uint32_t i = 0; i < b->nlinks; i++) {
		const struct clf_topo_link *l = &b->links[i];
		char subject[2 * CLF_NAME_MAX + 8];

		if (l->node_end != node_end || !l->speed_mbps || l->speed_mbps >= normal)
			continue;
		snprintf(subject, sizeof subject, "%s-%s", b->switches[l->a].name,
			 node_end ? b->nodes[l->b].name : b->switches[l->b].name);
		if (clf_topo_builder_finding(b, CLF_FINDING_WARN, "link-slow", subject, err,
					     "%u Mbit/s on port %u, where %llu is usual", l->speed_mbps, l->a_port,
					     (unsigned long long) normal))
			return -1;
	}
	return 0;
}

/* Cables between two switches, where two cables or more are usual and a pair has fewer. */
static int thin_bundles(struct clf_topo_builder *b, uint64_t *v, struct clf_error *err)
{
	CLF_AUTO_FREE uint64_t *counts = clf_topo_alloc(b->nlinks, sizeof *counts, err);
	size_t n = 0, npairs = 0;
	uint64_t normal;

	if (!counts)
		return -1;
	for (uint32_t i = 0; i < b->nlinks; i++) {
		const struct clf_topo_link *l = &b->links[i];

		if (!l->node_end)
			v[n++] = l->a < l->b ? (uint64_t) l->a << 32 | l->b : (uint64_t) l->b << 32 | l->a;
	}
	qsort(v, n, sizeof *v, by_value);
	for (size_t i = 0, j; i < n; i = j) {
		for (j = i; j < n && v[j] == v[i]; j++)
			;
		counts[npairs++] = j - i;
	}
	qsort(counts, npairs, sizeof *counts, by_value);
	normal = usual(counts, npairs);
	for (size_t i = 0, j; i < n; i = j) {
		char subject[2 * CLF_NAME_MAX + 8];

		for (j = i; j < n && v[j] == v[i]; j++)
			;
		if (j - i >= normal)
			continue;
		snprintf(subject, sizeof subject, "%s-%s", b->switches[v[i] >> 32].name,
			 b->switches[v[i] & UINT32_MAX].name);
		if (clf_topo_builder_finding(b, CLF_FINDING_WARN, "bundle-thin", subject, err,
					     "%zu of the usual %llu cables", j - i, (unsigned long long) normal))
			return -1;
	}
	return 0;
}

int clf_topo_health(struct clf_topo_builder *b, struct clf_error *err)
{
	CLF_AUTO_FREE uint64_t *v = clf_topo_alloc(b->nlinks, sizeof *v, err);

	if (!v)
		return -1;
	return slow_links(b, false, v, err) || slow_links(b, true, v, err) || thin_bundles(b, v, err) ? -1 : 0;
}
