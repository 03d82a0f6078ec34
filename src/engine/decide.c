/* SPDX-License-Identifier: GPL-2.0-or-later */
/* decide.c - the steps of a decision, in their order. */
#include "engine/subject.h"

#include <stdio.h>
#include <string.h>

static enum clf_step step_policy(struct clf_subject *s)
{
	if (s->site)
		return CLF_STEP_NEXT;
	clf_refuse(s, clf_builtin_id(CLF_RULE_NO_POLICY),
		   "no policy is in force, so the class of the job cannot be told");
	return clf_advise(s, "try again later; if it lasts, tell the administrators of the cluster");
}

static enum clf_step step_allow(struct clf_subject *s)
{
	struct clf_decision *d = s->d;
	const char *zone = d->terms.zone;

	d->allow = true;
	d->rule = strdup(s->permit && d->flagged ? s->permit->id : clf_builtin_id(CLF_RULE_DEFAULT));
	if (asprintf(&d->reason, "class %s%s%s%s%s", d->cls, d->grant ? ", grant " : "", d->grant ? d->grant : "",
		     zone ? ", zone " : "", zone ? zone : "") < 0)
		d->reason = NULL;
	d->advice = strdup("");
	if (d->rule && d->reason && d->advice)
		return CLF_STEP_NEXT;
	clf_fail(s->err, CLF_E_NOMEM, "out of memory");
	return CLF_STEP_ERROR;
}

static enum clf_step run(struct clf_subject *s)
{
	static enum clf_step (*const steps[])(struct clf_subject *) = {
		step_policy,    /* nothing can be told without one */
		clf_step_job,   /* is the job's form such that it can be judged */
		clf_step_class, /* how high is it */
		clf_step_grant, /* is the grant it names its own and good for that class */
		clf_step_rules, /* does the site want it */
		clf_step_zone,  /* can it run where it must */
		clf_step_terms, /* what it is bound to */
		step_allow,
	};

	for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
		enum clf_step step = steps[i](s);

		if (step != CLF_STEP_NEXT)
			return step;
	}
	return CLF_STEP_NEXT;
}

static int begin(struct clf_subject *s, const struct clf_site *site, const struct clf_job *job, struct clf_error *err)
{
	*s = (struct clf_subject){ .site = site, .policy = site ? site->policy : NULL, .job = job, .err = err };
	s->d = calloc(1, sizeof *s->d);
	if (!s->d)
		return clf_fail(err, CLF_E_NOMEM, "out of memory");
	s->d->cls = "unknown";
	s->d->flagged = true; /* until the class is told */
	return 0;
}

static void end(struct clf_subject *s)
{
	clf_strv_done(&s->partitions);
	clf_bitmap_destroy(s->excluded);
	clf_decision_destroy(s->d);
}

int clf_decide(const struct clf_site *site, const struct clf_job *job, struct clf_decision **out, struct clf_error *err)
{
	CLF_CLEANUP(end) struct clf_subject s;

	if (begin(&s, site, job, err) || run(&s) == CLF_STEP_ERROR)
		return -1;
	*out = CLF_STEAL(s.d);
	return 0;
}

int clf_explain_rules(const struct clf_site *site, const struct clf_job *job, clf_explain_f *tell, void *arg,
		      struct clf_error *err)
{
	CLF_CLEANUP(end) struct clf_subject s;
	enum clf_step step;

	if (begin(&s, site, job, err))
		return -1;
	/* a refused grant says no purpose; the rules are told all the same */
	if ((step = clf_step_job(&s)) == CLF_STEP_NEXT && (step = clf_step_class(&s)) == CLF_STEP_NEXT)
		step = clf_step_grant(&s);
	if (step == CLF_STEP_ERROR)
		return -1;
	for (uint32_t i = 0; i < s.policy->nrules; i++) {
		uint64_t partitions;

		tell(arg, &s.policy->rules[i], clf_rule_match(&s, &s.policy->rules[i], &partitions));
	}
	return 0;
}
