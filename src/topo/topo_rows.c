/* SPDX-License-Identifier: GPL-2.0-or-later */
/* topo_rows.c - rows of ids, union-find, and the merge of sets that overlap in more than half of their union.
 *
 * The merge is what makes a rail group out of leaf switches and a pod out of spines: sets that are equal on a healthy
 * fabric stay together when some cables are dead, and a switch that sees everybody glues nobody.
 */
#include <stdlib.h>
#include <string.h>

#include "topo/topo_priv.h"

void clf_rows_done(struct clf_rows *r)
{
	free(r->first);
	free(r->v);
	*r = (struct clf_rows){ 0 };
}

int clf_rows_make(struct clf_rows *out, uint32_t nrows, const uint32_t *row, const uint32_t *value, size_t npairs,
		  struct clf_error *err)
{
	CLF_AUTO_FREE uint32_t *first = clf_topo_alloc((size_t) nrows + 2, sizeof *first, err);
	CLF_AUTO_FREE uint32_t *v = clf_topo_alloc(npairs, sizeof *v, err);

	if (!first || !v)
		return -1;
	/* first[r + 2] counts row r, so that after filling first[r + 1] is the end of row r. */
	for (size_t i = 0; i < npairs; i++)
		if (row[i] != CLF_NONE)
			first[row[i] + 2]++;
	for (uint32_t r = 1; r < nrows; r++)
		first[r + 1] += first[r];
	for (size_t i = 0; i < npairs; i++)
		if (row[i] != CLF_NONE)
			v[first[row[i] + 1]++] = value ? value[i] : (uint32_t) i;
	*out = (struct clf_rows){ nrows, CLF_STEAL(first), CLF_STEAL(v) };
	return 0;
}

static int by_value(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *) a, y = *(const uint32_t *) b;

	return (x > y) - (x < y);
}

void clf_rows_unique(struct clf_rows *r)
{
	uint32_t at = 0;

	for (uint32_t i = 0; i < r->n; i++) {
		uint32_t from = r->first[i], end = r->first[i + 1];

		if (end - from > 1)
			qsort(r->v + from, end - from, sizeof *r->v, by_value);
		r->first[i] = at;
		for (uint32_t k = from; k < end; k++)
			if (k == from || r->v[k] != r->v[k - 1])
				r->v[at++] = r->v[k];
	}
	if (r->n)
		r->first[r->n] = at;
}

uint32_t clf_uf_find(uint32_t *parent, uint32_t i)
{
	while (parent[i] != i)
		i = parent[i] = parent[parent[i]];
	return i;
}

void clf_uf_join(uint32_t *parent, uint32_t a, uint32_t b)
{
	a = clf_uf_find(parent, a);
	b = clf_uf_find(parent, b);
	if (a < b)
		parent[b] = a;
	else
		parent[a] = b;
}

static uint32_t row_len(const struct clf_rows *r, uint32_t i)
{
	return r->first[i + 1] - r->first[i];
}

static int by_row(const void *a, const void *b, void *arg)
{
	const struct clf_rows *r = arg;
	uint32_t x = *(const uint32_t *) a, y = *(const uint32_t *) b;
	uint32_t nx = row_len(r, x), ny = row_len(r, y);
	int c = nx != ny ? (nx > ny) - (nx < ny)
			 : memcmp(r->v + r->first[x], r->v + r->first[y], nx * sizeof(uint32_t));

	return c ? c : (x > y) - (x < y);
}

/* Join equal sets first: on a healthy fabric that is all there is to do, and only one of each goes to the pairwise
 * comparison. keep[i] is set for the ones that stay. */
static int join_equal(const struct clf_rows *sets, uint32_t *parent, bool *keep, struct clf_error *err)
{
	CLF_AUTO_FREE uint32_t *order = clf_topo_alloc(sets->n, sizeof *order, err);

	if (!order)
		return -1;
	for (uint32_t i = 0; i < sets->n; i++)
		order[i] = i;
	qsort_r(order, sets->n, sizeof *order, by_row, (void *) sets);
	for (uint32_t k = 0; k < sets->n; k++) {
		uint32_t i = order[k], p = k ? order[k - 1] : i, n = row_len(sets, i);
		bool same = k && n && row_len(sets, p) == n &&
			    !memcmp(sets->v + sets->first[i], sets->v + sets->first[p], n * sizeof(uint32_t));

		keep[i] = n && !same;
		if (same)
			clf_uf_join(parent, i, p);
	}
	return 0;
}

int clf_topo_overlap(const struct clf_rows *sets, uint32_t nelements, uint32_t max_fan, uint32_t *parent,
		     struct clf_error *err)
{
	uint32_t npairs = sets->n ? sets->first[sets->n] : 0;
	CLF_CLEANUP(clf_rows_done) struct clf_rows of = { 0 };
	CLF_AUTO_FREE bool *keep = clf_topo_alloc(sets->n, sizeof *keep, err);
	CLF_AUTO_FREE uint32_t *item = clf_topo_alloc(npairs, sizeof *item, err);
	CLF_AUTO_FREE uint32_t *size = clf_topo_alloc(sets->n, sizeof *size, err);
	CLF_AUTO_FREE uint32_t *common = clf_topo_alloc(sets->n, sizeof *common, err);
	CLF_AUTO_FREE uint32_t *seen = clf_topo_alloc(sets->n, sizeof *seen, err);

	if (!keep || !item || !size || !common || !seen)
		return -1;
	for (uint32_t i = 0; i < sets->n; i++)
		parent[i] = i;
	if (join_equal(sets, parent, keep, err))
		return -1;
	for (uint32_t i = 0; i < sets->n; i++)
		for (uint32_t k = sets->first[i]; k < sets->first[i + 1]; k++)
			item[k] = i;
	/* element -> items; fan counts all items, also those joined already */
	if (clf_rows_make(&of, nelements, sets->v, item, npairs, err))
		return -1;
	for (uint32_t i = 0; i < sets->n; i++)
		for (uint32_t k = sets->first[i]; k < sets->first[i + 1]; k++)
			size[i] += row_len(&of, sets->v[k]) <= max_fan;
	for (uint32_t a = 0; a < sets->n; a++) {
		uint32_t nseen = 0;

		if (!keep[a])
			continue;
		for (uint32_t k = sets->first[a]; k < sets->first[a + 1]; k++) {
			uint32_t e = sets->v[k];

			if (row_len(&of, e) > max_fan)
				continue;
			for (uint32_t j = of.first[e]; j < of.first[e + 1]; j++) {
				uint32_t x = of.v[j];

				if (x <= a || !keep[x])
					continue;
				if (!common[x]++)
					seen[nseen++] = x;
			}
		}
		for (uint32_t k = 0; k < nseen; k++) {
			uint32_t x = seen[k];

			if (3 * (uint64_t) common[x] >
			    (uint64_t) size[a] + size[x]) /* |a & x| > (|a| + |x| - |a & x|) / 2 */
				clf_uf_join(parent, a, x);
			common[x] = 0;
		}
	}
	return 0;
}
