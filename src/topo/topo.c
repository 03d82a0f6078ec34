/* SPDX-License-Identifier: GPL-2.0-or-later */
/* topo.c - questions to a finished topology. */
#include "topo/topo.h"

#include <stdlib.h>

#include "base/hostlist.h"
#include "topo/topo_priv.h"

void clf_topo_destroy(struct clf_topo *t)
{
	if (!t)
		return;
	free(t->nodes);
	free(t->groups);
	free(t->switches);
	free(t->group_switches);
	free(t->links);
	free(t->findings);
	free(t->domains);
	clf_strmap_done(&t->by_name);
	clf_pool_done(&t->pool);
	free(t);
}

struct clf_topo_counts clf_topo_counts(const struct clf_topo *t)
{
	return t->counts;
}

const char *clf_topo_source(const struct clf_topo *t)
{
	return t->source;
}

uint32_t clf_topo_nnodes(const struct clf_topo *t)
{
	return t->counts.nodes;
}

uint32_t clf_topo_nplaced(const struct clf_topo *t)
{
	return t->counts.nodes - t->counts.unplaced;
}

const struct clf_topo_node *clf_topo_node(const struct clf_topo *t, uint32_t i)
{
	return &t->nodes[i];
}

uint32_t clf_topo_node_find(const struct clf_topo *t, const char *name)
{
	uint32_t id = CLF_NONE;

	clf_strmap_find(&t->by_name, name, &id);
	return id;
}

uint32_t clf_topo_ngroups(const struct clf_topo *t)
{
	return t->ngroups;
}

uint32_t clf_topo_level_groups(const struct clf_topo *t, uint32_t level, uint32_t *first)
{
	if (!level || level > t->counts.levels)
		return 0;
	if (first)
		*first = t->level_first[level];
	return t->level_first[level + 1] - t->level_first[level];
}

const struct clf_topo_group *clf_topo_group(const struct clf_topo *t, uint32_t g)
{
	return &t->groups[g];
}

uint32_t clf_topo_group_switch(const struct clf_topo *t, uint32_t k)
{
	return t->group_switches[k];
}

uint32_t clf_topo_lca_level(const struct clf_topo *t, uint32_t node_a, uint32_t node_b)
{
	uint32_t a = t->nodes[node_a].leaf, b = t->nodes[node_b].leaf, level = 1;

	if (node_a == node_b)
		return 0;
	for (; a != CLF_NONE && b != CLF_NONE; level++) {
		if (a == b)
			return level;
		a = t->groups[a].parent;
		b = t->groups[b].parent;
	}
	return CLF_NONE;
}

uint32_t clf_topo_ancestor(const struct clf_topo *t, uint32_t node, uint32_t level)
{
	uint32_t g = t->nodes[node].leaf;

	while (g != CLF_NONE && t->groups[g].level < level)
		g = t->groups[g].parent;
	return level ? g : CLF_NONE;
}

uint32_t clf_topo_nswitches(const struct clf_topo *t)
{
	return t->counts.switches;
}

const struct clf_topo_switch *clf_topo_switch(const struct clf_topo *t, uint32_t s)
{
	return &t->switches[s];
}

uint32_t clf_topo_nlinks(const struct clf_topo *t)
{
	return t->counts.links;
}

const struct clf_topo_link *clf_topo_link(const struct clf_topo *t, uint32_t l)
{
	return &t->links[l];
}

uint32_t clf_topo_nfindings(const struct clf_topo *t)
{
	return t->nfindings;
}

const struct clf_finding *clf_topo_finding(const struct clf_topo *t, uint32_t i)
{
	return &t->findings[i];
}

uint32_t clf_topo_ndomains(const struct clf_topo *t)
{
	return t->ndomains;
}

const char *clf_topo_domain(const struct clf_topo *t, uint32_t d)
{
	return t->domains[d];
}

const char *clf_finding_level_name(enum clf_finding_level level)
{
	static const char *const names[] = { "info", "warn", "error" };

	return names[level];
}

const char *clf_switch_kind_name(enum clf_switch_kind kind)
{
	static const char *const names[] = { "switch", "chip", "router" };

	return names[kind];
}

int clf_topo_nodeset(const struct clf_topo *t, const char *hosts, struct clf_strv *unknown, struct clf_bitmap **out,
		     struct clf_error *err)
{
	CLF_CLEANUP(clf_strv_done) struct clf_strv names = { 0 };
	CLF_CLEANUP(clf_bitmap_destroyp) struct clf_bitmap *set = clf_bitmap_create(clf_topo_nnodes(t), err);

	if (!set || clf_hostlist_expand(hosts, CLF_MAX_NODES, &names, err))
		return -1;
	for (size_t i = 0; i < names.n; i++) {
		uint32_t id = clf_topo_node_find(t, names.v[i]);

		if (id != CLF_NONE)
			clf_bitmap_set(set, id);
		else if (!unknown)
			return clf_fail(err, CLF_E_NOTFOUND, "no node '%s' in the topology", names.v[i]);
		else if (clf_strv_add(unknown, names.v[i], err))
			return -1;
	}
	*out = CLF_STEAL(set);
	return 0;
}
