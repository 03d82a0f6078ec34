/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "mock_slurm.h"
#include "slurm/glue_mem.h"
#include "slurm/glue_stamp.h"
#include "tap.h"

static void env_free(char ***env, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		clf_slurm_free(&(*env)[i]);
	clf_slurm_free((char **) env);
}

static void test_env(void)
{
	char **env = NULL;
	uint32_t n = 0;

	clf_env_add(&env, &n, "", "CLOSFOLD_CLASS", "public");
	clf_env_add(&env, &n, "SPANK_", "CLOSFOLD_CLASS", "secret");
	clf_env_add(&env, &n, "SPANK_SPANK_", "CLOSFOLD_LEASE", "L");
	clf_env_add(&env, &n, "", "CLOSFOLD_NEW", "x");
	clf_env_add(&env, &n, "", "OTHER", "CLOSFOLD_CLASS=y");
	clf_env_add(&env, &n, "", "_SLURM_SPANK_OPTION_closfold_data_class", "personal");
	is_int(n, 6, "six entries");
	ok(!env[n], "a NULL behind them");
	for (uint32_t i = 0; i < n; i++)
		ok(mock_owns(env[i]), "entry %u is Slurm's memory", i);
	is_str(clf_env_get(env, n, CLF_OPTION_CLASS), "personal", "option found");
	is_int(clf_env_strip(env, &n), 4, "all reserved names go, with any prefix, duplicates too");
	is_int(n, 2, "others stay");
	is_str(env[0], "OTHER=CLOSFOLD_CLASS=y", "a value is no name");
	ok(!clf_env_get(env, n, "CLOSFOLD_CLASS"), "gone");
	is_int(clf_env_remove(env, &n, CLF_OPTION_CLASS), 1, "one name removed");
	env_free(&env, n);
	is_int((long long) mock_live(), 0, "nothing leaks");
}

static struct clf_stamp read_with(const char *comment)
{
	char *const env[] = { "SPANK_CLOSFOLD_DECISION=0123456789abcdef0123456789abcdef",
			      "SPANK_CLOSFOLD_CLASS=personal", "SPANK_CLOSFOLD_GRANT=G-1", "SPANK_CLOSFOLD_FLAGGED=1" };

	return clf_stamp_read(env, 4, comment);
}

static void test_authentic(void)
{
	struct clf_stamp s =
		read_with("closfold decision=0123456789abcdef0123456789abcdef class=personal grant=G-1 rule=r");

	ok(s.present && s.authentic && s.flagged, "stamps and comment agree");
	is_str(s.grant, "G-1", "grant");
	ok(!read_with(NULL).authentic, "no comment: forged");
	ok(!read_with("closfold decision=ffff class=personal grant=G-1 rule=r").authentic, "another decision");
	ok(!read_with("closfold decision=0123456789abcdef0123456789abcdef class=public grant=- rule=r").authentic,
	   "another class");
	ok(!read_with("hello; closfold decision=0123456789abcdef0123456789abcdef class=personal").authentic,
	   "not ours at the start");
	ok(!read_with("closfold decision=x; decision=0123456789abcdef0123456789abcdef class=personal").authentic,
	   "others' part does not count");
	ok(!clf_stamp_read(NULL, 0, "closfold decision=x class=y").present, "a comment alone is nothing");
}

static void test_comment(void)
{
	struct clf_comment c = { "d1", "personal", NULL, "r1", NULL, NULL };
	char *a = clf_comment_make(&c, "by hand"), *b = clf_comment_note(a, "L1-2", NULL),
	     *d = clf_comment_note(b, NULL, "bad; x=1\ny");

	is_str(a, "closfold decision=d1 class=personal grant=- rule=r1; by hand", "others' text is kept behind");
	is_str(b, "closfold decision=d1 class=personal grant=- rule=r1 lease=L1-2; by hand", "lease");
	is_str(d, "closfold decision=d1 class=personal grant=- rule=r1 note=bad, x,1,y; by hand",
	       "note replaces the lease and cannot pose as a word");
	is_int(clf_comment_ours(d), (long long) (strstr(d, "; by") - d), "our part ends there");
	clf_slurm_free(&a);
	clf_slurm_free(&b);
	clf_slurm_free(&d);
	a = clf_comment_note(NULL, NULL, "why");
	is_str(a, "closfold decision=none class=none grant=none rule=none note=why", "a job without stamps");
	clf_slurm_free(&a);
	is_int((long long) (mock_live() + mock_wrong_frees()), 0, "memory");
}

int main(void)
{
	test_env();
	test_authentic();
	test_comment();
	return done_testing();
}
