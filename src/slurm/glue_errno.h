/* SPDX-License-Identifier: GPL-2.0-or-later */
/* glue_errno.h - closfold's codes as Slurm's numbers: the only place that knows both. */
#ifndef CLF_SLURM_GLUE_ERRNO_H
#define CLF_SLURM_GLUE_ERRNO_H

#include "base/err.h"

int clf_slurm_errno(enum clf_code code);

#endif
