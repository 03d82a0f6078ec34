/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/policy_site.h"

#include "base/hostlist.h"

static const char *name_of(void *arg, uint32_t i)
{
	return ((const struct clf_strv *) arg)->v[i];
}

static bool has_feature(void *arg, uint32_t i, const char *feature)
{
	(void) arg;
	(void) i;
	(void) feature;
	return true;
}

static int add_zone_hosts(const struct clf_policy *policy, struct clf_strv *out, struct clf_error *err)
{
	CLF_CLEANUP(clf_strmap_done) struct clf_strmap seen = { .copy = true };
	uint32_t ignored;

	for (uint32_t z = 0; z < policy->nzones; z++) {
		CLF_CLEANUP(clf_strv_done) struct clf_strv hosts = { 0 };

		if (policy->zones[z].nodes && clf_hostlist_expand(policy->zones[z].nodes, CLF_MAX_NODES, &hosts, err))
			return -1;
		for (size_t i = 0; i < hosts.n; i++) {
			if (clf_strmap_find(&seen, hosts.v[i], &ignored))
				continue;
			if (clf_strmap_add(&seen, hosts.v[i], 1, err) || clf_strv_add(out, hosts.v[i], err))
				return -1;
		}
	}
	return out->n ? 0 : clf_strv_add(out, "node", err);
}

int clf_policy_site(const struct clf_policy *policy, const struct clf_topo *topo, struct clf_site **out,
		    const char **note, struct clf_error *err)
{
	CLF_CLEANUP(clf_strv_done) struct clf_strv names = { 0 };

	for (uint32_t i = 0; topo && i < clf_topo_nnodes(topo); i++)
		if (clf_strv_add(&names, clf_topo_node(topo, i)->name, err))
			return -1;
	if (!topo && add_zone_hosts(policy, &names, err))
		return -1;
	if (clf_site_make(policy, topo, (uint32_t) names.n, name_of, has_feature, &names, out, err))
		return -1;
	for (uint32_t z = 0; z < policy->nzones; z++)
		if (policy->zones[z].features.n)
			*note = "features of nodes are not known here: every node is taken to have them";
	return 0;
}
