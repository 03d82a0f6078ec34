/* SPDX-License-Identifier: GPL-2.0-or-later */
/* topo_priv.h - what the files of src/topo share, and the checker's tests. Nobody else includes it.
 *
 * Life of a topology: readers fill a builder (topo_builder.c) -> a physical fabric gets its tree (topo_derive.c) and
 * its links are looked at (topo_health.c) -> numbering (topo_number.c) -> check (topo_check.c) -> immutable.
 */
#ifndef CLF_TOPO_TOPO_PRIV_H
#define CLF_TOPO_TOPO_PRIV_H

#include "base/strmap.h"
#include "topo/topo.h"
#include "topo/topo_builder.h"

/* Strings that live as long as their topology. */
struct clf_pool {
	struct clf_pool_block *head;
};
const char *clf_pool_add(struct clf_pool *p, const char *s, size_t len,
			 struct clf_error *err); /* NULL when memory ends */
void clf_pool_done(struct clf_pool *p);

/* n zeroed elements, at least one; NULL and err filled when memory ends. */
void *clf_topo_alloc(size_t n, size_t size, struct clf_error *err);

struct clf_topo {
	struct clf_pool pool;
	const char *source;
	struct clf_topo_counts counts;
	struct clf_topo_node *nodes;
	struct clf_topo_group *groups;
	uint32_t ngroups;
	uint32_t level_first[CLF_MAX_LEVELS +
			     2]; /* groups of level l: level_first[l] .. level_first[l + 1] - 1; [0] unused */
	struct clf_topo_switch *switches;
	uint32_t *group_switches; /* switch ids, group by group */
	uint32_t ngroup_switches;
	struct clf_topo_link *links;
	struct clf_finding *findings;
	uint32_t nfindings;
	const char **domains;
	uint32_t ndomains;
	struct clf_strmap by_name; /* node name -> id; keys in pool */
};

struct clf_bnode {
	const char *name;
	uint32_t group; /* builder's group, CLF_NONE */
	uint32_t domain;
	uint32_t rails;
};

struct clf_bgroup {
	const char *name;
	uint32_t parent;
};

struct clf_topo_builder {
	struct clf_pool pool;
	const char *source;
	struct clf_bnode *nodes;
	struct clf_bgroup *groups;
	struct clf_topo_switch *switches; /* .group is the builder's */
	struct clf_topo_link *links;      /* ends are the builder's */
	struct clf_finding *findings;
	const char **domains;
	uint32_t nnodes, ngroups, nswitches, nlinks, nfindings, ndomains;
	uint32_t cap_nodes, cap_groups, cap_switches, cap_links, cap_findings, cap_domains;
	struct clf_strmap node_names, group_names, switch_names, domain_names;
	bool given; /* the source gave the tree */
};

/* Compressed rows: row i is v[first[i] .. first[i + 1] - 1]. */
struct clf_rows {
	uint32_t n, *first, *v;
};
void clf_rows_done(struct clf_rows *r);
/* From pairs (row[i], value[i]); row CLF_NONE is skipped; order of i kept within a row. */
CLF_MUST_USE int clf_rows_make(struct clf_rows *out, uint32_t nrows, const uint32_t *row, const uint32_t *value,
			       size_t npairs, struct clf_error *err);
void clf_rows_unique(struct clf_rows *r); /* sort each row, drop repeats */

/* Union-find; the smallest member is the root, so that results do not depend on the order of unions. */
uint32_t clf_uf_find(uint32_t *parent, uint32_t i);
void clf_uf_join(uint32_t *parent, uint32_t a, uint32_t b);
/* Join items whose sets overlap in more than half of their union (Jaccard > 1/2). Elements that are in more than
 * max_fan sets are left out of the comparison. parent has sets->n entries, filled here. */
CLF_MUST_USE int clf_topo_overlap(const struct clf_rows *sets, uint32_t nelements, uint32_t max_fan, uint32_t *parent,
				  struct clf_error *err);

CLF_MUST_USE int clf_topo_derive(struct clf_topo_builder *b, struct clf_error *err);
CLF_MUST_USE int clf_topo_health(struct clf_topo_builder *b, struct clf_error *err);
CLF_MUST_USE int clf_topo_number(struct clf_topo_builder *b, struct clf_topo **out, struct clf_error *err);

#endif
