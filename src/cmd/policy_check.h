/* SPDX-License-Identifier: GPL-2.0-or-later */
/* policy_check.h - findings about a policy that is right in form. */
#ifndef CLF_CMD_POLICY_CHECK_H
#define CLF_CMD_POLICY_CHECK_H

#include "policy/policy.h"
#include "topo/topo.h"

/* Prints them; topo NULL = not known. Returns the exit status: CLF_EXIT_NO when one is at error level. */
int clf_policy_check(const struct clf_policy *policy, const struct clf_topo *topo, int64_t now_ms, bool json);

#endif
