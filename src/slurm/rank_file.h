/* SPDX-License-Identifier: GPL-2.0-or-later */
/* rank_file.h - the hosts of a job in the order of the fabric, and the file srun reads them from.
 *
 * Rank 0 stays on the job's first node in Slurm's order (where a batch script runs and where scripts look for the
 * master); from there its leaf, its pod, the others (clf_order()). Hosts the topology does not know keep their place at
 * the end. Memory: strv outputs are init/done on the caller's storage. Errors: CLF_E_INVALID counts and nodes do not
 * fit each other: there is then no order to give.
 */
#ifndef CLF_SLURM_RANK_FILE_H
#define CLF_SLURM_RANK_FILE_H

#include <stdint.h>

#include "base/strv.h"
#include "topo/topo.h"

#define CLF_RANK_MAX_TASKS (1u << 20)

/* "2(x3),1" to counts, one a node; exactly n of them. */
CLF_MUST_USE int clf_rank_counts(const char *tasks_per_node, size_t n, uint32_t *counts, struct clf_error *err);

/* perm[0..n-1]: position in hosts of the k-th host in fabric order. *same: it is the order given. */
CLF_MUST_USE int clf_rank_order(const struct clf_topo *topo, const struct clf_strv *hosts, uint32_t *perm, bool *same,
				struct clf_error *err);

/* The file's text: one line a task (counts NULL: one a host). Owned; NULL on failure. */
char *clf_rank_text(const struct clf_strv *hosts, const uint32_t *perm, const uint32_t *counts, struct clf_error *err);

/* The topology a host of the cluster has: file when not NULL, else what closfold.conf beside slurm.conf or in
 * /etc/closfold names, else topology.conf beside slurm.conf. slurm_conf may be NULL. */
CLF_MUST_USE int clf_rank_topology(const char *file, const char *slurm_conf, struct clf_topo **out,
				   struct clf_error *err);

#endif
