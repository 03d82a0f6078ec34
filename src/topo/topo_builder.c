/* SPDX-License-Identifier: GPL-2.0-or-later */
/* topo_builder.c - collects what a source says, with the caps of topo.h; finish() makes the model of it. */
#include "topo/topo_builder.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "topo/topo_check.h"
#include "topo/topo_priv.h"

#define MAX_FINDINGS 1048576

struct clf_topo_builder *clf_topo_builder_create(const char *source, struct clf_error *err)
{
	CLF_CLEANUP(clf_topo_builder_destroyp) struct clf_topo_builder *b = clf_topo_alloc(1, sizeof *b, err);

	if (!b)
		return NULL;
	b->source = clf_pool_add(&b->pool, source, strlen(source), err);
	return b->source ? CLF_STEAL(b) : NULL;
}

void clf_topo_builder_destroy(struct clf_topo_builder *b)
{
	if (!b)
		return;
	free(b->nodes);
	free(b->groups);
	free(b->switches);
	free(b->links);
	free(b->findings);
	free(b->domains);
	clf_strmap_done(&b->node_names);
	clf_strmap_done(&b->group_names);
	clf_strmap_done(&b->switch_names);
	clf_strmap_done(&b->domain_names);
	clf_pool_done(&b->pool);
	free(b);
}

/* Room for element n of an array of at most max. */
static int grow(void *array, uint32_t *cap, uint32_t n, size_t size, uint32_t max, const char *what,
		struct clf_error *err)
{
	if (n >= max)
		return clf_fail(err, CLF_E_NOMEM, "more than %u %s, which is the most a topology may have", max, what);
	if (n < *cap)
		return 0;

	uint32_t want = *cap ? 2 * *cap : 64;
	void *p = realloc(*(void **) array, want * size);

	if (!p)
		return clf_fail(err, CLF_E_NOMEM, "out of memory");
	*(void **) array = p;
	*cap = want;
	return 0;
}

/* Check a name, enter it into its map as id n, keep a copy. */
static const char *take_name(struct clf_topo_builder *b, struct clf_strmap *map, const char *what, const char *name,
			     uint32_t n, struct clf_error *err)
{
	size_t len = strlen(name);

	if (!len || len >= CLF_NAME_MAX) {
		clf_fail(err, CLF_E_INVALID, "%s name of %zu characters: '%.40s', want 1 to %d", what, len, name,
			 CLF_NAME_MAX - 1);
		return NULL;
	}
	for (const char *c = name; *c; c++)
		if (*c <= ' ' || *c >= 0x7F || strchr("\"'\\,[]{}#=", *c)) {
			clf_fail(err, CLF_E_INVALID, "%s name '%s' holds %s", what, name,
				 *c <= ' ' || *c >= 0x7F ? "a blank, a control character or one beyond ASCII"
							 : "one of \" ' \\ , [ ] { } # =");
			return NULL;
		}
	if (clf_strmap_find(map, name, &(uint32_t){ 0 })) {
		clf_fail(err, CLF_E_CONFLICT, "%s '%s' is there twice", what, name);
		return NULL;
	}

	const char *copy = clf_pool_add(&b->pool, name, len, err);

	return copy && !clf_strmap_add(map, copy, n, err) ? copy : NULL;
}

int clf_topo_builder_node(struct clf_topo_builder *b, const char *name, uint32_t *id, struct clf_error *err)
{
	if (grow(&b->nodes, &b->cap_nodes, b->nnodes, sizeof *b->nodes, CLF_MAX_NODES, "nodes", err))
		return -1;

	const char *copy = take_name(b, &b->node_names, "node", name, b->nnodes, err);

	if (!copy)
		return -1;
	b->nodes[b->nnodes] = (struct clf_bnode){ .name = copy, .group = CLF_NONE, .domain = CLF_NONE };
	*id = b->nnodes++;
	return 0;
}

int clf_topo_builder_domain(struct clf_topo_builder *b, uint32_t node, const char *domain, struct clf_error *err)
{
	uint32_t d = 0;

	if (node >= b->nnodes)
		return clf_fail(err, CLF_E_INTERNAL, "domain for node %u of %u", node, b->nnodes);
	if (!clf_strmap_find(&b->domain_names, domain, &d)) {
		if (grow(&b->domains, &b->cap_domains, b->ndomains, sizeof *b->domains, CLF_MAX_NODES, "domains", err))
			return -1;

		const char *copy = take_name(b, &b->domain_names, "domain", domain, b->ndomains, err);

		if (!copy)
			return -1;
		d = b->ndomains++;
		b->domains[d] = copy;
	}
	b->nodes[node].domain = d;
	return 0;
}

int clf_topo_builder_rails(struct clf_topo_builder *b, uint32_t node, uint32_t rails, struct clf_error *err)
{
	if (node >= b->nnodes)
		return clf_fail(err, CLF_E_INTERNAL, "rails for node %u of %u", node, b->nnodes);
	b->nodes[node].rails = rails;
	return 0;
}

int clf_topo_builder_switch(struct clf_topo_builder *b, const struct clf_topo_switch *sw, uint32_t *id,
			    struct clf_error *err)
{
	if (grow(&b->switches, &b->cap_switches, b->nswitches, sizeof *b->switches, CLF_MAX_SWITCHES, "switches", err))
		return -1;
	if (sw->rail != CLF_NONE && sw->rail >= CLF_MAX_RAILS)
		return clf_fail(err, CLF_E_INVALID, "rail %u of switch '%s', want 0 to %d", sw->rail, sw->name,
				CLF_MAX_RAILS - 1);

	const char *copy = take_name(b, &b->switch_names, "switch", sw->name, b->nswitches, err);

	if (!copy)
		return -1;
	b->switches[b->nswitches] = *sw;
	b->switches[b->nswitches].name = copy;
	*id = b->nswitches++;
	return 0;
}

int clf_topo_builder_link(struct clf_topo_builder *b, const struct clf_topo_link *link, struct clf_error *err)
{
	if (grow(&b->links, &b->cap_links, b->nlinks, sizeof *b->links, CLF_MAX_LINKS, "links", err))
		return -1;
	if (link->a >= b->nswitches || link->b >= (link->node_end ? b->nnodes : b->nswitches))
		return clf_fail(err, CLF_E_INTERNAL, "link to something that is not there");
	b->links[b->nlinks++] = *link;
	return 0;
}

void clf_topo_builder_given(struct clf_topo_builder *b)
{
	b->given = true;
}

int clf_topo_builder_group(struct clf_topo_builder *b, const char *name, uint32_t *id, struct clf_error *err)
{
	if (grow(&b->groups, &b->cap_groups, b->ngroups, sizeof *b->groups, CLF_MAX_LEVELS * CLF_MAX_SWITCHES, "groups",
		 err))
		return -1;

	const char *copy = take_name(b, &b->group_names, "group", name, b->ngroups, err);

	if (!copy)
		return -1;
	b->given = true;
	b->groups[b->ngroups] = (struct clf_bgroup){ .name = copy, .parent = CLF_NONE };
	*id = b->ngroups++;
	return 0;
}

int clf_topo_builder_parent(struct clf_topo_builder *b, uint32_t group, uint32_t parent, struct clf_error *err)
{
	if (group >= b->ngroups || parent >= b->ngroups)
		return clf_fail(err, CLF_E_INTERNAL, "parent %u for group %u of %u", parent, group, b->ngroups);
	b->groups[group].parent = parent;
	return 0;
}

int clf_topo_builder_place(struct clf_topo_builder *b, uint32_t node, uint32_t group, struct clf_error *err)
{
	if (node >= b->nnodes || group >= b->ngroups)
		return clf_fail(err, CLF_E_INTERNAL, "node %u in group %u of %u", node, group, b->ngroups);
	b->nodes[node].group = group;
	return 0;
}

int clf_topo_builder_finding(struct clf_topo_builder *b, enum clf_finding_level level, const char *code,
			     const char *subject, struct clf_error *err, const char *fmt, ...)
{
	char text[400];
	va_list ap;

	if (grow(&b->findings, &b->cap_findings, b->nfindings, sizeof *b->findings, MAX_FINDINGS, "findings", err))
		return -1;
	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);

	for (char *c = text; *c; c++)
		if (*c < ' ' || *c >= 0x7F)
			*c = '?';

	struct clf_finding f = {
		.level = level,
		.code = clf_pool_add(&b->pool, code, strlen(code), err),
		.subject = clf_pool_add(&b->pool, subject, strlen(subject), err),
		.text = clf_pool_add(&b->pool, text, strlen(text), err),
	};

	if (!f.code || !f.subject || !f.text)
		return -1;
	b->findings[b->nfindings++] = f;
	return 0;
}

/* Errors first, then by code and subject: the order does not depend on the order of a file. */
static int by_finding(const void *a, const void *b)
{
	const struct clf_finding *x = a, *y = b;

	if (x->level != y->level)
		return x->level > y->level ? -1 : 1;

	int c = strcmp(x->code, y->code);

	c = c ? c : clf_strnatcmp(x->subject, y->subject);
	return c ? c : strcmp(x->text, y->text);
}

int clf_topo_builder_finish(struct clf_topo_builder *builder, struct clf_topo **out, struct clf_error *err)
{
	CLF_CLEANUP(clf_topo_builder_destroyp) struct clf_topo_builder *b = builder;
	CLF_CLEANUP(clf_topo_destroyp) struct clf_topo *t = NULL;

	if (!b->given && (clf_topo_derive(b, err) || clf_topo_health(b, err)))
		return -1;
	if (clf_topo_number(b, &t, err))
		return -1;
	if (t->nfindings > 1)
		qsort(t->findings, t->nfindings, sizeof *t->findings, by_finding);
	if (clf_topo_check(t, err))
		return -1;
	*out = CLF_STEAL(t);
	return 0;
}
