/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ibwitness_fabric.c - the end ports of a fabric, and the reading of their P_Key tables. */
#include <infiniband/ibnetdisc.h>
#include <infiniband/mad.h>
#include <infiniband/umad_sm.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/ibwitness.h"

#define PORT_DOWN 1

struct gather {
	struct wit_fabric *f;
	size_t cap;
	bool failed;
};

static void path_of(const ib_portid_t *id, uint16_t lid, struct wit_path *out)
{
	*out = (struct wit_path){ .lid = lid };
	if (id->drpath.cnt < 0 || id->drpath.cnt >= WIT_HOPS)
		return;
	out->hops = (uint8_t) id->drpath.cnt;
	memcpy(out->out, id->drpath.p, sizeof out->out);
}

/* Over its switch: a node with several ports is found through one of them, the others need their own way. */
static void path_over(const struct wit_path *sw, uint8_t out_port, uint16_t lid, struct wit_path *out)
{
	*out = *sw;
	out->lid = lid;
	if (out->hops + 1 < WIT_HOPS)
		out->out[++out->hops] = out_port;
}

static void copy_desc(char *out, size_t size, const char *desc)
{
	size_t n = 0;

	for (; desc[n] && n + 1 < size; n++)
		out[n] = desc[n] >= ' ' && desc[n] < 0x7f ? desc[n] : '?';
	out[n] = '\0';
}

static void add_port(struct gather *g, ibnd_node_t *node, ibnd_port_t *port)
{
	ibnd_node_t *sw = port->remoteport->node;
	struct wit_port *p;

	if (g->f->n == g->cap) {
		size_t cap = g->cap ? 2 * g->cap : 256;
		struct wit_port *v = realloc(g->f->v, cap * sizeof *v);

		g->failed |= !v;
		if (!v)
			return;
		g->f->v = v;
		g->cap = cap;
	}
	p = &g->f->v[g->f->n++];
	*p = (struct wit_port){ .guid = port->guid, .node_guid = node->guid, .num = (uint8_t) port->portnum };
	p->device = mad_get_field(node->info, 0, IB_NODE_DEVID_F);
	p->cap = (uint16_t) mad_get_field(node->info, 0, IB_NODE_PARTITION_CAP_F);
	copy_desc(p->desc, sizeof p->desc, node->nodedesc);
	path_of(&node->path_portid, port->base_lid, &p->path);
	if (sw->type != IB_NODE_SWITCH)
		return;
	p->has_switch = true;
	p->switch_guid = sw->guid;
	p->switch_port = (uint8_t) port->remoteport->portnum;
	p->switch_cap = (uint16_t) mad_get_field(sw->switchinfo, 0, IB_SW_PARTITION_ENFORCE_CAP_F);
	path_of(&sw->path_portid, sw->smalid, &p->switch_path);
	path_over(&p->switch_path, p->switch_port, port->base_lid, &p->path);
}

static void add_node(ibnd_node_t *node, void *arg)
{
	struct gather *g = arg;

	if (node->type == IB_NODE_SWITCH) {
		g->f->switches++;
		return;
	}
	for (int i = 1; i <= node->numports; i++)
		if (node->ports[i] && node->ports[i]->remoteport && !g->failed)
			add_port(g, node, node->ports[i]);
}

static int by_guid(const void *a, const void *b)
{
	const struct wit_port *x = a, *y = b;

	return x->guid < y->guid ? -1 : x->guid > y->guid;
}

int wit_discover(const struct wit_conf *conf, struct wit_fabric *out, struct clf_error *err)
{
	struct ibnd_config cfg = { .max_smps = (unsigned) conf->window, .timeout_ms = (unsigned) conf->timeout_ms };
	struct wit_fabric f = { 0 };
	struct gather g = { .f = &f };
	ibnd_fabric_t *found = ibnd_discover_fabric((char *) conf->ca, conf->port, NULL, &cfg);

	if (!found)
		return clf_fail(err, CLF_E_IO, "cannot discover the fabric; is the InfiniBand port of this host up?");
	ibnd_iter_nodes(found, add_node, &g);
	ibnd_destroy_fabric(found);
	if (g.failed) {
		wit_fabric_done(&f);
		return clf_fail(err, CLF_E_NOMEM, "out of memory");
	}
	if (f.n)
		qsort(f.v, f.n, sizeof *f.v, by_guid);
	for (size_t i = 1; i < f.n; i++)
		if (f.v[i].guid == f.v[i - 1].guid)
			f.v[i].twice = f.v[i - 1].twice = true;
	*out = f;
	return 0;
}

static void forget_tables(struct wit_port *p)
{
	free(p->keys);
	free(p->switch_keys);
	p->keys = p->switch_keys = NULL;
	p->nkeys = p->nswitch = 0;
	p->switch_read = false;
}

void wit_fabric_done(struct wit_fabric *f)
{
	for (size_t i = 0; i < f->n; i++)
		forget_tables(&f->v[i]);
	free(f->v);
	*f = (struct wit_fabric){ 0 };
}

struct wit_port *wit_find(const struct wit_fabric *f, uint64_t guid)
{
	struct wit_port key = { .guid = guid };

	return f->n ? bsearch(&key, f->v, f->n, sizeof *f->v, by_guid) : NULL;
}

/* Do those that are `from` answer, and is it they? NodeInfo by LID or by directed route. */
static int ask_node(struct wit_mad *m, struct wit_port **ports, size_t n, bool directed, int64_t deadline,
		    struct clf_error *err)
{
	struct wit_query *q = calloc(n + 1, sizeof *q);
	size_t k = 0;
	int rc;

	if (!q)
		return clf_fail(err, CLF_E_NOMEM, "out of memory");
	for (size_t i = 0; i < n; i++)
		if (ports[i]->state == WIT_PORT_SILENT || ports[i]->state == WIT_PORT_MOVED)
			q[k++] = (struct wit_query){ .path = &ports[i]->path,
						     .directed = directed,
						     .attr = UMAD_SM_ATTR_NODE_INFO };
	rc = wit_mad_run(m, q, k, deadline, err);
	for (size_t i = 0, j = 0; !rc && i < n; i++) {
		struct wit_port *p = ports[i];

		if (p->state != WIT_PORT_SILENT && p->state != WIT_PORT_MOVED)
			continue;
		if (q[j].answer == WIT_OK && mad_get_field64(q[j].data, 0, IB_NODE_PORT_GUID_F) == p->guid) {
			p->state = WIT_PORT_OK;
			p->directed = directed;
			p->cap = (uint16_t) mad_get_field(q[j].data, 0, IB_NODE_PARTITION_CAP_F);
		} else {
			p->state = q[j].answer == WIT_OK ? WIT_PORT_MOVED : WIT_PORT_SILENT;
		}
		j++;
	}
	free(q);
	return rc;
}

/* Of those that do not answer: does their switch say that the link is down? */
static int ask_switch(struct wit_mad *m, struct wit_port **ports, size_t n, int64_t deadline, struct clf_error *err)
{
	struct wit_query *q = calloc(n + 1, sizeof *q);
	size_t k = 0;
	int rc;

	if (!q)
		return clf_fail(err, CLF_E_NOMEM, "out of memory");
	for (size_t i = 0; i < n; i++)
		if (ports[i]->state == WIT_PORT_SILENT && ports[i]->has_switch)
			q[k++] = (struct wit_query){ .path = &ports[i]->switch_path,
						     .attr = UMAD_SM_ATTR_PORT_INFO,
						     .mod = ports[i]->switch_port };
	rc = wit_mad_run(m, q, k, deadline, err);
	for (size_t i = 0, j = 0; !rc && i < n; i++) {
		if (ports[i]->state != WIT_PORT_SILENT || !ports[i]->has_switch)
			continue;
		if (q[j].answer == WIT_OK && mad_get_field(q[j].data, 0, IB_PORT_STATE_F) == PORT_DOWN)
			ports[i]->state = WIT_PORT_DOWN;
		j++;
	}
	free(q);
	return rc;
}

static size_t blocks(uint16_t cap)
{
	return ((cap > WIT_KEYS_MAX ? WIT_KEYS_MAX : cap) + WIT_BLOCK - 1) / WIT_BLOCK;
}

/* Entries of consecutive answers, cut behind the last that is not 0. NULL with *n 0 for an empty table. */
static int join_blocks(const struct wit_query *q, size_t nblocks, uint16_t cap, uint16_t **out, uint16_t *n)
{
	uint16_t *v = calloc(nblocks * WIT_BLOCK + 1, sizeof *v);

	if (!v)
		return -1;
	*n = 0;
	for (size_t i = 0; i < nblocks * WIT_BLOCK && i < cap; i++) {
		const uint8_t *e = q[i / WIT_BLOCK].data + 2 * (i % WIT_BLOCK);

		v[i] = (uint16_t) (e[0] << 8 | e[1]);
		if (v[i])
			*n = (uint16_t) (i + 1);
	}
	*out = v;
	return 0;
}

static bool all_ok(const struct wit_query *q, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (q[i].answer != WIT_OK)
			return false;
	return true;
}

static size_t ask_tables(struct wit_port *p, bool switches, struct wit_query *q)
{
	size_t k = 0;

	q[k++] = (struct wit_query){ .path = &p->path, .directed = p->directed, .attr = UMAD_SM_ATTR_PORT_INFO };
	for (size_t b = 0; b < blocks(p->cap); b++)
		q[k++] = (struct wit_query){
			.path = &p->path, .directed = p->directed, .attr = UMAD_SM_ATTR_PKEY_TABLE, .mod = (uint32_t) b
		};
	for (size_t b = 0; switches && p->has_switch && b < blocks(p->switch_cap); b++)
		q[k++] = (struct wit_query){ .path = &p->switch_path,
					     .directed = p->directed,
					     .attr = UMAD_SM_ATTR_PKEY_TABLE,
					     .mod = (uint32_t) p->switch_port << 16 | (uint32_t) b };
	return k;
}

static int take_tables(struct wit_port *p, bool switches, const struct wit_query *q)
{
	size_t own = 1 + blocks(p->cap);

	if (!all_ok(q, own)) {
		p->state = WIT_PORT_SILENT;
		return 0;
	}
	p->link = (uint8_t) mad_get_field((void *) q->data, 0, IB_PORT_STATE_F);
	p->has_mkey = mad_get_field64((void *) q->data, 0, IB_PORT_MKEY_F) ||
		      mad_get_field((void *) q->data, 0, IB_PORT_MKEY_PROT_BITS_F);
	if (join_blocks(q + 1, own - 1, p->cap, &p->keys, &p->nkeys))
		return -1;
	if (!switches || !p->has_switch || !all_ok(q + own, blocks(p->switch_cap)))
		return 0;
	p->switch_read = true;
	return join_blocks(q + own, blocks(p->switch_cap), p->switch_cap, &p->switch_keys, &p->nswitch);
}

static int read_tables(struct wit_mad *m, struct wit_port **ports, size_t n, bool switches, int64_t deadline,
		       struct clf_error *err)
{
	struct wit_query *q;
	size_t total = 0, k = 0;
	int rc;

	for (size_t i = 0; i < n; i++)
		total += 1 + blocks(ports[i]->cap) + (switches ? blocks(ports[i]->switch_cap) : 0);
	q = calloc(total + 1, sizeof *q);
	if (!q)
		return clf_fail(err, CLF_E_NOMEM, "out of memory");
	for (size_t i = 0; i < n; i++)
		if (ports[i]->state == WIT_PORT_OK)
			k += ask_tables(ports[i], switches, q + k);
	rc = wit_mad_run(m, q, k, deadline, err);
	k = 0;
	for (size_t i = 0; !rc && i < n; i++) {
		size_t used = 1 + blocks(ports[i]->cap) +
			      (switches && ports[i]->has_switch ? blocks(ports[i]->switch_cap) : 0);

		if (ports[i]->state != WIT_PORT_OK)
			continue;
		if (take_tables(ports[i], switches, q + k))
			rc = clf_fail(err, CLF_E_NOMEM, "out of memory");
		k += used;
	}
	free(q);
	return rc;
}

int wit_read(struct wit_mad *m, struct wit_port **ports, size_t n, bool switches, int64_t deadline,
	     struct clf_error *err)
{
	for (size_t i = 0; i < n; i++) {
		forget_tables(ports[i]);
		ports[i]->directed = false;
		ports[i]->state = ports[i]->twice ? WIT_PORT_TWICE : WIT_PORT_SILENT;
	}
	if (ask_node(m, ports, n, false, deadline, err) || ask_switch(m, ports, n, deadline, err) ||
	    ask_node(m, ports, n, true, deadline, err))
		return -1;
	return read_tables(m, ports, n, switches, deadline, err);
}
