/* SPDX-License-Identifier: GPL-2.0-or-later */
/* topo_builder.h - the only way to make a topology.
 *
 * A source adds either the physical fabric (switches, nodes, links: the tree is derived) or the tree itself
 * (groups with parents: clf_topo_builder_group / _place). Ids returned by add functions are the builder's, not the
 * finished topology's. finish() derives, numbers, checks every invariant (topo_check.h) and gives the immutable model.
 * Errors: caps of topo.h are CLF_E_NOMEM; a duplicate name is CLF_E_CONFLICT, so that the reader can add its file and
 * line. Memory: strings are copied. destroy takes NULL; finish steals the builder, also on failure.
 */
#ifndef CLF_TOPO_TOPO_BUILDER_H
#define CLF_TOPO_TOPO_BUILDER_H

#include "topo/topo.h"

struct clf_topo_builder;

struct clf_topo_builder *clf_topo_builder_create(const char *source, struct clf_error *err);
void clf_topo_builder_destroy(struct clf_topo_builder *b);
CLF_DEFINE_CLEANUP(struct clf_topo_builder, clf_topo_builder_destroy)

CLF_MUST_USE int clf_topo_builder_node(struct clf_topo_builder *b, const char *name, uint32_t *id,
				       struct clf_error *err);
CLF_MUST_USE int clf_topo_builder_domain(struct clf_topo_builder *b, uint32_t node, const char *domain,
					 struct clf_error *err);
/* Rails of a source that gives the tree; a derived tree finds its own. */
CLF_MUST_USE int clf_topo_builder_rails(struct clf_topo_builder *b, uint32_t node, uint32_t rails,
					struct clf_error *err);
CLF_MUST_USE int clf_topo_builder_switch(struct clf_topo_builder *b, const struct clf_topo_switch *sw, uint32_t *id,
					 struct clf_error *err);
CLF_MUST_USE int clf_topo_builder_link(struct clf_topo_builder *b, const struct clf_topo_link *link,
				       struct clf_error *err);

/* Nothing is derived, also when no group is added. Implied by the first group. */
void clf_topo_builder_given(struct clf_topo_builder *b);
/* The tree given by the source. parent CLF_NONE = a root for now; set it later with _parent. level is checked at
 * finish. */
CLF_MUST_USE int clf_topo_builder_group(struct clf_topo_builder *b, const char *name, uint32_t *id,
					struct clf_error *err);
CLF_MUST_USE int clf_topo_builder_parent(struct clf_topo_builder *b, uint32_t group, uint32_t parent,
					 struct clf_error *err);
CLF_MUST_USE int clf_topo_builder_place(struct clf_topo_builder *b, uint32_t node, uint32_t group,
					struct clf_error *err);

CLF_MUST_USE int clf_topo_builder_finding(struct clf_topo_builder *b, enum clf_finding_level level, const char *code,
					  const char *subject, struct clf_error *err, const char *fmt, ...)
	CLF_PRINTF(6, 7);

CLF_MUST_USE int clf_topo_builder_finish(struct clf_topo_builder *b /* stolen */, struct clf_topo **out /* owned */,
					 struct clf_error *err);

#endif
