/* SPDX-License-Identifier: GPL-2.0-or-later */
/* read_csv.c - a fabric known only as a table: a line for each host.
 *
 * The first line names the columns, in any order and case; others are left alone:
 *   host (node, hostname, ip)   leaf (asw, tor)   pod (psw, spine)   core (dsw, fabric)
 * host and leaf must be there. An empty pod or core cell is "none". With the column named ASW, leaf names repeat
 * between pods and the leaf is the pair (PSW, ASW), called PSW-ASW, as in the Alibaba Lingjun data set (topo.csv:
 * ip,DSW,PSW,ASW). Otherwise one leaf in two pods, or one pod in two cores, is an error. A table is one fabric unless
 * it has a core column: several top groups get one root "top", and a finding says so. Lines are sorted, so that their
 * order does not matter. Quotes as in RFC 4180, but a value ends with its line; '#' begins a comment line. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "topo/read/reader.h"
#include "topo/topo_builder.h"

enum { HOST, LEAF, POD, CORE, NCOLUMNS };
#define MAX_CELLS 64

static const struct {
	const char *name;
	int column;
} headers[] = {
	{ "host", HOST }, { "node", HOST }, { "hostname", HOST }, { "ip", HOST }, { "leaf", LEAF },
	{ "asw", LEAF },  { "tor", LEAF },  { "pod", POD },       { "psw", POD }, { "spine", POD },
	{ "core", CORE }, { "dsw", CORE },  { "fabric", CORE },
};

struct row {
	char *cell[NCOLUMNS]; /* NULL = empty; in csv.cells */
	int line, column;     /* of the host */
};

struct csv {
	const struct clf_text *text;
	struct clf_error *err;
	char *cells; /* owned: all cell texts, unquoted */
	size_t used;
	struct row *rows;
	uint32_t n, cap;
	int index[NCOLUMNS]; /* column in the file, -1 = none */
	bool pairs;
	struct clf_topo_builder *b;
};

static void csv_done(struct csv *c)
{
	free(c->cells);
	free(c->rows);
	clf_topo_builder_destroy(c->b);
}

#define WRONG(c, line, column, ...) clf_fail_at((c)->err, CLF_E_PARSE, (c)->text->name, line, column, __VA_ARGS__)

struct cell {
	char *text;
	int column;
};

/* Cut a line into cells; blanks around a cell are dropped. */
static int split(struct csv *c, const char *line, size_t len, int lineno, struct cell cells[MAX_CELLS], int *n)
{
	const char *p = line, *end = line + len;

	for (*n = 0;; p++) {
		char *out = c->cells + c->used;

		if (*n == MAX_CELLS)
			return WRONG(c, lineno, (int) (p - line) + 1, "more than %d columns", MAX_CELLS);
		while (p < end && (*p == ' ' || *p == '\t'))
			p++;
		cells[*n] = (struct cell){ out, (int) (p - line) + 1 };
		if (p < end && *p == '"') {
			for (p++; p < end && (*p != '"' || (end - p > 1 && p[1] == '"')); p++) {
				p += *p == '"';
				*out++ = *p;
			}
			if (p == end)
				return WRONG(c, lineno, cells[*n].column, "quote is not closed on its line");
			for (p++; p < end && (*p == ' ' || *p == '\t');)
				p++;
			if (p < end && *p != ',')
				return WRONG(c, lineno, (int) (p - line) + 1, "text after a quoted value, want ','");
		} else {
			while (p < end && *p != ',')
				*out++ = *p++;
			while (out > cells[*n].text && (out[-1] == ' ' || out[-1] == '\t'))
				out--;
		}
		*out++ = '\0';
		c->used = out - c->cells;
		++*n;
		if (p == end)
			return 0;
	}
}

static int read_header(struct csv *c, const struct cell *cells, int n, int line)
{
	for (int k = 0; k < NCOLUMNS; k++)
		c->index[k] = -1;
	for (int i = 0; i < n; i++)
		for (size_t h = 0; h < sizeof headers / sizeof *headers; h++) {
			if (strcasecmp(cells[i].text, headers[h].name))
				continue;
			if (c->index[headers[h].column] >= 0)
				return WRONG(c, line, cells[i].column, "column '%s' means the same as column '%s'",
					     cells[i].text, cells[c->index[headers[h].column]].text);
			c->index[headers[h].column] = i;
			c->pairs |= !strcasecmp(cells[i].text, "asw");
		}
	if (c->index[HOST] < 0 || c->index[LEAF] < 0)
		return WRONG(c, line, 1, "no column '%s' in the first line, want a header like 'host,leaf,pod'",
			     c->index[HOST] < 0 ? "host" : "leaf");
	return 0;
}

static int read_row(struct csv *c, const struct cell *cells, int n, int line)
{
	struct row r = { .line = line };

	for (int k = 0; k < NCOLUMNS; k++) {
		if (c->index[k] < 0)
			continue;
		if (c->index[k] >= n)
			return WRONG(c, line, cells[n - 1].column, "%d values, the first line names more columns", n);
		if (*cells[c->index[k]].text)
			r.cell[k] = cells[c->index[k]].text;
	}
	r.column = cells[c->index[HOST]].column;
	if (!r.cell[HOST] || !r.cell[LEAF])
		return WRONG(c, line, cells[c->index[r.cell[HOST] ? LEAF : HOST]].column, "empty %s",
			     r.cell[HOST] ? "leaf" : "host");
	if (c->n == CLF_MAX_NODES)
		return clf_fail_at(c->err, CLF_E_NOMEM, c->text->name, line, 1, "more than %d hosts", CLF_MAX_NODES);
	if (c->n == c->cap) {
		uint32_t cap = c->cap ? 2 * c->cap : 256;
		struct row *p = realloc(c->rows, cap * sizeof *p);

		if (!p)
			return clf_fail(c->err, CLF_E_NOMEM, "out of memory");
		c->rows = p;
		c->cap = cap;
	}
	c->rows[c->n++] = r;
	return 0;
}

static int read_rows(struct csv *c)
{
	struct clf_lines it = clf_lines_begin(c->text);
	const char *line;
	size_t len;
	bool header = false;

	while (clf_lines_next(&it, &line, &len)) {
		struct cell cells[MAX_CELLS];
		int n;

		if (it.line == 1 && len >= 3 && !memcmp(line, "\xEF\xBB\xBF", 3)) {
			line += 3;
			len -= 3;
		}
		if (strspn(line, " \t") >= len || *line == '#')
			continue;
		if (split(c, line, len, it.line, cells, &n) ||
		    (header ? read_row(c, cells, n, it.line) : read_header(c, cells, n, it.line)))
			return -1;
		header = true;
	}
	if (!header)
		return WRONG(c, 1, 1, "empty table, want a header like 'host,leaf,pod' and a line for each host");
	return c->n ? 0 : WRONG(c, it.line, 1, "no host below the header");
}

static int compare(const char *a, const char *b)
{
	return a && b ? clf_strnatcmp(a, b) : (a != NULL) - (b != NULL);
}

static int by_place(const void *a, const void *b)
{
	static const int order[] = { CORE, POD, LEAF, HOST };
	const struct row *x = a, *y = b;
	int c = 0;

	for (int k = 0; k < NCOLUMNS && !c; k++)
		c = compare(x->cell[order[k]], y->cell[order[k]]);
	return c ? c : (x->line > y->line) - (x->line < y->line);
}

/* Rows are sorted from the top down, so a group is new exactly when its name differs from the row before. */
static int add_group(struct csv *c, const struct row *r, const char *what, const char *name, uint32_t parent,
		     uint32_t *id)
{
	struct clf_error why = { 0 };
	uint32_t sw;

	if (clf_topo_builder_group(c->b, name, id, &why) ||
	    clf_topo_builder_switch(c->b, &(struct clf_topo_switch){ .name = name, .group = *id, .rail = CLF_NONE },
				    &sw, &why)) {
		if (why.code == CLF_E_CONFLICT)
			return WRONG(c, r->line, 1,
				     "%s '%s' is in two places of the fabric, or two levels share this name", what,
				     name);
		return clf_fail_at(c->err, why.code == CLF_E_INVALID ? CLF_E_PARSE : why.code, c->text->name, r->line,
				   1, "%s", why.text);
	}
	return parent == CLF_NONE ? 0 : clf_topo_builder_parent(c->b, *id, parent, c->err);
}

static int add_node(struct csv *c, const struct row *r, uint32_t leaf)
{
	struct clf_error why = { 0 };
	uint32_t id;

	if (clf_topo_builder_node(c->b, r->cell[HOST], &id, &why))
		return clf_fail_at(c->err, why.code == CLF_E_NOMEM ? CLF_E_NOMEM : CLF_E_PARSE, c->text->name, r->line,
				   r->column, "%s", why.text);
	return clf_topo_builder_place(c->b, id, leaf, c->err);
}

static uint32_t count_tops(const struct csv *c)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < c->n; i++) {
		const struct row *r = &c->rows[i], *p = i ? r - 1 : NULL;
		int k = r->cell[POD] ? POD : LEAF;

		n += !p || compare(r->cell[POD], p->cell[POD]) || (k == LEAF && compare(r->cell[LEAF], p->cell[LEAF]));
	}
	return n;
}

static int build(struct csv *c)
{
	uint32_t top = CLF_NONE, core = CLF_NONE, pod = CLF_NONE, leaf = CLF_NONE;

	qsort(c->rows, c->n, sizeof *c->rows, by_place);
	if (c->index[CORE] < 0 && count_tops(c) > 1) {
		if (add_group(c, &c->rows[0], "root", "top", CLF_NONE, &top))
			return -1;
		if (clf_topo_builder_finding(c->b, CLF_FINDING_INFO, "root-implied", "top", c->err,
					     "a table without a column 'core' is taken as one fabric"))
			return -1;
	}
	for (uint32_t i = 0; i < c->n; i++) {
		const struct row *r = &c->rows[i];
		bool new = !i;
		char pair[2 * CLF_NAME_MAX + 2];

		if (new || compare(r->cell[CORE], r[-1].cell[CORE])) {
			new = true;
			core = top;
			if (r->cell[CORE] && add_group(c, r, "core", r->cell[CORE], CLF_NONE, &core))
				return -1;
		}
		if (new || compare(r->cell[POD], r[-1].cell[POD])) {
			new = true;
			pod = core;
			if (r->cell[POD] && add_group(c, r, "pod", r->cell[POD], core, &pod))
				return -1;
		}
		if (new || compare(r->cell[LEAF], r[-1].cell[LEAF])) {
			snprintf(pair, sizeof pair, "%.*s-%.*s", CLF_NAME_MAX, r->cell[POD] ?: "", CLF_NAME_MAX,
				 r->cell[LEAF]);
			if (add_group(c, r, "leaf", c->pairs && r->cell[POD] ? pair : r->cell[LEAF], pod, &leaf))
				return -1;
		}
		if (add_node(c, r, leaf))
			return -1;
	}
	return 0;
}

static int read_csv(const struct clf_text *text, struct clf_topo **out, struct clf_error *err)
{
	CLF_CLEANUP(csv_done) struct csv c = { .text = text, .err = err };

	/* A cell and its NUL never need more than the cell and its comma or line end; one more for a last line without
	 * one. */
	c.cells = malloc(text->len + 2);
	c.b = clf_topo_builder_create("csv", err);
	if (!c.cells || !c.b)
		return clf_fail(err, CLF_E_NOMEM, "out of memory");
	if (read_rows(&c) || build(&c))
		return -1;
	return clf_topo_builder_finish(CLF_STEAL(c.b), out, err);
}

const struct clf_reader clf_reader_csv = {
	.name = "csv",
	.about = "a table with the columns host, leaf and, if known, pod and core",
	.max_bytes = 64u << 20,
	.read = read_csv,
};
