/* SPDX-License-Identifier: GPL-2.0-or-later */
/* policy_grant.c - "grants": which data, for what purpose, by whom, until when. */
#include "policy/parse.h"

#include <string.h>

#include "base/clock.h"
#include "topo/topo.h"

void clf_policy_grant_done(struct clf_policy_grant *g)
{
	free(g->id);
	free(g->cls);
	free(g->purpose);
	free(g->fiduciary);
	free(g->contract);
	free(g->basis);
	clf_strv_done(&g->datasets);
	clf_strv_done(&g->accounts);
	clf_strv_done(&g->users);
	clf_strv_done(&g->partitions);
}

/* Sections of the Act that allow processing: consent, listed uses, parents' consent, exemptions, research. */
static int read_basis(const struct clf_parse *ctx, const struct clf_at *at, const json_t *j, char **out)
{
	static const char *const words[] = {
		"s6-consent", "s7-a",    "s7-b",    "s7-c",    "s7-d",          "s7-e",
		"s7-f",       "s7-g",    "s7-h",    "s7-i",    "s9-1-parental", "s17-1-a",
		"s17-1-b",    "s17-1-c", "s17-1-d", "s17-1-e", "s17-1-f",       "s17-2-b",
	};
	const size_t n = sizeof words / sizeof *words;
	const char *near;

	if (clf_parse_word(ctx, at, j, "basis", out))
		return -1;
	for (size_t i = 0; i < n; i++)
		if (!strcmp(*out, words[i]))
			return 0;
	near = clf_suggest(*out, words, n);
	if (near)
		return clf_parse_fail(ctx, at, "unknown basis '%s'; did you mean '%s'?", *out, near);
	return clf_parse_fail(ctx, at, "unknown basis '%s': such as s6-consent, s7-a to s7-i, s17-2-b", *out);
}

static int read_time(const struct clf_parse *ctx, const struct clf_at *at, const json_t *j, int64_t *out)
{
	struct clf_error why = { 0 };

	if (clf_time_parse(json_string_value(j), out, &why))
		return clf_parse_fail(ctx, at, "bad date '%s': give UTC as 2026-06-01T00:00:00Z", json_string_value(j));
	return 0;
}

static int read_valid(const struct clf_parse *ctx, const struct clf_at *at, json_t *j, struct clf_policy_grant *g)
{
	json_t *from, *until;
	const struct clf_json_key keys[] = {
		{ "from", JSON_STRING, true, &from },
		{ "until", JSON_STRING, true, &until },
	};

	if (clf_parse_object(ctx, at, j, keys, sizeof keys / sizeof *keys) ||
	    read_time(ctx, CLF_AT_KEY(at, "from"), from, &g->from_ms) ||
	    read_time(ctx, CLF_AT_KEY(at, "until"), until, &g->until_ms))
		return -1;
	if (g->until_ms <= g->from_ms)
		return clf_parse_fail(ctx, CLF_AT_KEY(at, "until"),
				      "grant ends before it begins: 'until' must be later than 'from'");
	return 0;
}

static int read_allow(const struct clf_parse *ctx, const struct clf_at *at, json_t *j, struct clf_policy_grant *g)
{
	json_t *accounts, *users, *partitions, *max_nodes;
	const struct clf_json_key keys[] = {
		{ "accounts", JSON_ARRAY, false, &accounts },
		{ "users", JSON_ARRAY, false, &users },
		{ "partitions", JSON_ARRAY, false, &partitions },
		{ "max_nodes", JSON_INTEGER, false, &max_nodes },
	};

	if (clf_parse_object(ctx, at, j, keys, sizeof keys / sizeof *keys) ||
	    clf_parse_accounts(ctx, CLF_AT_KEY(at, "accounts"), accounts, &g->accounts) ||
	    clf_parse_users(ctx, CLF_AT_KEY(at, "users"), users, &g->users) ||
	    clf_parse_words(ctx, CLF_AT_KEY(at, "partitions"), partitions, "partition", &g->partitions) ||
	    (max_nodes && clf_parse_u32(ctx, CLF_AT_KEY(at, "max_nodes"), max_nodes, 1, CLF_MAX_NODES, &g->max_nodes)))
		return -1;
	if (!g->accounts.n && !g->users.n)
		return clf_parse_fail(ctx, at, "grant for everybody: name 'accounts', 'users' or both");
	return 0;
}

static int read_grant(const struct clf_parse *ctx, const struct clf_at *at, json_t *j, uint32_t index,
		      struct clf_policy_grant *g)
{
	json_t *id, *cls, *purpose, *fiduciary, *contract, *basis, *datasets, *valid, *allow, *revoked, *version;
	const struct clf_json_key keys[] = {
		{ "id", JSON_STRING, true, &id },
		{ "class", JSON_STRING, true, &cls },
		{ "purpose", JSON_STRING, true, &purpose },
		{ "fiduciary", JSON_STRING, true, &fiduciary },
		{ "contract", JSON_STRING, true, &contract },
		{ "basis", JSON_STRING, true, &basis },
		{ "datasets", JSON_ARRAY, true, &datasets },
		{ "valid", JSON_OBJECT, true, &valid },
		{ "allow", JSON_OBJECT, true, &allow },
		{ "revoked", JSON_TRUE, false, &revoked },
		{ "version", JSON_INTEGER, false, &version },
	};
	uint32_t level;

	g->version = 1;
	if (clf_parse_object(ctx, at, j, keys, sizeof keys / sizeof *keys) ||
	    clf_parse_id(ctx, CLF_AT_KEY(at, "id"), id, "grant id", &ctx->policy->grant_of, index, &g->id) ||
	    clf_parse_class(ctx, CLF_AT_KEY(at, "class"), cls, &level) ||
	    clf_parse_word(ctx, CLF_AT_KEY(at, "class"), cls, "class", &g->cls) ||
	    clf_parse_word(ctx, CLF_AT_KEY(at, "purpose"), purpose, "purpose", &g->purpose) ||
	    clf_parse_word(ctx, CLF_AT_KEY(at, "fiduciary"), fiduciary, "fiduciary", &g->fiduciary) ||
	    clf_parse_word(ctx, CLF_AT_KEY(at, "contract"), contract, "contract", &g->contract) ||
	    read_basis(ctx, CLF_AT_KEY(at, "basis"), basis, &g->basis) ||
	    clf_parse_words(ctx, CLF_AT_KEY(at, "datasets"), datasets, "dataset", &g->datasets) ||
	    read_valid(ctx, CLF_AT_KEY(at, "valid"), valid, g) || read_allow(ctx, CLF_AT_KEY(at, "allow"), allow, g) ||
	    (version && clf_parse_u32(ctx, CLF_AT_KEY(at, "version"), version, 1, UINT32_MAX, &g->version)))
		return -1;
	g->revoked = json_is_true(revoked);
	return 0;
}

int clf_parse_grants(const struct clf_parse *ctx, const struct clf_at *at, json_t *j)
{
	struct clf_policy *p = ctx->policy;
	size_t n = json_array_size(j);

	if (n > CLF_POLICY_MAX_GRANTS)
		return clf_parse_fail(ctx, at, "%zu grants, at most %d", n, CLF_POLICY_MAX_GRANTS);
	p->grants = calloc(n + 1, sizeof *p->grants);
	if (!p->grants)
		return clf_fail(ctx->err, CLF_E_NOMEM, "out of memory");
	for (size_t i = 0; i < n; i++) {
		p->ngrants++;
		if (read_grant(ctx, CLF_AT_INDEX(at, i), json_array_get(j, i), (uint32_t) i, &p->grants[i]))
			return -1;
	}
	return 0;
}
