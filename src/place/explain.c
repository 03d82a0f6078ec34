/* SPDX-License-Identifier: GPL-2.0-or-later */
/* explain.c - see explain.h. */
#include "place/explain.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "place/order.h"

static int say(struct clf_strv *out, struct clf_error *err, const char *fmt, ...) CLF_PRINTF(3, 4);

static int say(struct clf_strv *out, struct clf_error *err, const char *fmt, ...)
{
	char text[400];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return clf_strv_add(out, text, err);
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

/* The largest leaf or pod that would hold the job if it were idle: what keeps it from being used. */
static int say_blocked(const struct clf_topo *t, const struct clf_request *req, uint32_t level, const char *word,
		       struct clf_strv *out, struct clf_error *err)
{
	uint32_t first, n = clf_topo_level_groups(t, level, &first), holds = 0, best = CLF_NONE, best_free = 0;

	for (uint32_t g = first; g < first + n; g++) {
		const struct clf_topo_group *x = clf_topo_group(t, g);
		uint32_t now = clf_bitmap_count_range(req->free, x->first_node, x->n_nodes);

		if (x->n_nodes < req->nodes)
			continue;
		holds++;
		if (best == CLF_NONE || now > best_free) {
			best = g;
			best_free = now;
		}
	}
	if (!holds)
		return say(out, err, "no %s of this fabric has %u nodes", word, req->nodes);
	return say(out, err, "%s '%s' would do alone; %u of its %u nodes are not free", word,
		   clf_topo_group(t, best)->name, clf_topo_group(t, best)->n_nodes - best_free,
		   clf_topo_group(t, best)->n_nodes);
}

int clf_explain(const struct clf_topo *t, const struct clf_request *req, const struct clf_placement *p,
		struct clf_strv *out, struct clf_error *err)
{
	CLF_AUTO_FREE uint32_t *by_index = malloc(p->count * sizeof(*by_index));
	CLF_CLEANUP(clf_bitmap_destroyp) struct clf_bitmap *all = clf_bitmap_create(clf_topo_nnodes(t), err);
	uint32_t least, leaf = CLF_NONE;
	struct clf_cost named;

	if (!all)
		return -1;
	if (!by_index)
		return clf_fail(err, CLF_E_NOMEM, "out of memory");
	clf_bitmap_fill(all);
	least = clf_min_leaves(t, req->eligible ? req->eligible : all, req->nodes);

	if (say(out, err, "%u nodes on %u %s in %u %s: %s over the free nodes (objective %s)", p->count, p->cost.leaves,
		p->cost.leaves == 1 ? "leaf" : "leaves", p->cost.pods, p->cost.pods == 1 ? "pod" : "pods",
		p->proven ? "the optimum, proven" : "the best found before the time budget ended",
		req->objective == CLF_OBJECTIVE_HOPS ? "hops" : "lex"))
		return -1;
	if (!p->proven && say(out, err, "no set needs less than %u leaves", p->bound_leaves))
		return -1;
	if (say(out, err, "on an idle fabric %u %s would do", least, least == 1 ? "leaf" : "leaves"))
		return -1;
	if (p->cost.leaves > 1 && say_blocked(t, req, 1, "leaf", out, err))
		return -1;
	if (p->cost.pods > 1 && say_blocked(t, req, 2, "pod", out, err))
		return -1;

	/* the order that names give, for comparison */
	CLF_CLEANUP(clf_strv_done) struct clf_strv names = { 0 };

	for (uint32_t i = 0; i < p->count; i++)
		if (clf_strv_add(&names, clf_topo_node(t, p->order[i])->name, err))
			return -1;
	clf_strv_sort(&names);
	for (uint32_t i = 0; i < p->count; i++)
		by_index[i] = clf_topo_node_find(t, names.v[i]);
	named = clf_order_cost(t, by_index, p->count);
	if (p->count > 1 &&
	    say(out, err,
		"in this order the ring crosses leaves %u times and pods %u times; in the order of names %u and %u",
		p->cost.leaf_crossings, p->cost.pod_crossings, named.leaf_crossings, named.pod_crossings))
		return -1;
	return say(out, err, "largest job now: %u nodes in one leaf, %u in one pod, %u in all",
		   clf_largest_free(t, req->free, 1, &leaf),
		   clf_topo_counts(t).levels > 1 ? clf_largest_free(t, req->free, 2, &leaf)
						 : clf_largest_free(t, req->free, 1, &leaf),
		   clf_largest_free(t, req->free, 0, &leaf));
}
