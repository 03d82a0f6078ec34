/* SPDX-License-Identifier: GPL-2.0-or-later */
/* topo_derive.c - from cables to a tree (docs/adr/0003-topology-model.md).
 *
 * 1. Switches and nodes get an order that no file decides: by GUID, by name.
 * 2. Leaves: switches that share more than half of their hosts are one leaf; then each host goes where most of its
 * cables go. So a dead rail moves no host, and a switch that sees everybody (storage, management) glues nobody.
 * 3. Upper levels: the same with the groups below instead of hosts. The chips of a chassis count as one switch.
 * 4. What is joined by cables is one component: where no common switch stands above, a root is made, and said.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/strv.h"
#include "topo/topo_priv.h"

#define MAX_FAN 1024 /* a host or group below more switches than that joins nothing */

struct derive {
	struct clf_topo_builder *b;
	struct clf_error *err;
	struct clf_rows hosts_of;  /* switch -> node, one entry a cable */
	struct clf_rows cables_of; /* node -> switch, one entry a cable */
	struct clf_rows peers_of;  /* switch -> switch, one entry a cable */
	bool *upper;               /* a switch with hosts that nevertheless stands above leaves */
	uint32_t *box;             /* switch -> lowest switch of its chassis, or itself */
	uint32_t *merged, *vote;   /* scratch, one a switch */
};

static void derive_done(struct derive *d)
{
	clf_rows_done(&d->hosts_of);
	clf_rows_done(&d->cables_of);
	clf_rows_done(&d->peers_of);
	free(d->upper);
	free(d->box);
	free(d->merged);
	free(d->vote);
}

static uint32_t len(const struct clf_rows *r, uint32_t i)
{
	return r->first[i + 1] - r->first[i];
}

static int by_node_name(const void *a, const void *b, void *arg)
{
	const struct clf_bnode *nodes = arg;

	return clf_strnatcmp(nodes[*(const uint32_t *) a].name, nodes[*(const uint32_t *) b].name);
}

static int by_switch(const void *a, const void *b, void *arg)
{
	const struct clf_topo_switch *s = arg, *x = &s[*(const uint32_t *) a], *y = &s[*(const uint32_t *) b];

	return x->guid != y->guid ? (x->guid < y->guid ? -1 : 1) : clf_strnatcmp(x->name, y->name);
}

static int by_ends(const void *a, const void *b)
{
	const struct clf_topo_link *x = a, *y = b;
	const uint64_t kx[] = { x->a, x->a_port, x->node_end, x->b, x->b_port, x->speed_mbps, x->b_guid };
	const uint64_t ky[] = { y->a, y->a_port, y->node_end, y->b, y->b_port, y->speed_mbps, y->b_guid };

	for (size_t i = 0; i < sizeof(kx) / sizeof(*kx); i++)
		if (kx[i] != ky[i])
			return kx[i] < ky[i] ? -1 : 1;
	return 0;
}

/* Renumber nodes and switches, sort links: nothing that follows depends on the order of a file. */
static int reorder(struct clf_topo_builder *b, struct clf_error *err)
{
	CLF_AUTO_FREE uint32_t *order = clf_topo_alloc((size_t) b->nnodes + b->nswitches, sizeof *order, err);
	CLF_AUTO_FREE uint32_t *node_at = clf_topo_alloc(b->nnodes, sizeof *node_at, err);
	CLF_AUTO_FREE uint32_t *switch_at = clf_topo_alloc(b->nswitches, sizeof *switch_at, err);
	CLF_AUTO_FREE struct clf_bnode *nodes = clf_topo_alloc(b->nnodes, sizeof *nodes, err);
	CLF_AUTO_FREE struct clf_topo_switch *switches = clf_topo_alloc(b->nswitches, sizeof *switches, err);
	uint32_t *sw_order = order ? order + b->nnodes : NULL;

	if (!order || !node_at || !switch_at || !nodes || !switches)
		return -1;
	for (uint32_t i = 0; i < b->nnodes; i++)
		order[i] = i;
	for (uint32_t i = 0; i < b->nswitches; i++)
		sw_order[i] = i;
	if (b->nnodes)
		qsort_r(order, b->nnodes, sizeof *order, by_node_name, b->nodes);
	if (b->nswitches)
		qsort_r(sw_order, b->nswitches, sizeof *sw_order, by_switch, b->switches);
	for (uint32_t i = 0; i < b->nnodes; i++) {
		nodes[i] = b->nodes[order[i]];
		node_at[order[i]] = i;
		if (clf_strmap_set(&b->node_names, nodes[i].name, i, err))
			return -1;
	}
	for (uint32_t i = 0; i < b->nswitches; i++) {
		switches[i] = b->switches[sw_order[i]];
		switch_at[sw_order[i]] = i;
		if (clf_strmap_set(&b->switch_names, switches[i].name, i, err))
			return -1;
	}
	if (b->nnodes)
		memcpy(b->nodes, nodes, b->nnodes * sizeof *nodes);
	if (b->nswitches)
		memcpy(b->switches, switches, b->nswitches * sizeof *switches);
	for (uint32_t i = 0; i < b->nlinks; i++) {
		struct clf_topo_link *l = &b->links[i];

		l->a = switch_at[l->a];
		l->b = l->node_end ? node_at[l->b] : switch_at[l->b];
	}
	if (b->nlinks)
		qsort(b->links, b->nlinks, sizeof *b->links, by_ends);
	return 0;
}

static int index_links(struct derive *d)
{
	struct clf_topo_builder *b = d->b;
	size_t n = 2 * (size_t) b->nlinks;
	CLF_AUTO_FREE uint32_t *row = clf_topo_alloc(n, sizeof *row, d->err);
	CLF_AUTO_FREE uint32_t *value = clf_topo_alloc(n, sizeof *value, d->err);

	if (!row || !value)
		return -1;
	for (uint32_t i = 0; i < b->nlinks; i++) {
		row[i] = b->links[i].node_end ? b->links[i].a : CLF_NONE;
		value[i] = b->links[i].b;
	}
	if (clf_rows_make(&d->hosts_of, b->nswitches, row, value, b->nlinks, d->err))
		return -1;
	for (uint32_t i = 0; i < b->nlinks; i++) {
		row[i] = b->links[i].node_end ? b->links[i].b : CLF_NONE;
		value[i] = b->links[i].a;
	}
	if (clf_rows_make(&d->cables_of, b->nnodes, row, value, b->nlinks, d->err))
		return -1;
	for (uint32_t i = 0; i < b->nlinks; i++) {
		row[i] = b->links[i].node_end ? CLF_NONE : b->links[i].a;
		value[i] = b->links[i].b;
		row[b->nlinks + i] = b->links[i].node_end ? CLF_NONE : b->links[i].b;
		value[b->nlinks + i] = b->links[i].a;
	}
	return clf_rows_make(&d->peers_of, b->nswitches, row, value, n, d->err);
}

static int by_id(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *) a, y = *(const uint32_t *) b;

	return (x > y) - (x < y);
}

/* Distinct entries of a row that pass a test; the row is sorted on the way. */
static uint32_t distinct(const struct clf_rows *r, uint32_t i, const struct clf_rows *nonempty)
{
	uint32_t *v = r->v + r->first[i], n = len(r, i), count = 0;

	if (n > 1)
		qsort(v, n, sizeof *v, by_id);
	for (uint32_t k = 0; k < n; k++)
		count += (!k || v[k] != v[k - 1]) && (!nonempty || len(nonempty, v[k]));
	return count;
}

/* A management host on a spine makes no leaf of it: such a switch has more leaf switches than hosts beside it. Where
 * every switch with hosts looks like that (dragonfly, meshes), none is meant. */
static int find_upper(struct derive *d)
{
	uint32_t edges = 0, marked = 0;

	d->upper = clf_topo_alloc(d->b->nswitches, sizeof *d->upper, d->err);
	if (!d->upper)
		return -1;
	for (uint32_t s = 0; s < d->b->nswitches; s++) {
		uint32_t beside, hosts;

		if (!len(&d->hosts_of, s))
			continue;
		edges++;
		beside = distinct(&d->peers_of, s, &d->hosts_of);
		hosts = distinct(&d->hosts_of, s, NULL);
		d->upper[s] = beside >= 2 && beside > hosts;
		marked += d->upper[s];
	}
	if (2 * marked >= edges)
		memset(d->upper, 0, d->b->nswitches * sizeof *d->upper);
	return 0;
}

struct name {
	const char *name;
	uint32_t id; /* switch, where it is needed */
};

static int by_name(const void *a, const void *b)
{
	return clf_strnatcmp(((const struct name *) a)->name, ((const struct name *) b)->name);
}

/* What the names of several switches share, without a number cut in half or a trailing "rail"; "" when that says
 * nothing. */
static void common_part(const struct name *v, uint32_t n, char out[CLF_NAME_MAX])
{
	size_t k = strlen(v[0].name);

	for (uint32_t i = 1; i < n; i++) {
		size_t j = 0;

		while (j < k && v[i].name[j] == v[0].name[j])
			j++;
		k = j;
	}
	while (k && isdigit((unsigned char) v[0].name[k - 1]) && isdigit((unsigned char) v[0].name[k]))
		k--;
	while (k && !isalnum((unsigned char) v[0].name[k - 1]))
		k--;
	for (const char *const *w = (const char *const[]){ "rail", "Rail", "RAIL", "plane", "r", "R", NULL }; *w; w++) {
		size_t m = strlen(*w);

		if (k > m && !strncmp(v[0].name + k - m, *w, m) && !isalpha((unsigned char) v[0].name[k - m - 1])) {
			k -= m;
			break;
		}
	}
	while (k && !isalnum((unsigned char) v[0].name[k - 1]))
		k--;
	snprintf(out, CLF_NAME_MAX, "%.*s", k >= 3 ? (int) k : 0, v[0].name);
}

/* Make a group for each root of merged[] that `wanted` says; switches of it get the group. group_of[root] is the
 * builder's id. */
struct made {
	uint32_t root, n, first; /* run in names */
	char name[CLF_NAME_MAX];
};

static int by_made(const void *a, const void *b)
{
	return clf_strnatcmp(((const struct made *) a)->name, ((const struct made *) b)->name);
}

static int make_groups(struct derive *d, const bool *member, const bool *wanted, uint32_t *group_of)
{
	struct clf_topo_builder *b = d->b;
	CLF_AUTO_FREE uint32_t *row = clf_topo_alloc(b->nswitches, sizeof *row, d->err);
	CLF_AUTO_FREE struct name *names = clf_topo_alloc(b->nswitches, sizeof *names, d->err);
	CLF_AUTO_FREE struct made *made = clf_topo_alloc(b->nswitches, sizeof *made, d->err);
	CLF_CLEANUP(clf_rows_done) struct clf_rows of = { 0 };
	CLF_CLEANUP(clf_strmap_done) struct clf_strmap used = { .copy = true };
	uint32_t nmade = 0, nnames = 0;

	if (!row || !names || !made)
		return -1;
	for (uint32_t s = 0; s < b->nswitches; s++) {
		uint32_t root = member[s] ? clf_uf_find(d->merged, s) : CLF_NONE;

		row[s] = root != CLF_NONE && wanted[root] ? root : CLF_NONE;
	}
	if (clf_rows_make(&of, b->nswitches, row, NULL, b->nswitches, d->err))
		return -1;
	for (uint32_t r = 0; r < b->nswitches; r++) {
		struct made *m = &made[nmade];
		uint32_t times = 0;

		if (!len(&of, r))
			continue;
		*m = (struct made){ .root = r, .n = len(&of, r), .first = nnames };
		for (uint32_t k = 0; k < m->n; k++)
			names[nnames++].name = b->switches[of.v[of.first[r] + k]].name;
		snprintf(m->name, sizeof m->name, "%s",
			 names[m->first].name); /* the lowest GUID's: rows are in that order */
		if (m->n > 1) {
			char common[CLF_NAME_MAX];

			qsort(names + m->first, m->n, sizeof *names, by_name);
			common_part(names + m->first, m->n, common);
			if (*common)
				snprintf(m->name, sizeof m->name, "%s", common);
		}
		clf_strmap_find(&used, m->name, &times);
		if (clf_strmap_set(&used, m->name, times + 1, d->err))
			return -1;
		nmade++;
	}
	for (uint32_t i = 0; i < nmade; i++) {
		struct made *m = &made[i];
		uint32_t times = 0;

		/* a common part that two groups share, or that is a group or switch already, names nobody */
		clf_strmap_find(&used, m->name, &times);
		if (times > 1 || clf_strmap_find(&b->group_names, m->name, &times))
			snprintf(m->name, sizeof m->name, "%s", b->switches[m->root].name);
	}
	if (nmade > 1)
		qsort(made, nmade, sizeof *made, by_made);
	for (uint32_t i = 0; i < nmade; i++) {
		struct made *m = &made[i];
		char name[CLF_NAME_MAX];

		snprintf(name, sizeof name, "%s", m->name);
		for (unsigned k = 2; clf_strmap_find(&b->group_names, name, &(uint32_t){ 0 }); k++)
			snprintf(name, sizeof name, "%.100s-%u", m->name, k);
		if (clf_topo_builder_group(b, name, &group_of[m->root], d->err))
			return -1;
		for (uint32_t k = 0; k < m->n; k++)
			b->switches[of.v[of.first[m->root] + k]].group = group_of[m->root];
	}
	return 0;
}

/* The root that most of the cables in v[0..n-1] lead to: most cables, then most hosts or children, then lowest. */
static uint32_t winner(struct derive *d, const uint32_t *v, uint32_t n, const uint32_t *weight)
{
	uint32_t best = CLF_NONE;

	for (uint32_t k = 0; k < n; k++)
		d->vote[v[k]]++;
	for (uint32_t k = 0; k < n; k++) {
		uint32_t r = v[k];

		if (best == CLF_NONE || d->vote[r] > d->vote[best] ||
		    (d->vote[r] == d->vote[best] &&
		     (weight[r] > weight[best] || (r < best && weight[r] == weight[best]))))
			best = r;
	}
	for (uint32_t k = 0; k < n; k++)
		d->vote[v[k]] = 0;
	return best;
}

static int node_findings(struct derive *d, const uint32_t *choice)
{
	struct clf_topo_builder *b = d->b;

	for (uint32_t i = 0; i < b->nnodes; i++) {
		uint32_t elsewhere = 0, far = CLF_NONE;

		if (!len(&d->cables_of, i)) {
			if (clf_topo_builder_finding(b, CLF_FINDING_WARN, "node-unplaced", b->nodes[i].name, d->err,
						     "none of its ports is connected to a switch, so it is in no leaf"))
				return -1;
			continue;
		}
		for (uint32_t k = d->cables_of.first[i]; k < d->cables_of.first[i + 1]; k++)
			if (clf_uf_find(d->merged, d->cables_of.v[k]) != choice[i]) {
				elsewhere++;
				far = d->cables_of.v[k];
			}
		if (elsewhere &&
		    clf_topo_builder_finding(
			    b, CLF_FINDING_WARN, "node-split", b->nodes[i].name, d->err,
			    "%u of its %u cables lead to another leaf (switch '%s'); it stays where most lead",
			    elsewhere, len(&d->cables_of, i), b->switches[far].name))
			return -1;
	}
	return 0;
}

/* Rail numbers in a leaf of several switches follow their names; a node's missing rails are findings. */
static int find_rails(struct derive *d, const bool *member)
{
	struct clf_topo_builder *b = d->b;
	CLF_AUTO_FREE uint32_t *row = clf_topo_alloc(b->nswitches, sizeof *row, d->err);
	CLF_AUTO_FREE struct name *v = clf_topo_alloc(b->nswitches, sizeof *v, d->err);
	CLF_CLEANUP(clf_rows_done) struct clf_rows of = { 0 };

	if (!row || !v)
		return -1;
	for (uint32_t s = 0; s < b->nswitches; s++)
		row[s] = member[s] ? b->switches[s].group : CLF_NONE;
	if (clf_rows_make(&of, b->ngroups, row, NULL, b->nswitches, d->err))
		return -1;
	for (uint32_t g = 0; g < b->ngroups; g++) {
		uint32_t n = len(&of, g);

		if (n < 2)
			continue;
		if (n > CLF_MAX_RAILS) {
			if (clf_topo_builder_finding(b, CLF_FINDING_WARN, "rails-many", b->groups[g].name, d->err,
						     "%u switches share its hosts; rails are counted up to %d", n,
						     CLF_MAX_RAILS))
				return -1;
			continue;
		}
		for (uint32_t k = 0; k < n; k++)
			v[k] = (struct name){ b->switches[of.v[of.first[g] + k]].name, of.v[of.first[g] + k] };
		qsort(v, n, sizeof *v, by_name);
		for (uint32_t k = 0; k < n; k++)
			b->switches[v[k].id].rail = k;
	}
	for (uint32_t i = 0; i < b->nnodes; i++) {
		uint32_t g = b->nodes[i].group, want, have;

		for (uint32_t k = d->cables_of.first[i]; k < d->cables_of.first[i + 1]; k++) {
			const struct clf_topo_switch *s = &b->switches[d->cables_of.v[k]];

			if (s->group == g && s->rail != CLF_NONE)
				b->nodes[i].rails |= UINT32_C(1) << s->rail;
		}
		if (g == CLF_NONE || !b->nodes[i].rails)
			continue;
		want = len(&of, g);
		have = (uint32_t) __builtin_popcount(b->nodes[i].rails);
		if (have < want && clf_topo_builder_finding(b, CLF_FINDING_WARN, "rail-missing", b->nodes[i].name,
							    d->err, "connected to %u of the %u rails of leaf '%s'",
							    have, want, b->groups[g].name))
			return -1;
	}
	return 0;
}

static int make_leaves(struct derive *d)
{
	struct clf_topo_builder *b = d->b;
	CLF_CLEANUP(clf_rows_done) struct clf_rows sets = { 0 };
	CLF_AUTO_FREE bool *member = clf_topo_alloc(b->nswitches, sizeof *member, d->err);
	CLF_AUTO_FREE bool *wanted = clf_topo_alloc(b->nswitches, sizeof *wanted, d->err);
	CLF_AUTO_FREE uint32_t *group_of = clf_topo_alloc(b->nswitches, sizeof *group_of, d->err);
	CLF_AUTO_FREE uint32_t *hosts = clf_topo_alloc(b->nswitches, sizeof *hosts, d->err);
	CLF_AUTO_FREE uint32_t *choice = clf_topo_alloc(b->nnodes, sizeof *choice, d->err);
	CLF_AUTO_FREE uint32_t *row = clf_topo_alloc(b->nlinks, sizeof *row, d->err);
	CLF_AUTO_FREE uint32_t *value = clf_topo_alloc(b->nlinks, sizeof *value, d->err);

	if (!member || !wanted || !group_of || !hosts || !choice || !row || !value)
		return -1;
	for (uint32_t i = 0; i < b->nlinks; i++) {
		row[i] = b->links[i].node_end && !d->upper[b->links[i].a] ? b->links[i].a : CLF_NONE;
		value[i] = b->links[i].b;
	}
	if (clf_rows_make(&sets, b->nswitches, row, value, b->nlinks, d->err))
		return -1;
	clf_rows_unique(&sets);
	if (clf_topo_overlap(&sets, b->nnodes, MAX_FAN, d->merged, d->err))
		return -1;
	for (uint32_t s = 0; s < b->nswitches; s++) {
		member[s] = len(&sets, s) > 0;
		hosts[clf_uf_find(d->merged, s)] += len(&sets, s);
	}
	for (uint32_t i = 0; i < b->nnodes; i++) {
		uint32_t *v = d->cables_of.v + d->cables_of.first[i], n = len(&d->cables_of, i), m = 0;
		uint32_t roots[256];

		choice[i] = CLF_NONE;
		for (uint32_t k = 0; k < n && m < 256; k++)
			if (!d->upper[v[k]])
				roots[m++] = clf_uf_find(d->merged, v[k]);
		if (!m && n) { /* hangs on upper switches only */
			choice[i] = clf_uf_find(d->merged, v[0]);
			continue;
		}
		choice[i] = winner(d, roots, m, hosts);
		if (choice[i] != CLF_NONE)
			wanted[choice[i]] = true;
	}
	if (make_groups(d, member, wanted, group_of) || node_findings(d, choice))
		return -1;
	for (uint32_t i = 0; i < b->nnodes; i++)
		b->nodes[i].group = choice[i] != CLF_NONE && wanted[choice[i]] ? group_of[choice[i]] : CLF_NONE;
	return find_rails(d, member);
}

static int by_system(const void *a, const void *b, void *arg)
{
	const struct clf_topo_switch *s = arg, *x = &s[*(const uint32_t *) a], *y = &s[*(const uint32_t *) b];

	return x->system != y->system ? (x->system < y->system ? -1 : 1) : by_id(a, b);
}

static int find_boxes(struct derive *d)
{
	struct clf_topo_builder *b = d->b;
	CLF_AUTO_FREE uint32_t *order = clf_topo_alloc(b->nswitches, sizeof *order, d->err);
	uint32_t n = 0;

	d->box = clf_topo_alloc(b->nswitches, sizeof *d->box, d->err);
	if (!order || !d->box)
		return -1;
	for (uint32_t s = 0; s < b->nswitches; s++) {
		d->box[s] = s;
		if (b->switches[s].kind == CLF_SWITCH_CHASSIS_CHIP && b->switches[s].group == CLF_NONE)
			order[n++] = s;
	}
	if (n > 1)
		qsort_r(order, n, sizeof *order, by_system, b->switches);
	for (uint32_t k = 1; k < n; k++)
		if (b->switches[order[k]].system == b->switches[order[k - 1]].system)
			d->box[order[k]] = d->box[order[k - 1]];
	return 0;
}

/* One level more: switches without a group that are cabled to groups without a parent. *added = how many groups it
 * made. */
static int make_level(struct derive *d, uint32_t *added)
{
	struct clf_topo_builder *b = d->b;
	uint32_t before = b->ngroups;
	size_t n = d->peers_of.first[b->nswitches], at = 0;
	CLF_CLEANUP(clf_rows_done) struct clf_rows sets = { 0 };
	CLF_CLEANUP(clf_rows_done) struct clf_rows above = { 0 }; /* group -> box, one entry a cable */
	CLF_AUTO_FREE uint32_t *row = clf_topo_alloc(n, sizeof *row, d->err);
	CLF_AUTO_FREE uint32_t *value = clf_topo_alloc(n, sizeof *value, d->err);
	CLF_AUTO_FREE bool *member = clf_topo_alloc(b->nswitches, sizeof *member, d->err);
	CLF_AUTO_FREE bool *wanted = clf_topo_alloc(b->nswitches, sizeof *wanted, d->err);
	CLF_AUTO_FREE uint32_t *group_of = clf_topo_alloc(b->nswitches, sizeof *group_of, d->err);
	CLF_AUTO_FREE uint32_t *children = clf_topo_alloc(b->nswitches, sizeof *children, d->err);
	CLF_AUTO_FREE uint32_t *parent = clf_topo_alloc(b->ngroups, sizeof *parent, d->err);

	if (!row || !value || !member || !wanted || !group_of || !children || !parent)
		return -1;
	for (uint32_t s = 0; s < b->nswitches; s++)
		for (uint32_t k = d->peers_of.first[s];
		     b->switches[s].group == CLF_NONE && k < d->peers_of.first[s + 1]; k++) {
			uint32_t g = b->switches[d->peers_of.v[k]].group;

			if (g == CLF_NONE || b->groups[g].parent != CLF_NONE)
				continue;
			row[at] = d->box[s];
			value[at++] = g;
		}
	if (!at) {
		*added = 0;
		return 0;
	}
	if (clf_rows_make(&sets, b->nswitches, row, value, at, d->err) ||
	    clf_rows_make(&above, b->ngroups, value, row, at, d->err))
		return -1;
	clf_rows_unique(&sets);
	if (clf_topo_overlap(&sets, b->ngroups, MAX_FAN, d->merged, d->err))
		return -1;
	for (uint32_t s = 0; s < b->nswitches; s++)
		children[clf_uf_find(d->merged, s)] += len(&sets, s);
	for (uint32_t g = 0; g < before; g++) {
		uint32_t *v = above.v + above.first[g], m = len(&above, g);

		parent[g] = CLF_NONE;
		if (!m)
			continue;
		for (uint32_t k = 0; k < m; k++)
			v[k] = clf_uf_find(d->merged, v[k]);
		parent[g] = winner(d, v, m, children);
		wanted[parent[g]] = true;
	}
	for (uint32_t s = 0; s < b->nswitches; s++) {
		member[s] = b->switches[s].group == CLF_NONE && len(&sets, d->box[s]);
		if (d->box[s] != s && member[s])
			clf_uf_join(d->merged, s, d->box[s]);
	}
	if (make_groups(d, member, wanted, group_of))
		return -1;
	for (uint32_t g = 0; g < before; g++)
		if (parent[g] != CLF_NONE)
			b->groups[g].parent = group_of[parent[g]];
	*added = b->ngroups - before;
	return 0;
}

/* Hosts on an upper switch go into its group; topo_number.c gives them a leaf of their own there. */
static void place_upper_hosts(struct derive *d)
{
	struct clf_topo_builder *b = d->b;

	for (uint32_t i = 0; i < b->nnodes; i++)
		for (uint32_t k = d->cables_of.first[i]; b->nodes[i].group == CLF_NONE && k < d->cables_of.first[i + 1];
		     k++)
			b->nodes[i].group = b->switches[d->cables_of.v[k]].group;
}

/* A root above one group only decides nothing: a switch without hosts at the rim of the fabric looks like that. Its
 * switches are in no group then. */
static int prune_roots(struct derive *d)
{
	struct clf_topo_builder *b = d->b;
	CLF_AUTO_FREE uint32_t *children = clf_topo_alloc(b->ngroups, sizeof *children, d->err);
	CLF_AUTO_FREE uint32_t *to = clf_topo_alloc(b->ngroups, sizeof *to, d->err);
	uint32_t kept = 0;

	if (!children || !to)
		return -1;
	for (uint32_t g = 0; g < b->ngroups; g++)
		if (b->groups[g].parent != CLF_NONE)
			children[b->groups[g].parent]++;
	for (uint32_t i = 0; i < b->nnodes; i++)
		if (b->nodes[i].group != CLF_NONE)
			children[b->nodes[i].group] += 2; /* a group with hosts of its own stays */
	/* a parent was made after its children: from the last on, a chain of such roots goes in one pass */
	for (uint32_t g = b->ngroups; g-- > 0;)
		to[g] = b->groups[g].parent == CLF_NONE || to[b->groups[g].parent] == CLF_NONE
				? (children[g] == 1 ? CLF_NONE : 0)
				: 0;
	for (uint32_t g = 0; g < b->ngroups; g++)
		if (to[g] != CLF_NONE)
			to[g] = kept++;
	for (uint32_t g = 0; g < b->ngroups; g++)
		if (to[g] != CLF_NONE) {
			uint32_t p = b->groups[g].parent;

			b->groups[to[g]] = b->groups[g];
			b->groups[to[g]].parent = p == CLF_NONE ? CLF_NONE : to[p];
		}
	b->ngroups = kept;
	for (uint32_t i = 0; i < b->nnodes; i++)
		b->nodes[i].group = b->nodes[i].group == CLF_NONE ? CLF_NONE : to[b->nodes[i].group];
	for (uint32_t s = 0; s < b->nswitches; s++)
		b->switches[s].group = b->switches[s].group == CLF_NONE ? CLF_NONE : to[b->switches[s].group];
	return 0;
}

/* Groups that cables join belong under one root. */
static int join_roots(struct derive *d)
{
	struct clf_topo_builder *b = d->b;
	CLF_AUTO_FREE uint32_t *part = clf_topo_alloc(b->nswitches, sizeof *part, d->err);
	CLF_AUTO_FREE uint32_t *root = clf_topo_alloc(b->nswitches, sizeof *root, d->err);
	CLF_AUTO_FREE uint32_t *of = clf_topo_alloc(b->ngroups, sizeof *of, d->err);
	uint32_t before = b->ngroups;

	if (!part || !root || !of)
		return -1;
	for (uint32_t s = 0; s < b->nswitches; s++) {
		part[s] = s;
		root[s] = CLF_NONE;
	}
	for (uint32_t i = 0; i < b->nlinks; i++)
		if (!b->links[i].node_end)
			clf_uf_join(part, b->links[i].a, b->links[i].b);
	for (uint32_t g = 0; g < before; g++)
		of[g] = CLF_NONE;
	for (uint32_t s = 0; s < b->nswitches; s++)
		if (b->switches[s].group != CLF_NONE)
			of[b->switches[s].group] = clf_uf_find(part, s);
	for (uint32_t g = 0; g < before; g++) {
		uint32_t p = of[g], made;
		char name[CLF_NAME_MAX];

		if (b->groups[g].parent != CLF_NONE || p == CLF_NONE)
			continue;
		if (root[p] == CLF_NONE) {
			root[p] = g;
			continue;
		}
		if (root[p] < before) { /* the second root of this part: make one above both */
			snprintf(name, sizeof name, "%.100s.top", b->switches[p].name);
			for (unsigned k = 2; clf_strmap_find(&b->group_names, name, &(uint32_t){ 0 }); k++)
				snprintf(name, sizeof name, "%.100s.top-%u", b->switches[p].name, k);
			if (clf_topo_builder_group(b, name, &made, d->err) ||
			    clf_topo_builder_finding(
				    b, CLF_FINDING_INFO, "root-made", name, d->err,
				    "cables join these switches, but no switch stands above all of them"))
				return -1;
			b->groups[root[p]].parent = made;
			root[p] = made;
		}
		b->groups[g].parent = root[p];
	}
	return 0;
}

static int switch_findings(struct derive *d)
{
	struct clf_topo_builder *b = d->b;

	for (uint32_t s = 0; s < b->nswitches; s++) {
		bool cabled = len(&d->peers_of, s) || len(&d->hosts_of, s);

		if (b->switches[s].group == CLF_NONE &&
		    clf_topo_builder_finding(b, CLF_FINDING_INFO, "switch-unplaced", b->switches[s].name, d->err, "%s",
					     cabled ? "its cables lead to no host that is placed through it"
						    : "no cable leads to it"))
			return -1;
	}
	return 0;
}

int clf_topo_derive(struct clf_topo_builder *b, struct clf_error *err)
{
	CLF_CLEANUP(derive_done) struct derive d = { .b = b, .err = err };
	uint32_t added = 1;

	d.merged = clf_topo_alloc(b->nswitches, sizeof *d.merged, err);
	d.vote = clf_topo_alloc(b->nswitches, sizeof *d.vote, err);
	if (!d.merged || !d.vote || reorder(b, err) || index_links(&d) || find_upper(&d) || make_leaves(&d) ||
	    find_boxes(&d))
		return -1;
	for (uint32_t level = 2; added && level <= CLF_MAX_LEVELS; level++)
		if (make_level(&d, &added))
			return -1;
	place_upper_hosts(&d);
	return prune_roots(&d) || join_roots(&d) || switch_findings(&d) ? -1 : 0;
}
