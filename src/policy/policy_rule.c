/* SPDX-License-Identifier: GPL-2.0-or-later */
/* policy_rule.c - "rules": who may, who may not. */
#include "policy/parse.h"
#include "policy/builtin.h"

#include <string.h>

void clf_policy_rule_done(struct clf_policy_rule *r)
{
	free(r->id);
	free(r->message);
	clf_strv_done(&r->classes);
	clf_strv_done(&r->accounts);
	clf_strv_done(&r->users);
	clf_strv_done(&r->partitions);
	clf_strv_done(&r->purposes);
	clf_strv_done(&r->cites);
}

const char *clf_builtin_id(enum clf_builtin rule)
{
	static const char *const ids[] = {
#define CLF_BUILTIN_ID(name, id) [CLF_RULE_##name] = id,
		CLF_BUILTIN_RULES(CLF_BUILTIN_ID)
#undef CLF_BUILTIN_ID
	};

	return ids[rule];
}

static int read_effect(const struct clf_parse *ctx, const struct clf_at *at, const json_t *j, enum clf_effect *out)
{
	static const char *const words[] = { [CLF_PERMIT] = "permit", [CLF_FORBID] = "forbid" };
	const char *s = json_string_value(j), *near;

	for (size_t i = 0; i < 2; i++)
		if (!strcmp(s, words[i])) {
			*out = (enum clf_effect) i;
			return 0;
		}
	near = clf_suggest(s, words, 2);
	if (near)
		return clf_parse_fail(ctx, at, "unknown effect '%s'; did you mean '%s'?", s, near);
	return clf_parse_fail(ctx, at, "unknown effect '%s': use permit or forbid", s);
}

static int read_when(const struct clf_parse *ctx, const struct clf_at *at, json_t *j, struct clf_policy_rule *r)
{
	json_t *classes, *accounts, *users, *partitions, *purposes;
	const struct clf_json_key keys[] = {
		{ "classes", JSON_ARRAY, false, &classes },   { "accounts", JSON_ARRAY, false, &accounts },
		{ "users", JSON_ARRAY, false, &users },       { "partitions", JSON_ARRAY, false, &partitions },
		{ "purposes", JSON_ARRAY, false, &purposes },
	};
	const struct clf_at *here = CLF_AT_KEY(at, "classes");
	uint32_t level;

	if (clf_parse_object(ctx, at, j, keys, sizeof keys / sizeof *keys))
		return -1;
	for (size_t i = 0; i < json_array_size(classes); i++)
		if (clf_parse_class(ctx, CLF_AT_INDEX(here, i), json_array_get(classes, i), &level))
			return -1;
	if (clf_parse_words(ctx, here, classes, "class", &r->classes) ||
	    clf_parse_accounts(ctx, CLF_AT_KEY(at, "accounts"), accounts, &r->accounts) ||
	    clf_parse_users(ctx, CLF_AT_KEY(at, "users"), users, &r->users) ||
	    clf_parse_words(ctx, CLF_AT_KEY(at, "partitions"), partitions, "partition", &r->partitions))
		return -1;
	return clf_parse_words(ctx, CLF_AT_KEY(at, "purposes"), purposes, "purpose", &r->purposes);
}

static int read_cites(const struct clf_parse *ctx, const struct clf_at *at, const json_t *j, struct clf_strv *out)
{
	for (size_t i = 0; i < json_array_size(j); i++) {
		CLF_AUTO_FREE char *text = NULL;
		const struct clf_at *here = CLF_AT_INDEX(at, i);

		if (i >= CLF_POLICY_MAX_LEVELS)
			return clf_parse_fail(ctx, here, "more than %d citations", CLF_POLICY_MAX_LEVELS);
		if (clf_parse_text(ctx, here, json_array_get(j, i), "citation", &text))
			return -1;
		if (strlen(text) > CLF_POLICY_WORD_MAX)
			return clf_parse_fail(ctx, here, "citation is too long: at most %d bytes", CLF_POLICY_WORD_MAX);
		if (clf_strv_add(out, text, ctx->err))
			return -1;
	}
	return 0;
}

static int read_id(const struct clf_parse *ctx, const struct clf_at *at, const json_t *j, struct clf_strmap *seen,
		   uint32_t index, char **out)
{
	if (clf_parse_id(ctx, at, j, "rule id", seen, index, out))
		return -1;
	for (int b = 0; b < CLF_N_BUILTIN; b++)
		if (!strcmp(*out, clf_builtin_id((enum clf_builtin) b)))
			return clf_parse_fail(ctx, at, "rule id '%s' is that of a built-in rule", *out);
	return 0;
}

static int read_rule(const struct clf_parse *ctx, const struct clf_at *at, json_t *j, struct clf_strmap *seen,
		     uint32_t index, struct clf_policy_rule *r)
{
	json_t *id, *effect, *when, *message, *cites;
	const struct clf_json_key keys[] = {
		{ "id", JSON_STRING, true, &id },       { "effect", JSON_STRING, true, &effect },
		{ "when", JSON_OBJECT, true, &when },   { "message", JSON_STRING, false, &message },
		{ "cites", JSON_ARRAY, false, &cites },
	};

	if (clf_parse_object(ctx, at, j, keys, sizeof keys / sizeof *keys) ||
	    read_id(ctx, CLF_AT_KEY(at, "id"), id, seen, index, &r->id) ||
	    read_effect(ctx, CLF_AT_KEY(at, "effect"), effect, &r->effect) ||
	    read_when(ctx, CLF_AT_KEY(at, "when"), when, r) ||
	    (message && clf_parse_text(ctx, CLF_AT_KEY(at, "message"), message, "message", &r->message)) ||
	    read_cites(ctx, CLF_AT_KEY(at, "cites"), cites, &r->cites))
		return -1;
	if (r->effect == CLF_FORBID && !r->message)
		return clf_parse_fail(ctx, at, "forbid rule '%s' has no message: say what the user did wrong", r->id);
	return 0;
}

int clf_parse_rules(const struct clf_parse *ctx, const struct clf_at *at, json_t *j)
{
	CLF_CLEANUP(clf_strmap_done) struct clf_strmap seen = { 0 };
	struct clf_policy *p = ctx->policy;
	size_t n = json_array_size(j);

	if (n > CLF_POLICY_MAX_RULES)
		return clf_parse_fail(ctx, at, "%zu rules, at most %d", n, CLF_POLICY_MAX_RULES);
	p->rules = calloc(n + 1, sizeof *p->rules);
	if (!p->rules)
		return clf_fail(ctx->err, CLF_E_NOMEM, "out of memory");
	for (size_t i = 0; i < n; i++) {
		p->nrules++;
		if (read_rule(ctx, CLF_AT_INDEX(at, i), json_array_get(j, i), &seen, (uint32_t) i, &p->rules[i]))
			return -1;
	}
	return 0;
}
