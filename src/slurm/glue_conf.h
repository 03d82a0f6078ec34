/* SPDX-License-Identifier: GPL-2.0-or-later */
/* glue_conf.h - where closfold's files are, seen from Slurm's.
 * slurm_conf is slurm.conf's path as Slurm itself uses it, or NULL for Slurm's default place; never taken from a user's
 * environment in a daemon. */
#ifndef CLF_SLURM_GLUE_CONF_H
#define CLF_SLURM_GLUE_CONF_H

#include <stddef.h>

#include "base/err.h"

/* The file NAME in slurm.conf's directory. -1 when it does not fit. */
CLF_MUST_USE int clf_glue_conf_beside(const char *slurm_conf, const char *name, char *buf, size_t size);
/* closfold.conf beside slurm.conf when there is one, else /etc/closfold/closfold.conf when there is one, else -1. */
CLF_MUST_USE int clf_glue_conf_path(const char *slurm_conf, char *buf, size_t size);

#endif
