/* SPDX-License-Identifier: GPL-2.0-or-later */
/* search.h - how many nodes to take from which leaf: the exact search, on counts only.
 *
 * Shapes: leaves 0..nleaves-1 with free[] nodes each; leaf l is in pod pod_of[l], pods 0..npods-1, leaves of a pod are
 * one run. required[l] nodes of a leaf must be taken (at most free[l]): such a leaf is *forced*; its other free nodes
 * cost nothing more. Answer: pods and leaves used, forced ones included, and take[l]; sum of take is `need`. Exact: lex
 * = least pods, then least leaves; hops = least pods[>=2] + leaves[>=2]. `proven` is false only when the time budget
 * ended before the dynamic programme did; then bound_leaves is below leaves. Pure:   scratch is the caller's workspace;
 * no allocation once it has grown to the fabric's size, but for the dynamic programme. Source:
 * docs/adr/0004-placement.md, sections "one leaf" to "dynamic programme".
 */
#ifndef CLF_PLACE_SEARCH_H
#define CLF_PLACE_SEARCH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct clf_search {
	uint32_t nleaves, npods;
	const uint32_t *free;     /* nleaves */
	const uint32_t *pod_of;   /* nleaves, not falling */
	const uint32_t *required; /* nleaves, NULL = none */
	uint32_t need;
	bool hops;
	uint32_t max_leaves; /* 0 = no limit */
	uint32_t budget_us;  /* 0 = no limit */
};

struct clf_found {
	uint32_t pods, leaves;
	uint32_t bound_pods, bound_leaves;
	uint32_t slack; /* free nodes left over in the pods used: less is tighter */
	bool proven;
	uint32_t *take; /* borrowed from the workspace, nleaves long */
};

struct clf_search_ws;
struct clf_search_ws *clf_search_ws_create(struct clf_error *err);
void clf_search_ws_destroy(struct clf_search_ws *ws);
CLF_DEFINE_CLEANUP(struct clf_search_ws, clf_search_ws_destroy)

/* CLF_E_EXHAUSTED when no set holds `need` within max_leaves. */
CLF_MUST_USE int clf_search(struct clf_search_ws *ws, const struct clf_search *in, struct clf_found *out,
			    struct clf_error *err);

#endif
