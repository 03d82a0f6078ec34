/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One file a decision, tests/policy/decide/<case>.json: {"policy"?, "topology"?, "cluster"?, "features"?, "job",
 * "expect"}. policy: absent = tests/policy/policy.json, null = none in force; cluster: host expression; features: name
 * to host expression; expect: the decision, with the text a user reads. UPDATE=1 rewrites "expect". */
#include <stdio.h>
#include <string.h>

#include "base/hostlist.h"
#include "engine/decide.h"
#include "golden.h"
#include "policy/builtin.h"
#include "tap.h"
#include "topo/topo_synth.h"

static bool seen[CLF_N_BUILTIN], seen_forbid, seen_allow;

struct cluster {
	struct clf_strv nodes;
	json_t *features; /* name to array of hosts */
};

static const char *name_of(void *arg, uint32_t i)
{
	return ((const struct cluster *) arg)->nodes.v[i];
}

static bool has_feature(void *arg, uint32_t i, const char *feature)
{
	const struct cluster *c = arg;
	struct clf_strv hosts = { 0 };
	const char *expr = json_string_value(json_object_get(c->features, feature));
	bool has = expr && !clf_hostlist_expand(expr, 1000, &hosts, NULL) && clf_strv_has(&hosts, c->nodes.v[i]);

	clf_strv_done(&hosts);
	return has;
}

static const char *str(const json_t *job, const char *key)
{
	return json_string_value(json_object_get(job, key));
}

static uint32_t num(const json_t *job, const char *key)
{
	return (uint32_t) json_integer_value(json_object_get(job, key));
}

static void set_string(json_t *o, const char *key, const char *s)
{
	if (s && *s)
		json_object_set_new(o, key, json_string(s));
}

static void set_number(json_t *o, const char *key, uint32_t n)
{
	if (n)
		json_object_set_new(o, key, json_integer(n));
}

static json_t *decision_json(const struct clf_decision *d)
{
	char *text = clf_decision_text(d);
	json_t *o = json_pack("{s:b,s:b,s:s,s:s}", "allow", d->allow, "flagged", d->flagged, "class", d->cls, "rule",
			      d->rule);

	set_string(o, "grant", d->grant);
	if (d->raised[0])
		json_object_set_new(o, "raised", json_array());
	for (size_t i = 0; d->raised[i]; i++)
		json_array_append_new(json_object_get(o, "raised"), json_string(d->raised[i]));
	if (d->allow) {
		json_t *t = json_pack("{s:b}", "exclusive", d->terms.exclusive);

		set_string(t, "zone", d->terms.zone);
		set_string(t, "exclude", d->terms.exclude);
		set_string(t, "licence", d->terms.licence);
		set_number(t, "req_switch", d->terms.req_switch);
		set_number(t, "switch_wait_s", d->terms.switch_wait_s);
		set_number(t, "max_nodes", d->terms.max_nodes);
		json_object_set_new(o, "terms", t);
	}
	set_string(o, "text", text);
	free(text);
	return o;
}

static int load_policy(const json_t *in, const char *dir, struct clf_policy **out, struct clf_error *err)
{
	json_t *policy = json_object_get(in, "policy");
	struct clf_text text;
	char path[512], *dump;
	int rc;

	if (json_is_null(policy))
		return 0;
	snprintf(path, sizeof path, "%s/../policy.json", dir);
	if (!policy)
		return clf_policy_load(path, out, err);
	dump = json_dumps(policy, 0);
	rc = clf_text_from_string("policy", dump, &text, err);
	free(dump);
	return rc ? rc : clf_policy_from_text(&text, out, err);
}

static void note(const struct clf_decision *d)
{
	seen_allow |= d->allow;
	for (int i = 0; i < CLF_N_BUILTIN; i++)
		if (!strcmp(d->rule, clf_builtin_id((enum clf_builtin) i))) {
			seen[i] |= !d->allow;
			return;
		}
	seen_forbid |= !d->allow;
}

static void decide(const char *name, const char *path, json_t *in, const struct clf_site *site)
{
	CLF_CLEANUP(clf_decision_destroyp) struct clf_decision *d = NULL;
	struct clf_error err = { 0 };
	const json_t *j = json_object_get(in, "job");
	const struct clf_job job = {
		.uid = 1001,
		.user = str(j, "user"),
		.account = str(j, "account"),
		.accountless = json_is_true(json_object_get(j, "accountless")),
		.partition = str(j, "partition"),
		.claim_class = str(j, "claim_class"),
		.claim_grant = str(j, "claim_grant"),
		.had_class = str(j, "had_class"),
		.had_grant = str(j, "had_grant"),
		.min_nodes = num(j, "min_nodes"),
		.max_nodes = num(j, "max_nodes"),
		.req_nodes = str(j, "req_nodes"),
		.exc_nodes = str(j, "exc_nodes"),
		.nodes = str(j, "nodes"),
		.req_switch = num(j, "req_switch"),
		.now_ms = INT64_C(1780000000000), /* 2026-05-28 */
	};

	if (!ok(!clf_decide(site, &job, &d, &err), "%s: decided %s", name, err.text))
		return;
	note(d);
	ok(d->allow == (d->advice[0] == '\0'), "%s: a refusal has advice", name);
	if (getenv("UPDATE")) {
		json_object_set_new(in, "expect", decision_json(d));
		ok(!json_dump_file(in, path, JSON_INDENT(1) | JSON_ENSURE_ASCII), "%s: rewritten", name);
		return;
	}

	json_t *made = decision_json(d);
	char *got = json_dumps(made, JSON_INDENT(1) | JSON_SORT_KEYS);
	char *want = json_dumps(json_object_get(in, "expect"), JSON_INDENT(1) | JSON_SORT_KEYS);

	is_str(got, want, "%s", name);
	free(got);
	free(want);
	json_decref(made);
}

static void run_case(const char *dir, const char *name)
{
	CLF_CLEANUP(clf_policy_destroyp) struct clf_policy *policy = NULL;
	CLF_CLEANUP(clf_topo_destroyp) struct clf_topo *topo = NULL;
	CLF_CLEANUP(clf_site_destroyp) struct clf_site *site = NULL;
	struct clf_error err = { 0 };
	struct cluster cluster = { 0 };
	json_error_t je;
	char path[512];
	const char *hosts;
	json_t *in;

	snprintf(path, sizeof path, "%s/%s", dir, name);
	in = json_load_file(path, 0, &je);
	if (!ok(in, "%s: is JSON: %s", name, in ? "" : je.text))
		return;
	hosts = str(in, "cluster");
	cluster.features = json_object_get(in, "features");
	if (ok(!load_policy(in, dir, &policy, &err) &&
		       !clf_hostlist_expand(hosts ? hosts : "n[1-16]", 1000, &cluster.nodes, &err) &&
		       (!str(in, "topology") || !clf_topo_synth(str(in, "topology"), &topo, &err)) &&
		       (!policy || !clf_site_make(policy, topo, (uint32_t) cluster.nodes.n, name_of,
						  cluster.features ? has_feature : NULL, &cluster, &site, &err)),
	       "%s: set up %d:%d %s", name, err.line, err.column, err.text))
		decide(name, path, in, site);
	clf_strv_done(&cluster.nodes);
	json_decref(in);
}

int main(void)
{
	char dir[512];

	snprintf(dir, sizeof dir, "%s/tests/policy/decide", clf_test_srcdir());
	ok(golden_each(dir, "", ".json", run_case) > 40, "there are cases");
	for (int i = 0; i < CLF_N_BUILTIN; i++)
		ok(seen[i], "a case is refused by %s", clf_builtin_id((enum clf_builtin) i));
	ok(seen_forbid && seen_allow, "a case is refused by a rule of the policy, and one is allowed");
	return done_testing();
}
