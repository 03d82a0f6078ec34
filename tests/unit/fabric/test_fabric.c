/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fabrics.json, and the driver that touches nothing. */
#include "fabric/driver.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tap.h"

static int load(const char *text, struct clf_fabrics **out, struct clf_error *err)
{
	char path[] = "/tmp/test_fabric.XXXXXX";
	int fd = mkstemp(path), rc;

	if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t) strlen(text))
		abort();
	close(fd);
	rc = clf_fabrics_load(path, out, err);
	unlink(path);
	return rc;
}

static const struct {
	const char *text, *says;
} bad[] = {
	{ "{\"fabrics\":[]}", "'format'" },
	{ "{\"format\":\"closfold-fabrics/2\",\"fabrics\":[]}", "is not closfold-fabrics/1" },
	{ "{\"format\":\"closfold-fabrics/1\",\"fabrics\":[]}", "from 1 to 16 fabrics" },
#define ONE(members) "{\"format\":\"closfold-fabrics/1\",\"fabrics\":[{" members "}]}"
	{ ONE("\"name\":\"a\",\"driver\":\"null\""), "'keys'" },
	{ ONE("\"name\":\"a b\",\"driver\":\"null\",\"keys\":\"1-9\""), "no word" },
	{ ONE("\"name\":\"\",\"driver\":\"null\",\"keys\":\"1-9\""), "no word" },
	{ ONE("\"name\":\"a\",\"driver\":\"ufm\",\"keys\":\"1-9\""), "no driver 'ufm'" },
	{ ONE("\"name\":\"a\",\"driver\":\"null\",\"keys\":\"9\""), "no range like" },
	{ ONE("\"name\":\"a\",\"driver\":\"null\",\"keys\":\"9-1\""), "the lower one first" },
	{ ONE("\"name\":\"a\",\"driver\":\"null\",\"keys\":\"0-9\""), "keys go from 1 to 32766" },
	{ ONE("\"name\":\"a\",\"driver\":\"null\",\"keys\":\"1-0x7fff\""), "keys go from 1 to 32766" },
	{ ONE("\"name\":\"a\",\"driver\":\"null\",\"keys\":\"1-9\",\"cool_down_s\":-1"), "from 0 to 86400" },
	{ ONE("\"name\":\"a\",\"driver\":\"null\",\"keys\":\"1-9\",\"timeout_ms\":99"), "from 100 to 600000" },
	{ ONE("\"name\":\"a\",\"driver\":\"null\",\"keys\":\"1-9\",\"attest\":\"yes\""), "none of try, require, off" },
	{ ONE("\"name\":\"a\",\"driver\":\"null\",\"keys\":\"1-9\",\"probe\":\"maybe\""), "none of try, require, off" },
	{ ONE("\"name\":\"a\",\"driver\":\"null\",\"keys\":\"1-9\",\"ovsdb\":{}"), "another's section" },
	{ ONE("\"name\":\"a\",\"driver\":\"null\",\"keys\":\"1-9\",\"kyes\":\"1-9\""), "kyes" },
	{ ONE("\"name\":\"a\",\"driver\":\"null\",\"keys\":\"1-9\",\"nodes\":\"\""), "names no node" },
	{ ONE("\"name\":\"a\",\"driver\":\"null\",\"keys\":\"1-9\",\"nodes\":\"n[1-\""), "" },
	{ ONE("\"name\":\"a\",\"driver\":\"null\",\"keys\":\"1-9\",\"env\":{\"A B\":\"1\"}"), "no name of a variable" },
	{ ONE("\"name\":\"a\",\"driver\":\"null\",\"keys\":\"1-9\",\"env\":{\"A\":\"1\\n2\"}"), "is no line" },
	{ ONE("\"name\":\"a\",\"driver\":\"null\",\"keys\":\"1-9\"},{\"name\":\"a\",\"driver\":\"null\",\"keys\":\"1-"
	      "9\""),
	  "there twice" },
};

static void configuration(void)
{
	struct clf_fabrics *set = NULL;

	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		struct clf_error err = { 0 };

		ok(load(bad[i].text, &set, &err) && err.code == CLF_E_PARSE && strstr(err.text, bad[i].says),
		   "refused: %s (%s)", bad[i].says, err.text);
	}
	ok(!load(ONE("\"name\":\"ib0\",\"driver\":\"null\",\"keys\":\"0x0100-511\",\"probe\":\"require\",\"null\":{}"),
		 &set, NULL),
	   "a good one");
	ok(set->n == 1 && !strcmp(set->v[0].name, "ib0") && set->v[0].key_min == 0x100 && set->v[0].key_max == 511,
	   "keys in hex and decimal");
	ok(set->v[0].cool_down_s == 60 && set->v[0].timeout_ms == 8000 && set->v[0].attest == CLF_RUNG_TRY &&
		   set->v[0].probe == CLF_RUNG_REQUIRE,
	   "defaults, and what was given");
	ok(set->v[0].section && !strcmp(set->v[0].pointer, "/fabrics/0/null"), "the driver's section and its place");
	clf_fabrics_destroy(set);
}

static void nothing(void)
{
	const struct clf_driver *d = clf_driver_find("null");
	struct clf_net net = { .lease = "L1-1", .key = 7 };
	struct clf_want want = { .nets = &net, .n = 1 };
	struct clf_net_task t[2] = { { .op = CLF_NET_OPEN, .net = &net }, { .op = CLF_NET_CLOSE, .net = &net } };
	struct clf_strv ports = { 0 };
	json_t *j = NULL;
	char text[80];

	ok(d && !clf_driver_find("nul") && !clf_driver_find(""), "found by name");
	ok(strstr(clf_driver_names(), "null") != NULL, "named in messages");
	ok(!d->touches_devices && !d->open(NULL, NULL, &(void *){ NULL }, NULL), "touches nothing");
	ok(!d->sync(NULL, &want, t, 2, 100, NULL), "sync");
	for (size_t i = 0; i < 2; i++) {
		ok(!t[i].error.code && !t[i].report.programmed && !strcmp(t[i].report.word, "null") &&
			   !strcmp(t[i].report.text, "null: no wire was programmed"),
		   "says that no wire was programmed");
		clf_net_task_done(&t[i]);
	}
	ok(!d->ports(NULL, "n1", NULL, &ports, NULL) && !ports.n, "no ports");
	ok(d->attest(NULL, &net, "n1", NULL, text, sizeof text) == CLF_ATTEST_UNATTESTED, "attests nothing");
	ok(!d->check(NULL, &want, 100, &j, NULL) && json_array_size(j) == 1, "check: a warning");
	json_decref(j);
	ok(!d->audit(NULL, &want, 100, &j, NULL) && !json_array_size(j), "audit: nothing to compare");
	json_decref(j);
	d->close(NULL);
}

int main(void)
{
	configuration();
	nothing();
	return done_testing();
}
