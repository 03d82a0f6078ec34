/* SPDX-License-Identifier: GPL-2.0-or-later */
/* policy_site.h - a cluster to try a policy on, without Slurm. */
#ifndef CLF_CMD_POLICY_SITE_H
#define CLF_CMD_POLICY_SITE_H

#include "engine/decide.h"

/* Nodes: those of the topology; without one, those that the zones name (and one, when none does). Features are not
 * known here: every node is taken to have them, and *note (borrowed, static) says so; else it is untouched. *out
 * borrows policy and topo. */
CLF_MUST_USE int clf_policy_site(const struct clf_policy *policy, const struct clf_topo *topo, struct clf_site **out,
				 const char **note, struct clf_error *err);

#endif
