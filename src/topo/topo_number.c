/* SPDX-License-Identifier: GPL-2.0-or-later */
/* topo_number.c - from a builder with a tree to the immutable model: groups without nodes go, levels are made even, ids
 * follow the tree depth-first.
 *
 * Even levels: placement wants the children of a level-k group to be groups of level k - 1. Where a source is uneven, a
 * group with one child and no switch stands in between ("leaf7.l2"); nodes on a switch that also has switches below
 * become a leaf of their own ("spine1.hosts"). Both are told from real groups by having no switch.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "topo/topo_priv.h"

struct number {
	struct clf_topo_builder *b;
	uint32_t *level; /* per group; 0 = no node below */
	uint32_t *key;   /* per group: place among its siblings, the index of the group it stands for */
	uint32_t cap;
	struct clf_rows kids, nodes; /* by group */
	uint32_t *new_group, *new_node;
};

static void number_done(struct number *n)
{
	free(n->level);
	free(n->key);
	free(n->new_group);
	free(n->new_node);
	clf_rows_done(&n->kids);
	clf_rows_done(&n->nodes);
}

/* Groups in an order where each comes before its children; fails on a cycle. order has ngroups entries. */
static int top_down(struct number *n, uint32_t *order, struct clf_error *err)
{
	uint32_t done = 0, end = 0, total = n->b->ngroups;

	for (uint32_t g = 0; g < total; g++)
		if (n->b->groups[g].parent == CLF_NONE)
			order[end++] = g;
	for (; done < end; done++)
		for (uint32_t k = n->kids.first[order[done]]; k < n->kids.first[order[done] + 1]; k++)
			order[end++] = n->kids.v[k];
	if (end == total)
		return 0;

	/* Whoever was not reached is below a cycle: name one on it. */
	CLF_AUTO_FREE bool *seen = clf_topo_alloc(total, sizeof *seen, err);
	uint32_t g = 0;

	if (!seen)
		return -1;
	for (uint32_t i = 0; i < end; i++)
		seen[order[i]] = true;
	while (seen[g])
		g++;
	while (!seen[g]) {
		seen[g] = true;
		g = n->b->groups[g].parent;
	}
	return clf_fail(err, CLF_E_INVALID, "group '%s' is above itself", n->b->groups[g].name);
}

static int find_kids(struct number *n, struct clf_error *err)
{
	struct clf_topo_builder *b = n->b;
	CLF_AUTO_FREE uint32_t *parent = clf_topo_alloc(b->ngroups, sizeof *parent, err);

	if (!parent)
		return -1;
	for (uint32_t g = 0; g < b->ngroups; g++)
		parent[g] = b->groups[g].parent;
	clf_rows_done(&n->kids);
	return clf_rows_make(&n->kids, b->ngroups, parent, NULL, b->ngroups, err);
}

static int find_nodes(struct number *n, struct clf_error *err)
{
	struct clf_topo_builder *b = n->b;
	CLF_AUTO_FREE uint32_t *group = clf_topo_alloc(b->nnodes, sizeof *group, err);

	if (!group)
		return -1;
	for (uint32_t i = 0; i < b->nnodes; i++)
		group[i] = b->nodes[i].group;
	clf_rows_done(&n->nodes);
	return clf_rows_make(&n->nodes, b->ngroups, group, NULL, b->nnodes, err);
}

/* A group that no source named, under a name that nobody has. */
static int invent(struct number *n, uint32_t stands_for, const char *suffix, uint32_t parent, uint32_t level,
		  uint32_t *id, struct clf_error *err)
{
	char name[CLF_NAME_MAX];
	const char *base = n->b->groups[stands_for].name;

	snprintf(name, sizeof name, "%.100s%s", base, suffix);
	for (unsigned i = 2; clf_strmap_find(&n->b->group_names, name, &(uint32_t){ 0 }); i++)
		snprintf(name, sizeof name, "%.100s%s-%u", base, suffix, i);
	if (clf_topo_builder_group(n->b, name, id, err))
		return -1;
	if (n->b->ngroups > n->cap) {
		uint32_t cap = 2 * n->cap + 64;
		uint32_t *l = realloc(n->level, cap * sizeof *l);

		if (l)
			n->level = l;

		uint32_t *k = realloc(n->key, cap * sizeof *k);

		if (k)
			n->key = k;
		if (!l || !k)
			return clf_fail(err, CLF_E_NOMEM, "out of memory");
		n->cap = cap;
	}
	n->b->groups[*id].parent = parent;
	n->level[*id] = level;
	n->key[*id] = n->key[stands_for];
	return 0;
}

/* Levels bottom-up; groups without a node below keep level 0; nodes beside child groups move to a leaf of their own. */
static int find_levels(struct number *n, struct clf_error *err)
{
	struct clf_topo_builder *b = n->b;
	uint32_t total = b->ngroups;
	CLF_AUTO_FREE uint32_t *order = clf_topo_alloc(total, sizeof *order, err);

	if (!order || find_kids(n, err) || find_nodes(n, err) || top_down(n, order, err))
		return -1;
	for (uint32_t i = total; i-- > 0;) {
		uint32_t g = order[i], high = 0;
		bool hosts = n->nodes.first[g] < n->nodes.first[g + 1];

		for (uint32_t k = n->kids.first[g]; k < n->kids.first[g + 1]; k++)
			if (n->level[n->kids.v[k]] > high)
				high = n->level[n->kids.v[k]];
		n->level[g] = high ? high + 1 : hosts ? 1 : 0;
		if (n->level[g] > CLF_MAX_LEVELS)
			return clf_fail(err, CLF_E_INVALID, "group '%s' has more than %d levels below it",
					b->groups[g].name, CLF_MAX_LEVELS - 1);
		if (high && hosts) {
			uint32_t leaf = 0;

			if (invent(n, g, ".hosts", g, 1, &leaf, err))
				return -1;
			for (uint32_t k = n->nodes.first[g]; k < n->nodes.first[g + 1]; k++)
				b->nodes[n->nodes.v[k]].group = leaf;
		}
	}
	for (uint32_t g = 0; g < total; g++)
		if (!n->level[g] && clf_topo_builder_finding(b, CLF_FINDING_WARN, "group-empty", b->groups[g].name, err,
							     "no node below it, so it is not part of the tree"))
			return -1;
	return 0;
}

static int pad(struct number *n, struct clf_error *err)
{
	uint32_t total = n->b->ngroups;

	for (uint32_t g = 0; g < total; g++) {
		uint32_t top = n->b->groups[g].parent, below = g;

		if (!n->level[g] || top == CLF_NONE)
			continue;
		for (uint32_t l = n->level[g] + 1; l < n->level[top]; l++) {
			char suffix[16];
			uint32_t p = 0;

			snprintf(suffix, sizeof suffix, ".l%u", l);
			if (invent(n, g, suffix, top, l, &p, err))
				return -1;
			n->b->groups[below].parent = p;
			below = p;
		}
	}
	return 0;
}

static int by_key(const void *a, const void *b, void *arg)
{
	const struct number *n = arg;
	uint32_t x = *(const uint32_t *) a, y = *(const uint32_t *) b;

	if (n->key[x] != n->key[y])
		return n->key[x] < n->key[y] ? -1 : 1;
	return (x > y) - (x < y);
}

struct walk {
	uint32_t next[CLF_MAX_LEVELS + 2]; /* next group id of each level */
	uint32_t nodes, component;
};

/* Give a group its number, and its nodes theirs when it is a leaf. */
static void enter(struct number *n, struct clf_topo *t, struct walk *w, uint32_t g, uint32_t parent)
{
	uint32_t level = n->level[g], id = w->next[level]++;
	struct clf_topo_group *out = &t->groups[id];

	n->new_group[g] = id;
	*out = (struct clf_topo_group){
		.name = n->b->groups[g].name,
		.level = level,
		.parent = parent,
		.first = level == 1 ? w->nodes : w->next[level - 1],
		.first_node = w->nodes,
		.component = w->component,
	};
	if (parent != CLF_NONE)
		t->groups[parent].n++;
	for (uint32_t k = n->nodes.first[g]; level == 1 && k < n->nodes.first[g + 1]; k++) {
		const struct clf_bnode *bn = &n->b->nodes[n->nodes.v[k]];

		n->new_node[n->nodes.v[k]] = w->nodes;
		t->nodes[w->nodes++] = (struct clf_topo_node){ bn->name, id, w->component, bn->domain, bn->rails };
		out->n++;
	}
}

static void walk_tree(struct number *n, struct clf_topo *t, struct walk *w, uint32_t root)
{
	uint32_t stack[CLF_MAX_LEVELS + 1] = { root }, at[CLF_MAX_LEVELS + 1] = { n->kids.first[root] }, depth = 1;

	enter(n, t, w, root, CLF_NONE);
	while (depth) {
		uint32_t g = stack[depth - 1], *k = &at[depth - 1], end = n->kids.first[g + 1];

		while (*k < end && !n->level[n->kids.v[*k]])
			++*k;
		if (*k == end) {
			struct clf_topo_group *out = &t->groups[n->new_group[g]];

			out->n_nodes = w->nodes - out->first_node;
			depth--;
			continue;
		}

		uint32_t kid = n->kids.v[(*k)++];

		enter(n, t, w, kid, n->new_group[g]);
		stack[depth] = kid;
		at[depth++] = n->kids.first[kid];
	}
}

/* Depth-first numbers for groups (within their level) and nodes; fills t->groups but for switches. */
static int walk(struct number *n, struct clf_topo *t, struct clf_error *err)
{
	struct clf_topo_builder *b = n->b;
	struct walk w = { 0 };

	for (uint32_t g = 0; g < b->ngroups; g++) {
		if (!n->level[g])
			continue;
		t->ngroups++;
		t->level_first[n->level[g] + 1]++;
		if (n->level[g] > t->counts.levels)
			t->counts.levels = n->level[g];
		qsort_r(n->kids.v + n->kids.first[g], n->kids.first[g + 1] - n->kids.first[g], sizeof *n->kids.v,
			by_key, n);
	}
	for (uint32_t l = 1; l <= CLF_MAX_LEVELS; l++) {
		t->level_first[l + 1] += t->level_first[l];
		w.next[l] = t->level_first[l];
	}
	t->groups = clf_topo_alloc(t->ngroups, sizeof *t->groups, err);
	t->nodes = clf_topo_alloc(b->nnodes, sizeof *t->nodes, err);
	if (!t->groups || !t->nodes)
		return -1;
	for (uint32_t i = 0; i < b->nnodes; i++)
		n->new_node[i] = CLF_NONE;
	for (uint32_t g = 0; g < b->ngroups; g++)
		if (n->level[g] && b->groups[g].parent == CLF_NONE) {
			walk_tree(n, t, &w, g);
			w.component++;
		}
	t->counts.components = w.component;
	t->counts.unplaced = b->nnodes - w.nodes;
	for (uint32_t i = 0; i < b->nnodes; i++)
		if (n->new_node[i] == CLF_NONE) {
			const struct clf_bnode *bn = &b->nodes[i];

			n->new_node[i] = w.nodes;
			t->nodes[w.nodes++] =
				(struct clf_topo_node){ bn->name, CLF_NONE, CLF_NONE, bn->domain, bn->rails };
		}
	t->counts.nodes = b->nnodes;
	return 0;
}

static int take_switches(struct number *n, struct clf_topo *t, struct clf_error *err)
{
	struct clf_topo_builder *b = n->b;
	CLF_CLEANUP(clf_rows_done) struct clf_rows rows = { 0 };
	CLF_AUTO_FREE uint32_t *group = clf_topo_alloc(b->nswitches, sizeof *group, err);

	if (!group)
		return -1;
	t->switches = CLF_STEAL(b->switches);
	t->counts.switches = b->nswitches;
	for (uint32_t s = 0; s < b->nswitches; s++) {
		struct clf_topo_switch *sw = &t->switches[s];

		if (sw->group != CLF_NONE)
			sw->group = n->level[sw->group] ? n->new_group[sw->group] : CLF_NONE;
		group[s] = sw->group;
		if (sw->rail != CLF_NONE && sw->rail >= t->counts.rails)
			t->counts.rails = sw->rail + 1;
	}
	if (clf_rows_make(&rows, t->ngroups, group, NULL, b->nswitches, err))
		return -1;
	for (uint32_t g = 0; g < t->ngroups; g++) {
		t->groups[g].first_switch = rows.first[g];
		t->groups[g].n_switches = rows.first[g + 1] - rows.first[g];
	}
	t->ngroup_switches = t->ngroups ? rows.first[t->ngroups] : 0;
	t->group_switches = CLF_STEAL(rows.v);
	return 0;
}

static void take_rest(struct number *n, struct clf_topo *t)
{
	struct clf_topo_builder *b = n->b;

	t->links = CLF_STEAL(b->links);
	t->counts.links = b->nlinks;
	for (uint32_t i = 0; i < b->nlinks; i++)
		if (t->links[i].node_end)
			t->links[i].b = n->new_node[t->links[i].b];
	t->findings = CLF_STEAL(b->findings);
	t->nfindings = b->nfindings;
	t->domains = CLF_STEAL(b->domains);
	t->ndomains = b->ndomains;
	t->by_name = b->node_names;
	b->node_names = (struct clf_strmap){ 0 };
	t->pool = b->pool;
	b->pool = (struct clf_pool){ 0 };
	t->source = b->source;
	for (uint32_t i = 0; i < t->counts.nodes; i++)
		if (t->nodes[i].rails)
			for (uint32_t r = t->counts.rails; r < CLF_MAX_RAILS; r++)
				if (t->nodes[i].rails >> r & 1)
					t->counts.rails = r + 1;
	t->counts.leaves = clf_topo_level_groups(t, 1, NULL);
	t->counts.pods = clf_topo_level_groups(t, 2, NULL);
}

int clf_topo_number(struct clf_topo_builder *b, struct clf_topo **out, struct clf_error *err)
{
	CLF_CLEANUP(clf_topo_destroyp) struct clf_topo *t = clf_topo_alloc(1, sizeof *t, err);
	CLF_CLEANUP(number_done) struct number n = { .b = b, .cap = b->ngroups };

	n.level = clf_topo_alloc(b->ngroups, sizeof *n.level, err);
	n.key = clf_topo_alloc(b->ngroups, sizeof *n.key, err);
	n.new_node = clf_topo_alloc(b->nnodes, sizeof *n.new_node, err);
	if (!t || !n.level || !n.key || !n.new_node)
		return -1;
	for (uint32_t g = 0; g < b->ngroups; g++)
		n.key[g] = g;
	if (find_levels(&n, err) || pad(&n, err) || find_kids(&n, err) || find_nodes(&n, err))
		return -1;
	n.new_group = clf_topo_alloc(b->ngroups, sizeof *n.new_group, err);
	if (!n.new_group || walk(&n, t, err) || take_switches(&n, t, err))
		return -1;
	take_rest(&n, t);
	for (uint32_t i = 0; i < t->counts.nodes; i++) {
		uint32_t old = i;

		if ((!clf_strmap_find(&t->by_name, t->nodes[i].name, &old) || old != i) &&
		    clf_strmap_set(&t->by_name, t->nodes[i].name, i, err))
			return -1;
	}
	*out = CLF_STEAL(t);
	return 0;
}
