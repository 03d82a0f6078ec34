/* SPDX-License-Identifier: GPL-2.0-or-later */
/* policy.h - the admin's policy: classes, zones, floors, rules, grants, terms. Format "closfold-policy/1",
 * docs/formats/policy.md.
 *
 * Immutable once loaded. A file with any error is refused whole: CLF_E_PARSE with file, line and column.
 * Memory: owned by who loaded it; pointers got from it are borrowed.
 */
#ifndef CLF_POLICY_POLICY_H
#define CLF_POLICY_POLICY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/json.h"
#include "base/strmap.h"
#include "base/strv.h"

#define CLF_POLICY_MAX_BYTES  (64u << 20)
#define CLF_POLICY_WORD_MAX   64  /* ids, class, zone, account, partition names: [A-Za-z0-9._:/-], first no '-' */
#define CLF_POLICY_TEXT_MAX   300 /* bytes of a message */
#define CLF_POLICY_MAX_LEVELS 16
#define CLF_POLICY_MAX_ZONES  64
#define CLF_POLICY_MAX_RULES  10000
#define CLF_POLICY_MAX_GRANTS 100000
#define CLF_POLICY_MAX_LIST   10000 /* words of one list */

enum clf_effect { CLF_PERMIT, CLF_FORBID };

struct clf_policy_zone {
	char *name;
	char *nodes;              /* host expression or NULL */
	struct clf_strv features; /* a node with all of them belongs; either nodes or features is given */
	struct clf_strmap hosts;  /* nodes, expanded */
};

/* What is imposed on jobs of a class. */
struct clf_policy_terms {
	char *cls;
	char *zone;     /* NULL = none; a flagged class must have one */
	bool exclusive; /* flagged classes: must be true */
	char *licence;  /* as Slurm takes it: "closfold_key:1"; NULL = none */
	bool switches;  /* set req_switch from topology */
	uint32_t switch_slack, switch_wait_s;
};

/* Forbid overrides permit; a flagged job needs a permit. Empty list = any. Word lists of rules and grants are sorted by
 * strcmp and hold no word twice: ask them with clf_policy_has(). */
struct clf_policy_rule {
	char *id;
	enum clf_effect effect;
	struct clf_strv classes, accounts, users, partitions, purposes;
	char *message; /* forbid: required */
	struct clf_strv cites;
};

struct clf_policy_grant {
	char *id, *cls, *purpose, *fiduciary, *contract, *basis;
	struct clf_strv datasets, accounts, users, partitions;
	uint32_t max_nodes;        /* 0 = no limit */
	int64_t from_ms, until_ms; /* [from, until) */
	bool revoked;
	uint32_t version;
};

struct clf_policy {
	char *id;
	uint32_t version;
	struct clf_strv levels; /* lowest first */
	uint32_t default_level, flagged_level;
	struct clf_policy_zone *zones;
	uint32_t nzones;
	struct clf_policy_terms *terms; /* one a level, cls NULL where none is given */
	struct clf_policy_rule *rules;
	uint32_t nrules;
	struct clf_policy_grant *grants;
	uint32_t ngrants;
	struct clf_strmap account_floor, partition_floor; /* value: level */
	struct clf_strmap level_of, zone_of, grant_of;    /* name to index */
};

/* Binary search in a list of a rule or grant; word may be hostile, NULL is never in. */
bool clf_policy_has(const struct clf_strv *sorted, const char *word);

CLF_MUST_USE int clf_policy_load(const char *path, struct clf_policy **out, struct clf_error *err);
CLF_MUST_USE int clf_policy_from_text(struct clf_text *text /* stolen */, struct clf_policy **out,
				      struct clf_error *err);
void clf_policy_destroy(struct clf_policy *p);
CLF_DEFINE_CLEANUP(struct clf_policy, clf_policy_destroy)

#endif
