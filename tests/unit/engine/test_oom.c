/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Memory ends at every allocation of loading a policy, making a site and deciding: an error each time, nothing
 * half-made. */
#include <stdio.h>
#include <string.h>

#include "engine/decide.h"
#include "golden.h"
#include "oom.h"
#include "policy/conf.h"
#include "tap.h"
#include "topo/topo_synth.h"

struct fixture {
	const char *path;
	struct clf_policy *policy;
	struct clf_topo *topo;
	struct clf_site *site;
	struct clf_job job;
	bool allow;
};

/* With a failure 0 is right only when it was absorbed, and then the result must be whole. jansson takes some ends of
 * memory for wrong syntax. */
static bool told(int rc, const void *out, const struct clf_error *err)
{
	bool code = err->code == CLF_E_NOMEM || (err->code == CLF_E_PARSE && !strncmp(err->text, "not valid JSON", 14));

	return rc ? !out && code : out != NULL;
}

static bool run_load(void *arg, bool failed)
{
	CLF_CLEANUP(clf_policy_destroyp) struct clf_policy *p = NULL;
	const struct fixture *f = arg;
	struct clf_error err = { 0 };
	int rc = clf_policy_load(f->path, &p, &err);

	if (p && strcmp(p->rules[0].message, "profiling of children is not a permitted purpose"))
		return false;
	return told(rc, p, &err) && (failed || !rc);
}

static bool run_conf(void *arg, bool failed)
{
	CLF_CLEANUP(clf_conf_destroyp) struct clf_conf *c = NULL;
	const struct fixture *f = arg;
	struct clf_error err = { 0 };
	int rc = clf_conf_load(f->path, &c, &err);

	return told(rc, c, &err) && (failed || !rc);
}

static const char *name_of(void *arg, uint32_t i)
{
	return clf_topo_node(arg, i)->name;
}

static bool run_site(void *arg, bool failed)
{
	CLF_CLEANUP(clf_site_destroyp) struct clf_site *s = NULL;
	const struct fixture *f = arg;
	struct clf_error err = { 0 };
	int rc = clf_site_make(f->policy, f->topo, clf_topo_nnodes(f->topo), name_of, NULL, f->topo, &s, &err);

	return told(rc, s, &err) && (failed || !rc);
}

static bool run_decide(void *arg, bool failed)
{
	CLF_CLEANUP(clf_decision_destroyp) struct clf_decision *d = NULL;
	const struct fixture *f = arg;
	struct clf_error err = { 0 };
	int rc = clf_decide(f->site, &f->job, &d, &err);

	return told(rc, d, &err) && (failed || !rc) &&
	       (rc || (d->allow == f->allow && d->rule && d->reason && d->advice));
}

int main(void)
{
	struct fixture f = { .job = { .user = "asha",
				      .account = "acct-health",
				      .partition = "gpu",
				      .claim_class = "personal",
				      .claim_grant = "G-17",
				      .min_nodes = 4,
				      .exc_nodes = "n[1-2]",
				      .now_ms = INT64_C(1780000000000) },
			     .allow = true };
	struct clf_error err = { 0 };
	char policy[512], conf[512];

	if (!clf_test_require("oom", oom_available(), "a sanitizer has its own malloc"))
		return done_testing();
	snprintf(policy, sizeof policy, "%s/tests/policy/policy.json", clf_test_srcdir());
	snprintf(conf, sizeof conf, "%s/etc/closfold.conf.example", clf_test_srcdir());
	f.path = policy;
	oom_each("policy", run_load, &f);
	f.path = conf;
	oom_each("closfold.conf", run_conf, &f);
	if (!ok(!clf_policy_load(policy, &f.policy, &err) && !clf_topo_synth("leaf:4 node:4", &f.topo, &err) &&
			!clf_site_make(f.policy, f.topo, clf_topo_nnodes(f.topo), name_of, NULL, f.topo, &f.site, &err),
		"set up: %s", err.text))
		return done_testing();
	oom_each("site", run_site, &f);
	oom_each("decision: allowed", run_decide, &f);
	f.job.req_nodes = "n[3-6]";
	oom_each("decision: nodes named", run_decide, &f);
	f.allow = false;
	f.job.req_nodes = "n[7-12]";
	oom_each("decision: nodes outside", run_decide, &f);
	f.job.claim_grant = NULL;
	oom_each("decision: no grant", run_decide, &f);
	clf_site_destroy(f.site);
	clf_topo_destroy(f.topo);
	clf_policy_destroy(f.policy);
	return done_testing();
}
