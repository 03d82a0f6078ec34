/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pick.h - which nodes of one leaf, once it is known how many.
 *
 * Required nodes first, then what their NVLink domains hold, then whole domains, fullest first, the last one the
 * tightest that holds the rest, so that the fewest domains are opened; in a domain, and where there are none, in the
 * order given. A node without a domain is one of its own. Domains leave in one run each. Pure; no allocation.
 */
#ifndef CLF_PLACE_PICK_H
#define CLF_PLACE_PICK_H

#include "topo/topo.h"

struct clf_candidate {
	uint32_t id, domain;
	uint32_t place;     /* in the order given */
	uint32_t run, size; /* scratch: place of its domain's first, untaken nodes of its domain */
	bool required;
	bool taken;
};

/* n of v[0..nv-1] to out[0..n-1]; v is scratch afterwards. n <= nv. */
void clf_pick_domains(struct clf_candidate *v, uint32_t nv, uint32_t n, uint32_t *out);

#endif
