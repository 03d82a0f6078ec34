/* SPDX-License-Identifier: GPL-2.0-or-later */
/* site.c - the zones of a policy on the nodes of one cluster. */
#include "engine/subject.h"

#include <string.h>

#include "base/hostlist.h"

void clf_site_destroy(struct clf_site *s)
{
	if (!s)
		return;
	for (uint32_t z = 0; z < s->nzones; z++) {
		free(s->zones[z].exclude);
		clf_bitmap_destroy(s->zones[z].members);
		clf_bitmap_destroy(s->zones[z].eligible);
	}
	free(s->zones);
	free(s->topo_id);
	clf_strmap_done(&s->index_of);
	free(s);
}

/* Cluster nodes as clf_site_make() was told of them. */
struct nodes {
	uint32_t n;
	const char *(*name_of)(void *arg, uint32_t i);
	bool (*has_feature)(void *arg, uint32_t i, const char *feature);
	void *arg;
};

static int index_nodes(struct clf_site *s, const struct nodes *nodes, struct clf_error *err)
{
	s->index_of.copy = true;
	if (s->topo) {
		s->topo_id = malloc(((size_t) nodes->n + 1) * sizeof *s->topo_id);
		if (!s->topo_id)
			return clf_fail(err, CLF_E_NOMEM, "out of memory");
	}
	for (uint32_t i = 0; i < nodes->n; i++) {
		const char *name = nodes->name_of(nodes->arg, i);

		if (clf_strmap_add(&s->index_of, name, i, err))
			return -1;
		if (s->topo)
			s->topo_id[i] = clf_topo_node_find(s->topo, name);
	}
	return 0;
}

static bool is_in(const struct clf_policy_zone *zone, const struct nodes *nodes, uint32_t i)
{
	uint32_t ignored;

	if (zone->nodes)
		return clf_strmap_find(&zone->hosts, nodes->name_of(nodes->arg, i), &ignored);
	for (size_t f = 0; f < zone->features.n; f++)
		if (!nodes->has_feature(nodes->arg, i, zone->features.v[f]))
			return false;
	return true;
}

static int make_view(const struct clf_site *s, const struct clf_policy_zone *zone, const struct nodes *nodes,
		     struct clf_zone_view *view, struct clf_error *err)
{
	CLF_AUTO_FREE const char **outside = calloc((size_t) nodes->n + 1, sizeof *outside);
	size_t n_outside = 0;

	view->name = zone->name;
	view->covered = s->topo != NULL;
	view->members = clf_bitmap_create(nodes->n, err);
	view->eligible = s->topo ? clf_bitmap_create(clf_topo_nnodes(s->topo), err) : NULL;
	if (!outside || !view->members || (s->topo && !view->eligible))
		return clf_fail(err, CLF_E_NOMEM, "out of memory");
	for (uint32_t i = 0; i < nodes->n; i++) {
		uint32_t t = s->topo ? s->topo_id[i] : CLF_NONE;

		if (!is_in(zone, nodes, i)) {
			outside[n_outside++] = nodes->name_of(nodes->arg, i);
			continue;
		}
		view->n_nodes++;
		clf_bitmap_set(view->members, i);
		if (t != CLF_NONE)
			clf_bitmap_set(view->eligible, t);
		if (t == CLF_NONE || clf_topo_node(s->topo, t)->leaf == CLF_NONE)
			view->covered = false;
	}
	view->exclude = clf_hostlist_compress(outside, n_outside, err);
	return view->exclude ? 0 : -1;
}

int clf_site_make(const struct clf_policy *policy, const struct clf_topo *topo, uint32_t n_cluster_nodes,
		  const char *(*name_of)(void *arg, uint32_t i),
		  bool (*has_feature)(void *arg, uint32_t i, const char *feature), void *arg, struct clf_site **out,
		  struct clf_error *err)
{
	const struct nodes nodes = { n_cluster_nodes, name_of, has_feature, arg };
	CLF_CLEANUP(clf_site_destroyp) struct clf_site *s = calloc(1, sizeof *s);

	if (!s)
		return clf_fail(err, CLF_E_NOMEM, "out of memory");
	if (n_cluster_nodes > CLF_MAX_NODES)
		return clf_fail(err, CLF_E_INVALID, "%u nodes in the cluster, at most %d", n_cluster_nodes,
				CLF_MAX_NODES);
	s->policy = policy;
	s->topo = topo;
	s->n_cluster_nodes = n_cluster_nodes;
	s->zones = calloc((size_t) policy->nzones + 1, sizeof *s->zones);
	if (!s->zones)
		return clf_fail(err, CLF_E_NOMEM, "out of memory");
	if (index_nodes(s, &nodes, err))
		return -1;
	for (uint32_t z = 0; z < policy->nzones; z++) {
		if (policy->zones[z].features.n && !has_feature)
			return clf_fail(err, CLF_E_INVALID,
					"zone '%s' is by features, and the features of nodes are not known here",
					policy->zones[z].name);
		s->nzones++;
		if (make_view(s, &policy->zones[z], &nodes, &s->zones[z], err))
			return -1;
	}
	*out = CLF_STEAL(s);
	return 0;
}

struct members_of_list {
	const struct clf_site *site;
	const struct clf_bitmap *members;
	struct clf_bitmap *set;
	struct clf_strv *outside;
	uint32_t n_outside;
};

static int take_host(void *arg, const char *name, size_t len, struct clf_error *err)
{
	struct members_of_list *m = arg;
	uint32_t i = CLF_NONE;

	if (clf_strmap_findn(&m->site->index_of, name, len, &i))
		clf_bitmap_set(m->set, i);
	if (i != CLF_NONE && clf_bitmap_test(m->members, i))
		return 0;
	m->n_outside++;
	return m->outside->n < 3 ? clf_strv_addn(m->outside, name, len, err) : 0;
}

/* A list may name nodes twice and some that are gone; one longer than that is hostile, and costs time in slurmctld. */
int clf_site_nodes(const struct clf_site *site, const char *expr, const struct clf_bitmap *members,
		   struct clf_bitmap **out, struct clf_strv *outside, uint32_t *n_outside, struct clf_error *err)
{
	CLF_CLEANUP(clf_bitmap_destroyp) struct clf_bitmap *set = clf_bitmap_create(site->n_cluster_nodes, err);
	struct members_of_list m = { site, members, set, outside, 0 };

	if (!set || clf_hostlist_each(expr, 2 * (size_t) site->n_cluster_nodes + 64, take_host, &m, err))
		return -1;
	*n_outside = m.n_outside;
	*out = CLF_STEAL(set);
	return 0;
}
