/* SPDX-License-Identifier: GPL-2.0-or-later */
/* topo_json.h - the model to and from closfold's own JSON, format "closfold-topo/1" (docs/formats/topology-json.md).
 * Round trip: load(dump(t)) equals t in every query; dump is deterministic (same topology, same bytes). */
#ifndef CLF_TOPO_TOPO_JSON_H
#define CLF_TOPO_TOPO_JSON_H

#include "topo/topo.h"

/* Owned text, ends with a newline. */
CLF_MUST_USE int clf_topo_json_dump(const struct clf_topo *t, char **out, size_t *len, struct clf_error *err);

#endif
