/* SPDX-License-Identifier: GPL-2.0-or-later */
/* lease_check.h - a signed lease on a node: is it this cluster's, for this job, this node, this time, and does the
 * node's own port table say the same?
 *
 * The body is closfold-lease/1 (docs/formats/lease-token.md). facts: the node's report, fresh. On a fabric of
 * InfiniBand (driver opensm) every IB port of the node must hold the lease's key as a full member at index 0 and be a
 * full member of nothing else; a table that cannot be read refuses, for the lease was given on the ground that there is
 * one. Where the lease says what ports the node had, they must be these: another host may have spoken in its name.
 * Errors: CLF_E_PARSE no such body; CLF_E_DENIED with the reason. Pure. Memory: *env owned: "NAME=value" lines for
 * steps.
 */
#ifndef CLF_DAEMON_LEASE_CHECK_H
#define CLF_DAEMON_LEASE_CHECK_H

#include <stdint.h>

#include "base/json.h"
#include "base/strv.h"

#define CLF_PORTS_DIGEST 16 /* hex digits */
/* Of a node's ports on a fabric, in any order: what the lease was made for. "----------------" when memory ends. */
void clf_ports_digest(const struct clf_strv *ports, char out[CLF_PORTS_DIGEST + 1]);

struct clf_lease_check {
	const char *cluster, *node;
	uint32_t job_id;
	int64_t now_ms;
};
CLF_MUST_USE int clf_lease_check(const struct clf_lease_check *c, const char *body, const json_t *facts, char **env,
				 struct clf_error *err);

#endif
