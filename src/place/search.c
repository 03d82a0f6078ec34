/* SPDX-License-Identifier: GPL-2.0-or-later */
/* search.c - see search.h: which levels and groups are searched, and what is best among their answers. */
#include "place/search.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "place/search_ws.h"

uint64_t clf_search_now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t) t.tv_sec * 1000000 + (uint64_t) t.tv_nsec / 1000;
}

bool clf_search_late(struct clf_search_ws *ws)
{
	if (ws->deadline_us && !ws->late && clf_search_now_us() > ws->deadline_us)
		ws->late = true;
	return ws->late;
}

/* Cut n entries off the block at *at. */
static uint32_t *cut(uint32_t *block, size_t *at, size_t n)
{
	uint32_t *p = block ? block + *at : NULL;

	*at += n;
	return p;
}

/* Lay the arrays out in a block, or (NULL) find its size. */
static size_t lay_out(struct clf_search_ws *ws, uint32_t *block)
{
	const struct clf_search_tree *t = &ws->tree;
	size_t at = 0, npods = t->n[2], nleaves = t->n[1];

	for (uint32_t l = 1; l <= t->levels; l++) {
		ws->cap[l] = cut(block, &at, t->n[l]);
		ws->mark[l] = cut(block, &at, t->n[l]);
	}
	ws->take = cut(block, &at, nleaves);
	ws->leaf = cut(block, &at, nleaves);
	ws->scaled = cut(block, &at, nleaves);
	ws->kept_take = cut(block, &at, nleaves);
	ws->prefix = cut(block, &at, nleaves + 1);
	ws->hist_at = cut(block, &at, npods + 1);
	uint32_t **const by_pod[] = { &ws->stamp, &ws->most, &ws->value, &ws->above, &ws->pick,
				      &ws->best,  &ws->kept, &ws->set,   &ws->order };

	for (size_t i = 0; i < sizeof(by_pod) / sizeof(*by_pod); i++)
		*by_pod[i] = cut(block, &at, npods);
	at += at % 2;
	ws->key = (uint64_t *) cut(block, &at, 2 * (npods + 1));
	ws->sum = cut(block, &at, (size_t) ws->largest + 1);
	ws->hist = cut(block, &at, 0); /* last: its size is the sum over pods */
	return at;
}

struct clf_search_ws *clf_search_ws_create(const struct clf_search_tree *tree, struct clf_error *err)
{
	CLF_CLEANUP(clf_search_ws_destroyp) struct clf_search_ws *ws = calloc(1, sizeof(*ws));
	size_t hist = 0, groups = 0, fixed;

	if (!ws) {
		clf_fail(err, CLF_E_NOMEM, "out of memory");
		return NULL;
	}
	ws->tree = *tree;
	for (uint32_t l = 1; l <= tree->levels; l++)
		groups += tree->n[l];
	for (uint32_t p = 0; p < tree->n[2]; p++) {
		uint32_t most = 0;

		for (uint32_t l = tree->first[2][p]; l < tree->first[2][p + 1]; l++)
			most = tree->size[l] > most ? tree->size[l] : most;
		hist += most + 1;
		ws->largest = most > ws->largest ? most : ws->largest;
	}
	fixed = lay_out(ws, NULL);
	ws->memory = calloc(fixed + hist, sizeof(*ws->memory));
	ws->paid_memory = calloc(groups + 1, 1);
	if (!ws->memory || !ws->paid_memory) {
		clf_fail(err, CLF_E_NOMEM, "out of memory");
		return NULL;
	}
	lay_out(ws, ws->memory);
	groups = 0;
	for (uint32_t l = 1; l <= tree->levels; l++) {
		ws->paid[l] = ws->paid_memory + groups;
		groups += tree->n[l];
	}
	for (uint32_t p = 0; p < tree->n[2]; p++) {
		uint32_t most = 0;

		for (uint32_t l = tree->first[2][p]; l < tree->first[2][p + 1]; l++)
			most = tree->size[l] > most ? tree->size[l] : most;
		ws->hist_at[p + 1] = ws->hist_at[p] + most + 1;
	}
	return CLF_STEAL(ws);
}

void clf_search_ws_destroy(struct clf_search_ws *ws)
{
	if (!ws)
		return;
	free(ws->memory);
	free(ws->paid_memory);
	free(ws->grid);
	free(ws->grid_step);
	free(ws->steps);
	free(ws->points);
	free(ws);
}

/* Which groups are paid for, and f without their leaves. Returns what is still to be found outside of paid leaves. */
static uint32_t pay(struct clf_search_ws *ws)
{
	const struct clf_search_tree *t = &ws->tree;
	const struct clf_search_ask *ask = ws->ask;
	uint32_t rest = ask->need, nothing = 0;

	memset(ws->npaid, 0, sizeof(ws->npaid));
	ws->f = ask->free;
	if (!ask->required)
		return rest;
	for (uint32_t l = 0; l < t->n[1]; l++) {
		ws->paid[1][l] = ask->required[l] != 0;
		ws->npaid[1] += ws->paid[1][l];
		ws->cap[1][l] = ws->paid[1][l] ? 0 : ask->free[l];
		if (ws->paid[1][l])
			rest = ask->free[l] < rest ? rest - ask->free[l] : nothing;
	}
	ws->f = ws->cap[1];
	for (uint32_t l = 2; l <= t->levels; l++)
		for (uint32_t g = 0; g < t->n[l]; g++) {
			ws->paid[l][g] = 0;
			for (uint32_t c = t->first[l][g]; c < t->first[l][g + 1]; c++)
				ws->paid[l][g] |= ws->paid[l - 1][c];
			ws->npaid[l] += ws->paid[l][g];
		}
	return rest;
}

static void sum_up(struct clf_search_ws *ws)
{
	const struct clf_search_tree *t = &ws->tree;

	for (uint32_t l = 2; l <= t->levels; l++) {
		const uint32_t *below = l == 2 ? ws->f : ws->cap[l - 1];

		for (uint32_t g = 0; g < t->n[l]; g++) {
			uint32_t sum = 0;

			for (uint32_t c = t->first[l][g]; c < t->first[l][g + 1]; c++)
				sum += below[c];
			ws->cap[l][g] = sum;
		}
	}
}

/* Tightest leaf that holds all; among equals the one in the tightest pod, then the lowest. */
static uint32_t one_leaf(struct clf_search_ws *ws)
{
	uint32_t need = ws->ask->need, least = CLF_ABSENT, at = CLF_ABSENT, pod = CLF_ABSENT, tight = CLF_ABSENT;

	for (uint32_t l = 0; l < ws->tree.n[1]; l++)
		if (ws->f[l] >= need && ws->f[l] < least)
			least = ws->f[l];
	if (least == CLF_ABSENT)
		return CLF_ABSENT;
	for (uint32_t l = 0; l < ws->tree.n[1]; l++) {
		uint32_t p = ws->tree.parent[1][l];

		if (ws->f[l] != least || p == pod)
			continue;
		pod = p;
		if (ws->cap[2][p] < tight) {
			tight = ws->cap[2][p];
			at = l;
		}
	}
	return at;
}

/* May the set lie in this group: does it hold the rest, and all that is required? */
static bool may_hold(const struct clf_search_ws *ws, uint32_t level, uint32_t g, uint32_t rest)
{
	if (ws->npaid[1] && (ws->npaid[level] > 1 || !ws->paid[level][g]))
		return false;
	return ws->cap[level][g] >= rest;
}

/* The answer so far. */
struct best {
	bool any, proven;
	uint32_t used[CLF_SEARCH_LEVELS + 1];
	uint32_t cost;  /* hops: groups used where they are 2 or more */
	uint32_t room;  /* free nodes of the group it lies in, less is tighter */
	uint32_t bound; /* lex: no group of level 3 has a set of as few pods with fewer unpaid leaves */
};

static uint32_t cost_of(const struct clf_search_ws *ws, const uint32_t *used)
{
	uint32_t c = 0;

	for (uint32_t l = 1; l <= ws->tree.levels; l++)
		c += used[l] > 1 ? used[l] : 0;
	return c;
}

/* Keep ws->best (valid in pods [a, b)) when it is better than what there is. */
static void offer(struct clf_search_ws *ws, struct best *best, uint32_t a, uint32_t b, uint32_t room)
{
	uint32_t used[CLF_SEARCH_LEVELS + 1], cost;
	int order = 0;

	memset(ws->best, 0, a * sizeof(*ws->best));
	memset(ws->best + b, 0, (ws->tree.n[2] - b) * sizeof(*ws->best));
	clf_search_used(ws, ws->best, used);
	cost = cost_of(ws, used);
	if (best->any) {
		if (ws->ask->hops)
			order = (cost > best->cost) - (cost < best->cost);
		for (uint32_t l = ws->tree.levels; l > 0 && !order; l--)
			order = (used[l] > best->used[l]) - (used[l] < best->used[l]);
		if (!order)
			order = (room > best->room) - (room < best->room);
	}
	if (best->any && order >= 0)
		return;
	best->any = true;
	best->cost = cost;
	best->room = room;
	memcpy(best->used, used, sizeof(best->used));
	memcpy(ws->pick, ws->best, ws->tree.n[2] * sizeof(*ws->pick));
}

/* Level 2: the pod that needs the fewest leaves, the tightest of these. */
static void search_pod(struct clf_search_ws *ws, uint32_t rest, uint32_t limit, struct best *best)
{
	uint32_t at = CLF_ABSENT, least = limit, theta = 1;

	for (uint32_t p = 0; p < ws->tree.n[2]; p++) {
		uint32_t k, want, last;

		if (!may_hold(ws, 2, p, rest))
			continue;
		/* with an equal number of leaves only a tighter pod is of use */
		want = at != CLF_ABSENT && ws->cap[2][p] >= ws->cap[2][at] ? least - 1 : least;
		if (at != CLF_ABSENT) {
			uint64_t most = (uint64_t) want * theta;

			for (uint32_t l = ws->tree.first[2][p]; l < ws->tree.first[2][p + 1]; l++)
				most += ws->f[l] > theta ? ws->f[l] - theta : 0;
			if (most < rest)
				continue;
		}
		k = clf_search_pod_leaves(ws, p, rest);
		if (k > want)
			continue;
		at = p;
		least = k;
		clf_search_pod_holds(ws, p, k, &last);
		theta = last;
	}
	if (at == CLF_ABSENT)
		return;
	ws->best[at] = least;
	offer(ws, best, at, at + 1, ws->cap[2][at]);
}

static void search_pods(struct clf_search_ws *ws, uint32_t g, uint32_t rest, uint32_t limit, struct best *best)
{
	uint32_t a = ws->tree.first[3][g], b = ws->tree.first[3][g + 1], least, cap = ws->cap[3][g];
	struct clf_plan plan;
	bool found = false;

	if (ws->ask->hops) {
		uint32_t below = best->any ? best->cost - ws->npaid[1] - ws->npaid[2] : CLF_ABSENT;

		if (best->any && best->cost < ws->npaid[1] + ws->npaid[2])
			return;
		found = clf_search_joint(ws, g, rest, limit, below, &plan);
		best->proven = best->proven && plan.proven;
	} else {
		least = clf_search_least_pods(ws, g, rest);
		for (uint32_t m = least; least != CLF_ABSENT && m <= b - a && !found; m++) {
			if (best->any && best->used[3] == 1 && m + ws->npaid[2] > best->used[2])
				break;
			found = clf_search_pods(ws, g, m, rest, limit, &plan);
			best->proven = best->proven && plan.proven;
			best->bound = plan.bound < best->bound ? plan.bound : best->bound;
			if (limit == CLF_ABSENT)
				break;
		}
	}
	if (found)
		offer(ws, best, a, b, cap);
}

static bool search_groups(struct clf_search_ws *ws, uint32_t level, uint32_t rest, uint32_t limit, struct best *best)
{
	for (uint32_t g = 0; g < ws->tree.n[level]; g++) {
		bool proven;

		if (!may_hold(ws, level, g, rest))
			continue;
		if (level == 3) {
			search_pods(ws, g, rest, limit, best);
			continue;
		}
		if (clf_search_deep(ws, level, g, rest, limit, &proven))
			offer(ws, best, 0, ws->tree.n[2], ws->cap[level][g]);
		best->proven = best->proven && proven;
	}
	return best->any;
}

/* Fewest groups of a level that hold rest, whatever lies above: a bound. */
static uint32_t fewest(struct clf_search_ws *ws, uint32_t level, uint32_t rest)
{
	const uint32_t *cap = level == 1 ? ws->f : ws->cap[level];
	uint32_t n = ws->tree.n[level], k = 0, most = 0;

	if (level == 1) {
		memset(ws->sum, 0, (ws->largest + 1) * sizeof(*ws->sum));
		for (uint32_t l = 0; l < n; l++)
			ws->sum[cap[l]]++;
		for (uint32_t f = ws->largest; f > 0 && rest; f--) {
			uint32_t use = (rest + f - 1) / f < ws->sum[f] ? (rest + f - 1) / f : ws->sum[f];

			k += use;
			rest = (uint64_t) use * f < rest ? rest - use * f : 0;
		}
		return k;
	}
	for (uint32_t g = 0; g < n; g++)
		if (!(ws->npaid[level] && ws->paid[level][g]) && cap[g] > most)
			most = cap[g];
	for (uint32_t g = 0; g < n; g++)
		if (ws->npaid[level] && ws->paid[level][g])
			rest = cap[g] < rest ? rest - cap[g] : 0;
	return rest && most ? (rest + most - 1) / most : 0;
}

static bool search_once(struct clf_search_ws *ws, const struct clf_search_ask *ask, struct clf_found *out)
{
	struct best best = { .proven = true, .bound = CLF_ABSENT };
	uint32_t levels = ws->tree.levels, rest, limit = ask->max_leaves ? ask->max_leaves : CLF_ABSENT, at;

	ws->ask = ask;
	if (!++ws->now) { /* stamps of four billion calls ago must not count */
		memset(ws->stamp, 0, ws->tree.n[2] * sizeof(*ws->stamp));
		ws->now = 1;
	}
	rest = pay(ws);
	sum_up(ws);
	if (ws->npaid[levels] > 1 || ws->npaid[1] > limit)
		return false;
	if (limit != CLF_ABSENT)
		limit -= ws->npaid[1];
	memset(ws->pick, 0, ws->tree.n[2] * sizeof(*ws->pick));
	if (!rest) {
		best.any = true;
	} else if (!ask->required && (at = one_leaf(ws)) != CLF_ABSENT) {
		while (ws->ntaken)
			ws->take[ws->leaf[--ws->ntaken]] = 0;
		ws->take[at] = ask->need;
		ws->leaf[ws->ntaken++] = at;
		*out = (struct clf_found){ 1, { 0 }, 1, 1, true, ws->take, ws->leaf };
		for (uint32_t l = 1; l <= levels; l++)
			out->used[l] = 1;
		return true;
	} else {
		/* lex: nothing in a higher group is better than a set in this one. hops: a set at level l costs at
		 * least the fewest leaves and two groups of each level between */
		if (limit)
			search_pod(ws, rest, limit, &best);
		for (uint32_t l = 3; l <= levels && limit && !(best.any && !ask->hops); l++) {
			uint32_t floor = 2 * (l - 2);

			if (best.any && ws->npaid[1] + fewest(ws, 1, rest) + floor >= best.cost)
				break;
			search_groups(ws, l, rest, limit, &best);
		}
	}
	if (!best.any)
		return false;
	*out = (struct clf_found){ .proven = best.proven };
	clf_search_fill(ws, rest, out);
	out->bound_leaves = out->used[1];
	out->bound_pods = out->used[2];
	if (!best.proven) {
		uint32_t low = ws->npaid[1] + fewest(ws, 1, rest), pods = ws->npaid[2] + fewest(ws, 2, rest);

		if (!ask->hops && !ask->max_leaves && out->level == 3 && ws->npaid[1] + best.bound > low)
			low = ws->npaid[1] + best.bound;
		out->bound_leaves = low;
		out->bound_pods = ask->hops || ask->max_leaves || out->level > 3 ? pods : out->used[2];
	}
	return true;
}

/* Pattern rd: the greatest 2^t such that a set as good takes a multiple of it from each leaf
 * (docs/adr/0004-placement.md). */
static void in_blocks(struct clf_search_ws *ws, const struct clf_search_ask *ask, struct clf_found *out)
{
	struct clf_found found;

	memcpy(ws->kept_take, ws->take, ws->tree.n[1] * sizeof(*ws->take));
	for (uint32_t t = (uint32_t) __builtin_ctz(ask->need); t > 0; t--) {
		struct clf_search_ask block = *ask;

		for (uint32_t l = 0; l < ws->tree.n[1]; l++)
			ws->scaled[l] = ask->free[l] >> t;
		block.free = ws->scaled;
		block.need >>= t;
		if (!search_once(ws, &block, &found) || memcmp(found.used, out->used, sizeof(found.used)) != 0)
			continue;
		for (uint32_t i = 0; i < found.used[1]; i++)
			ws->take[ws->leaf[i]] <<= t;
		return;
	}
	ws->ntaken = 0;
	memcpy(ws->take, ws->kept_take, ws->tree.n[1] * sizeof(*ws->take));
	for (uint32_t l = 0; l < ws->tree.n[1]; l++)
		if (ws->take[l])
			ws->leaf[ws->ntaken++] = l;
}

bool clf_search(struct clf_search_ws *ws, const struct clf_search_ask *ask, struct clf_found *out)
{
	ws->late = false;
	ws->deadline_us = ask->budget_us ? clf_search_now_us() + ask->budget_us : 0;
	if (!search_once(ws, ask, out))
		return false;
	if (ask->blocks && !ask->required && out->used[1] > 1)
		in_blocks(ws, ask, out);
	return true;
}
