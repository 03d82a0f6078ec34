/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ovsdb_conf.h - section "ovsdb" of a fabric: switches, their managed ports, what must be left alone.
 *
 * Shapes:  ports are one list, those of switch i at first .. first + n - 1. Names of ports are "switch/port".
 * Errors:  CLF_E_PARSE with line and column; the rules are in docs/drivers/ovsdb.md.
 * Memory:  load/done on the caller's storage; strings are borrowed from the document (but `full`).
 */
#ifndef CLF_FABRIC_OVSDB_CONF_H
#define CLF_FABRIC_OVSDB_CONF_H

#include "base/strmap.h"
#include "fabric/conf.h"
#include "fabric/stream.h"

#define CLF_OVSDB_SWITCHES_MAX 1024u
#define CLF_OVSDB_PORTS_MAX    65536u

struct clf_ovsdb_port {
	const char *name, *node, *nic;
	char *full;
	uint32_t sw;
	uint16_t quarantine;
};
struct clf_ovsdb_switch {
	const char *name, *bridge /* or NULL */;
	struct clf_stream_conf remote;
	const char *chassis; /* or NULL */
	const char **uplinks;
	size_t nuplinks;
	uint32_t first, n;
	bool insecure;
};
struct clf_ovsdb_conf {
	uint16_t key_min, key_max, rest /* 0: quarantine */;
	uint32_t lldp_max_age_s, settle_ms;
	struct clf_ovsdb_switch *sw;
	struct clf_ovsdb_port *port;
	uint32_t nsw, nports, cap;
	struct clf_strmap by_name;
};
CLF_MUST_USE int clf_ovsdb_conf_load(const struct clf_fabric_conf *fabric, struct clf_ovsdb_conf *out,
				     struct clf_error *err);
void clf_ovsdb_conf_done(struct clf_ovsdb_conf *c);

bool clf_ovsdb_is_uplink(const struct clf_ovsdb_switch *sw, const char *port);

#endif
