/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fabric.h - the topology as the search wants it: flat arrays of a forest of even height, in an order that does not
 * depend on the order of its source: siblings by name, naturally.
 *
 * Memory: init/done on the caller's storage; borrows the topology.
 */
#ifndef CLF_PLACE_FABRIC_H
#define CLF_PLACE_FABRIC_H

#include "place/search.h"
#include "topo/topo.h"

struct clf_fabric {
	const struct clf_topo *topo;
	struct clf_search_tree tree;
	uint32_t *leaf;              /* level-1 group of the topology */
	uint32_t *first_node, *size; /* its run of nodes */
	bool domains;                /* some node has an NVLink domain */
	uint32_t largest;            /* nodes of the largest leaf */
	uint32_t *memory;
};

CLF_MUST_USE int clf_fabric_init(struct clf_fabric *f, const struct clf_topo *topo, struct clf_error *err);
void clf_fabric_done(struct clf_fabric *f);

/* count[l] = bits of set in leaf l. */
void clf_fabric_count(const struct clf_fabric *f, const struct clf_bitmap *set, uint32_t *count);

#endif
