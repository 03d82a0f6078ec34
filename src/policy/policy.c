/* SPDX-License-Identifier: GPL-2.0-or-later */
/* policy.c - a policy file, whole or not at all. */
#include "policy/parse.h"

#include <string.h>

#define FORMAT "closfold-policy/1"

void clf_policy_destroy(struct clf_policy *p)
{
	if (!p)
		return;
	for (uint32_t i = 0; i < p->nzones; i++)
		clf_policy_zone_done(&p->zones[i]);
	for (uint32_t i = 0; p->terms && i < p->levels.n; i++)
		clf_policy_terms_done(&p->terms[i]);
	for (uint32_t i = 0; i < p->nrules; i++)
		clf_policy_rule_done(&p->rules[i]);
	for (uint32_t i = 0; i < p->ngrants; i++)
		clf_policy_grant_done(&p->grants[i]);
	free(p->zones);
	free(p->terms);
	free(p->rules);
	free(p->grants);
	clf_strmap_done(&p->account_floor);
	clf_strmap_done(&p->partition_floor);
	clf_strmap_done(&p->level_of);
	clf_strmap_done(&p->zone_of);
	clf_strmap_done(&p->grant_of);
	clf_strv_done(&p->levels);
	free(p->id);
	free(p);
}

static int read_format(const struct clf_parse *ctx, const struct clf_at *at, const json_t *j)
{
	if (strcmp(json_string_value(j), FORMAT))
		return clf_parse_fail(ctx, at, "format '%s' is not known: this closfold reads '%s'",
				      json_string_value(j), FORMAT);
	return 0;
}

static int read_root(const struct clf_parse *ctx)
{
	json_t *format, *id, *version, *classes, *zones, *floors, *terms, *rules, *grants;
	const struct clf_json_key keys[] = {
		{ "format", JSON_STRING, true, &format },    { "id", JSON_STRING, true, &id },
		{ "version", JSON_INTEGER, true, &version }, { "classes", JSON_OBJECT, true, &classes },
		{ "zones", JSON_OBJECT, false, &zones },     { "floors", JSON_OBJECT, false, &floors },
		{ "terms", JSON_OBJECT, false, &terms },     { "rules", JSON_ARRAY, false, &rules },
		{ "grants", JSON_ARRAY, false, &grants },
	};
	const struct clf_at *at = &(const struct clf_at){ 0 };
	struct clf_policy *p = ctx->policy;

	if (clf_parse_object(ctx, at, ctx->doc->root, keys, sizeof keys / sizeof *keys) ||
	    read_format(ctx, CLF_AT_KEY(at, "format"), format) ||
	    clf_parse_word(ctx, CLF_AT_KEY(at, "id"), id, "policy id", &p->id) ||
	    clf_parse_u32(ctx, CLF_AT_KEY(at, "version"), version, 1, UINT32_MAX, &p->version) ||
	    clf_parse_classes(ctx, CLF_AT_KEY(at, "classes"), classes) ||
	    clf_parse_zones(ctx, CLF_AT_KEY(at, "zones"), zones) ||
	    (floors && clf_parse_floors(ctx, CLF_AT_KEY(at, "floors"), floors)) ||
	    clf_parse_terms(ctx, terms ? CLF_AT_KEY(at, "terms") : at, terms) ||
	    clf_parse_rules(ctx, CLF_AT_KEY(at, "rules"), rules))
		return -1;
	return clf_parse_grants(ctx, CLF_AT_KEY(at, "grants"), grants);
}

static int from_doc(const struct clf_json_doc *doc, struct clf_policy **out, struct clf_error *err)
{
	CLF_CLEANUP(clf_policy_destroyp) struct clf_policy *p = calloc(1, sizeof *p);

	if (!p)
		return clf_fail(err, CLF_E_NOMEM, "out of memory");
	p->account_floor.copy = true;
	p->partition_floor.copy = true;
	if (read_root(&(const struct clf_parse){ doc, p, err }))
		return -1;
	*out = CLF_STEAL(p);
	return 0;
}

int clf_policy_load(const char *path, struct clf_policy **out, struct clf_error *err)
{
	CLF_CLEANUP(clf_json_doc_done) struct clf_json_doc doc = { 0 };

	if (clf_json_load_file(path, CLF_POLICY_MAX_BYTES, &doc, err))
		return -1;
	return from_doc(&doc, out, err);
}

int clf_policy_from_text(struct clf_text *text, struct clf_policy **out, struct clf_error *err)
{
	CLF_CLEANUP(clf_json_doc_done) struct clf_json_doc doc = { 0 };

	if (clf_json_load_text(text, &doc, err))
		return -1;
	return from_doc(&doc, out, err);
}
