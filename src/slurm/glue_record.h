/* SPDX-License-Identifier: GPL-2.0-or-later */
/* glue_record.h - records from inside slurmctld to closfoldd.
 *
 * Threads: any; one connection a plugin, under a mutex. Time: sync waits at most submit_timeout_ms, async never waits.
 * A record that could not be handed over is counted; the gap in the producer's numbers shows in the log.
 */
#ifndef CLF_SLURM_GLUE_RECORD_H
#define CLF_SLURM_GLUE_RECORD_H

#include "audit/record.h"
#include "engine/decide.h"
#include "slurm/site.h"

CLF_MUST_USE int clf_slurm_record_init(const char *producer, const char *runtime_dir, struct clf_error *err);
void clf_slurm_record_done(void);
/* dec may be NULL. f's common fields (cluster, producer, class, policy) are filled in here. wait: 0 only when it is
 * durable. */
int clf_slurm_record(struct clf_record_facts *f, const struct clf_slurm_view *v, const struct clf_decision *dec,
		     bool wait, struct clf_error *err);
uint64_t clf_slurm_record_lost(void);

#endif
