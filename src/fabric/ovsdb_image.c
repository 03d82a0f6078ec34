/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/ovsdb_image.h"

#include <stdio.h>
#include <string.h>

enum { TABLE_OVS, TABLE_BRIDGE, TABLE_PORT, TABLE_INTERFACE, TABLE_MIRROR, TABLES };

static json_t *rows_of(const json_t *results, size_t table)
{
	return json_object_get(json_array_get(results, table), "rows");
}

json_t *clf_ovsdb_image_ops(void)
{
	return json_pack("[{s:s,s:s,s:[],s:[s,s]},{s:s,s:s,s:[],s:[s,s,s]},{s:s,s:s,s:[],s:[s,s,s,s,s,s,s]},"
			 "{s:s,s:s,s:[],s:[s,s,s,s,s]},{s:s,s:s,s:[],s:[s]}]",
			 "op", "select", "table", "Open_vSwitch", "where", "columns", "cur_cfg", "next_cfg",    //
			 "op", "select", "table", "Bridge", "where", "columns", "name", "ports", "controller",  //
			 "op", "select", "table", "Port", "where", "columns", "_uuid", "name", "tag", "trunks", //
			 "vlan_mode", "external_ids", "interfaces",                                             //
			 "op", "select", "table", "Interface", "where", "columns", "_uuid", "name", "ofport",   //
			 "link_state", "error",                                                                 //
			 "op", "select", "table", "Mirror", "where", "columns", "name");
}

/* Values: a set of one is written bare, any other as ["set",[...]]. */

static bool is_set(const json_t *v)
{
	const char *word = json_string_value(json_array_get(v, 0));

	return word && !strcmp(word, "set");
}

static size_t set_size(const json_t *v)
{
	return is_set(v) ? json_array_size(json_array_get(v, 1)) : v ? 1 : 0;
}

static const json_t *set_get(const json_t *v, size_t i)
{
	return is_set(v) ? json_array_get(json_array_get(v, 1), i) : i ? NULL : v;
}

/* "" when absent; NULL when it is no optional string. */
static const char *opt_string(const json_t *v)
{
	return !v ? NULL : !set_size(v) ? "" : set_size(v) == 1 ? json_string_value(set_get(v, 0)) : NULL;
}

static bool opt_int(const json_t *v, int absent, int *out)
{
	const json_t *one = set_get(v, 0);

	if (!v || set_size(v) > 1 || (one && !json_is_integer(one)))
		return false;
	*out = one ? (int) json_integer_value(one) : absent;
	return true;
}

static const char *uuid_of(const json_t *v)
{
	const char *word = json_string_value(json_array_get(v, 0));

	return word && !strcmp(word, "uuid") ? json_string_value(json_array_get(v, 1)) : NULL;
}

/* NULL: no map of strings. */
static const char *map_find(const json_t *map, const char *key)
{
	const char *word = json_string_value(json_array_get(map, 0));
	json_t *pair, *pairs = json_array_get(map, 1);
	size_t i;

	if (!word || strcmp(word, "map") != 0 || !json_is_array(pairs))
		return NULL;
	json_array_foreach(pairs, i, pair)
	{
		const char *k = json_string_value(json_array_get(pair, 0)),
			   *v = json_string_value(json_array_get(pair, 1));

		if (!k || !v)
			return NULL;
		if (!strcmp(k, key))
			return v;
	}
	return "";
}

static int malformed(struct clf_error *err, const char *table, const char *name)
{
	return clf_fail(err, CLF_E_REMOTE, "row '%.60s' of table %s has not the form of the schema", name ? name : "?",
			table);
}

/* interfaces */

static int add_interface(struct clf_ovsdb_row *r, const json_t *iface, struct clf_error *err)
{
	const json_t *state = json_object_get(iface, "link_state");
	const char *link = opt_string(state), *error = opt_string(json_object_get(iface, "error"));
	int ofport;

	/* an ofport that is not there yet is 0: no device is in the switch's hands */
	if (!link || !error || !opt_int(json_object_get(iface, "ofport"), 0, &ofport))
		return malformed(err, "Interface", json_string_value(json_object_get(iface, "name")));
	if (ofport < r->ofport)
		r->ofport = ofport;
	r->link_up = r->link_up && !strcmp(link, "up");
	if (!*r->error)
		r->error = error;
	return 0;
}

static int add_interfaces(struct clf_ovsdb_row *r, const json_t *refs, const json_t *ifaces,
			  const struct clf_strmap *by_uuid, struct clf_error *err)
{
	size_t n = set_size(refs);

	r->ofport = n ? 65535 : -1;
	r->link_up = n > 0;
	r->error = "";
	for (size_t i = 0; i < n; i++) {
		const char *uuid = uuid_of(set_get(refs, i));
		uint32_t at;

		if (!uuid || !clf_strmap_find(by_uuid, uuid, &at))
			return malformed(err, "Port", r->name);
		if (add_interface(r, json_array_get(ifaces, at), err))
			return -1;
	}
	return 0;
}

static int index_uuids(const json_t *rows, const char *table, struct clf_strmap *out, struct clf_error *err)
{
	json_t *row;
	size_t i;

	json_array_foreach(rows, i, row)
	{
		const char *uuid = uuid_of(json_object_get(row, "_uuid"));

		if (!uuid)
			return malformed(err, table, json_string_value(json_object_get(row, "name")));
		if (clf_strmap_set(out, uuid, (uint32_t) i, err))
			return -1;
	}
	return 0;
}

/* ports */

static bool load_trunks(struct clf_ovsdb_row *r, const json_t *port)
{
	r->trunks = json_object_get(port, "trunks");
	for (size_t i = 0; r->trunks && i < set_size(r->trunks); i++)
		if (!json_is_integer(set_get(r->trunks, i)))
			return false;
	return r->trunks != NULL;
}

static int load_row(const json_t *port, struct clf_ovsdb_row *r, struct clf_error *err)
{
	r->port = port;
	r->name = json_string_value(json_object_get(port, "name"));
	r->uuid = json_object_get(port, "_uuid");
	r->mode = opt_string(json_object_get(port, "vlan_mode"));
	r->owner = map_find(json_object_get(port, "external_ids"), CLF_OVSDB_OWNER);
	if (!r->name || !uuid_of(r->uuid) || !r->mode || !r->owner ||
	    !opt_int(json_object_get(port, "tag"), -1, &r->tag) || !load_trunks(r, port))
		return malformed(err, "Port", r->name);
	return 0;
}

static int load_ports(struct clf_ovsdb_image *im, const struct clf_strmap *ifaces, struct clf_error *err)
{
	const json_t *ports = rows_of(im->reply, TABLE_PORT), *list = rows_of(im->reply, TABLE_INTERFACE);
	json_t *port;
	size_t i;

	im->row = calloc(json_array_size(ports) + 1, sizeof *im->row);
	if (!im->row)
		return clf_fail(err, CLF_E_NOMEM, "out of memory");
	json_array_foreach(ports, i, port)
	{
		struct clf_ovsdb_row *r = &im->row[im->n];

		if (load_row(port, r, err) || add_interfaces(r, json_object_get(port, "interfaces"), list, ifaces, err))
			return -1;
		if (clf_strmap_add(&im->by_name, r->name, im->n++, NULL))
			return clf_fail(err, CLF_E_REMOTE, "port '%.60s' is there twice", r->name);
	}
	return 0;
}

/* bridges */

static int scope_bridge(struct clf_ovsdb_image *im, const json_t *bridge, const struct clf_strmap *ports,
			struct clf_error *err)
{
	const json_t *refs = json_object_get(bridge, "ports");
	uint32_t at;

	for (size_t i = 0; i < set_size(refs); i++) {
		const char *uuid = uuid_of(set_get(refs, i));

		if (!uuid || !clf_strmap_find(ports, uuid, &at))
			return malformed(err, "Bridge", json_string_value(json_object_get(bridge, "name")));
		im->row[at].in_scope = true;
	}
	im->controllers += set_size(json_object_get(bridge, "controller"));
	return 0;
}

static int load_bridges(struct clf_ovsdb_image *im, const char *name, const struct clf_strmap *ports,
			struct clf_error *err)
{
	const json_t *bridges = rows_of(im->reply, TABLE_BRIDGE);
	json_t *b;
	size_t i;

	im->bridges = json_array_size(bridges);
	im->bridge_found = !name && im->bridges == 1;
	json_array_foreach(bridges, i, b)
	{
		const char *is = json_string_value(json_object_get(b, "name"));

		if (!is)
			return malformed(err, "Bridge", NULL);
		if (name && strcmp(is, name) != 0)
			continue;
		im->bridge_found = im->bridge_found || name;
		if (scope_bridge(im, b, ports, err))
			return -1;
	}
	return 0;
}

static int load_cfg(struct clf_ovsdb_image *im, struct clf_error *err)
{
	const json_t *row = json_array_get(rows_of(im->reply, TABLE_OVS), 0);
	const json_t *cur = json_object_get(row, "cur_cfg"), *next = json_object_get(row, "next_cfg");

	if (!json_is_integer(cur) || !json_is_integer(next))
		return clf_fail(err, CLF_E_REMOTE, "database has no cur_cfg and next_cfg");
	im->cur_cfg = json_integer_value(cur);
	im->next_cfg = json_integer_value(next);
	return 0;
}

/* Which rows are the configuration's. */
static void mark(struct clf_ovsdb_image *im, const struct clf_ovsdb_switch *conf, const struct clf_ovsdb_port *ports)
{
	uint32_t at;

	for (uint32_t i = 0; i < im->n; i++) {
		im->row[i].managed = -1;
		im->row[i].uplink = clf_ovsdb_is_uplink(conf, im->row[i].name);
	}
	for (uint32_t i = 0; i < conf->n; i++)
		if (clf_strmap_find(&im->by_name, ports[i].name, &at))
			im->row[at].managed = conf->first + i;
}

static int load(struct clf_ovsdb_image *im, const char *bridge, struct clf_strmap *ifaces, struct clf_strmap *ports,
		struct clf_error *err)
{
	for (size_t i = 0; i < TABLES; i++)
		if (!json_is_array(rows_of(im->reply, i)))
			return clf_fail(err, CLF_E_REMOTE, "answer to a read has not the form of the schema");
	im->mirrors = json_array_size(rows_of(im->reply, TABLE_MIRROR));
	if (load_cfg(im, err) || index_uuids(rows_of(im->reply, TABLE_INTERFACE), "Interface", ifaces, err) ||
	    index_uuids(rows_of(im->reply, TABLE_PORT), "Port", ports, err))
		return -1;
	return load_ports(im, ifaces, err) || load_bridges(im, bridge, ports, err) ? -1 : 0;
}

int clf_ovsdb_image_load(json_t *results, const struct clf_ovsdb_switch *conf, const struct clf_ovsdb_port *ports,
			 struct clf_ovsdb_image *out, struct clf_error *err)
{
	struct clf_ovsdb_image im = { .reply = results };
	struct clf_strmap ifaces = { 0 }, uuids = { 0 };
	int rc = load(&im, conf->bridge, &ifaces, &uuids, err);

	clf_strmap_done(&ifaces);
	clf_strmap_done(&uuids);
	if (rc) {
		clf_ovsdb_image_done(&im);
		return -1;
	}
	mark(&im, conf, ports);
	*out = im;
	return 0;
}

void clf_ovsdb_image_done(struct clf_ovsdb_image *im)
{
	clf_strmap_done(&im->by_name);
	free(im->row);
	json_decref(im->reply);
	*im = (struct clf_ovsdb_image){ 0 };
}

/* questions */

const struct clf_ovsdb_row *clf_ovsdb_row_find(const struct clf_ovsdb_image *im, const char *port)
{
	uint32_t at;

	return clf_strmap_find(&im->by_name, port, &at) && im->row[at].in_scope ? &im->row[at] : NULL;
}

static bool in_trunks(const struct clf_ovsdb_row *row, unsigned vlan)
{
	for (size_t i = 0; i < set_size(row->trunks); i++)
		if (json_integer_value(set_get(row->trunks, i)) == (json_int_t) vlan)
			return true;
	return false;
}

static bool is_trunk(const struct clf_ovsdb_row *row)
{
	return !strcmp(row->mode, "trunk") || !strcmp(row->mode, "native-tagged") ||
	       !strcmp(row->mode, "native-untagged") || (!*row->mode && row->tag < 0);
}

bool clf_ovsdb_carries_all(const struct clf_ovsdb_row *row)
{
	bool known = is_trunk(row) || !*row->mode || !strcmp(row->mode, "access") || !strcmp(row->mode, "dot1q-tunnel");

	return !known || (is_trunk(row) && !set_size(row->trunks));
}

bool clf_ovsdb_carries(const struct clf_ovsdb_row *row, unsigned vlan)
{
	if (clf_ovsdb_carries_all(row))
		return true;
	if (!strcmp(row->mode, "trunk"))
		return in_trunks(row, vlan);
	return row->tag == (int) vlan || (is_trunk(row) && in_trunks(row, vlan));
}

bool clf_ovsdb_is_access(const struct clf_ovsdb_row *row, unsigned vlan, const char *owner)
{
	return row->tag == (int) vlan && !strcmp(row->mode, "access") && !set_size(row->trunks) &&
	       !strcmp(row->owner, owner);
}

const char *clf_ovsdb_row_text(const struct clf_ovsdb_row *row, char *buf, size_t size)
{
	char tag[16] = "no vlan";

	if (row->tag >= 0)
		snprintf(tag, sizeof tag, "vlan %d", row->tag);
	snprintf(buf, size, "%s, mode %s, %s, owner '%.47s'", tag, *row->mode ? row->mode : "unset",
		 clf_ovsdb_carries_all(row) ? "all vlans as trunk"
		 : set_size(row->trunks)    ? "a trunk list"
					    : "no trunk list",
		 row->owner);
	return buf;
}

json_t *clf_ovsdb_row_json(const struct clf_ovsdb_row *row)
{
	json_t *trunks = json_array();

	for (size_t i = 0; trunks && i < set_size(row->trunks); i++)
		if (json_array_append(trunks, (json_t *) set_get(row->trunks, i))) {
			json_decref(trunks);
			return NULL;
		}
	return json_pack("{s:o,s:s,s:o,s:s,s:i,s:s,s:s*}", "vlan", row->tag >= 0 ? json_integer(row->tag) : json_null(),
			 "mode", row->mode, "trunks", trunks, "owner", row->owner, "ofport", row->ofport, "link",
			 row->link_up ? "up" : "down", "error", *row->error ? row->error : NULL);
}
