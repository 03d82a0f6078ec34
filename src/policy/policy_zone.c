/* SPDX-License-Identifier: GPL-2.0-or-later */
/* policy_zone.c - "zones": which nodes a class may use, by name or by feature. */
#include "policy/parse.h"

#include <string.h>

#include "base/hostlist.h"
#include "topo/topo.h"

void clf_policy_zone_done(struct clf_policy_zone *z)
{
	free(z->name);
	free(z->nodes);
	clf_strv_done(&z->features);
	clf_strmap_done(&z->hosts);
}

static int read_nodes(const struct clf_parse *ctx, const struct clf_at *at, const json_t *j, struct clf_policy_zone *z)
{
	CLF_CLEANUP(clf_strv_done) struct clf_strv hosts = { 0 };
	struct clf_error why = { 0 };
	const char *expr = json_string_value(j);

	if (clf_hostlist_expand(expr, CLF_MAX_NODES, &hosts, &why)) {
		if (why.code == CLF_E_NOMEM && !why.column)
			return clf_fail(ctx->err, CLF_E_NOMEM, "%s", why.text);
		return clf_parse_fail(ctx, at, "bad host expression: %s", why.text);
	}
	if (!hosts.n)
		return clf_parse_fail(ctx, at, "zone without nodes");
	z->hosts.copy = true;
	for (size_t i = 0; i < hosts.n; i++)
		if (clf_strmap_set(&z->hosts, hosts.v[i], 1, ctx->err))
			return -1;
	z->nodes = strdup(expr);
	return z->nodes ? 0 : clf_fail(ctx->err, CLF_E_NOMEM, "out of memory");
}

static int read_zone(const struct clf_parse *ctx, const struct clf_at *at, json_t *j, struct clf_policy_zone *z)
{
	json_t *nodes, *features;
	const struct clf_json_key keys[] = {
		{ "nodes", JSON_STRING, false, &nodes },
		{ "features", JSON_ARRAY, false, &features },
	};

	if (clf_parse_object(ctx, at, j, keys, sizeof keys / sizeof *keys))
		return -1;
	if (!nodes == !features)
		return clf_parse_fail(ctx, at, "give either 'nodes' or 'features'");
	if (nodes)
		return read_nodes(ctx, CLF_AT_KEY(at, "nodes"), nodes, z);
	return clf_parse_words(ctx, CLF_AT_KEY(at, "features"), features, "feature", &z->features);
}

int clf_parse_zones(const struct clf_parse *ctx, const struct clf_at *at, json_t *j)
{
	struct clf_policy *p = ctx->policy;
	const char *name;
	json_t *zone;

	if (json_object_size(j) > CLF_POLICY_MAX_ZONES)
		return clf_parse_fail(ctx, at, "%zu zones, at most %d", json_object_size(j), CLF_POLICY_MAX_ZONES);
	p->zones = calloc(json_object_size(j) + 1, sizeof *p->zones);
	if (!p->zones)
		return clf_fail(ctx->err, CLF_E_NOMEM, "out of memory");
	json_object_foreach(j, name, zone)
	{
		const struct clf_at *here = CLF_AT_KEY(at, name);
		struct clf_policy_zone *z = &p->zones[p->nzones];

		if (clf_parse_check_word(ctx, here, name, strlen(name), "zone"))
			return -1;
		p->nzones++;
		z->name = strdup(name);
		if (!z->name)
			return clf_fail(ctx->err, CLF_E_NOMEM, "out of memory");
		if (clf_strmap_add(&p->zone_of, z->name, p->nzones - 1, ctx->err) || read_zone(ctx, here, zone, z))
			return -1;
	}
	return 0;
}
