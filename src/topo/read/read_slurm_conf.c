/* SPDX-License-Identifier: GPL-2.0-or-later */
/* read_slurm_conf.c - Slurm's topology.conf for topology/tree.
 *
 * What makes slurmctld stop is an error here; what it only warns of, or takes silently (a switch under two parents: the
 * last wins), is a finding with the line. A node in two leaves stays in the first. Source: topology.conf(5), and
 * slurmctld's reading of it (plugins topology/tree, 22.05 and 26.11). */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/buf.h"
#include "base/hostlist.h"
#include "base/strmap.h"
#include "topo/read/reader.h"
#include "topo/topo_builder.h"

#define MAX_SWITCH_NAME 64
#define MAX_VALUE       1048576

struct value {
	char *text; /* owned; NULL = key not given */
	int line, column;
};

struct entry {
	struct value name, nodes, switches;
	uint32_t parent;
	bool used; /* a node is below */
	uint32_t group;
};

struct slurm {
	const struct clf_text *text;
	struct clf_error *err;
	const char *p, *end, *line_start;
	int line;
	struct entry *e;
	uint32_t n, cap;
	struct clf_strmap by_name; /* keys: entry names */
	struct clf_topo_builder *b;
	uint32_t *leaf_of; /* by builder node: entry */
};

static void slurm_done(struct slurm *s)
{
	for (uint32_t i = 0; i < s->n; i++) {
		free(s->e[i].name.text);
		free(s->e[i].nodes.text);
		free(s->e[i].switches.text);
	}
	free(s->e);
	free(s->leaf_of);
	clf_strmap_done(&s->by_name);
	clf_topo_builder_destroy(s->b);
}

#define WRONG(s, line, column, ...) clf_fail_at((s)->err, CLF_E_PARSE, (s)->text->name, line, column, __VA_ARGS__)

static int column(const struct slurm *s)
{
	return (int) (s->p - s->line_start) + 1;
}

static void newline(struct slurm *s)
{
	s->p++;
	s->line++;
	s->line_start = s->p;
}

/* A backslash before the end of a line joins the next one. */
static void join_lines(struct slurm *s)
{
	while (s->p < s->end && *s->p == '\\' &&
	       ((s->end - s->p > 1 && s->p[1] == '\n') || (s->end - s->p > 2 && s->p[1] == '\r' && s->p[2] == '\n'))) {
		s->p += s->p[1] == '\r' ? 2 : 1;
		newline(s);
	}
}

/* Blanks and comments; stops at a word, at the end of the (joined) line or of the text. */
static void skip_blank(struct slurm *s)
{
	for (;;) {
		join_lines(s);
		if (s->p < s->end && (*s->p == ' ' || *s->p == '\t' || *s->p == '\r'))
			s->p++;
		else if (s->p < s->end && *s->p == '#')
			while (s->p < s->end && *s->p != '\n')
				s->p++;
		else
			return;
	}
}

static int read_value(struct slurm *s, struct value *v)
{
	struct clf_buf buf = CLF_BUF_INIT(MAX_VALUE);
	bool quoted = s->p < s->end && *s->p == '"';
	int rc = 0;

	v->line = s->line;
	v->column = column(s) + quoted;
	if (quoted)
		s->p++;
	for (; !rc; s->p++) {
		join_lines(s);
		if (s->p >= s->end || *s->p == '\n' ||
		    (quoted ? *s->p == '"' : isspace((unsigned char) *s->p) || *s->p == '#'))
			break;
		rc = clf_buf_add(&buf, s->p, 1, s->err);
	}
	if (!rc && quoted && (s->p >= s->end || *s->p != '"'))
		rc = WRONG(s, v->line, v->column - 1, "quote is not closed on its line");
	else if (!rc && quoted)
		s->p++;
	if (!rc && !buf.len)
		rc = WRONG(s, v->line, v->column, "no value after '='");
	if (!rc)
		v->text = clf_buf_steal(&buf);
	clf_buf_done(&buf);
	return rc;
}

static bool is_key(const char *key, size_t len, const char *want)
{
	return strlen(want) == len && !strncasecmp(key, want, len);
}

/* One KEY=VALUE. *e is the switch of this line, NULL before its SwitchName. */
static int read_pair(struct slurm *s, struct entry **e)
{
	const char *key = s->p;
	int line = s->line, at = column(s);
	struct value speed = { 0 }, *v = NULL;

	while (s->p < s->end && (isalnum((unsigned char) *s->p) || *s->p == '_' || *s->p == '.'))
		s->p++;

	size_t len = s->p - key;

	skip_blank(s);
	if (!len || s->p >= s->end || *s->p != '=')
		return WRONG(
			s, line, at,
			"want KEY=VALUE, a line is 'SwitchName=NAME Nodes=LIST' or 'SwitchName=NAME Switches=LIST'");
	s->p++;
	skip_blank(s);
	if (is_key(key, len, "SwitchName")) {
		if (*e)
			return WRONG(s, line, at, "second SwitchName on one line");
		if (s->n == CLF_MAX_SWITCHES)
			return clf_fail_at(s->err, CLF_E_NOMEM, s->text->name, line, at, "more than %d switches",
					   CLF_MAX_SWITCHES);
		if (s->n == s->cap) {
			uint32_t cap = s->cap ? 2 * s->cap : 64;
			struct entry *p = realloc(s->e, cap * sizeof *p);

			if (!p)
				return clf_fail(s->err, CLF_E_NOMEM, "out of memory");
			s->e = p;
			s->cap = cap;
		}
		*e = &s->e[s->n++];
		**e = (struct entry){ .parent = CLF_NONE, .group = CLF_NONE };
		v = &(*e)->name;
	} else if (is_key(key, len, "BlockName") || is_key(key, len, "BlockSizes")) {
		return WRONG(s, line, at,
			     "this file is for topology/block; want the SwitchName lines of topology/tree");
	} else if (is_key(key, len, "Include")) {
		return WRONG(s, line, at, "Include is not followed; give the file with the SwitchName lines itself");
	} else if (!*e) {
		return WRONG(s, line, at, "'%.*s' before SwitchName, want 'SwitchName=NAME' first", (int) len, key);
	} else if (is_key(key, len, "Nodes")) {
		v = &(*e)->nodes;
	} else if (is_key(key, len, "Switches")) {
		v = &(*e)->switches;
	} else if (is_key(key, len, "LinkSpeed")) {
		v = &speed; /* Slurm ignores it, its unit is free */
	} else {
		return WRONG(s, line, at, "unknown key '%.*s', want SwitchName, Nodes, Switches or LinkSpeed",
			     (int) len, key);
	}
	if (v->text)
		return WRONG(s, line, at, "'%.*s' is there twice", (int) len, key);
	if (read_value(s, v))
		return -1;
	free(speed.text);
	return 0;
}

static int end_line(struct slurm *s, struct entry *e)
{
	uint32_t first;

	if (!e)
		return 0;
	if (strlen(e->name.text) > MAX_SWITCH_NAME)
		return WRONG(s, e->name.line, e->name.column,
			     "switch name of %zu characters, slurmctld takes at most %d", strlen(e->name.text),
			     MAX_SWITCH_NAME);
	if (e->nodes.text && e->switches.text)
		return WRONG(s, e->switches.line, e->switches.column,
			     "switch '%s' has Nodes and Switches, slurmctld stops at both", e->name.text);
	if (clf_strmap_find(&s->by_name, e->name.text, &first))
		return WRONG(s, e->name.line, e->name.column, "switch '%s' is there twice, first on line %d",
			     e->name.text, s->e[first].name.line);
	return clf_strmap_add(&s->by_name, e->name.text, (uint32_t) (e - s->e), s->err);
}

static int read_lines(struct slurm *s)
{
	while (s->p < s->end) {
		struct entry *e = NULL;

		for (skip_blank(s); s->p < s->end && *s->p != '\n'; skip_blank(s))
			if (read_pair(s, &e))
				return -1;
		if (end_line(s, e))
			return -1;
		if (s->p < s->end)
			newline(s);
	}
	return s->n ? 0
		    : WRONG(s, s->line, 1, "no SwitchName line; slurmctld does not start with an empty topology.conf");
}

/* Hosts or switch names of a value; a bad expression is told at its place. */
static int expand(struct slurm *s, const struct value *v, size_t max, struct clf_strv *out)
{
	struct clf_error why = { 0 };

	if (!v->text || !clf_hostlist_expand(v->text, max, out, &why))
		return 0;
	return clf_fail_at(s->err, why.code, s->text->name, v->line, v->column + (why.column ? why.column - 1 : 0),
			   "%s", why.text);
}

static int find_children(struct slurm *s, uint32_t i)
{
	const struct entry *e = &s->e[i];
	CLF_CLEANUP(clf_strv_done) struct clf_strv names = { 0 };

	if (expand(s, &e->switches, CLF_MAX_SWITCHES, &names))
		return -1;
	for (size_t k = 0; k < names.n; k++) {
		uint32_t c;

		if (!clf_strmap_find(&s->by_name, names.v[k], &c))
			return WRONG(s, e->switches.line, e->switches.column,
				     "switch '%s' has a child '%s' that no line defines", e->name.text, names.v[k]);
		if (c == i)
			return WRONG(s, e->switches.line, e->switches.column, "switch '%s' is its own child",
				     e->name.text);
		if (s->e[c].parent != CLF_NONE && s->e[c].parent != i &&
		    clf_topo_builder_finding(
			    s->b, CLF_FINDING_ERROR, "switch-two-parents", names.v[k], s->err,
			    "is below '%s' (line %d) and below '%s' (line %d); slurmctld keeps the last without a word",
			    s->e[s->e[c].parent].name.text, s->e[s->e[c].parent].switches.line, e->name.text,
			    e->switches.line))
			return -1;
		s->e[c].parent = i;
	}
	return 0;
}

static int find_nodes(struct slurm *s, uint32_t i, struct clf_strmap *seen)
{
	struct entry *e = &s->e[i];
	CLF_CLEANUP(clf_strv_done) struct clf_strv names = { 0 };

	if (expand(s, &e->nodes, CLF_MAX_NODES, &names))
		return -1;
	for (size_t k = 0; k < names.n; k++) {
		struct clf_error why = { 0 };
		uint32_t id;

		if (clf_strmap_find(seen, names.v[k], &id)) {
			const struct entry *first = &s->e[s->leaf_of[id]];
			bool same = s->leaf_of[id] == i;

			if (clf_topo_builder_finding(
				    s->b, same ? CLF_FINDING_WARN : CLF_FINDING_ERROR,
				    same ? "node-repeated" : "node-two-leaves", names.v[k], s->err,
				    "is in '%s' (line %d) and again in '%s' (line %d); the first is kept",
				    first->name.text, first->nodes.line, e->name.text, e->nodes.line))
				return -1;
			continue;
		}
		if (clf_topo_builder_node(s->b, names.v[k], &id, &why))
			return clf_fail_at(s->err, why.code == CLF_E_NOMEM ? CLF_E_NOMEM : CLF_E_PARSE, s->text->name,
					   e->nodes.line, e->nodes.column, "%s", why.text);
		if (clf_strmap_add(seen, names.v[k], id, s->err))
			return -1;
		s->leaf_of[id] = i;
		for (uint32_t up = i; up != CLF_NONE && !s->e[up].used; up = s->e[up].parent)
			s->e[up].used = true;
	}
	return 0;
}

/* Follow each switch upwards; a walk that is longer than the levels allowed is a cycle, or a tree that slurmctld
 * refuses. */
static int check_tree(struct slurm *s)
{
	for (uint32_t i = 0; i < s->n; i++) {
		uint32_t depth = 1, up = i;

		while ((up = s->e[up].parent) != CLF_NONE && ++depth <= CLF_MAX_LEVELS)
			if (up == i)
				return WRONG(s, s->e[i].name.line, s->e[i].name.column, "switch '%s' is above itself",
					     s->e[i].name.text);
		if (up != CLF_NONE)
			return WRONG(s, s->e[i].name.line, s->e[i].name.column,
				     "more than %d levels of switches above '%s'", CLF_MAX_LEVELS, s->e[i].name.text);
	}
	return 0;
}

static int build(struct slurm *s)
{
	uint32_t roots = 0, first_root = 0, sw;

	for (uint32_t i = 0; i < s->n; i++) {
		struct entry *e = &s->e[i];
		struct clf_error why = { 0 };

		if (e->used && clf_topo_builder_group(s->b, e->name.text, &e->group, &why))
			return WRONG(s, e->name.line, e->name.column, "%s", why.text);
		if (!e->used &&
		    clf_topo_builder_finding(s->b, CLF_FINDING_WARN, "switch-empty", e->name.text, s->err,
					     "no node below it (line %d), so it is not part of the tree", e->name.line))
			return -1;
		if (clf_topo_builder_switch(
			    s->b,
			    &(struct clf_topo_switch){ .name = e->name.text, .group = e->group, .rail = CLF_NONE }, &sw,
			    &why))
			return WRONG(s, e->name.line, e->name.column, "%s", why.text);
		if (e->used && e->parent == CLF_NONE && !roots++)
			first_root = i;
	}
	for (uint32_t i = 0; i < s->n; i++)
		if (s->e[i].used && s->e[i].parent != CLF_NONE &&
		    clf_topo_builder_parent(s->b, s->e[i].group, s->e[s->e[i].parent].group, s->err))
			return -1;
	if (roots > 1)
		return clf_topo_builder_finding(
			s->b, CLF_FINDING_WARN, "several-trees", s->e[first_root].name.text, s->err,
			"no switch reaches all nodes: %u separate trees, and no job can span two", roots);
	return 0;
}

static int place(struct slurm *s, const struct clf_strmap *seen)
{
	for (uint32_t i = 0; i < seen->n; i++)
		if (clf_topo_builder_place(s->b, i, s->e[s->leaf_of[i]].group, s->err))
			return -1;
	return 0;
}

static int read_slurm(const struct clf_text *text, struct clf_topo **out, struct clf_error *err)
{
	CLF_CLEANUP(slurm_done)
	struct slurm s = { .text = text,
			   .err = err,
			   .p = text->data,
			   .end = text->data + text->len,
			   .line_start = text->data,
			   .line = 1 };
	CLF_CLEANUP(clf_strmap_done) struct clf_strmap seen = { .copy = true };

	s.b = clf_topo_builder_create("slurm", err);
	s.leaf_of = malloc(CLF_MAX_NODES * sizeof *s.leaf_of);
	if (!s.b || !s.leaf_of)
		return clf_fail(err, CLF_E_NOMEM, "out of memory");
	if (read_lines(&s))
		return -1;
	for (uint32_t i = 0; i < s.n; i++)
		if (find_children(&s, i))
			return -1;
	if (check_tree(&s))
		return -1;
	for (uint32_t i = 0; i < s.n; i++)
		if (find_nodes(&s, i, &seen))
			return -1;
	if (!seen.n)
		return WRONG(&s, s.line, 1, "no switch has a node; slurmctld does not start with such a file");
	if (build(&s) || place(&s, &seen))
		return -1;
	return clf_topo_builder_finish(CLF_STEAL(s.b), out, err);
}

const struct clf_reader clf_reader_slurm = {
	.name = "slurm",
	.about = "Slurm's topology.conf (topology/tree)",
	.max_bytes = 64u << 20,
	.read = read_slurm,
};
