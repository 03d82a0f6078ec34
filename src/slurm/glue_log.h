/* SPDX-License-Identifier: GPL-2.0-or-later */
/* glue_log.h - slurmctld's log as a sink. Never used in srun, sbatch and salloc: there it would print on the user's
 * terminal. */
#ifndef CLF_SLURM_GLUE_LOG_H
#define CLF_SLURM_GLUE_LOG_H

#include "base/log.h"

extern const struct clf_log clf_slurm_log;

#endif
