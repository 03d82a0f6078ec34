/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fill.c - one pod's leaves by histogram, and from leaves a pod to nodes a leaf. */
#include <string.h>

#include "place/search_ws.h"

void clf_search_histogram(struct clf_search_ws *ws, uint32_t pod)
{
	uint32_t *h = ws->hist + ws->hist_at[pod], most = 0;

	if (ws->stamp[pod] == ws->now)
		return;
	ws->stamp[pod] = ws->now;
	memset(h, 0, (ws->hist_at[pod + 1] - ws->hist_at[pod]) * sizeof(*h));
	for (uint32_t l = ws->tree.first[2][pod]; l < ws->tree.first[2][pod + 1]; l++) {
		h[ws->f[l]]++;
		most = ws->f[l] > most ? ws->f[l] : most;
	}
	ws->most[pod] = most;
}

uint32_t clf_search_pod_leaves(struct clf_search_ws *ws, uint32_t pod, uint32_t rest)
{
	const uint32_t *h = ws->hist + ws->hist_at[pod];
	uint32_t k = 0;

	clf_search_histogram(ws, pod);
	for (uint32_t x = ws->most[pod]; x > 0; x--) {
		uint64_t all = (uint64_t) h[x] * x;

		if (all >= rest)
			return k + (rest + x - 1) / x;
		rest -= (uint32_t) all;
		k += h[x];
	}
	return rest ? CLF_ABSENT : k;
}

uint32_t clf_search_pod_holds(struct clf_search_ws *ws, uint32_t pod, uint32_t x, uint32_t *last)
{
	const uint32_t *h = ws->hist + ws->hist_at[pod];
	uint32_t sum = 0, f;

	clf_search_histogram(ws, pod);
	*last = 0;
	for (f = ws->most[pod]; f > 0 && x > 0; f--) {
		uint32_t n = h[f] < x ? h[f] : x;

		sum += n * f;
		x -= n;
		if (n)
			*last = f;
	}
	return sum;
}

void clf_search_used(struct clf_search_ws *ws, const uint32_t *pick, uint32_t used[CLF_SEARCH_LEVELS + 1])
{
	const struct clf_search_tree *t = &ws->tree;

	ws->tick++;
	memcpy(used, ws->npaid, sizeof(ws->npaid));
	for (uint32_t p = 0; p < t->n[2]; p++) {
		uint32_t g = p;

		if (!pick[p])
			continue;
		used[1] += pick[p];
		for (uint32_t l = 2; l <= t->levels; l++) {
			if (ws->mark[l][g] == ws->tick)
				break;
			ws->mark[l][g] = ws->tick;
			used[l] += !(ws->ask->required && ws->paid[l][g]);
			if (l < t->levels)
				g = t->parent[l][g];
		}
	}
}

/* The pods that give leaves, or may at no cost: in ws->set. Returns what they hold. */
static uint64_t list_pods(struct clf_search_ws *ws)
{
	uint64_t sum = 0;
	uint32_t last;

	ws->nset = 0;
	for (uint32_t p = 0; p < ws->tree.n[2]; p++)
		if (ws->pick[p]) {
			ws->set[ws->nset++] = p;
			sum += clf_search_pod_holds(ws, p, ws->pick[p], &last);
		}
	return sum;
}

/* Give back the pod that gives least for one with fewer free nodes that does it in as many leaves: larger holes stay
 * whole. */
static void tighter_pod(struct clf_search_ws *ws, uint32_t surplus)
{
	const struct clf_search_tree *t = &ws->tree;
	uint32_t least = CLF_ABSENT, gives = 0, with = CLF_ABSENT, last;

	for (uint32_t i = 0; i < ws->nset; i++) {
		uint32_t p = ws->set[i], n = clf_search_pod_holds(ws, p, ws->pick[p], &last);

		if (ws->npaid[2] && ws->paid[2][p])
			continue;
		if (least == CLF_ABSENT || n < gives) {
			least = p;
			gives = n;
		}
	}
	if (least == CLF_ABSENT || gives <= surplus)
		return;

	uint32_t up = t->parent[2][least];

	for (uint32_t p = t->first[3][up]; p < t->first[3][up + 1]; p++)
		if (!ws->pick[p] && !(ws->npaid[2] && ws->paid[2][p]) && ws->cap[2][p] >= gives - surplus &&
		    ws->cap[2][p] < ws->cap[2][with == CLF_ABSENT ? least : with] &&
		    clf_search_pod_holds(ws, p, ws->pick[least], &last) >= gives - surplus)
			with = p;
	if (with == CLF_ABSENT)
		return;
	ws->pick[with] = clf_search_pod_leaves(ws, with, gives - surplus); /* fewer only where the set was not proven */
	ws->pick[least] = 0;
}

/* Take n nodes of leaf l. */
static void take(struct clf_search_ws *ws, uint32_t l, uint32_t n)
{
	if (n && !ws->take[l])
		ws->leaf[ws->ntaken++] = l;
	ws->take[l] += n;
}

/* What is left to take goes to paid leaves as far as it goes, lowest index first. */
static void take_paid(struct clf_search_ws *ws)
{
	const struct clf_search_ask *ask = ws->ask;
	uint32_t left = ask->need;

	for (uint32_t l = 0; l < ws->tree.n[1]; l++)
		left -= ask->required[l];
	for (uint32_t l = 0; l < ws->tree.n[1]; l++) {
		uint32_t more = ask->required[l] ? ask->free[l] - ask->required[l] : 0;

		more = more < left ? more : left;
		take(ws, l, ask->required[l] + more);
		left -= more;
	}
}

/* The leaf that is not taken whole: its pod, and what it takes. */
struct part {
	uint32_t pod, free, takes;
};

/* The smallest leaf taken is the one not needed whole; a still smaller one that holds its share takes its place. */
static struct part tighter_leaf(struct clf_search_ws *ws, uint64_t *surplus)
{
	struct part least = { CLF_ABSENT, 0, 0 }, tight;
	uint32_t last;

	for (;;) {
		least.pod = CLF_ABSENT;
		for (uint32_t i = 0; i < ws->nset; i++) {
			uint32_t p = ws->set[i];

			if (!ws->pick[p])
				continue;
			clf_search_pod_holds(ws, p, ws->pick[p], &last);
			if (least.pod == CLF_ABSENT || last < least.free)
				least = (struct part){ p, last, 0 };
		}
		if (least.free > *surplus)
			break;
		/* only a set that is not proven has a leaf too many */
		ws->pick[least.pod]--;
		*surplus -= least.free;
	}
	ws->pick[least.pod]--;
	least.takes = least.free - (uint32_t) *surplus;
	tight = least;
	for (uint32_t i = 0; i < ws->nset; i++) {
		uint32_t p = ws->set[i], holds = ws->pick[p], n = 0;

		/* its own pod, or one that stays in use: another would leave its pod for nothing */
		if (p != least.pod && (!ws->pick[least.pod] || !holds))
			continue;
		for (uint32_t f = ws->most[p]; f >= least.takes && f > 0; f--) {
			uint32_t here = ws->hist[ws->hist_at[p] + f];

			n += here;
			if (here && n > holds && f < tight.free)
				tight = (struct part){ p, f, least.takes };
		}
	}
	return tight;
}

/* Leaves of one pod: pick[p] fullest whole, and one of part->free nodes in part when it is here. */
static void take_pod(struct clf_search_ws *ws, uint32_t p, const struct part *part)
{
	uint32_t x = ws->pick[p], last, above = 0, equal;
	bool here = part->pod == p;

	clf_search_pod_holds(ws, p, x, &last);
	for (uint32_t f = ws->most[p]; f > last && x; f--)
		above += ws->hist[ws->hist_at[p] + f];
	equal = x - above;
	for (uint32_t l = ws->tree.first[2][p]; l < ws->tree.first[2][p + 1]; l++) {
		uint32_t f = ws->f[l];

		if (!f)
			continue;
		if (x && (f > last || (f == last && equal))) {
			equal -= f == last;
			take(ws, l, f);
		} else if (here && f == part->free) {
			take(ws, l, part->takes);
			here = false;
		}
	}
}

void clf_search_fill(struct clf_search_ws *ws, uint32_t rest, struct clf_found *out)
{
	while (ws->ntaken)
		ws->take[ws->leaf[--ws->ntaken]] = 0;
	if (ws->ask->required)
		take_paid(ws);
	if (rest) {
		uint64_t surplus = list_pods(ws) - rest;
		struct part part;

		if (ws->nset > 1) {
			tighter_pod(ws, (uint32_t) surplus);
			surplus = list_pods(ws) - rest;
		}
		part = tighter_leaf(ws, &surplus);
		for (uint32_t i = 0; i < ws->nset; i++)
			take_pod(ws, ws->set[i], &part);
		ws->pick[part.pod]++;
	}
	if (ws->ask->required && rest) { /* paid leaves came first: put them in their place */
		ws->ntaken = 0;
		for (uint32_t l = 0; l < ws->tree.n[1]; l++)
			if (ws->take[l])
				ws->leaf[ws->ntaken++] = l;
	}
	clf_search_used(ws, ws->pick, out->used);
	for (out->level = 1; out->level < ws->tree.levels && out->used[out->level] > 1; out->level++)
		;
	out->take = ws->take;
	out->leaf = ws->leaf;
}
