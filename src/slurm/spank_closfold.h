/* SPDX-License-Identifier: GPL-2.0-or-later */
/* spank_closfold.h - the three places the SPANK plugin runs in; spank_closfold.c only routes to them.
 *
 * Arguments in plugstack.conf: topology=FILE (default: what closfold.conf names, else topology.conf beside slurm.conf).
 * Every function returns 0 or -1 (the submission, the step, the node's prolog then fails).
 */
#ifndef CLF_SLURM_SPANK_CLOSFOLD_H
#define CLF_SLURM_SPANK_CLOSFOLD_H

#include <stdbool.h>
#include <stdint.h> /* spank.h uses it without including it */

#include <slurm/spank.h>

struct clf_spank_args {
	const char *topology; /* borrowed from argv, NULL = look for it */
};

/* spank_user.c: srun, sbatch, salloc. Nothing is printed there but refusals. */
int clf_spank_options(spank_t sp);
int clf_spank_user_ranks(const struct clf_spank_args *args); /* before srun parses its options */
void clf_spank_user_ranks_done(void);                        /* after */

/* spank_node.c: the node's prolog and epilog. */
int clf_spank_node_prolog(spank_t sp);
void clf_spank_node_epilog(spank_t sp);

/* spank_step.c: slurmstepd. */
void clf_spank_step_begin(spank_t sp, const struct clf_spank_args *args);
void clf_spank_step_end(void);

#endif
