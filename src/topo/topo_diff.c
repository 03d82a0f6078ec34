/* SPDX-License-Identifier: GPL-2.0-or-later */
/* topo_diff.c - see topo_diff.h. */
#include "topo/topo_diff.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/strmap.h"

void clf_topo_changes_done(struct clf_topo_changes *c)
{
	for (size_t i = 0; i < c->n; i++) {
		free(c->v[i].subject);
		free(c->v[i].text);
	}
	free(c->v);
	*c = (struct clf_topo_changes){ 0 };
}

static int add(struct clf_topo_changes *c, const char *kind, const char *subject, struct clf_error *err,
	       const char *fmt, ...) CLF_PRINTF(5, 6);

static int add(struct clf_topo_changes *c, const char *kind, const char *subject, struct clf_error *err,
	       const char *fmt, ...)
{
	char text[2 * CLF_NAME_MAX + 64];
	struct clf_topo_change x = { .kind = kind };
	va_list ap;

	if (c->n == c->cap) {
		size_t cap = c->cap ? 2 * c->cap : 32;
		struct clf_topo_change *v = reallocarray(c->v, cap, sizeof(*v));

		if (!v)
			return clf_fail(err, CLF_E_NOMEM, "out of memory");
		c->v = v;
		c->cap = cap;
	}
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	x.subject = strdup(subject);
	x.text = strdup(text);
	if (!x.subject || !x.text) {
		free(x.subject);
		free(x.text);
		return clf_fail(err, CLF_E_NOMEM, "out of memory");
	}
	c->v[c->n++] = x;
	return 0;
}

static const char *leaf_name(const struct clf_topo *t, uint32_t node)
{
	uint32_t leaf = clf_topo_node(t, node)->leaf;

	return leaf == CLF_NONE ? "none" : clf_topo_group(t, leaf)->name;
}

static int nodes(const struct clf_topo *old, const struct clf_topo *new, struct clf_topo_changes *out,
		 struct clf_error *err)
{
	for (uint32_t i = 0; i < clf_topo_nnodes(old); i++) {
		const char *name = clf_topo_node(old, i)->name;

		if (clf_topo_node_find(new, name) == CLF_NONE &&
		    add(out, "node-removed", name, err, "was in leaf '%s'", leaf_name(old, i)))
			return -1;
	}
	for (uint32_t i = 0; i < clf_topo_nnodes(new); i++) {
		const char *name = clf_topo_node(new, i)->name;
		uint32_t was = clf_topo_node_find(old, name), a, b;

		if (was == CLF_NONE) {
			if (add(out, "node-added", name, err, "in leaf '%s'", leaf_name(new, i)))
				return -1;
			continue;
		}
		if (strcmp(leaf_name(old, was), leaf_name(new, i)) &&
		    add(out, "node-moved", name, err, "leaf '%s' -> '%s'", leaf_name(old, was), leaf_name(new, i)))
			return -1;
		a = clf_topo_node(old, was)->rails;
		b = clf_topo_node(new, i)->rails;
		if (a != b &&
		    add(out, "node-rails", name, err, "%d rails -> %d", __builtin_popcount(a), __builtin_popcount(b)))
			return -1;
	}
	return 0;
}

static const char *parent_name(const struct clf_topo *t, uint32_t g)
{
	uint32_t p = clf_topo_group(t, g)->parent;

	return p == CLF_NONE ? "none" : clf_topo_group(t, p)->name;
}

static int index_groups(const struct clf_topo *t, struct clf_strmap *m, struct clf_error *err)
{
	for (uint32_t g = 0; g < clf_topo_ngroups(t); g++)
		if (clf_strmap_set(m, clf_topo_group(t, g)->name, g, err))
			return -1;
	return 0;
}

static int groups(const struct clf_topo *old, const struct clf_topo *new, struct clf_topo_changes *out,
		  struct clf_error *err)
{
	CLF_CLEANUP(clf_strmap_done) struct clf_strmap a = { 0 }, b = { 0 };
	uint32_t other = 0;

	if (index_groups(old, &a, err) || index_groups(new, &b, err))
		return -1;
	for (uint32_t g = 0; g < clf_topo_ngroups(old); g++)
		if (!clf_strmap_find(&b, clf_topo_group(old, g)->name, &other) &&
		    add(out, "group-removed", clf_topo_group(old, g)->name, err, "had %u nodes",
			clf_topo_group(old, g)->n_nodes))
			return -1;
	for (uint32_t g = 0; g < clf_topo_ngroups(new); g++) {
		const struct clf_topo_group *x = clf_topo_group(new, g);

		if (!clf_strmap_find(&a, x->name, &other)) {
			if (add(out, "group-added", x->name, err, "level %u, %u nodes", x->level, x->n_nodes))
				return -1;
			continue;
		}
		if (clf_topo_group(old, other)->level != x->level &&
		    add(out, "group-level", x->name, err, "level %u -> %u", clf_topo_group(old, other)->level,
			x->level))
			return -1;
		if (strcmp(parent_name(old, other), parent_name(new, g)) &&
		    add(out, "group-moved", x->name, err, "under '%s' -> '%s'", parent_name(old, other),
			parent_name(new, g)))
			return -1;
	}
	return 0;
}

/* Links as sorted strings "switch end speed": equal cables between the same ends compare as a multiset. */
static int link_names(const struct clf_topo *t, struct clf_strv *out, struct clf_error *err)
{
	for (uint32_t i = 0; i < clf_topo_nlinks(t); i++) {
		const struct clf_topo_link *l = clf_topo_link(t, i);
		const char *x = clf_topo_switch(t, l->a)->name,
			   *y = l->node_end ? clf_topo_node(t, l->b)->name : clf_topo_switch(t, l->b)->name;
		char name[2 * CLF_NAME_MAX + 32];

		if (!l->node_end && strcmp(x, y) > 0) {
			const char *z = x;

			x = y;
			y = z;
		}
		snprintf(name, sizeof(name), "%s-%s at %u Mbit/s", x, y, l->speed_mbps);
		if (clf_strv_add(out, name, err))
			return -1;
	}
	clf_strv_sort(out);
	return 0;
}

static int links(const struct clf_topo *old, const struct clf_topo *new, struct clf_topo_changes *out,
		 struct clf_error *err)
{
	CLF_CLEANUP(clf_strv_done) struct clf_strv a = { 0 }, b = { 0 };

	if (link_names(old, &a, err) || link_names(new, &b, err))
		return -1;
	for (size_t i = 0, j = 0; i < a.n || j < b.n;) {
		int c = i == a.n ? 1 : j == b.n ? -1 : clf_strnatcmp(a.v[i], b.v[j]);

		if (c < 0 && add(out, "link-removed", a.v[i], err, "a cable less"))
			return -1;
		if (c > 0 && add(out, "link-added", b.v[j], err, "a cable more"))
			return -1;
		i += c <= 0;
		j += c >= 0;
	}
	return 0;
}

int clf_topo_diff(const struct clf_topo *old, const struct clf_topo *new, struct clf_topo_changes *out,
		  struct clf_error *err)
{
	CLF_CLEANUP(clf_topo_changes_done) struct clf_topo_changes c = { 0 };

	if (nodes(old, new, &c, err) || groups(old, new, &c, err) || links(old, new, &c, err))
		return -1;
	*out = c;
	c = (struct clf_topo_changes){ 0 };
	return 0;
}
