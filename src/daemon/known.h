/* SPDX-License-Identifier: GPL-2.0-or-later */
/* known.h - the ports of every node on every fabric, as far as they were ever seen: STATE_DIR/ports.json.
 *
 * Ports that the configuration names are replaced when it changes. Ports that a node reports are taken once: one that
 * reports fewer later has lost an HCA, or hides one; one that reports others has a new HCA, or is another host in its
 * name (whoever has the cluster's munge key can take any name). Either runs no flagged job until an admin accepts it
 * ("fabric accept"). A port that two nodes claim makes both ineligible. Ordinary traffic goes on by what is known, also
 * while a node daemon is away or closfoldd has just started.
 *
 * Errors: CLF_E_IO, CLF_E_PARSE (the file is no such file: nothing is taken from it); eligible(): CLF_E_DENIED with
 * what to do. Memory: init/done. Threads: the loop's.
 */
#ifndef CLF_DAEMON_KNOWN_H
#define CLF_DAEMON_KNOWN_H

#include <limits.h>

#include "base/json.h"
#include "base/strmap.h"
#include "base/strv.h"

struct clf_known_node {
	char *name;
	struct clf_strv ports; /* in the order they were heard */
	bool missing;          /* its last report lacked one of them */
	bool more;             /* its last report had one that is not among them */
	bool reported;         /* they are the node's word, not the configuration's */
};
struct clf_known_fabric {
	char *name;
	struct clf_known_node *nodes;
	size_t n, cap;
	struct clf_strmap node_of, owner_of; /* node to index; port to index, CLF_KNOWN_SEVERAL: more than one node */
	bool stale;                          /* owner_of is to be made anew */
};
#define CLF_KNOWN_SEVERAL UINT32_MAX
struct clf_known {
	char path[PATH_MAX];
	struct clf_known_fabric *fabrics;
	size_t n;
	bool dirty;
	uint64_t changes; /* counts */
};
CLF_MUST_USE int clf_known_open(struct clf_known *k, const char *state_dir, struct clf_error *err);
void clf_known_done(struct clf_known *k);

/* What a node has on a fabric, by the configuration (fixed) or by its own report. */
CLF_MUST_USE int clf_known_learn(struct clf_known *k, const char *fabric, const char *node,
				 const struct clf_strv *ports, bool fixed, struct clf_error *err);
/* Forget what ports the node had; its next report is taken as it is. */
void clf_known_accept(struct clf_known *k, const char *node);
CLF_MUST_USE int clf_known_eligible(struct clf_known *k, const char *fabric, const char *node, struct clf_error *err);
/* What a node had when it was first heard; NULL: not known, or by the configuration. */
const struct clf_strv *clf_known_reported(const struct clf_known *k, const char *fabric, const char *node);
/* All ports of a fabric, appended, each once. */
CLF_MUST_USE int clf_known_ports(struct clf_known *k, const char *fabric, struct clf_strv *out, struct clf_error *err);
CLF_MUST_USE int clf_known_save(struct clf_known *k, struct clf_error *err); /* when something changed */

#endif
