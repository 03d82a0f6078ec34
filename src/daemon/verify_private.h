/* SPDX-License-Identifier: GPL-2.0-or-later */
/* verify_private.h - which interface of a node is on which port of a fabric, for the probes. */
#ifndef CLF_DAEMON_VERIFY_PRIVATE_H
#define CLF_DAEMON_VERIFY_PRIVATE_H

#include "daemon/verify_nodes.h"
#include "fabric/witness_probe.h"

#define CLF_VERIFY_CANDIDATES 1024u /* strangers looked at for one on each leaf */

struct clf_verify_nics {
	struct clf_probe_nic *v; /* node, nic and mac borrowed from the facts; leaf from ports */
	size_t n, cap;
	struct clf_strv ports; /* "leaf" of each */
};
void clf_verify_nics_done(struct clf_verify_nics *l);

/* Interfaces of a node on the fabric, with a link, appended. A port of the driver "leaf1/swp1" is that of the interface
 * that the configuration names, else of the one whose one LLDP neighbour is port swp1; without LLDP a node's only port
 * is that of its only interface with a link. Ports that no interface is known for are named in *unknown (owned, "" when
 * there are none). facts outlive the list. -1: the driver knows no port of this node (its words), or memory. */
CLF_MUST_USE int clf_verify_nics_add(struct clf_verify_nics *l, const struct clf_driver *driver, void *self,
				     const char *node, const json_t *facts, char **unknown, struct clf_error *err);

#endif
