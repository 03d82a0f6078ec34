/* SPDX-License-Identifier: GPL-2.0-or-later */
/* topo_export.c - see topo_export.h. */
#include "topo/topo_export.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/hostlist.h"

#define MAX_BYTES      (256u << 20)
#define SLURM_NAME_MAX 64 /* longer switch names are fatal for slurmctld */

static char *hosts(const struct clf_topo *t, uint32_t first, uint32_t n, bool ordered, struct clf_error *err)
{
	CLF_AUTO_FREE const char **v = calloc(n ? n : 1, sizeof(*v));

	if (!v) {
		clf_fail(err, CLF_E_NOMEM, "out of memory");
		return NULL;
	}
	for (uint32_t i = 0; i < n; i++)
		v[i] = clf_topo_node(t, first + i)->name;
	return ordered ? clf_hostlist_compress_ordered(v, n, err) : clf_hostlist_compress(v, n, err);
}

char *clf_topo_leaf_hosts(const struct clf_topo *t, uint32_t leaf, struct clf_error *err)
{
	const struct clf_topo_group *g = clf_topo_group(t, leaf);

	return hosts(t, g->first_node, g->n_nodes, true, err);
}

/* A name that topology.conf and its host list parser take, the same for a group each time; *out is owned. Brackets,
 * commas and the like never get into a topology (topo_builder.c); what is left is length and characters that end a
 * word. */
static int slurm_name(const struct clf_topo *t, uint32_t g, char out[SLURM_NAME_MAX + 1], struct clf_error *err)
{
	const char *name = clf_topo_group(t, g)->name;

	if (strlen(name) > SLURM_NAME_MAX)
		return clf_fail(err, CLF_E_INVALID, "group '%s' has a name of %zu characters, Slurm takes %d", name,
				strlen(name), SLURM_NAME_MAX);
	strcpy(out, name);
	return 0;
}

/* Children of a group as Slurm expands them: names that end in digits are compressed like hosts. */
static char *children(const struct clf_topo *t, const struct clf_topo_group *g, struct clf_error *err)
{
	CLF_AUTO_FREE const char **v = calloc(g->n ? g->n : 1, sizeof(*v));

	if (!v) {
		clf_fail(err, CLF_E_NOMEM, "out of memory");
		return NULL;
	}
	for (uint32_t i = 0; i < g->n; i++)
		v[i] = clf_topo_group(t, g->first + i)->name;
	return clf_hostlist_compress(v, g->n, err);
}

static int unplaced(const struct clf_topo *t, struct clf_buf *b, struct clf_error *err)
{
	uint32_t placed = clf_topo_nplaced(t), n = clf_topo_nnodes(t) - placed;
	CLF_AUTO_FREE char *list = NULL;

	if (!n)
		return 0;
	list = hosts(t, placed, n, false, err);
	return list ? clf_buf_printf(b, err, "# not in the fabric, see 'closfold topo check': %s\n", list) : -1;
}

int clf_topo_export_slurm(const struct clf_topo *t, char **out, size_t *len, struct clf_error *err)
{
	CLF_CLEANUP(clf_buf_done) struct clf_buf b = CLF_BUF_INIT(MAX_BYTES);

	if (!clf_topo_nplaced(t))
		return clf_fail(
			err, CLF_E_INVALID,
			"no node has a place in this fabric: slurmctld does not start with an empty topology.conf");
	if (clf_buf_printf(&b, err, "# topology.conf for TopologyPlugin=topology/tree, exported by closfold\n"))
		return -1;
	for (uint32_t g = 0; g < clf_topo_ngroups(t); g++) {
		const struct clf_topo_group *x = clf_topo_group(t, g);
		CLF_AUTO_FREE char *list =
			x->level == 1 ? hosts(t, x->first_node, x->n_nodes, false, err) : children(t, x, err);
		char name[SLURM_NAME_MAX + 1];

		if (!list || slurm_name(t, g, name, err) ||
		    clf_buf_printf(&b, err, "SwitchName=%s %s=%s\n", name, x->level == 1 ? "Nodes" : "Switches", list))
			return -1;
	}
	if (unplaced(t, &b, err))
		return -1;
	*len = b.len;
	*out = clf_buf_steal(&b);
	return 0;
}

int clf_topo_export_nodes(const struct clf_topo *t, char **out, size_t *len, struct clf_error *err)
{
	CLF_CLEANUP(clf_buf_done) struct clf_buf b = CLF_BUF_INIT(MAX_BYTES);
	uint32_t first, leaves = clf_topo_level_groups(t, 1, &first);

	for (uint32_t l = 0; l < leaves; l++) {
		CLF_AUTO_FREE char *list = clf_topo_leaf_hosts(t, l, err);

		if (!list || clf_buf_printf(&b, err, "%s\n", list))
			return -1;
	}
	if (unplaced(t, &b, err))
		return -1;
	if (!b.len && clf_buf_puts(&b, "\n", err))
		return -1;
	*len = b.len;
	*out = clf_buf_steal(&b);
	return 0;
}

int clf_topo_export_dot(const struct clf_topo *t, char **out, size_t *len, struct clf_error *err)
{
	CLF_CLEANUP(clf_buf_done) struct clf_buf b = CLF_BUF_INIT(MAX_BYTES);

	if (clf_buf_puts(&b, "graph fabric {\n\trankdir=TB;\n\tnode [shape=box];\n", err))
		return -1;
	for (uint32_t g = 0; g < clf_topo_ngroups(t); g++) {
		const struct clf_topo_group *x = clf_topo_group(t, g);
		CLF_AUTO_FREE char *list = x->level == 1 ? clf_topo_leaf_hosts(t, g, err) : strdup("");

		if (!list)
			return clf_fail(err, CLF_E_NOMEM, "out of memory");
		if (clf_buf_printf(&b, err, "\tg%u [label=\"%s%s%s\"];\n", g, x->name, *list ? "\\n" : "", list) ||
		    (x->parent != CLF_NONE && clf_buf_printf(&b, err, "\tg%u -- g%u;\n", x->parent, g)))
			return -1;
	}
	if (clf_buf_puts(&b, "}\n", err))
		return -1;
	*len = b.len;
	*out = clf_buf_steal(&b);
	return 0;
}
