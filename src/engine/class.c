/* SPDX-License-Identifier: GPL-2.0-or-later */
/* class.c - what is known of the job, and from it its class. */
#include "engine/subject.h"

#include <stdio.h>
#include <string.h>

static enum clf_step invalid(struct clf_subject *s, const char *what, const char *advice)
{
	clf_refuse(s, clf_builtin_id(CLF_RULE_JOB_INVALID), "%s", what);
	return clf_advise(s, "%s", advice);
}

/* Slurm puts accounts into lower case, but after job_submit: "ACCT-X" would pass by the floor of "acct-x". */
static void take_account(struct clf_subject *s)
{
	const char *from = s->job->account;
	size_t n = 0;

	if (!from || !*from)
		return;
	for (; n < CLF_POLICY_WORD_MAX && from[n]; n++)
		s->account_buf[n] = from[n] >= 'A' && from[n] <= 'Z' ? (char) (from[n] - 'A' + 'a') : from[n];
	s->account = s->account_buf;
}

static enum clf_step split_partitions(struct clf_subject *s)
{
	const char *p = s->job->partition ? s->job->partition : "";

	while (*p) {
		size_t len = strcspn(p, ",");

		if (len > CLF_POLICY_WORD_MAX)
			return invalid(s, "the name of a partition is too long",
				       "give --partition a name that 'sinfo' shows");
		if (len && s->partitions.n == CLF_JOB_PARTITIONS_MAX)
			return invalid(s, "too many partitions", "give --partition fewer names: 64 at most");
		if (len && clf_strv_addn(&s->partitions, p, len, s->err))
			return CLF_STEP_ERROR;
		p += len + (p[len] == ',');
	}
	return CLF_STEP_NEXT;
}

enum clf_step clf_step_job(struct clf_subject *s)
{
	if (s->job->account && !clf_is_word(s->job->account))
		return invalid(s, "the name of the account is too long",
			       "give --account a name that 'sacctmgr show assoc' shows");
	take_account(s);
	return split_partitions(s);
}

const char *clf_job_grant(const struct clf_job *job)
{
	const char *id = job->claim_grant ? job->claim_grant : job->had_grant;

	return id && *id ? id : NULL;
}

static enum clf_step unknown_class(struct clf_subject *s, const char *name, bool claimed)
{
	const struct clf_strv *levels = &s->policy->levels;
	const char *near = clf_is_word(name) ? clf_suggest(name, (const char *const *) levels->v, levels->n) : NULL;
	const char *id = clf_builtin_id(CLF_RULE_CLASS_UNKNOWN);
	char list[CLF_POLICY_MAX_LEVELS * (CLF_POLICY_WORD_MAX + 2) + 1] = "";
	size_t len = 0;

	for (size_t i = 0; i < levels->n; i++)
		len += (size_t) snprintf(list + len, sizeof list - len, "%s%s", i ? ", " : "", levels->v[i]);
	if (!claimed)
		clf_refuse(s, id, "the job was given class '%s', which the policy does not know any more",
			   CLF_SAFE(name));
	else if (!*name)
		clf_refuse(s, id, "the class of the job is empty");
	else
		clf_refuse(s, id, "the policy knows no class '%s'", CLF_SAFE(name));
	if (!claimed)
		return clf_advise(s, "submit the job again; classes are: %s", list);
	if (near)
		return clf_advise(s, "did you mean --data-class=%s? classes are: %s", near, list);
	return clf_advise(s, "give --data-class=CLASS; classes are: %s", list);
}

/* Each source of the class, as found: CLF_NONE = it says nothing. */
struct sources {
	uint32_t claim, had, grant, account, partition;
};

static enum clf_step named(struct clf_subject *s, const char *name, bool claimed, uint32_t *level)
{
	if (!name || (!claimed && !*name))
		return CLF_STEP_NEXT;
	if (!clf_is_word(name) || !clf_strmap_find(&s->policy->level_of, name, level))
		return unknown_class(s, name, claimed);
	return CLF_STEP_NEXT;
}

static void grant_class(const struct clf_subject *s, uint32_t *level)
{
	const char *id = clf_job_grant(s->job);
	uint32_t g;

	if (clf_is_word(id) && clf_strmap_find(&s->policy->grant_of, id, &g))
		clf_strmap_find(&s->policy->level_of, s->policy->grants[g].cls, level);
}

static enum clf_step floors(struct clf_subject *s, struct sources *src)
{
	const struct clf_policy *p = s->policy;

	if (s->account)
		clf_strmap_find(&p->account_floor, s->account, &src->account);
	else if (p->account_floor.n && !s->job->accountless) {
		clf_refuse(s, clf_builtin_id(CLF_RULE_ACCOUNT_UNKNOWN),
			   "the class depends on the account, and the job has none");
		return clf_advise(s, "add --account=NAME");
	}
	for (size_t i = 0; i < s->partitions.n; i++) {
		uint32_t level;

		if (clf_strmap_find(&p->partition_floor, s->partitions.v[i], &level) &&
		    (src->partition == CLF_NONE || level > src->partition))
			src->partition = level;
	}
	if (!s->partitions.n && p->partition_floor.n) {
		clf_refuse(s, clf_builtin_id(CLF_RULE_PARTITION_UNKNOWN),
			   "the class depends on the partition, and the job has none");
		return clf_advise(s, "add --partition=NAME");
	}
	return CLF_STEP_NEXT;
}

static void raise_to(struct clf_subject *s, uint32_t base, uint32_t level, const char *word, size_t *n)
{
	if (level == CLF_NONE || level <= base)
		return;
	s->d->raised[(*n)++] = word;
	if (level > s->level)
		s->level = level;
}

enum clf_step clf_step_class(struct clf_subject *s)
{
	struct sources src = { CLF_NONE, CLF_NONE, CLF_NONE, CLF_NONE, CLF_NONE };
	enum clf_step step;
	uint32_t base;
	size_t n = 0;

	if ((step = named(s, s->job->claim_class, true, &src.claim)) ||
	    (step = named(s, s->job->had_class, false, &src.had)) || (step = floors(s, &src)))
		return step;
	grant_class(s, &src.grant);
	/* the default is for a job that nobody has said anything of */
	base = src.claim != CLF_NONE ? src.claim : src.had != CLF_NONE ? src.had : s->policy->default_level;
	s->level = base;
	raise_to(s, base, src.had, "had-class", &n);
	raise_to(s, base, src.grant, "grant-class", &n);
	raise_to(s, base, src.account, "account-floor", &n);
	raise_to(s, base, src.partition, "partition-floor", &n);
	s->d->cls = s->policy->levels.v[s->level];
	s->d->flagged = s->level >= s->policy->flagged_level;
	return CLF_STEP_NEXT;
}
