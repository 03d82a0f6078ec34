/* SPDX-License-Identifier: GPL-2.0-or-later */
/* prep_io.h - what the queue does to slurmctld: prep_closfold.c in the plugin, a recorder in tests. Called without any
 * lock held. */
#ifndef CLF_SLURM_PREP_IO_H
#define CLF_SLURM_PREP_IO_H

#include <stdbool.h>
#include <stdint.h>

int64_t clf_prep_now_ms(void);
/* The job got its lease: stamp it, with the signed form for its nodes. */
void clf_prep_stamp(uint32_t job_id, const char *lease, const char *token);
/* The start failed: reason where the user sees it; hold: the job stays pending until an operator releases it. */
void clf_prep_note(uint32_t job_id, const char *reason, bool hold);
/* Answer an asynchronous prolog or epilog. */
void clf_prep_answer_start(uint32_t job_id, bool ok);
void clf_prep_answer_end(uint32_t job_id);

#endif
