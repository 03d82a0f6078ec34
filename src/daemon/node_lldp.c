/* SPDX-License-Identifier: GPL-2.0-or-later */
/* node_lldp.c - neighbours as lldpd knows them. Source: lldpcli(8); json0 of lldpd 1.0.16, where every member is an
 * array. "age" counts from the last change of what the neighbour says, not from its last frame. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/proc.h"
#include "daemon/node_facts.h"
#include "daemon/node_report.h"

/* The value of the first of a list of objects: {"port":[{"id":[{"value":"swp1"}]}]}. */
static json_t *first(const json_t *o, const char *name)
{
	return json_array_get(json_object_get(o, name), 0);
}

/* "3 days, 01:02:03" in seconds; -1. */
static json_int_t seconds(const char *age)
{
	unsigned days, h, m, s;
	int end = 0;

	if (!age)
		return -1;
	if (sscanf(age, "%7u days, %2u:%2u:%2u%n", &days, &h, &m, &s, &end) != 4 || age[end])
		if (sscanf(age, "%7u day, %2u:%2u:%2u%n", &days, &h, &m, &s, &end) != 4 || age[end])
			return -1;
	return h < 24 && m < 60 && s < 60 ? ((days * INT64_C(24) + h) * 60 + m) * 60 + s : -1;
}

/* The one VLAN that is the port's own; 0: none, or several, or no number. */
static int pvid_of(const json_t *port_and_more)
{
	const json_t *list = json_object_get(port_and_more, "vlan"), *v;
	int found = 0;
	size_t i;

	json_array_foreach((json_t *) list, i, v)
	{
		const char *id = json_string_value(json_object_get(v, "vlan-id"));
		unsigned long long n;

		if (!json_is_true(json_object_get(v, "pvid")))
			continue;
		if (found || !id || !clf_parse_u64(id, strlen(id), &n) || !n || n > 4094)
			return 0;
		found = (int) n;
	}
	return found;
}

static int set_text(json_t *o, const char *name, const char *value)
{
	return value && *value && strlen(value) <= 255 ? json_object_set_new(o, name, json_string(value)) : 0;
}

/* Only a chassis that names itself by a MAC is comparable with a switch of the inventory. */
static json_t *neighbour(const json_t *interface)
{
	const json_t *chassis = first(first(interface, "chassis"), "id"), *port = first(first(interface, "port"), "id");
	const char *type = json_string_value(json_object_get(chassis, "type"));
	const char *mac = json_string_value(json_object_get(chassis, "value"));
	json_int_t age = seconds(json_string_value(json_object_get(interface, "age")));
	int pvid = pvid_of(interface);
	json_t *o = json_object();

	if (!type || strcmp(type, "mac") != 0 || !mac || !clf_mac_valid(mac))
		mac = NULL;
	if (set_text(o, "chassis", mac) || set_text(o, "port", json_string_value(json_object_get(port, "value"))) ||
	    (pvid && json_object_set_new(o, "pvid", json_integer(pvid))) ||
	    (age >= 0 && json_object_set_new(o, "age_s", json_integer(age)))) {
		json_decref(o);
		return NULL;
	}
	return o;
}

static int add(json_t *out, const json_t *interface, struct clf_error *err)
{
	const char *name = json_string_value(json_object_get(interface, "name"));
	const char *via = json_string_value(json_object_get(interface, "via"));
	json_t *list, *n;

	if (!name || !*name)
		return clf_fail(err, CLF_E_PARSE, "lldpcli: an interface without a name");
	/* It hears CDP and others as well, which say nothing of VLANs in our words. */
	if (!via || strcmp(via, "LLDP") != 0)
		return 0;
	list = json_object_get(out, name);
	if (!list) {
		list = json_array();
		if (json_object_set_new(out, name, list))
			return clf_fail(err, CLF_E_NOMEM, "out of memory");
	}
	if (json_array_size(list) >= CLF_REPORT_NEIGHBOURS)
		return 0;
	n = neighbour(interface);
	return !n || json_array_append_new(list, n) ? clf_fail(err, CLF_E_NOMEM, "out of memory") : 0;
}

json_t *clf_lldp_parse(const char *json0, struct clf_error *err)
{
	CLF_CLEANUP(clf_text_done) struct clf_text text = { 0 };
	CLF_CLEANUP(clf_json_doc_done) struct clf_json_doc doc = { 0 };
	json_auto_t *out = json_object();
	const json_t *all, *list, *interface;
	size_t i;

	if (!out) {
		clf_fail(err, CLF_E_NOMEM, "out of memory");
		return NULL;
	}
	if (clf_text_from_string("lldpcli", json0, &text, err) || clf_json_load_text(&text, &doc, err))
		return NULL;
	all = json_array_get(json_object_get(doc.root, "lldp"), 0);
	list = json_object_get(all, "interface");
	if (!json_is_object(all) || (list && !json_is_array(list))) {
		clf_fail(err, CLF_E_PARSE, "lldpcli: neither neighbours nor none: is it json0?");
		return NULL;
	}
	json_array_foreach((json_t *) list, i, interface) if (add(out, interface, err)) return NULL;
	return json_incref(out);
}

json_t *clf_lldp_read(const char *socket, struct clf_error *err)
{
	static const char *const places[] = { "/usr/sbin/lldpcli", "/usr/bin/lldpcli" };
	const char *program = access(places[0], X_OK) ? places[1] : places[0];
	const char *argv[] = { program, "-f", "json0", "show", "neighbors", "details", NULL };
	const char *with_socket[] = { program, "-u", socket, "-f", "json0", "show", "neighbors", "details", NULL };
	CLF_CLEANUP(clf_buf_done) struct clf_buf out = CLF_BUF_INIT(CLF_LLDP_MAX);
	struct clf_proc_result res;

	if (access(program, X_OK)) {
		clf_fail(err, CLF_E_NOTFOUND, "no lldpcli on this host: install lldpd");
		return NULL;
	}
	if (clf_proc_run(*socket ? with_socket : argv, NULL, CLF_LLDP_MS, &out, NULL, &res, err))
		return NULL;
	if (res.status || !out.len) {
		clf_fail(err, CLF_E_NOTFOUND, "lldpcli ended with status %d: is lldpd running?", res.status);
		return NULL;
	}
	if (memchr(out.data, 0, out.len)) {
		clf_fail(err, CLF_E_PARSE, "lldpcli printed a NUL");
		return NULL;
	}
	return clf_lldp_parse(out.data, err);
}
