/* SPDX-License-Identifier: GPL-2.0-or-later */
/* place.h - choose nodes for one request.
 *
 * Shapes: topo is read-only; the node sets of a request are clf_topo_nnodes(topo) bits wide; the answer holds exactly
 *         request->nodes node ids, in rank order.
 * Units:  cost in ring crossings per level and in switch hops (2 x level of the lowest common switch, summed over the
 * closed ring). Errors: CLF_E_EXHAUSTED no set is free now; CLF_E_INVALID this request can never fit this topology.
 * err->text says why. Memory: *out of clf_place() is owned, clf_placement_destroy(); all inputs are borrowed for the
 * call. Pure:   no I/O, no clock but for the search budget, no globals; equal input, equal output, also when the source
 * of the topology lists the same fabric in another order. Exact:  not greedy: `proven` says whether the bound was met;
 * with budget_us = 0 it is, short of the memory caps of the dynamic programmes (hundreds of thousands of nodes in
 * thousands of pods). Source: docs/adr/0004-placement.md for the cost and the certificate; closed forms proven there.
 */
#ifndef CLF_PLACE_PLACE_H
#define CLF_PLACE_PLACE_H

#include "topo/topo.h"

enum clf_objective { CLF_OBJECTIVE_LEX, CLF_OBJECTIVE_HOPS };
enum clf_pattern { CLF_PATTERN_RING, CLF_PATTERN_RD, CLF_PATTERN_TREE };

struct clf_request {
	uint32_t nodes;
	enum clf_objective objective;
	enum clf_pattern pattern;
	const struct clf_bitmap *free; /* allowed and free now */
	const struct clf_bitmap
		*eligible; /* could ever be used, free ones too; NULL = all. Tells "not now" from "never" */
	const struct clf_bitmap *required; /* must be in the set; NULL = none */
	uint32_t max_leaves;               /* 0 = no limit */
	uint32_t budget_us;                /* 0 = until proven */
};

struct clf_cost {
	uint32_t leaves, pods;
	uint32_t leaf_crossings, pod_crossings; /* ring edges whose ends differ at that level */
	uint64_t hops;
};

struct clf_placement {
	uint32_t count;
	uint32_t *order;         /* node ids in rank order: depth-first, siblings by name */
	struct clf_cost cost;    /* of `order` as delivered */
	struct clf_cost optimal; /* best by the objective over the free nodes */
	bool proven;
	uint32_t bound_leaves, bound_pods; /* lower bounds; equal to optimal when proven */
};

/* Scratch for one topology, which it borrows, reused over calls: a decision for pattern ring then allocates nothing,
 * but where a dynamic programme needs more than any before. One thread at a time. */
struct clf_place_ws;
struct clf_place_ws *clf_place_ws_create(const struct clf_topo *topo, struct clf_error *err);
void clf_place_ws_destroy(struct clf_place_ws *ws);
CLF_DEFINE_CLEANUP(struct clf_place_ws, clf_place_ws_destroy)

/* out is the caller's; out->order is borrowed from the workspace until its next call. */
CLF_MUST_USE int clf_place_with(struct clf_place_ws *ws, const struct clf_request *req, struct clf_placement *out,
				struct clf_error *err);
CLF_MUST_USE int clf_place(const struct clf_topo *topo, const struct clf_request *req, struct clf_placement **out,
			   struct clf_error *err);
void clf_placement_destroy(struct clf_placement *p);
CLF_DEFINE_CLEANUP(struct clf_placement, clf_placement_destroy)

#endif
