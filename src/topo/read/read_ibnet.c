/* SPDX-License-Identifier: GPL-2.0-or-later */
/* read_ibnet.c - the output of ibnetdiscover as a physical fabric; the tree is derived from it (topo_derive.c).
 *
 * A host is the first word of a CA's description when the second is a device name ("n1 mlx5_0"), which is what rdma-ndd
 * writes. A description that the firmware left names nobody: such a CA is a finding with its GUID. A system GUID joins
 * no HCAs to a host (there is one for each HCA), but it joins the chips of a chassis. Aggregation Nodes (SHARP) are
 * never hosts. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/strmap.h"
#include "topo/read/ibnet.h"
#include "topo/read/reader.h"
#include "topo/topo_builder.h"

#define DEVICE_AGGREGATION 0xcf09
#define BASE_NAME_MAX      40 /* with a GUID behind it a switch name stays under the 64 characters that Slurm takes */

struct ibnet {
	struct clf_ibnet net;
	struct clf_topo_builder *b;
	struct clf_strmap hosts, names; /* hosts: name -> node; names: base name of a switch -> how many have it */
	uint32_t lid_unset;
	struct clf_error *err;
};

static void ibnet_done(struct ibnet *n)
{
	clf_ibnet_done(&n->net);
	clf_topo_builder_destroy(n->b);
	clf_strmap_done(&n->hosts);
	clf_strmap_done(&n->names);
}

/* "node12 mlx5_0", "node12 HCA-3", "node12 ibp11s0f0": the host's name into out. */
static bool host_name(const char *desc, uint32_t len, char out[CLF_NAME_MAX])
{
	static const char *const devices[] = { "mlx4_", "mlx5_", "HCA-", "hfi1_", "ibp",   "ibs",
					       "ibo",   "ib",    "qib",  "mthca", "irdma", "bnxt_re" };
	const char *p = desc, *end = desc + len, *device;
	uint32_t n;

	while (p < end && (*p == ' ' || *p == '\t'))
		p++;
	while (end > p && (end[-1] == ' ' || end[-1] == '\t'))
		end--;
	for (n = 0; p + n < end && (isalnum((unsigned char) p[n]) || strchr("._-", p[n])); n++)
		;
	device = p + n;
	while (device < end && (*device == ' ' || *device == '\t'))
		device++;
	if (!n || n >= CLF_NAME_MAX || device == p + n)
		return false;
	for (size_t i = 0; i < sizeof devices / sizeof *devices; i++) {
		size_t k = strlen(devices[i]);

		if ((size_t) (end - device) <= k || strncmp(device, devices[i], k) ||
		    !isdigit((unsigned char) device[k]) || memchr(device, ' ', end - device))
			continue;
		snprintf(out, CLF_NAME_MAX, "%.*s", (int) n, p);
		return true;
	}
	return false;
}

static bool is_aggregation(const struct clf_ibnet_rec *r)
{
	return r->device == DEVICE_AGGREGATION || memmem(r->desc, r->desc_len, "Aggregation Node", 16);
}

static bool is_default_host(const char *name)
{
	static const char *const names[] = { "localhost", "localhost.localdomain", "ubuntu", "debian", "linux", "none",
					     "host" };

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (!strcasecmp(name, names[i]))
			return true;
	return false;
}

/* "MF0;leaf01:MQM9700/U1" -> "leaf01" and "U1"; "MF0;core1:MCS8500/L16/U2" -> "core1" and "L16.U2"; other texts as they
 * are. */
static void switch_name(const struct clf_ibnet_rec *r, char base[CLF_NAME_MAX], char chip[CLF_NAME_MAX])
{
	char text[CLF_NAME_MAX];
	char *name = text, *model, *slash;

	snprintf(text, sizeof text, "%.*s", (int) r->desc_len, r->desc);
	*chip = '\0';
	if (!strncmp(text, "MF0;", 4) && (model = strrchr(text, ':'))) {
		name += 4;
		*model++ = '\0';
		slash = strchr(model, '/');
		if (slash)
			snprintf(chip, CLF_NAME_MAX, "%.20s", slash + 1);
	}
	while (*name == ' ')
		name++;
	snprintf(base, CLF_NAME_MAX, "%s", name);
	for (char *c = base + strlen(base); c > base && c[-1] == ' ';)
		*--c = '\0';
	for (char *c = base; *c; c++)
		if (!isalnum((unsigned char) *c) && !strchr("._-", *c))
			*c = '-';
	for (char *c = chip; *c; c++)
		if (!isalnum((unsigned char) *c))
			*c = '.';
}

static int count_name(struct ibnet *n, const char *name)
{
	uint32_t count = 0;

	clf_strmap_find(&n->names, name, &count);
	return clf_strmap_set(&n->names, name, count + 1, n->err);
}

static uint32_t times(const struct ibnet *n, const char *name)
{
	uint32_t count = 0;

	clf_strmap_find(&n->names, name, &count);
	return count;
}

/* The system's name when one switch has it, else with the chip, else with the GUID: none of it depends on the order of
 * records. */
static void final_name(const struct ibnet *n, const struct clf_ibnet_rec *r, char out[CLF_NAME_MAX])
{
	char base[CLF_NAME_MAX], chip[CLF_NAME_MAX], full[2 * CLF_NAME_MAX];

	switch_name(r, base, chip);
	snprintf(full, sizeof full, "%s.%s", base, chip);
	if (*base && strlen(base) < 64 && times(n, base) == 1)
		snprintf(out, CLF_NAME_MAX, "%s", base);
	else if (*base && *chip && strlen(full) < 64 && times(n, full) == 1)
		snprintf(out, CLF_NAME_MAX, "%.*s", CLF_NAME_MAX - 1, full);
	else
		snprintf(out, CLF_NAME_MAX, "%.*s-%016llx", BASE_NAME_MAX, *base ? base : "switch",
			 (unsigned long long) r->guid);
}

static int by_system(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *) a, y = *(const uint64_t *) b;

	return (x > y) - (x < y);
}

static int add_switches(struct ibnet *n)
{
	uint32_t count = 0;
	CLF_AUTO_FREE uint64_t *systems = calloc(n->net.nrecs + 1, sizeof *systems);

	if (!systems)
		return clf_fail(n->err, CLF_E_NOMEM, "out of memory");
	for (uint32_t i = 0; i < n->net.nrecs; i++) {
		const struct clf_ibnet_rec *r = &n->net.recs[i];
		char base[CLF_NAME_MAX], chip[CLF_NAME_MAX], full[2 * CLF_NAME_MAX];

		if (r->kind == 'H')
			continue;
		systems[count++] = r->system;
		switch_name(r, base, chip);
		snprintf(full, sizeof full, "%s.%s", base, chip);
		if (count_name(n, base) || (*chip && count_name(n, full)))
			return -1;
	}
	qsort(systems, count, sizeof *systems, by_system);
	for (uint32_t i = 0; i < n->net.nrecs; i++) {
		struct clf_ibnet_rec *r = &n->net.recs[i];
		char name[CLF_NAME_MAX];
		struct clf_topo_switch sw = {
			.name = name, .guid = r->guid, .system = r->system, .group = CLF_NONE, .rail = CLF_NONE
		};
		struct clf_error why = { 0 };

		if (r->kind == 'H')
			continue;

		uint64_t *s = r->system ? bsearch(&r->system, systems, count, sizeof *systems, by_system) : NULL;
		bool shared = s && ((s > systems && s[-1] == *s) || (s + 1 < systems + count && s[1] == *s));

		sw.kind = r->kind == 'R' ? CLF_ROUTER : shared ? CLF_SWITCH_CHASSIS_CHIP : CLF_SWITCH;
		final_name(n, r, name);
		if (clf_topo_builder_switch(n->b, &sw, &r->id, &why))
			return clf_fail_at(n->err, why.code == CLF_E_NOMEM ? CLF_E_NOMEM : CLF_E_PARSE, r->text->name,
					   r->line, 1, "%s", why.text);
	}
	return 0;
}

/* "on port 3 of switch 'leaf1'" for a CA that the user has to find. */
static void where(const struct ibnet *n, const struct clf_ibnet_rec *r, char *out, size_t size)
{
	const struct clf_ibnet_port *p = r->nports ? &n->net.ports[r->first_port] : NULL;
	const struct clf_ibnet_rec *far = p ? clf_ibnet_find(&n->net, p->remote) : NULL;
	char name[CLF_NAME_MAX];

	if (!far || far->kind == 'H') {
		snprintf(out, size, "on no switch");
		return;
	}
	final_name(n, far, name);
	snprintf(out, size, "on port %d of switch '%s'", p->remote_port, name);
}

static int add_hosts(struct ibnet *n)
{
	for (uint32_t i = 0; i < n->net.nrecs; i++) {
		struct clf_ibnet_rec *r = &n->net.recs[i];
		char name[CLF_NAME_MAX], place[CLF_NAME_MAX + 64], id[24];
		struct clf_error why = { 0 };

		r->id = r->kind == 'H' ? CLF_NONE : r->id;
		if (r->kind != 'H' || is_aggregation(r))
			continue;
		if (!host_name(r->desc, r->desc_len, name)) {
			snprintf(id, sizeof id, "H-%016llx", (unsigned long long) r->guid);
			where(n, r, place, sizeof place);
			if (clf_topo_builder_finding(
				    n->b, CLF_FINDING_WARN, "ca-unnamed", id, n->err,
				    "description '%.*s' names no host; %s; start rdma-ndd on its host and import again",
				    (int) r->desc_len, r->desc, place))
				return -1;
			continue;
		}
		if (clf_strmap_find(&n->hosts, name, &r->id))
			continue;
		if (clf_topo_builder_node(n->b, name, &r->id, &why))
			return clf_fail_at(n->err, why.code == CLF_E_NOMEM ? CLF_E_NOMEM : CLF_E_PARSE, r->text->name,
					   r->line, 1, "%s", why.text);
		if (clf_strmap_add(&n->hosts, name, r->id, n->err))
			return -1;
		if (is_default_host(name) &&
		    clf_topo_builder_finding(n->b, CLF_FINDING_WARN, "host-default-name", name, n->err,
					     "a name that an installer leaves; several machines may hide behind it"))
			return -1;
	}
	return 0;
}

static int link_finding(struct ibnet *n, const struct clf_ibnet_rec *r, const struct clf_ibnet_port *p,
			enum clf_finding_level level, const char *code, const char *text)
{
	char subject[CLF_NAME_MAX + 24], name[CLF_NAME_MAX];

	if (r->kind == 'H')
		snprintf(name, sizeof name, "H-%016llx", (unsigned long long) r->guid);
	else
		final_name(n, r, name);
	snprintf(subject, sizeof subject, "%s[%d]", name, p->port);
	return clf_topo_builder_finding(n->b, level, code, subject, n->err, "%s", text);
}

/* Both ends of a cable list it. Returns the other end's view, NULL when it has none; *skip when this cable is not ours
 * to add. */
static int other_end(struct ibnet *n, const struct clf_ibnet_rec *r, const struct clf_ibnet_port *p,
		     const struct clf_ibnet_rec *far, struct clf_ibnet_port **back, bool *skip)
{
	*back = clf_ibnet_port_of(&n->net, far, p->remote_port);
	if (!*back) {
		if (far == &n->net.recs[n->net.nrecs - 1])
			return clf_fail_at(n->err, CLF_E_PARSE, far->text->name, far->line, 1,
					   "the last record does not list port %d, which line %d connects: the dump is "
					   "not complete",
					   p->remote_port, p->line);
		return link_finding(n, r, p, CLF_FINDING_WARN, "link-one-sided",
				    "the far end does not list this cable");
	}
	if ((*back)->remote != r->guid || (*back)->remote_port != p->port) {
		*skip = true;
		return link_finding(n, r, p, CLF_FINDING_WARN, "link-mismatch",
				    "the far end says that its cable leads elsewhere; left out");
	}
	*skip = far->guid < r->guid || (far->guid == r->guid && p->remote_port < p->port);
	return 0;
}

static int add_link(struct ibnet *n, const struct clf_ibnet_rec *r, const struct clf_ibnet_port *p)
{
	const struct clf_ibnet_rec *far = clf_ibnet_find(&n->net, p->remote), *a = r, *b = far;
	const struct clf_ibnet_port *pa = p, *pb = NULL;
	struct clf_ibnet_port *back;
	bool skip = false;

	n->lid_unset += r->kind != 'H' && p->lid_unset;
	if (other_end(n, r, p, far, &back, &skip))
		return -1;
	if (skip)
		return 0;
	if (far == r)
		return link_finding(n, r, p, CLF_FINDING_INFO, "link-loop",
				    "a cable from a switch to itself; left out");
	if (a->kind == 'H' && b->kind == 'H')
		return link_finding(n, r, p, CLF_FINDING_INFO, "link-back-to-back",
				    "a cable between two hosts; left out");
	pb = back;
	if (a->kind == 'H' || (b->kind != 'H' && b->guid < a->guid)) {
		a = far;
		b = r;
		pa = back;
		pb = p;
	}
	if (b->kind == 'H' && b->id == CLF_NONE)
		return 0; /* an Aggregation Node, or a CA that has its finding */

	uint32_t other = back ? back->speed_mbps : p->speed_mbps;
	struct clf_topo_link link = {
		.a = a->id,
		.b = b->id,
		.a_port = a == r ? p->port : p->remote_port,
		.b_port = a == r ? p->remote_port : p->port,
		.node_end = b->kind == 'H',
		.speed_mbps = other < p->speed_mbps ? other : p->speed_mbps,
	};

	if (link.node_end)
		link.b_guid = pb && pb->guid ? pb->guid : pa ? pa->guid : 0;
	if (clf_topo_builder_link(n->b, &link, n->err))
		return -1;
	if (other == p->speed_mbps)
		return 0;
	return link_finding(n, r, p, CLF_FINDING_WARN, "link-speed-differs",
			    "the two ends of this cable name different speeds; the lower one counts");
}

static int summarise(struct ibnet *n, const char *file)
{
	if (n->net.noise &&
	    clf_topo_builder_finding(n->b, CLF_FINDING_INFO, "noise-lines", file, n->err,
				     "%u lines are no part of a dump and were passed over, the first is line %u",
				     n->net.noise, n->net.noise_line))
		return -1;
	if (n->lid_unset &&
	    clf_topo_builder_finding(n->b, CLF_FINDING_WARN, "lid-unset", file, n->err,
				     "%u ports have LID 65535: the subnet manager has not set them up", n->lid_unset))
		return -1;
	return 0;
}

static int read_dumps(const struct clf_text *const *texts, size_t ntexts, struct clf_topo **out, struct clf_error *err)
{
	CLF_CLEANUP(ibnet_done) struct ibnet n = { .err = err, .hosts.copy = true, .names.copy = true };

	n.b = clf_topo_builder_create("ibnetdiscover", err);
	if (!n.b)
		return -1;
	for (size_t i = 0; i < ntexts; i++)
		if (clf_ibnet_parse(&n.net, texts[i], err))
			return -1;
	if (clf_ibnet_index(&n.net, err) || add_switches(&n) || add_hosts(&n))
		return -1;
	for (uint32_t i = 0; i < n.net.nrecs; i++)
		for (uint32_t k = 0; k < n.net.recs[i].nports; k++)
			if (add_link(&n, &n.net.recs[i], &n.net.ports[n.net.recs[i].first_port + k]))
				return -1;
	if (summarise(&n, texts[0]->name))
		return -1;
	return clf_topo_builder_finish(CLF_STEAL(n.b), out, err);
}

static int read_ibnet(const struct clf_text *text, struct clf_topo **out, struct clf_error *err)
{
	return read_dumps(&text, 1, out, err);
}

const struct clf_reader clf_reader_ibnet = {
	.name = "ibnetdiscover",
	.about = "output of ibnetdiscover (InfiniBand); several files are the subnets of one cluster",
	.max_bytes = 512u << 20,
	.read = read_ibnet,
	.read_many = read_dumps,
};
