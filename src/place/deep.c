/* SPDX-License-Identifier: GPL-2.0-or-later */
/* deep.c - sets in a group above level 3, where more than two levels have to be paid for.
 *
 * Costs are additive: using a group of level l costs w[l]. hops: every w is 1. lex: w[l] is larger than all groups
 * below it together, so one number compares as the counts do, highest level first. For each group the Pareto list
 * (cost, most nodes at it) follows from those of its children by max-plus merging; the cheapest point of the root that
 * holds `rest` is the optimum. With a limit on leaves a point has a third coordinate. A greedy set gives a first upper
 * bound on the cost.
 */
#include <stdlib.h>
#include <string.h>

#include "place/search_ws.h"

typedef unsigned __int128 cost_f;

#define MAX_CELLS  ((size_t) 1 << 24)
#define MAX_POINTS ((size_t) 1 << 23)

struct deep {
	struct clf_search_ws *ws;
	uint32_t level, group, rest;
	uint32_t columns; /* limit + 1 when leaves are limited, else 1 */
	cost_f w[CLF_SEARCH_LEVELS + 1];
	cost_f upper; /* no use for more than this */
	struct clf_point *cell;
	size_t cells;
	cost_f *column;
};

struct list {
	uint32_t from, to; /* points, by falling nodes */
};

static bool paid(const struct clf_search_ws *ws, uint32_t level, uint32_t group)
{
	return ws->npaid[level] && ws->paid[level][group];
}

static bool add_point(struct clf_search_ws *ws, struct clf_point p)
{
	if (ws->npoints == ws->points_cap) {
		size_t cap = ws->points_cap ? 2 * ws->points_cap : 1024;
		struct clf_point *q = cap > MAX_POINTS ? NULL : reallocarray(ws->points, cap, sizeof(*q));

		if (!q)
			return false;
		ws->points = q;
		ws->points_cap = cap;
	}
	ws->points[ws->npoints++] = p;
	return true;
}

/* The points of a pod: its x fullest leaves. */
static bool pod_points(struct deep *d, uint32_t pod, struct list *out)
{
	struct clf_search_ws *ws = d->ws;
	struct clf_point p = { .left = CLF_ABSENT };

	out->from = (uint32_t) ws->npoints;
	clf_search_histogram(ws, pod);
	if (!add_point(ws, p))
		return false;
	p.cost = paid(ws, 2, pod) ? 0 : d->w[2];
	for (uint32_t f = ws->most[pod]; f > 0; f--)
		for (uint32_t n = ws->hist[ws->hist_at[pod] + f]; n > 0 && p.nodes < d->rest; n--) {
			p.nodes = p.nodes + f < d->rest ? p.nodes + f : d->rest;
			p.cost += d->w[1];
			p.right = ++p.leaves;
			if (p.cost > d->upper || (d->columns > 1 && p.leaves >= d->columns))
				break;
			if (!add_point(ws, p))
				return false;
		}
	out->to = (uint32_t) ws->npoints;
	return true;
}

/* The points of two lists together, dominated ones dropped; `reach` nodes more can still come. */
static bool merge(struct deep *d, struct list a, struct list b, uint64_t reach, struct list *out)
{
	struct clf_search_ws *ws = d->ws;
	uint32_t most_a = 0, most_b = 0, most;
	size_t cells;

	for (uint32_t i = a.from; i < a.to; i++)
		most_a = ws->points[i].nodes > most_a ? ws->points[i].nodes : most_a;
	for (uint32_t i = b.from; i < b.to; i++)
		most_b = ws->points[i].nodes > most_b ? ws->points[i].nodes : most_b;
	most = (uint64_t) most_a + most_b < d->rest ? most_a + most_b : d->rest;
	cells = ((size_t) most + 1) * d->columns;
	if (cells > MAX_CELLS)
		return false;
	if (cells > d->cells) {
		struct clf_point *c = reallocarray(d->cell, cells, sizeof(*c));

		if (!c)
			return false;
		d->cell = c;
		d->cells = cells;
	}
	for (size_t i = 0; i < cells; i++)
		d->cell[i].left = CLF_ABSENT;
	for (uint32_t i = a.from; i < a.to; i++) {
		if (clf_search_late(ws))
			return false;
		for (uint32_t j = b.from; j < b.to; j++) {
			const struct clf_point *x = &ws->points[i], *y = &ws->points[j];
			struct clf_point p = { x->cost + y->cost, x->nodes + y->nodes, x->leaves + y->leaves, i, j };
			struct clf_point *c;

			if (p.cost > d->upper || (d->columns > 1 && p.leaves >= d->columns) ||
			    p.nodes + reach < d->rest)
				continue;
			p.nodes = p.nodes < d->rest ? p.nodes : d->rest;
			c = &d->cell[(size_t) p.nodes * d->columns + (d->columns > 1 ? p.leaves : 0)];
			if (c->left == CLF_ABSENT || p.cost < c->cost)
				*c = p;
		}
	}
	/* keep what no point with as many nodes, as few leaves and no greater cost beats */
	for (uint32_t k = 0; k < d->columns; k++)
		d->column[k] = ~(cost_f) 0;
	out->from = (uint32_t) ws->npoints;
	for (uint32_t v = most + 1; v-- > 0;) {
		cost_f least = ~(cost_f) 0;

		for (uint32_t k = 0; k < d->columns; k++) {
			const struct clf_point *c = &d->cell[(size_t) v * d->columns + k];

			least = d->column[k] < least ? d->column[k] : least;
			if (c->left == CLF_ABSENT || c->cost >= least)
				continue;
			d->column[k] = least = c->cost;
			if (!add_point(ws, *c))
				return false;
		}
	}
	out->to = (uint32_t) ws->npoints;
	return true;
}

static bool points_of(struct deep *d, uint32_t level, uint32_t group, struct list *out)
{
	struct clf_search_ws *ws = d->ws;
	const struct clf_search_tree *t = &ws->tree;
	uint64_t later = ws->cap[level][group];
	bool root = level == d->level;

	if (level == 2)
		return pod_points(d, group, out);
	out->from = (uint32_t) ws->npoints;
	if (!add_point(ws, (struct clf_point){ .left = CLF_ABSENT, .right = CLF_ABSENT }))
		return false;
	out->to = (uint32_t) ws->npoints;
	for (uint32_t c = t->first[level][group]; c < t->first[level][group + 1]; c++) {
		struct list child;

		if (!ws->cap[level - 1][c])
			continue;
		later -= ws->cap[level - 1][c];
		if (!points_of(d, level - 1, c, &child) || !merge(d, *out, child, root ? later : d->rest, out))
			return false;
	}
	for (uint32_t i = out->from; !root && !paid(ws, level, group) && i < out->to; i++)
		if (ws->points[i].nodes)
			ws->points[i].cost += d->w[level];
	return true;
}

/* ws->best from a point of a group. */
static void trace(struct deep *d, uint32_t level, uint32_t group, uint32_t point)
{
	struct clf_search_ws *ws = d->ws;
	const struct clf_search_tree *t = &ws->tree;

	if (level == 2) {
		ws->best[group] = ws->points[point].leaves;
		return;
	}
	for (uint32_t c = t->first[level][group + 1]; c-- > t->first[level][group];) {
		if (!ws->cap[level - 1][c])
			continue;
		trace(d, level - 1, c, ws->points[point].right);
		point = ws->points[point].left;
	}
}

static void pods_below(const struct clf_search_tree *t, uint32_t level, uint32_t group, uint32_t *a, uint32_t *b)
{
	*a = group;
	*b = group + 1;
	for (; level > 2; level--) {
		*a = t->first[level][*a];
		*b = t->first[level][*b];
	}
}

/* The fullest children first, the last one the tightest that holds what is left; and so on inside it. */
static void greedy(struct clf_search_ws *ws, uint32_t level, uint32_t group, uint32_t rest)
{
	const struct clf_search_tree *t = &ws->tree;
	uint32_t a, b;

	if (!rest)
		return;
	if (level == 2) {
		ws->best[group] = clf_search_pod_leaves(ws, group, rest);
		return;
	}
	/* paid children cost nothing to use */
	for (uint32_t c = t->first[level][group]; c < t->first[level][group + 1] && rest; c++)
		if (paid(ws, level - 1, c)) {
			uint32_t n = ws->cap[level - 1][c] < rest ? ws->cap[level - 1][c] : rest;

			greedy(ws, level - 1, c, n);
			rest -= n;
		}
	while (rest) {
		uint32_t tight = CLF_ABSENT, full = CLF_ABSENT;

		for (uint32_t c = t->first[level][group]; c < t->first[level][group + 1]; c++) {
			uint32_t cap = ws->cap[level - 1][c];
			bool taken = paid(ws, level - 1, c);

			pods_below(t, level - 1, c, &a, &b);
			for (uint32_t p = a; p < b && !taken; p++)
				taken = ws->best[p];
			if (taken || !cap)
				continue;
			if (cap >= rest && (tight == CLF_ABSENT || cap < ws->cap[level - 1][tight]))
				tight = c;
			if (full == CLF_ABSENT || cap > ws->cap[level - 1][full])
				full = c;
		}
		if (tight != CLF_ABSENT) {
			greedy(ws, level - 1, tight, rest);
			return;
		}
		if (full == CLF_ABSENT)
			return;
		greedy(ws, level - 1, full, ws->cap[level - 1][full]);
		rest -= ws->cap[level - 1][full];
	}
}

/* false: the counts of this group do not fit one number. */
static bool weigh(struct deep *d)
{
	const struct clf_search_tree *t = &d->ws->tree;
	uint32_t a = d->group, b = d->group + 1, n[CLF_SEARCH_LEVELS + 1];

	for (uint32_t l = d->level; l > 1; l--) {
		a = t->first[l][a];
		b = t->first[l][b];
		n[l - 1] = b - a < d->rest ? b - a : d->rest;
	}
	d->w[1] = 1;
	for (uint32_t l = 2; l < d->level; l++) {
		d->w[l] = d->ws->ask->hops ? 1 : d->w[l - 1] * (n[l - 1] + 1);
		if (d->w[l] >> 100)
			return false;
	}
	return true;
}

static cost_f cost_of(const struct deep *d, const uint32_t *used)
{
	cost_f c = 0;

	for (uint32_t l = 1; l < d->level; l++)
		c += d->w[l] * (used[l] - d->ws->npaid[l]);
	return c;
}

bool clf_search_deep(struct clf_search_ws *ws, uint32_t level, uint32_t group, uint32_t rest, uint32_t limit,
		     bool *proven)
{
	struct deep d = {
		.ws = ws, .level = level, .group = group, .rest = rest, .upper = ~(cost_f) 0 >> 1, .columns = 1
	};
	uint32_t used[CLF_SEARCH_LEVELS + 1], a, b;
	struct list all = { 0 };
	bool have, done;
	CLF_AUTO_FREE cost_f *column = NULL;

	*proven = true;
	if (!limit)
		return false;
	pods_below(&ws->tree, level, group, &a, &b);
	memset(ws->best, 0, ws->tree.n[2] * sizeof(*ws->best));
	greedy(ws, level, group, rest);
	clf_search_used(ws, ws->best, used);
	have = used[1] - ws->npaid[1] <= limit;
	*proven = false;
	if (!weigh(&d))
		return have;
	if (have)
		d.upper = cost_of(&d, used);
	memcpy(ws->kept, ws->best, ws->tree.n[2] * sizeof(*ws->kept));

	/* without the limit first: where its optimum keeps the limit, it is the optimum with it */
	for (int limited = 0; limited < 2; limited++) {
		d.columns = limited ? (limit < rest ? limit : rest) + 1 : 1;
		free(column);
		column = d.column = reallocarray(NULL, d.columns, sizeof(*column));
		ws->npoints = 0;
		done = column && points_of(&d, level, group, &all);
		if (!done || all.from == all.to)
			break;

		/* the root's list: those that hold rest come first, the least cost is the last of them */
		uint32_t at = all.from;

		for (uint32_t i = all.from; i < all.to && ws->points[i].nodes == rest; i++)
			if (ws->points[i].cost <= ws->points[at].cost)
				at = i;
		if (ws->points[at].nodes < rest)
			break;
		memset(ws->best, 0, ws->tree.n[2] * sizeof(*ws->best));
		trace(&d, level, group, at);
		clf_search_used(ws, ws->best, used);
		if (used[1] - ws->npaid[1] <= limit) {
			free(d.cell);
			*proven = true;
			return true;
		}
	}
	free(d.cell);
	memcpy(ws->best, ws->kept, ws->tree.n[2] * sizeof(*ws->best));
	*proven = done && !have;
	ws->late |= !done;
	return have;
}
