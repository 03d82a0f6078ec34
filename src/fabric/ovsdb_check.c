/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ovsdb_check.c - would isolation on these switches be an illusion? Levels: error, flagged jobs must not run. */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "fabric/ovsdb_drv.h"

struct chk {
	const struct clf_ovsdb_drv *d;
	struct clf_ovsdb_goals goals;
	uint32_t sw;
	const struct clf_ovsdb_switch *conf;
	const struct clf_ovsdb_image *im;
	json_t *list;
	struct clf_error *err;
};

static const char *named(const struct chk *c, const char *port, char *buf, size_t size)
{
	snprintf(buf, size, "%s/%s", c->conf->name, port);
	return buf;
}

/* The first id of the job range that the port carries, or does not. */
static bool find_key(const struct chk *c, const struct clf_ovsdb_row *row, bool carried, unsigned *vlan)
{
	for (unsigned v = c->d->conf.key_min; v <= c->d->conf.key_max; v++)
		if (clf_ovsdb_carries(row, v) == carried) {
			*vlan = v;
			return true;
		}
	return false;
}

/* ports of nodes */

static int check_form(const struct chk *c, const struct clf_ovsdb_row *r, const char *name)
{
	char text[160];

	clf_ovsdb_row_text(r, text, sizeof text);
	if (clf_ovsdb_carries_all(r))
		return clf_finding_add(c->list, CLF_FINDING_ERROR, "trunk-all", name,
				       "ovs-vsctl set port PORT vlan_mode=access tag=QUARANTINE, before any job runs",
				       c->err, "the node may send into every vlan: %s", text);
	if (r->tag <= 0)
		return clf_finding_add(c->list, CLF_FINDING_ERROR, "no-tag", name,
				       "set the port's tag to its quarantine id", c->err,
				       "port has no vlan of its own, all such ports reach each other: %s", text);
	if (strcmp(r->mode, "access") != 0 && *r->mode)
		return clf_finding_add(c->list, CLF_FINDING_ERROR, "not-access", name,
				       "ovs-vsctl set port PORT vlan_mode=access", c->err,
				       "a node's port must be an access port: %s", text);
	return 0;
}

static int check_device(const struct chk *c, const struct clf_ovsdb_row *r, const char *name)
{
	if (*r->error || r->ofport <= 0)
		return clf_finding_add(c->list, CLF_FINDING_WARN, "no-device", name,
				       "plug it in, or take the port out of fabrics.json", c->err,
				       "port has no device: %.120s", *r->error ? r->error : "no ofport");
	if (!r->link_up)
		return clf_finding_add(c->list, CLF_FINDING_INFO, "link-down", name, "look at the cable and the node",
				       c->err, "port has no link");
	return 0;
}

/* Two nodes' ports of a switch in one vlan that is neither a job's nor the ordinary network. */
static int check_shared(const struct chk *c, uint32_t port, const struct clf_ovsdb_row *r)
{
	const struct clf_ovsdb_conf *conf = &c->d->conf;

	if (r->tag <= 0 || r->tag == conf->rest || (r->tag >= conf->key_min && r->tag <= conf->key_max))
		return 0;
	for (uint32_t i = c->conf->first; i < port; i++) {
		const struct clf_ovsdb_row *o = clf_ovsdb_row_of(c->d, i);

		if (o && o->tag == r->tag)
			return clf_finding_add(c->list, CLF_FINDING_ERROR, "shared-quarantine", conf->port[port].full,
					       "give each port its own quarantine id", c->err,
					       "shares vlan %d with %s: they reach each other", r->tag,
					       conf->port[i].full);
	}
	return 0;
}

static int check_port(const struct chk *c, uint32_t port)
{
	const struct clf_ovsdb_row *r = clf_ovsdb_row_of(c->d, port);
	const char *name = c->d->conf.port[port].full;

	if (!r)
		return clf_finding_add(c->list, CLF_FINDING_WARN, "port-missing", name,
				       "correct fabrics.json or the switch", c->err,
				       "port does not exist on the switch");
	if (clf_ovsdb_is_foreign(&c->goals, r) &&
	    clf_finding_add(c->list, CLF_FINDING_WARN, "foreign-owner", name,
			    "release that lease, or remove the marker", c->err,
			    "marked as '%.47s', which is no lease of this closfold", r->owner))
		return -1;
	return check_form(c, r, name) || check_device(c, r, name) || check_shared(c, port, r) ? -1 : 0;
}

/* uplinks */

static int check_uplink_quarantine(const struct chk *c, const struct clf_ovsdb_row *r, const char *name)
{
	const struct clf_ovsdb_conf *conf = &c->d->conf;

	/* ids are unique on a switch only: an uplink must carry none of any switch */
	for (uint32_t i = 0; i < conf->nports; i++)
		if (clf_ovsdb_carries(r, conf->port[i].quarantine))
			return clf_finding_add(
				c->list, CLF_FINDING_ERROR, "quarantine-on-uplink", name,
				"give the uplink a trunk list with the job vlans and without quarantine ids", c->err,
				"carries quarantine vlan %u of %s%s", conf->port[i].quarantine, conf->port[i].full,
				clf_ovsdb_carries_all(r) ? ": it has no trunk list, so it carries all" : "");
	return 0;
}

static int check_uplink(const struct chk *c, const char *uplink)
{
	const struct clf_ovsdb_row *r = clf_ovsdb_row_find(c->im, uplink);
	char name[140];
	unsigned vlan;

	named(c, uplink, name, sizeof name);
	if (!r)
		return clf_finding_add(c->list, CLF_FINDING_ERROR, "uplink-missing", name,
				       "correct fabrics.json or the switch", c->err,
				       "uplink does not exist on the switch");
	if (find_key(c, r, false, &vlan) &&
	    clf_finding_add(c->list, CLF_FINDING_ERROR, "keys-not-on-uplink", name,
			    "add the whole job range to the trunk list", c->err,
			    "does not carry job vlan %u: nodes of different switches would not reach each other", vlan))
		return -1;
	return check_uplink_quarantine(c, r, name);
}

/* all other ports */

static int check_unmanaged(const struct chk *c, const struct clf_ovsdb_row *r)
{
	char name[140], text[160];
	unsigned vlan;

	named(c, r->name, name, sizeof name);
	clf_ovsdb_row_text(r, text, sizeof text);
	if (clf_ovsdb_carries_all(r))
		return clf_finding_add(
			c->list, CLF_FINDING_ERROR, "trunk-all", name,
			"ovs-vsctl set port PORT tag=ID outside the job range (the bridge's own port too)", c->err,
			"unmanaged port carries every vlan: %s", text);
	if (find_key(c, r, true, &vlan))
		return clf_finding_add(c->list, CLF_FINDING_ERROR, "unmanaged-in-range", name,
				       "take it out of the job range, or list it under ports or uplinks", c->err,
				       "unmanaged port carries job vlan %u: %s", vlan, text);
	return clf_finding_add(c->list, CLF_FINDING_INFO, "unmanaged-port", name, NULL, c->err,
			       "not in fabrics.json: %s", text);
}

static int check_rows(const struct chk *c)
{
	for (uint32_t i = 0; i < c->im->n; i++) {
		const struct clf_ovsdb_row *r = &c->im->row[i];

		if (r->in_scope && !r->uplink && r->managed < 0 && check_unmanaged(c, r))
			return -1;
	}
	for (uint32_t i = c->conf->first; i < c->conf->first + c->conf->n; i++)
		if (check_port(c, i))
			return -1;
	for (size_t i = 0; i < c->conf->nuplinks; i++)
		if (check_uplink(c, c->conf->uplinks[i]))
			return -1;
	return 0;
}

/* the switch */

static int say(const struct chk *c, bool when, enum clf_finding_level level, const char *code, const char *advice,
	       const char *text)
{
	return when ? clf_finding_add(c->list, level, code, c->conf->name, advice, c->err, "%s", text) : 0;
}

static int check_switch(const struct chk *c)
{
	const struct clf_ovsdb_image *im = c->im;
	const char *remote = c->conf->remote.remote;

	if (say(c, !c->conf->bridge && im->bridges != 1, CLF_FINDING_ERROR, "bridge", "name the bridge in fabrics.json",
		"switch has not exactly one bridge") ||
	    say(c, im->mirrors > 0, CLF_FINDING_ERROR, "mirror", "remove it: ovs-vsctl clear bridge BRIDGE mirrors",
		"a mirror copies frames of jobs to another port") ||
	    say(c, im->controllers > 0, CLF_FINDING_WARN, "controller", "run the bridge without one, or know its flows",
		"an OpenFlow controller may let frames pass from vlan to vlan") ||
	    say(c, im->cur_cfg < im->next_cfg, CLF_FINDING_WARN, "not-applied", "look at ovs-vswitchd on the switch",
		"ovs-vswitchd has not applied all of its configuration") ||
	    say(c, !c->d->sw[c->sw].locked, CLF_FINDING_WARN, "lock", "stop the other closfoldd, if there is one",
		"another client holds the lock '" CLF_OVSDB_LOCK "': closfoldd, unless it asks this itself") ||
	    say(c, !strncmp(remote, "tcp:", 4), CLF_FINDING_WARN, "insecure",
		"use ssl: with certificates on both sides",
		"the switch is written to without encryption or authentication"))
		return -1;
	return check_rows(c);
}

static int check_all(struct clf_ovsdb_drv *d, struct chk *c, int timeout_ms)
{
	CLF_AUTO_FREE struct clf_error *error = calloc(d->conf.nsw, sizeof *error);
	uint32_t dead = 0;

	if (!error || !c->list)
		return clf_fail(c->err, CLF_E_NOMEM, "out of memory");
	clf_ovsdb_read_all(d, clf_clock_system.boot_us(NULL) + (int64_t) timeout_ms * 1000, error);
	for (c->sw = 0; c->sw < d->conf.nsw; c->sw++) {
		c->conf = &d->conf.sw[c->sw];
		c->im = &d->sw[c->sw].now;
		dead += error[c->sw].code != CLF_OK;
		if (error[c->sw].code ? clf_finding_add(c->list, CLF_FINDING_ERROR, "unreachable", c->conf->name,
							"bring the switch back", c->err, "%s", error[c->sw].text)
				      : check_switch(c))
			return -1;
	}
	if (dead == d->conf.nsw)
		return clf_fail(c->err, error[0].code, "no switch could be read: %s", error[0].text);
	return 0;
}

int clf_ovsdb_check(void *self, const struct clf_want *want, int timeout_ms, json_t **findings, struct clf_error *err)
{
	struct chk c = { .d = self, .list = json_array(), .err = err };
	int rc = clf_ovsdb_goals_init(c.d, want, &c.goals, err) || check_all(self, &c, timeout_ms) ? -1 : 0;

	if (!rc)
		*findings = CLF_STEAL(c.list);
	json_decref(c.list);
	clf_ovsdb_goals_done(&c.goals);
	return rc;
}
