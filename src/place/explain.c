/* SPDX-License-Identifier: GPL-2.0-or-later */
/* explain.c - see explain.h. */
#include "place/explain.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "place/order.h"

/* What the sentences are about. */
struct story {
	const struct clf_topo *t;
	const struct clf_request *req;
	const struct clf_placement *p;
	struct clf_strv *out;
	struct clf_error *err;
};

static int say(const struct story *s, const char *fmt, ...) CLF_PRINTF(2, 3);

static int say(const struct story *s, const char *fmt, ...)
{
	char text[400];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return clf_strv_add(s->out, text, s->err);
}

static const char *plural(uint32_t n, const char *one, const char *more)
{
	return n == 1 ? one : more;
}

static uint32_t free_in(const struct story *s, const struct clf_topo_group *g)
{
	return clf_bitmap_count_range(s->req->free, g->first_node, g->n_nodes);
}

static uint32_t usable_in(const struct story *s, const struct clf_topo_group *g)
{
	return s->req->eligible ? clf_bitmap_count_range(s->req->eligible, g->first_node, g->n_nodes) : g->n_nodes;
}

uint32_t clf_largest_free(const struct clf_topo *t, const struct clf_bitmap *free_nodes, uint32_t level,
			  uint32_t *group)
{
	uint32_t best = 0;

	for (uint32_t g = 0; g < clf_topo_ngroups(t); g++) {
		const struct clf_topo_group *x = clf_topo_group(t, g);
		uint32_t n;

		if (level ? x->level != level : x->parent != CLF_NONE)
			continue;
		n = clf_bitmap_count_range(free_nodes, x->first_node, x->n_nodes);
		if (n > best) {
			best = n;
			if (group)
				*group = g;
		}
	}
	return best;
}

/* The leaf or pod that is nearest to holding the job alone: what keeps it from being used. */
static int say_blocked(const struct story *s, uint32_t level, const char *word)
{
	uint32_t first = 0, n = clf_topo_level_groups(s->t, level, &first), best = CLF_NONE, best_free = 0, most = 0;
	const struct clf_topo_group *x;

	for (uint32_t g = first; g < first + n; g++) {
		uint32_t usable, now;

		x = clf_topo_group(s->t, g);
		usable = usable_in(s, x);
		now = free_in(s, x);
		most = usable > most ? usable : most;
		if (usable >= s->p->count && (best == CLF_NONE || now > best_free)) {
			best = g;
			best_free = now;
		}
	}
	if (best == CLF_NONE)
		return say(s, "no %s has %u nodes that could be used; the largest has %u", word, s->p->count, most);
	x = clf_topo_group(s->t, best);
	if (best_free >= s->p->count)
		return say(s, "%s '%s' would do alone, but %s", word, x->name,
			   s->req->required     ? "does not have all required nodes"
			   : s->req->max_leaves ? "not on as few leaves"
						: "with more hops over its leaves");
	return say(s, "%s '%s' would do alone; %u of its %u nodes are not free", word, x->name, x->n_nodes - best_free,
		   x->n_nodes);
}

/* Fewest leaves of one pod that hold n; CLF_NONE when it does not. Selection without memory: pods are small. */
static uint32_t leaves_in(const struct story *s, const struct clf_topo_group *pod, uint32_t n)
{
	uint32_t k = 0, below = UINT32_MAX;

	while (n) {
		uint32_t next = 0, equal = 0;

		for (uint32_t l = pod->first; l < pod->first + pod->n; l++) {
			uint32_t f = free_in(s, clf_topo_group(s->t, l));

			if (f < below && f >= next) {
				equal = f == next ? equal + 1 : 1;
				next = f;
			}
		}
		if (!next)
			return CLF_NONE;
		for (; equal && n; equal--, k++)
			n = next < n ? n - next : 0;
		below = next;
	}
	return k;
}

/* Why this leaf, or this pod, and not another that holds the job too. */
static int say_rival(const struct story *s)
{
	uint32_t level = s->p->cost.leaves == 1 ? 1 : 2, own = clf_topo_ancestor(s->t, s->p->order[0], level),
		 first = 0;
	uint32_t n = clf_topo_level_groups(s->t, level, &first), rivals = 0, rival = CLF_NONE, least = 0, tight = 0,
		 holds;
	const char *word = level == 1 ? "leaf" : "pod";

	if (s->p->cost.pods > 1 || own == CLF_NONE || s->req->required)
		return 0;
	for (uint32_t g = first; g < first + n; g++) {
		const struct clf_topo_group *x = clf_topo_group(s->t, g);
		uint32_t k;

		holds = free_in(s, x);
		if (g == own || holds < s->p->count)
			continue;
		rivals++;
		k = level == 1 ? 1 : leaves_in(s, x, s->p->count);
		if (rival == CLF_NONE || k < least || (k == least && holds < tight)) {
			rival = g;
			least = k;
			tight = holds;
		}
	}
	if (!rivals)
		return say(s, "no other %s holds the job now", word);
	if (least > s->p->cost.leaves)
		return say(s, "%u other %s %u free nodes; the best of them, '%s', needs %u leaves", rivals,
			   plural(rivals, "pod has", "pods have"), s->p->count, clf_topo_group(s->t, rival)->name,
			   least);
	holds = free_in(s, clf_topo_group(s->t, own));
	word = level == 1 ? plural(rivals, "leaf", "leaves") : plural(rivals, "pod", "pods");
	if (tight == holds)
		return say(s,
			   "%u other %s would do as well, with as many free nodes or more; the first of the tightest "
			   "is taken",
			   rivals, word);
	return say(s,
		   "%u other %s would do as well; this one has the fewest free nodes (%u; '%s' has %u), so larger "
		   "holes stay",
		   rivals, word, holds, clf_topo_group(s->t, rival)->name, tight);
}

/* The ring in the order of host names, for comparison. */
static int say_order(const struct story *s)
{
	CLF_AUTO_FREE uint32_t *by_name = malloc(s->p->count * sizeof(*by_name));
	CLF_CLEANUP(clf_strv_done) struct clf_strv names = { 0 };
	const struct clf_cost *own = &s->p->cost;
	struct clf_cost named;

	if (s->p->count < 2)
		return 0;
	if (!by_name)
		return clf_fail(s->err, CLF_E_NOMEM, "out of memory");
	for (uint32_t i = 0; i < s->p->count; i++)
		if (clf_strv_add(&names, clf_topo_node(s->t, s->p->order[i])->name, s->err))
			return -1;
	clf_strv_sort(&names);
	for (uint32_t i = 0; i < s->p->count; i++)
		by_name[i] = clf_topo_node_find(s->t, names.v[i]);
	named = clf_order_cost(s->t, by_name, s->p->count);
	return say(s,
		   "in this order the ring crosses leaves %u times and pods %u times; in the order of names %u and %u",
		   own->leaf_crossings, own->pod_crossings, named.leaf_crossings, named.pod_crossings);
}

static int say_largest(const struct story *s)
{
	uint32_t leaf = clf_largest_free(s->t, s->req->free, 1, NULL),
		 all = clf_largest_free(s->t, s->req->free, 0, NULL);

	if (clf_topo_counts(s->t).levels < 2)
		return say(s, "largest job now: %u nodes in one leaf", leaf);
	return say(s, "largest job now: %u nodes in one leaf, %u in one pod, %u in all", leaf,
		   clf_largest_free(s->t, s->req->free, 2, NULL), all);
}

int clf_explain(const struct clf_topo *t, const struct clf_request *req, const struct clf_placement *p,
		struct clf_strv *out, struct clf_error *err)
{
	struct story s = { t, req, p, out, err };
	CLF_CLEANUP(clf_bitmap_destroyp) struct clf_bitmap *all = clf_bitmap_create(clf_topo_nnodes(t), err);
	uint32_t least;

	if (!all)
		return -1;
	clf_bitmap_fill(all);
	least = clf_min_leaves(t, req->eligible ? req->eligible : all, p->count);
	if (say(&s, "%u %s on %u %s in %u %s: %s (objective %s)", p->count, plural(p->count, "node", "nodes"),
		p->cost.leaves, plural(p->cost.leaves, "leaf", "leaves"), p->cost.pods,
		plural(p->cost.pods, "pod", "pods"),
		p->proven ? "no free set is better, proven" : "the best found before the time budget ended",
		req->objective == CLF_OBJECTIVE_HOPS ? "hops" : "lex"))
		return -1;
	if (!p->proven &&
	    say(&s, "no set needs less than %u %s or %u %s", p->bound_pods, plural(p->bound_pods, "pod", "pods"),
		p->bound_leaves, plural(p->bound_leaves, "leaf", "leaves")))
		return -1;
	if (req->required && say(&s, "%u of the nodes were required", clf_bitmap_count(req->required)))
		return -1;
	if (say_rival(&s))
		return -1;
	if (p->cost.leaves > 1 &&
	    say(&s, "with every node free %u %s would do", least, plural(least, "leaf", "leaves")))
		return -1;
	if (p->cost.leaves > 1 && say_blocked(&s, 1, "leaf"))
		return -1;
	if (p->cost.pods > 1 && say_blocked(&s, 2, "pod"))
		return -1;
	return say_order(&s) || say_largest(&s) ? -1 : 0;
}
