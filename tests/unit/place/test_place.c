/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Placement on whole topologies against brute force: every subset of the free nodes, and every order of every subset.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "place/order.h"
#include "place/place.h"
#include "rnd.h"
#include "tap.h"
#include "topo/topo_builder.h"

/* A random forest with at most max_nodes nodes in all, uneven on purpose: the first root has `levels` levels, others
 * any number up to that. NULL when it came out empty. */
static struct clf_topo *forest(uint32_t max_nodes, uint32_t levels, uint32_t roots)
{
	struct clf_topo_builder *b = clf_topo_builder_create("test", NULL);
	struct clf_topo *t = NULL;
	uint32_t nodes = 0, groups = 0;
	char name[32];

	for (uint32_t r = 0; r < roots; r++) {
		uint32_t level_of[64], parents[64], n = 1, id;

		snprintf(name, sizeof(name), "g%u", groups++);
		if (clf_topo_builder_group(b, name, &id, NULL))
			return NULL;
		parents[0] = id;
		level_of[0] = r ? 1 + rnd(levels) : levels;
		for (uint32_t i = 0; i < n && n < 60; i++) {
			if (level_of[i] == 1)
				continue;
			for (uint32_t c = 1 + rnd(3); c > 0 && n < 60; c--) {
				snprintf(name, sizeof(name), "g%u", groups++);
				if (clf_topo_builder_group(b, name, &id, NULL) ||
				    clf_topo_builder_parent(b, id, parents[i], NULL))
					return NULL;
				parents[n] = id;
				level_of[n++] = level_of[i] - 1;
			}
		}
		for (uint32_t i = 0; i < n; i++)
			for (uint32_t c = level_of[i] == 1 ? 1 + rnd(3) : 0; c > 0; c--) {
				/* a leaf without nodes would be no leaf: past the cap only the first is added */
				if (nodes >= max_nodes && c > 1)
					continue;
				snprintf(name, sizeof(name), "n%u", nodes++);
				if (clf_topo_builder_node(b, name, &id, NULL) ||
				    clf_topo_builder_place(b, id, parents[i], NULL))
					return NULL;
			}
	}
	if (clf_topo_builder_finish(b, &t, NULL))
		return NULL;
	return t;
}

static void count_set(const struct clf_topo *t, uint32_t set, uint32_t counts[CLF_MAX_LEVELS + 1], uint32_t *components)
{
	bool seen[512] = { false };
	uint32_t of[512], n = 0;

	memset(counts, 0, sizeof(*counts) * (CLF_MAX_LEVELS + 1));
	for (uint32_t i = 0; i < clf_topo_nnodes(t); i++) {
		if (!(set >> i & 1))
			continue;
		for (uint32_t l = 1; l <= clf_topo_counts(t).levels; l++) {
			uint32_t g = clf_topo_ancestor(t, i, l);

			if (g != CLF_NONE && !seen[g]) {
				seen[g] = true;
				counts[l]++;
			}
			if (!counts[l]) /* a lower tree is one group of each level above it */
				counts[l] = 1;
		}
		of[n++] = clf_topo_node(t, i)->component;
	}
	*components = 1;
	for (uint32_t i = 1; i < n; i++)
		if (of[i] != of[0])
			*components = 2;
}

static uint64_t least_hops_of_orders(const struct clf_topo *t, uint32_t *v, uint32_t n, uint32_t at)
{
	uint64_t best = UINT64_MAX;

	if (at == n)
		return clf_order_cost(t, v, n).hops;
	for (uint32_t i = at; i < n; i++) {
		uint32_t x = v[at];
		uint64_t h;

		v[at] = v[i];
		v[i] = x;
		h = least_hops_of_orders(t, v, n, at + 1);
		best = h < best ? h : best;
		x = v[at];
		v[at] = v[i];
		v[i] = x;
	}
	return best;
}

/* Counts level by level, from the top: is a strictly better than b? */
static bool lex_less(const uint32_t *a, const uint32_t *b, uint32_t levels)
{
	for (uint32_t l = levels; l > 0; l--)
		if (a[l] != b[l])
			return a[l] < b[l];
	return false;
}

static void brute(uint32_t rounds, uint32_t max_nodes, uint32_t levels, uint32_t roots, bool orders)
{
	uint32_t wrong_lex = 0, wrong_hops = 0, wrong_order = 0, wrong_class = 0, unproven = 0, cases = 0;

	for (uint32_t round = 0; round < rounds; round++) {
		CLF_CLEANUP(clf_topo_destroyp) struct clf_topo *t = forest(max_nodes, levels, roots);
		uint32_t n, need, free_set, best_counts[CLF_MAX_LEVELS + 1] = { 0 };
		uint64_t best_hops = UINT64_MAX, ordered = UINT64_MAX;
		bool now = false, ever = false;

		if (!t || (n = clf_topo_nnodes(t)) > 14) {
			round -= !t;
			if (!t)
				break;
			continue;
		}
		cases++;

		CLF_CLEANUP(clf_bitmap_destroyp) struct clf_bitmap *b = clf_bitmap_create(n, NULL);

		need = 1 + rnd(orders ? 6 : n);
		free_set = 0;
		for (uint32_t i = 0; i < n; i++)
			if (rnd(4)) {
				free_set |= 1u << i;
				clf_bitmap_set(b, i);
			}

		/* every second case requires nodes, every second one in two limits leaves */
		CLF_CLEANUP(clf_bitmap_destroyp) struct clf_bitmap *must = clf_bitmap_create(n, NULL);
		uint32_t must_set = 0, max_leaves = round & 2 ? 1 + rnd(4) : 0;

		for (uint32_t i = 0; round & 1 && i < n; i++)
			if (!rnd(5) && (uint32_t) __builtin_popcount(must_set) < need) {
				must_set |= 1u << i;
				clf_bitmap_set(must, i);
			}
		for (uint32_t set = 1; set < 1u << n; set++) {
			uint32_t counts[CLF_MAX_LEVELS + 1], components, v[16], k = 0;
			uint64_t hops;

			if ((uint32_t) __builtin_popcount(set) != need)
				continue;
			count_set(t, set, counts, &components);
			if (components > 1 || (must_set & ~set) || (max_leaves && counts[1] > max_leaves))
				continue;
			ever = true;
			if (set & ~free_set)
				continue;
			for (uint32_t i = 0; i < n; i++)
				if (set >> i & 1)
					v[k++] = i;
			if (orders) {
				uint64_t h = least_hops_of_orders(t, v, need, 0);

				ordered = h < ordered ? h : ordered;
			}
			hops = 2 * (uint64_t) need;
			for (uint32_t l = 1; l < levels; l++)
				hops += counts[l] > 1 ? 2 * counts[l] : 0;
			if (need == 1)
				hops = 0;
			if (!now || lex_less(counts, best_counts, levels))
				memcpy(best_counts, counts, sizeof(best_counts));
			best_hops = hops < best_hops ? hops : best_hops;
			now = true;
		}

		for (int hops = 0; hops < 2; hops++) {
			struct clf_request req = { .nodes = need,
						   .free = b,
						   .required = must_set ? must : NULL,
						   .max_leaves = max_leaves,
						   .objective = hops ? CLF_OBJECTIVE_HOPS : CLF_OBJECTIVE_LEX };
			CLF_CLEANUP(clf_placement_destroyp) struct clf_placement *p = NULL;
			struct clf_error err = { 0 };
			uint32_t set = 0, counts[CLF_MAX_LEVELS + 1], components;
			struct clf_cost cost;

			if (clf_place(t, &req, &p, &err)) {
				wrong_class += now || err.code != (ever ? CLF_E_EXHAUSTED : CLF_E_INVALID);
				continue;
			}
			if (!now) {
				wrong_class++;
				continue;
			}
			for (uint32_t i = 0; i < p->count; i++)
				set |= 1u << p->order[i];
			count_set(t, set, counts, &components);
			wrong_class += (uint32_t) __builtin_popcount(set) != need || (set & ~free_set) ||
				       (must_set & ~set) || components > 1;
			unproven += !p->proven;
			if (hops && (p->cost.hops != best_hops || (orders && p->cost.hops != ordered)))
				wrong_hops++;
			if (!hops && (lex_less(best_counts, counts, levels) || lex_less(counts, best_counts, levels)))
				wrong_lex++;
			cost = clf_order_cost(t, p->order, p->count);
			wrong_order += p->cost.leaf_crossings != (counts[1] > 1 ? counts[1] : 0) ||
				       memcmp(&cost, &p->cost, sizeof(cost)) != 0;
		}
	}
	ok(cases > rounds / 4, "%u levels, %u roots: %u forests", levels, roots, cases);
	is_int(wrong_class, 0, "placed, not now, never: as brute force says");
	is_int(wrong_lex, 0, "lex: gap 0");
	is_int(wrong_hops, 0, "hops: gap 0%s", orders ? " over all sets and orders" : "");
	is_int(wrong_order, 0, "the delivered order crosses each leaf once, and costs what is said");
	is_int(unproven, 0, "all proven");
}

/* Rank 0 sits where it is asked to, and the order still visits each leaf and pod once. */
static void start_rule(void)
{
	uint32_t wrong = 0, cases = 0;

	for (uint32_t round = 0; round < 300; round++) {
		CLF_CLEANUP(clf_topo_destroyp) struct clf_topo *t = forest(40, 3, 1);
		uint32_t v[64], n = 0, sorted[64];
		struct clf_cost a, b;

		if (!t)
			break;
		for (uint32_t i = 0; i < clf_topo_nnodes(t) && n < 64; i++)
			if (rnd(2))
				sorted[n++] = i;
		if (!n)
			continue;
		memcpy(v, sorted, sizeof(v));
		for (uint32_t i = n; i > 1; i--) { /* any input order */
			uint32_t j = rnd(i), x = v[j];

			v[j] = v[i - 1];
			v[i - 1] = x;
		}

		uint32_t first = v[rnd(n)];

		cases++;
		if (clf_order(t, v, n, first, CLF_PATTERN_RING, NULL)) {
			wrong++;
			continue;
		}
		a = clf_order_cost(t, v, n);
		b = clf_order_cost(t, sorted, n);
		wrong += v[0] != first || a.hops != b.hops || a.leaf_crossings != b.leaf_crossings ||
			 a.pod_crossings != b.pod_crossings;
	}
	ok(cases > 200 && !wrong, "an order that starts anywhere costs what the depth-first one costs: %u of %u do not",
	   wrong, cases);
}

/* The same forest written down in another order: the same names come out. */
static struct clf_topo *from_text(const char *const *lines, uint32_t n)
{
	struct clf_topo_builder *b = clf_topo_builder_create("test", NULL);
	struct clf_topo *t = NULL;
	uint32_t id, up;
	bool bad = false;

	/* "leaf pod core node": groups are made when first met */
	struct {
		char name[16];
		uint32_t id;
	} known[64];
	uint32_t nknown = 0;

	for (uint32_t i = 0; i < n; i++) {
		char word[4][16];

		bad |= sscanf(lines[i], "%15s %15s %15s %15s", word[0], word[1], word[2], word[3]) != 4;
		up = CLF_NONE;
		for (int w = 2; w >= 0; w--) {
			uint32_t k = 0;

			while (k < nknown && strcmp(known[k].name, word[w]) != 0)
				k++;
			if (k == nknown) {
				bad |= clf_topo_builder_group(b, word[w], &known[k].id, NULL) ||
				       (up != CLF_NONE && clf_topo_builder_parent(b, known[k].id, up, NULL));
				memcpy(known[nknown++].name, word[w], 16);
			}
			up = known[k].id;
		}
		bad |= clf_topo_builder_node(b, word[3], &id, NULL) || clf_topo_builder_place(b, id, up, NULL);
	}
	return bad || clf_topo_builder_finish(b, &t, NULL) ? NULL : t;
}

static void shuffled(void)
{
	static char text[96][64];
	const char *lines[96];
	uint32_t n = 0, wrong = 0, cases = 0;

	/* 12 leaves of 5 to 8 nodes in 4 pods under 2 cores */
	for (uint32_t l = 0; l < 12; l++)
		for (uint32_t i = 0; i < 5 + l % 4; i++, n++) {
			snprintf(text[n], sizeof(text[n]), "leaf%u pod%u core%u n%u", l, l / 3, l / 6, n);
			lines[n] = text[n];
		}
	for (uint32_t round = 0; round < 200; round++) {
		CLF_CLEANUP(clf_topo_destroyp) struct clf_topo *a = NULL, *b = NULL;
		CLF_CLEANUP(clf_bitmap_destroyp) struct clf_bitmap *fa = NULL, *fb = NULL;
		CLF_CLEANUP(clf_placement_destroyp) struct clf_placement *pa = NULL, *pb = NULL;
		struct clf_request ra = { .nodes = 1 + rnd(30), .objective = rnd(2), .pattern = rnd(3) }, rb;

		a = from_text(lines, n);
		for (uint32_t i = n; i > 1; i--) {
			uint32_t j = rnd(i);
			const char *x = lines[j];

			lines[j] = lines[i - 1];
			lines[i - 1] = x;
		}
		b = from_text(lines, n);
		if (!a || !b) {
			wrong++;
			break;
		}
		fa = clf_bitmap_create(n, NULL);
		fb = clf_bitmap_create(n, NULL);
		for (uint32_t i = 0; i < n; i++)
			if (rnd(3)) {
				clf_bitmap_set(fa, i);
				clf_bitmap_set(fb, clf_topo_node_find(b, clf_topo_node(a, i)->name));
			}
		rb = ra;
		ra.free = fa;
		rb.free = fb;
		if (clf_place(a, &ra, &pa, NULL) != clf_place(b, &rb, &pb, NULL)) {
			wrong++;
			continue;
		}
		cases += pa != NULL;
		for (uint32_t i = 0; pa && i < pa->count; i++)
			wrong +=
				strcmp(clf_topo_node(a, pa->order[i])->name, clf_topo_node(b, pb->order[i])->name) != 0;
	}
	ok(!wrong && cases > 100, "the order of lines in the source changes nothing: %u of %u differ", wrong, cases);
}

static void required_and_limits(void)
{
	CLF_CLEANUP(clf_topo_destroyp) struct clf_topo *t = forest(14, 3, 1);
	CLF_CLEANUP(clf_bitmap_destroyp) struct clf_bitmap *all = clf_bitmap_create(clf_topo_nnodes(t), NULL);
	CLF_CLEANUP(clf_bitmap_destroyp) struct clf_bitmap *must = clf_bitmap_create(clf_topo_nnodes(t), NULL);
	CLF_CLEANUP(clf_placement_destroyp) struct clf_placement *p = NULL;
	struct clf_error err = { 0 };
	uint32_t last = clf_topo_nnodes(t) - 1;
	bool has = false;

	clf_bitmap_fill(all);
	clf_bitmap_set(must, last);

	struct clf_request req = { .nodes = 2, .free = all, .required = must };

	ok(!clf_place(t, &req, &p, &err), "with a required node");
	for (uint32_t i = 0; p && i < p->count; i++)
		has |= p->order[i] == last;
	ok(has, "the required node is in the set");
	clf_bitmap_clear(all, last);

	struct clf_placement *none = NULL;

	ok(clf_place(t, &req, &none, &err) && err.code == CLF_E_EXHAUSTED && !none,
	   "a required node that is busy: not now");
	ok(strstr(err.text, clf_topo_node(t, last)->name), "and it is named: %s", err.text);
	err = (struct clf_error){ 0 };
	req = (struct clf_request){ .nodes = clf_topo_nnodes(t), .free = all, .max_leaves = 1 };
	ok(clf_place(t, &req, &none, &err) && err.code == CLF_E_INVALID,
	   "more than a leaf with at most one leaf: never");
	err = (struct clf_error){ 0 };
	req = (struct clf_request){ .nodes = 1000000, .free = all };
	ok(clf_place(t, &req, &none, &err) && err.code == CLF_E_INVALID, "more than the fabric has: never");
	err = (struct clf_error){ 0 };
	req = (struct clf_request){ .nodes = 0, .free = all };
	ok(clf_place(t, &req, &none, &err) && err.code == CLF_E_INVALID, "0 nodes: never");

	/* what could be used, what is */
	CLF_CLEANUP(clf_bitmap_destroyp) struct clf_bitmap *could = clf_bitmap_copy(all, NULL);
	char want[128];

	clf_bitmap_zero(all);
	clf_bitmap_set(all, 0);
	err = (struct clf_error){ 0 };
	req = (struct clf_request){ .nodes = last, .free = all, .eligible = could };
	ok(clf_place(t, &req, &none, &err) && err.code == CLF_E_EXHAUSTED, "eligible but busy: not now");
	snprintf(want, sizeof(want), "the largest component has 1 free of %u nodes", last + 1);
	ok(strstr(err.text, want), "what blocks it: %s", err.text);
	err = (struct clf_error){ 0 };
	req.nodes = last + 1;
	ok(clf_place(t, &req, &none, &err) && err.code == CLF_E_INVALID, "more than is eligible: never");
	snprintf(want, sizeof(want), "the largest component has %u eligible of %u nodes", last, last + 1);
	ok(strstr(err.text, want), "what blocks it: %s", err.text);
	err = (struct clf_error){ 0 };
	clf_bitmap_zero(could);
	clf_bitmap_set(could, 1);
	req.nodes = 2;
	ok(clf_place(t, &req, &none, &err) && err.code == CLF_E_EXHAUSTED, "a free node can be used, eligible or not");
	clf_bitmap_fill(could);
	err = (struct clf_error){ 0 };
	clf_bitmap_clear(could, last - 1);
	clf_bitmap_zero(must);
	clf_bitmap_set(must, last - 1);
	req = (struct clf_request){ .nodes = 1, .free = all, .eligible = could, .required = must };
	ok(clf_place(t, &req, &none, &err) && err.code == CLF_E_INVALID, "a required node that is not eligible: never");
}

int main(void)
{
	brute(250, 7, 2, 1, true);
	brute(250, 7, 3, 1, true);
	brute(100, 6, 3, 2, true);
	brute(250, 12, 2, 2, false);
	brute(300, 12, 3, 1, false);
	brute(150, 10, 3, 2, false);
	brute(400, 12, 4, 1, false);
	brute(300, 12, 4, 2, false);
	brute(100, 7, 4, 1, true);
	start_rule();
	required_and_limits();
	shuffled();
	return done_testing();
}
