/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The closed forms of docs/adr/0004-placement.md against every order of up to 8 nodes, and what clf_order() delivers.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "place/order.h"
#include "rnd.h"
#include "tap.h"
#include "topo/topo_builder.h"
#include "topo/topo_synth.h"

/* counts[pod][leaf] nodes, 0 ends a pod; pods end with an empty one. Nodes n0.. in depth-first order, one component. */
static struct clf_topo *fabric(uint32_t counts[4][4])
{
	struct clf_topo_builder *b = clf_topo_builder_create("test", NULL);
	struct clf_topo *t = NULL;
	uint32_t root, pod, leaf, node, nodes = 0;
	char name[32];
	bool bad = clf_topo_builder_group(b, "core", &root, NULL);

	for (uint32_t p = 0; p < 4 && counts[p][0]; p++) {
		snprintf(name, sizeof(name), "p%u", p);
		bad |= clf_topo_builder_group(b, name, &pod, NULL) || clf_topo_builder_parent(b, pod, root, NULL);
		for (uint32_t l = 0; l < 4 && counts[p][l]; l++) {
			snprintf(name, sizeof(name), "p%ul%u", p, l);
			bad |= clf_topo_builder_group(b, name, &leaf, NULL) ||
			       clf_topo_builder_parent(b, leaf, pod, NULL);
			for (uint32_t i = 0; i < counts[p][l]; i++) {
				snprintf(name, sizeof(name), "n%u", nodes++);
				bad |= clf_topo_builder_node(b, name, &node, NULL) ||
				       clf_topo_builder_place(b, node, leaf, NULL);
			}
		}
	}
	if (bad || clf_topo_builder_finish(b, &t, NULL))
		return NULL;
	return t;
}

static struct clf_topo *random_fabric(uint32_t n)
{
	uint32_t counts[4][4] = { 0 };

	for (uint32_t p = 0; n && p < 3; p++)
		for (uint32_t l = 0; n && l < 3; l++) {
			uint32_t k = p == 2 && l == 2 ? n : 1 + rnd(n < 4 ? n : 4);

			counts[p][l] = k;
			n -= k;
			if (l < 2 && !rnd(3))
				break;
		}
	if (n)
		counts[3][0] = n;
	return fabric(counts);
}

static bool next_permutation(uint32_t *v, uint32_t n)
{
	uint32_t i = n - 1, j = n - 1;

	while (i > 0 && v[i - 1] >= v[i])
		i--;
	if (!i)
		return false;
	while (v[j] <= v[i - 1])
		j--;

	uint32_t x = v[i - 1];

	v[i - 1] = v[j];
	v[j] = x;
	for (j = n - 1; i < j; i++, j--) {
		x = v[i];
		v[i] = v[j];
		v[j] = x;
	}
	return true;
}

static uint32_t leaf_of(const struct clf_topo *t, uint32_t node)
{
	return clf_topo_node(t, node)->leaf;
}

/* Recursive doubling: steps with a pair in different leaves, and such pairs. n = 2^m. */
static uint32_t doubling(const struct clf_topo *t, const uint32_t *v, uint32_t n, uint32_t *pairs)
{
	uint32_t steps = 0;

	*pairs = 0;
	for (uint32_t d = 1; d < n; d *= 2) {
		uint32_t crossing = 0;

		for (uint32_t i = 0; i < n; i++)
			crossing += (i & d) == 0 && leaf_of(t, v[i]) != leaf_of(t, v[i ^ d]);
		steps += crossing > 0;
		*pairs += crossing;
	}
	return steps;
}

/* The double binary tree as NCCL lays it out, written down from its description. */
static uint32_t parent_in_tree(uint32_t r, uint32_t n)
{
	uint32_t bit = 1, up;

	while (!(r & bit))
		bit <<= 1;
	up = (r ^ bit) | bit << 1;
	return up < n ? up : r ^ bit;
}

static uint32_t tree_edges(const struct clf_topo *t, const uint32_t *v, uint32_t n)
{
	uint32_t x = 0;

	for (uint32_t r = 1; r < n; r++) {
		uint32_t p = parent_in_tree(r, n);

		x += leaf_of(t, v[r]) != leaf_of(t, v[p]);
		x += n % 2 ? leaf_of(t, v[(r + n - 1) % n]) != leaf_of(t, v[(p + n - 1) % n])
			   : leaf_of(t, v[n - 1 - r]) != leaf_of(t, v[n - 1 - p]);
	}
	return x;
}

static uint32_t edges_of_cube(uint32_t a)
{
	uint32_t e = 0;

	for (uint32_t j = 0; j < a; j++)
		e += (uint32_t) __builtin_popcount(j);
	return e;
}

static void closed_forms(uint32_t n)
{
	uint32_t ring = 0, mean = 0, rd = 0, pairs_low = 0, tree = 0, delivered = 0, cases = n > 7 ? 4 : 40;

	for (uint32_t c = 0; c < cases; c++) {
		CLF_CLEANUP(clf_topo_destroyp) struct clf_topo *t = random_fabric(n);
		uint32_t v[8], least[3] = { UINT32_MAX, UINT32_MAX, UINT32_MAX }, steps = UINT32_MAX,
			       pairs = UINT32_MAX;
		uint32_t edges = UINT32_MAX, k = clf_topo_counts(t).leaves, p = clf_topo_counts(t).pods, orders = 0,
			 two = 32;
		uint32_t twice = 0, m = (uint32_t) __builtin_ctz(n), x;
		double sum = 0, same = 0;

		for (uint32_t i = 0; i < n; i++)
			v[i] = i;
		do {
			struct clf_cost cost = clf_order_cost(t, v, n);
			uint32_t s = (n & (n - 1)) == 0 && n > 1 ? doubling(t, v, n, &x) : 0;

			least[0] = cost.leaf_crossings < least[0] ? cost.leaf_crossings : least[0];
			least[1] = cost.pod_crossings < least[1] ? cost.pod_crossings : least[1];
			least[2] = cost.hops < least[2] ? (uint32_t) cost.hops : least[2];
			sum += cost.leaf_crossings;
			steps = s < steps ? s : steps;
			pairs = s && x < pairs ? x : pairs;
			x = tree_edges(t, v, n);
			edges = x < edges ? x : edges;
			orders++;
		} while (next_permutation(v, n));
		ring += least[0] != (k > 1 ? k : 0) || least[1] != (p > 1 ? p : 0) ||
			least[2] != (n > 1 ? 2 * n : 0) + (k > 1 ? 2 * k : 0) + (p > 1 ? 2 * p : 0);
		for (uint32_t l = 0; l < k; l++) {
			uint32_t a = clf_topo_group(t, l)->n_nodes, z = (uint32_t) __builtin_ctz(a);

			same += (double) a * (a - 1);
			two = z < two ? z : two;
			twice += m * a - 2 * edges_of_cube(a);
		}
		if (n > 1)
			mean += fabs(sum / orders - n * (1 - same / (n * (n - 1)))) > 1e-9;
		tree += edges < 2 * (k - 1);

		for (uint32_t first = 0; first < n; first++) {
			struct clf_cost cost;
			bool bad = false;

			for (uint32_t i = 0; i < n; i++)
				v[i] = n - 1 - i;
			bad |= clf_order(t, v, n, first, CLF_PATTERN_RING, NULL) || v[0] != first;
			cost = clf_order_cost(t, v, n);
			bad |= cost.leaf_crossings != least[0] || cost.pod_crossings != least[1] ||
			       cost.hops != least[2] || cost.leaves != k || cost.pods != p;
			x = tree_edges(t, v, n);
			bad |= clf_order(t, v, n, first, CLF_PATTERN_TREE, NULL) || v[0] != first ||
			       clf_order_cost(t, v, n).hops != least[2] || (p == 1 && tree_edges(t, v, n) > x);
			bad |= clf_order(t, v, n, first, CLF_PATTERN_RD, NULL) || v[0] != first ||
			       clf_order_cost(t, v, n).hops != least[2];
			if ((n & (n - 1)) == 0 && n > 1 && p == 1) {
				uint32_t got = doubling(t, v, n, &x);

				bad |= two && got > steps;
			}
			delivered += bad;
		}
		if ((n & (n - 1)) == 0 && n > 1) {
			rd += steps != (k > 1 ? m - two : 0);
			pairs_low += k > 1 && 2 * pairs < twice;
		}
	}
	ok(!ring, "%u nodes: the least ring is 2n + 2k + 2p, in %u of %u fabrics not", n, ring, cases);
	ok(!mean, "%u nodes: mean leaf crossings over all orders", n);
	ok(!tree, "%u nodes: two trees never cross leaves less than 2(k - 1) times", n);
	ok(!rd && !pairs_low, "%u nodes: recursive doubling crosses in m - t steps at least, attained", n);
	ok(!delivered, "%u nodes: what clf_order() delivers, from each first node", n);
}

/* Published figures for 16-node leaves in depth-first order, and what trying orders makes of them. */
static void trees(void)
{
	static const struct {
		uint32_t n, edges;
	} known[] = { { 60, 16 }, { 64, 10 }, { 128, 22 }, { 256, 46 } };
	CLF_CLEANUP(clf_topo_destroyp) struct clf_topo *t = NULL;

	if (!ok(!clf_topo_synth("pod:1 leaf:16 node:16", &t, NULL), "16 leaves of 16"))
		return;
	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
		uint32_t v[256], x;

		for (uint32_t k = 0; k < known[i].n; k++)
			v[k] = k;
		is_int(tree_edges(t, v, known[i].n), known[i].edges, "%u nodes depth-first", known[i].n);
		ok(!clf_order(t, v, known[i].n, CLF_NONE, CLF_PATTERN_TREE, NULL), "pattern tree");
		x = tree_edges(t, v, known[i].n);
		ok(x <= known[i].edges && x >= 2 * ((known[i].n + 15) / 16 - 1), "%u nodes: %u crossings, %u before",
		   known[i].n, x, known[i].edges);
	}
}

static void uneven_trees(void)
{
	uint32_t better = 0, worse = 0;

	for (uint32_t i = 0; i < 60; i++) {
		uint32_t counts[4][4] = { { 1 + rnd(7), 1 + rnd(7), 1 + rnd(7), 1 + rnd(7) } }, v[32], n, x, y;
		CLF_CLEANUP(clf_topo_destroyp) struct clf_topo *t = fabric(counts);

		n = clf_topo_nnodes(t);
		for (uint32_t k = 0; k < n; k++)
			v[k] = k;
		x = tree_edges(t, v, n);
		if (clf_order(t, v, n, 0, CLF_PATTERN_TREE, NULL))
			break;
		y = tree_edges(t, v, n);
		better += y < x;
		worse += y > x;
	}
	ok(!worse && better > 10, "uneven leaves: trying orders helps in %u of 60, harms in %u", better, worse);
}

static void rd_rule(void)
{
	uint32_t counts[4][4] = { { 1, 3, 2, 1 } }, v[7] = { 0, 1, 2, 3, 4, 5, 6 };
	static const uint32_t want[7] = { 0, 4, 5, 1, 2, 3, 6 };
	CLF_CLEANUP(clf_topo_destroyp) struct clf_topo *t = fabric(counts);

	ok(!clf_order(t, v, 7, CLF_NONE, CLF_PATTERN_RD, NULL) && !memcmp(v, want, sizeof(want)),
	   "after the first leaf: 2 nodes before 3, 3 before 1");
}

static void unplaced(void)
{
	struct clf_topo_builder *b = clf_topo_builder_create("test", NULL);
	CLF_CLEANUP(clf_topo_destroyp) struct clf_topo *t = NULL;
	uint32_t leaf[2], id, v[5], lost[2];
	struct clf_cost c;
	bool bad = false;

	for (int l = 0; l < 2; l++) /* two components of one leaf */
		bad |= clf_topo_builder_group(b, l ? "b" : "a", &leaf[l], NULL);
	for (int i = 0; i < 3; i++) {
		char name[] = { 'n', (char) ('0' + i), '\0' };

		bad |= clf_topo_builder_node(b, name, &id, NULL) || clf_topo_builder_place(b, id, leaf[i == 2], NULL);
	}
	bad |= clf_topo_builder_node(b, "x", &id, NULL) || clf_topo_builder_node(b, "y", &id, NULL);
	if (!ok(!bad && !clf_topo_builder_finish(b, &t, NULL), "two components, two nodes without a place"))
		return;
	lost[0] = clf_topo_node_find(t, "x");
	lost[1] = clf_topo_node_find(t, "y");
	memcpy(v, (uint32_t[]){ lost[1], 2, lost[0], 1, 0 }, sizeof(v));
	ok(!clf_order(t, v, 5, 2, CLF_PATTERN_RING, NULL), "ordered");
	ok(v[0] == 2 && v[1] == 0 && v[2] == 1 && v[3] == lost[1] && v[4] == lost[0],
	   "first node, other components, unplaced ones last as given");
	ok(!clf_order(t, v, 5, lost[0], CLF_PATTERN_RING, NULL) && v[0] == lost[0] && v[1] == 0 && v[2] == 1 &&
		   v[3] == 2 && v[4] == lost[1],
	   "an unplaced node can be rank 0");
	c = clf_order_cost(t, v, 5);
	is_int(c.leaves, 4, "an unplaced node is a leaf of its own");
	is_int(c.pods, 4, "and a pod");
	is_int(c.pod_crossings, 4, "no switch joins components or unplaced nodes");
	is_int(c.leaf_crossings, 4, "only 0 - 1 stays in a leaf");
	is_int(c.hops, 2 * (2 * 4 + 1), "edges that no switch joins count one level above the highest");
	memcpy(v, (uint32_t[]){ 0, 1 }, 2 * sizeof(*v));
	v[1] = 99;
	ok(clf_order(t, v, 2, CLF_NONE, CLF_PATTERN_RING, NULL) < 0 && v[0] == 0 && v[1] == 99,
	   "an id that does not exist");
	ok(!clf_order(t, v, 0, CLF_NONE, CLF_PATTERN_RING, NULL), "nothing to order");
	is_int(clf_order_cost(t, v, 1).hops, 0, "one node has no ring");
}

static void least_leaves(void)
{
	uint32_t counts[4][4] = { { 4, 2 }, { 3, 3 } };
	CLF_CLEANUP(clf_topo_destroyp) struct clf_topo *t = fabric(counts);
	CLF_CLEANUP(clf_bitmap_destroyp) struct clf_bitmap *b = clf_bitmap_create(clf_topo_nnodes(t), NULL);

	clf_bitmap_fill(b);
	is_int(clf_min_leaves(t, b, 4), 1, "4 in one leaf");
	is_int(clf_min_leaves(t, b, 5), 2, "5 in two");
	is_int(clf_min_leaves(t, b, 12), 4, "all in four");
	is_int(clf_min_leaves(t, b, 13), 0, "more than there are: never");
	is_int(clf_min_leaves(t, b, 0), 0, "none");
	clf_bitmap_clear(b, 0);
	clf_bitmap_clear(b, 1);
	is_int(clf_min_leaves(t, b, 4), 2, "not eligible nodes do not count");
}

/* NVLink domains stay in one run inside a leaf. */
static void domains(void)
{
	struct clf_topo_builder *b = clf_topo_builder_create("test", NULL);
	CLF_CLEANUP(clf_topo_destroyp) struct clf_topo *t = NULL;
	uint32_t leaf, id, v[6] = { 0, 1, 2, 3, 4, 5 };
	bool bad = clf_topo_builder_group(b, "a", &leaf, NULL);

	for (int i = 0; i < 6; i++) {
		char name[] = { 'n', (char) ('0' + i), '\0' };

		bad |= clf_topo_builder_node(b, name, &id, NULL) || clf_topo_builder_place(b, id, leaf, NULL) ||
		       clf_topo_builder_domain(b, id, i % 2 ? "odd" : "even", NULL);
	}
	if (!ok(!bad && !clf_topo_builder_finish(b, &t, NULL), "a leaf of two interleaved domains"))
		return;
	ok(!clf_order(t, v, 6, 3, CLF_PATTERN_RING, NULL) && !memcmp(v, (uint32_t[]){ 3, 1, 5, 0, 2, 4 }, sizeof(v)),
	   "the first node's domain, then the other");
}

int main(void)
{
	for (uint32_t n = 1; n <= 8; n++)
		closed_forms(n);
	trees();
	uneven_trees();
	rd_rule();
	unplaced();
	least_leaves();
	domains();
	return done_testing();
}
