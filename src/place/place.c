/* SPDX-License-Identifier: GPL-2.0-or-later */
/* place.c - from a request on a topology to counts a leaf (search.h) and back to nodes in rank order. */
#include "place/place.h"

#include <string.h>

#include "place/fabric.h"
#include "place/order.h"
#include "place/pick.h"

enum { UNKNOWN, BY_NAME, MIXED }; /* are a leaf's ids in the order of names? */

struct clf_place_ws {
	struct clf_fabric fabric;
	struct clf_search_ws *search;
	uint32_t *free, *required, *order;
	uint32_t *memory;
	uint8_t *names;                   /* by leaf */
	struct clf_candidate *candidates; /* largest leaf */
};

struct clf_place_ws *clf_place_ws_create(const struct clf_topo *t, struct clf_error *err)
{
	CLF_CLEANUP(clf_place_ws_destroyp) struct clf_place_ws *ws = calloc(1, sizeof(*ws));
	size_t n;

	if (!ws) {
		clf_fail(err, CLF_E_NOMEM, "out of memory");
		return NULL;
	}
	if (clf_fabric_init(&ws->fabric, t, err))
		return NULL;
	ws->search = clf_search_ws_create(&ws->fabric.tree, err);
	if (!ws->search)
		return NULL;
	n = ws->fabric.tree.n[1];
	ws->memory = calloc(2 * n + clf_topo_nplaced(t) + 1, sizeof(*ws->memory));
	ws->names = calloc(n + 1, 1);
	ws->candidates = calloc((size_t) ws->fabric.largest + 1, sizeof(*ws->candidates));
	if (!ws->memory || !ws->names || !ws->candidates) {
		clf_fail(err, CLF_E_NOMEM, "out of memory");
		return NULL;
	}
	ws->free = ws->memory;
	ws->required = ws->free + n;
	ws->order = ws->required + n;
	return CLF_STEAL(ws);
}

void clf_place_ws_destroy(struct clf_place_ws *ws)
{
	if (!ws)
		return;
	clf_search_ws_destroy(ws->search);
	clf_fabric_done(&ws->fabric);
	free(ws->memory);
	free(ws->names);
	free(ws->candidates);
	free(ws);
}

static int check(const struct clf_topo *t, const struct clf_request *req, struct clf_error *err)
{
	uint32_t n = clf_topo_nnodes(t), count;

	if (!req->nodes)
		return clf_fail(err, CLF_E_INVALID, "a request for 0 nodes");
	if (!req->free || req->free->nbits != n || (req->eligible && req->eligible->nbits != n) ||
	    (req->required && req->required->nbits != n))
		return clf_fail(err, CLF_E_INVALID, "node sets of the request are not as wide as the topology");
	if (!req->required)
		return 0;
	count = clf_bitmap_count(req->required);
	if (count > req->nodes)
		return clf_fail(err, CLF_E_INVALID, "%u nodes are required, but only %u asked for", count, req->nodes);
	for (uint32_t i = clf_bitmap_next(req->required, 0); i < n; i = clf_bitmap_next(req->required, i + 1)) {
		if (clf_topo_node(t, i)->leaf == CLF_NONE)
			return clf_fail(err, CLF_E_INVALID, "required node '%s' has no place in the fabric",
					clf_topo_node(t, i)->name);
		if (req->eligible && !clf_bitmap_test(req->eligible, i) && !clf_bitmap_test(req->free, i))
			return clf_fail(err, CLF_E_INVALID, "required node '%s' is not eligible",
					clf_topo_node(t, i)->name);
	}
	return 0;
}

/* What each component could give. */
struct limits {
	uint32_t holds, of; /* most nodes in a component that has all required ones, and how many it has in all */
	uint32_t leaves;    /* least leaves in which one holds the request; CLF_NONE when none holds it */
};

static int by_falling(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *) a, y = *(const uint32_t *) b;

	return x > y ? -1 : x < y;
}

/* count[]: usable nodes by leaf; sorted in place component by component afterwards. */
static struct limits limits_of(const struct clf_place_ws *ws, const struct clf_request *req, uint32_t *count)
{
	const struct clf_fabric *f = &ws->fabric;
	struct limits m = { .leaves = CLF_NONE };
	uint32_t nrequired = req->required ? clf_bitmap_count(req->required) : 0;

	for (uint32_t a = 0, b; a < f->tree.n[1]; a = b) {
		uint32_t component = clf_topo_group(f->topo, f->leaf[a])->component, sum = 0, of = 0, here = 0, k = 0;
		uint32_t rest = req->nodes;

		for (b = a; b < f->tree.n[1] && clf_topo_group(f->topo, f->leaf[b])->component == component; b++) {
			sum += count[b];
			of += f->size[b];
			if (nrequired && ws->required[b]) {
				here += ws->required[b];
				k++;
				rest = count[b] < rest ? rest - count[b] : 0;
				count[b] = 0;
			}
		}
		if (here != nrequired)
			continue;
		if (sum > m.holds || !m.of) {
			m.holds = sum;
			m.of = of;
		}
		if (sum < req->nodes)
			continue;
		qsort(count + a, b - a, sizeof(*count), by_falling);
		for (uint32_t i = a; i < b && rest; i++, k++)
			rest = count[i] < rest ? rest - count[i] : 0;
		m.leaves = k < m.leaves ? k : m.leaves;
	}
	return m;
}

/* Why nothing was found: not now, or never. Always fails. */
static int refuse(struct clf_place_ws *ws, const struct clf_request *req, struct clf_error *err)
{
	const struct clf_fabric *f = &ws->fabric;
	const char *where = req->required ? "the component of the required nodes has" : "the largest component has";
	struct limits ever, now;
	uint32_t busy = CLF_NONE;

	if (req->required)
		clf_fabric_count(f, req->required, ws->required);
	if (req->eligible) {
		uint32_t *more = ws->free;

		clf_fabric_count(f, req->eligible, more);
		for (uint32_t l = 0; l < f->tree.n[1];
		     l++) /* what is free can be used, whatever the caller calls eligible */
			for (uint32_t i = f->first_node[l]; i < f->first_node[l] + f->size[l]; i++)
				more[l] += clf_bitmap_test(req->free, i) && !clf_bitmap_test(req->eligible, i);
	} else {
		memcpy(ws->free, f->size, f->tree.n[1] * sizeof(*ws->free));
	}
	ever = limits_of(ws, req, ws->free);
	if (!ever.of && req->required)
		return clf_fail(err, CLF_E_INVALID,
				"the required nodes are in different components: no switch joins them");
	if (ever.holds < req->nodes)
		return clf_fail(err, CLF_E_INVALID, "%u nodes can never be placed: %s %u%s of %u nodes", req->nodes,
				where, ever.holds, req->eligible ? " eligible" : "", ever.of);
	if (req->max_leaves && ever.leaves > req->max_leaves)
		return clf_fail(err, CLF_E_INVALID, "%u nodes can never be on at most %u %s: the least is %u",
				req->nodes, req->max_leaves, req->max_leaves == 1 ? "leaf" : "leaves", ever.leaves);

	for (uint32_t i = req->required ? clf_bitmap_next(req->required, 0) : CLF_NONE;
	     req->required && i < req->required->nbits && busy == CLF_NONE; i = clf_bitmap_next(req->required, i + 1))
		if (!clf_bitmap_test(req->free, i))
			busy = i;
	if (busy != CLF_NONE)
		return clf_fail(err, CLF_E_EXHAUSTED, "required node '%s' is not free",
				clf_topo_node(f->topo, busy)->name);
	clf_fabric_count(f, req->free, ws->free);
	now = limits_of(ws, req, ws->free);
	if (now.holds < req->nodes)
		return clf_fail(err, CLF_E_EXHAUSTED, "%u nodes are needed: %s %u free of %u nodes", req->nodes, where,
				now.holds, now.of);
	return clf_fail(err, CLF_E_EXHAUSTED,
			"%u nodes are free, but on no fewer than %u leaves; at most %u are allowed", req->nodes,
			now.leaves, req->max_leaves);
}

static int by_node_name(const void *a, const void *b, void *arg)
{
	const struct clf_candidate *x = a, *y = b;

	return clf_strnatcmp(clf_topo_node(arg, x->id)->name, clf_topo_node(arg, y->id)->name);
}

static bool in_name_order(struct clf_place_ws *ws, uint32_t leaf)
{
	const struct clf_fabric *f = &ws->fabric;

	if (ws->names[leaf] == UNKNOWN) {
		uint32_t i = f->first_node[leaf] + 1, end = f->first_node[leaf] + f->size[leaf];

		while (i < end &&
		       clf_strnatcmp(clf_topo_node(f->topo, i - 1)->name, clf_topo_node(f->topo, i)->name) <= 0)
			i++;
		ws->names[leaf] = i >= end ? BY_NAME : MIXED;
	}
	return ws->names[leaf] == BY_NAME;
}

/* n nodes of a leaf to out, in the order of names but for domains (pick.h). */
static void pick(struct clf_place_ws *ws, const struct clf_request *req, uint32_t leaf, uint32_t n, uint32_t *out)
{
	const struct clf_fabric *f = &ws->fabric;
	uint32_t first = f->first_node[leaf], end = first + f->size[leaf], nv = 0, free_ones, done = 0;
	struct clf_candidate *v = ws->candidates;

	for (uint32_t w = first / 64; w <= (end - 1) / 64; w++) {
		uint64_t x = req->free->words[w];

		if (w == first / 64)
			x &= ~UINT64_C(0) << first % 64;
		if (w == (end - 1) / 64)
			x &= ~UINT64_C(0) >> (63 - (end - 1) % 64);
		for (; x; x &= x - 1)
			v[nv++].id = w * 64 + (uint32_t) __builtin_ctzll(x);
	}
	if (!in_name_order(ws, leaf))
		qsort_r(v, nv, sizeof(*v), by_node_name, (void *) f->topo);
	if (!f->domains && !req->required) {
		for (uint32_t i = 0; i < n; i++)
			out[i] = v[i].id;
		return;
	}
	free_ones = n;
	for (uint32_t i = 0; i < nv; i++) {
		v[i].place = i;
		v[i].required = req->required && clf_bitmap_test(req->required, v[i].id);
		v[i].domain = f->domains ? clf_topo_node(f->topo, v[i].id)->domain : CLF_NONE;
		free_ones -= v[i].required;
	}
	if (f->domains) {
		clf_pick_domains(v, nv, n, out);
		return;
	}
	for (uint32_t i = 0; done < n; i++)
		if (v[i].required || free_ones) {
			free_ones -= !v[i].required;
			out[done++] = v[i].id;
		}
}

/* Cost of the depth-first order of a set (closed form, docs/adr/0004-placement.md). */
static struct clf_cost cost_of(const struct clf_search_tree *tree, const struct clf_found *found, uint32_t n)
{
	struct clf_cost c = { .leaves = found->used[1], .pods = found->used[2], .hops = n > 1 ? 2 * (uint64_t) n : 0 };

	c.leaf_crossings = c.leaves > 1 ? c.leaves : 0;
	c.pod_crossings = c.pods > 1 ? c.pods : 0;
	for (uint32_t l = 1; l <= tree->levels; l++)
		c.hops += found->used[l] > 1 ? 2 * (uint64_t) found->used[l] : 0;
	return c;
}

int clf_place_with(struct clf_place_ws *ws, const struct clf_request *req, struct clf_placement *out,
		   struct clf_error *err)
{
	const struct clf_fabric *f = &ws->fabric;
	struct clf_search_ask ask = {
		.free = ws->free,
		.required = req->required ? ws->required : NULL,
		.need = req->nodes,
		.hops = req->objective == CLF_OBJECTIVE_HOPS,
		.blocks = req->pattern == CLF_PATTERN_RD,
		.max_leaves = req->max_leaves,
		.budget_us = req->budget_us,
	};
	struct clf_found found;
	uint32_t done = 0;

	if (check(f->topo, req, err))
		return -1;
	if (req->required && !clf_bitmap_subset(req->required, req->free))
		return refuse(ws, req, err);
	clf_fabric_count(f, req->free, ws->free);
	if (req->required)
		clf_fabric_count(f, req->required, ws->required);
	if (!clf_search(ws->search, &ask, &found))
		return refuse(ws, req, err);
	for (uint32_t i = 0; i < found.used[1]; i++) {
		uint32_t l = found.leaf[i];

		pick(ws, req, l, found.take[l], ws->order + done);
		done += found.take[l];
	}
	if (clf_order_for(f->topo, ws->order, done, req->pattern, err))
		return -1;
	*out = (struct clf_placement){
		.count = done,
		.order = ws->order,
		.cost = cost_of(&f->tree, &found, done),
		.proven = found.proven,
		.bound_leaves = found.bound_leaves,
		.bound_pods = found.bound_pods,
	};
	out->optimal = out->cost;
	return 0;
}

int clf_place(const struct clf_topo *t, const struct clf_request *req, struct clf_placement **out,
	      struct clf_error *err)
{
	CLF_CLEANUP(clf_place_ws_destroyp) struct clf_place_ws *ws = clf_place_ws_create(t, err);
	CLF_CLEANUP(clf_placement_destroyp) struct clf_placement *p = calloc(1, sizeof(*p));
	uint32_t *order;

	if (!ws)
		return -1;
	if (!p)
		return clf_fail(err, CLF_E_NOMEM, "out of memory");
	if (clf_place_with(ws, req, p, err)) {
		p->order = NULL;
		return -1;
	}
	order = malloc(p->count * sizeof(*order));
	if (order)
		memcpy(order, p->order, p->count * sizeof(*order));
	p->order = order;
	if (!order)
		return clf_fail(err, CLF_E_NOMEM, "out of memory");
	*out = CLF_STEAL(p);
	return 0;
}

void clf_placement_destroy(struct clf_placement *p)
{
	if (!p)
		return;
	free(p->order);
	free(p);
}
