/* SPDX-License-Identifier: GPL-2.0-or-later */
/* order.c - see order.h. */
#include "place/order.h"

#include <stdlib.h>
#include <string.h>

#include "place/pick.h"

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
static int rd_before(const void *x, const void *y)
{
	const struct run *a = x, *b = y;
	uint32_t za = (uint32_t) __builtin_ctz(a->n), zb = (uint32_t) __builtin_ctz(b->n);

	if (za != zb)
		return za > zb ? -1 : 1;
	if (a->n != b->n)
		return a->n > b->n ? -1 : 1;
	return a->from < b->from ? -1 : a->from > b->from;
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

/* What the edges of NCCL's two binary trees cross (ADR 4), summed over the levels. */
static uint64_t tree_crossings(const struct clf_topo *t, const uint32_t *v, uint32_t n)
{
	uint32_t levels = clf_topo_counts(t).levels;
	uint64_t x = 0;

	for (uint32_t r = 1; r < n; r++) {
		uint32_t p = tree_parent(r, n);
		uint32_t ends[2][2] = { { r, p },
					{ n % 2 ? (r + n - 1) % n : n - 1 - r, n % 2 ? (p + n - 1) % n : n - 1 - p } };

		for (int i = 0; i < 2; i++) {
			uint32_t level = clf_topo_lca_level(t, v[ends[i][0]], v[ends[i][1]]);

			x += level == CLF_NONE ? levels : level - 1;
		}
	}
	return x;
}

static int by_count_up(const void *a, const void *b)
{
	const struct run *x = a, *y = b;

	return x->n != y->n ? (x->n < y->n ? -1 : 1) : (x->from < y->from ? -1 : x->from > y->from);
}

static int by_count_down(const void *a, const void *b)
{
	const struct run *x = a, *y = b;

	return x->n != y->n ? (x->n > y->n ? -1 : 1) : (x->from < y->from ? -1 : x->from > y->from);
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

static void rotate(struct run *runs, uint32_t n, uint32_t by, struct run *scratch)
{
	memcpy(scratch, runs + by, (n - by) * sizeof(*runs));
	memcpy(scratch + n - by, runs, by * sizeof(*runs));
	memcpy(runs, scratch, n * sizeof(*runs));
}

static uint32_t up_from(const struct clf_topo *t, const struct run *r, uint32_t level)
{
	uint32_t g = r->leaf;

	while (g != CLF_NONE && clf_topo_group(t, g)->level < level)
		g = clf_topo_group(t, g)->parent;
	return g;
}

/* Start the leaves of each pod, and the pods of each group above, `by` places further on; the first leaf and its pod
 * stay. */
static void rotate_all(const struct clf_topo *t, struct run *runs, uint32_t k, uint32_t by, struct run *scratch)
{
	for (uint32_t level = 3; level >= 2; level--)
		for (uint32_t i = 1, j; i < k; i = j) {
			uint32_t group = up_from(t, &runs[i], level), from = i, n = 1, cut = 0;

			for (j = i; j < k && up_from(t, &runs[j], level) == group; j++)
				;
			/* what moves as one: the pods of a level-3 group, the leaves of a pod */
			while (level == 3 && from < j && up_from(t, &runs[from], 2) == up_from(t, &runs[0], 2))
				from++;
			if (from == j)
				continue;
			for (uint32_t x = from + 1; x < j; x++)
				n += level == 2 || up_from(t, &runs[x], 2) != up_from(t, &runs[x - 1], 2);
			for (uint32_t x = from + 1, seen = 0; x < j && seen < by % n; x++)
				if (level == 2 || up_from(t, &runs[x], 2) != up_from(t, &runs[x - 1], 2)) {
					seen++;
					cut = x - from;
				}
			rotate(runs + from, j - from, cut, scratch);
		}
}

enum { ROTATIONS = 16 };

/* NCCL's trees: the depth-first order among those tried whose edges cross least. */
static int tree_order(const struct clf_topo *t, uint32_t *v, uint32_t n, uint32_t *scratch, struct clf_error *err)
{
	int (*const sorts[])(const void *, const void *) = { NULL, by_count_up, by_count_down };
	CLF_AUTO_FREE struct run *runs = calloc(n, 3 * sizeof(*runs));
	CLF_AUTO_FREE uint32_t *kept = malloc(n * sizeof(*kept)), *best = malloc(n * sizeof(*best));
	uint64_t least = tree_crossings(t, v, n);
	uint32_t k;

	if (!runs || !kept || !best)
		return clf_fail(err, CLF_E_NOMEM, "out of memory");
	memcpy(kept, v, n * sizeof(*v));
	memcpy(best, v, n * sizeof(*v));
	k = runs_of(t, v, n, runs);
	for (size_t i = 0; i < sizeof(sorts) / sizeof(*sorts); i++) {
		if (sorts[i])
			sort_in_pods(t, runs, k, sorts[i]);
		for (uint32_t by = 0; by < ROTATIONS && by < k; by++) {
			struct run *turned = runs + n;
			uint64_t x;

			memcpy(turned, runs, k * sizeof(*runs));
			rotate_all(t, turned, k, by, runs + 2 * (size_t) n);
			memcpy(v, kept, n * sizeof(*v));
			lay_out(v, turned, k, n, scratch);
			x = tree_crossings(t, v, n);
			if (x < least) {
				least = x;
				memcpy(best, v, n * sizeof(*v));
			}
		}
	}
	memcpy(v, best, n * sizeof(*v));
	return 0;
}

static int rd_order(const struct clf_topo *t, uint32_t *v, uint32_t n, uint32_t *scratch, struct clf_error *err)
{
	CLF_AUTO_FREE struct run *runs = calloc(n, sizeof(*runs));
	uint32_t k;

	if (!runs)
		return clf_fail(err, CLF_E_NOMEM, "out of memory");
	k = runs_of(t, v, n, runs);
	sort_in_pods(t, runs, k, rd_before);
	lay_out(v, runs, k, n, scratch);
	return 0;
}

int clf_order_for(const struct clf_topo *t, uint32_t *nodes, uint32_t n, enum clf_pattern pattern,
		  struct clf_error *err)
{
	CLF_AUTO_FREE uint32_t *scratch = NULL;

	if (pattern == CLF_PATTERN_RING || n < 2)
		return 0;
	scratch = malloc(n * sizeof(*scratch));
	if (!scratch)
		return clf_fail(err, CLF_E_NOMEM, "out of memory");
	return pattern == CLF_PATTERN_RD ? rd_order(t, nodes, n, scratch, err) : tree_order(t, nodes, n, scratch, err);
}

/* Inside each leaf, NVLink domains in one run each. */
static int group_domains(const struct clf_topo *t, uint32_t *v, uint32_t n, struct clf_error *err)
{
	CLF_AUTO_FREE struct clf_candidate *c = clf_topo_ndomains(t) ? calloc(n, sizeof(*c)) : NULL;

	if (!clf_topo_ndomains(t))
		return 0;
	if (!c)
		return clf_fail(err, CLF_E_NOMEM, "out of memory");
	for (uint32_t i = 0, j; i < n; i = j) {
		uint32_t leaf = clf_topo_node(t, v[i])->leaf;

		for (j = i; j < n && clf_topo_node(t, v[j])->leaf == leaf; j++)
			c[j - i] = (struct clf_candidate){ .id = v[j],
							   .domain = clf_topo_node(t, v[j])->domain,
							   .place = j - i };
		clf_pick_domains(c, j - i, j - i, v + i);
	}
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
		if (group_domains(t, work, placed, err) || clf_order_for(t, work, placed, pattern, err))
			return -1;
	}
	/* rank 0 sits where the caller wants it, on the fabric or not */
	for (uint32_t i = placed; i < n; i++)
		if (work[i] == first)
			to_front(work, n, i, 1, scratch);
	memcpy(nodes, work, n * sizeof(*nodes));
	return 0;
}

enum { SEEN = 65536 };

/* Leaf of a node (level 1), or its pod: the level-2 group above it or, in a tree of leaves only, the leaf. Ids of
 * leaves and pods do not overlap. */
static uint32_t group_at(const struct clf_topo *t, uint32_t node, uint32_t level)
{
	uint32_t g = clf_topo_ancestor(t, node, level);

	return g == CLF_NONE ? clf_topo_node(t, node)->leaf : g;
}

/* Distinct groups of a level among the nodes, a window of ids at a time so that no memory is needed; an unplaced node
 * is a group of its own. */
static uint32_t distinct(const struct clf_topo *t, const uint32_t *v, uint32_t n, uint32_t level)
{
	uint64_t seen[SEEN / 64];
	uint32_t count = 0;

	for (uint32_t i = 0; i < n; i++)
		count += clf_topo_node(t, v[i])->leaf == CLF_NONE;
	for (uint32_t from = 0; from < clf_topo_ngroups(t); from += SEEN) {
		memset(seen, 0, sizeof(seen));
		for (uint32_t i = 0; i < n; i++) {
			uint32_t g = group_at(t, v[i], level) - from;

			if (g >= SEEN)
				continue;
			count += !(seen[g / 64] >> g % 64 & 1);
			seen[g / 64] |= UINT64_C(1) << g % 64;
		}
	}
	return count;
}

struct clf_cost clf_order_cost(const struct clf_topo *t, const uint32_t *v, uint32_t n)
{
	uint32_t levels = clf_topo_counts(t).levels;
	struct clf_cost c = { .leaves = distinct(t, v, n, 1), .pods = distinct(t, v, n, 2) };

	for (uint32_t i = 0; n > 1 && i < n; i++) {
		uint32_t level = clf_topo_lca_level(t, v[i], v[(i + 1) % n]);

		if (level == CLF_NONE)
			level = levels + 1;
		c.hops += 2 * (uint64_t) level;
		c.leaf_crossings += level >= 2;
		c.pod_crossings += level >= 3 || level > levels;
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
