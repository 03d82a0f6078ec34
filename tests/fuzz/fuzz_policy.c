/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Surface: a policy file (what the administrator or whoever can write there gives), then the fields of a job (any
 * user). Input: the policy's text, and after a line "%%" job fields, one a line. Must hold: no crash, a refusal names a
 * place, a decision has its texts, and nothing but safe characters gets into them from the job. */
#include <stdint.h>
#include <string.h>

#include "engine/decide.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds)
{
	if (!holds)
		abort();
}

static const char *name_of(void *arg, uint32_t i)
{
	static const char *const names[] = { "n1", "n2", "n3", "n4", "n5", "n6", "n7", "n8" };

	(void) arg;
	return names[i];
}

static bool has_feature(void *arg, uint32_t i, const char *feature)
{
	(void) arg;
	return (i + strlen(feature)) % 2;
}

/* The reasons and advices of decide's own rules; messages of the policy were checked when it was read. */
static void check_text(const struct clf_decision *d)
{
	CLF_AUTO_FREE char *text = clf_decision_text(d);

	must(text && strlen(text) < 4096);
	for (const char *p = text; *p; p++)
		must((unsigned char) *p >= 0x20 || *p == '\n');
}

static char *next_field(char **p)
{
	char *field = *p, *end;

	if (!field)
		return NULL;
	end = strchr(field, '\n');
	*p = end ? end + 1 : NULL;
	if (end)
		*end = '\0';
	return *field ? field : NULL;
}

static void decide(const struct clf_policy *policy, char *fields)
{
	CLF_CLEANUP(clf_site_destroyp) struct clf_site *site = NULL;
	CLF_CLEANUP(clf_decision_destroyp) struct clf_decision *d = NULL;
	struct clf_job job = { .now_ms = INT64_C(1780000000000), .min_nodes = 2, .max_nodes = 3 };

	job.claim_class = next_field(&fields);
	job.claim_grant = next_field(&fields);
	job.user = next_field(&fields);
	job.account = next_field(&fields);
	job.partition = next_field(&fields);
	job.had_class = next_field(&fields);
	job.had_grant = next_field(&fields);
	job.req_nodes = next_field(&fields);
	job.exc_nodes = next_field(&fields);
	job.nodes = next_field(&fields);
	if (clf_site_make(policy, NULL, 8, name_of, has_feature, NULL, &site, NULL) || clf_decide(site, &job, &d, NULL))
		return;
	must(d->rule && d->reason && d->advice && d->cls);
	must(d->allow == !*d->advice);
	must(!d->allow || !d->flagged || (d->grant && d->terms.zone && d->terms.exclusive));
	check_text(d);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	CLF_CLEANUP(clf_policy_destroyp) struct clf_policy *policy = NULL;
	CLF_AUTO_FREE char *copy = malloc(size + 1);
	struct clf_error err = { 0 };
	struct clf_text text;
	char *fields;

	if (!copy)
		return 0;
	memcpy(copy, data, size);
	copy[size] = '\0';
	fields = strstr(copy, "\n%%\n");
	if (fields) {
		*fields = '\0';
		fields += 4;
	}
	if (clf_text_from_string("fuzz", copy, &text, &err))
		return 0;
	if (clf_policy_from_text(&text, &policy, &err)) {
		must(!policy && err.text[0] && (err.code == CLF_E_PARSE || err.code == CLF_E_NOMEM));
		must(err.code != CLF_E_PARSE || (err.line > 0 && err.column > 0));
		return 0;
	}
	decide(policy, fields);
	return 0;
}
