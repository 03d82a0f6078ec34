/* SPDX-License-Identifier: GPL-2.0-or-later */
/* rank_argv.h - does an srun command line leave the rank order to us?
 *
 * srun parses its options after slurm_spank_init, so the command line is looked at here. Doubt means no: an option that
 * is not known, an abbreviation that could be one of the words below, a last option without its argument. Pure. Source:
 * srun(1), the option table of Slurm 22.05 (which options take an argument).
 */
#ifndef CLF_SLURM_RANK_ARGV_H
#define CLF_SLURM_RANK_ARGV_H

#include <stdbool.h>
#include <stddef.h>

/* argv[0] is srun. false when it names nodes, tasks, order, another job, a component of a heterogeneous job, or a
 * terminal. */
bool clf_rank_argv_free(const char *const *argv, size_t argc);

#endif
