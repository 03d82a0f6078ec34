/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Loading policies: one good file in every detail, and a folder for each way to be wrong (tests/policy/bad-*). */
#include <stdio.h>
#include <string.h>

#include "golden.h"
#include "policy/builtin.h"
#include "policy/policy.h"
#include "tap.h"

static const char *const good =
	"{\"format\":\"closfold-policy/1\",\"id\":\"lab\",\"version\":7,"
	"\"classes\":{\"levels\":[\"public\",\"internal\",\"personal\"],\"default\":\"internal\",\"flagged_from\":"
	"\"personal\"},"
	"\"zones\":{\"z/1\":{\"nodes\":\"n[1-4],x\"},\"feat\":{\"features\":[\"tpm\",\"ib\"]}},"
	"\"floors\":{\"accounts\":{\"acct-h\":\"personal\"},\"partitions\":{\"Sec\":\"internal\"}},"
	"\"terms\":{\"personal\":{\"zone\":\"z/"
	"1\",\"exclusive\":true,\"licence\":\"key\",\"switches\":{\"slack\":2,\"wait_s\":60}}},"
	"\"rules\":[{\"id\":\"r1\",\"effect\":\"permit\",\"when\":{\"classes\":[\"personal\"],\"accounts\":[\"b\","
	"\"a\"]}},"
	"{\"id\":\"r2\",\"effect\":\"forbid\",\"when\":{\"users\":[\"eve\"],\"purposes\":[\"dpv:Ads\"],\"partitions\":["
	"\"p\"]},"
	"\"message\":\"no \xe0\xa4\xb9\",\"cites\":[\"DPDP s.9(3)\"]}],"
	"\"grants\":[{\"id\":\"G-1\",\"class\":\"personal\",\"purpose\":\"dpv:R\",\"fiduciary\":\"hosp\",\"contract\":"
	"\"D-1\",\"basis\":\"s6-consent\","
	"\"datasets\":[\"ds-1\"],\"valid\":{\"from\":\"1970-01-01T00:00:01Z\",\"until\":\"1970-01-01T00:00:02Z\"},"
	"\"allow\":{\"accounts\":[\"acct-h\"],\"users\":[\"u\"],\"partitions\":[\"p\"],\"max_nodes\":8},\"revoked\":"
	"true,\"version\":3}]}";

static int load(const char *text, struct clf_policy **out, struct clf_error *err)
{
	struct clf_text t;

	if (clf_text_from_string("policy.json", text, &t, err))
		return -1;
	return clf_policy_from_text(&t, out, err);
}

static void test_good(void)
{
	CLF_CLEANUP(clf_policy_destroyp) struct clf_policy *p = NULL;
	struct clf_error err = { 0 };
	uint32_t v = 99;

	if (!ok(!load(good, &p, &err), "a policy with everything loads: %s", err.text))
		return;
	is_str(p->id, "lab", "id");
	is_int(p->version, 7, "version");
	is_int((long long) p->levels.n, 3, "levels");
	is_int(p->default_level, 1, "default level");
	is_int(p->flagged_level, 2, "flagged level");
	is_int(p->nzones, 2, "zones");
	is_str(p->zones[0].nodes, "n[1-4],x", "zone by nodes keeps its expression");
	ok(clf_strmap_find(&p->zones[0].hosts, "n3", &v) && clf_strmap_find(&p->zones[0].hosts, "x", &v) &&
		   !clf_strmap_find(&p->zones[0].hosts, "n5", &v),
	   "and its hosts");
	ok(!p->zones[1].nodes && p->zones[1].features.n == 2, "zone by features");
	ok(clf_strmap_find(&p->zone_of, "feat", &v) && v == 1, "zone_of");
	ok(clf_strmap_find(&p->account_floor, "acct-h", &v) && v == 2, "account floor");
	ok(clf_strmap_find(&p->partition_floor, "Sec", &v) && v == 1, "partition floor keeps capitals");
	ok(!p->terms[0].cls && !p->terms[1].cls, "no terms where none are given");
	is_str(p->terms[2].zone, "z/1", "terms: zone");
	is_str(p->terms[2].licence, "key:1", "terms: licence as Slurm takes it");
	ok(p->terms[2].exclusive && p->terms[2].switches && p->terms[2].switch_slack == 2 &&
		   p->terms[2].switch_wait_s == 60,
	   "terms: the rest");
	is_int(p->nrules, 2, "rules");
	ok(p->rules[0].effect == CLF_PERMIT && p->rules[1].effect == CLF_FORBID, "effects");
	ok(clf_policy_has(&p->rules[0].accounts, "a") && clf_policy_has(&p->rules[0].accounts, "b") &&
		   !clf_policy_has(&p->rules[0].accounts, "c") && !clf_policy_has(&p->rules[0].accounts, NULL),
	   "lists are found whatever their order");
	is_str(p->rules[1].message, "no \xe0\xa4\xb9", "message in another script");
	is_str(p->rules[1].cites.v[0], "DPDP s.9(3)", "citation");
	is_int(p->ngrants, 1, "grants");
	is_str(p->grants[0].cls, "personal", "grant: class");
	is_str(p->grants[0].purpose, "dpv:R", "grant: purpose");
	is_str(p->grants[0].fiduciary, "hosp", "grant: fiduciary");
	is_str(p->grants[0].contract, "D-1", "grant: contract");
	is_str(p->grants[0].basis, "s6-consent", "grant: basis");
	is_str(p->grants[0].datasets.v[0], "ds-1", "grant: dataset");
	ok(p->grants[0].from_ms == 1000 && p->grants[0].until_ms == 2000, "grant: dates");
	ok(p->grants[0].max_nodes == 8 && p->grants[0].revoked && p->grants[0].version == 3, "grant: the rest");
}

static void test_example(void)
{
	CLF_CLEANUP(clf_policy_destroyp) struct clf_policy *p = NULL;
	struct clf_error err = { 0 };
	char path[512];

	snprintf(path, sizeof path, "%s/etc/policy.json.example", clf_test_srcdir());
	ok(!clf_policy_load(path, &p, &err), "the example loads: %s", err.text);
	ok(p && p->ngrants == 2 && p->nzones >= 1 && p->nrules >= 1, "and has what a small lab needs");
}

static void bad_case(const char *dir, const char *name)
{
	CLF_CLEANUP(clf_policy_destroyp) struct clf_policy *p = NULL;
	struct clf_error err = { 0 };
	char path[512], expect[512], got[1024];

	snprintf(path, sizeof path, "%s/%s/policy.json", dir, name);
	snprintf(expect, sizeof expect, "%s/%s/expect.err", dir, name);
	if (!ok(clf_policy_load(path, &p, &err) == -1 && !p, "%s: refused", name))
		return;
	snprintf(got, sizeof got, "%s policy.json:%d:%d: %s\n", clf_code_name(err.code), err.line, err.column,
		 err.text);
	golden(expect, got, name);
}

/* Texts that are too long for a folder. */
static void test_huge(void)
{
	CLF_CLEANUP(clf_policy_destroyp) struct clf_policy *p = NULL;
	struct clf_error err = { 0 };
	const size_t n = 1 << 20;
	char *deep = malloc(2 * n + 1), *key = malloc(n + 64);

	if (!deep || !key)
		abort();
	memset(deep, '[', n);
	memset(deep + n, ']', n);
	deep[2 * n] = '\0';
	ok(load(deep, &p, &err) && err.code == CLF_E_PARSE, "a million brackets: %s", err.text);
	memcpy(key, "{\"", 2);
	memset(key + 2, 'k', n);
	strcpy(key + 2 + n, "\":1}");
	err = (struct clf_error){ 0 };
	ok(load(key, &p, &err) && err.code == CLF_E_PARSE && strlen(err.text) < 200, "a key of a megabyte: %.80s",
	   err.text);
	ok(!p, "and nothing comes out");
	free(deep);
	free(key);
}

static void test_builtin(void)
{
	bool good_ids = true;

	for (int i = 0; i < CLF_N_BUILTIN; i++)
		for (int j = 0; j < i; j++)
			good_ids &=
				strcmp(clf_builtin_id((enum clf_builtin) i), clf_builtin_id((enum clf_builtin) j)) != 0;
	ok(good_ids, "built-in ids differ");
}

int main(void)
{
	char dir[512];

	test_good();
	test_example();
	test_huge();
	test_builtin();
	snprintf(dir, sizeof dir, "%s/tests/policy", clf_test_srcdir());
	ok(golden_each(dir, "bad-", "", bad_case) > 50, "there are cases");
	return done_testing();
}
