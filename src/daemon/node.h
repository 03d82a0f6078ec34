/* SPDX-License-Identifier: GPL-2.0-or-later */
/* node.h - closfoldd --role node: tells closfoldd what this node is, and probes for it.
 *
 * One loop that nothing blocks: munged, sysfs with lldpcli, and name servers each have a helper thread.
 * Returns 0 after SIGTERM or SIGINT; -1 when it cannot begin (CLF_E_INVALID: no controller in the configuration).
 * Everything later is tried again: connection and munged with 0.2 to 10 s between.
 */
#ifndef CLF_DAEMON_NODE_H
#define CLF_DAEMON_NODE_H

#include "base/log.h"
#include "policy/conf.h"

CLF_MUST_USE int clf_node_run(const struct clf_conf *conf, const struct clf_log *sink, struct clf_error *err);

#endif
