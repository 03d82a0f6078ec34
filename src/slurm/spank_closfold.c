/* SPDX-License-Identifier: GPL-2.0-or-later */
/* spank_closfold.c - routes each callback to the module of its context. */
#include "slurm/spank_closfold.h"

#include <string.h>

SPANK_PLUGIN(closfold, 1)

static struct clf_spank_args arguments(int ac, char **av)
{
	struct clf_spank_args a = { NULL };

	for (int i = 0; i < ac; i++)
		if (!strncmp(av[i], "topology=", 9))
			a.topology = av[i] + 9;
		else
			slurm_error("closfold: plugstack.conf: unknown argument '%s'", av[i]);
	return a;
}

int slurm_spank_init(spank_t sp, int ac, char **av)
{
	struct clf_spank_args args = arguments(ac, av);

	switch (spank_context()) {
	case S_CTX_LOCAL:
		return clf_spank_options(sp) || clf_spank_user_ranks(&args) ? -1 : 0;
	case S_CTX_ALLOCATOR:
	case S_CTX_REMOTE:
		return clf_spank_options(sp);
	default:
		return 0;
	}
}

int slurm_spank_init_post_opt(spank_t sp, int ac, char **av)
{
	struct clf_spank_args args = arguments(ac, av);

	if (spank_context() == S_CTX_LOCAL)
		clf_spank_user_ranks_done();
	else if (spank_context() == S_CTX_REMOTE)
		clf_spank_step_begin(sp, &args);
	return 0;
}

int slurm_spank_job_prolog(spank_t sp, int ac, char **av)
{
	(void) ac;
	(void) av;
	return clf_spank_node_prolog(sp);
}

int slurm_spank_job_epilog(spank_t sp, int ac, char **av)
{
	(void) ac;
	(void) av;
	clf_spank_node_epilog(sp);
	return 0;
}

int slurm_spank_exit(spank_t sp, int ac, char **av)
{
	(void) sp;
	(void) ac;
	(void) av;
	if (spank_context() == S_CTX_LOCAL)
		clf_spank_user_ranks_done();
	else if (spank_context() == S_CTX_REMOTE)
		clf_spank_step_end();
	return 0;
}
