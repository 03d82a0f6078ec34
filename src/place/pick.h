/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pick.h - which nodes of a leaf, once it is known how many.
 *
 * Required nodes first; then whole NVLink domains, fullest first, the last one as tight as possible, so that the fewest
 * domains are opened; in a domain, and where there are none, lowest index. Pure; deterministic.
 */
#ifndef CLF_PLACE_PICK_H
#define CLF_PLACE_PICK_H

#include "place/place.h"

/* take[l] nodes from each leaf l < nleaves into nodes[0..req->nodes-1], which the caller owns. */
CLF_MUST_USE int clf_pick(const struct clf_topo *topo, const struct clf_request *req, const uint32_t *take,
			  uint32_t nleaves, uint32_t *nodes, struct clf_error *err);

#endif
