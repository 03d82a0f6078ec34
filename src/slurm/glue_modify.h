/* SPDX-License-Identifier: GPL-2.0-or-later */
/* glue_modify.h - what a change of a flagged job may touch, field by field, and whether the result still keeps the
 * terms.
 *
 * A description of an update holds only what changes (other fields have the values of slurm_init_job_desc_msg()). The
 * table names every field of job_desc_msg_t; a test compares it with slurm.h, so that a field of a newer Slurm cannot
 * be forgotten. Source: _update_job() of Slurm 22.05.8, src/slurmctld/job_mgr.c.
 */
#ifndef CLF_SLURM_GLUE_MODIFY_H
#define CLF_SLURM_GLUE_MODIFY_H

#include <slurm/slurm.h>

#include "engine/decide.h"

enum clf_modify_rule {
	CLF_MODIFY_FREE,   /* cannot weaken the terms */
	CLF_MODIFY_CHECK,  /* the result is judged */
	CLF_MODIFY_REFUSE, /* no user may touch it on a flagged job */
	CLF_MODIFY_NONE,   /* slurmctld takes no notice in an update, or sets it itself */
};
struct clf_modify_field {
	const char *name;
	size_t offset, size;
	enum clf_modify_rule rule;
};
extern const struct clf_modify_field clf_modify_fields[];
extern const size_t clf_modify_nfields;

/* The job as it is now. */
struct clf_modify_now {
	bool pending, exclusive, licence_holder;
	const char *exc_nodes, *licences;
	uint32_t req_switch, wait4switch;
};

/* First changed field a user may not touch, NULL when there is none; names of all changed fields into list ("a,b"). */
const char *clf_modify_forbidden(const job_desc_msg_t *d, bool pending, char *list, size_t size);
/* The job after the change, for the engine: fields of d over those of now. */
void clf_modify_merge(const job_desc_msg_t *d, struct clf_job *job);
/* Does the job after the change keep the terms? NULL or why not (static text). */
const char *clf_modify_breaks(const job_desc_msg_t *d, const struct clf_modify_now *now, const struct clf_terms *terms);

#endif
