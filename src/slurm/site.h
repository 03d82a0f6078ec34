/* SPDX-License-Identifier: GPL-2.0-or-later */
/* site.h - policy, topology and node table in force inside slurmctld, for job_submit and prep.
 *
 * One immutable view, replaced whole: a thread looks each second whether closfoldd published another snapshot or
 * slurmctld's node table changed, builds the next view outside all locks and swaps it. A snapshot that cannot be read
 * keeps the old view; said once. Locks: get is called with Slurm's node lock held (read or write) and takes a mutex for
 * a pointer copy; only the first call after a change of the node count builds the view itself. The thread takes the
 * node read lock to copy names and features. Memory: clf_slurm_site_get() is a reference, given back with
 * clf_slurm_site_put().
 */
#ifndef CLF_SLURM_SITE_H
#define CLF_SLURM_SITE_H

#include "engine/decide.h"
#include "policy/conf.h"
#include "policy/snapshot.h"

struct clf_slurm_view {
	const struct clf_conf *conf; /* borrowed, lives until clf_slurm_site_done() */
	struct clf_snapshot *snapshot;
	struct clf_site *site;
	bool names_users; /* the policy asks for user names */
	int refs;
};

/* Reads closfold.conf and the snapshot. Without a usable closfold.conf defaults are in force, which is said in the log.
 * Never fails for want of a snapshot: the view is then NULL. -1: no thread, no memory. */
CLF_MUST_USE int clf_slurm_site_init(const char *slurm_conf, struct clf_error *err);
void clf_slurm_site_done(void);
const struct clf_conf *clf_slurm_site_conf(void);
struct clf_slurm_view *clf_slurm_site_get(void); /* NULL = no policy in force */
void clf_slurm_site_put(struct clf_slurm_view *v);
static inline void clf_slurm_site_putp(struct clf_slurm_view **v)
{
	clf_slurm_site_put(*v);
}

#endif
