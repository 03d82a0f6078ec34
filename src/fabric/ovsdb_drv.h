/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ovsdb_drv.h - what the parts of the ovsdb driver share: its state, work on all switches at once, the desired state.
 *
 * Shapes:  arrays of ports are conf.nports long, arrays of switches conf.nsw.
 * Threads: attest() and ports() read conf only. held belongs to the one thread that calls the rest.
 */
#ifndef CLF_FABRIC_OVSDB_DRV_H
#define CLF_FABRIC_OVSDB_DRV_H

#include "fabric/driver.h"
#include "fabric/ovsdb_sw.h"

struct clf_ovsdb_drv {
	struct clf_ovsdb_conf conf;
	struct clf_ovsdb_sw *sw;
	int *doubt; /* per port, for the switches */
	bool *held; /* ports in quarantine until a CLOSE of their net is verified */
	/* keeps idle connections alive; started with the first use, after the daemon's forks */
	pthread_t keeper;
	pthread_mutex_t mutex;
	pthread_cond_t wake;
	bool keeps, stop;
};

/* f for every switch, in parallel; returns when all have. Signals stay with the caller's thread. */
typedef void clf_ovsdb_each_f(void *arg, uint32_t sw);
void clf_ovsdb_each(const struct clf_ovsdb_drv *d, clf_ovsdb_each_f *f, void *arg);

/* Read every switch until the deadline; error[sw].code CLF_OK: d->sw[sw].now is fresh. */
void clf_ovsdb_read_all(struct clf_ovsdb_drv *d, int64_t deadline_us, struct clf_error *error);

/* Desired state, per port. */
struct clf_ovsdb_goals {
	const struct clf_net **net; /* the open net that has the port, or NULL */
	struct clf_strmap leases;   /* of every net that is known: markers of others are foreign */
};
/* CLF_E_INVALID: a port in two nets. Ports that are not configured are left to the tasks' answers. */
CLF_MUST_USE int clf_ovsdb_goals_init(const struct clf_ovsdb_drv *d, const struct clf_want *want,
				      struct clf_ovsdb_goals *out, struct clf_error *err);
void clf_ovsdb_goals_done(struct clf_ovsdb_goals *g);

bool clf_ovsdb_is_foreign(const struct clf_ovsdb_goals *g, const struct clf_ovsdb_row *row);
/* At rest: in its quarantine or, where there is one, in the ordinary network; nobody's. */
bool clf_ovsdb_is_at_rest(const struct clf_ovsdb_conf *c, uint32_t port, const struct clf_ovsdb_row *row);
/* Row of a configured port in what its switch said last, or NULL. */
const struct clf_ovsdb_row *clf_ovsdb_row_of(const struct clf_ovsdb_drv *d, uint32_t port);
/* The first in-scope port of the switch that carries the VLAN and should not: no uplink, no port of a net of that key.
 */
const struct clf_ovsdb_row *clf_ovsdb_intruder(const struct clf_ovsdb_drv *d, const struct clf_ovsdb_goals *g,
					       uint32_t sw, unsigned vlan);
/* The first port of the switch that was moved out of the VLAN, or of all, and may still have it because the switch has
 * not confirmed; NULL: none. */
const struct clf_ovsdb_port *clf_ovsdb_doubtful(const struct clf_ovsdb_drv *d, const struct clf_ovsdb_goals *g,
						uint32_t sw, unsigned vlan);
/* The first uplink a net over several switches needs and that does not carry its VLAN; text (size bytes) says which. */
bool clf_ovsdb_uplink_missing(const struct clf_ovsdb_drv *d, const struct clf_net *net, char *text, size_t size);

int clf_ovsdb_sync(void *self, const struct clf_want *want, struct clf_net_task *tasks, size_t n, int timeout_ms,
		   struct clf_error *err);
int clf_ovsdb_audit(void *self, const struct clf_want *want, int timeout_ms, json_t **findings, struct clf_error *err);
int clf_ovsdb_check(void *self, const struct clf_want *want, int timeout_ms, json_t **findings, struct clf_error *err);
int clf_ovsdb_read_ports(void *self, const struct clf_want *want, int timeout_ms, json_t **out, struct clf_error *err);
int clf_ovsdb_plan(void *self, const struct clf_want *want, int timeout_ms, json_t **out, struct clf_error *err);
const char *clf_ovsdb_nic(void *self, const char *port);
enum clf_attest clf_ovsdb_attest(void *self, const struct clf_net *net, const char *node, const json_t *facts,
				 char *text, size_t size);
int clf_ovsdb_ports(void *self, const char *node, const json_t *facts, struct clf_strv *out, struct clf_error *err);

#endif
