/* SPDX-License-Identifier: GPL-2.0-or-later */
/* site_nodes.h - copy of slurmctld's node table: names and features. The only reader of node records; private headers.
 * Memory: init/done on the caller's storage. */
#ifndef CLF_SLURM_SITE_NODES_H
#define CLF_SLURM_SITE_NODES_H

#include <time.h>

#include "base/strv.h"

struct clf_slurm_nodes {
	struct clf_strv names, features; /* same index; features "a,b", "" for none */
	uint64_t hash;
};

uint32_t clf_slurm_nodes_count(void); /* node lock held */
time_t clf_slurm_nodes_changed(void); /* when slurmctld last touched a node; a hint, read without lock */
/* locked: the caller holds the node lock; else it is taken here. */
CLF_MUST_USE int clf_slurm_nodes_copy(bool locked, struct clf_slurm_nodes *out, struct clf_error *err);
void clf_slurm_nodes_done(struct clf_slurm_nodes *n);

#endif
