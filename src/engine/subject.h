/* SPDX-License-Identifier: GPL-2.0-or-later */
/* subject.h - one decision in the making; private to src/engine.
 *
 * clf_decide() is a list of steps; each looks at one thing and either goes on or refuses. The order of the list is the
 * argument for its safety: what a refusal tells the user may use only what earlier steps have found to be the user's to
 * know.
 */
#ifndef CLF_ENGINE_SUBJECT_H
#define CLF_ENGINE_SUBJECT_H

#include "engine/decide.h"
#include "policy/builtin.h"

#define CLF_JOB_PARTITIONS_MAX 64 /* a bit each in a uint64_t */

enum clf_step { CLF_STEP_ERROR = -1, CLF_STEP_NEXT = 0, CLF_STEP_REFUSED = 1 };

struct clf_subject {
	const struct clf_site *site;
	const struct clf_policy *policy;
	const struct clf_job *job;
	struct clf_decision *d;
	struct clf_error *err;
	const char *account; /* in lower case, as Slurm will have it; NULL = none or unknown */
	char account_buf[CLF_POLICY_WORD_MAX + 1];
	struct clf_strv partitions; /* split; empty = unknown */
	uint32_t level;
	const struct clf_policy_grant *grant; /* valid for this job, or NULL */
	const struct clf_policy_rule *permit; /* the rule that lets a flagged job in */
	struct clf_bitmap *excluded;          /* cluster nodes of exc_nodes, or NULL; clf_decide() frees it */
};

/* A refusal is both, in this order: the reason, then what to do; the second tells whether memory was enough for both.
 * The %s of the formats come from CLF_SAFE() or the policy. */
void clf_refuse(struct clf_subject *s, const char *rule, const char *fmt, ...) CLF_PRINTF(3, 4);
enum clf_step clf_advise(struct clf_subject *s, const char *fmt, ...) CLF_PRINTF(2, 3);

/* A job's string for a text: at most 40 characters, everything but [A-Za-z0-9._:/@+,-] is '?'. */
struct clf_safe {
	char s[44];
};
const char *clf_safe(const char *s, struct clf_safe *buf);
#define CLF_SAFE(str) clf_safe((str), &(struct clf_safe){ { 0 } })

/* Is s short enough to be a word of a policy; NULL is not. */
bool clf_is_word(const char *s);

/* Does the rule speak of this job? *partitions: bit i set = of its partition i. Unknown: it would need what is not
 * known of the job. */
enum clf_match clf_rule_match(const struct clf_subject *s, const struct clf_policy_rule *r, uint64_t *partitions);

/* Steps. */
enum clf_step clf_step_job(struct clf_subject *s);
enum clf_step clf_step_class(struct clf_subject *s);
enum clf_step clf_step_grant(struct clf_subject *s);
enum clf_step clf_step_rules(struct clf_subject *s);
enum clf_step clf_step_zone(struct clf_subject *s);
enum clf_step clf_step_terms(struct clf_subject *s);

/* The grant a job names, whether it is known or not: NULL = none. */
const char *clf_job_grant(const struct clf_job *job);

/* Cluster nodes of a host expression as a set (owned) and, in outside, up to three names that are not in `members`.
 * *n_outside counts all of them. CLF_E_PARSE, CLF_E_NOMEM. */
CLF_MUST_USE int clf_site_nodes(const struct clf_site *site, const char *expr, const struct clf_bitmap *members,
				struct clf_bitmap **out, struct clf_strv *outside, uint32_t *n_outside,
				struct clf_error *err);

#endif
