/* SPDX-License-Identifier: GPL-2.0-or-later */
/* explain.h - why these nodes, in sentences: the same text in sbatch, command and log.
 * Memory: reasons are appended to the caller's list. Pure. */
#ifndef CLF_PLACE_EXPLAIN_H
#define CLF_PLACE_EXPLAIN_H

#include "base/strv.h"
#include "place/place.h"

CLF_MUST_USE int clf_explain(const struct clf_topo *topo, const struct clf_request *req, const struct clf_placement *p,
			     struct clf_strv *reasons, struct clf_error *err);

/* Most free nodes under one group of a level (0: in one component): the largest job that fits there now. *group may be
 * NULL. */
uint32_t clf_largest_free(const struct clf_topo *topo, const struct clf_bitmap *free_nodes, uint32_t level,
			  uint32_t *group);

#endif
