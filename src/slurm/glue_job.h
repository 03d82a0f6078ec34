/* SPDX-License-Identifier: GPL-2.0-or-later */
/* glue_job.h - slurmctld's job records and defaults, read under its locks (job read or write, partition read); private
 * headers. */
#ifndef CLF_SLURM_GLUE_JOB_H
#define CLF_SLURM_GLUE_JOB_H

#include "slurm/glue_private.h"

#include "engine/decide.h"
#include "slurm/glue_modify.h"
#include "slurm/glue_stamp.h"
#include "slurm/site.h"

/* The user's name into buf, NULL when the policy does not ask for it (a look-up may be slow) or there is none. */
const char *clf_slurm_user(const struct clf_slurm_view *v, uint32_t uid, char *buf, size_t size);
/* Account Slurm uses for a user who names none; NULL without accounting. Borrowed. */
const char *clf_slurm_default_account(uint32_t uid);
const char *clf_slurm_default_partition(void); /* borrowed, may be NULL */

/* A job as it is; stamps in *stamp. Strings are borrowed from the record and *stamp. */
struct clf_job clf_slurm_job(const job_record_t *j, const struct clf_stamp *stamp, const char *user, int64_t now_ms);
struct clf_modify_now clf_slurm_job_now(const job_record_t *j);

/* NULL, or why jobs of these partitions ("a,b") may have to share their nodes. */
const char *clf_slurm_partitions_share(const char *partitions);
/* NULL, or why the allocation is not the job's alone. Node lock held. */
const char *clf_slurm_nodes_shared(const job_record_t *j);
/* Does a dependency expand another job, or the text name "expand:"? */
bool clf_slurm_expands(const char *dependency);

#endif
