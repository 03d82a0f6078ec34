/* SPDX-License-Identifier: GPL-2.0-or-later */
/* rules.c - the rules of the policy: forbid overrides permit, a flagged job needs a permit for each of its partitions.
 */
#include "engine/subject.h"

#include <stdio.h>
#include <string.h>

/* One condition: an empty list is any; a job without the attribute is not in the list, unless the attribute may yet
 * come. */
static enum clf_match in_list(const struct clf_strv *list, const char *word, bool may_come)
{
	if (!list->n)
		return CLF_MATCH_YES;
	if (!word)
		return may_come ? CLF_MATCH_UNKNOWN : CLF_MATCH_NO;
	return clf_policy_has(list, word) ? CLF_MATCH_YES : CLF_MATCH_NO;
}

static enum clf_match in_partitions(const struct clf_strv *list, const struct clf_strv *of_job, uint64_t *hit)
{
	*hit = 0;
	for (size_t i = 0; i < of_job->n; i++)
		if (!list->n || clf_policy_has(list, of_job->v[i]))
			*hit |= UINT64_C(1) << i;
	if (!of_job->n)
		return list->n ? CLF_MATCH_UNKNOWN : CLF_MATCH_YES;
	return *hit ? CLF_MATCH_YES : CLF_MATCH_NO;
}

enum clf_match clf_rule_match(const struct clf_subject *s, const struct clf_policy_rule *r, uint64_t *partitions)
{
	const enum clf_match parts[] = {
		in_partitions(&r->partitions, &s->partitions, partitions),
		in_list(&r->classes, s->d->cls, false),
		in_list(&r->accounts, s->account, !s->job->accountless),
		in_list(&r->users, s->job->user, true),
		in_list(&r->purposes, s->grant ? s->grant->purpose : NULL, false),
	};
	enum clf_match all = CLF_MATCH_YES;

	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
		if (parts[i] == CLF_MATCH_NO)
			return CLF_MATCH_NO;
		if (parts[i] == CLF_MATCH_UNKNOWN)
			all = CLF_MATCH_UNKNOWN;
	}
	return all;
}

static enum clf_step forbidden(struct clf_subject *s, const struct clf_policy_rule *r)
{
	if (r->cites.n)
		clf_refuse(s, r->id, "%s (%s)", r->message, r->cites.v[0]);
	else
		clf_refuse(s, r->id, "%s", r->message);
	return clf_advise(s, "this is a rule of the cluster; ask its administrators about rule %s", r->id);
}

/* A forbid that might speak of the job, once the missing attribute is known. */
static enum clf_step cannot_tell(struct clf_subject *s, const struct clf_policy_rule *r)
{
	const bool account = r->accounts.n && !s->account && !s->job->accountless,
		   user = !account && r->users.n && !s->job->user;
	enum clf_builtin rule = account ? CLF_RULE_ACCOUNT_UNKNOWN
				: user  ? CLF_RULE_USER_UNKNOWN
					: CLF_RULE_PARTITION_UNKNOWN;
	const char *what = account ? "account" : user ? "name of the user" : "partition";
	clf_refuse(s, clf_builtin_id(rule), "rule %s depends on the %s, which is not known", r->id, what);

	return clf_advise(s, "%s",
			  account ? "add --account=NAME"
			  : user  ? "ask the administrators: your uid has no user name here"
				  : "add --partition=NAME");
}

/* Flagged, and no rule lets it in, at least not into all of its partitions. */
static enum clf_step not_permitted(struct clf_subject *s, uint64_t permitted)
{
	const char *id = clf_builtin_id(CLF_RULE_DEFAULT);
	const char *account = s->account ? CLF_SAFE(s->account) : "none";
	size_t i = 0;

	while (i < s->partitions.n && permitted >> i & 1)
		i++;
	if (permitted)
		clf_refuse(s, id, "no rule permits class %s for account %s in partition %s", s->d->cls, account,
			   CLF_SAFE(s->partitions.v[i]));
	else
		clf_refuse(s, id, "no rule permits class %s for account %s", s->d->cls, account);
	if (permitted)
		return clf_advise(s, "give --partition only those that are permitted");
	return clf_advise(s, "look at --account, --partition and --data-grant, or ask the administrators for a rule");
}

enum clf_step clf_step_rules(struct clf_subject *s)
{
	const uint64_t all = s->partitions.n == 64 ? UINT64_MAX : (UINT64_C(1) << s->partitions.n) - 1;
	const struct clf_policy_rule *doubt = NULL;
	uint64_t permitted = 0;

	for (uint32_t i = 0; i < s->policy->nrules; i++) {
		const struct clf_policy_rule *r = &s->policy->rules[i];
		uint64_t hit;
		enum clf_match match = clf_rule_match(s, r, &hit);

		if (match == CLF_MATCH_YES && r->effect == CLF_FORBID)
			return forbidden(s, r);
		if (match == CLF_MATCH_UNKNOWN && r->effect == CLF_FORBID && !doubt)
			doubt = r;
		if (match == CLF_MATCH_YES && r->effect == CLF_PERMIT) {
			permitted |= hit;
			if (!s->permit)
				s->permit = r;
		}
	}
	if (!s->d->flagged)
		return CLF_STEP_NEXT; /* default permit; a rule that cannot be told is skipped */
	if (doubt)
		return cannot_tell(s, doubt);
	return s->permit && permitted == all ? CLF_STEP_NEXT : not_permitted(s, permitted);
}
