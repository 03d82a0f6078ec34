/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Ports that were ever seen: what is hidden, claimed twice, accepted, kept over a restart. */
#include "daemon/known.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tap.h"

static int learn(struct clf_known *k, const char *node, const char *a, const char *b, bool fixed)
{
	CLF_CLEANUP(clf_strv_done) struct clf_strv v = { 0 };

	if ((a && clf_strv_add(&v, a, NULL)) || (b && clf_strv_add(&v, b, NULL)))
		return -1;
	return clf_known_learn(k, "ib", node, &v, fixed, NULL);
}

static size_t count(struct clf_known *k)
{
	CLF_CLEANUP(clf_strv_done) struct clf_strv v = { 0 };

	return clf_known_ports(k, "ib", &v, NULL) ? 99 : v.n;
}

static struct clf_known reopen(struct clf_known *k)
{
	struct clf_known n;
	struct clf_error err = { 0 };

	if (k && clf_known_save(k, &err))
		diag("save: %s", err.text);
	if (k)
		clf_known_done(k);
	if (clf_known_open(&n, clf_test_dir(), &err))
		diag("open: %s", err.text);
	return n;
}

int main(void)
{
	struct clf_known k = reopen(NULL);
	struct clf_error err = { 0 };
	char path[300];
	FILE *f;

	ok(!learn(&k, "n1", "p1", "p2", false) && !learn(&k, "n2", "p3", NULL, false) && count(&k) == 3,
	   "two nodes report");
	ok(!clf_known_eligible(&k, "ib", "n1", NULL) && !clf_known_eligible(&k, "ib", "n9", NULL),
	   "nothing against them");
	ok(!learn(&k, "n1", "p1", NULL, false) && clf_known_eligible(&k, "ib", "n1", &err) &&
		   err.code == CLF_E_DENIED && strstr(err.text, "accept n1"),
	   "one reports fewer than before: %s", err.text);
	ok(count(&k) == 3, "what it had is known still");
	k = reopen(&k);
	ok(count(&k) == 3, "also after a restart");
	ok(!learn(&k, "n1", "p1", NULL, false) && clf_known_eligible(&k, "ib", "n1", NULL),
	   "where it is missing still");
	clf_known_accept(&k, "n1");
	ok(!learn(&k, "n1", "p1", NULL, false) && !clf_known_eligible(&k, "ib", "n1", NULL) && count(&k) == 2,
	   "until accepted");
	err = (struct clf_error){ 0 };
	ok(!learn(&k, "n2", "p3", "p9", false) && clf_known_eligible(&k, "ib", "n2", &err) &&
		   strstr(err.text, "in its name"),
	   "one that reports a port it did not have: %s", err.text);
	ok(count(&k) == 2, "which is not taken");
	err = (struct clf_error){ 0 };
	clf_known_accept(&k, "n2");
	ok(!learn(&k, "n2", "p3", "p1", false) && clf_known_eligible(&k, "ib", "n1", NULL) &&
		   clf_known_eligible(&k, "ib", "n2", &err) && strstr(err.text, "claimed"),
	   "a port that two nodes claim blocks both");
	ok(count(&k) == 2, "and has its ordinary traffic still, listed once");
	ok(!learn(&k, "n2", "p3", NULL, true) && !clf_known_eligible(&k, "ib", "n1", NULL) && count(&k) == 2,
	   "what the configuration says replaces it");
	k = reopen(&k);
	clf_known_done(&k);
	snprintf(path, sizeof path, "%s/ports.json", clf_test_dir());
	f = fopen(path, "w");
	ok(f && fputs("{\"fabrics\":{\"ib\":{\"n1\":[1]}}}", f) >= 0 && !fclose(f) &&
		   clf_known_open(&k, clf_test_dir(), &err),
	   "a file of another form is refused");
	clf_known_done(&k);
	return done_testing();
}
