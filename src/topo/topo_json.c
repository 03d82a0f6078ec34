/* SPDX-License-Identifier: GPL-2.0-or-later */
/* topo_json.c - writes "closfold-topo/1": one object or array a line, so that two versions can be compared with diff.
 */
#include "topo/topo_json.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/json.h"

#define MAX_BYTES (512u << 20)

struct dump {
	const struct clf_topo *t;
	struct clf_buf buf;
	struct clf_error *err;
	bool first; /* of an array */
};

/* One element of an array on a line of its own. Steals j. */
static int element(struct dump *d, json_t *j)
{
	json_auto_t *own = j;
	CLF_AUTO_FREE char *text = own ? clf_json_canonical(own) : NULL;

	if (!text)
		return clf_fail(d->err, CLF_E_NOMEM, "out of memory");
	if (clf_buf_puts(&d->buf, d->first ? "\n" : ",\n", d->err) || clf_buf_puts(&d->buf, text, d->err))
		return -1;
	d->first = false;
	return 0;
}

static int begin(struct dump *d, const char *key)
{
	d->first = true;
	return clf_buf_printf(&d->buf, d->err, ",\n\"%s\":[", key);
}

static int end(struct dump *d)
{
	return clf_buf_puts(&d->buf, "]", d->err);
}

static void set_guid(json_t *o, const char *key, uint64_t guid)
{
	char hex[20];

	snprintf(hex, sizeof hex, "0x%016llx", (unsigned long long) guid);
	if (guid)
		json_object_set_new(o, key, json_string(hex));
}

/* Parents before children: a reader needs one pass, and components keep their order. */
static int dump_group(struct dump *d, uint32_t g)
{
	const struct clf_topo_group *p = clf_topo_group(d->t, g);
	json_t *o = json_pack("{s:s,s:i}", "name", p->name, "level", (int) p->level);

	if (o && p->parent != CLF_NONE)
		json_object_set_new(o, "parent", json_string(clf_topo_group(d->t, p->parent)->name));
	if (element(d, o))
		return -1;
	for (uint32_t c = p->first; p->level > 1 && c < p->first + p->n; c++)
		if (dump_group(d, c))
			return -1;
	return 0;
}

static int dump_groups(struct dump *d)
{
	uint32_t n = clf_topo_counts(d->t).components;
	CLF_AUTO_FREE uint32_t *roots = calloc(n + 1, sizeof *roots);

	if (!roots)
		return clf_fail(d->err, CLF_E_NOMEM, "out of memory");
	if (begin(d, "groups"))
		return -1;
	for (uint32_t g = 0; g < clf_topo_ngroups(d->t); g++)
		if (clf_topo_group(d->t, g)->parent == CLF_NONE)
			roots[clf_topo_group(d->t, g)->component] = g;
	for (uint32_t c = 0; c < n; c++)
		if (dump_group(d, roots[c]))
			return -1;
	return end(d);
}

static int dump_switches(struct dump *d)
{
	if (begin(d, "switches"))
		return -1;
	for (uint32_t s = 0; s < clf_topo_nswitches(d->t); s++) {
		const struct clf_topo_switch *sw = clf_topo_switch(d->t, s);
		json_t *o = json_pack("{s:s}", "name", sw->name);

		if (o && sw->kind != CLF_SWITCH)
			json_object_set_new(o, "kind", json_string(clf_switch_kind_name(sw->kind)));
		set_guid(o, "guid", sw->guid);
		set_guid(o, "system", sw->system);
		if (o && sw->group != CLF_NONE)
			json_object_set_new(o, "group", json_string(clf_topo_group(d->t, sw->group)->name));
		if (o && sw->rail != CLF_NONE)
			json_object_set_new(o, "rail", json_integer(sw->rail));
		if (element(d, o))
			return -1;
	}
	return end(d);
}

static int dump_nodes(struct dump *d)
{
	if (begin(d, "nodes"))
		return -1;
	for (uint32_t i = 0; i < clf_topo_nnodes(d->t); i++) {
		const struct clf_topo_node *n = clf_topo_node(d->t, i);
		json_t *o = json_pack("{s:s}", "name", n->name);

		if (o && n->leaf != CLF_NONE)
			json_object_set_new(o, "leaf", json_string(clf_topo_group(d->t, n->leaf)->name));
		if (o && n->rails)
			json_object_set_new(o, "rails", json_integer(n->rails));
		if (o && n->domain != CLF_NONE)
			json_object_set_new(o, "domain", json_string(clf_topo_domain(d->t, n->domain)));
		if (element(d, o))
			return -1;
	}
	return end(d);
}

static int dump_links(struct dump *d, bool node_end)
{
	if (begin(d, node_end ? "node_links" : "links"))
		return -1;
	for (uint32_t i = 0; i < clf_topo_nlinks(d->t); i++) {
		const struct clf_topo_link *l = clf_topo_link(d->t, i);
		json_t *a = NULL;
		char guid[20] = "";

		if (l->node_end != node_end)
			continue;
		a = json_pack("[i,i,i,i,I]", (int) l->a, (int) l->a_port, (int) l->b, (int) l->b_port,
			      (json_int_t) l->speed_mbps);
		if (l->b_guid)
			snprintf(guid, sizeof guid, "0x%016llx", (unsigned long long) l->b_guid);
		if (a && *guid)
			json_array_append_new(a, json_string(guid));
		if (element(d, a))
			return -1;
	}
	return end(d);
}

static int dump_findings(struct dump *d)
{
	if (begin(d, "findings"))
		return -1;
	for (uint32_t i = 0; i < clf_topo_nfindings(d->t); i++) {
		const struct clf_finding *f = clf_topo_finding(d->t, i);

		if (element(d, json_pack("{s:s,s:s,s:s,s:s}", "level", clf_finding_level_name(f->level), "code",
					 f->code, "subject", f->subject, "text", f->text)))
			return -1;
	}
	return end(d);
}

int clf_topo_json_dump(const struct clf_topo *t, char **out, size_t *len, struct clf_error *err)
{
	struct dump d = { .t = t, .buf = CLF_BUF_INIT(MAX_BYTES), .err = err };
	int rc = clf_buf_printf(&d.buf, err, "{\"format\":\"closfold-topo/1\",\n\"source\":\"%s\"", clf_topo_source(t));

	rc = rc || dump_groups(&d) || dump_switches(&d) || dump_nodes(&d) || dump_links(&d, false) ||
	     dump_links(&d, true) || dump_findings(&d) || clf_buf_puts(&d.buf, "}\n", err);
	if (!rc) {
		size_t n = d.buf.len;
		char *text = clf_buf_steal(&d.buf);

		if (text) {
			*out = text;
			if (len)
				*len = n;
			return 0;
		}
		clf_fail(err, CLF_E_NOMEM, "out of memory");
	}
	clf_buf_done(&d.buf);
	return -1;
}
