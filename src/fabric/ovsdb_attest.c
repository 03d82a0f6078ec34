/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ovsdb_attest.c - a node's ports, and what its NICs hear from their switch by LLDP. Configuration and facts only. */
#include <stdio.h>
#include <string.h>

#include "fabric/ovsdb_drv.h"

static const json_t *find_nic(const json_t *facts, const char *name)
{
	json_t *nic, *list = json_object_get(facts, "net");
	size_t i;

	json_array_foreach(list, i, nic)
	{
		const char *is = json_string_value(json_object_get(nic, "name"));

		if (is && !strcmp(is, name))
			return nic;
	}
	return NULL;
}

static int nic_ready(const struct clf_ovsdb_port *p, const json_t *facts, struct clf_error *err)
{
	const json_t *nic = find_nic(facts, p->nic);

	if (!json_is_array(json_object_get(facts, "net")))
		return 0; /* never said: the switch's view must do */
	if (!nic)
		return clf_fail(err, CLF_E_DENIED, "node '%s' reports no NIC '%s'; correct fabrics.json or the node",
				p->node, p->nic);
	if (json_is_false(json_object_get(nic, "link")))
		return clf_fail(err, CLF_E_DENIED, "NIC '%s' of node '%s' has no link; look at its cable to %s", p->nic,
				p->node, p->full);
	return 0;
}

int clf_ovsdb_ports(void *self, const char *node, const json_t *facts, struct clf_strv *out, struct clf_error *err)
{
	const struct clf_ovsdb_drv *d = self;
	struct clf_strv found = { 0 };
	int rc = 0;

	for (uint32_t i = 0; !rc && i < d->conf.nports; i++)
		if (!strcmp(d->conf.port[i].node, node))
			rc = nic_ready(&d->conf.port[i], facts, err) || clf_strv_add(&found, d->conf.port[i].full, err);
	if (!rc && !found.n)
		rc = clf_fail(err, CLF_E_NOTFOUND, "node '%s' has no port; list it in fabrics.json", node);
	for (size_t i = 0; !rc && i < found.n; i++)
		rc = clf_strv_add(out, found.v[i], err);
	clf_strv_done(&found);
	return rc ? -1 : 0;
}

const char *clf_ovsdb_nic(void *self, const char *port)
{
	const struct clf_ovsdb_drv *d = self;
	uint32_t i;

	return clf_strmap_find(&d->conf.by_name, port, &i) ? d->conf.port[i].nic : NULL;
}

/* attestation */

struct claim {
	const char *chassis, *port; /* NULL: not sent */
	json_int_t pvid;            /* -1: not sent */
};

static struct claim claim_of(const json_t *neighbour)
{
	const json_t *pvid = json_object_get(neighbour, "pvid");

	return (struct claim){ .chassis = json_string_value(json_object_get(neighbour, "chassis")),
			       .port = json_string_value(json_object_get(neighbour, "port")),
			       .pvid = json_is_integer(pvid) ? json_integer_value(pvid) : -1 };
}

static bool same(const char *a, const char *b)
{
	return a && b ? !strcasecmp(a, b) : a == b;
}

static bool is_fresh(const struct clf_ovsdb_conf *c, const json_t *neighbour)
{
	const json_t *age = json_object_get(neighbour, "age_s");

	return json_is_number(age) && json_number_value(age) >= 0 && json_number_value(age) <= c->lldp_max_age_s;
}

/* Different fresh claims on a NIC: how many, and the first. */
static unsigned fresh_claims(const struct clf_ovsdb_conf *c, const json_t *lldp, struct claim *first)
{
	json_t *neighbour;
	unsigned n = 0;
	size_t i;

	json_array_foreach(lldp, i, neighbour)
	{
		struct claim cl = claim_of(neighbour);

		if (!is_fresh(c, neighbour))
			continue;
		if (!n)
			*first = cl;
		if (!n || !same(cl.chassis, first->chassis) || !same(cl.port, first->port) || cl.pvid != first->pvid)
			n++;
	}
	return n;
}

/* One claim against the port it should come from. */
static enum clf_attest judge_claim(const struct clf_ovsdb_drv *d, const struct clf_ovsdb_port *p,
				   const struct claim *cl, unsigned key, char *text, size_t size)
{
	const struct clf_ovsdb_switch *sw = &d->conf.sw[p->sw];

	if (!cl->chassis || !cl->port) {
		snprintf(text, size, "the neighbour of %s %s does not name itself", p->node, p->nic);
		return CLF_ATTEST_UNATTESTED;
	}
	if ((sw->chassis && strcasecmp(cl->chassis, sw->chassis) != 0) || strcmp(cl->port, p->name) != 0) {
		snprintf(text, size, "%s %s hears %.40s port %.40s, not %s of %s; correct the cable or fabrics.json",
			 p->node, p->nic, cl->chassis, cl->port, p->name, sw->chassis ? sw->chassis : sw->name);
		return CLF_ATTEST_MISMATCH;
	}
	if (cl->pvid >= 0 && cl->pvid != (json_int_t) key) {
		snprintf(text, size, "%s %s hears vlan %d from %s, not %u", p->node, p->nic, (int) cl->pvid, p->full,
			 key);
		return CLF_ATTEST_MISMATCH;
	}
	if (cl->pvid < 0 || !sw->chassis) {
		snprintf(text, size, "%s: %s", p->full,
			 cl->pvid < 0 ? "the switch announces no vlan (no Port VLAN ID in its LLDP)"
				      : "no chassis is configured to compare with");
		return CLF_ATTEST_UNATTESTED;
	}
	snprintf(text, size, "%s %s hears vlan %u from %s", p->node, p->nic, key, p->full);
	return CLF_ATTEST_OK;
}

static enum clf_attest judge_nic(const struct clf_ovsdb_drv *d, const struct clf_ovsdb_port *p,
				 const struct clf_net *net, const json_t *facts, char *text, size_t size)
{
	const json_t *lldp = json_object_get(find_nic(facts, p->nic), "lldp");
	struct claim first = { 0 };
	unsigned n;

	if (!clf_strv_has(&net->ports, p->full)) {
		snprintf(text, size, "%s %s is on %s, which is not in the net", p->node, p->nic, p->full);
		return CLF_ATTEST_MISMATCH;
	}
	n = fresh_claims(&d->conf, lldp, &first);
	if (n == 1)
		return judge_claim(d, p, &first, net->key, text, size);
	if (n)
		snprintf(text, size, "%s %s has two neighbours that say different things", p->node, p->nic);
	else
		snprintf(text, size, "%s %s hears no LLDP%s", p->node, p->nic,
			 json_array_size(lldp) ? " that is fresh" : "; run lldpd there");
	return CLF_ATTEST_UNATTESTED;
}

enum clf_attest clf_ovsdb_attest(void *self, const struct clf_net *net, const char *node, const json_t *facts,
				 char *text, size_t size)
{
	const struct clf_ovsdb_drv *d = self;
	enum clf_attest worst = CLF_ATTEST_OK;
	bool any = false;
	char said[300];

	snprintf(text, size, "node '%s' has no port in fabrics.json", node);
	for (uint32_t i = 0; i < d->conf.nports; i++) {
		const struct clf_ovsdb_port *p = &d->conf.port[i];
		enum clf_attest a;

		if (strcmp(p->node, node) != 0)
			continue;
		a = judge_nic(d, p, net, facts, said, sizeof said);
		if (!any || a > worst)
			snprintf(text, size, "%s", said);
		worst = a > worst ? a : worst;
		any = true;
	}
	return any ? worst : CLF_ATTEST_UNATTESTED;
}
