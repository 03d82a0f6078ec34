/* SPDX-License-Identifier: GPL-2.0-or-later */
/* order.c - see order.h. */
#include "place/order.h"

#include <stdlib.h>
#include <string.h>

/* Node ids are numbered depth-first along the tree, so a sorted set is a depth-first order. Starting it elsewhere than
 * at its lowest node means rotating the runs at each level: the run of `first`'s group goes to the front, level by
 * level from the top. */
static int by_id(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *) a, y = *(const uint32_t *) b;

	return x < y ? -1 : x > y;
}

/* Move v[from..from+n) to the front of v[0..total). scratch holds total. */
static void to_front(uint32_t *v, uint32_t total, uint32_t from, uint32_t n, uint32_t *scratch)
{
	memcpy(scratch, v + from, n * sizeof(*v));
	memcpy(scratch + n, v, from * sizeof(*v));
	memcpy(scratch + n + from, v + from + n, (total - from - n) * sizeof(*v));
	memcpy(v, scratch, total * sizeof(*v));
}

static void start_at(const struct clf_topo *t, uint32_t *v, uint32_t n, uint32_t first, uint32_t *scratch)
{
	uint32_t levels = clf_topo_counts(t).levels, at = 0;

	for (uint32_t level = levels + 1; level-- > 0;) {
		uint32_t group = level ? clf_topo_ancestor(t, first, level) : first;
		uint32_t from = at, len;

		if (group == CLF_NONE)
			continue;
		/* within v[at..], the run of first's group at this level; what is before stays nested in what was moved
		 * above */
		while (from < n && (level ? clf_topo_ancestor(t, v[from], level) : v[from]) != group)
			from++;
		for (len = 0;
		     from + len < n && (level ? clf_topo_ancestor(t, v[from + len], level) : v[from + len]) == group;
		     len++)
			;
		to_front(v + at, from + len - at, from - at, len, scratch);
		n = at + len; /* lower levels move inside this run only */
	}
}

struct run {
	uint32_t from, n, leaf;
};

/* Recursive doubling: after the first leaf the others by falling power of two in their count, then by count; kept
 * inside their pod. */
static int rd_before(const struct run *a, const struct run *b)
{
	uint32_t za = (uint32_t) __builtin_ctz(a->n), zb = (uint32_t) __builtin_ctz(b->n);

	if (za != zb)
		return za > zb ? -1 : 1;
	if (a->n != b->n)
		return a->n > b->n ? -1 : 1;
	return a->leaf < b->leaf ? -1 : a->leaf > b->leaf;
}

static int rd_cmp(const void *a, const void *b)
{
	return rd_before(a, b);
}

static uint32_t runs_of(const struct clf_topo *t, const uint32_t *v, uint32_t n, struct run *runs)
{
	uint32_t k = 0;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t leaf = clf_topo_node(t, v[i])->leaf;

		if (!k || runs[k - 1].leaf != leaf)
			runs[k++] = (struct run){ .from = i, .leaf = leaf };
		runs[k - 1].n++;
	}
	return k;
}

static void lay_out(uint32_t *v, const struct run *runs, uint32_t k, uint32_t n, uint32_t *scratch)
{
	uint32_t done = 0;

	for (uint32_t r = 0; r < k; r++) {
		memcpy(scratch + done, v + runs[r].from, runs[r].n * sizeof(*v));
		done += runs[r].n;
	}
	memcpy(v, scratch, n * sizeof(*v));
}

static uint32_t tree_parent(uint32_t r, uint32_t n)
{
	uint32_t b, q;

	if (!r)
		return CLF_NONE;
	b = r & -r;
	q = r / (2 * b);
	return 2 * b * (q | 1) < n ? 2 * b * (q | 1) : 2 * b * q;
}

/* Edges of NCCL's two binary trees that join different leaves (ADR 4). */
static uint32_t tree_crossings(const struct clf_topo *t, const uint32_t *v, uint32_t n)
{
	uint32_t x = 0;

	for (uint32_t r = 0; r < n; r++) {
		uint32_t p = tree_parent(r, n), a, b;

		if (p == CLF_NONE)
			continue;
		x += clf_topo_node(t, v[r])->leaf != clf_topo_node(t, v[p])->leaf;
		a = n % 2 ? (r + n - 1) % n : n - 1 - r;
		b = n % 2 ? (p + n - 1) % n : n - 1 - p;
		x += clf_topo_node(t, v[a])->leaf != clf_topo_node(t, v[b])->leaf;
	}
	return x;
}

static int by_count_up(const void *a, const void *b)
{
	const struct run *x = a, *y = b;

	return x->n != y->n ? (x->n < y->n ? -1 : 1) : (x->leaf < y->leaf ? -1 : x->leaf > y->leaf);
}

static int by_count_down(const void *a, const void *b)
{
	const struct run *x = a, *y = b;

	return x->n != y->n ? (x->n > y->n ? -1 : 1) : (x->leaf < y->leaf ? -1 : x->leaf > y->leaf);
}

/* Sort the leaves of each pod after the first leaf; pods keep their run. */
static void sort_in_pods(const struct clf_topo *t, struct run *runs, uint32_t k, int (*cmp)(const void *, const void *))
{
	for (uint32_t i = 1, j; i < k; i = j) {
		uint32_t pod = clf_topo_group(t, runs[i].leaf)->parent;

		for (j = i; j < k && clf_topo_group(t, runs[j].leaf)->parent == pod; j++)
			;
		qsort(runs + i, j - i, sizeof(*runs), cmp);
	}
}

static int pattern_order(const struct clf_topo *t, uint32_t *v, uint32_t n, enum clf_pattern pattern, uint32_t *scratch,
			 struct clf_error *err)
{
	CLF_AUTO_FREE struct run *runs = calloc(n, sizeof(*runs));
	uint32_t k;

	if (!runs)
		return clf_fail(err, CLF_E_NOMEM, "out of memory");
	k = runs_of(t, v, n, runs);
	if (pattern == CLF_PATTERN_RD) {
		sort_in_pods(t, runs, k, rd_cmp);
		lay_out(v, runs, k, n, scratch);
		return 0;
	}

	int (*const tries[])(const void *, const void *) = { by_count_up, by_count_down };
	CLF_AUTO_FREE uint32_t *best = malloc(n * sizeof(*best));
	CLF_AUTO_FREE uint32_t *kept = malloc(n * sizeof(*kept));
	uint32_t least = tree_crossings(t, v, n);

	if (!best || !kept)
		return clf_fail(err, CLF_E_NOMEM, "out of memory");
	memcpy(best, v, n * sizeof(*v));
	memcpy(kept, v, n * sizeof(*v));
	for (size_t i = 0; i < sizeof(tries) / sizeof(*tries); i++) {
		uint32_t x;

		memset(runs, 0, n * sizeof(*runs));
		memcpy(v, kept, n * sizeof(*v));
		k = runs_of(t, v, n, runs);
		sort_in_pods(t, runs, k, tries[i]);
		lay_out(v, runs, k, n, scratch);
		x = tree_crossings(t, v, n);
		if (x < least) {
			least = x;
			memcpy(best, v, n * sizeof(*v));
		}
	}
	memcpy(v, best, n * sizeof(*v));
	return 0;
}

int clf_order(const struct clf_topo *t, uint32_t *nodes, uint32_t n, uint32_t first, enum clf_pattern pattern,
	      struct clf_error *err)
{
	CLF_AUTO_FREE uint32_t *scratch = NULL, *work = NULL;
	uint32_t placed = 0, unplaced = 0;

	if (!n)
		return 0;
	scratch = malloc(n * sizeof(*scratch));
	work = malloc(n * sizeof(*work));
	if (!scratch || !work)
		return clf_fail(err, CLF_E_NOMEM, "out of memory");
	for (uint32_t i = 0; i < n; i++)
		if (nodes[i] >= clf_topo_nnodes(t))
			return clf_fail(err, CLF_E_INVALID, "node id %u is not of this topology", nodes[i]);
	for (uint32_t i = 0; i < n; i++)
		if (clf_topo_node(t, nodes[i])->leaf != CLF_NONE)
			work[placed++] = nodes[i];
	for (uint32_t i = 0; i < n; i++)
		if (clf_topo_node(t, nodes[i])->leaf == CLF_NONE)
			work[placed + unplaced++] = nodes[i];
	if (placed) {
		bool sorted = true;

		for (uint32_t i = 1; sorted && i < placed; i++)
			sorted = work[i - 1] < work[i];
		if (!sorted)
			qsort(work, placed, sizeof(*work), by_id);
		if (first != CLF_NONE && bsearch(&first, work, placed, sizeof(*work), by_id))
			start_at(t, work, placed, first, scratch);
		if (pattern != CLF_PATTERN_RING && pattern_order(t, work, placed, pattern, scratch, err))
			return -1;
	}
	memcpy(nodes, work, n * sizeof(*nodes));
	return 0;
}

/* Distinct groups of a level among the nodes. seen: a bit a group, or NULL (no memory): then slowly, by looking back.
 */
static uint32_t distinct(const struct clf_topo *t, const uint32_t *v, uint32_t n, uint32_t level,
			 struct clf_bitmap *seen)
{
	uint32_t count = 0;

	if (seen)
		clf_bitmap_zero(seen);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t g = clf_topo_ancestor(t, v[i], level), j = i;

		if (g == CLF_NONE)
			continue;
		if (seen) {
			count += !clf_bitmap_test(seen, g);
			clf_bitmap_set(seen, g);
			continue;
		}
		while (j-- > 0 && clf_topo_ancestor(t, v[j], level) != g)
			;
		count += j == UINT32_MAX;
	}
	return count;
}

struct clf_cost clf_order_cost(const struct clf_topo *t, const uint32_t *v, uint32_t n)
{
	CLF_CLEANUP(clf_bitmap_destroyp) struct clf_bitmap *seen = clf_bitmap_create(clf_topo_ngroups(t), NULL);
	uint32_t levels = clf_topo_counts(t).levels;
	struct clf_cost c = { .leaves = distinct(t, v, n, 1, seen), .pods = distinct(t, v, n, 2, seen) };

	/* a tree of leaves only has one pod: the fabric */
	if (!c.pods && c.leaves)
		c.pods = 1;
	for (uint32_t i = 0; n > 1 && i < n; i++) {
		uint32_t level = clf_topo_lca_level(t, v[i], v[(i + 1) % n]);

		if (level == CLF_NONE)
			level = levels + 1;
		c.hops += 2 * (uint64_t) level;
		c.leaf_crossings += level >= 2;
		c.pod_crossings += level >= 3;
	}
	return c;
}

uint32_t clf_min_leaves(const struct clf_topo *t, const struct clf_bitmap *eligible, uint32_t n)
{
	uint32_t nleaves = clf_topo_counts(t).leaves, best = 0, most = 0;
	CLF_AUTO_FREE uint32_t *sizes = NULL;

	if (!n || !nleaves || eligible->nbits != clf_topo_nnodes(t))
		return 0;
	for (uint32_t l = 0; l < nleaves; l++)
		if (clf_topo_group(t, l)->n_nodes > most)
			most = clf_topo_group(t, l)->n_nodes;
	sizes = calloc((size_t) most + 1,
		       sizeof(*sizes)); /* sizes[f]: leaves of this component with f eligible nodes */
	if (!sizes)
		return 0;
	/* leaves of a component are one run: numbered depth-first */
	for (uint32_t l = 0, end; l < nleaves; l = end) {
		uint32_t component = clf_topo_group(t, l)->component, k = 0, rest = n;

		memset(sizes, 0, ((size_t) most + 1) * sizeof(*sizes));
		for (end = l; end < nleaves && clf_topo_group(t, end)->component == component; end++) {
			const struct clf_topo_group *g = clf_topo_group(t, end);

			sizes[clf_bitmap_count_range(eligible, g->first_node, g->n_nodes)]++;
		}
		for (uint32_t f = most; f > 0 && rest; f--) {
			uint32_t use = (rest + f - 1) / f < sizes[f] ? (rest + f - 1) / f : sizes[f];

			k += use;
			rest = (uint64_t) use * f >= rest ? 0 : rest - use * f;
		}
		if (!rest && (!best || k < best))
			best = k;
	}
	return best;
}
