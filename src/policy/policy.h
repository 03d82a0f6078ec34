/* SPDX-License-Identifier: GPL-2.0-or-later */
/* policy.h - the admin's policy: classes, zones, floors, rules, grants, terms. Format "closfold-policy/1", docs/formats/policy.md.
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

#define CLF_POLICY_MAX_BYTES (64u << 20)
#define CLF_POLICY_WORD_MAX 64 /* ids, class, zone, account, partition names: [A-Za-z0-9._:/-] */

enum clf_effect { CLF_PERMIT, CLF_FORBID };

struct clf_policy_zone {
	char *name;
	char *nodes;		  /* host expression or NULL */
	struct clf_strv features; /* a node with all of them belongs; either nodes or features is given */
};

/* What is imposed on jobs of a class. */
struct clf_policy_terms {
	char *cls;
	char *zone;	/* NULL = none; a flagged class must have one */
	bool exclusive; /* flagged classes: must be true */
	char *licence;	/* name, NULL = none */
	bool switches;	/* set req_switch from topology */
	uint32_t switch_slack, switch_wait_s;
};

/* First the forbids, then the permits; a flagged job needs a permit. Empty list = any. */
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
	uint32_t max_nodes;	       /* 0 = no limit */
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
	struct clf_strmap level_of, zone_of, grant_of;	  /* name to index */
};

CLF_MUST_USE int clf_policy_load(const char *path, struct clf_policy **out, struct clf_error *err);
CLF_MUST_USE int clf_policy_from_text(struct clf_text *text /* stolen */, struct clf_policy **out, struct clf_error *err);
void clf_policy_destroy(struct clf_policy *p);
CLF_DEFINE_CLEANUP(struct clf_policy, clf_policy_destroy)

#endif
