/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ibnet.h - an ibnetdiscover dump as records, between its parser (ibnet_parse.c) and the topology made of it
 * (read_ibnet.c).
 *
 * Shapes: records in file order; the ports of a record are one run. Several dumps (subnets of one cluster) may be
 * parsed into one. Memory: init/done; texts must outlive it, descriptions point into them. */
#ifndef CLF_TOPO_READ_IBNET_H
#define CLF_TOPO_READ_IBNET_H

#include "base/lex.h"
#include "topo/topo.h"

#define CLF_IBNET_MAX_PORT 254 /* InfiniBand architecture: ports are 1..254 */

struct clf_ibnet_port {
	uint64_t guid;   /* port GUID of a CA's own port or of the far end, 0 = not said */
	uint64_t remote; /* node GUID of the far end */
	uint32_t speed_mbps;
	int line;
	char remote_kind; /* 'S', 'H', 'R' */
	uint8_t port, remote_port;
	bool lid_unset; /* LID 65535: the subnet manager has not set it up */
};

struct clf_ibnet_rec {
	const struct clf_text *text;
	uint64_t guid, system; /* system 0 = not said */
	const char *desc;      /* not terminated */
	uint32_t desc_len;
	uint32_t first_port, nports; /* as listed, not as built */
	uint32_t device;
	int line;
	char kind;   /* 'S', 'H', 'R' */
	uint32_t id; /* for the user: switch or node in the builder */
};

struct clf_ibnet {
	struct clf_ibnet_rec *recs;
	struct clf_ibnet_port *ports;
	uint32_t nrecs, cap_recs, nports, cap_ports;
	uint32_t *by_guid; /* record numbers sorted by GUID, after clf_ibnet_index() */
	uint32_t noise, noise_line;
};

void clf_ibnet_done(struct clf_ibnet *net);
CLF_MUST_USE int clf_ibnet_parse(struct clf_ibnet *net, const struct clf_text *text, struct clf_error *err);
/* Sort by GUID; a GUID with two records, or a link to a GUID without one (a dump that was cut), is CLF_E_PARSE. */
CLF_MUST_USE int clf_ibnet_index(struct clf_ibnet *net, struct clf_error *err);
struct clf_ibnet_rec *clf_ibnet_find(const struct clf_ibnet *net, uint64_t guid); /* NULL when absent */
struct clf_ibnet_port *clf_ibnet_port_of(const struct clf_ibnet *net, const struct clf_ibnet_rec *rec, uint8_t port);

#endif
