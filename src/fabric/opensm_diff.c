/* SPDX-License-Identifier: GPL-2.0-or-later */
/* opensm_diff.c - the difference of two partitions files as a person reads it.
 * Source: Myers, "An O(ND) difference algorithm and its variations", 1986, the greedy form with its trace kept. Past
 * EDITS_MAX edits the middle is shown as removed and added whole. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/opensm.h"

#define EDITS_MAX 1000
#define CONTEXT   3

struct lines {
	const char **v;
	size_t *len;
	size_t n;
};

/* ' ' in both, '-' old only, '+' new only. */
struct script {
	char *op;
	size_t n;
};

static int split(const char *text, struct lines *out)
{
	size_t n = 0;

	for (const char *s = text; *s; s += strcspn(s, "\n"), s += *s == '\n')
		n++;
	out->v = calloc(n + 1, sizeof *out->v);
	out->len = calloc(n + 1, sizeof *out->len);
	if (!out->v || !out->len)
		return -1;
	for (const char *s = text; *s; s += *s == '\n') {
		out->v[out->n] = s;
		out->len[out->n] = strcspn(s, "\n");
		s += out->len[out->n++];
	}
	return 0;
}

static void lines_done(struct lines *l)
{
	free(l->v);
	free(l->len);
}

static bool same(const struct lines *a, size_t i, const struct lines *b, size_t j)
{
	return a->len[i] == b->len[j] && !memcmp(a->v[i], b->v[j], a->len[i]);
}

/* Walk the trace back: trace[d] holds the furthest x of each diagonal before step d. */
static void backtrack(struct script *s, long *const *trace, long d, long x, long y, long off)
{
	for (; d > 0; d--) {
		const long *v = trace[d];
		long k = x - y;
		long from = k == -d || (k != d && v[off + k - 1] < v[off + k + 1]) ? k + 1 : k - 1;
		long px = v[off + from], py = px - from;

		for (; x > px && y > py; x--, y--)
			s->op[s->n++] = ' ';
		s->op[s->n++] = x == px ? '+' : '-';
		x = px;
		y = py;
	}
	for (; x > 0; x--)
		s->op[s->n++] = ' ';
}

/* Edits of the middle parts, appended to s in reverse; false: too many edits, or no memory. */
static bool edits(const struct lines *a, const struct lines *b, size_t skip, long n, long m, struct script *s)
{
	long max = n + m < EDITS_MAX ? n + m : EDITS_MAX, off = max + 1;
	size_t width = (size_t) (2 * max + 3);
	long *v = calloc(width, sizeof *v), **trace = calloc((size_t) max + 1, sizeof *trace);
	bool done = false;
	long d = 0;

	for (; v && trace && d <= max && !done; d++) {
		trace[d] = malloc(width * sizeof *v);
		if (!trace[d])
			break;
		memcpy(trace[d], v, width * sizeof *v);
		for (long k = -d; k <= d && !done; k += 2) {
			long x = k == -d || (k != d && v[off + k - 1] < v[off + k + 1]) ? v[off + k + 1]
											: v[off + k - 1] + 1;
			long y = x - k;

			while (x < n && y < m && same(a, skip + (size_t) x, b, skip + (size_t) y))
				x++, y++;
			v[off + k] = x;
			done = x >= n && y >= m;
		}
	}
	if (done)
		backtrack(s, trace, d - 1, n, m, off);
	for (long i = 0; trace && i <= max; i++)
		free(trace[i]);
	free(trace);
	free(v);
	return done;
}

static void reverse(char *s, size_t n)
{
	for (size_t i = 0; i < n / 2; i++) {
		char c = s[i];

		s[i] = s[n - 1 - i];
		s[n - 1 - i] = c;
	}
}

static bool make_script(const struct lines *a, const struct lines *b, struct script *s)
{
	size_t head = 0, tail = 0, mid;

	s->op = malloc(a->n + b->n + 1);
	if (!s->op)
		return false;
	while (head < a->n && head < b->n && same(a, head, b, head))
		head++;
	while (tail < a->n - head && tail < b->n - head && same(a, a->n - 1 - tail, b, b->n - 1 - tail))
		tail++;
	memset(s->op, ' ', head);
	s->n = mid = head;
	if (!edits(a, b, head, (long) (a->n - head - tail), (long) (b->n - head - tail), s)) {
		s->n = mid;
		memset(s->op + s->n, '+', b->n - head - tail); /* reversed below */
		s->n += b->n - head - tail;
		memset(s->op + s->n, '-', a->n - head - tail);
		s->n += a->n - head - tail;
	}
	reverse(s->op + mid, s->n - mid);
	memset(s->op + s->n, ' ', tail);
	s->n += tail;
	return true;
}

static int hunk(const struct lines *a, const struct lines *b, const struct script *s, size_t from, size_t to, size_t i,
		size_t j, struct clf_buf *out)
{
	size_t na = 0, nb = 0;

	for (size_t k = from; k < to; k++) {
		na += s->op[k] != '+';
		nb += s->op[k] != '-';
	}
	if (clf_buf_printf(out, NULL, "@@ -%zu,%zu +%zu,%zu @@\n", na ? i + 1 : i, na, nb ? j + 1 : j, nb))
		return -1;
	for (size_t k = from; k < to; k++) {
		bool old = s->op[k] != '+';

		if (clf_buf_printf(out, NULL, "%c%.*s\n", s->op[k], (int) (old ? a->len[i] : b->len[j]),
				   old ? a->v[i] : b->v[j]))
			return -1;
		i += s->op[k] != '+';
		j += s->op[k] != '-';
	}
	return 0;
}

/* From `at`, the end of a hunk: changes with not more than two contexts between them belong together. */
static size_t hunk_end(const struct script *s, size_t at)
{
	size_t end = at;

	for (size_t k = at; k < s->n && k <= end + 2 * CONTEXT; k++)
		if (s->op[k] != ' ')
			end = k + 1;
	return end + CONTEXT < s->n ? end + CONTEXT : s->n;
}

static int print(const struct lines *a, const struct lines *b, const struct script *s, struct clf_buf *out)
{
	size_t i = 0, j = 0, k = 0;

	while (k < s->n) {
		size_t change = k, from, to;

		while (change < s->n && s->op[change] == ' ')
			change++;
		if (change == s->n)
			return 0;
		from = change > k + CONTEXT ? change - CONTEXT : k;
		to = hunk_end(s, change);
		i += from - k;
		j += from - k;
		if (hunk(a, b, s, from, to, i, j, out))
			return -1;
		for (k = from; k < to; k++) {
			i += s->op[k] != '+';
			j += s->op[k] != '-';
		}
	}
	return 0;
}

char *osm_diff(const char *name, const char *old, const char *new)
{
	struct clf_buf out = CLF_BUF_INIT(2 * CLF_PARTITIONS_MAX_BYTES);
	struct lines a = { 0 }, b = { 0 };
	struct script s = { 0 };
	char *text = NULL;

	if (!strcmp(old, new))
		text = strdup("");
	else if (!split(old, &a) && !split(new, &b) && make_script(&a, &b, &s) &&
		 !clf_buf_printf(&out, NULL, "--- %s\n+++ %s (wanted)\n", name, name) && !print(&a, &b, &s, &out))
		text = clf_buf_steal(&out);
	lines_done(&a);
	lines_done(&b);
	free(s.op);
	clf_buf_done(&out);
	return text;
}
