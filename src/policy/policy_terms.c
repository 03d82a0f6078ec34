/* SPDX-License-Identifier: GPL-2.0-or-later */
/* policy_terms.c - "terms": what a job of a class is bound to. */
#include "policy/parse.h"

#include <stdio.h>
#include <string.h>

#define SLACK_MAX  1000
#define WAIT_MAX_S 604800 /* a week */

void clf_policy_terms_done(struct clf_policy_terms *t)
{
	free(t->cls);
	free(t->zone);
	free(t->licence);
}

static int read_zone_name(const struct clf_parse *ctx, const struct clf_at *at, const json_t *j, char **out)
{
	const struct clf_policy *p = ctx->policy;
	const char *names[CLF_POLICY_MAX_ZONES], *near;
	uint32_t zone;

	if (clf_parse_word(ctx, at, j, "zone", out))
		return -1;
	if (clf_strmap_find(&p->zone_of, *out, &zone))
		return 0;
	for (uint32_t i = 0; i < p->nzones; i++)
		names[i] = p->zones[i].name;
	near = clf_suggest(*out, names, p->nzones);
	if (near)
		return clf_parse_fail(ctx, at, "unknown zone '%s'; did you mean '%s'?", *out, near);
	return clf_parse_fail(ctx, at, "unknown zone '%s': not in zones", *out);
}

/* A licence of slurm.conf; ':' and '@' would be a count or a server to Slurm. */
static int read_licence(const struct clf_parse *ctx, const struct clf_at *at, const json_t *j, char **out)
{
	CLF_AUTO_FREE char *name = NULL;

	if (clf_parse_word(ctx, at, j, "licence", &name))
		return -1;
	if (strpbrk(name, ":/"))
		return clf_parse_fail(ctx, at, "licence '%s' must be a plain name: one is taken a job", name);
	if (asprintf(out, "%s:1", name) < 0) {
		*out = NULL;
		return clf_fail(ctx->err, CLF_E_NOMEM, "out of memory");
	}
	return 0;
}

static int read_switches(const struct clf_parse *ctx, const struct clf_at *at, json_t *j, struct clf_policy_terms *t)
{
	json_t *slack, *wait;
	const struct clf_json_key keys[] = {
		{ "slack", JSON_INTEGER, true, &slack },
		{ "wait_s", JSON_INTEGER, true, &wait },
	};

	t->switches = true;
	if (clf_parse_object(ctx, at, j, keys, sizeof keys / sizeof *keys) ||
	    clf_parse_u32(ctx, CLF_AT_KEY(at, "slack"), slack, 0, SLACK_MAX, &t->switch_slack))
		return -1;
	return clf_parse_u32(ctx, CLF_AT_KEY(at, "wait_s"), wait, 1, WAIT_MAX_S, &t->switch_wait_s);
}

static int read_terms(const struct clf_parse *ctx, const struct clf_at *at, json_t *j, struct clf_policy_terms *t)
{
	json_t *zone, *exclusive, *licence, *switches;
	const struct clf_json_key keys[] = {
		{ "zone", JSON_STRING, false, &zone },
		{ "exclusive", JSON_TRUE, false, &exclusive },
		{ "licence", JSON_STRING, false, &licence },
		{ "switches", JSON_OBJECT, false, &switches },
	};

	if (clf_parse_object(ctx, at, j, keys, sizeof keys / sizeof *keys))
		return -1;
	t->exclusive = json_is_true(exclusive);
	if ((zone && read_zone_name(ctx, CLF_AT_KEY(at, "zone"), zone, &t->zone)) ||
	    (licence && read_licence(ctx, CLF_AT_KEY(at, "licence"), licence, &t->licence)) ||
	    (switches && read_switches(ctx, CLF_AT_KEY(at, "switches"), switches, t)))
		return -1;
	return 0;
}

static int check_flagged(const struct clf_parse *ctx, const struct clf_at *at)
{
	const struct clf_policy *p = ctx->policy;

	for (uint32_t l = p->flagged_level; l < p->levels.n; l++) {
		const struct clf_policy_terms *t = &p->terms[l];
		const struct clf_at *here = t->cls ? CLF_AT_KEY(at, p->levels.v[l]) : at;

		if (!t->zone)
			return clf_parse_fail(ctx, here,
					      "class '%s' is flagged and has no zone: add \"zone\" to its terms",
					      p->levels.v[l]);
		if (!t->exclusive)
			return clf_parse_fail(
				ctx, here,
				"class '%s' is flagged and not exclusive: add \"exclusive\":true to its terms",
				p->levels.v[l]);
	}
	return 0;
}

int clf_parse_terms(const struct clf_parse *ctx, const struct clf_at *at, json_t *j)
{
	struct clf_policy *p = ctx->policy;
	const char *name;
	json_t *terms;

	p->terms = calloc(p->levels.n, sizeof *p->terms);
	if (!p->terms)
		return clf_fail(ctx->err, CLF_E_NOMEM, "out of memory");
	json_object_foreach(j, name, terms)
	{
		const struct clf_at *here = CLF_AT_KEY(at, name);
		uint32_t level;

		if (clf_parse_class_name(ctx, here, name, strlen(name), &level))
			return -1;
		p->terms[level].cls = strdup(name);
		if (!p->terms[level].cls)
			return clf_fail(ctx->err, CLF_E_NOMEM, "out of memory");
		if (read_terms(ctx, here, terms, &p->terms[level]))
			return -1;
	}
	return check_flagged(ctx, at);
}
