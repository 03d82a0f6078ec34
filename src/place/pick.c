/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pick.c - see pick.h. */
#include "place/pick.h"

#include <stdlib.h>

struct free_node {
	uint32_t id, domain, in_domain; /* in_domain: free nodes of its domain on this leaf */
};

static int by_domain(const void *a, const void *b)
{
	const struct free_node *x = a, *y = b;

	if (x->domain != y->domain)
		return x->domain < y->domain ? -1 : 1;
	return x->id < y->id ? -1 : x->id > y->id;
}

static int fullest_first(const void *a, const void *b)
{
	const struct free_node *x = a, *y = b;

	if (x->in_domain != y->in_domain)
		return x->in_domain > y->in_domain ? -1 : 1;
	return by_domain(a, b);
}

/* A leaf with NVLink domains: n of the v[0..nv-1], fewest domains. */
static void pick_domains(struct free_node *v, uint32_t nv, uint32_t n, uint32_t *nodes)
{
	uint32_t tight = UINT32_MAX, done = 0;

	qsort(v, nv, sizeof(*v), by_domain);
	for (uint32_t i = 0, j; i < nv; i = j) {
		for (j = i; j < nv && v[j].domain == v[i].domain; j++)
			;
		for (uint32_t k = i; k < j; k++)
			v[k].in_domain = v[i].domain == CLF_NONE ? 1 : j - i;
	}
	qsort(v, nv, sizeof(*v), fullest_first);
	for (uint32_t i = 0; done < n; i += v[i].in_domain) {
		uint32_t size = v[i].in_domain;

		if (size >= n - done) { /* the last domain: the tightest that holds the rest, never one already taken */
			for (uint32_t j = i; j < nv && v[j].in_domain >= n - done; j += v[j].in_domain)
				tight = j;
			for (uint32_t k = tight; done < n; k++)
				nodes[done++] = v[k].id;
			return;
		}
		for (uint32_t k = 0; k < size; k++)
			nodes[done++] = v[i + k].id;
	}
}

int clf_pick(const struct clf_topo *t, const struct clf_request *req, const uint32_t *take, uint32_t nleaves,
	     uint32_t *nodes, struct clf_error *err)
{
	CLF_AUTO_FREE struct free_node *v = NULL;
	uint32_t cap = 0, done = 0;

	for (uint32_t l = 0; l < nleaves; l++) {
		const struct clf_topo_group *leaf = clf_topo_group(t, l);
		uint32_t end = leaf->first_node + leaf->n_nodes, left = take[l], nv = 0;
		bool domains = false;

		if (!left)
			continue;
		if (leaf->n_nodes > cap) {
			struct free_node *w = reallocarray(v, leaf->n_nodes, sizeof(*v));

			if (!w)
				return clf_fail(err, CLF_E_NOMEM, "out of memory");
			v = w;
			cap = leaf->n_nodes;
		}
		for (uint32_t i = clf_bitmap_next(req->free, leaf->first_node); i < end;
		     i = clf_bitmap_next(req->free, i + 1)) {
			if (req->required && clf_bitmap_test(req->required, i)) {
				nodes[done++] = i;
				left--;
				continue;
			}
			v[nv] = (struct free_node){ .id = i, .domain = clf_topo_node(t, i)->domain };
			domains |= v[nv++].domain != CLF_NONE;
		}
		if (left > nv)
			return clf_fail(err, CLF_E_INTERNAL, "leaf '%s' was to give %u nodes and has %u", leaf->name,
					left, nv);
		if (domains)
			pick_domains(v, nv, left, nodes + done);
		else
			for (uint32_t i = 0; i < left; i++)
				nodes[done + i] = v[i].id;
		done += left;
	}
	if (done != req->nodes)
		return clf_fail(err, CLF_E_INTERNAL, "%u nodes picked where %u were asked for", done, req->nodes);
	return 0;
}
