/* SPDX-License-Identifier: GPL-2.0-or-later */
/* node_facts.h - what this node is, read from sysfs, lldpd and the kernel's clock: a report of
 * docs/formats/node-report.md.
 *
 * Blocks as long as the system does: lldpcli has CLF_LLDP_MS, a read of sysfs whatever its driver takes. Not for a
 * loop. What cannot be read, or has another form than the kernel's documents say, is absent. Only memory makes it fail.
 * Memory: reports and neighbours are owned.
 * Source: Documentation/ABI/testing/sysfs-class-infiniband and sysfs-class-net of Linux; adjtimex(2).
 */
#ifndef CLF_DAEMON_NODE_FACTS_H
#define CLF_DAEMON_NODE_FACTS_H

#include "base/json.h"

#define CLF_LLDP_MS  3000
#define CLF_LLDP_MAX (4u << 20)

/* lldp: clf_lldp_read()'s, borrowed; NULL: absent. */
json_t *clf_node_facts(const char *node, const char *sysfs, const json_t *lldp, struct clf_error *err);

/* {"eth0":[{"chassis","port","pvid","age_s"},...],...}; socket "": lldpd's own. CLF_E_NOTFOUND: no lldpcli, or lldpd
 * does not answer; CLF_E_PARSE: not what lldpd 1.0 prints. */
json_t *clf_lldp_read(const char *socket, struct clf_error *err);

/* The same from the output of "lldpcli -f json0 show neighbors details". */
json_t *clf_lldp_parse(const char *json0, struct clf_error *err);

#endif
