/* SPDX-License-Identifier: GPL-2.0-or-later */
/* drv_opensm.c - PKeys by OpenSM: partitions.conf whole, a signal, and every table read back by a witness of its own.
 * The calls: opensm_sync.c, opensm_check.c. Here: start and end, ports of a node, and what the node says itself. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "fabric/opensm.h"

#define WITNESS_BYTES (256u << 20) /* one answer: 200,000 ports with long tables */

static void close_opensm(void *self)
{
	struct osm *o = self;

	if (!o)
		return;
	clf_coproc_stop(&o->co);
	osm_conf_done(o);
	free(o);
}

static int open_opensm(const struct clf_fabric_conf *conf, const struct clf_log *log, void **self,
		       struct clf_error *err)
{
	struct osm *o = calloc(1, sizeof *o);

	if (!o)
		return clf_fail(err, CLF_E_NOMEM, "out of memory");
	*o = (struct osm){ .conf = conf, .log = log, .co = CLF_COPROC_INIT(WITNESS_BYTES) };
	if (osm_conf_read(o, err)) {
		close_opensm(o);
		return -1;
	}
	*self = o;
	return 0;
}

static bool is_infiniband(const json_t *port)
{
	const char *layer = json_string_value(json_object_get(port, "link_layer"));

	return layer && !strcmp(layer, "InfiniBand");
}

/* before: ports of other nodes at the start of out. */
static int add_port(const struct osm *o, const char *node, const char *guid, struct clf_strv *out, size_t before,
		    struct clf_error *err)
{
	char text[20];
	uint64_t n;

	if (!guid || !clf_guid_parse(guid, strlen(guid), &n))
		return clf_fail(
			err, CLF_E_DENIED,
			"node '%s' has an InfiniBand port without a GUID; it cannot be closed in; see its report",
			node);
	if (clf_guids_has(&o->full_foreign, n))
		return clf_fail(err, CLF_E_DENIED,
				"node '%s' has the port 0x%016" PRIx64
				", which is in sm_ports or others; such a node runs no "
				"flagged jobs",
				node, n);
	snprintf(text, sizeof text, "0x%016" PRIx64, n);
	for (size_t i = before; i < out->n; i++)
		if (!strcmp(out->v[i], text)) /* nothing could be written for anybody while such a net is wanted */
			return clf_fail(err, CLF_E_DENIED, "node '%s' reports its port %s twice; see its report", node,
					text);
	return clf_strv_add(out, text, err);
}

/* All InfiniBand ports of a node, up or down: one left out would be a way around. */
static int ports(void *self, const char *node, const json_t *facts, struct clf_strv *out, struct clf_error *err)
{
	const struct osm *o = self;
	const json_t *list = o->ports ? json_object_get(o->ports, node) : NULL, *v;
	size_t before = out->n, i;
	bool fixed = list;

	if (!list)
		list = json_object_get(facts, "ib");
	if (!list && !facts)
		return clf_fail(err, CLF_E_NOTFOUND,
				"node '%s' never sent a report and is not in \"ports\"; start closfoldd on it", node);
	json_array_foreach(list, i, v)
	{
		const char *guid = fixed ? json_string_value(v) : json_string_value(json_object_get(v, "port_guid"));

		if (!fixed && !is_infiniband(v))
			continue;
		if (add_port(o, node, guid, out, before, err)) {
			while (out->n > before)
				free(out->v[--out->n]);
			return -1;
		}
	}
	if (out->n == before)
		return clf_fail(err, CLF_E_NOTFOUND, "node '%s' reports no InfiniBand port; see `ibstat` there", node);
	return 0;
}

enum sight { SIGHT_OK, SIGHT_UNKNOWN, SIGHT_WRONG };

/* One port of the report against the net: its key first and full, and no other full one. */
static enum sight see_port(const struct clf_net *net, const json_t *port, char *text, size_t size)
{
	const char *guid = json_string_value(json_object_get(port, "port_guid"));
	const json_t *keys = json_object_get(port, "pkeys"), *v;
	size_t i;

	if (!guid || !json_is_array(keys)) {
		snprintf(text, size, "a port of the node's report has no GUID or no table");
		return SIGHT_UNKNOWN;
	}
	if (!clf_strv_has(&net->ports, guid)) {
		snprintf(text, size, "port %s of the node is not in the network of the job", guid);
		return SIGHT_WRONG;
	}
	json_array_foreach(keys, i, v)
	{
		const char *s = json_is_string(v) ? json_string_value(v) : "";
		unsigned long long key;

		if (!clf_parse_hex64(s, strlen(s), &key) || key > 0xffff) {
			snprintf(text, size, "port %s: '%.20s' is no P_Key", guid, s);
			return SIGHT_UNKNOWN;
		}
		if (!i && key == (net->key | CLF_PKEY_FULL))
			continue;
		if (!i || key & CLF_PKEY_FULL) {
			snprintf(text, size,
				 "port %s holds 0x%04llx at index %zu; only 0x%04x, at index 0, may be full", guid, key,
				 i, net->key | CLF_PKEY_FULL);
			return SIGHT_WRONG;
		}
	}
	if (!json_array_size(keys)) {
		snprintf(text, size, "port %s holds no key", guid);
		return SIGHT_WRONG;
	}
	return SIGHT_OK;
}

/* With a fixed list of the node's ports all of them have to be in the report. */
static bool sees_all(const struct osm *o, const char *node, const json_t *facts, char *text, size_t size)
{
	const json_t *list = o->ports ? json_object_get(o->ports, node) : NULL, *ib = json_object_get(facts, "ib"), *v,
		     *p;
	size_t i, k;

	json_array_foreach(list, i, v)
	{
		bool found = false;

		json_array_foreach(ib, k, p)
		{
			const char *guid = json_string_value(json_object_get(p, "port_guid"));

			found |= guid && !strcasecmp(guid, json_string_value(v));
		}
		if (!found) {
			snprintf(text, size, "the node does not report its port %s", json_string_value(v));
			return false;
		}
	}
	return true;
}

static enum clf_attest attest(void *self, const struct clf_net *net, const char *node, const json_t *facts, char *text,
			      size_t size)
{
	const struct osm *o = self;
	const json_t *ib = json_object_get(facts, "ib"), *v;
	enum clf_attest result = CLF_ATTEST_OK;
	size_t i, n = 0;

	if (!json_is_array(ib)) {
		snprintf(text, size, "node '%s' does not report its InfiniBand ports", node);
		return CLF_ATTEST_UNATTESTED;
	}
	json_array_foreach(ib, i, v)
	{
		enum sight s;

		if (!is_infiniband(v))
			continue;
		s = see_port(net, v, text, size);
		if (s == SIGHT_WRONG)
			return CLF_ATTEST_MISMATCH;
		if (s == SIGHT_UNKNOWN)
			result = CLF_ATTEST_UNATTESTED;
		n++;
	}
	if (result != CLF_ATTEST_OK || !sees_all(o, node, facts, text, size))
		return CLF_ATTEST_UNATTESTED;
	if (!n) {
		snprintf(text, size, "node '%s' reports no InfiniBand port", node);
		return CLF_ATTEST_MISMATCH;
	}
	snprintf(text, size, "node '%s': %zu ports hold 0x%04x at index 0 and no other full key", node, n,
		 net->key | CLF_PKEY_FULL);
	return CLF_ATTEST_OK;
}

const struct clf_driver clf_drv_opensm = {
	.name = "opensm",
	.touches_devices = true,
	.illusions = (const char *const[]){ "default-full", "partitions-foreign", NULL },
	.open = open_opensm,
	.close = close_opensm,
	.ports = ports,
	.sync = osm_sync,
	.attest = attest,
	.audit = osm_audit,
	.check = osm_check,
	.read = osm_show,
	.plan = osm_plan,
};
