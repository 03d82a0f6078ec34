/* SPDX-License-Identifier: GPL-2.0-or-later */
/* place.c - from a request on a topology to counts a leaf (search.h) and back to nodes in rank order. */
#include "place/place.h"

#include <string.h>

#include "place/order.h"
#include "place/pick.h"
#include "place/search.h"

/* A part of the fabric in which one search runs: the tree below one group of level 3 or less. */
struct scope {
	uint32_t group;
	uint32_t first_leaf, nleaves, npods;
};

struct clf_place_ws {
	struct clf_search_ws *search;
	uint32_t *memory; /* the one block behind the arrays below, each one entry a leaf of the whole topology */
	/* facts of the topology, fixed */
	uint32_t *first_node, *n_nodes;
	uint32_t *scope_pod; /* pod of the leaf, counted within its level-3 group */
	/* of the request at hand */
	uint32_t *free, *required, *pod_of, *take;
	uint32_t *units, *held, *unit_required, *full; /* groups of a level between; full: free before narrowing */
	uint32_t nleaves;
	uint32_t nscopes;
	struct scope *scopes; /* of level 3 and, where a component is lower, its root: owned */
};

static struct scope scope_of(const struct clf_topo *t, uint32_t group)
{
	struct scope s = { .group = group, .first_leaf = group, .nleaves = 1 };
	uint32_t last = group;

	while (clf_topo_group(t, s.first_leaf)->level > 1) {
		const struct clf_topo_group *a = clf_topo_group(t, s.first_leaf), *b = clf_topo_group(t, last);

		last = b->first + b->n - 1;
		s.first_leaf = a->first;
	}
	s.nleaves = last - s.first_leaf + 1;
	return s;
}

static int make_scopes(struct clf_place_ws *ws, const struct clf_topo *t, struct clf_error *err)
{
	uint32_t ngroups = clf_topo_ngroups(t);

	ws->scopes = calloc((size_t) ngroups + 1, sizeof(*ws->scopes));
	if (!ws->scopes)
		return clf_fail(err, CLF_E_NOMEM, "out of memory");
	for (uint32_t g = 0; g < ngroups; g++) {
		const struct clf_topo_group *x = clf_topo_group(t, g);
		struct scope s;
		uint32_t pod = CLF_NONE;

		if (x->level > 3 || (x->level < 3 && x->parent != CLF_NONE))
			continue;
		s = scope_of(t, g);
		for (uint32_t l = s.first_leaf; l < s.first_leaf + s.nleaves; l++) {
			uint32_t parent = x->level == 1 ? g : clf_topo_group(t, l)->parent;

			s.npods += parent != pod;
			pod = parent;
			ws->scope_pod[l] = s.npods - 1;
		}
		ws->scopes[ws->nscopes++] = s;
	}
	return 0;
}

struct clf_place_ws *clf_place_ws_create(const struct clf_topo *t, struct clf_error *err)
{
	CLF_CLEANUP(clf_place_ws_destroyp) struct clf_place_ws *ws = calloc(1, sizeof(*ws));
	size_t n = clf_topo_counts(t).leaves;

	if (!ws) {
		clf_fail(err, CLF_E_NOMEM, "out of memory");
		return NULL;
	}
	ws->nleaves = (uint32_t) n;
	ws->search = clf_search_ws_create(err);
	if (!ws->search)
		return NULL;

	uint32_t **const arrays[] = { &ws->first_node, &ws->n_nodes,       &ws->scope_pod, &ws->free,
				      &ws->required,   &ws->pod_of,        &ws->take,      &ws->units,
				      &ws->held,       &ws->unit_required, &ws->full };
	const size_t narrays = sizeof(arrays) / sizeof(*arrays);

	ws->memory = calloc(narrays * n + 1, sizeof(*ws->memory));
	if (!ws->memory) {
		clf_fail(err, CLF_E_NOMEM, "out of memory");
		return NULL;
	}
	for (size_t i = 0; i < narrays; i++)
		*arrays[i] = ws->memory + i * n;
	for (uint32_t l = 0; l < n; l++) {
		ws->first_node[l] = clf_topo_group(t, l)->first_node;
		ws->n_nodes[l] = clf_topo_group(t, l)->n_nodes;
	}
	return make_scopes(ws, t, err) ? NULL : CLF_STEAL(ws);
}

void clf_place_ws_destroy(struct clf_place_ws *ws)
{
	if (!ws)
		return;
	clf_search_ws_destroy(ws->search);
	free(ws->scopes);
	free(ws->memory);
	free(ws);
}

static uint64_t sum(const uint32_t *v, struct scope s)
{
	uint64_t n = 0;

	for (uint32_t l = s.first_leaf; l < s.first_leaf + s.nleaves; l++)
		n += v[l];
	return n;
}

static bool better(const struct clf_found *a, const struct clf_found *b, bool hops)
{
	if (hops) {
		uint64_t x = (a->pods > 1 ? a->pods : 0) + (uint64_t) (a->leaves > 1 ? a->leaves : 0);
		uint64_t y = (b->pods > 1 ? b->pods : 0) + (uint64_t) (b->leaves > 1 ? b->leaves : 0);

		if (x != y)
			return x < y;
	}
	if (a->pods != b->pods)
		return a->pods < b->pods;
	if (a->leaves != b->leaves)
		return a->leaves < b->leaves;
	return a->slack < b->slack;
}

/* A scope above level 3: narrow ws->free level by level from the top, to the groups that the fewest of the level above
 * need. Exact for the two highest levels; what is below is searched inside their choice, so the answer is proven only
 * where it meets the free bounds. */
static int narrow(struct clf_place_ws *ws, const struct clf_topo *t, const struct clf_request *req, struct scope s,
		  bool *exact, struct clf_error *err)
{
	uint32_t level = clf_topo_group(t, s.group)->level;

	*exact = true;
	for (uint32_t unit = level - 2; unit >= 2; unit--) {
		uint32_t first, all = clf_topo_level_groups(t, unit, &first), n = 0;
		uint32_t *units = ws->units, *held = ws->held, *need = ws->unit_required, *above = ws->pod_of;
		struct clf_found found;

		for (uint32_t g = first; g < first + all; g++) {
			struct scope u = scope_of(t, g);

			if (u.first_leaf < s.first_leaf || u.first_leaf >= s.first_leaf + s.nleaves)
				continue;
			units[n] = g;
			held[n] = (uint32_t) sum(ws->free, u);
			need[n] = req->required ? (uint32_t) sum(ws->required, u) : 0;
			n++;
		}
		for (uint32_t i = 0, count = 0; i < n; i++) {
			if (i && clf_topo_group(t, units[i])->parent != clf_topo_group(t, units[i - 1])->parent)
				count++;
			above[i] = count;
		}

		struct clf_search in = {
			.nleaves = n,
			.npods = n ? above[n - 1] + 1 : 0,
			.free = held,
			.pod_of = above,
			.required = req->required ? need : NULL,
			.need = req->nodes,
			.budget_us = req->budget_us,
		};

		if (clf_search(ws->search, &in, &found, err))
			return -1;
		*exact = *exact && found.proven && unit == level - 2;
		for (uint32_t i = 0; i < n; i++)
			if (!found.take[i]) {
				struct scope u = scope_of(t, units[i]);

				memset(ws->free + u.first_leaf, 0, u.nleaves * sizeof(*ws->free));
			}
	}
	return 0;
}

/* Search one scope; keep the answer in ws->take when it beats *best. */
static int try_scope(struct clf_place_ws *ws, const struct clf_topo *t, const struct clf_request *req, struct scope s,
		     bool *any, struct clf_found *best, struct clf_error *why)
{
	bool high = clf_topo_group(t, s.group)->level > 3, exact = true;
	struct clf_found found;
	struct clf_error err = { 0 };
	struct clf_search in = {
		.nleaves = s.nleaves,
		.free = ws->free + s.first_leaf,
		.required = req->required ? ws->required + s.first_leaf : NULL,
		.npods = s.npods,
		.pod_of = ws->scope_pod + s.first_leaf,
		.need = req->nodes,
		.hops = req->objective == CLF_OBJECTIVE_HOPS,
		.max_leaves = req->max_leaves,
		.budget_us = req->budget_us,
	};

	uint32_t least = 0;

	if (high) {
		/* fewest leaves of all, whatever lies above: one pod */
		memset(ws->pod_of, 0, ws->nleaves * sizeof(*ws->pod_of));
		in.pod_of = ws->pod_of + s.first_leaf;
		in.npods = 1;
		if (clf_search(ws->search, &in, &found, &err) || narrow(ws, t, req, s, &exact, &err)) {
			*why = err;
			return err.code == CLF_E_EXHAUSTED ? 0 : -1;
		}
		least = found.leaves;
		in.npods = 0;
		for (uint32_t l = 0, pod = CLF_NONE; l < s.nleaves; l++) {
			uint32_t parent = clf_topo_group(t, s.first_leaf + l)->parent;

			in.npods += parent != pod;
			pod = parent;
			ws->pod_of[s.first_leaf + l] = in.npods - 1;
		}
	}
	if (clf_search(ws->search, &in, &found, &err)) {
		if (err.code != CLF_E_EXHAUSTED) {
			*why = err;
			return -1;
		}
		if (why->code == CLF_OK)
			*why = err;
		return 0;
	}
	if (high) {
		found.proven = found.proven && exact && !in.hops && found.leaves == least;
		found.bound_leaves = least;
	}
	if (*any && !better(&found, best, in.hops))
		return 0;
	memset(ws->take, 0, ws->nleaves * sizeof(*ws->take));
	memcpy(ws->take + s.first_leaf, found.take, s.nleaves * sizeof(*ws->take));
	*best = found;
	*any = true;
	return 0;
}

static bool may_hold(const struct clf_place_ws *ws, const struct clf_request *req, struct scope s, uint64_t nrequired)
{
	return (!req->required || sum(ws->required, s) == nrequired) && sum(ws->free, s) >= req->nodes;
}

/* The lowest level at which some group holds the request decides which groups are searched: any set in it crosses
 * nothing above. */
static int search_levels(struct clf_place_ws *ws, const struct clf_topo *t, const struct clf_request *req,
			 uint64_t nrequired, bool *any, struct clf_found *best, struct clf_error *why)
{
	uint32_t levels = clf_topo_counts(t).levels;

	for (uint32_t i = 0; i < ws->nscopes; i++)
		if (may_hold(ws, req, ws->scopes[i], nrequired) && try_scope(ws, t, req, ws->scopes[i], any, best, why))
			return -1;
	for (uint32_t level = 4; level <= levels && !*any; level++) {
		uint32_t first, n = clf_topo_level_groups(t, level, &first);

		for (uint32_t g = first; g < first + n; g++) {
			struct scope s = scope_of(t, g);
			int rc;

			if (!may_hold(ws, req, s, nrequired))
				continue;
			memcpy(ws->full, ws->free, ws->nleaves * sizeof(*ws->full));
			rc = try_scope(ws, t, req, s, any, best, why);
			memcpy(ws->free, ws->full, ws->nleaves * sizeof(*ws->full));
			if (rc)
				return -1;
		}
	}
	return 0;
}

static int check(const struct clf_topo *t, const struct clf_request *req, struct clf_error *err)
{
	uint32_t n = clf_topo_nnodes(t);

	if (!req->nodes)
		return clf_fail(err, CLF_E_INVALID, "a request for 0 nodes");
	if (req->required && clf_bitmap_count(req->required) > req->nodes)
		return clf_fail(err, CLF_E_INVALID, "%u nodes are required, but only %u asked for",
				clf_bitmap_count(req->required), req->nodes);
	if (!req->free || req->free->nbits != n || (req->eligible && req->eligible->nbits != n) ||
	    (req->required && req->required->nbits != n))
		return clf_fail(err, CLF_E_INVALID, "node sets of the request are not as wide as the topology");
	return 0;
}

/* Can this request ever be placed? Says what blocks it. */
static int check_ever(const struct clf_place_ws *ws, const struct clf_topo *t, const struct clf_request *req,
		      struct clf_error *err)
{
	uint32_t largest = 0, total = clf_topo_nplaced(t);

	if (req->required) {
		uint32_t component = CLF_NONE, count = clf_bitmap_count(req->required);

		if (count > req->nodes)
			return clf_fail(err, CLF_E_INVALID, "%u nodes are required, but only %u asked for", count,
					req->nodes);
		for (uint32_t i = clf_bitmap_next(req->required, 0); i < req->required->nbits;
		     i = clf_bitmap_next(req->required, i + 1)) {
			const struct clf_topo_node *node = clf_topo_node(t, i);

			if (node->leaf == CLF_NONE)
				return clf_fail(err, CLF_E_INVALID, "required node '%s' has no place in the fabric",
						node->name);
			if (component != CLF_NONE && node->component != component)
				return clf_fail(err, CLF_E_INVALID,
						"required node '%s' is in another component than the others: no switch "
						"joins them",
						node->name);
			if (req->eligible && !clf_bitmap_test(req->eligible, i))
				return clf_fail(err, CLF_E_INVALID, "required node '%s' is not eligible", node->name);
			component = node->component;
		}
	}
	/* leaves of a component are one run */
	for (uint32_t l = 0, holds = 0, component = CLF_NONE; l < ws->nleaves; l++) {
		const struct clf_topo_group *leaf = clf_topo_group(t, l);

		if (leaf->component != component)
			holds = 0;
		component = leaf->component;
		holds += req->eligible ? clf_bitmap_count_range(req->eligible, leaf->first_node, leaf->n_nodes)
				       : leaf->n_nodes;
		if (holds > largest)
			largest = holds;
	}
	if (req->nodes > largest)
		return clf_fail(
			err, CLF_E_INVALID,
			"%u nodes can never be placed: the largest connected part of the fabric has %u%s of %u nodes",
			req->nodes, largest, req->eligible ? " eligible" : "", total);
	if (req->max_leaves) {
		uint32_t least;

		if (req->eligible) {
			least = clf_min_leaves(t, req->eligible, req->nodes);
		} else {
			CLF_CLEANUP(clf_bitmap_destroyp)
			struct clf_bitmap *all = clf_bitmap_create(clf_topo_nnodes(t), err);

			if (!all)
				return -1;
			clf_bitmap_fill(all);
			least = clf_min_leaves(t, all, req->nodes);
		}
		if (least > req->max_leaves)
			return clf_fail(err, CLF_E_INVALID,
					"%u nodes need at least %u leaves, and at most %u are allowed", req->nodes,
					least, req->max_leaves);
	}
	return 0;
}

/* Set bits of [first, first + n). The hot loop of a decision: leaves are small, so one word (or two) is looked at
 * without a call. */
static inline uint32_t count_leaf(const struct clf_bitmap *b, uint32_t first, uint32_t n)
{
	uint32_t w = first / 64, shift = first % 64;
	uint64_t x;

	if (n > 64 || !n)
		return n ? clf_bitmap_count_range(b, first, n) : 0;
	x = b->words[w] >> shift;
	if (shift + n > 64)
		x |= b->words[w + 1] << (64 - shift);
	x &= ~UINT64_C(0) >> (64 - n);
	/* bits in pairs, nibbles, bytes; then the bytes summed by one multiplication */
	x -= x >> 1 & UINT64_C(0x5555555555555555);
	x = (x & UINT64_C(0x3333333333333333)) + (x >> 2 & UINT64_C(0x3333333333333333));
	x = (x + (x >> 4)) & UINT64_C(0x0F0F0F0F0F0F0F0F);
	return (uint32_t) (x * UINT64_C(0x0101010101010101) >> 56);
}

int clf_place_with(struct clf_place_ws *ws, const struct clf_topo *t, const struct clf_request *req,
		   struct clf_placement **out, struct clf_error *err)
{
	struct clf_error why = { 0 };
	struct clf_found found = { 0 };
	uint64_t nfree = 0, nrequired = 0;
	bool any = false;

	if (check(t, req, err))
		return -1;
	for (uint32_t l = 0; l < ws->nleaves; l++) {
		ws->free[l] = count_leaf(req->free, ws->first_node[l], ws->n_nodes[l]);
		nfree += ws->free[l];
		if (req->required) {
			ws->required[l] = count_leaf(req->required, ws->first_node[l], ws->n_nodes[l]);
			nrequired += ws->required[l];
		}
	}
	if (req->required && !clf_bitmap_subset(req->required, req->free))
		return check_ever(ws, t, req, err) ? -1 : clf_fail(err, CLF_E_EXHAUSTED, "a required node is not free");
	if (search_levels(ws, t, req, nrequired, &any, &found, &why)) {
		if (err && err->code == CLF_OK)
			*err = why;
		return -1;
	}
	/* only a request that failed now is asked whether it ever could succeed */
	if (!any && check_ever(ws, t, req, err))
		return -1;
	if (!any && why.code != CLF_OK)
		return clf_fail(err, CLF_E_EXHAUSTED, "%s", why.text);
	if (!any)
		return clf_fail(err, CLF_E_EXHAUSTED,
				"%u nodes are needed in one connected part of the fabric; %llu are free in all",
				req->nodes, (unsigned long long) nfree);

	CLF_CLEANUP(clf_placement_destroyp) struct clf_placement *p = calloc(1, sizeof(*p));

	if (!p || !(p->order = calloc(req->nodes, sizeof(*p->order))))
		return clf_fail(err, CLF_E_NOMEM, "out of memory");
	p->count = req->nodes;
	if (clf_pick(t, req, ws->take, ws->nleaves, p->order, err) ||
	    clf_order(t, p->order, p->count, CLF_NONE, req->pattern, err))
		return -1;
	p->cost = clf_order_cost(t, p->order, p->count);
	p->optimal = p->cost;
	p->proven = found.proven;
	p->bound_leaves = found.bound_leaves;
	p->bound_pods = found.bound_pods;
	*out = CLF_STEAL(p);
	return 0;
}

int clf_place(const struct clf_topo *t, const struct clf_request *req, struct clf_placement **out,
	      struct clf_error *err)
{
	CLF_CLEANUP(clf_place_ws_destroyp) struct clf_place_ws *ws = clf_place_ws_create(t, err);

	return ws ? clf_place_with(ws, t, req, out, err) : -1;
}

void clf_placement_destroy(struct clf_placement *p)
{
	if (!p)
		return;
	free(p->order);
	free(p);
}
