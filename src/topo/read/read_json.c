/* SPDX-License-Identifier: GPL-2.0-or-later */
/* read_json.c - closfold's own format, "closfold-topo/1" (docs/formats/topology-json.md).
 *
 * The model is rebuilt through the builder, so a file edited by hand is held to the same rules as any other source. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/strmap.h"
#include "topo/read/reader.h"
#include "topo/topo_builder.h"

#define FORMAT "closfold-topo/1"

struct load {
	struct clf_json_doc doc;
	struct clf_topo_builder *b;
	struct clf_strmap groups; /* name -> builder id = index in "groups"; keys live in the document */
	struct clf_error *err;
};

static void load_done(struct load *l)
{
	clf_strmap_done(&l->groups);
	clf_topo_builder_destroy(l->b);
	clf_json_doc_done(&l->doc);
}

/* CLF_E_PARSE at array[i]/key (key may be NULL). */
static int wrong(struct load *l, const char *array, size_t i, const char *key, const char *fmt, ...) CLF_PRINTF(5, 6);

static int wrong(struct load *l, const char *array, size_t i, const char *key, const char *fmt, ...)
{
	char ptr[96], text[400];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	snprintf(ptr, sizeof ptr, "/%s/%zu%s%s", array, i, key ? "/" : "", key ? key : "");
	return clf_json_fail(&l->doc, ptr, l->err, "%s", text);
}

/* The builder refused element i: its words, at our place. */
static int refused(struct load *l, const char *array, size_t i, const struct clf_error *why)
{
	if (why->code == CLF_E_NOMEM || why->code == CLF_E_INTERNAL)
		return clf_fail(l->err, why->code, "%s", why->text);
	return wrong(l, array, i, NULL, "%s", why->text);
}

static int check_object(struct load *l, const char *array, size_t i, json_t *o, const struct clf_json_key *keys,
			size_t n)
{
	char ptr[64];

	if (!json_is_object(o))
		return wrong(l, array, i, NULL, "want an object");
	snprintf(ptr, sizeof ptr, "/%s/%zu", array, i);
	return clf_json_object(&l->doc, o, ptr, keys, n, l->err);
}

static int find_group(struct load *l, const char *array, size_t i, const char *key, json_t *name, uint32_t *id)
{
	if (clf_strmap_find(&l->groups, json_string_value(name), id))
		return 0;
	return wrong(l, array, i, key, "no group '%s'%s", json_string_value(name),
		     !strcmp(array, "groups") ? " above this one; parents come first" : "");
}

static int read_groups(struct load *l, json_t *array)
{
	json_t *o, *name, *level, *parent;
	size_t i;
	const struct clf_json_key keys[] = {
		{ "name", JSON_STRING, true, &name },
		{ "level", JSON_INTEGER, true, &level },
		{ "parent", JSON_STRING, false, &parent },
	};

	clf_topo_builder_given(l->b);
	json_array_foreach(array, i, o)
	{
		struct clf_error why = { 0 };
		uint32_t id, up = CLF_NONE;

		if (check_object(l, "groups", i, o, keys, 3))
			return -1;
		if (parent && find_group(l, "groups", i, "parent", parent, &up))
			return -1;
		if (up != CLF_NONE &&
		    json_integer_value(level) !=
			    json_integer_value(json_object_get(json_array_get(array, up), "level")) - 1)
			return wrong(l, "groups", i, "level", "level %lld, want one less than that of its parent '%s'",
				     (long long) json_integer_value(level), json_string_value(parent));
		if (json_integer_value(level) < 1 || json_integer_value(level) > CLF_MAX_LEVELS)
			return wrong(l, "groups", i, "level", "level %lld, want 1 to %d",
				     (long long) json_integer_value(level), CLF_MAX_LEVELS);
		if (clf_topo_builder_group(l->b, json_string_value(name), &id, &why))
			return refused(l, "groups", i, &why);
		if (up != CLF_NONE && clf_topo_builder_parent(l->b, id, up, l->err))
			return -1;
		if (clf_strmap_add(&l->groups, json_string_value(name), id, l->err))
			return -1;
	}
	return 0;
}

/* Every group has a child, so that the levels written are those that the tree has. */
static int check_groups(struct load *l, json_t *groups, json_t *nodes)
{
	size_t i, n = json_array_size(groups);
	CLF_AUTO_FREE bool *has = calloc(n + 1, sizeof *has);
	json_t *o;
	uint32_t g;

	if (!has)
		return clf_fail(l->err, CLF_E_NOMEM, "out of memory");
	json_array_foreach(groups, i,
			   o) if (json_object_get(o, "parent") &&
				  clf_strmap_find(&l->groups, json_string_value(json_object_get(o, "parent")), &g))
		has[g] = true;
	json_array_foreach(nodes, i, o) if (json_object_get(o, "leaf") &&
					    clf_strmap_find(&l->groups, json_string_value(json_object_get(o, "leaf")),
							    &g)) has[g] = true;
	for (i = 0; i < n; i++)
		if (!has[i])
			return wrong(l, "groups", i, NULL, "group without a node or a group below it");
	return 0;
}

static int read_guid(struct load *l, const char *array, size_t i, const char *key, json_t *j, uint64_t *out)
{
	unsigned long long v = 0;

	if (j && !clf_parse_hex64(json_string_value(j), json_string_length(j), &v))
		return wrong(l, array, i, key, "'%.40s', want a GUID like '0x0002c903007b78b0'", json_string_value(j));
	*out = v;
	return 0;
}

static int read_switches(struct load *l, json_t *array)
{
	json_t *o, *name, *kind, *guid, *system, *group, *rail;
	size_t i;
	const struct clf_json_key keys[] = {
		{ "name", JSON_STRING, true, &name },    { "kind", JSON_STRING, false, &kind },
		{ "guid", JSON_STRING, false, &guid },   { "system", JSON_STRING, false, &system },
		{ "group", JSON_STRING, false, &group }, { "rail", JSON_INTEGER, false, &rail },
	};

	json_array_foreach(array, i, o)
	{
		struct clf_topo_switch sw = { .group = CLF_NONE, .rail = CLF_NONE };
		struct clf_error why = { 0 };
		uint32_t id;
		int k = 0;

		if (check_object(l, "switches", i, o, keys, 6))
			return -1;
		while (kind && k <= CLF_ROUTER && strcmp(json_string_value(kind), clf_switch_kind_name(k)))
			k++;
		if (k > CLF_ROUTER)
			return wrong(l, "switches", i, "kind", "kind '%.40s', want switch, chip or router",
				     json_string_value(kind));
		if (read_guid(l, "switches", i, "guid", guid, &sw.guid) ||
		    read_guid(l, "switches", i, "system", system, &sw.system))
			return -1;
		if (group && find_group(l, "switches", i, "group", group, &sw.group))
			return -1;
		if (rail && (json_integer_value(rail) < 0 || json_integer_value(rail) >= CLF_MAX_RAILS))
			return wrong(l, "switches", i, "rail", "rail %lld, want 0 to %d",
				     (long long) json_integer_value(rail), CLF_MAX_RAILS - 1);
		sw.name = json_string_value(name);
		sw.kind = k;
		if (rail)
			sw.rail = json_integer_value(rail);
		if (clf_topo_builder_switch(l->b, &sw, &id, &why))
			return refused(l, "switches", i, &why);
	}
	return 0;
}

static int read_nodes(struct load *l, json_t *array, json_t *groups)
{
	json_t *o, *name, *leaf, *rails, *domain;
	size_t i;
	const struct clf_json_key keys[] = {
		{ "name", JSON_STRING, true, &name },
		{ "leaf", JSON_STRING, false, &leaf },
		{ "rails", JSON_INTEGER, false, &rails },
		{ "domain", JSON_STRING, false, &domain },
	};

	json_array_foreach(array, i, o)
	{
		struct clf_error why = { 0 };
		uint32_t id, g;

		if (check_object(l, "nodes", i, o, keys, 4))
			return -1;
		if (clf_topo_builder_node(l->b, json_string_value(name), &id, &why))
			return refused(l, "nodes", i, &why);
		if (leaf && find_group(l, "nodes", i, "leaf", leaf, &g))
			return -1;
		if (leaf && json_integer_value(json_object_get(json_array_get(groups, g), "level")) != 1)
			return wrong(l, "nodes", i, "leaf", "group '%s' is not of level 1", json_string_value(leaf));
		if (leaf && clf_topo_builder_place(l->b, id, g, l->err))
			return -1;
		if (rails && (json_integer_value(rails) < 0 || json_integer_value(rails) > UINT32_MAX))
			return wrong(l, "nodes", i, "rails", "rails %lld, want a set of %d bits",
				     (long long) json_integer_value(rails), CLF_MAX_RAILS);
		if (rails && clf_topo_builder_rails(l->b, id, json_integer_value(rails), l->err))
			return -1;
		if (domain && clf_topo_builder_domain(l->b, id, json_string_value(domain), &why))
			return refused(l, "nodes", i, &why);
	}
	return 0;
}

static int read_links(struct load *l, const char *key, json_t *array, bool node_end, json_t *switches, json_t *nodes)
{
	const json_int_t limit[5] = { json_array_size(switches), 65536, json_array_size(node_end ? nodes : switches),
				      65536, (json_int_t) UINT32_MAX + 1 };
	static const char *const what[5] = { "a switch", "a port", "an end", "a port", "a speed" };
	json_t *a;
	size_t i;

	json_array_foreach(array, i, a)
	{
		size_t n = json_array_size(a);
		struct clf_topo_link link = { .node_end = node_end };
		json_int_t v[5];

		if (n != 5 && n != 6)
			return wrong(l, key, i, NULL, "want an array of five numbers, and a GUID if known");
		for (size_t k = 0; k < 5; k++) {
			char at[4] = { (char) ('0' + k) };
			json_t *j = json_array_get(a, k);

			v[k] = json_integer_value(j);
			if (!json_is_integer(j) || v[k] < 0 || v[k] >= limit[k])
				return wrong(l, key, i, at, "not %s, want a number from 0 to %lld", what[k],
					     (long long) limit[k] - 1);
		}
		link.a = v[0];
		link.a_port = v[1];
		link.b = v[2];
		link.b_port = v[3];
		link.speed_mbps = v[4];
		if (n == 6 && !json_is_string(json_array_get(a, 5)))
			return wrong(l, key, i, "5", "want a GUID as a string");
		if (n == 6 && read_guid(l, key, i, "5", json_array_get(a, 5), &link.b_guid))
			return -1;
		if (clf_topo_builder_link(l->b, &link, l->err))
			return -1;
	}
	return 0;
}

static int read_findings(struct load *l, json_t *array)
{
	json_t *o, *level, *code, *subject, *text;
	size_t i;
	const struct clf_json_key keys[] = {
		{ "level", JSON_STRING, true, &level },
		{ "code", JSON_STRING, true, &code },
		{ "subject", JSON_STRING, true, &subject },
		{ "text", JSON_STRING, true, &text },
	};

	json_array_foreach(array, i, o)
	{
		int k = CLF_FINDING_INFO;

		if (check_object(l, "findings", i, o, keys, 4))
			return -1;
		while (k <= CLF_FINDING_ERROR && strcmp(json_string_value(level), clf_finding_level_name(k)))
			k++;
		if (k > CLF_FINDING_ERROR)
			return wrong(l, "findings", i, "level", "level '%.40s', want info, warn or error",
				     json_string_value(level));
		if (clf_topo_builder_finding(l->b, k, json_string_value(code), json_string_value(subject), l->err, "%s",
					     json_string_value(text)))
			return -1;
	}
	return 0;
}

static int read_source(struct load *l, json_t *format, json_t *source)
{
	static const char *const sources[] = { "ibnetdiscover", "slurm", "csv", "synth" };
	const char *s = json_string_value(source);

	if (strcmp(json_string_value(format), FORMAT))
		return clf_json_fail(&l->doc, "/format", l->err, "format '%.40s', this closfold reads '" FORMAT "'",
				     json_string_value(format));
	for (size_t i = 0; i < sizeof sources / sizeof *sources; i++)
		if (!strcmp(s, sources[i])) {
			l->b = clf_topo_builder_create(s, l->err);
			return l->b ? 0 : -1;
		}
	return clf_json_fail(&l->doc, "/source", l->err, "source '%.40s', want ibnetdiscover, slurm, csv or synth", s);
}

static int read_json(const struct clf_text *text, struct clf_topo **out, struct clf_error *err)
{
	CLF_CLEANUP(load_done) struct load l = { .err = err };
	json_t *format, *source, *groups, *switches, *nodes, *links, *node_links, *findings;
	const struct clf_json_key keys[] = {
		{ "format", JSON_STRING, true, &format },        { "source", JSON_STRING, true, &source },
		{ "groups", JSON_ARRAY, true, &groups },         { "switches", JSON_ARRAY, true, &switches },
		{ "nodes", JSON_ARRAY, true, &nodes },           { "links", JSON_ARRAY, true, &links },
		{ "node_links", JSON_ARRAY, true, &node_links }, { "findings", JSON_ARRAY, true, &findings },
	};
	struct clf_text copy;

	if (clf_text_from_string(text->name, text->data, &copy, err) || clf_json_load_text(&copy, &l.doc, err))
		return -1;
	/* another version may have other keys: say that first */
	format = json_object_get(l.doc.root, "format");
	if (json_is_string(format) && strcmp(json_string_value(format), "closfold-topo/1"))
		return clf_json_fail(&l.doc, "/format", err, "format '%.40s', want closfold-topo/1",
				     json_string_value(format));
	if (clf_json_object(&l.doc, l.doc.root, "", keys, sizeof keys / sizeof *keys, err) ||
	    read_source(&l, format, source))
		return -1;
	if (read_groups(&l, groups) || read_switches(&l, switches) || read_nodes(&l, nodes, groups) ||
	    check_groups(&l, groups, nodes))
		return -1;
	if (read_links(&l, "links", links, false, switches, nodes) ||
	    read_links(&l, "node_links", node_links, true, switches, nodes) || read_findings(&l, findings))
		return -1;
	return clf_topo_builder_finish(CLF_STEAL(l.b), out, err);
}

const struct clf_reader clf_reader_json = {
	.name = "json",
	.about = "closfold's own topology file",
	.max_bytes = 512u << 20,
	.read = read_json,
};
