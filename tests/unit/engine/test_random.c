/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Random policies and jobs: clf_decide() against oracle.pl, which knows nothing of it. At least 100,000 pairs.
 * CLF_RANDOM=SEED,POLICIES,JOBS changes the run; a difference prints the policy and the job. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/decide.h"
#include "tap.h"

enum {
	USER,
	ACCOUNT,
	ACCOUNTLESS,
	PARTITION,
	CLAIM,
	GRANT,
	HAD,
	HADGRANT,
	MIN,
	MAX,
	REQ,
	EXC,
	NODES,
	NOW,
	ALLOW,
	CLASS,
	FLAGGED,
	NFIELDS
};

static const char *name_of(void *arg, uint32_t i)
{
	(void) arg;
	static const char *const names[] = { "n1", "n2", "n3", "n4", "n5", "n6", "n7", "n8", "n9", "n10" };

	return names[i];
}

static const char *given(const char *s)
{
	return *s ? s : NULL;
}

static bool agree(const struct clf_site *site, char **f)
{
	CLF_CLEANUP(clf_decision_destroyp) struct clf_decision *d = NULL;
	const struct clf_job job = {
		.user = given(f[USER]),
		.account = given(f[ACCOUNT]),
		.accountless = *f[ACCOUNTLESS] == '1',
		.partition = given(f[PARTITION]),
		.claim_class = given(f[CLAIM]),
		.claim_grant = given(f[GRANT]),
		.had_class = given(f[HAD]),
		.had_grant = given(f[HADGRANT]),
		.min_nodes = (uint32_t) atoi(f[MIN]),
		.max_nodes = (uint32_t) atoi(f[MAX]),
		.req_nodes = given(f[REQ]),
		.exc_nodes = given(f[EXC]),
		.nodes = given(f[NODES]),
		.now_ms = atoll(f[NOW]) * 1000,
	};

	if (clf_decide(site, &job, &d, NULL))
		return false;
	if (d->allow == (*f[ALLOW] == '1') && !strcmp(d->cls, f[CLASS]) && d->flagged == (*f[FLAGGED] == '1'))
		return true;
	diag("got allow %d class %s flagged %d (%s: %s), oracle says %s %s %s", d->allow, d->cls, d->flagged, d->rule,
	     d->reason, f[ALLOW], f[CLASS], f[FLAGGED]);
	return false;
}

static size_t split(char *line, char **f)
{
	size_t n = 0;

	for (char *p = line; p && n < NFIELDS; n++) {
		f[n] = p;
		p = strchr(p, '\t');
		if (p)
			*p++ = '\0';
	}
	return n;
}

static bool new_policy(const char *json, struct clf_policy **policy, struct clf_site **site)
{
	struct clf_error err = { 0 };
	struct clf_text text;

	clf_site_destroy(*site);
	clf_policy_destroy(*policy);
	*site = NULL;
	*policy = NULL;
	if (clf_text_from_string("random", json, &text, &err) || clf_policy_from_text(&text, policy, &err) ||
	    clf_site_make(*policy, NULL, 10, name_of, NULL, NULL, site, &err)) {
		diag("%d:%d: %s in %s", err.line, err.column, err.text, json);
		return false;
	}
	return true;
}

int main(void)
{
	struct clf_policy *policy = NULL;
	struct clf_site *site = NULL;
	const char *run = getenv("CLF_RANDOM");
	unsigned seed = 1, policies = 500, jobs = 220;
	char command[1024], *line = NULL, *json = NULL;
	long pairs = 0, differ = 0, allowed = 0, flagged = 0;
	size_t size = 0;
	FILE *f;

	if (run)
		sscanf(run, "%u,%u,%u", &seed, &policies, &jobs);
	snprintf(command, sizeof command, "perl '%s/tests/unit/engine/oracle.pl' %u %u %u", clf_test_srcdir(), seed,
		 policies, jobs);
	f = popen(command, "r");
	if (!f)
		abort();
	while (getline(&line, &size, f) > 0) {
		char *fields[NFIELDS];

		line[strcspn(line, "\n")] = '\0';
		if (*line == 'P') {
			free(json);
			json = strdup(line + 2);
			if (!ok(json && new_policy(json, &policy, &site), "policy loads"))
				break;
			continue;
		}

		char *copy = strdup(line);

		if (!copy || split(line + 2, fields) != NFIELDS)
			abort();
		pairs++;
		allowed += *fields[ALLOW] == '1';
		flagged += *fields[FLAGGED] == '1' && *fields[ALLOW] == '1';
		if (!agree(site, fields) && ++differ <= 3)
			diag("policy %s\njob %s", json, copy);
		free(copy);
	}
	is_int(pclose(f), 0, "the oracle ends well");
	is_int(differ, 0, "differences in %ld pairs", pairs);
	ok(run || pairs >= 100000, "at least 100,000 pairs: %ld", pairs);
	ok(run || (allowed > pairs / 20 && allowed < pairs && flagged > pairs / 100),
	   "%ld allowed, %ld of them flagged: both ways are tried", allowed, flagged);
	clf_site_destroy(site);
	clf_policy_destroy(policy);
	free(json);
	free(line);
	return done_testing();
}
