/* SPDX-License-Identifier: GPL-2.0-or-later */
/* topo_synth.h - a whole fabric from one line, as cli.md says: "pod:4 leaf:8 node:16 rail:8 nvl:18 names:gpu%d",
 * "dragonfly group:9 leaf:4 node:8". Errors: CLF_E_PARSE with the column in the description. */
#ifndef CLF_TOPO_TOPO_SYNTH_H
#define CLF_TOPO_TOPO_SYNTH_H

#include "topo/topo.h"

CLF_MUST_USE int clf_topo_synth(const char *description, struct clf_topo **out, struct clf_error *err);
/* The same for a description in a file; line and column are those of its first character. */
CLF_MUST_USE int clf_topo_synth_text(const char *source, int line, int column, const char *description,
				     struct clf_topo **out, struct clf_error *err);

#endif
