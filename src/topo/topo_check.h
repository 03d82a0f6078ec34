/* SPDX-License-Identifier: GPL-2.0-or-later */
/* topo_check.h - every invariant of a finished topology, checked after each load.
 *
 * Errors: CLF_E_INTERNAL; the text starts with the invariant's name ("leaf-run: ..."): a reader or the builder is
 * broken, never the user's file. Findings about the fabric are not the checker's business. */
#ifndef CLF_TOPO_TOPO_CHECK_H
#define CLF_TOPO_TOPO_CHECK_H

#include "topo/topo.h"

CLF_MUST_USE int clf_topo_check(const struct clf_topo *t, struct clf_error *err);

#endif
