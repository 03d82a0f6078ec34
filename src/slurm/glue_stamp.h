/* SPDX-License-Identifier: GPL-2.0-or-later */
/* glue_stamp.h - what closfold writes into a job, and how it knows its own writing again.
 *
 * Job environment for hooks (spank_job_env): CLOSFOLD_DECISION, _CLASS, _GRANT, _FLAGGED, _ZONE by job_submit,
 * CLOSFOLD_LEASE, _TOKEN by prep. Any client can send entries of these names; job_submit removes every one before it
 * writes its own. slurmctld puts SPANK_ before names. admin_comment: "closfold decision=ID class=C grant=G rule=R[
 * lease=L][ note=TEXT][; what others wrote]". Users cannot write there: stamps count only when the comment names the
 * same decision and class. Memory: environment strings and comments are Slurm's (glue_mem.h); results are borrowed from
 * the job.
 */
#ifndef CLF_SLURM_GLUE_STAMP_H
#define CLF_SLURM_GLUE_STAMP_H

#include <stdbool.h>
#include <stdint.h>

#define CLF_STAMP_DECISION "CLOSFOLD_DECISION"
#define CLF_STAMP_CLASS    "CLOSFOLD_CLASS"
#define CLF_STAMP_GRANT    "CLOSFOLD_GRANT"
#define CLF_STAMP_FLAGGED  "CLOSFOLD_FLAGGED"
#define CLF_STAMP_ZONE     "CLOSFOLD_ZONE"
#define CLF_STAMP_LEASE    "CLOSFOLD_LEASE"
#define CLF_STAMP_TOKEN    "CLOSFOLD_TOKEN" /* the signed lease, for the nodes' prologs */
#define CLF_OPTION_CLASS   "_SLURM_SPANK_OPTION_closfold_data_class"
#define CLF_OPTION_GRANT   "_SLURM_SPANK_OPTION_closfold_data_grant"

/* Value of NAME or SPANK_NAME, the first of several; NULL when absent or empty. */
const char *clf_env_get(char *const *env, uint32_t n, const char *name);
/* Remove every entry whose name, after any number of SPANK_, starts with CLOSFOLD_; returns how many there were. */
uint32_t clf_env_strip(char **env, uint32_t *n);
/* Remove NAME and SPANK_NAME, all of them. */
uint32_t clf_env_remove(char **env, uint32_t *n, const char *name);
/* Append PREFIXNAME=value. */
void clf_env_add(char ***env, uint32_t *n, const char *prefix, const char *name, const char *value);

struct clf_stamp {
	bool present;   /* decision and class are there */
	bool authentic; /* and admin_comment says the same */
	bool flagged;
	char decision[33], cls[65], grant[65], zone[65];
};
struct clf_stamp clf_stamp_read(char *const *env, uint32_t n, const char *admin_comment);

struct clf_comment {
	const char *decision, *cls, *grant, *rule, *lease, *note; /* NULL = left out; grant, rule: "-" */
};
/* Our part followed by what others had written in old (its own closfold part is replaced). Slurm's string. */
char *clf_comment_make(const struct clf_comment *c, const char *old);
/* old's closfold part with lease and note replaced (NULL: removed). Slurm's string. */
char *clf_comment_note(const char *old, const char *lease, const char *note);
/* Length of the closfold part of a comment, 0 when there is none. */
uint32_t clf_comment_ours(const char *comment);

#endif
