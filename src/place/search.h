/* SPDX-License-Identifier: GPL-2.0-or-later */
/* search.h - how many nodes to take from which leaf: the exact search, on counts only.
 *
 * Shapes: a forest of groups in levels. Level 1 are the leaves; `levels` (at least 3; pad lower trees with groups of
 * one child) are the roots, and nothing spans two of them. Children of group g of level l are the run [first[l][g],
 * first[l][g + 1]) of level l - 1. Level 2 are the pods. Asks:   free[] nodes by leaf; required[] of them must be
 * taken: such a leaf is *paid*, and so is each group above it; what else a paid leaf holds costs nothing. Sum of take
 * is `need`. Exact:  lex = fewest groups at the highest level first, leaves last; hops = least sum over levels of the
 * groups used where that is 2 or more. Not proven only when the time budget or the memory cap ended a dynamic
 * programme; then the bounds are below what was found. Memory: all scratch is in the workspace; it grows only when a
 * dynamic programme needs more than it had. Source: docs/adr/0004-placement.md.
 */
#ifndef CLF_PLACE_SEARCH_H
#define CLF_PLACE_SEARCH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

#define CLF_SEARCH_LEVELS 20 /* CLF_MAX_LEVELS */

struct clf_search_tree {
	uint32_t levels;
	uint32_t n[CLF_SEARCH_LEVELS + 1];       /* groups of a level */
	uint32_t *first[CLF_SEARCH_LEVELS + 1];  /* levels 2 and up; n + 1 entries */
	uint32_t *parent[CLF_SEARCH_LEVELS + 1]; /* levels below the roots */
	uint32_t *size;                          /* nodes of a leaf; free[] never has more */
};

struct clf_search_ask {
	const uint32_t *free;     /* by leaf */
	const uint32_t *required; /* by leaf, at most free[]; NULL = none */
	uint32_t need;
	bool hops;
	bool blocks;         /* pattern rd: among equal sets, counts a leaf in multiples of the largest power of two */
	uint32_t max_leaves; /* 0 = no limit */
	uint32_t budget_us;  /* 0 = no limit */
};

struct clf_found {
	uint32_t level;                       /* lowest level with one group that holds the set */
	uint32_t used[CLF_SEARCH_LEVELS + 1]; /* groups used, by level */
	uint32_t bound_leaves, bound_pods;
	bool proven;
	/* borrowed from the workspace until the next search */
	const uint32_t *take; /* by leaf; 0 for leaves that are not used */
	const uint32_t *leaf; /* the used[1] leaves that are, rising */
};

struct clf_search_ws;
/* tree: borrowed while the workspace lives. NULL: out of memory. */
struct clf_search_ws *clf_search_ws_create(const struct clf_search_tree *tree, struct clf_error *err);
void clf_search_ws_destroy(struct clf_search_ws *ws);
CLF_DEFINE_CLEANUP(struct clf_search_ws, clf_search_ws_destroy)

/* true when a set was found; false when none holds `need` below one root, with all required nodes, within max_leaves.
 */
bool clf_search(struct clf_search_ws *ws, const struct clf_search_ask *ask, struct clf_found *out);

#endif
