/* SPDX-License-Identifier: GPL-2.0-or-later */
/* order.h - rank order of a given node set on the fabric, and what an order costs.
 *
 * Depth-first order: each pod, leaf and domain in one run, which is optimal for the ring (proof:
 * docs/adr/0004-placement.md). The order starts at `first` (rank 0's host; scripts take it as master), then goes on in
 * its leaf, its pod, then the others. Patterns change the order of siblings only, never the runs, and leave the first
 * leaf in front: rd puts leaves whose count has the larger power of two first; tree tries sorted and rotated siblings
 * and keeps what NCCL's two binary trees cross least with. Nodes the topology does not place come last (but for
 * `first`), in the order given: an order always is a permutation of its input. Pure; allocation only for the scratch of
 * clf_order().
 */
#ifndef CLF_PLACE_ORDER_H
#define CLF_PLACE_ORDER_H

#include "place/place.h"

/* Permute nodes[0..n-1] in place. first: a node id in the list, or CLF_NONE for the lowest id. */
CLF_MUST_USE int clf_order(const struct clf_topo *topo, uint32_t *nodes, uint32_t n, uint32_t first,
			   enum clf_pattern pattern, struct clf_error *err);

/* The same for nodes[] that are in depth-first order already: only the siblings are moved. */
CLF_MUST_USE int clf_order_for(const struct clf_topo *topo, uint32_t *nodes, uint32_t n, enum clf_pattern pattern,
			       struct clf_error *err);

/* Cost of an order, by counting its ring edges; n = 1 costs nothing; edges to unplaced nodes or across components count
 * as the highest level of the topology plus one. */
struct clf_cost clf_order_cost(const struct clf_topo *topo, const uint32_t *nodes, uint32_t n);

/* Fewest leaves (level 1 groups) that n nodes of the set `eligible` need, ignoring what is busy; 0 when they can never
 * fit in one component. For req_switch. */
uint32_t clf_min_leaves(const struct clf_topo *topo, const struct clf_bitmap *eligible, uint32_t n);

#endif
