/* SPDX-License-Identifier: GPL-2.0-or-later */
/* topo_synth.c - a fabric from a description of one line.
 *
 * Names: nodes n1.. (or the pattern) along the fabric; leaves l1.., pods p1.., cores c1.., groups of a dragonfly g1..;
 * NVLink domains d1.., never across a leaf; switches of a rail-optimised leaf l1r0.. . One group "top" is added where
 * the highest level has several. */
#include "topo/topo_synth.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/lex.h"
#include "topo/topo_builder.h"
#include "topo/topo_priv.h"

enum { KEY_CORE, KEY_POD, KEY_GROUP, KEY_LEAF, KEY_NODE, KEY_RAIL, KEY_NVL, KEY_NAMES, NKEYS };
static const char *const keys[NKEYS] = { "core", "pod", "group", "leaf", "node", "rail", "nvl", "names" };

struct synth {
	const char *source, *text;
	int line, column; /* place of text[0] */
	struct clf_error *err;
	bool dragonfly;
	uint32_t value[NKEYS]; /* 0 = not given */
	const char *at[NKEYS]; /* where the key stands */
	char prefix[CLF_NAME_MAX], suffix[CLF_NAME_MAX];
	int width; /* zero padding of the number in a name */
	const char *end;
};

#define WRONG(s, where, ...)                                                                                           \
	clf_fail_at((s)->err, CLF_E_PARSE, (s)->source, (s)->line, (s)->column + (int) ((where) - (s)->text),          \
		    __VA_ARGS__)

static bool host_char(char c)
{
	return isalnum((unsigned char) c) || c == '.' || c == '_' || c == '-';
}

/* "gpu%d", "gpu%03d-a": one number, the rest host-name characters. */
static int parse_names(struct synth *s, const char *p, const char *end)
{
	const char *pct = memchr(p, '%', end - p), *q = pct ? pct + 1 : end;

	if (end - p >= CLF_NAME_MAX - 16)
		return WRONG(s, p, "name pattern of %zu characters, want at most %d", (size_t) (end - p),
			     CLF_NAME_MAX - 17);
	if (q < end && *q == '0')
		for (q++; q < end && isdigit((unsigned char) *q) && s->width < 10; q++)
			s->width = 10 * s->width + (*q - '0');
	if (!pct || q >= end || *q != 'd' || s->width > 9)
		return WRONG(s, p, "name pattern '%.*s' without a number, want one like 'gpu%%d' or 'gpu%%03d'",
			     (int) (end - p), p);
	for (const char *c = p; c < end; c++)
		if (!(c >= pct && c <= q) && !host_char(*c))
			return WRONG(s, c, "character '%c' in a host name, want letters, digits, '.', '_' or '-'", *c);
	snprintf(s->prefix, sizeof s->prefix, "%.*s", (int) (pct - p), p);
	snprintf(s->suffix, sizeof s->suffix, "%.*s", (int) (end - q - 1), q + 1);
	return 0;
}

static int parse_word(struct synth *s, const char *p, const char *end, int *last)
{
	const char *colon = memchr(p, ':', end - p);
	unsigned long long v = 0;
	int k = 0;

	if (!colon)
		return WRONG(s, p, "'%.*s', want KEY:VALUE like 'leaf:8'", (int) (end - p), p);
	while (k < NKEYS && (strlen(keys[k]) != (size_t) (colon - p) || strncmp(keys[k], p, colon - p)))
		k++;
	if (k == NKEYS)
		return WRONG(
			s, p,
			"unknown key '%.*s', want core, pod, leaf, node, rail, nvl, names, or group after 'dragonfly'",
			(int) (colon - p), p);
	if (s->at[k])
		return WRONG(s, p, "key '%s' is there twice", keys[k]);
	if (s->dragonfly ? k == KEY_CORE || k == KEY_POD : k == KEY_GROUP)
		return WRONG(s, p, "'%s' %s", keys[k],
			     s->dragonfly ? "in a dragonfly, want group, leaf, node" : "is for 'dragonfly ...' only");
	s->at[k] = p;
	if (k <= KEY_NODE) {
		if (k < *last)
			return WRONG(s, p, "'%s' below '%s', want levels from the top: core, pod, leaf, node", keys[k],
				     keys[*last]);
		*last = k;
	}
	if (k == KEY_NAMES)
		return parse_names(s, colon + 1, end);
	if (!clf_parse_u64(colon + 1, end - colon - 1, &v) || !v || v > CLF_MAX_NODES)
		return WRONG(s, colon + 1, "'%.*s' for '%s', want a number from 1 to %d", (int) (end - colon - 1),
			     colon + 1, keys[k], CLF_MAX_NODES);
	if (k == KEY_RAIL && v > CLF_MAX_RAILS)
		return WRONG(s, colon + 1, "%llu rails, want at most %d", v, CLF_MAX_RAILS);
	s->value[k] = v;
	return 0;
}

static int parse(struct synth *s)
{
	const char *p = s->text;
	int last = 0, words = 0;

	while (*p) {
		size_t n = strcspn(p, " \t");

		if (!n) {
			p++;
			continue;
		}
		if (!words++ && n == 9 && !strncmp(p, "dragonfly", n))
			s->dragonfly = true;
		else if (parse_word(s, p, p + n, &last))
			return -1;
		p += n;
	}
	s->end = p;
	for (int k = s->dragonfly ? KEY_GROUP : KEY_LEAF; k <= KEY_NODE; k++)
		if (!s->at[k])
			return WRONG(s, p, "no '%s:N'%s", keys[k],
				     words ? "" : ", want a description like 'pod:4 leaf:8 node:16'");
	return 0;
}

/* Refuse before anything is made; all factors are at most 2^18, so four of them do not fit, but one product at a time
 * does. */
static int check_size(struct synth *s)
{
	uint64_t groups = 1, nodes = 1, switches = 0;

	for (int k = KEY_CORE; k <= KEY_NODE; k++) {
		if (!s->value[k])
			continue;
		nodes *= s->value[k];
		if (nodes > CLF_MAX_NODES)
			return WRONG(s, s->at[k], "more than %d nodes, which is the most a topology may have",
				     CLF_MAX_NODES);
		if (k == KEY_NODE)
			break;
		groups = nodes;
		switches += k == KEY_LEAF && s->value[KEY_RAIL] ? groups * s->value[KEY_RAIL] : groups;
	}
	if (switches + 1 > CLF_MAX_SWITCHES)
		return WRONG(s, s->at[KEY_LEAF], "%llu switches, a topology may have %d",
			     (unsigned long long) switches + 1, CLF_MAX_SWITCHES);
	return 0;
}

static int add_group(struct clf_topo_builder *b, const char *name, uint32_t parent, uint32_t rails, uint32_t *id,
		     struct clf_error *err)
{
	uint32_t sw = 0;

	if (clf_topo_builder_group(b, name, id, err))
		return -1;
	if (parent != CLF_NONE && clf_topo_builder_parent(b, *id, parent, err))
		return -1;
	for (uint32_t r = 0; r < (rails ? rails : 1); r++) {
		char swname[CLF_NAME_MAX];

		if (rails)
			snprintf(swname, sizeof swname, "%sr%u", name, r);
		else
			snprintf(swname, sizeof swname, "%s", name);
		if (clf_topo_builder_switch(
			    b, &(struct clf_topo_switch){ .name = swname, .group = *id, .rail = rails ? r : CLF_NONE },
			    &sw, err))
			return -1;
	}
	return 0;
}

static int fill_leaf(const struct synth *s, struct clf_topo_builder *b, uint32_t leaf, uint32_t nth,
		     struct clf_error *err)
{
	uint32_t n = s->value[KEY_NODE], nvl = s->value[KEY_NVL];

	for (uint32_t i = 0; i < n; i++) {
		char name[2 * CLF_NAME_MAX + 16], domain[24]; /* too long ones are refused by the builder */
		uint32_t node = 0;

		snprintf(name, sizeof name, "%s%0*u%s", s->prefix, s->width, nth * n + i + 1, s->suffix);
		if (clf_topo_builder_node(b, name, &node, err) || clf_topo_builder_place(b, node, leaf, err))
			return -1;
		if (s->value[KEY_RAIL] &&
		    clf_topo_builder_rails(b, node, (uint32_t) ((UINT64_C(1) << s->value[KEY_RAIL]) - 1), err))
			return -1;
		snprintf(domain, sizeof domain, "d%u", nvl ? nth * ((n + nvl - 1) / nvl) + i / nvl + 1 : 0);
		if (nvl && clf_topo_builder_domain(b, node, domain, err))
			return -1;
	}
	return 0;
}

/* Level k below parent, then what hangs below; counters number each level through the whole fabric. */
static int add_level(const struct synth *s, struct clf_topo_builder *b, int k, uint32_t parent, uint32_t counter[NKEYS],
		     struct clf_error *err)
{
	static const char prefix[] = { [KEY_CORE] = 'c', [KEY_POD] = 'p', [KEY_GROUP] = 'g', [KEY_LEAF] = 'l' };

	while (!s->value[k])
		k++;
	for (uint32_t i = 0; i < s->value[k]; i++) {
		char name[24];
		uint32_t id = 0;

		snprintf(name, sizeof name, "%c%u", prefix[k], counter[k] + 1);
		if (add_group(b, name, parent, k == KEY_LEAF ? s->value[KEY_RAIL] : 0, &id, err))
			return -1;
		if (k == KEY_LEAF ? fill_leaf(s, b, id, counter[k], err) : add_level(s, b, k + 1, id, counter, err))
			return -1;
		counter[k]++;
	}
	return 0;
}

int clf_topo_synth_text(const char *source, int line, int column, const char *description, struct clf_topo **out,
			struct clf_error *err)
{
	struct synth s = {
		.source = source, .text = description, .line = line, .column = column, .err = err, .prefix = "n"
	};
	uint32_t counter[NKEYS] = { 0 }, top = CLF_NONE;
	int k = KEY_CORE;

	if (parse(&s) || check_size(&s))
		return -1;

	CLF_CLEANUP(clf_topo_builder_destroyp) struct clf_topo_builder *b = clf_topo_builder_create("synth", err);

	if (!b)
		return -1;
	while (!s.value[k])
		k++;
	if (s.value[k] > 1 && add_group(b, "top", CLF_NONE, 0, &top, err))
		return -1;
	if (add_level(&s, b, k, top, counter, err))
		return -1;
	return clf_topo_builder_finish(CLF_STEAL(b), out, err);
}

int clf_topo_synth(const char *description, struct clf_topo **out, struct clf_error *err)
{
	return clf_topo_synth_text("description", 1, 1, description, out, err);
}
