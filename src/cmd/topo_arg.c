/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/topo_arg.h"

#include <string.h>

#include "topo/read/reader.h"
#include "topo/topo_synth.h"

int clf_topo_arg(const char *arg, struct clf_topo **out, struct clf_error *err)
{
	return strncmp(arg, "synth:", 6) ? clf_topo_load(NULL, arg, out, err) : clf_topo_synth(arg + 6, out, err);
}
