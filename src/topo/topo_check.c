/* SPDX-License-Identifier: GPL-2.0-or-later */
/* topo_check.c - the invariants that topo.h promises, one function each, by name. */
#include "topo/topo_check.h"

#include <string.h>

#include "topo/topo_priv.h"

#define BROKEN(name, ...) clf_fail(err, CLF_E_INTERNAL, name ": " __VA_ARGS__)

static int check_names(const struct clf_topo *t, struct clf_error *err)
{
	CLF_CLEANUP(clf_strmap_done) struct clf_strmap groups = { 0 };
	CLF_CLEANUP(clf_strmap_done) struct clf_strmap switches = { 0 };

	for (uint32_t i = 0; i < t->counts.nodes; i++) {
		const char *name = t->nodes[i].name;

		if (!name || !*name || strlen(name) >= CLF_NAME_MAX)
			return BROKEN("names", "node %u has a bad name", i);
		if (clf_topo_node_find(t, name) != i)
			return BROKEN("names", "node '%s' is not found by its name", name);
	}
	for (uint32_t g = 0; g < t->ngroups; g++)
		if (!t->groups[g].name || !*t->groups[g].name || clf_strmap_add(&groups, t->groups[g].name, g, NULL))
			return BROKEN("names", "group %u has no name of its own", g);
	for (uint32_t s = 0; s < t->counts.switches; s++)
		if (!t->switches[s].name || !*t->switches[s].name ||
		    clf_strmap_add(&switches, t->switches[s].name, s, NULL))
			return BROKEN("names", "switch %u has no name of its own", s);
	return 0;
}

static int check_levels(const struct clf_topo *t, struct clf_error *err)
{
	if (t->counts.levels > CLF_MAX_LEVELS || (t->counts.levels == 0) != (t->ngroups == 0))
		return BROKEN("level-runs", "%u levels for %u groups", t->counts.levels, t->ngroups);
	if (t->level_first[1] || (t->ngroups && t->level_first[t->counts.levels + 1] != t->ngroups))
		return BROKEN("level-runs", "levels do not cover the groups");
	for (uint32_t l = 1; l <= t->counts.levels; l++) {
		if (t->level_first[l] >= t->level_first[l + 1])
			return BROKEN("level-runs", "level %u is empty", l);
		for (uint32_t g = t->level_first[l]; g < t->level_first[l + 1]; g++)
			if (t->groups[g].level != l)
				return BROKEN("level-runs", "group '%s' is not of level %u", t->groups[g].name, l);
	}
	return 0;
}

/* Children are one run, in the order of the groups of a level, and know their parent; nodes below are one run. */
static int check_children(const struct clf_topo *t, struct clf_error *err)
{
	uint32_t next[CLF_MAX_LEVELS + 1] = { 0 };

	for (uint32_t g = 0; g < t->ngroups; g++) {
		const struct clf_topo_group *p = &t->groups[g];
		uint32_t limit = p->level == 1 ? clf_topo_nplaced(t) : t->level_first[p->level];
		uint32_t node = p->first_node;

		if (!p->n)
			return BROKEN("group-nonempty", "group '%s' has no child", p->name);
		if (p->level > 1 && p->first < t->level_first[p->level - 1])
			return BROKEN("child-run", "children of '%s' are not of the level below", p->name);
		if (p->first > limit || p->n > limit - p->first)
			return BROKEN("child-run", "children of '%s' are out of range", p->name);
		if (p->level == 1) {
			if (p->first_node != p->first || p->n_nodes != p->n || p->first != next[1])
				return BROKEN("leaf-run", "leaf '%s' is not one run of nodes", p->name);
			next[1] += p->n;
			continue;
		}
		for (uint32_t c = p->first; c < p->first + p->n; c++) {
			const struct clf_topo_group *k = &t->groups[c];

			if (k->parent != g)
				return BROKEN("child-parent", "'%s' does not have '%s' as its parent", k->name,
					      p->name);
			if (k->component != p->component)
				return BROKEN("component", "'%s' and its parent are in different components", k->name);
			if (k->first_node != node)
				return BROKEN("node-run", "nodes below '%s' are not one run", p->name);
			node += k->n_nodes;
		}
		if (node - p->first_node != p->n_nodes)
			return BROKEN("node-run", "'%s' counts %u nodes below, its children %u", p->name, p->n_nodes,
				      node - p->first_node);
	}
	if (next[1] != clf_topo_nplaced(t))
		return BROKEN("leaf-run", "%u nodes are in leaves, %u are placed", next[1], clf_topo_nplaced(t));
	return 0;
}

static int check_parents(const struct clf_topo *t, struct clf_error *err)
{
	uint32_t roots = 0;
	CLF_CLEANUP(clf_bitmap_destroyp) struct clf_bitmap *seen = clf_bitmap_create(t->counts.components, err);

	if (!seen)
		return -1;
	for (uint32_t g = 0; g < t->ngroups; g++) {
		const struct clf_topo_group *c = &t->groups[g];

		if (c->component >= t->counts.components)
			return BROKEN("component", "'%s' is in component %u of %u", c->name, c->component,
				      t->counts.components);
		if (c->parent == CLF_NONE) {
			if (clf_bitmap_test(seen, c->component))
				return BROKEN("component", "component %u has two roots", c->component);
			clf_bitmap_set(seen, c->component);
			roots++;
			continue;
		}
		if (c->parent >= t->ngroups)
			return BROKEN("child-parent", "'%s' has a parent that is not there", c->name);

		const struct clf_topo_group *p = &t->groups[c->parent];

		if (g < p->first || g - p->first >= p->n)
			return BROKEN("child-parent", "'%s' is not among the children of '%s'", c->name, p->name);
	}
	return roots == t->counts.components
		       ? 0
		       : BROKEN("component", "%u roots, %u components", roots, t->counts.components);
}

static int check_nodes(const struct clf_topo *t, struct clf_error *err)
{
	for (uint32_t i = 0; i < t->counts.nodes; i++) {
		const struct clf_topo_node *n = &t->nodes[i];
		bool placed = i < clf_topo_nplaced(t);

		if (placed != (n->leaf != CLF_NONE) || placed != (n->component != CLF_NONE))
			return BROKEN("node-order", "node '%s': placed nodes come first", n->name);
		if (n->domain != CLF_NONE && n->domain >= t->ndomains)
			return BROKEN("domain", "node '%s' is in a domain that is not there", n->name);
		if (t->counts.rails < 32 && n->rails >> t->counts.rails)
			return BROKEN("rails", "node '%s' has a rail past %u", n->name, t->counts.rails);
		if (!placed)
			continue;
		if (n->leaf >= clf_topo_level_groups(t, 1, NULL))
			return BROKEN("leaf-run", "node '%s' is in no leaf", n->name);

		const struct clf_topo_group *l = &t->groups[n->leaf];

		if (i < l->first || i - l->first >= l->n)
			return BROKEN("leaf-run", "node '%s' is not in the run of its leaf", n->name);
		if (n->component != l->component)
			return BROKEN("component", "node '%s' and its leaf are in different components", n->name);
	}
	return 0;
}

static int check_switches(const struct clf_topo *t, struct clf_error *err)
{
	uint32_t at = 0, grouped = 0;

	for (uint32_t g = 0; g < t->ngroups; g++) {
		const struct clf_topo_group *p = &t->groups[g];

		if (p->first_switch != at || p->n_switches > t->ngroup_switches - at)
			return BROKEN("group-switches", "switches of '%s' are not the next run", p->name);
		for (; at < p->first_switch + p->n_switches; at++)
			if (t->group_switches[at] >= t->counts.switches ||
			    t->switches[t->group_switches[at]].group != g)
				return BROKEN("group-switches", "a switch of '%s' does not know it", p->name);
	}
	for (uint32_t s = 0; s < t->counts.switches; s++) {
		const struct clf_topo_switch *sw = &t->switches[s];

		grouped += sw->group != CLF_NONE;
		if (sw->group != CLF_NONE && sw->group >= t->ngroups)
			return BROKEN("group-switches", "switch '%s' is in a group that is not there", sw->name);
		if (sw->rail != CLF_NONE && sw->rail >= t->counts.rails)
			return BROKEN("rails", "switch '%s' has a rail past %u", sw->name, t->counts.rails);
	}
	if (at != t->ngroup_switches || grouped != at)
		return BROKEN("group-switches", "%u switches are in groups, groups count %u", grouped, at);
	return 0;
}

static int check_links(const struct clf_topo *t, struct clf_error *err)
{
	for (uint32_t i = 0; i < t->counts.links; i++) {
		const struct clf_topo_link *l = &t->links[i];

		if (l->a >= t->counts.switches || l->b >= (l->node_end ? t->counts.nodes : t->counts.switches))
			return BROKEN("link-ends", "link %u ends at something that is not there", i);
	}
	return 0;
}

static int check_counts(const struct clf_topo *t, struct clf_error *err)
{
	const struct clf_topo_counts *c = &t->counts;

	if (c->unplaced > c->nodes || c->leaves != clf_topo_level_groups(t, 1, NULL) ||
	    c->pods != clf_topo_level_groups(t, 2, NULL) || c->rails > CLF_MAX_RAILS)
		return BROKEN("counts", "the counts are not those of the model");
	return 0;
}

int clf_topo_check(const struct clf_topo *t, struct clf_error *err)
{
	if (check_counts(t, err) || check_names(t, err) || check_levels(t, err) || check_nodes(t, err) ||
	    check_children(t, err))
		return -1;
	return check_parents(t, err) || check_switches(t, err) || check_links(t, err) ? -1 : 0;
}
