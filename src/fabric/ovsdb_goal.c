/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ovsdb_goal.c - desired state against what the switches said. No I/O. */
#include <stdio.h>
#include <string.h>

#include "fabric/ovsdb_drv.h"

static int add_net(const struct clf_ovsdb_drv *d, const struct clf_net *net, struct clf_ovsdb_goals *g,
		   struct clf_error *err)
{
	uint32_t port;

	for (size_t i = 0; i < net->ports.n; i++) {
		if (!clf_strmap_find(&d->conf.by_name, net->ports.v[i], &port))
			continue;
		if (g->net[port])
			return clf_fail(err, CLF_E_INVALID, "port '%s' is in the nets of '%s' and '%s'",
					net->ports.v[i], g->net[port]->lease, net->lease);
		g->net[port] = net;
	}
	return clf_strmap_set(&g->leases, net->lease, 1, err);
}

int clf_ovsdb_goals_init(const struct clf_ovsdb_drv *d, const struct clf_want *want, struct clf_ovsdb_goals *out,
			 struct clf_error *err)
{
	struct clf_ovsdb_goals g = { .net = calloc(d->conf.nports + 1, sizeof *g.net) };

	if (!g.net)
		return clf_fail(err, CLF_E_NOMEM, "out of memory");
	for (size_t i = 0; i < want->n; i++)
		if (add_net(d, &want->nets[i], &g, err)) {
			clf_ovsdb_goals_done(&g);
			return -1;
		}
	*out = g;
	return 0;
}

void clf_ovsdb_goals_done(struct clf_ovsdb_goals *g)
{
	clf_strmap_done(&g->leases);
	free(g->net);
	*g = (struct clf_ovsdb_goals){ 0 };
}

bool clf_ovsdb_is_foreign(const struct clf_ovsdb_goals *g, const struct clf_ovsdb_row *row)
{
	uint32_t one;

	return *row->owner && !clf_strmap_find(&g->leases, row->owner, &one);
}

bool clf_ovsdb_is_at_rest(const struct clf_ovsdb_conf *c, uint32_t port, const struct clf_ovsdb_row *row)
{
	return clf_ovsdb_is_access(row, c->port[port].quarantine, "") ||
	       (c->rest && clf_ovsdb_is_access(row, c->rest, ""));
}

const struct clf_ovsdb_row *clf_ovsdb_row_of(const struct clf_ovsdb_drv *d, uint32_t port)
{
	return clf_ovsdb_row_find(&d->sw[d->conf.port[port].sw].now, d->conf.port[port].name);
}

const struct clf_ovsdb_row *clf_ovsdb_intruder(const struct clf_ovsdb_drv *d, const struct clf_ovsdb_goals *g,
					       uint32_t sw, unsigned vlan)
{
	const struct clf_ovsdb_image *im = &d->sw[sw].now;

	for (uint32_t i = 0; i < im->n; i++) {
		const struct clf_ovsdb_row *r = &im->row[i];

		if (!r->in_scope || r->uplink || !clf_ovsdb_carries(r, vlan))
			continue;
		if (r->managed < 0 || !g->net[r->managed] || g->net[r->managed]->key != vlan)
			return r;
	}
	return NULL;
}

const struct clf_ovsdb_port *clf_ovsdb_doubtful(const struct clf_ovsdb_drv *d, const struct clf_ovsdb_goals *g,
						uint32_t sw, unsigned vlan)
{
	const struct clf_ovsdb_switch *c = &d->conf.sw[sw];

	for (uint32_t i = c->first; i < c->first + c->n; i++)
		if ((d->doubt[i] < 0 || d->doubt[i] == (int) vlan) && !(g->net[i] && g->net[i]->key == vlan))
			return &d->conf.port[i];
	return NULL;
}

/* uplinks */

static bool on_switch(const struct clf_ovsdb_drv *d, const struct clf_net *net, uint32_t sw)
{
	uint32_t port;

	for (size_t i = 0; i < net->ports.n; i++)
		if (clf_strmap_find(&d->conf.by_name, net->ports.v[i], &port) && d->conf.port[port].sw == sw)
			return true;
	return false;
}

static bool spans(const struct clf_ovsdb_drv *d, const struct clf_net *net)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < d->conf.nsw && n < 2; i++)
		n += on_switch(d, net, i);
	return n > 1;
}

static bool uplink_lacks(const struct clf_ovsdb_drv *d, uint32_t sw, unsigned vlan, char *text, size_t size)
{
	const struct clf_ovsdb_switch *c = &d->conf.sw[sw];
	size_t up = 0;

	for (size_t i = 0; i < c->nuplinks; i++) {
		const struct clf_ovsdb_row *r = clf_ovsdb_row_find(&d->sw[sw].now, c->uplinks[i]);

		if (!r || !clf_ovsdb_carries(r, vlan)) {
			snprintf(text, size,
				 "uplink '%s/%s' %s; nodes of different switches would not reach each other", c->name,
				 c->uplinks[i],
				 r ? "does not carry the vlan: add it to the trunk list" : "does not exist");
			return true;
		}
		up += r->link_up && r->ofport > 0;
	}
	if (!up)
		snprintf(text, size,
			 "no uplink of switch '%s' is up; nodes of different switches would not reach each other",
			 c->name);
	return !up;
}

/* A switch without managed ports is between the others: all of its uplinks are needed. */
bool clf_ovsdb_uplink_missing(const struct clf_ovsdb_drv *d, const struct clf_net *net, char *text, size_t size)
{
	if (!spans(d, net))
		return false;
	for (uint32_t i = 0; i < d->conf.nsw; i++)
		if ((!d->conf.sw[i].n || on_switch(d, net, i)) && uplink_lacks(d, i, net->key, text, size))
			return true;
	return false;
}
