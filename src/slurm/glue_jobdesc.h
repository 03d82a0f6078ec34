/* SPDX-License-Identifier: GPL-2.0-or-later */
/* glue_jobdesc.h - a job description as the engine sees it, and the engine's terms back into it.
 *
 * Memory: the clf_job's strings are borrowed from the description; everything written there is Slurm's (glue_mem.h).
 * Errors: none; a description is hostile and incomplete by nature.
 */
#ifndef CLF_SLURM_GLUE_JOBDESC_H
#define CLF_SLURM_GLUE_JOBDESC_H

#include <slurm/slurm.h>

#include "engine/decide.h"

/* account, partition: what Slurm will use where the description names none (its defaults), NULL = unknown. */
struct clf_job clf_jobdesc_job(const job_desc_msg_t *d, const char *account, const char *partition, const char *user,
			       int64_t now_ms);

/* Only a licence of our own name counts, in a list "a:1,b" */
bool clf_licences_have(const char *list, const char *licence /* "name:count" */);
/* list with every entry of the licence's name replaced by the licence. Slurm's string. */
char *clf_licences_with(const char *list, const char *licence);

/* An allowed, flagged decision: exclude, exclusive, licence, switches. */
void clf_jobdesc_restrict(job_desc_msg_t *d, const struct clf_terms *terms);
/* Stamps and admin_comment of an allowed decision, flagged or not. Returns how many forged stamps were removed. */
uint32_t clf_jobdesc_stamp(job_desc_msg_t *d, const struct clf_decision *dec);

#endif
