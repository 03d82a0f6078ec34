/* SPDX-License-Identifier: GPL-2.0-or-later */
/* topo_diff.h - what changed between two topologies of one fabric: nodes and groups by name, places, rails, links by
 * their ends. Memory: changes are init/done on the caller's storage; texts are owned. Order: nodes, groups, switches,
 * links, each by name. */
#ifndef CLF_TOPO_TOPO_DIFF_H
#define CLF_TOPO_TOPO_DIFF_H

#include "topo/topo.h"

struct clf_topo_change {
	const char *kind; /* "node-added" "node-removed" "node-moved" "node-rails" "group-added" ... : constant */
	char *subject;    /* owned */
	char *text;       /* owned: "leaf 'l1' -> 'l2'" */
};
struct clf_topo_changes {
	struct clf_topo_change *v;
	size_t n, cap;
};
void clf_topo_changes_done(struct clf_topo_changes *c);
CLF_MUST_USE int clf_topo_diff(const struct clf_topo *old, const struct clf_topo *new, struct clf_topo_changes *out,
			       struct clf_error *err);

#endif
