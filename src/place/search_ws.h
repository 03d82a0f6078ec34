/* SPDX-License-Identifier: GPL-2.0-or-later */
/* search_ws.h - what the parts of the search share; private to search.c, fill.c, pods.c, programme.c, deep.c.
 *
 * Words: f = free nodes of a leaf that is not paid for; cap = sum of f below a group; rest = nodes still to be found
 *        outside of paid leaves; pick[p] = how many leaves of pod p a set takes, always its fullest.
 */
#ifndef CLF_PLACE_SEARCH_WS_H
#define CLF_PLACE_SEARCH_WS_H

#include "place/search.h"

#define CLF_ABSENT UINT32_MAX

struct clf_step { /* how a state of the dynamic programme came about */
	uint32_t before, pod, leaves;
};

struct clf_point { /* deep.c: most nodes at a cost */
	unsigned __int128 cost;
	uint32_t nodes, leaves;
	uint32_t left, right; /* the two points it is made of; for a pod, right = leaves taken */
};

struct clf_search_ws {
	struct clf_search_tree tree;
	const struct clf_search_ask *ask;
	uint64_t deadline_us; /* 0 = none */
	bool late;            /* the budget or a memory cap ended a programme */

	const uint32_t *f;                    /* by leaf */
	uint32_t *cap[CLF_SEARCH_LEVELS + 1]; /* by group; level 1 is f of its own when leaves are paid */
	uint8_t *paid[CLF_SEARCH_LEVELS + 1]; /* by group, only with required nodes */
	uint32_t npaid[CLF_SEARCH_LEVELS + 1];
	uint32_t *take, *leaf, *scaled, *kept_take; /* by leaf */
	uint32_t ntaken;

	/* by pod */
	uint32_t *hist;          /* hist[hist_at[p] + x] = unpaid leaves of p with x free */
	uint32_t *hist_at;       /* npods + 1 */
	uint32_t *stamp, now;    /* hist of p is valid when stamp[p] == now */
	uint32_t *most;          /* largest f in the pod, with hist */
	uint32_t *value, *above; /* V_p(theta), leaves with f > theta */
	uint32_t *pick;          /* of the set found so far, by pod */
	uint32_t *best;          /* of the set a part has just found, valid for the pods of its group */
	uint32_t *set, nset;     /* pods.c: the pods of the best set so far */
	uint32_t *kept;          /* pods.c: the best pick over numbers of pods */
	uint32_t *order;         /* pods.c, programme.c: unpaid pods */
	uint64_t *key;           /* pods.c: to select pods by */
	uint32_t *mark[CLF_SEARCH_LEVELS + 1], tick; /* by group: counted in this round when mark == tick */
	uint32_t *sum;                               /* histogram over several pods; largest leaf + 1 */
	uint32_t largest;                            /* leaf of the tree */

	/* dynamic programmes; grown on demand */
	int64_t *grid;
	uint32_t *grid_step;
	size_t grid_cap;
	struct clf_step *steps;
	size_t nsteps, steps_cap;
	struct clf_point *points;
	size_t npoints, points_cap;
	uint32_t *prefix; /* largest pod's leaves + 1 */

	uint32_t *memory; /* the block behind the arrays of uint32_t */
	uint8_t *paid_memory;
};

uint64_t clf_search_now_us(void);
bool clf_search_late(struct clf_search_ws *ws); /* has the budget ended? Sets ws->late */

/* fill.c */
void clf_search_histogram(struct clf_search_ws *ws, uint32_t pod);
/* Fewest leaves of one pod that hold rest, CLF_ABSENT when it does not. */
uint32_t clf_search_pod_leaves(struct clf_search_ws *ws, uint32_t pod, uint32_t rest);
/* Nodes in the x fullest leaves of a pod; *last: in the last of them. */
uint32_t clf_search_pod_holds(struct clf_search_ws *ws, uint32_t pod, uint32_t x, uint32_t *last);
/* Groups used by pick[] (levels 1 and up, paid ones too). */
void clf_search_used(struct clf_search_ws *ws, const uint32_t *pick, uint32_t used[CLF_SEARCH_LEVELS + 1]);
/* take[], leaf[] from ws->pick, after making it tighter at the same cost. */
void clf_search_fill(struct clf_search_ws *ws, uint32_t rest, struct clf_found *out);

/* pods.c: sets in one level-3 group beside its paid pods. Found: ws->best[p] = leaves of p, for each pod of the group.
 */
struct clf_plan {
	uint32_t pods, leaves; /* unpaid ones used */
	uint32_t bound;        /* no m pods need fewer leaves */
	bool proven;
};
uint32_t clf_search_least_pods(struct clf_search_ws *ws, uint32_t group, uint32_t rest);
/* Fewest leaves whatever the pods; CLF_ABSENT when the group does not hold rest. */
uint32_t clf_search_least_leaves(struct clf_search_ws *ws, uint32_t group, uint32_t rest);
/* Fewest leaves in at most m unpaid pods, when that is at most `limit`. */
bool clf_search_pods(struct clf_search_ws *ws, uint32_t group, uint32_t m, uint32_t rest, uint32_t limit,
		     struct clf_plan *plan);
/* Least pods + leaves, when that is less than `below`, with at most `limit` leaves. */
bool clf_search_joint(struct clf_search_ws *ws, uint32_t group, uint32_t rest, uint32_t limit, uint32_t below,
		      struct clf_plan *plan);

/* programme.c: order[0..n-1] are unpaid pods by falling value[], which is V(theta). A set of at most `most` leaves in
 * at most m of them: returns its leaves (ws->best as above) or CLF_ABSENT. No set needs less than `bound`. */
uint32_t clf_search_programme(struct clf_search_ws *ws, uint32_t group, uint32_t n, uint32_t m, uint32_t rest,
			      uint32_t theta, uint32_t most, uint32_t bound);

/* deep.c: the same for a group above level 3, by the ask's objective. *proven is false when the budget ended. */
bool clf_search_deep(struct clf_search_ws *ws, uint32_t level, uint32_t group, uint32_t rest, uint32_t limit,
		     bool *proven);

#endif
