/* SPDX-License-Identifier: GPL-2.0-or-later */
/* policy_class.c - "classes": the levels, and "floors": the class an account or partition cannot go below. */
#include "policy/parse.h"

#include <string.h>

static int read_levels(const struct clf_parse *ctx, const struct clf_at *at, const json_t *j)
{
	struct clf_policy *p = ctx->policy;
	size_t n = json_array_size(j);

	if (!n)
		return clf_parse_fail(ctx, at, "no levels: name the classes, lowest first");
	if (n > CLF_POLICY_MAX_LEVELS)
		return clf_parse_fail(ctx, at, "%zu levels, at most %d", n, CLF_POLICY_MAX_LEVELS);
	for (size_t i = 0; i < n; i++) {
		CLF_AUTO_FREE char *word = NULL;
		const struct clf_at *here = CLF_AT_INDEX(at, i);
		uint32_t first;

		if (clf_parse_word(ctx, here, json_array_get(j, i), "class", &word))
			return -1;
		if (!strcmp(word, "unknown"))
			return clf_parse_fail(ctx, here,
					      "class 'unknown' is reserved for jobs whose class cannot be told");
		if (clf_strmap_find(&p->level_of, word, &first))
			return clf_parse_fail(ctx, here, "duplicate class '%s'", word);
		if (clf_strv_add(&p->levels, word, ctx->err) ||
		    clf_strmap_add(&p->level_of, p->levels.v[i], (uint32_t) i, ctx->err))
			return -1;
	}
	return 0;
}

int clf_parse_classes(const struct clf_parse *ctx, const struct clf_at *at, json_t *j)
{
	json_t *levels, *def, *flagged;
	const struct clf_json_key keys[] = {
		{ "levels", JSON_ARRAY, true, &levels },
		{ "default", JSON_STRING, true, &def },
		{ "flagged_from", JSON_STRING, true, &flagged },
	};

	if (clf_parse_object(ctx, at, j, keys, sizeof keys / sizeof *keys) ||
	    read_levels(ctx, CLF_AT_KEY(at, "levels"), levels) ||
	    clf_parse_class(ctx, CLF_AT_KEY(at, "default"), def, &ctx->policy->default_level))
		return -1;
	return clf_parse_class(ctx, CLF_AT_KEY(at, "flagged_from"), flagged, &ctx->policy->flagged_level);
}

static int read_floor(const struct clf_parse *ctx, const struct clf_at *at, json_t *j, bool account,
		      struct clf_strmap *out)
{
	const char *name;
	json_t *cls;

	json_object_foreach(j, name, cls)
	{
		const struct clf_at *here = CLF_AT_KEY(at, name);
		uint32_t level;

		if (clf_parse_check_word(ctx, here, name, strlen(name), account ? "account" : "partition") ||
		    (account && clf_parse_check_account(ctx, here, name)) || clf_parse_class(ctx, here, cls, &level) ||
		    clf_strmap_add(out, name, level, ctx->err))
			return -1;
	}
	return 0;
}

int clf_parse_floors(const struct clf_parse *ctx, const struct clf_at *at, json_t *j)
{
	json_t *accounts, *partitions;
	const struct clf_json_key keys[] = {
		{ "accounts", JSON_OBJECT, false, &accounts },
		{ "partitions", JSON_OBJECT, false, &partitions },
	};

	if (clf_parse_object(ctx, at, j, keys, sizeof keys / sizeof *keys) ||
	    read_floor(ctx, CLF_AT_KEY(at, "accounts"), accounts, true, &ctx->policy->account_floor))
		return -1;
	return read_floor(ctx, CLF_AT_KEY(at, "partitions"), partitions, false, &ctx->policy->partition_floor);
}
