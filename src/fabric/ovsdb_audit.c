/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ovsdb_audit.c - audit(), read(), plan(): what the switches say, against the desired state. Nothing is written. */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "fabric/ovsdb_drv.h"

struct look {
	struct clf_ovsdb_drv *d;
	const struct clf_want *want;
	struct clf_ovsdb_goals goals;
	struct clf_error *error; /* per switch */
	json_t *list;
};

static void look_done(struct look *l)
{
	clf_ovsdb_goals_done(&l->goals);
	free(l->error);
	json_decref(l->list);
}

/* Reads every switch; -1 when none answered. */
static int look_init(struct look *l, void *self, const struct clf_want *want, int timeout_ms, struct clf_error *err)
{
	uint32_t dead = 0;

	*l = (struct look){ .d = self, .want = want, .list = json_array() };
	l->error = calloc(l->d->conf.nsw, sizeof *l->error);
	if (!l->error || !l->list)
		return clf_fail(err, CLF_E_NOMEM, "out of memory");
	if (clf_ovsdb_goals_init(l->d, want, &l->goals, err))
		return -1;
	clf_ovsdb_read_all(l->d, clf_clock_system.boot_us(NULL) + (int64_t) timeout_ms * 1000, l->error);
	for (uint32_t i = 0; i < l->d->conf.nsw; i++)
		dead += l->error[i].code != CLF_OK;
	if (dead == l->d->conf.nsw)
		return clf_fail(err, l->error[0].code, "no switch could be read: %s", l->error[0].text);
	return 0;
}

static const char *subject(const struct look *l, uint32_t sw, const char *port, char *buf, size_t size)
{
	snprintf(buf, size, "%s/%s", l->d->conf.sw[sw].name, port);
	return buf;
}

/* audit */

static int audit_net_port(struct look *l, uint32_t port, const struct clf_ovsdb_row *row, struct clf_error *err)
{
	const struct clf_net *net = l->goals.net[port];
	const char *name = l->d->conf.port[port].full;
	char text[160];

	if (!clf_ovsdb_is_access(row, net->key, net->lease))
		return clf_finding_add(l->list, CLF_FINDING_ERROR, "port-differs", name,
				       "let closfold reconcile, find out who writes there", err,
				       "should be in vlan %u for '%s', is %s", net->key, net->lease,
				       clf_ovsdb_row_text(row, text, sizeof text));
	if (*row->error || row->ofport <= 0)
		return clf_finding_add(l->list, CLF_FINDING_WARN, "no-device", name, "plug the device in", err,
				       "port of '%s' has no device: %.100s", net->lease, row->error);
	if (!row->link_up)
		return clf_finding_add(l->list, CLF_FINDING_WARN, "link-down", name, "look at the cable and the node",
				       err, "port of '%s' has no link", net->lease);
	return 0;
}

static bool carries_a_net(const struct look *l, const struct clf_ovsdb_row *row, unsigned *vlan)
{
	for (size_t i = 0; i < l->want->n; i++)
		if (clf_ovsdb_carries(row, l->want->nets[i].key)) {
			*vlan = l->want->nets[i].key;
			return true;
		}
	return false;
}

static int audit_rest_port(struct look *l, uint32_t port, const struct clf_ovsdb_row *row, struct clf_error *err)
{
	const char *name = l->d->conf.port[port].full;
	char text[160];
	unsigned vlan;

	if (clf_ovsdb_is_at_rest(&l->d->conf, port, row))
		return 0;
	clf_ovsdb_row_text(row, text, sizeof text);
	if (carries_a_net(l, row, &vlan))
		return clf_finding_add(l->list, CLF_FINDING_ERROR, "intruder", name,
				       "let closfold reconcile; find out who writes there", err,
				       "carries vlan %u of another's job: %s", vlan, text);
	return clf_finding_add(l->list, CLF_FINDING_WARN, "port-differs", name, "let closfold reconcile", err,
			       "should be at rest, is %s", text);
}

static int audit_port(struct look *l, uint32_t port, struct clf_error *err)
{
	const struct clf_ovsdb_row *row = clf_ovsdb_row_of(l->d, port);
	const char *name = l->d->conf.port[port].full;

	if (!row)
		return clf_finding_add(l->list, l->goals.net[port] ? CLF_FINDING_ERROR : CLF_FINDING_WARN,
				       "port-missing", name, "correct fabrics.json or the switch", err,
				       "port does not exist on the switch");
	if (clf_ovsdb_is_foreign(&l->goals, row))
		return clf_finding_add(l->list, CLF_FINDING_ERROR, "foreign-owner", name,
				       "release that lease, or remove the marker closfold-job", err,
				       "marked as '%.47s', which is no lease of this closfold", row->owner);
	return l->goals.net[port] ? audit_net_port(l, port, row, err) : audit_rest_port(l, port, row, err);
}

static int audit_others(struct look *l, uint32_t sw, struct clf_error *err)
{
	const struct clf_ovsdb_image *im = &l->d->sw[sw].now;
	char name[140], text[160];
	unsigned vlan;

	for (uint32_t i = 0; i < im->n; i++) {
		const struct clf_ovsdb_row *row = &im->row[i];

		if (!row->in_scope || row->uplink || row->managed >= 0 || !carries_a_net(l, row, &vlan))
			continue;
		if (clf_finding_add(l->list, CLF_FINDING_ERROR, "intruder",
				    subject(l, sw, row->name, name, sizeof name), "give the port a tag of its own", err,
				    "unmanaged port carries vlan %u of a job: %s", vlan,
				    clf_ovsdb_row_text(row, text, sizeof text)))
			return -1;
	}
	return 0;
}

static int audit_switch(struct look *l, uint32_t sw, struct clf_error *err)
{
	const struct clf_ovsdb_switch *c = &l->d->conf.sw[sw];
	const struct clf_ovsdb_image *im = &l->d->sw[sw].now;

	if (l->error[sw].code)
		return clf_finding_add(l->list, CLF_FINDING_ERROR, "unreachable", c->name, "bring the switch back", err,
				       "%s", l->error[sw].text);
	if (im->cur_cfg < im->next_cfg &&
	    clf_finding_add(l->list, CLF_FINDING_WARN, "not-applied", c->name, "look at ovs-vswitchd on the switch",
			    err, "applied configuration %lld of %lld", (long long) im->cur_cfg,
			    (long long) im->next_cfg))
		return -1;
	for (uint32_t i = c->first; i < c->first + c->n; i++)
		if (audit_port(l, i, err))
			return -1;
	return audit_others(l, sw, err);
}

static int audit_all(struct look *l, struct clf_error *err)
{
	char text[200];

	for (uint32_t i = 0; i < l->d->conf.nsw; i++)
		if (audit_switch(l, i, err))
			return -1;
	for (size_t i = 0; i < l->want->n; i++)
		if (clf_ovsdb_uplink_missing(l->d, &l->want->nets[i], text, sizeof text) &&
		    clf_finding_add(l->list, CLF_FINDING_ERROR, "uplink", l->want->nets[i].lease,
				    "add the vlan to the trunk list", err, "vlan %u: %s", l->want->nets[i].key, text))
			return -1;
	return 0;
}

int clf_ovsdb_audit(void *self, const struct clf_want *want, int timeout_ms, json_t **findings, struct clf_error *err)
{
	struct look l;
	int rc = look_init(&l, self, want, timeout_ms, err) || audit_all(&l, err) ? -1 : 0;

	if (!rc)
		*findings = CLF_STEAL(l.list);
	look_done(&l);
	return rc;
}

/* read */

static int read_row(struct look *l, uint32_t sw, const struct clf_ovsdb_row *row)
{
	const struct clf_ovsdb_port *p = row->managed >= 0 ? &l->d->conf.port[row->managed] : NULL;
	json_t *j = clf_ovsdb_row_json(row);
	char name[140];

	subject(l, sw, row->name, name, sizeof name);
	if (!j || json_object_set_new(j, "port", json_string(name)) ||
	    json_object_set_new(j, "role",
				json_string(p             ? "node"
					    : row->uplink ? "uplink"
							  : "unmanaged")) ||
	    (p && (json_object_set_new(j, "node", json_string(p->node)) ||
		   json_object_set_new(j, "nic", json_string(p->nic))))) {
		json_decref(j);
		return -1;
	}
	return json_array_append_new(l->list, j);
}

static json_t *read_switch(const struct look *l, uint32_t sw)
{
	const struct clf_ovsdb_image *im = &l->d->sw[sw].now;

	if (l->error[sw].code)
		return json_pack("{s:s,s:s}", "name", l->d->conf.sw[sw].name, "error", l->error[sw].text);
	return json_pack("{s:s,s:I,s:I}", "name", l->d->conf.sw[sw].name, "cur_cfg", (json_int_t) im->cur_cfg,
			 "next_cfg", (json_int_t) im->next_cfg);
}

static int read_all(struct look *l, json_t **out, struct clf_error *err)
{
	json_auto_t *switches = json_array();

	for (uint32_t i = 0; i < l->d->conf.nsw; i++) {
		const struct clf_ovsdb_image *im = &l->d->sw[i].now;

		if (json_array_append_new(switches, read_switch(l, i)))
			return clf_fail(err, CLF_E_NOMEM, "out of memory");
		for (uint32_t j = 0; !l->error[i].code && j < im->n; j++)
			if (im->row[j].in_scope && read_row(l, i, &im->row[j]))
				return clf_fail(err, CLF_E_NOMEM, "out of memory");
	}
	*out = json_pack("{s:O,s:O}", "ports", l->list, "switches", switches);
	return *out ? 0 : clf_fail(err, CLF_E_NOMEM, "out of memory");
}

int clf_ovsdb_read_ports(void *self, const struct clf_want *want, int timeout_ms, json_t **out, struct clf_error *err)
{
	struct look l;
	int rc = look_init(&l, self, want, timeout_ms, err) || read_all(&l, out, err) ? -1 : 0;

	look_done(&l);
	return rc;
}

/* plan */

static int plan_port(struct look *l, uint32_t port)
{
	const struct clf_ovsdb_conf *c = &l->d->conf;
	const struct clf_ovsdb_row *row = clf_ovsdb_row_of(l->d, port);
	const struct clf_net *net = l->goals.net[port];
	char is[160], rest[16] = "";
	json_t *step;

	if (!row || (net ? clf_ovsdb_is_access(row, net->key, net->lease)
			 : clf_ovsdb_is_access(row, c->rest ? c->rest : c->port[port].quarantine, "")))
		return 0;
	clf_ovsdb_row_text(row, is, sizeof is);
	if (c->rest)
		snprintf(rest, sizeof rest, ", then %u", c->rest);
	if (clf_ovsdb_is_foreign(&l->goals, row))
		step = json_sprintf("%s: nothing, marked as '%.47s', which is no lease of this closfold",
				    c->port[port].full, row->owner);
	else if (net)
		step = json_sprintf("%s: %s -> vlan %u owner '%s'", c->port[port].full, is, net->key, net->lease);
	else
		step = json_sprintf("%s: %s -> vlan %u%s", c->port[port].full, is, c->port[port].quarantine, rest);
	return json_array_append_new(l->list, step);
}

static int plan_all(struct look *l, json_t **out, struct clf_error *err)
{
	int bad = 0;

	for (uint32_t i = 0; i < l->d->conf.nsw; i++) {
		const struct clf_ovsdb_switch *c = &l->d->conf.sw[i];

		if (l->error[i].code)
			bad |= json_array_append_new(l->list,
						     json_sprintf("%s: nothing, %s", c->name, l->error[i].text));
		for (uint32_t j = c->first; !l->error[i].code && j < c->first + c->n; j++)
			bad |= plan_port(l, j);
	}
	*out = bad ? NULL : json_pack("{s:O}", "steps", l->list);
	return *out ? 0 : clf_fail(err, CLF_E_NOMEM, "out of memory");
}

int clf_ovsdb_plan(void *self, const struct clf_want *want, int timeout_ms, json_t **out, struct clf_error *err)
{
	struct look l;
	int rc = look_init(&l, self, want, timeout_ms, err) || plan_all(&l, out, err) ? -1 : 0;

	look_done(&l);
	return rc;
}
