/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Host expressions: both ways, against scontrol, and with input that wants to hurt. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/hostlist.h"
#include "tap.h"

static char *joined(const struct clf_strv *v)
{
	static char buf[8192];

	buf[0] = '\0';
	for (size_t i = 0; i < v->n && strlen(buf) < sizeof(buf) - 300; i++)
		sprintf(buf + strlen(buf), "%s%s", i ? " " : "", v->v[i]);
	return buf;
}

static void expands(const char *expr, const char *want)
{
	CLF_CLEANUP(clf_strv_done) struct clf_strv v = { 0 };
	struct clf_error err = { 0 };

	ok(!clf_hostlist_expand(expr, 1000, &v, &err), "'%s' is read: %s", expr, err.text);
	is_str(joined(&v), want, "'%s'", expr);
}

static void refuses(const char *expr, size_t max, enum clf_code code)
{
	CLF_CLEANUP(clf_strv_done) struct clf_strv v = { 0 };
	struct clf_error err = { 0 };

	if (clf_strv_add(&v, "kept", NULL))
		return;
	ok(clf_hostlist_expand(expr, max, &v, &err) == -1 && err.code == code && v.n == 1,
	   "'%.40s' is refused (%s), nothing added", expr, err.text);
	if (code == CLF_E_PARSE)
		ok(err.column > 0, "with a column: %d", err.column);
}

static void against_scontrol(void)
{
	static const char *const exprs[] = { "n1",         "n[1-4]",   "n[1-4,7,9-11]", "n[01-10]",
					     "n[098-101]", "a1,b2,c3", "r[1-2]n[3-4]",  "x[1,3,5]y[08-09]" };
	char conf[300];
	FILE *c;

	/* scontrol reads a configuration even for this: the smallest one */
	snprintf(conf, sizeof(conf), "%s/slurm.conf", clf_test_dir());
	c = fopen(conf, "w");
	if (!c || fputs("ClusterName=x\nSlurmctldHost=localhost\nNodeName=n1\n", c) < 0 || fclose(c)) {
		ok(false, "cannot write '%s'", conf);
		return;
	}
	if (!clf_test_require("slurm", !system("command -v scontrol >/dev/null"), "no scontrol"))
		return;
	for (size_t i = 0; i < sizeof(exprs) / sizeof(*exprs); i++) {
		CLF_CLEANUP(clf_strv_done) struct clf_strv v = { 0 };
		char cmd[600], line[256], want[4096] = "";
		FILE *f;

		snprintf(cmd, sizeof(cmd), "SLURM_CONF=%s scontrol show hostnames '%s' 2>/dev/null", conf, exprs[i]);
		f = popen(cmd, "r");
		while (f && fgets(line, sizeof(line), f)) {
			line[strcspn(line, "\n")] = '\0';
			sprintf(want + strlen(want), "%s%s", *want ? " " : "", line);
		}
		if (f)
			pclose(f);
		if (clf_hostlist_expand(exprs[i], 1000, &v, NULL))
			diag("not read");
		ok(*want != 0, "scontrol answers");
		is_str(joined(&v), want, "as scontrol: %s", exprs[i]);
	}
}

/* Random lists: the ordered expression gives back the very sequence, the plain one the sorted set. */
static void round_trip(void)
{
	unsigned wrong = 0;

	srand(3);
	for (int round = 0; round < 2000; round++) {
		CLF_CLEANUP(clf_strv_done) struct clf_strv in = { 0 }, out = { 0 }, set = { 0 };
		CLF_AUTO_FREE char *ordered = NULL, *plain = NULL;
		int n = 1 + rand() % 30;

		for (int i = 0; i < n; i++) {
			static const char *const forms[] = { "n%d", "n%02d", "n%03d", "r%dn1", "gpu%d.site", "login" };
			char name[64];

			snprintf(name, sizeof(name), forms[rand() % 6], rand() % 40);
			if (clf_strv_add(&in, name, NULL))
				return;
		}
		ordered = clf_hostlist_compress_ordered((const char *const *) in.v, in.n, NULL);
		plain = clf_hostlist_compress((const char *const *) in.v, in.n, NULL);
		if (!ordered || !plain || clf_hostlist_expand(ordered, 1000, &out, NULL) ||
		    clf_hostlist_expand(plain, 1000, &set, NULL)) {
			wrong++;
			continue;
		}
		wrong += out.n != in.n;
		for (size_t i = 0; i < in.n && i < out.n; i++)
			wrong += strcmp(in.v[i], out.v[i]) != 0;
		for (size_t i = 0; i < in.n; i++)
			wrong += !clf_strv_has(&set, in.v[i]);
		for (size_t i = 1; i < set.n; i++)
			for (size_t k = 0; k < i; k++)
				wrong += !strcmp(set.v[i], set.v[k]);
	}
	is_int(wrong, 0, "2,000 random lists there and back");
}

int main(void)
{
	CLF_CLEANUP(clf_strv_done) struct clf_strv big = { 0 };
	CLF_AUTO_FREE char *one = NULL;
	char *long_name = malloc(400);

	expands("", "");
	expands("n1", "n1");
	expands("n[1-3]", "n1 n2 n3");
	expands("n[1-3], m7", "n1 n2 n3 m7");
	expands("n[008-011]", "n008 n009 n010 n011");
	expands("rack[01-02]gpu[1-2]", "rack01gpu1 rack01gpu2 rack02gpu1 rack02gpu2");
	expands("n[3,1-2]", "n3 n1 n2");
	refuses("n[1-99999999999]", 1000, CLF_E_NOMEM);
	refuses("n[1-18446744073709551616]", 1000, CLF_E_PARSE);
	refuses("a[1-1000]b[1-1000]c[1-1000]", 100000, CLF_E_NOMEM);
	refuses("n[1-4", 1000, CLF_E_PARSE);
	refuses("n1-4]", 1000, CLF_E_PARSE);
	refuses("n[4-1]", 1000, CLF_E_PARSE);
	refuses("n[]", 1000, CLF_E_PARSE);
	refuses("n[1,,2]", 1000, CLF_E_PARSE);
	refuses("n[a-b]", 1000, CLF_E_PARSE);
	refuses("gpu-[1-3].x", 1000, CLF_E_PARSE); /* nor does Slurm take it */
	expands("a b", "a b");
	refuses("n\033[1-2]", 1000, CLF_E_PARSE);
	refuses("n$(id)", 1000, CLF_E_PARSE);
	memset(long_name, 'x', 399);
	long_name[399] = '\0';
	refuses(long_name, 1000, CLF_E_PARSE);
	free(long_name);
	if (!clf_hostlist_expand("n[1-100000]", 200000, &big, NULL))
		one = clf_hostlist_compress((const char *const *) big.v, big.n, NULL);
	is_str(one, "n[1-65536,65537-100000]", "100,000 names: Slurm takes 65,536 hosts a range");
	against_scontrol();
	round_trip();
	return done_testing();
}
