/* SPDX-License-Identifier: GPL-2.0-or-later */
/* decide.h - one job, the policy and the site: allowed or not, and on what terms.
 *
 * The same function answers submit, modify, start and `closfold policy explain`: a modified or restarted job meets the
 * rule that a new one met. Linked into slurmctld: no I/O, no clock (now_ms is handed in), no globals, nothing but the
 * arena of the result is allocated; target p99 under 200 us at 10,000 nodes.
 *
 * Class of a job = the highest of: what it claims, what it had before (modify, start), the class of the grant it names,
 * the floors of its account and of every partition it may run in. No claim is not "public": it is
 * policy.classes.default, raised. Unknown class, unknown partition or account where a rule or floor needs one, or no
 * policy at all: denied for flagged, and for a job whose class cannot be told. A grant that is named is checked for
 * unflagged jobs too.
 *
 * Memory: the decision is owned (clf_decision_destroy); its strings live with it, but for those said to be borrowed
 * from policy or site. Errors: -1 only when memory ends (the caller then denies); a refusal is a decision with allow ==
 * false. Source: docs/formats/policy.md.
 */
#ifndef CLF_ENGINE_DECIDE_H
#define CLF_ENGINE_DECIDE_H

#include <stdbool.h>
#include <stdint.h>

#include "policy/policy.h"
#include "topo/topo.h"

/* A zone as this cluster has it: who is outside. Made by the Slurm glue from the node table, by tools from a topology.
 */
struct clf_zone_view {
	const char *name;
	char *exclude;              /* owned: host expression of every cluster node outside the zone; "" when none is */
	struct clf_bitmap *members; /* owned: cluster nodes (index of name_of) inside the zone */
	struct clf_bitmap *eligible; /* owned: topology node ids inside the zone; NULL without a topology */
	uint32_t n_nodes;            /* cluster nodes inside */
	bool covered;                /* the topology places every one of them: req_switch can be told */
};
struct clf_site {
	const struct clf_policy *policy; /* borrowed */
	const struct clf_topo *topo;     /* borrowed; NULL = none */
	struct clf_zone_view *zones;     /* owned array, one a zone of the policy, same index */
	uint32_t nzones;
	uint32_t n_cluster_nodes;
	struct clf_strmap index_of; /* cluster node name to index */
	uint32_t *topo_id; /* owned: cluster node index to topology node id or CLF_NONE; NULL without a topology */
};
/* name_of and has_feature are asked during the call only; the names are copied. A zone by features needs has_feature
 * (else CLF_E_INVALID). The same name twice is CLF_E_CONFLICT. */
CLF_MUST_USE int clf_site_make(const struct clf_policy *policy, const struct clf_topo *topo, uint32_t n_cluster_nodes,
			       const char *(*name_of)(void *arg, uint32_t i),
			       bool (*has_feature)(void *arg, uint32_t i, const char *feature), void *arg,
			       struct clf_site **out, struct clf_error *err);
void clf_site_destroy(struct clf_site *s);
CLF_DEFINE_CLEANUP(struct clf_site, clf_site_destroy)

/* What is known of a job. NULL or 0 = not given. Every string may be hostile. */
struct clf_job {
	uint32_t uid;
	const char *user;    /* NULL when the uid has no name */
	const char *account; /* with the user's default filled in: Slurm does that after job_submit, so the caller must
				before */
	bool accountless;    /* account NULL means none at all (cluster without accounting), not "unknown": no floor
				applies */
	const char *partition; /* may be "a,b"; with the default partition filled in */
	const char *qos;
	const char *claim_class; /* --data-class */
	const char *claim_grant; /* --data-grant */
	const char *had_class;   /* stamped before: the class never goes down in a job's life */
	const char *had_grant;
	uint32_t min_nodes, max_nodes;     /* 0 = unknown */
	const char *req_nodes, *exc_nodes; /* host expressions */
	const char *nodes;                 /* at start: the allocation; must lie in the zone */
	uint32_t req_switch;               /* user's --switches, 0 = none */
	bool het_component, het_leader, array, interactive;
	int64_t now_ms;
};

struct clf_terms {
	bool exclusive;
	const char *zone;       /* borrowed from policy; NULL = none */
	const char *exclude;    /* borrowed from site: exc_nodes must contain all of it; NULL or "" = none */
	const char *licence;    /* borrowed: "closfold_key:1"; NULL = none */
	uint32_t req_switch;    /* leaves at most, 0 = do not set */
	uint32_t switch_wait_s; /* 0 = do not set */
	uint32_t max_nodes;     /* the grant's limit, where the job gave no max_nodes; 0 = do not set */
};

#define CLF_N_RAISED 4

struct clf_decision {
	bool allow;
	bool flagged;    /* class at or above policy.classes.flagged_from */
	char id[33];     /* random hex, set by the caller with clf_decision_new_id(); "" before */
	const char *cls; /* borrowed from policy, "unknown" when it cannot be told */
	char *grant;     /* owned or NULL */
	char *rule;      /* owned: id of the rule or built-in that decided: "grant-missing", "zone-1" */
	char *reason;    /* owned: one sentence, safe characters only */
	char *advice;    /* owned: what to do; never empty on a refusal */
	const char *raised[CLF_N_RAISED + 1]; /* what put the class above the claim, NULL-terminated: "had-class",
						 "grant-class", "account-floor", "partition-floor" */
	struct clf_terms terms;
};

/* site NULL = no policy in force: denied, rule "no-policy". */
CLF_MUST_USE int clf_decide(const struct clf_site *site, const struct clf_job *job, struct clf_decision **out,
			    struct clf_error *err);
void clf_decision_destroy(struct clf_decision *d);
CLF_DEFINE_CLEANUP(struct clf_decision, clf_decision_destroy)

/* Every rule of the policy, in file order, and whether it speaks of this job. Unknown: it depends on what is not known
 * of the job. For `closfold policy explain`: does not decide, and goes on after a forbid. */
enum clf_match { CLF_MATCH_NO, CLF_MATCH_YES, CLF_MATCH_UNKNOWN };
typedef void clf_explain_f(void *arg, const struct clf_policy_rule *rule, enum clf_match match);
CLF_MUST_USE int clf_explain_rules(const struct clf_site *site, const struct clf_job *job, clf_explain_f *tell,
				   void *arg, struct clf_error *err);

/* 32 hex digits from getrandom(2). */
CLF_MUST_USE int clf_decision_new_id(char id[33], struct clf_error *err);

/* The one text of a refusal, as sbatch, CLI and log show it; lines separated by '\n', no trailing one. Owned; NULL when
 * memory ends. */
char *clf_decision_text(const struct clf_decision *d);

#endif
