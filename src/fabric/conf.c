/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/conf.h"

#include <stdio.h>
#include <string.h>

#include "base/hostlist.h"
#include "fabric/driver.h"

static const char *const rungs[] = { "try", "require", "off" };

/* Keys a driver can be given: PKeys without the membership bit, VLAN ids. */
static const struct {
	const char *driver;
	uint16_t min, max;
	const char *what;
} ranges[] = {
	{ "opensm", 0x0002, 0x7ffe, "PKeys" },
	{ "ovsdb", 2, 4094, "VLAN ids" },
	{ "null", 1, 0x7ffe, "keys" },
};

struct at {
	const struct clf_json_doc *doc;
	char pointer[60];
};

static int bad(const struct at *at, const char *key, struct clf_error *err, const char *text, const char *value)
{
	char pointer[100];

	snprintf(pointer, sizeof pointer, "%s/%s", at->pointer, key);
	return clf_json_fail(at->doc, pointer, err, text, value);
}

static bool word(const char *s, size_t max)
{
	size_t n = strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-");

	return n && n < max && !s[n];
}

static int read_number(const struct at *at, const char *key, const json_t *j, uint32_t min, uint32_t max, uint32_t *out,
		       struct clf_error *err)
{
	char text[80];

	if (!j)
		return 0;
	snprintf(text, sizeof text, "'%s' must be from %u to %u", key, min, max);
	if (json_integer_value(j) < min || json_integer_value(j) > max)
		return bad(at, key, err, "%s", text);
	*out = (uint32_t) json_integer_value(j);
	return 0;
}

static int read_rung(const struct at *at, const char *key, const json_t *j, enum clf_rung *out, struct clf_error *err)
{
	if (!j)
		return 0;
	for (size_t i = 0; i < sizeof rungs / sizeof *rungs; i++)
		if (!strcmp(json_string_value(j), rungs[i])) {
			*out = (enum clf_rung) i;
			return 0;
		}
	return bad(at, key, err, "'%.40s' is none of try, require, off", json_string_value(j));
}

static bool key_number(const char *s, size_t len, unsigned long long *out)
{
	return len > 2 && s[0] == '0' && s[1] == 'x' ? clf_parse_hex64(s, len, out) : clf_parse_u64(s, len, out);
}

static int read_keys(const struct at *at, const json_t *j, struct clf_fabric_conf *f, struct clf_error *err)
{
	const char *s = json_string_value(j), *dash = strchr(s, '-');
	unsigned long long a, b;
	size_t i = 0;
	char text[120];

	while (i < sizeof ranges / sizeof *ranges && strcmp(ranges[i].driver, f->driver) != 0)
		i++;
	if (i == sizeof ranges / sizeof *ranges)
		return bad(at, "driver", err, "driver '%.16s' has no range of keys", f->driver);
	if (!dash || !key_number(s, (size_t) (dash - s), &a) || !key_number(dash + 1, strlen(dash + 1), &b))
		return bad(at, "keys", err, "'%.40s' is no range like \"0x0100-0x01ff\"", s);
	snprintf(text, sizeof text, "%s go from %u to %u, the lower one first", ranges[i].what, ranges[i].min,
		 ranges[i].max);
	if (a < ranges[i].min || b > ranges[i].max || a > b)
		return bad(at, "keys", err, "%s", text);
	f->key_min = (uint16_t) a;
	f->key_max = (uint16_t) b;
	return 0;
}

/* Variables for steps: a name a shell takes, a value on one line. */
static int read_env(const struct at *at, json_t *env, struct clf_fabric_conf *f, struct clf_error *err)
{
	const char *name;
	json_t *value;

	f->env = env;
	json_object_foreach(env, name, value)
	{
		const char *v = json_string_value(value);
		size_t n = strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_");

		if (!n || name[n] || (*name >= '0' && *name <= '9') || n > 64)
			return bad(at, "env", err, "'%.64s' is no name of a variable", name);
		if (!v || strlen(v) > 256 || strpbrk(v, "\n\r"))
			return bad(at, "env", err, "the value of '%.64s' is no line of at most 256 characters", name);
	}
	return 0;
}

static int any_host(void *arg, const char *name, size_t len, struct clf_error *err)
{
	*(bool *) arg = true;
	return 0;
}

static int read_fabric(struct clf_fabrics *set, json_t *obj, struct clf_error *err)
{
	struct clf_fabric_conf *f = &set->v[set->n];
	json_t *name, *driver, *keys, *cool, *timeout, *attest, *probe, *nodes, *env, *sections[3];
	struct at at = { .doc = &set->doc };
	struct clf_error why = { 0 };
	bool any = false;
	const struct clf_json_key table[] = {
		{ "name", JSON_STRING, true, &name },
		{ "driver", JSON_STRING, true, &driver },
		{ "keys", JSON_STRING, true, &keys },
		{ "cool_down_s", JSON_INTEGER, false, &cool },
		{ "timeout_ms", JSON_INTEGER, false, &timeout },
		{ "attest", JSON_STRING, false, &attest },
		{ "probe", JSON_STRING, false, &probe },
		{ "nodes", JSON_STRING, false, &nodes },
		{ "env", JSON_OBJECT, false, &env },
		{ "opensm", JSON_OBJECT, false, &sections[0] },
		{ "ovsdb", JSON_OBJECT, false, &sections[1] },
		{ "null", JSON_OBJECT, false, &sections[2] },
	};

	snprintf(at.pointer, sizeof at.pointer, "/fabrics/%zu", set->n);
	if (clf_json_object(&set->doc, obj, at.pointer, table, sizeof table / sizeof *table, err))
		return -1;
	if (!word(json_string_value(name), sizeof f->name))
		return bad(&at, "name", err, "'%.40s' is no word of at most 32 characters", json_string_value(name));
	for (size_t i = 0; i < set->n; i++)
		if (!strcmp(set->v[i].name, json_string_value(name)))
			return bad(&at, "name", err, "fabric '%s' is there twice", json_string_value(name));
	if (!clf_driver_find(json_string_value(driver)))
		return bad(&at, "driver", err, "no driver '%.40s'", json_string_value(driver));
	*f = (struct clf_fabric_conf){ .cool_down_s = 60, .timeout_ms = 8000, .doc = &set->doc };
	strcpy(f->name, json_string_value(name));
	strcpy(f->driver, json_string_value(driver));
	f->section = json_object_get(obj, f->driver);
	snprintf(f->pointer, sizeof f->pointer, "%s/%s", at.pointer, json_string_value(driver));
	for (size_t i = 0; i < 3; i++)
		if (sections[i] && sections[i] != f->section)
			return clf_json_fail(&set->doc, at.pointer, err,
					     "fabric '%s' has the driver %s and another's section", f->name, f->driver);
	if (read_keys(&at, keys, f, err) || read_number(&at, "cool_down_s", cool, 0, 86400, &f->cool_down_s, err) ||
	    read_number(&at, "timeout_ms", timeout, 100, 600000, &f->timeout_ms, err) ||
	    read_rung(&at, "attest", attest, &f->attest, err) || read_rung(&at, "probe", probe, &f->probe, err))
		return -1;
	f->nodes = json_string_value(nodes);
	if (f->nodes && clf_hostlist_each(f->nodes, CLF_FABRIC_NODES_MAX, any_host, &any, &why))
		return bad(&at, "nodes", err, "%s", why.text);
	if (f->nodes && !any)
		return bad(&at, "nodes", err, "'%s' names no node; leave it out for all", "nodes");
	if (read_env(&at, env, f, err))
		return -1;
	set->n++;
	return 0;
}

int clf_fabrics_load(const char *path, struct clf_fabrics **out, struct clf_error *err)
{
	CLF_CLEANUP(clf_fabrics_destroyp) struct clf_fabrics *set = calloc(1, sizeof *set);
	json_t *format, *list, *v;
	const struct clf_json_key table[] = {
		{ "format", JSON_STRING, true, &format },
		{ "fabrics", JSON_ARRAY, true, &list },
	};
	size_t i;

	if (!set)
		return clf_fail(err, CLF_E_NOMEM, "out of memory");
	if (clf_json_load_file(path, CLF_FABRICS_MAX_BYTES, &set->doc, err) ||
	    clf_json_object(&set->doc, set->doc.root, "", table, 2, err))
		return -1;
	if (strcmp(json_string_value(format), CLF_FABRICS_FORMAT) != 0)
		return clf_json_fail(&set->doc, "/format", err, "format '%.40s' is not " CLF_FABRICS_FORMAT,
				     json_string_value(format));
	if (!json_array_size(list) || json_array_size(list) > CLF_FABRICS_MAX)
		return clf_json_fail(&set->doc, "/fabrics", err, "from 1 to %u fabrics", CLF_FABRICS_MAX);
	json_array_foreach(list, i, v) if (read_fabric(set, v, err)) return -1;
	*out = CLF_STEAL(set);
	return 0;
}

void clf_fabrics_destroy(struct clf_fabrics *f)
{
	if (!f)
		return;
	clf_json_doc_done(&f->doc);
	free(f);
}
