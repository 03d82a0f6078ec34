/* SPDX-License-Identifier: GPL-2.0-or-later */
/* timing.h - how long decisions take inside slurmctld: each thousand, one debug line with median and 99th percentile in
 * microseconds. Threads: any. */
#ifndef CLF_SLURM_TIMING_H
#define CLF_SLURM_TIMING_H

#include <stdint.h>

#include "base/log.h"

uint64_t clf_timing_now(void); /* nanoseconds, monotonic */
void clf_timing_add(uint64_t started, const struct clf_log *log);

#endif
