/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hostlist.h"
#include "slurm/rank_argv.h"
#include "slurm/rank_file.h"
#include "tap.h"
#include "topo/read/reader.h"

static bool leaves(const char *line)
{
	char copy[256];
	const char *argv[32];
	size_t n = 0;

	snprintf(copy, sizeof(copy), "%s", line);
	for (char *save, *w = strtok_r(copy, " ", &save); w; w = strtok_r(NULL, " ", &save))
		argv[n++] = w;
	return clf_rank_argv_free(argv, n);
}

static void test_argv(void)
{
	static const char *const ours[] = { "srun prog",
					    "srun -l prog -n 4",
					    "srun --label python -m torch",
					    "srun -c 4 prog",
					    "srun -c4 -l prog",
					    "srun --mem 100 prog -w x",
					    "srun --export=ALL prog",
					    "srun --gpus=2 prog",
					    "srun -o out -- prog -r",
					    "srun --data-class personal prog",
					    "srun -K prog",
					    "srun -vvv prog",
					    "srun --overlap prog" };
	static const char *const theirs[] = { "srun -n4 prog",
					      "srun -n 4 prog",
					      "srun --ntasks=4 prog",
					      "srun --ntasks 4 prog",
					      "srun -N2 prog",
					      "srun --nodes 2 prog",
					      "srun -w n1 prog",
					      "srun --nodelist=n1 prog",
					      "srun -x n1 prog",
					      "srun -r 1 prog",
					      "srun --relative=1 prog",
					      "srun -m cyclic prog",
					      "srun --distribution=block prog",
					      "srun --dist=block prog",
					      "srun --ntasks-per-node=2 prog",
					      "srun -ln4 prog",
					      "srun -c 4 -N2 prog",
					      "srun --jobid=5 prog",
					      "srun --pty bash",
					      "srun --het-group=1 prog",
					      "srun a : b",
					      "srun --exact prog",
					      "srun --unknown-thing prog",
					      "srun -c",
					      "srun --rel=1 prog" };

	for (size_t i = 0; i < sizeof(ours) / sizeof(*ours); i++)
		ok(leaves(ours[i]), "ours: %s", ours[i]);
	for (size_t i = 0; i < sizeof(theirs) / sizeof(*theirs); i++)
		ok(!leaves(theirs[i]), "the user's: %s", theirs[i]);
}

static void test_counts(void)
{
	static const char *const bad[] = { "",         "2",     "2(x4)",  "2(x",   "2(y3)",
					   "2(x2),1,", "0,1,1", "2(x2)1", "1,1,x", "99999999999,1,1" };
	uint32_t c[3];

	ok(!clf_rank_counts("2(x2),1", 3, c, NULL) && c[0] == 2 && c[1] == 2 && c[2] == 1, "2(x2),1");
	ok(!clf_rank_counts("5,1(x2)", 3, c, NULL) && c[0] == 5 && c[2] == 1, "5,1(x2)");
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		ok(clf_rank_counts(bad[i], 3, c, NULL) < 0, "refused: '%s'", bad[i]);
}

static void test_order(void)
{
	static const char conf[] =
		"SwitchName=l0 Nodes=n1,n3\nSwitchName=l1 Nodes=n2,n4\nSwitchName=top Switches=l0,l1\n";
	CLF_CLEANUP(clf_topo_destroyp) struct clf_topo *topo = NULL;
	CLF_CLEANUP(clf_strv_done) struct clf_strv hosts = { 0 };
	struct clf_error err = { 0 };
	struct clf_text text = { 0 };
	const uint32_t tasks[] = { 2, 1, 1, 1, 1 };
	uint32_t perm[5];
	bool same = true;
	char *s;

	ok(!clf_text_from_string("topology.conf", conf, &text, &err) &&
		   !clf_reader_find("slurm")->read(&text, &topo, &err),
	   "topology (%s)", err.text);
	clf_text_done(&text);
	if (!topo || clf_hostlist_expand("n[1-4],x9", 10, &hosts, &err))
		return;
	is_int(clf_rank_order(topo, &hosts, perm, &same, &err), 0, "ordered");
	ok(!same, "not Slurm's order");
	s = clf_rank_text(&hosts, perm, tasks, &err);
	is_str(s, "n1\nn1\nn3\nn2\nn4\nx9\n", "leaf by leaf from the first host, a line a task, unknown hosts last");
	free(s);
	clf_strv_done(&hosts);
	hosts = (struct clf_strv){ 0 };
	if (clf_hostlist_expand("n4,n1,n2", 10, &hosts, &err))
		return;
	is_int(clf_rank_order(topo, &hosts, perm, &same, &err), 0, "ordered");
	ok(perm[0] == 0 && perm[1] == 2 && perm[2] == 1, "rank 0 stays on the first host");
	clf_strv_done(&hosts);
	hosts = (struct clf_strv){ 0 };
	if (clf_hostlist_expand("n1,n3,n2,n4", 10, &hosts, &err))
		return;
	ok(!clf_rank_order(topo, &hosts, perm, &same, &err) && same, "an order that is right already is left alone");
	clf_strv_done(&hosts);
	hosts = (struct clf_strv){ 0 };
	ok(!clf_hostlist_expand("n1,n1", 10, &hosts, &err) && clf_rank_order(topo, &hosts, perm, &same, &err) < 0,
	   "a host twice is refused");
}

int main(void)
{
	test_argv();
	test_counts();
	test_order();
	return done_testing();
}
