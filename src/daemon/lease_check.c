/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/lease_check.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/hash.h"
#include "base/hostlist.h"

#define NODES_MAX (1u << 20)
#define FULL      0x8000u

struct body {
	json_t *v, *cluster, *lease, *job_id, *submit, *nodes, *nets, *not_after;
};

struct search {
	const char *node;
	bool found;
	size_t n, at; /* at: its place in the expression */
};

static int same_host(void *arg, const char *name, size_t len, struct clf_error *err)
{
	struct search *s = arg;

	if (!s->found && strlen(s->node) == len && !memcmp(s->node, name, len)) {
		s->found = true;
		s->at = s->n;
	}
	s->n++;
	return 0;
}

void clf_ports_digest(const struct clf_strv *ports, char out[CLF_PORTS_DIGEST + 1])
{
	CLF_CLEANUP(clf_strv_done) struct clf_strv sorted = { 0 };
	struct clf_buf text = CLF_BUF_INIT(64u << 10);
	char hex[CLF_SHA256_HEX];
	int rc = 0;

	for (size_t i = 0; i < ports->n; i++)
		rc |= clf_strv_add(&sorted, ports->v[i], NULL);
	clf_strv_sort(&sorted);
	for (size_t i = 0; i < sorted.n; i++)
		rc |= clf_buf_printf(&text, NULL, "%s\n", sorted.v[i]);
	if (rc || clf_hash_sha256(text.data ? text.data : "", text.len, hex, NULL))
		memset(hex, '-', CLF_PORTS_DIGEST);
	memcpy(out, hex, CLF_PORTS_DIGEST);
	out[CLF_PORTS_DIGEST] = '\0';
	clf_buf_done(&text);
}

/* An expression that cannot be read holds nobody. */
static bool holds(const char *nodes, const char *node)
{
	struct search s = { .node = node };

	return !clf_hostlist_each(nodes, NODES_MAX, same_host, &s, NULL) && s.found;
}

static int about_us(const struct clf_lease_check *c, const struct body *b, struct clf_error *err)
{
	const char *nodes = json_string_value(b->nodes), *lease = json_string_value(b->lease);

	if (json_integer_value(b->v) != 1)
		return clf_fail(err, CLF_E_DENIED, "the lease is of another version than this node's closfold");
	if (strcmp(json_string_value(b->cluster), c->cluster) != 0)
		return clf_fail(err, CLF_E_DENIED, "lease %.40s is of another cluster", lease);
	if (json_integer_value(b->job_id) != c->job_id)
		return clf_fail(err, CLF_E_DENIED, "lease %.40s is job %" PRId64 "'s, not job %" PRIu32 "'s", lease,
				(int64_t) json_integer_value(b->job_id), c->job_id);
	if (json_integer_value(b->not_after) < c->now_ms)
		return clf_fail(err, CLF_E_DENIED, "lease %.40s has expired: is this node's clock right?", lease);
	if (!holds(nodes, c->node))
		return clf_fail(err, CLF_E_DENIED, "lease %.40s is not for node '%s'", lease, c->node);
	return 0;
}

static bool key_of(const json_t *entry, unsigned *key)
{
	const char *s = json_string_value(entry);
	unsigned long long v;

	if (!s || !clf_parse_hex64(s, strlen(s), &v) || v > UINT16_MAX)
		return false;
	*key = (unsigned) v;
	return true;
}

/* Keys of the lease on this node's InfiniBand fabrics. */
struct keys {
	unsigned v[16];
	size_t n;
};

static bool one_of(const struct keys *keys, unsigned entry)
{
	for (size_t i = 0; i < keys->n; i++)
		if (entry == (keys->v[i] | FULL))
			return true;
	return false;
}

static int port_table(const json_t *port, const struct keys *keys, struct clf_error *err)
{
	const char *device = json_string_value(json_object_get(port, "device"));
	const json_t *table = json_object_get(port, "pkeys");
	unsigned k;

	device = device ? device : "?";
	if (!json_array_size(table))
		return clf_fail(err, CLF_E_DENIED, "the P_Key table of %s cannot be read", device);
	for (size_t i = 0; i < json_array_size(table); i++) {
		if (!key_of(json_array_get(table, i), &k))
			return clf_fail(err, CLF_E_DENIED, "the P_Key table of %s cannot be read", device);
		if (i == 0 && !one_of(keys, k))
			return clf_fail(err, CLF_E_DENIED, "%s holds key 0x%04x at index 0, the lease says 0x%04x",
					device, k, keys->v[0] | FULL);
		if (i && k & FULL)
			return clf_fail(err, CLF_E_DENIED,
					"%s is a full member of 0x%04x too: its network is not closed", device, k);
	}
	return 0;
}

static int ib_ports(const json_t *facts, const struct keys *keys, struct clf_error *err)
{
	const json_t *ports = json_object_get(facts, "ib");
	size_t seen = 0;

	for (size_t i = 0; keys->n && i < json_array_size(ports); i++) {
		const json_t *p = json_array_get(ports, i);
		const char *layer = json_string_value(json_object_get(p, "link_layer"));

		if (layer && strcmp(layer, "InfiniBand") != 0)
			continue;
		seen++;
		if (port_table(p, keys, err))
			return -1;
	}
	if (keys->n && !seen)
		return clf_fail(err, CLF_E_DENIED,
				"this node shows no InfiniBand port, and the lease closes one's network");
	return 0;
}

/* "%k" in a value is the key in hex. */
static int add_env(struct clf_buf *out, const char *name, const char *value, unsigned key, struct clf_error *err)
{
	const char *at = strstr(value, "%k");

	if (!at)
		return clf_buf_printf(out, err, "%s=%s\n", name, value);
	return clf_buf_printf(out, err, "%s=%.*s0x%04x%s\n", name, (int) (at - value), value, key, at + 2);
}

static int net_env(struct clf_buf *out, const json_t *net, unsigned key, struct clf_error *err)
{
	json_t *env = json_object_get(net, "env"), *value;
	const char *name;

	json_object_foreach(env, name, value)
	{
		const char *v = json_string_value(value);

		if (!v || strpbrk(v, "\r\n") || strpbrk(name, "=\r\n"))
			return clf_fail(err, CLF_E_PARSE, "lease: a variable is wrong");
		if (add_env(out, name, v, key, err))
			return -1;
	}
	return 0;
}

/* Are the node's InfiniBand ports those that the lease was made for? */
static int same_ports(const struct clf_lease_check *c, const char *digests, const char *nodes, const json_t *facts,
		      struct clf_error *err)
{
	CLF_CLEANUP(clf_strv_done) struct clf_strv ports = { 0 };
	const json_t *list = json_object_get(facts, "ib");
	struct search s = { .node = c->node };
	char mine[CLF_PORTS_DIGEST + 1];

	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *p = json_array_get(list, i);
		const char *layer = json_string_value(json_object_get(p, "link_layer"));
		const char *guid = json_string_value(json_object_get(p, "port_guid"));

		if (guid && layer && !strcmp(layer, "InfiniBand") && clf_strv_add(&ports, guid, err))
			return -1;
	}
	clf_ports_digest(&ports, mine);
	if (clf_hostlist_each(nodes, NODES_MAX, same_host, &s, NULL) || !s.found ||
	    strlen(digests) != s.n * CLF_PORTS_DIGEST || *mine == '-' ||
	    memcmp(digests + s.at * CLF_PORTS_DIGEST, mine, CLF_PORTS_DIGEST) != 0)
		return clf_fail(
			err, CLF_E_DENIED,
			"this node's ports are not those that the lease was made for: another host spoke in its name, "
			"or an HCA changed; the admin sees more with 'closfold fabric check'");
	return 0;
}

static int read_net(const struct clf_lease_check *c, const json_t *net, const char *all_nodes, const json_t *facts,
		    struct keys *keys, struct clf_buf *env, struct clf_error *err)
{
	const char *digests = json_string_value(json_object_get(net, "ports"));
	const char *nodes = json_string_value(json_object_get(net, "nodes"));
	const char *fabric = json_string_value(json_object_get(net, "fabric"));
	const char *driver = json_string_value(json_object_get(net, "driver"));
	json_int_t key = json_integer_value(json_object_get(net, "key"));

	if (!fabric || !driver || key < 1 || key > UINT16_MAX)
		return clf_fail(err, CLF_E_PARSE, "lease: a net is wrong");
	if (nodes && !holds(nodes, c->node))
		return 0; /* this node is not on it */
	if (digests && same_ports(c, digests, all_nodes, facts, err))
		return -1;
	if (!strcmp(driver, "opensm") && keys->n < sizeof keys->v / sizeof *keys->v)
		keys->v[keys->n++] = (unsigned) key;
	return net_env(env, net, (unsigned) key, err);
}

int clf_lease_check(const struct clf_lease_check *c, const char *body, const json_t *facts, char **env,
		    struct clf_error *err)
{
	struct clf_json_doc doc = { 0 };
	struct clf_text t = { 0 };
	struct body b;
	const struct clf_json_key keys[] = {
		{ "v", JSON_INTEGER, true, &b.v },
		{ "cluster", JSON_STRING, true, &b.cluster },
		{ "lease", JSON_STRING, true, &b.lease },
		{ "job_id", JSON_INTEGER, true, &b.job_id },
		{ "submit_time", JSON_INTEGER, true, &b.submit },
		{ "nodes", JSON_STRING, true, &b.nodes },
		{ "nets", JSON_ARRAY, true, &b.nets },
		{ "not_after_ms", JSON_INTEGER, true, &b.not_after },
	};
	struct clf_buf out = CLF_BUF_INIT(64u << 10);
	struct keys ib = { .n = 0 };
	int rc;

	if (clf_text_from_string("lease", body, &t, err) || clf_json_load_text(&t, &doc, err))
		return -1;
	rc = clf_json_object(&doc, doc.root, "", keys, sizeof keys / sizeof *keys, err) || about_us(c, &b, err);
	for (size_t i = 0; !rc && i < json_array_size(b.nets); i++)
		rc = read_net(c, json_array_get(b.nets, i), json_string_value(b.nodes), facts, &ib, &out, err);
	rc = rc || ib_ports(facts, &ib, err);
	clf_json_doc_done(&doc);
	if (!rc)
		*env = strdup(out.data ? out.data : "");
	clf_buf_done(&out);
	if (rc)
		return -1;
	return *env ? 0 : clf_fail(err, CLF_E_NOMEM, "out of memory");
}
