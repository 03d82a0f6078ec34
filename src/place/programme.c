/* SPDX-License-Identifier: GPL-2.0-or-later */
/* programme.c - the dynamic programme over (pods used, leaves used) for what the certificate leaves open.
 *
 * A state keeps the most nodes for its pods and leaves. With v nodes, j pods and k leaves after the first i pods it can
 * end with at most v + (most - k) theta + the m - j next values (the pods come by falling value) + what paid pods still
 * add; below `rest` it is dropped. Theta is where the bound is highest, so little above the optimum survives.
 */
#include <string.h>

#include "place/search_ws.h"

#define MAX_CELLS         (size_t) 1 << 24
#define MAX_STEPS         (size_t) 1 << 25
#define MAX_CELLS_IN_TIME (size_t) 1 << 20 /* with a budget: what can be filled in milliseconds */

struct programme {
	struct clf_search_ws *ws;
	uint32_t m, rest, theta, most; /* most falls with each set found */
	uint32_t row;
	uint32_t *lo, *hi; /* alive states of j: k in [lo[j], hi[j]] */
	uint32_t best, best_step;
};

static bool room(struct clf_search_ws *ws, size_t cells, uint32_t m)
{
	size_t need = cells + m + 1;

	if (cells > (ws->ask->budget_us ? MAX_CELLS_IN_TIME : MAX_CELLS))
		return false;
	if (need > ws->grid_cap) {
		int64_t *g = reallocarray(ws->grid, need, sizeof(*g));
		uint32_t *s;

		if (g)
			ws->grid = g;
		s = reallocarray(ws->grid_step, need, 2 * sizeof(*s));
		if (s)
			ws->grid_step = s;
		if (!g || !s)
			return false;
		ws->grid_cap = need;
	}
	return true;
}

static bool add_step(struct clf_search_ws *ws, struct clf_step s)
{
	if (ws->nsteps == ws->steps_cap) {
		size_t cap = ws->steps_cap ? 2 * ws->steps_cap : 4096;
		struct clf_step *p = cap > MAX_STEPS ? NULL : reallocarray(ws->steps, cap, sizeof(*p));

		if (!p)
			return false;
		ws->steps = p;
		ws->steps_cap = cap;
	}
	ws->steps[ws->nsteps++] = s;
	return true;
}

/* prefix[x] = nodes in the x fullest leaves; returns the number of leaves with any. */
static uint32_t prefix_of(struct clf_search_ws *ws, uint32_t pod)
{
	uint32_t n = 0;

	ws->prefix[0] = 0;
	for (uint32_t f = ws->most[pod]; f > 0; f--)
		for (uint32_t c = ws->hist[ws->hist_at[pod] + f]; c > 0; c--) {
			ws->prefix[n + 1] = ws->prefix[n] + f;
			n++;
		}
	return n;
}

/* Push all states of j pods over one more pod, to j + up. more[j]: most nodes the pods after this one add from j pods
 * used. false: memory ended. */
static bool push(struct programme *d, uint32_t j, uint32_t up, uint32_t pod, uint32_t nleaves, const uint64_t *more)
{
	struct clf_search_ws *ws = d->ws;
	int64_t *from = ws->grid + (size_t) j * d->row, *to = ws->grid + (size_t) (j + up) * d->row;

	for (uint32_t k = d->hi[j] + 1; k-- > d->lo[j];) {
		int64_t v = from[k];

		if (v < 0)
			continue;
		for (uint32_t x = 1; x <= nleaves && k + x <= d->most; x++) {
			uint64_t w = (uint64_t) v + ws->prefix[x];
			uint32_t at = k + x;

			if ((int64_t) w <= to[at] || w + (uint64_t) (d->most - at) * d->theta + more[j + up] < d->rest)
				continue;
			if (!add_step(ws, (struct clf_step){ ws->grid_step[(size_t) j * d->row + k], pod, x }))
				return false;
			to[at] = (int64_t) w;
			ws->grid_step[(size_t) (j + up) * d->row + at] = (uint32_t) ws->nsteps - 1;
			d->lo[j + up] = at < d->lo[j + up] ? at : d->lo[j + up];
			d->hi[j + up] = at > d->hi[j + up] ? at : d->hi[j + up];
			if (w >= d->rest) {
				d->best = at;
				d->best_step = (uint32_t) ws->nsteps - 1;
				d->most = at - 1;
				break; /* only fewer leaves are of use now */
			}
		}
	}
	return true;
}

uint32_t clf_search_programme(struct clf_search_ws *ws, uint32_t group, uint32_t n, uint32_t m, uint32_t rest,
			      uint32_t theta, uint32_t most, uint32_t bound)
{
	uint32_t a = ws->tree.first[3][group], b = ws->tree.first[3][group + 1];
	struct programme d = { ws, m, rest, theta, most, .best = CLF_ABSENT, .best_step = CLF_ABSENT };
	uint64_t *more = ws->key; /* m + 1 <= pods */
	uint64_t paid_more = 0;
	size_t cells;

	/* a limit of "none" is no more than all leaves */
	d.most = most < ws->tree.n[1] ? most : ws->tree.n[1];
	if (d.most < bound)
		return CLF_ABSENT;
	d.row = d.most + 1;
	cells = ((size_t) m + 1) * d.row;
	if (!room(ws, cells, m)) {
		ws->late = true;
		return CLF_ABSENT;
	}
	for (size_t i = 0; i < cells; i++)
		ws->grid[i] = -1;
	d.lo = ws->grid_step + cells;
	d.hi = d.lo + m + 1;
	for (uint32_t j = 0; j <= m; j++) {
		d.lo[j] = CLF_ABSENT;
		d.hi[j] = 0;
	}
	d.lo[0] = 0;
	ws->grid[0] = 0;
	ws->grid_step[0] = CLF_ABSENT;
	ws->nsteps = 0;
	for (uint32_t p = a; ws->npaid[2] && p < b; p++)
		if (ws->paid[2][p])
			paid_more += ws->value[p];

	/* paid pods first: they add leaves, not pods */
	for (uint32_t p = a; ws->npaid[2] && p < b; p++) {
		uint64_t top = 0;

		if (!ws->paid[2][p])
			continue;
		paid_more -= ws->value[p];
		for (uint32_t i = 0; i < m && i < n; i++)
			top += ws->value[ws->order[i]];
		more[0] = paid_more + top;
		if (!push(&d, 0, 0, p, prefix_of(ws, p), more) || clf_search_late(ws)) {
			ws->late = true;
			break;
		}
	}
	for (uint32_t i = 0; i < n && !ws->late && d.most >= bound; i++) {
		uint32_t nleaves = prefix_of(ws, ws->order[i]);
		uint64_t top = 0;

		/* more[j] = values of the next m - j pods, by sliding from j = m down */
		more[m] = 0;
		for (uint32_t j = m; j-- > 0;) {
			uint32_t next = i + m - j;

			top += next < n ? ws->value[ws->order[next]] : 0;
			more[j] = top;
		}
		for (uint32_t j = (i < m ? i + 1 : m); j-- > 0 && !ws->late;)
			if (d.lo[j] <= d.hi[j] && (!push(&d, j, 1, ws->order[i], nleaves, more) || clf_search_late(ws)))
				ws->late = true;
	}
	if (d.best == CLF_ABSENT)
		return CLF_ABSENT;
	memset(ws->best + a, 0, (b - a) * sizeof(*ws->best));
	for (uint32_t s = d.best_step; s != CLF_ABSENT; s = ws->steps[s].before)
		ws->best[ws->steps[s].pod] += ws->steps[s].leaves;
	return d.best;
}
