/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/node_report.h"

#include <stdio.h>
#include <string.h>

#include "base/strmap.h"

static int bad(struct clf_error *err, const char *path, const char *want)
{
	return clf_fail(err, CLF_E_PARSE, "report: '%s' is not %s", path, want);
}

bool clf_mac_valid(const char *mac)
{
	if (strlen(mac) != 17)
		return false;
	for (int i = 0; i < 17; i++)
		if (i % 3 == 2 ? mac[i] != ':' : !strchr("0123456789abcdef", mac[i]))
			return false;
	return true;
}

static bool hex_valid(const char *s, size_t digits)
{
	return strlen(s) == digits + 2 && s[0] == '0' && s[1] == 'x' && strspn(s + 2, "0123456789abcdef") == digits;
}

/* Printable, without blanks, 1 to max bytes. */
static bool word_valid(const char *s, size_t max)
{
	size_t n = strlen(s);

	for (size_t i = 0; i < n; i++)
		if ((unsigned char) s[i] <= ' ' || s[i] == 0x7f)
			return false;
	return n && n <= max;
}

enum form { F_TEXT, F_WORD, F_MAC, F_GUID, F_BOOL, F_INT, F_OBJECT, F_ARRAY };
struct field {
	const char *name;
	enum form form;
	bool required;
	json_int_t min, max; /* F_INT: value; F_TEXT, F_WORD: max bytes; F_ARRAY: max entries */
};

static bool fits(const struct field *f, const json_t *v)
{
	const char *s = json_string_value(v);
	json_int_t n = json_integer_value(v);

	switch (f->form) {
	case F_TEXT:
		return s && json_string_length(v) <= (size_t) f->max;
	case F_WORD:
		return s && word_valid(s, (size_t) f->max);
	case F_MAC:
		return s && clf_mac_valid(s);
	case F_GUID:
		return s && hex_valid(s, 16);
	case F_BOOL:
		return json_is_boolean(v);
	case F_INT:
		return json_is_integer(v) && n >= f->min && n <= f->max;
	case F_OBJECT:
		return json_is_object(v);
	case F_ARRAY:
		return json_is_array(v) && json_array_size(v) <= (size_t) f->max;
	}
	return false;
}

static int check_fields(const json_t *o, const char *path, const struct field *f, size_t n, struct clf_error *err)
{
	static const char *const wants[] = { [F_TEXT] = "a text of bounded length",
					     [F_WORD] = "a word",
					     [F_MAC] = "an address like 02:00:00:00:00:01",
					     [F_GUID] = "0x and 16 hex digits",
					     [F_BOOL] = "true or false",
					     [F_INT] = "an integer in its range",
					     [F_OBJECT] = "an object",
					     [F_ARRAY] = "an array of bounded length" };
	char name[96];

	if (!json_is_object(o))
		return bad(err, path, "an object");
	for (size_t i = 0; i < n; i++) {
		const json_t *v = json_object_get(o, f[i].name);

		snprintf(name, sizeof name, "%s%s%s", path, *path ? "." : "", f[i].name);
		if (!v && f[i].required)
			return bad(err, name, "there");
		if (v && !fits(&f[i], v))
			return bad(err, name, wants[f[i].form]);
	}
	return 0;
}
#define CHECK(o, path, fields, err) check_fields(o, path, fields, sizeof fields / sizeof *fields, err)

static int once(struct clf_strmap *seen, const char *name, const char *path, struct clf_error *err)
{
	struct clf_error why = { 0 };

	if (!clf_strmap_add(seen, name, 0, &why))
		return 0;
	if (why.code == CLF_E_CONFLICT)
		return clf_fail(err, CLF_E_PARSE, "report: '%.64s' is there twice in '%s'", name, path);
	return clf_fail(err, why.code, "%s", why.text);
}

static int check_pkeys(const json_t *pkeys, struct clf_error *err)
{
	size_t i;
	json_t *v;

	json_array_foreach((json_t *) pkeys, i, v)
	{
		const char *s = json_string_value(v);

		if (!s || !hex_valid(s, 4))
			return bad(err, "ib.pkeys", "a list of 0x and 4 hex digits");
	}
	return 0;
}

static int check_ib(const json_t *list, struct clf_strmap *seen, struct clf_error *err)
{
	static const struct field fields[] = {
		{ "device", F_WORD, true, 0, 63 },
		{ "port", F_INT, true, 1, 255 },
		{ "link_layer", F_TEXT, false, 0, 63 },
		{ "state", F_TEXT, false, 0, 63 },
		{ "rate", F_TEXT, false, 0, 63 },
		{ "port_guid", F_GUID, false, 0, 0 },
		{ "node_guid", F_GUID, false, 0, 0 },
		{ "sys_image_guid", F_GUID, false, 0, 0 },
		{ "pkeys", F_ARRAY, false, 0, CLF_REPORT_PKEYS },
	};
	size_t i;
	json_t *p;

	json_array_foreach((json_t *) list, i, p)
	{
		char name[96];

		if (CHECK(p, "ib", fields, err))
			return -1;
		snprintf(name, sizeof name, "%s/%d", json_string_value(json_object_get(p, "device")),
			 (int) json_integer_value(json_object_get(p, "port")));
		if (once(seen, name, "ib", err) || check_pkeys(json_object_get(p, "pkeys"), err))
			return -1;
	}
	return 0;
}

static int check_lldp(const json_t *list, struct clf_error *err)
{
	static const struct field fields[] = {
		{ "chassis", F_TEXT, false, 0, 255 },
		{ "port", F_TEXT, false, 0, 255 },
		{ "pvid", F_INT, false, 1, 4094 },
		{ "age_s", F_INT, false, 0, INT64_C(1) << 40 },
	};
	size_t i;
	json_t *v;

	json_array_foreach((json_t *) list, i, v) if (CHECK(v, "net.lldp", fields, err)) return -1;
	return 0;
}

static int check_net(const json_t *list, struct clf_strmap *seen, struct clf_error *err)
{
	static const struct field fields[] = {
		{ "name", F_WORD, true, 0, 63 },
		{ "mac", F_MAC, false, 0, 0 },
		{ "link", F_BOOL, false, 0, 0 },
		{ "lldp", F_ARRAY, false, 0, CLF_REPORT_NEIGHBOURS },
	};
	size_t i;
	json_t *n;

	json_array_foreach((json_t *) list, i, n)
	{
		if (CHECK(n, "net", fields, err) ||
		    once(seen, json_string_value(json_object_get(n, "name")), "net", err) ||
		    check_lldp(json_object_get(n, "lldp"), err))
			return -1;
	}
	return 0;
}

int clf_node_report_check(const json_t *r, const char *node, struct clf_error *err)
{
	static const struct field top[] = {
		{ "format", F_WORD, true, 0, 63 },
		{ "node", F_WORD, true, 0, 255 },
		{ "boot_id", F_WORD, false, 0, 63 },
		{ "time_ms", F_INT, false, 0, INT64_C(1) << 53 },
		{ "ib", F_ARRAY, false, 0, CLF_REPORT_PORTS },
		{ "net", F_ARRAY, false, 0, CLF_REPORT_PORTS },
		{ "clock", F_OBJECT, false, 0, 0 },
	};
	static const struct field clock[] = { { "synchronised", F_BOOL, false, 0, 0 } };
	CLF_CLEANUP(clf_strmap_done) struct clf_strmap ib = { .copy = true }, net = { .copy = true };

	if (CHECK(r, "", top, err))
		return -1;
	if (strcmp(json_string_value(json_object_get(r, "format")), CLF_REPORT_FORMAT) != 0)
		return bad(err, "format", CLF_REPORT_FORMAT);
	if (strcmp(json_string_value(json_object_get(r, "node")), node) != 0)
		return clf_fail(err, CLF_E_PARSE, "report of node '%.64s' from node '%.64s'",
				json_string_value(json_object_get(r, "node")), node);
	if (json_object_get(r, "clock") && CHECK(json_object_get(r, "clock"), "clock", clock, err))
		return -1;
	return check_ib(json_object_get(r, "ib"), &ib, err) || check_net(json_object_get(r, "net"), &net, err) ? -1 : 0;
}

json_t *clf_node_report_gist(const json_t *report)
{
	json_t *gist = json_deep_copy(report);
	size_t i, k;
	json_t *nic, *neighbour;

	json_object_del(gist, "time_ms");
	json_object_del(gist, "clock");
	json_array_foreach(json_object_get(gist, "net"), i, nic)
		json_array_foreach(json_object_get(nic, "lldp"), k, neighbour) json_object_del(neighbour, "age_s");
	return gist;
}
