/* SPDX-License-Identifier: GPL-2.0-or-later */
/* grant.c - does the grant that a job names cover it.
 *
 * Who may use a grant is looked at before anything else of it, so that a stranger learns no more than that an id is
 * taken.
 */
#include "engine/subject.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"

#define HINTS_MAX 5

/* What is wrong with a grant for this job, in the order it is told. */
enum fault { GOOD, BAD_USER, BAD_ACCOUNT, REVOKED, NOT_YET, EXPIRED, BAD_PARTITION, BAD_CLASS, BAD_NODES };

/* The job's first partition that is (in) or is not (!in) one of the grant's; NULL = none. */
static const char *partition_where(const struct clf_subject *s, const struct clf_policy_grant *g, bool in)
{
	for (size_t i = 0; i < s->partitions.n; i++)
		if (clf_policy_has(&g->partitions, s->partitions.v[i]) == in)
			return s->partitions.v[i];
	return NULL;
}

static bool outside_partitions(const struct clf_subject *s, const struct clf_policy_grant *g)
{
	return g->partitions.n && (!s->partitions.n || partition_where(s, g, false));
}

static uint32_t nodes_asked(const struct clf_job *job)
{
	return job->max_nodes > job->min_nodes ? job->max_nodes : job->min_nodes;
}

static enum fault find_fault(const struct clf_subject *s, const struct clf_policy_grant *g)
{
	uint32_t level = 0;

	if (g->users.n && !clf_policy_has(&g->users, s->job->user))
		return BAD_USER;
	if (g->accounts.n && !clf_policy_has(&g->accounts, s->account))
		return BAD_ACCOUNT;
	if (g->revoked)
		return REVOKED;
	if (s->job->now_ms < g->from_ms)
		return NOT_YET;
	if (s->job->now_ms >= g->until_ms)
		return EXPIRED;
	if (outside_partitions(s, g))
		return BAD_PARTITION;
	if (!clf_strmap_find(&s->policy->level_of, g->cls, &level) || level < s->level)
		return BAD_CLASS;
	if (g->max_nodes && nodes_asked(s->job) > g->max_nodes)
		return BAD_NODES;
	return GOOD;
}

/* Grants that this job could name, and no others: "grants for account acct-health: G-17, G-18". */
static void hints(const struct clf_subject *s, char *buf, size_t size)
{
	const char *account = s->account ? s->account : "";
	uint32_t found = 0;
	size_t len;

	len = (size_t) snprintf(buf, size, "%s%s: ", *account ? "grants for account " : "grants for you",
				*account ? CLF_SAFE(account) : "");
	for (uint32_t i = 0; i < s->policy->ngrants; i++) {
		const struct clf_policy_grant *g = &s->policy->grants[i];

		if (find_fault(s, g) != GOOD)
			continue;
		if (++found <= HINTS_MAX)
			len += (size_t) snprintf(buf + len, size - len, "%s%s", found > 1 ? ", " : "", g->id);
	}
	if (found > HINTS_MAX)
		snprintf(buf + len, size - len, " and %u more", found - HINTS_MAX);
	if (!found)
		snprintf(buf, size, "no grant fits you%s%s now: ask those who run the project for one",
			 *account ? " in account " : "", *account ? CLF_SAFE(account) : "");
}

static enum clf_step advise_hints(struct clf_subject *s, const char *first)
{
	char list[HINTS_MAX * (CLF_POLICY_WORD_MAX + 2) + 128];

	hints(s, list, sizeof list);
	return clf_advise(s, "%s; %s", first, list);
}

static const char *partition_with_floor(const struct clf_subject *s)
{
	uint32_t level;

	for (size_t i = 0; i < s->partitions.n; i++)
		if (clf_strmap_find(&s->policy->partition_floor, s->partitions.v[i], &level) && level == s->level)
			return s->partitions.v[i];
	return "";
}

/* Nobody said anything of the job, and what is known of it makes it flagged. */
static void refuse_unlabelled(struct clf_subject *s)
{
	const char *id = clf_builtin_id(CLF_RULE_LABEL_REQUIRED), *cls = s->d->cls;
	uint32_t level;

	if (!s->d->raised[0])
		clf_refuse(s, id, "a job without --data-class is taken as %s, and no grant was given", cls);
	else if (s->account && clf_strmap_find(&s->policy->account_floor, s->account, &level) && level == s->level)
		clf_refuse(s, id, "jobs of account %s are %s, and no grant was given", CLF_SAFE(s->account), cls);
	else
		clf_refuse(s, id, "jobs in partition %s are %s, and no grant was given",
			   CLF_SAFE(partition_with_floor(s)), cls);
}

static enum clf_step no_grant(struct clf_subject *s)
{
	const struct clf_job *job = s->job;
	char add[2 * CLF_POLICY_WORD_MAX];

	if (job->claim_class || (job->had_class && *job->had_class)) {
		clf_refuse(s, clf_builtin_id(CLF_RULE_GRANT_MISSING), "class %s needs a grant, and none was given",
			   s->d->cls);
		return advise_hints(s, "add --data-grant=ID");
	}
	refuse_unlabelled(s);
	snprintf(add, sizeof add, "add --data-class=%s --data-grant=ID", s->d->cls);
	return advise_hints(s, add);
}

static enum clf_step outside_scope(struct clf_subject *s, const struct clf_policy_grant *g, enum fault fault)
{
	const char *id = clf_builtin_id(CLF_RULE_GRANT_SCOPE), *in;

	if (fault == BAD_ACCOUNT) {
		if (s->account)
			clf_refuse(s, id, "grant %s is not for account %s", g->id, CLF_SAFE(s->account));
		else
			clf_refuse(s, id, "grant %s is for some accounts only, and the job has none", g->id);
		return advise_hints(s, "give the --account that the grant is for, or another grant");
	}
	if (fault == BAD_PARTITION) {
		if (s->partitions.n)
			clf_refuse(s, id, "grant %s is not for partition %s", g->id,
				   CLF_SAFE(partition_where(s, g, false)));
		else
			clf_refuse(s, id, "grant %s is for some partitions only, and that of the job is not known",
				   g->id);
		in = partition_where(s, g, true);
		return clf_advise(s, "give --partition=%s, or another grant", in ? in : g->partitions.v[0]);
	}
	if (fault == BAD_CLASS) {
		clf_refuse(s, id, "grant %s covers class %s, and the job is %s", g->id, g->cls, s->d->cls);
		return advise_hints(s, "give a grant for the class of the job");
	}
	clf_refuse(s, id, "grant %s allows %u nodes, and the job asks for up to %u", g->id, g->max_nodes,
		   nodes_asked(s->job));
	return clf_advise(s, "give --nodes=%u or fewer", g->max_nodes);
}

/* "2026-06-01T00:00:00Z" */
static const char *day(int64_t ms, char buf[32])
{
	clf_time_format(ms, buf, 32);
	if (strlen(buf) > 19)
		strcpy(buf + 19, "Z");
	return buf;
}

static enum clf_step refuse_grant(struct clf_subject *s, const struct clf_policy_grant *g, enum fault fault)
{
	char when[32];

	switch (fault) {
	case BAD_USER:
		if (s->job->user)
			clf_refuse(s, clf_builtin_id(CLF_RULE_GRANT_USER), "grant %s is not for user %s", g->id,
				   CLF_SAFE(s->job->user));
		else
			clf_refuse(s, clf_builtin_id(CLF_RULE_GRANT_USER),
				   "grant %s is for some users, and your uid has no name here", g->id);
		return advise_hints(s, "give a grant that is yours");
	case REVOKED:
		clf_refuse(s, clf_builtin_id(CLF_RULE_GRANT_REVOKED), "grant %s was revoked", g->id);
		return advise_hints(s, "give another grant");
	case NOT_YET:
		clf_refuse(s, clf_builtin_id(CLF_RULE_GRANT_NOT_YET), "grant %s is not valid before %s", g->id,
			   day(g->from_ms, when));
		return advise_hints(s, "submit then, or give another grant");
	case EXPIRED:
		clf_refuse(s, clf_builtin_id(CLF_RULE_GRANT_EXPIRED), "grant %s ended on %s", g->id,
			   day(g->until_ms, when));
		return advise_hints(s, "give another grant, or have this one renewed");
	default:
		return outside_scope(s, g, fault);
	}
}

enum clf_step clf_step_grant(struct clf_subject *s)
{
	const char *id = clf_job_grant(s->job);
	enum fault fault;
	uint32_t g;

	if (!id)
		return s->d->flagged ? no_grant(s) : CLF_STEP_NEXT;
	if (!clf_is_word(id) || !clf_strmap_find(&s->policy->grant_of, id, &g)) {
		clf_refuse(s, clf_builtin_id(CLF_RULE_GRANT_UNKNOWN), "there is no grant '%s'", CLF_SAFE(id));
		return advise_hints(s, "look at the id again");
	}
	fault = find_fault(s, &s->policy->grants[g]);
	if (fault != GOOD)
		return refuse_grant(s, &s->policy->grants[g], fault);
	s->grant = &s->policy->grants[g];
	s->d->grant = strdup(s->grant->id);
	if (s->d->grant)
		return CLF_STEP_NEXT;
	clf_fail(s->err, CLF_E_NOMEM, "out of memory");
	return CLF_STEP_ERROR;
}
