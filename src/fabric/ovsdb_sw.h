/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ovsdb_sw.h - one switch: its connection, what it said last, and writing its ports.
 *
 * Errors:  those of ovsdb.h, with "switch 'NAME': " before the text.
 * Threads: read, write and confirm hold sw->mutex; one at a time for a switch, different switches in parallel.
 * Memory:  init/done on the caller's storage.
 */
#ifndef CLF_FABRIC_OVSDB_SW_H
#define CLF_FABRIC_OVSDB_SW_H

#include <pthread.h>

#include "fabric/ovsdb.h"
#include "fabric/ovsdb_image.h"

/* What a port shall be. vlan 0: leave it alone. */
struct clf_ovsdb_aim {
	uint16_t vlan;
	const char *owner; /* "": nobody's */
};

struct clf_ovsdb_sw {
	const struct clf_ovsdb_switch *conf;
	const struct clf_ovsdb_port *ports; /* conf->n of them */
	pthread_mutex_t mutex;
	struct clf_ovsdb *db; /* NULL: to be opened */
	struct clf_ovsdb_image now;
	bool seen;   /* now is of this sync */
	int *doubt;  /* per port: VLAN it may still carry, written over and not confirmed; 0 none, -1 all. Borrowed */
	bool locked; /* we held the lock when it was read */
	int64_t next_cfg; /* of the last write; 0: none in this sync */
	struct {
		int64_t read, write, confirm;
	} took_us;
};
void clf_ovsdb_sw_init(struct clf_ovsdb_sw *sw, const struct clf_ovsdb_switch *conf,
		       const struct clf_ovsdb_port *ports);
void clf_ovsdb_sw_done(struct clf_ovsdb_sw *sw);

/* Connects when needed and reads every port into sw->now. A connection found broken is opened again once. */
CLF_MUST_USE int clf_ovsdb_sw_read(struct clf_ovsdb_sw *sw, int64_t deadline_us, struct clf_error *err);

/* One transaction from what was read to the aims (conf->n), for the ports with a vlan. When there are none: with bump
 * one that asks the switch to apply what it has, else nothing. Waits for the lock. CLF_E_CONFLICT: the switch is not as
 * it was read, nothing was changed. */
CLF_MUST_USE int clf_ovsdb_sw_write(struct clf_ovsdb_sw *sw, const struct clf_ovsdb_aim *aim, bool bump,
				    int64_t deadline_us, struct clf_error *err);

/* Until vswitchd has applied what was written, and all that was written before, and settle_us longer; then reads again.
 */
CLF_MUST_USE int clf_ovsdb_sw_confirm(struct clf_ovsdb_sw *sw, int64_t settle_us, int64_t deadline_us,
				      struct clf_error *err);

/* Read once more, as part of the same work. */
CLF_MUST_USE int clf_ovsdb_sw_again(struct clf_ovsdb_sw *sw, int64_t deadline_us, struct clf_error *err);

/* Answer the keepalive of an idle connection, unless somebody is at work on it. */
void clf_ovsdb_sw_pump(struct clf_ovsdb_sw *sw);

#endif
