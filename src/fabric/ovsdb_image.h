/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ovsdb_image.h - what one switch said of its ports, all of them, in one read; and questions to it.
 *
 * Shapes:  rows of the configured bridge, or of every bridge when none is configured. vlan and tag are VLAN ids.
 * Errors:  CLF_E_REMOTE a column is missing or has a form the schema does not allow: nothing is guessed.
 * Memory:  load/done on the caller's storage; the reply is kept, rows borrow from it.
 * Pure:    no I/O.
 * Source:  ovs-vswitchd.conf.db(5), tables Open_vSwitch, Bridge, Port, Interface; RFC 7047 section 5.1 for the values.
 */
#ifndef CLF_FABRIC_OVSDB_IMAGE_H
#define CLF_FABRIC_OVSDB_IMAGE_H

#include "fabric/driver.h"
#include "fabric/ovsdb_conf.h"

#define CLF_OVSDB_OWNER "closfold-job" /* key in Port external_ids */

struct clf_ovsdb_row {
	const char *name;
	const json_t *port;   /* the row as it came, for compare-and-set */
	const json_t *uuid;   /* ["uuid","..."] */
	const json_t *trunks; /* set of integers */
	const char *mode;     /* vlan_mode or "" */
	const char *owner;    /* marker or "" */
	int tag;              /* -1: none */
	int ofport;           /* the worst of its interfaces; -1: no device, 0: not heard yet */
	bool link_up;         /* of all its interfaces */
	const char *error;    /* first device error, or "" */
	bool in_scope;        /* on the bridge that is looked at */
	bool uplink;          /* by configuration */
	int64_t managed;      /* index of the configured port, -1: none */
};
struct clf_ovsdb_image {
	json_t *reply;
	struct clf_ovsdb_row *row;
	uint32_t n;
	struct clf_strmap by_name;
	int64_t cur_cfg, next_cfg;
	size_t bridges, mirrors, controllers;
	bool bridge_found; /* the configured one, or exactly one */
};

/* The operations of the read, and their results (stolen). ports: those of the switch. */
json_t *clf_ovsdb_image_ops(void); /* owned; NULL when memory ends */
CLF_MUST_USE int clf_ovsdb_image_load(json_t *results, const struct clf_ovsdb_switch *conf,
				      const struct clf_ovsdb_port *ports, struct clf_ovsdb_image *out,
				      struct clf_error *err);
void clf_ovsdb_image_done(struct clf_ovsdb_image *im);

/* Row of a port that is in scope, or NULL. */
const struct clf_ovsdb_row *clf_ovsdb_row_find(const struct clf_ovsdb_image *im, const char *port);
/* Does a frame of this VLAN pass the port? An unknown mode: yes. */
bool clf_ovsdb_carries(const struct clf_ovsdb_row *row, unsigned vlan);
bool clf_ovsdb_carries_all(const struct clf_ovsdb_row *row); /* a trunk without a list */
/* Access port of this VLAN and of nothing else, marked as owner's ("": nobody's). */
bool clf_ovsdb_is_access(const struct clf_ovsdb_row *row, unsigned vlan, const char *owner);
/* "vlan 100 access owner 'j7'" for messages; returns buf. */
const char *clf_ovsdb_row_text(const struct clf_ovsdb_row *row, char *buf, size_t size);
/* {"vlan","mode","trunks","owner","ofport","link","error"?}; owned, NULL when memory ends. */
json_t *clf_ovsdb_row_json(const struct clf_ovsdb_row *row);

#endif
