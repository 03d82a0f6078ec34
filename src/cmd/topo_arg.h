/* SPDX-License-Identifier: GPL-2.0-or-later */
/* topo_arg.h - a topology named on the command line: a file of any format, or synth:DESCRIPTION. *out is owned. */
#ifndef CLF_CMD_TOPO_ARG_H
#define CLF_CMD_TOPO_ARG_H

#include "topo/topo.h"

CLF_MUST_USE int clf_topo_arg(const char *arg, struct clf_topo **out, struct clf_error *err);

#endif
