/* SPDX-License-Identifier: GPL-2.0-or-later */
/* opensm_conf.c - the section "opensm" of a fabric in fabrics.json. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "fabric/opensm.h"

#define COPIES_MAX 8
#define ARGV_MAX   64

static int bad(const struct osm *o, const char *key, struct clf_error *err, const char *text, const char *value)
{
	char pointer[260];

	snprintf(pointer, sizeof pointer, "%s/%s", o->conf->pointer, key);
	return clf_json_fail(o->conf->doc, pointer, err, text, value);
}

static int read_path(const struct osm *o, const char *key, const json_t *j, const char **out, struct clf_error *err)
{
	if (!j)
		return 0;
	*out = json_string_value(j);
	return **out == '/' ? 0 : bad(o, key, err, "'%.60s' is not an absolute path", *out);
}

static int read_guids(const struct osm *o, const char *key, const json_t *j, struct clf_guids *out,
		      struct clf_error *err)
{
	size_t i;
	json_t *v;

	json_array_foreach(j, i, v)
	{
		char at[120];
		uint64_t guid;

		snprintf(at, sizeof at, "%s/%zu", key, i);
		if (!json_is_string(v) || !clf_guid_parse(json_string_value(v), json_string_length(v), &guid))
			return bad(o, at, err, "%s", "must be a port GUID like \"0x0002c9030000abcd\"");
		if (clf_guids_add(out, guid, err))
			return -1;
	}
	clf_guids_sort(out);
	return 0;
}

static int read_argv(const struct osm *o, const char *key, const json_t *j, const char ***out, struct clf_error *err)
{
	CLF_AUTO_FREE const char **v = NULL;
	size_t i, n = json_array_size(j);
	json_t *s;

	if (!n || n > ARGV_MAX)
		return bad(o, key, err, "%s", "must be a program and its arguments");
	v = calloc(n + 1, sizeof *v);
	if (!v)
		return clf_fail(err, CLF_E_NOMEM, "out of memory");
	json_array_foreach(j, i, s)
	{
		if (!json_is_string(s))
			return bad(o, key, err, "%s", "must be a list of strings");
		v[i] = json_string_value(s);
	}
	if (v[0][0] != '/')
		return bad(o, key, err, "'%.60s' is not an absolute path", v[0]);
	*out = CLF_STEAL(v);
	return 0;
}

static int read_copy(struct osm *o, json_t *j, struct clf_error *err)
{
	struct osm_copy *c = &o->copies[o->ncopies];
	json_t *name, *publish;
	const struct clf_json_key table[] = {
		{ "name", JSON_STRING, true, &name },
		{ "publish", JSON_ARRAY, true, &publish },
	};
	char pointer[120], key[40];

	snprintf(key, sizeof key, "copies/%zu", o->ncopies);
	snprintf(pointer, sizeof pointer, "%s/%s", o->conf->pointer, key);
	if (clf_json_object(o->conf->doc, j, pointer, table, 2, err))
		return -1;
	snprintf(key, sizeof key, "copies/%zu/publish", o->ncopies);
	c->name = json_string_value(name);
	if (read_argv(o, key, publish, &c->publish, err))
		return -1;
	o->ncopies++;
	return 0;
}

static int read_copies(struct osm *o, const json_t *list, struct clf_error *err)
{
	size_t i;
	json_t *v;

	if (json_array_size(list) > COPIES_MAX)
		return bad(o, "copies", err, "%s", "more than 8 copies");
	o->copies = calloc(COPIES_MAX, sizeof *o->copies);
	if (!o->copies)
		return clf_fail(err, CLF_E_NOMEM, "out of memory");
	json_array_foreach(list, i, v) if (read_copy(o, v, err)) return -1;
	return 0;
}

/* A GUID of two nodes would let the end of one's job cut the other's. */
static int check_ports(const struct osm *o, json_t *map, struct clf_error *err)
{
	struct clf_guids all = { 0 };
	size_t total = 0, i;
	const char *node;
	json_t *list, *v;
	int rc = 0;

	json_object_foreach(map, node, list)
	{
		char key[160];

		snprintf(key, sizeof key, "ports/%.100s", node);
		if (!json_is_array(list) || !json_array_size(list))
			rc = bad(o, key, err, "%s", "must be a list of port GUIDs");
		json_array_foreach(list, i, v)
		{
			uint64_t guid;

			if (!json_is_string(v) || !clf_guid_parse(json_string_value(v), json_string_length(v), &guid))
				rc = bad(o, key, err, "%s", "must be a list of port GUIDs like \"0x0002c9030000abcd\"");
			else if (clf_guids_add(&all, guid, err))
				rc = -1;
			total++;
		}
		if (rc)
			break;
	}
	clf_guids_sort(&all);
	if (!rc && all.n != total)
		rc = bad(o, "ports", err, "%s", "a port GUID is there twice; a port belongs to one node");
	clf_guids_done(&all);
	return rc;
}

static int read_open_key(struct osm *o, const json_t *j, struct clf_error *err)
{
	const char *s = j ? json_string_value(j) : "0x0001";
	unsigned long long key;

	if (strlen(s) < 3 || memcmp(s, "0x", 2) != 0 || !clf_parse_hex64(s, strlen(s), &key) || !key ||
	    key >= CLF_PKEY_DEFAULT)
		return bad(o, "open_key", err, "'%.20s' is no PKey from 0x0001 to 0x7ffe", s);
	if (key >= o->conf->key_min && key <= o->conf->key_max)
		return bad(o, "open_key", err,
			   "'%.20s' is one of the fabric's \"keys\"; jobs would get the ordinary network", s);
	o->rules = (struct clf_partitions_rules){ .key_min = o->conf->key_min,
						  .key_max = o->conf->key_max,
						  .open_key = (uint16_t) key,
						  .full_foreign = &o->full_foreign };
	return 0;
}

static int join_full_foreign(struct osm *o, struct clf_error *err)
{
	for (size_t i = 0; i < o->sm_ports.n; i++)
		if (clf_guids_add(&o->full_foreign, o->sm_ports.v[i], err))
			return -1;
	for (size_t i = 0; i < o->others.n; i++)
		if (clf_guids_add(&o->full_foreign, o->others.v[i], err))
			return -1;
	clf_guids_sort(&o->full_foreign);
	return 0;
}

static int default_witness(struct osm *o, struct clf_error *err)
{
	o->witness = calloc(2, sizeof *o->witness);
	if (!o->witness)
		return clf_fail(err, CLF_E_NOMEM, "out of memory");
	o->witness[0] = CLF_PKGLIBEXECDIR "/closfold-ibwitness";
	return 0;
}

/* UFM writes partitions.conf itself, and again over what anybody else wrote. */
static int check_ufm(const struct osm *o, struct clf_error *err)
{
	char path[4096];
	struct stat st;

	snprintf(path, sizeof path, "%s.user_ext", o->partitions);
	if (!stat(path, &st))
		return clf_fail(err, CLF_E_DENIED, "'%s' belongs to UFM ('%s' is there), which would overwrite it",
				o->partitions, path);
	return 0;
}

int osm_conf_read(struct osm *o, struct clf_error *err)
{
	json_t *partitions, *pid_file, *process, *sm_ports, *open_key, *others, *include, *witness, *copies, *table_max;
	const struct clf_json_key table[] = {
		{ "partitions", JSON_STRING, true, &partitions }, { "pid_file", JSON_STRING, false, &pid_file },
		{ "process", JSON_STRING, false, &process },      { "sm_ports", JSON_ARRAY, true, &sm_ports },
		{ "open_key", JSON_STRING, false, &open_key },    { "others", JSON_ARRAY, false, &others },
		{ "include", JSON_STRING, false, &include },      { "ports", JSON_OBJECT, false, &o->ports },
		{ "witness", JSON_ARRAY, false, &witness },       { "copies", JSON_ARRAY, false, &copies },
		{ "table_max", JSON_INTEGER, false, &table_max },
	};

	if (!o->conf->section)
		return clf_fail(err, CLF_E_PARSE, "fabric '%s' has the driver opensm and no section \"opensm\"",
				o->conf->name);
	if (clf_json_object(o->conf->doc, o->conf->section, o->conf->pointer, table, sizeof table / sizeof *table, err))
		return -1;
	o->process = process ? json_string_value(process) : "opensm";
	if (!*o->process || strlen(o->process) > 15)
		return bad(o, "process", err, "'%.40s' is no name of a process (at most 15 characters)", o->process);
	if (!json_array_size(sm_ports))
		return bad(o, "sm_ports", err, "%s", "must name the port of each host that may become subnet manager");
	if (table_max && (json_integer_value(table_max) < 2 || json_integer_value(table_max) > 65535))
		return bad(o, "table_max", err, "%s", "must be from 2 to 65535");
	o->table_max = (unsigned) json_integer_value(table_max);
	if (read_path(o, "partitions", partitions, &o->partitions, err) ||
	    read_path(o, "pid_file", pid_file, &o->pid_file, err) ||
	    read_path(o, "include", include, &o->include, err) ||
	    read_guids(o, "sm_ports", sm_ports, &o->sm_ports, err) ||
	    read_guids(o, "others", others, &o->others, err) || read_open_key(o, open_key, err) ||
	    join_full_foreign(o, err) || check_ports(o, o->ports, err))
		return -1;
	if ((witness ? read_argv(o, "witness", witness, &o->witness, err) : default_witness(o, err)) ||
	    read_copies(o, copies, err))
		return -1;
	return check_ufm(o, err);
}

void osm_conf_done(struct osm *o)
{
	clf_guids_done(&o->sm_ports);
	clf_guids_done(&o->others);
	clf_guids_done(&o->full_foreign);
	free(o->witness);
	for (size_t i = 0; i < o->ncopies; i++)
		free(o->copies[i].publish);
	free(o->copies);
}
