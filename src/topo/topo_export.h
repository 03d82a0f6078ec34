/* SPDX-License-Identifier: GPL-2.0-or-later */
/* topo_export.h - a topology for others to read.
 *
 * Memory: *out is owned text that ends with a newline.
 * Errors: CLF_E_INVALID when the other side could not take it (no placed node; a name Slurm refuses).
 * Source: topology.conf(5) and slurm.conf(5) of Slurm 22.05 to 26.05; the DOT language of Graphviz.
 */
#ifndef CLF_TOPO_TOPO_EXPORT_H
#define CLF_TOPO_TOPO_EXPORT_H

#include "topo/topo.h"

/* topology.conf for topology/tree: a line a leaf, a line a group above. Unplaced nodes stand in a comment: Slurm warns
 * of them, jobs of several nodes do not span them. Several components share no root. */
CLF_MUST_USE int clf_topo_export_slurm(const struct clf_topo *t, char **out, size_t *len, struct clf_error *err);

/* Node names along the fabric, one host expression a leaf: the order for NodeName lines. */
CLF_MUST_USE int clf_topo_export_nodes(const struct clf_topo *t, char **out, size_t *len, struct clf_error *err);

CLF_MUST_USE int clf_topo_export_dot(const struct clf_topo *t, char **out, size_t *len, struct clf_error *err);

/* Host expression of a leaf's nodes, in the order of the fabric. Owned; NULL on failure. */
char *clf_topo_leaf_hosts(const struct clf_topo *t, uint32_t leaf, struct clf_error *err);

#endif
