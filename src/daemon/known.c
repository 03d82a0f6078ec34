/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/known.h"

#include <stdio.h>
#include <string.h>

#include "base/path.h"

#define FORMAT    "closfold-ports/1"
#define MAX_BYTES (64u << 20)

static struct clf_known_fabric *fabric_of(struct clf_known *k, const char *name, struct clf_error *err)
{
	void *v;

	for (size_t i = 0; i < k->n; i++)
		if (!strcmp(k->fabrics[i].name, name))
			return &k->fabrics[i];
	v = realloc(k->fabrics, (k->n + 1) * sizeof *k->fabrics);
	if (v)
		k->fabrics = v;
	if (!v ||
	    !(k->fabrics[k->n] = (struct clf_known_fabric){ .name = strdup(name), .node_of = { .copy = true } }).name)
		return clf_fail(err, CLF_E_NOMEM, "out of memory"), NULL;
	return &k->fabrics[k->n++];
}

static struct clf_known_node *find(const struct clf_known_fabric *f, const char *name)
{
	uint32_t i;

	return clf_strmap_find(&f->node_of, name, &i) ? &f->nodes[i] : NULL;
}

static struct clf_known_node *node_of(struct clf_known_fabric *f, const char *name, struct clf_error *err)
{
	struct clf_known_node *n = find(f, name);
	size_t cap = f->cap ? 2 * f->cap : 64;
	void *v = f->nodes;

	if (n)
		return n;
	if (f->n == f->cap && (v = realloc(f->nodes, cap * sizeof *f->nodes)))
		f->cap = cap;
	if (v)
		f->nodes = v;
	if (!v || !(f->nodes[f->n] = (struct clf_known_node){ .name = strdup(name) }).name)
		return clf_fail(err, CLF_E_NOMEM, "out of memory"), NULL;
	if (clf_strmap_set(&f->node_of, name, (uint32_t) f->n, err)) {
		free(f->nodes[f->n].name);
		return NULL;
	}
	return &f->nodes[f->n++];
}

static bool subset(const struct clf_strv *a, const struct clf_strv *b)
{
	for (size_t i = 0; i < a->n; i++)
		if (!clf_strv_has(b, a->v[i]))
			return false;
	return true;
}

int clf_known_learn(struct clf_known *k, const char *fabric, const char *node, const struct clf_strv *ports, bool fixed,
		    struct clf_error *err)
{
	struct clf_known_fabric *f = fabric_of(k, fabric, err);
	struct clf_known_node *n = f ? node_of(f, node, err) : NULL;

	if (!n)
		return -1;
	if (fixed && !subset(&n->ports, ports)) {
		clf_strv_done(&n->ports);
		n->ports = (struct clf_strv){ 0 };
		k->dirty = f->stale = true;
		k->changes++;
	}
	n->reported = !fixed;
	n->missing = !subset(&n->ports, ports);
	n->more = !fixed && n->ports.n && !subset(ports, &n->ports);
	if (n->more)
		return 0;
	for (size_t i = 0; i < ports->n; i++) {
		if (clf_strv_has(&n->ports, ports->v[i]))
			continue;
		if (clf_strv_add(&n->ports, ports->v[i], err))
			return -1;
		k->dirty = f->stale = true;
		k->changes++;
	}
	return 0;
}

void clf_known_accept(struct clf_known *k, const char *node)
{
	for (size_t i = 0; i < k->n; i++) {
		struct clf_known_node *n = find(&k->fabrics[i], node);

		if (!n || !n->ports.n)
			continue;
		clf_strv_done(&n->ports);
		n->ports = (struct clf_strv){ 0 };
		n->missing = n->more = false;
		k->dirty = k->fabrics[i].stale = true;
		k->changes++;
	}
}

const struct clf_strv *clf_known_reported(const struct clf_known *k, const char *fabric, const char *node)
{
	for (size_t i = 0; i < k->n; i++) {
		const struct clf_known_node *n = strcmp(k->fabrics[i].name, fabric) ? NULL : find(&k->fabrics[i], node);

		if (n)
			return n->reported ? &n->ports : NULL;
	}
	return NULL;
}

/* Whose is each port. */
static int index_ports(struct clf_known_fabric *f, struct clf_error *err)
{
	struct clf_strmap m = { .copy = true };
	uint32_t other;
	int rc = 0;

	for (size_t i = 0; f->stale && !rc && i < f->n; i++)
		for (size_t p = 0; !rc && p < f->nodes[i].ports.n; p++) {
			const char *port = f->nodes[i].ports.v[p];

			rc = clf_strmap_set(&m, port,
					    clf_strmap_find(&m, port, &other) ? CLF_KNOWN_SEVERAL : (uint32_t) i, err);
		}
	if (rc || !f->stale) {
		clf_strmap_done(&m);
		return rc;
	}
	clf_strmap_done(&f->owner_of);
	f->owner_of = m;
	f->stale = false;
	return 0;
}

static struct clf_known_fabric *indexed(struct clf_known *k, const char *fabric, struct clf_error *err)
{
	struct clf_known_fabric *f = fabric_of(k, fabric, err);

	return f && !index_ports(f, err) ? f : NULL;
}

int clf_known_eligible(struct clf_known *k, const char *fabric, const char *node, struct clf_error *err)
{
	const struct clf_known_fabric *f = indexed(k, fabric, err);
	const struct clf_known_node *n = f ? find(f, node) : NULL;
	uint32_t owner;

	if (!f)
		return -1;
	if (!n)
		return 0; /* the driver has said what there is */
	if (n->missing)
		return clf_fail(
			err, CLF_E_DENIED,
			"node '%s' reports fewer ports on fabric '%s' than it had: an HCA is missing; after a repair "
			"'closfold fabric accept %s'",
			node, fabric, node);
	if (n->more)
		return clf_fail(err, CLF_E_DENIED,
				"node '%s' reports a port on fabric '%s' that it did not have: a new HCA, or another "
				"host in its "
				"name; when it is right, 'closfold fabric accept %s'",
				node, fabric, node);
	for (size_t p = 0; p < n->ports.n; p++)
		if (clf_strmap_find(&f->owner_of, n->ports.v[p], &owner) && owner == CLF_KNOWN_SEVERAL)
			return clf_fail(
				err, CLF_E_DENIED,
				"port '%s' of node '%s' is claimed by another node too: neither runs flagged jobs "
				"until one of them reports it no more",
				n->ports.v[p], node);
	return 0;
}

int clf_known_ports(struct clf_known *k, const char *fabric, struct clf_strv *out, struct clf_error *err)
{
	CLF_CLEANUP(clf_strmap_done) struct clf_strmap several = { 0 }; /* such ports that are listed already */
	const struct clf_known_fabric *f = indexed(k, fabric, err);
	uint32_t owner;

	for (size_t i = 0; f && i < f->n; i++)
		for (size_t p = 0; p < f->nodes[i].ports.n; p++) {
			const char *port = f->nodes[i].ports.v[p];

			if (!clf_strmap_find(&f->owner_of, port, &owner))
				continue;
			/* one that several nodes claim runs no flagged job, but whoever claims another's cuts nobody
			 * off from the ordinary network */
			if (owner == CLF_KNOWN_SEVERAL && (clf_strmap_find(&several, port, &(uint32_t){ 0 }) ||
							   clf_strmap_set(&several, port, 0, err)))
				continue;
			if (clf_strv_add(out, port, err))
				return -1;
		}
	return f ? 0 : -1;
}

/* ---- the file */

static json_t *fabric_json(const struct clf_known_fabric *f)
{
	json_auto_t *nodes = json_object();

	for (size_t i = 0; i < f->n; i++) {
		json_t *ports = json_array();

		for (size_t p = 0; p < f->nodes[i].ports.n; p++)
			if (json_array_append_new(ports, json_string(f->nodes[i].ports.v[p]))) {
				json_decref(ports);
				return NULL;
			}
		if (json_object_set_new(nodes, f->nodes[i].name, ports))
			return NULL;
	}
	return CLF_STEAL(nodes);
}

int clf_known_save(struct clf_known *k, struct clf_error *err)
{
	json_auto_t *fabrics = json_object(), *root = NULL;
	CLF_AUTO_FREE char *text = NULL;

	if (!k->dirty)
		return 0;
	for (size_t i = 0; i < k->n; i++)
		if (json_object_set_new(fabrics, k->fabrics[i].name, fabric_json(&k->fabrics[i])))
			return clf_fail(err, CLF_E_NOMEM, "out of memory");
	root = json_pack("{s:s,s:O}", "format", FORMAT, "fabrics", fabrics);
	text = root ? clf_json_canonical(root) : NULL;
	if (!text)
		return clf_fail(err, CLF_E_NOMEM, "out of memory");
	if (clf_path_write_atomic(k->path, 0600, text, strlen(text), err))
		return -1;
	k->dirty = false;
	return 0;
}

static int load_node(struct clf_known *k, const char *fabric, const char *node, const json_t *list,
		     struct clf_error *err)
{
	CLF_CLEANUP(clf_strv_done) struct clf_strv ports = { 0 };

	for (size_t i = 0; i < json_array_size(list); i++) {
		const char *port = json_string_value(json_array_get(list, i));

		if (!port)
			return clf_fail(err, CLF_E_PARSE, "ports.json: a port of node '%s' is no string", node);
		if (clf_strv_add(&ports, port, err))
			return -1;
	}
	return clf_known_learn(k, fabric, node, &ports, true, err);
}

int clf_known_open(struct clf_known *k, const char *state_dir, struct clf_error *err)
{
	struct clf_json_doc doc = { 0 };
	struct clf_error why = { 0 };
	const char *fabric, *node;
	json_t *nodes, *ports;
	int rc = 0;

	*k = (struct clf_known){ 0 };
	if (snprintf(k->path, sizeof k->path, "%s/ports.json", state_dir) >= (int) sizeof k->path)
		return clf_fail(err, CLF_E_INVALID, "path of ports.json is too long");
	if (clf_json_load_file(k->path, MAX_BYTES, &doc, &why))
		return why.code == CLF_E_NOTFOUND ? 0 : clf_fail(err, why.code, "ports.json: %s", why.text);
	json_object_foreach(json_object_get(doc.root, "fabrics"), fabric, nodes) json_object_foreach(nodes, node, ports)
		rc = rc || load_node(k, fabric, node, ports, err);
	clf_json_doc_done(&doc);
	k->dirty = false;
	return rc ? -1 : 0;
}

void clf_known_done(struct clf_known *k)
{
	for (size_t i = 0; i < k->n; i++) {
		for (size_t j = 0; j < k->fabrics[i].n; j++) {
			free(k->fabrics[i].nodes[j].name);
			clf_strv_done(&k->fabrics[i].nodes[j].ports);
		}
		free(k->fabrics[i].nodes);
		free(k->fabrics[i].name);
		clf_strmap_done(&k->fabrics[i].node_of);
		clf_strmap_done(&k->fabrics[i].owner_of);
	}
	free(k->fabrics);
	*k = (struct clf_known){ 0 };
}
