/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/policy_check.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "cmd/cmd.h"

#define SOON_MS (INT64_C(30) * 86400000)

struct findings {
	json_t *list;
	bool json, error;
};

static void add(struct findings *f, enum clf_finding_level level, const char *code, const char *subject,
		const char *fmt, ...) CLF_PRINTF(5, 6);
static void add(struct findings *f, enum clf_finding_level level, const char *code, const char *subject,
		const char *fmt, ...)
{
	static const char *const words[] = {
		[CLF_FINDING_INFO] = "info", [CLF_FINDING_WARN] = "warn", [CLF_FINDING_ERROR] = "error"
	};
	char text[400];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	f->error |= level == CLF_FINDING_ERROR;
	if (f->json)
		json_array_append_new(f->list, json_pack("{s:s,s:s,s:s,s:s}", "level", words[level], "code", code,
							 "subject", subject, "text", text));
	else
		printf("%s: %s: %s\n", words[level], code, text);
}

static bool covers(const struct clf_policy_rule *r, const char *cls)
{
	return r->effect == CLF_PERMIT && (!r->classes.n || clf_policy_has(&r->classes, cls));
}

static bool usable(const struct clf_policy *p, const struct clf_policy_grant *g, uint32_t level, int64_t now_ms)
{
	uint32_t of = 0;

	return !g->revoked && now_ms < g->until_ms && clf_strmap_find(&p->level_of, g->cls, &of) && of >= level;
}

/* A flagged class that no job can get through to. */
static void check_classes(const struct clf_policy *p, int64_t now_ms, struct findings *f)
{
	for (uint32_t l = p->flagged_level; l < p->levels.n; l++) {
		const char *cls = p->levels.v[l];
		uint32_t rules = 0, grants = 0;

		for (uint32_t i = 0; i < p->nrules; i++)
			rules += covers(&p->rules[i], cls);
		for (uint32_t i = 0; i < p->ngrants; i++)
			grants += usable(p, &p->grants[i], l, now_ms);
		if (!rules)
			add(f, CLF_FINDING_WARN, "class-no-permit", cls,
			    "no rule permits class %s: each of its jobs is refused", cls);
		if (!grants)
			add(f, CLF_FINDING_WARN, "class-no-grant", cls,
			    "no grant in force covers class %s: each of its jobs is refused", cls);
	}
}

static void check_rules(const struct clf_policy *p, struct findings *f)
{
	for (uint32_t i = 0; i < p->nrules; i++) {
		const struct clf_policy_rule *r = &p->rules[i];
		bool found = r->effect == CLF_FORBID || !r->purposes.n; /* a forbid may guard what is not there yet */

		for (uint32_t g = 0; g < p->ngrants && !found; g++)
			found = clf_policy_has(&r->purposes, p->grants[g].purpose);
		if (!found)
			add(f, CLF_FINDING_WARN, "rule-no-purpose", r->id,
			    "rule %s never speaks: no grant has one of its purposes", r->id);
	}
}

static void check_grants(const struct clf_policy *p, int64_t now_ms, struct findings *f)
{
	for (uint32_t i = 0; i < p->ngrants; i++) {
		const struct clf_policy_grant *g = &p->grants[i];

		if (g->revoked)
			add(f, CLF_FINDING_INFO, "grant-revoked", g->id, "grant %s is revoked", g->id);
		else if (now_ms >= g->until_ms)
			add(f, CLF_FINDING_INFO, "grant-expired", g->id, "grant %s has ended", g->id);
		else if (g->until_ms - now_ms < SOON_MS)
			add(f, CLF_FINDING_WARN, "grant-ends-soon", g->id, "grant %s ends in %d days", g->id,
			    (int) ((g->until_ms - now_ms) / 86400000));
	}
}

/* Zones by features have no nodes here to look at. */
static int check_zones(const struct clf_policy *p, const struct clf_topo *topo, struct findings *f,
		       struct clf_error *err)
{
	for (uint32_t z = 0; z < p->nzones; z++) {
		CLF_CLEANUP(clf_strv_done) struct clf_strv unknown = { 0 };
		CLF_CLEANUP(clf_bitmap_destroyp) struct clf_bitmap *set = NULL;
		const char *name = p->zones[z].name;
		uint32_t placed = 0, n;

		if (!p->zones[z].nodes)
			continue;
		if (clf_topo_nodeset(topo, p->zones[z].nodes, &unknown, &set, err))
			return -1;
		n = clf_bitmap_count(set);
		for (uint32_t i = clf_bitmap_next(set, 0); i < set->nbits; i = clf_bitmap_next(set, i + 1))
			placed += clf_topo_node(topo, i)->leaf != CLF_NONE;
		if (unknown.n)
			add(f, CLF_FINDING_WARN, "zone-unknown-node", name,
			    "zone %s names %zu nodes that the topology does not have, the first is %s", name, unknown.n,
			    unknown.v[0]);
		if (!n)
			add(f, CLF_FINDING_ERROR, "zone-empty", name, "no node of the topology is in zone %s", name);
		else if (placed < n)
			add(f, CLF_FINDING_WARN, "zone-unplaced", name,
			    "%u nodes of zone %s are on no leaf: the switches of its jobs are not limited", n - placed,
			    name);
	}
	return 0;
}

int clf_policy_check(const struct clf_policy *p, const struct clf_topo *topo, int64_t now_ms, bool json)
{
	struct findings f = { .list = json_array(), .json = json };
	struct clf_error err = { 0 };

	check_classes(p, now_ms, &f);
	check_rules(p, &f);
	check_grants(p, now_ms, &f);
	if (topo && check_zones(p, topo, &f, &err)) {
		json_decref(f.list);
		return clf_cmd_fail(&err, json);
	}
	if (json) {
		clf_cmd_print_json(json_pack("{s:s,s:I,s:i,s:i,s:i,s:i,s:o}", "id", p->id, "version",
					     (json_int_t) p->version, "classes", (int) p->levels.n, "zones",
					     (int) p->nzones, "rules", (int) p->nrules, "grants", (int) p->ngrants,
					     "findings", f.list));
	} else {
		printf("policy %s version %u; classes %zu, zones %u, rules %u, grants %u\n", p->id, p->version,
		       p->levels.n, p->nzones, p->nrules, p->ngrants);
		json_decref(f.list);
	}
	return f.error ? CLF_EXIT_NO : CLF_EXIT_OK;
}
