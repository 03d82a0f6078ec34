/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/ovsdb_conf.h"

#include <stdio.h>
#include <string.h>

#define VLAN_MIN   2
#define VLAN_MAX   4094
#define RANGES_MAX 32

/* What one load needs besides the result. */
struct loader {
	const struct clf_fabric_conf *fabric;
	struct clf_ovsdb_conf *conf;
	struct clf_strmap nics; /* "node nic" -> port */
	struct {
		unsigned min, max;
	} reserved[RANGES_MAX];
	size_t nreserved;
	char pointer[160]; /* of the value at hand */
};

static int bad(const struct loader *l, const char *key, struct clf_error *err, const char *text, const char *value)
{
	char pointer[200];

	snprintf(pointer, sizeof pointer, "%s%s%s", l->pointer, *key ? "/" : "", key);
	return clf_json_fail(l->fabric->doc, pointer, err, text, value);
}

static bool name_ok(const char *s, size_t max)
{
	size_t n = strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._:-");

	return n && n < max && !s[n];
}

static int read_name(const struct loader *l, const char *key, const json_t *j, const char **out, struct clf_error *err)
{
	const char *s = json_string_value(j);

	if (!j)
		return 0;
	if (!name_ok(s, 64))
		return bad(l, key, err, "'%.70s' is no name of at most 63 letters, digits and ._:-", s);
	*out = s;
	return 0;
}

/* VLAN ids */

static bool is_reserved(const struct loader *l, unsigned vlan)
{
	for (size_t i = 0; i < l->nreserved; i++)
		if (vlan >= l->reserved[i].min && vlan <= l->reserved[i].max)
			return true;
	return false;
}

static int read_range(struct loader *l, const json_t *j, struct clf_error *err)
{
	const char *s = json_string_value(j), *dash = s ? strchr(s, '-') : NULL;
	unsigned long long a, b;

	if (!dash || !clf_parse_u64(s, (size_t) (dash - s), &a) || !clf_parse_u64(dash + 1, strlen(dash + 1), &b) ||
	    a > b || b > VLAN_MAX)
		return bad(l, "reserved", err, "'%.30s' is no range like \"1002-1005\"", s ? s : "");
	if (l->nreserved == RANGES_MAX)
		return bad(l, "reserved", err, "%s", "too many ranges");
	l->reserved[l->nreserved].min = (unsigned) a;
	l->reserved[l->nreserved++].max = (unsigned) b;
	return 0;
}

static int read_reserved(struct loader *l, const json_t *list, struct clf_error *err)
{
	const struct clf_fabric_conf *f = l->fabric;
	json_t *j;
	size_t i;

	json_array_foreach(list, i, j) if (read_range(l, j, err)) return -1;
	for (i = 0; i < l->nreserved; i++)
		if (f->key_min <= l->reserved[i].max && f->key_max >= l->reserved[i].min)
			return bad(l, "reserved", err, "%s",
				   "keys of the fabric are reserved by the switches; choose other 'keys'");
	return 0;
}

/* A VLAN a port may rest in: usable and no job's. */
static int check_vlan(const struct loader *l, const char *key, const json_t *j, uint16_t *out, struct clf_error *err)
{
	json_int_t v = json_integer_value(j);

	if (v < VLAN_MIN || v > VLAN_MAX)
		return bad(l, key, err, "'%s' must be a VLAN id from 2 to 4094", key);
	if (v >= l->fabric->key_min && v <= l->fabric->key_max)
		return bad(l, key, err, "'%s' is inside the range of job keys; choose an id outside", key);
	if (is_reserved(l, (unsigned) v))
		return bad(l, key, err, "'%s' is a reserved id; choose another", key);
	*out = (uint16_t) v;
	return 0;
}

static int read_rest(const struct loader *l, const json_t *j, struct clf_error *err)
{
	if (!j || (json_is_string(j) && !strcmp(json_string_value(j), "quarantine")))
		return 0;
	if (!json_is_integer(j))
		return bad(l, "rest", err, "%s", "'rest' is \"quarantine\" or the VLAN id of the ordinary network");
	return check_vlan(l, "rest", j, &l->conf->rest, err);
}

/* ports */

bool clf_ovsdb_is_uplink(const struct clf_ovsdb_switch *sw, const char *port)
{
	for (size_t i = 0; i < sw->nuplinks; i++)
		if (!strcmp(sw->uplinks[i], port))
			return true;
	return false;
}

static int check_port(struct loader *l, const struct clf_ovsdb_switch *sw, const struct clf_ovsdb_port *p,
		      struct clf_error *err)
{
	struct clf_ovsdb_conf *c = l->conf;
	uint32_t other;
	char nic[140];

	if (clf_ovsdb_is_uplink(sw, p->name))
		return bad(l, "port", err, "'%.60s' is an uplink; a node's port cannot be one", p->name);
	if (p->quarantine == c->rest)
		return bad(l, "quarantine", err, "%s", "'quarantine' is the ordinary network's id; choose another");
	for (uint32_t i = sw->first; i < c->nports; i++)
		if (c->port[i].quarantine == p->quarantine)
			return bad(l, "quarantine", err,
				   "port '%.60s' has this id too; each port of a switch needs its own",
				   c->port[i].name);
	if (clf_strmap_find(&c->by_name, p->full, &other))
		return bad(l, "port", err, "port '%.60s' is there twice", p->name);
	snprintf(nic, sizeof nic, "%s %s", p->node, p->nic);
	if (clf_strmap_find(&l->nics, nic, &other))
		return bad(l, "nic", err, "NIC '%.120s' is on two ports", nic);
	return clf_strmap_add(&c->by_name, p->full, c->nports, err) || clf_strmap_add(&l->nics, nic, c->nports, err)
		       ? -1
		       : 0;
}

static int add_port(struct loader *l, struct clf_ovsdb_port *p, struct clf_error *err)
{
	struct clf_ovsdb_conf *c = l->conf;

	if (c->nports == CLF_OVSDB_PORTS_MAX)
		return bad(l, "", err, "%s", "too many ports");
	if (c->nports == c->cap) {
		uint32_t cap = c->cap ? c->cap * 2 : 64;
		struct clf_ovsdb_port *more = realloc(c->port, cap * sizeof *more);

		if (!more)
			return clf_fail(err, CLF_E_NOMEM, "out of memory");
		c->port = more;
		c->cap = cap;
	}
	c->port[c->nports++] = *p;
	return 0;
}

static int read_port(struct loader *l, struct clf_ovsdb_switch *sw, json_t *obj, struct clf_error *err)
{
	struct clf_ovsdb_port p = { .sw = (uint32_t) (sw - l->conf->sw) };
	json_t *port, *node, *nic, *quarantine;
	const struct clf_json_key table[] = {
		{ "port", JSON_STRING, true, &port },
		{ "node", JSON_STRING, true, &node },
		{ "nic", JSON_STRING, true, &nic },
		{ "quarantine", JSON_INTEGER, true, &quarantine },
	};

	if (clf_json_object(l->fabric->doc, obj, l->pointer, table, sizeof table / sizeof *table, err) ||
	    read_name(l, "port", port, &p.name, err) || read_name(l, "node", node, &p.node, err) ||
	    read_name(l, "nic", nic, &p.nic, err) || check_vlan(l, "quarantine", quarantine, &p.quarantine, err))
		return -1;
	if (asprintf(&p.full, "%s/%s", sw->name, p.name) < 0)
		return clf_fail(err, CLF_E_NOMEM, "out of memory");
	if (check_port(l, sw, &p, err) || add_port(l, &p, err)) {
		free(p.full);
		return -1;
	}
	sw->n++;
	return 0;
}

/* switches */

/* An address, not a name that begins like one. */
static bool is_loopback(const char *hostport)
{
	size_t n = strspn(hostport, "0123456789.");

	return (!strncmp(hostport, "127.", 4) && hostport[n] == ':') || !strncmp(hostport, "[::1]:", 6) ||
	       !strncmp(hostport, "localhost:", 10);
}

static bool has_port(const char *hostport)
{
	const char *colon = strrchr(hostport, ':');
	unsigned long long n;

	return colon && colon != hostport && clf_parse_u64(colon + 1, strlen(colon + 1), &n) && n && n < 65536 &&
	       !strpbrk(hostport, "/@?# ") && strlen(hostport) < 150;
}

static int check_remote(const struct loader *l, const struct clf_ovsdb_switch *sw, struct clf_error *err)
{
	const struct clf_stream_conf *r = &sw->remote;
	bool ssl = !strncmp(r->remote, "ssl:", 4), tcp = !strncmp(r->remote, "tcp:", 4);

	if (ssl ? !r->key || !r->cert || !r->ca : r->key || r->cert || r->ca)
		return bad(l, "remote", err, "%s",
			   ssl ? "an ssl: remote needs 'key', 'cert' and 'ca'"
			       : "'key', 'cert' and 'ca' are for ssl: remotes");
	if (!strncmp(r->remote, "unix:/", 6) && strlen(r->remote) < 110)
		return 0;
	if ((!ssl && !tcp) || !has_port(r->remote + 4))
		return bad(l, "remote", err, "'%.100s' is none of unix:/PATH, tcp:HOST:PORT, ssl:HOST:PORT", r->remote);
	if (tcp && !is_loopback(r->remote + 4) && !sw->insecure)
		return bad(l, "remote", err,
			   "'%.100s' is neither encrypted nor authenticated; use ssl:, or say \"insecure\":true",
			   r->remote);
	return 0;
}

static int check_chassis(const struct loader *l, const char *s, struct clf_error *err)
{
	bool right = !s || strlen(s) == 17;

	for (int i = 0; s && right && i < 17; i++)
		right = i % 3 == 2 ? s[i] == ':' : strchr("0123456789abcdefABCDEF", s[i]) != NULL;
	return right ? 0 : bad(l, "chassis", err, "'%.40s' is no MAC address like \"02:00:00:00:00:12\"", s);
}

static int read_uplinks(const struct loader *l, struct clf_ovsdb_switch *sw, json_t *list, struct clf_error *err)
{
	json_t *j;
	size_t i;

	sw->uplinks = calloc(json_array_size(list) + 1, sizeof *sw->uplinks);
	if (!sw->uplinks)
		return clf_fail(err, CLF_E_NOMEM, "out of memory");
	json_array_foreach(list, i, j)
	{
		if (!json_is_string(j))
			return bad(l, "uplinks", err, "%s", "'uplinks' is a list of port names");
		if (read_name(l, "uplinks", j, &sw->uplinks[i], err))
			return -1;
		if (clf_ovsdb_is_uplink(sw, sw->uplinks[i]))
			return bad(l, "uplinks", err, "uplink '%.60s' is there twice", sw->uplinks[i]);
		sw->nuplinks++;
	}
	return 0;
}

static int check_switch(const struct loader *l, const struct clf_ovsdb_switch *sw, struct clf_error *err)
{
	for (const struct clf_ovsdb_switch *o = l->conf->sw; o < sw; o++) {
		if (!strcmp(o->name, sw->name))
			return bad(l, "name", err, "switch '%.60s' is there twice", sw->name);
		if (!strcmp(o->remote.remote, sw->remote.remote))
			return bad(l, "remote", err, "switch '%.60s' has this remote too", o->name);
		if (o->chassis && sw->chassis && !strcasecmp(o->chassis, sw->chassis))
			return bad(l, "chassis", err, "switch '%.60s' has this chassis too", o->name);
	}
	return check_remote(l, sw, err) || check_chassis(l, sw->chassis, err) ? -1 : 0;
}

static int read_ports(struct loader *l, struct clf_ovsdb_switch *sw, const json_t *list, struct clf_error *err)
{
	size_t base = strlen(l->pointer);
	json_t *j;
	size_t i;

	json_array_foreach(list, i, j)
	{
		snprintf(l->pointer + base, sizeof l->pointer - base, "/ports/%zu", i);
		if (read_port(l, sw, j, err))
			return -1;
	}
	return 0;
}

static int read_switch(struct loader *l, json_t *obj, struct clf_error *err)
{
	struct clf_ovsdb_switch *sw = &l->conf->sw[l->conf->nsw];
	json_t *name, *remote, *key, *cert, *ca, *chassis, *bridge, *insecure, *uplinks, *ports;
	const struct clf_json_key table[] = {
		{ "name", JSON_STRING, true, &name },      { "remote", JSON_STRING, true, &remote },
		{ "key", JSON_STRING, false, &key },       { "cert", JSON_STRING, false, &cert },
		{ "ca", JSON_STRING, false, &ca },         { "chassis", JSON_STRING, false, &chassis },
		{ "bridge", JSON_STRING, false, &bridge }, { "insecure", JSON_TRUE, false, &insecure },
		{ "uplinks", JSON_ARRAY, true, &uplinks }, { "ports", JSON_ARRAY, true, &ports },
	};

	if (clf_json_object(l->fabric->doc, obj, l->pointer, table, sizeof table / sizeof *table, err))
		return -1;
	l->conf->nsw++; /* from here on conf_done() looks after it */
	*sw = (struct clf_ovsdb_switch){
		.remote = { json_string_value(remote), json_string_value(key), json_string_value(cert),
			    json_string_value(ca) },
		.chassis = json_string_value(chassis),
		.insecure = json_is_true(insecure),
		.first = l->conf->nports,
	};
	if (read_name(l, "name", name, &sw->name, err) || read_name(l, "bridge", bridge, &sw->bridge, err) ||
	    check_switch(l, sw, err) || read_uplinks(l, sw, uplinks, err))
		return -1;
	return read_ports(l, sw, ports, err);
}

/* Two switches may use the same quarantine id: that no uplink carries it only the live fabric can tell (check()). */
static int read_switches(struct loader *l, const json_t *list, struct clf_error *err)
{
	size_t base = strlen(l->pointer);
	json_t *j;
	size_t i;

	if (!json_array_size(list) || json_array_size(list) > CLF_OVSDB_SWITCHES_MAX)
		return bad(l, "switches", err, "%s", "from 1 to 1024 switches");
	l->conf->sw = calloc(json_array_size(list), sizeof *l->conf->sw);
	if (!l->conf->sw)
		return clf_fail(err, CLF_E_NOMEM, "out of memory");
	json_array_foreach(list, i, j)
	{
		snprintf(l->pointer + base, sizeof l->pointer - base, "/switches/%zu", i);
		if (read_switch(l, j, err))
			return -1;
	}
	return 0;
}

static int read_number(const struct loader *l, const char *key, const json_t *j, uint32_t min, uint32_t max,
		       uint32_t *out, struct clf_error *err)
{
	char text[80];

	if (!j)
		return 0;
	snprintf(text, sizeof text, "'%s' must be from %u to %u", key, min, max);
	if (json_integer_value(j) < min || json_integer_value(j) > max)
		return bad(l, key, err, "%s", text);
	*out = (uint32_t) json_integer_value(j);
	return 0;
}

static int load(struct loader *l, struct clf_error *err)
{
	json_t *rest, *reserved, *switches, *age, *settle;
	const struct clf_json_key table[] = {
		{ "rest", JSON_NULL, false, &rest },
		{ "reserved", JSON_ARRAY, false, &reserved },
		{ "lldp_max_age_s", JSON_INTEGER, false, &age },
		{ "settle_ms", JSON_INTEGER, false, &settle },
		{ "switches", JSON_ARRAY, true, &switches },
	};

	snprintf(l->pointer, sizeof l->pointer, "%s", l->fabric->pointer);
	if (!l->fabric->section)
		return clf_fail(err, CLF_E_PARSE, "fabric '%s' has no section \"ovsdb\"; list its switches there",
				l->fabric->name);
	if (clf_json_object(l->fabric->doc, l->fabric->section, l->pointer, table, sizeof table / sizeof *table, err) ||
	    read_reserved(l, reserved, err) || read_rest(l, rest, err) ||
	    read_number(l, "lldp_max_age_s", age, 1, 86400, &l->conf->lldp_max_age_s, err) ||
	    read_number(l, "settle_ms", settle, 0, 5000, &l->conf->settle_ms, err))
		return -1;
	return read_switches(l, switches, err);
}

int clf_ovsdb_conf_load(const struct clf_fabric_conf *fabric, struct clf_ovsdb_conf *out, struct clf_error *err)
{
	struct clf_ovsdb_conf conf = {
		.key_min = fabric->key_min, .key_max = fabric->key_max, .lldp_max_age_s = 60, .settle_ms = 10
	};
	struct loader l = { .fabric = fabric, .conf = &conf, .nics = { .copy = true } };
	int rc = load(&l, err);

	clf_strmap_done(&l.nics);
	if (rc) {
		clf_ovsdb_conf_done(&conf);
		return -1;
	}
	*out = conf;
	return 0;
}

void clf_ovsdb_conf_done(struct clf_ovsdb_conf *c)
{
	for (uint32_t i = 0; i < c->nsw; i++)
		free(c->sw[i].uplinks);
	for (uint32_t i = 0; i < c->nports; i++)
		free(c->port[i].full);
	clf_strmap_done(&c->by_name);
	free(c->sw);
	free(c->port);
	*c = (struct clf_ovsdb_conf){ 0 };
}
