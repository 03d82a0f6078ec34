/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/hostlist.h"

#include "base/buf.h"
#include "base/lex.h"

#include <string.h>

/* Slurm refuses a range of more hosts than this, so none is written (its MAX_RANGE). */
#define RANGE_MAX_HOSTS 65536
/* Numbers of up to 18 digits fit 64 bits with room to count on; a longer digit run keeps its head in the prefix. */
#define NUMBER_MAX_DIGITS 18
#define GROUPS_MAX        8

struct range {
	unsigned long long lo, hi;
	unsigned long long before; /* hosts of the ranges before it */
	int width;
};

struct group {
	const char *prefix; /* text before the bracket */
	size_t prefix_len;
	struct range *ranges; /* owned */
	size_t n, cap;
	unsigned long long hosts; /* sum over ranges */
};

/* One comma-separated part of an expression; its text is prefix [group] prefix [group] ... */
struct part {
	struct group groups[GROUPS_MAX];
	size_t n;
};

static void part_done(struct part *p)
{
	for (size_t i = 0; i < p->n; i++)
		free(p->groups[i].ranges);
}

static int fail_at(struct clf_error *err, const char *expr, const char *where, const char *text)
{
	return clf_fail_at(err, CLF_E_PARSE, NULL, 1, (int) (where - expr) + 1, "%s at column %d of host list '%s'",
			   text, (int) (where - expr) + 1, expr);
}

static bool is_name_char(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '.' || c == '_' ||
	       c == '-';
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static int group_add(struct group *g, struct range r, struct clf_error *err)
{
	if (g->n == g->cap) {
		size_t cap = g->cap ? g->cap * 2 : 4;
		struct range *ranges = realloc(g->ranges, cap * sizeof(*ranges));

		if (!ranges)
			return clf_fail(err, CLF_E_NOMEM, "out of memory");
		g->ranges = ranges;
		g->cap = cap;
	}
	g->ranges[g->n++] = r;
	return 0;
}

static int parse_number(const char *expr, const char **pos, unsigned long long *out, int *width, struct clf_error *err)
{
	const char *p = *pos, *start = p;

	while (is_digit(*p))
		p++;
	if (p == start)
		return fail_at(err, expr, p, "number expected");
	if (p - start > CLF_HOST_MAX || !clf_parse_u64(start, p - start, out))
		return fail_at(err, expr, start, "number too large");
	*width = (int) (p - start);
	*pos = p;
	return 0;
}

/* *pos is just after '['; leaves it just after ']'. */
static int parse_group(const char *expr, const char **pos, size_t max_hosts, struct group *g, struct clf_error *err)
{
	const char *p = *pos;

	for (;;) {
		const char *start = p;
		struct range r;
		int ignored;

		if (parse_number(expr, &p, &r.lo, &r.width, err))
			return -1;
		r.hi = r.lo;
		if (*p == '-') {
			p++;
			if (parse_number(expr, &p, &r.hi, &ignored, err))
				return -1;
		}
		if (r.hi < r.lo)
			return fail_at(err, expr, start, "range that runs backwards");
		if (r.hi - r.lo >= max_hosts || g->hosts + (r.hi - r.lo) >= max_hosts)
			return clf_fail_at(err, CLF_E_NOMEM, NULL, 1, (int) (start - expr) + 1,
					   "host list '%s' has more than %zu hosts", expr, max_hosts);
		r.before = g->hosts;
		g->hosts += r.hi - r.lo + 1;
		if (group_add(g, r, err))
			return -1;
		if (*p == ']')
			break;
		if (*p != ',')
			return fail_at(err, expr, p, "',' or ']' expected");
		p++;
	}
	*pos = p + 1;
	return 0;
}

/* One part from *pos up to ',', blank or the end. */
static int parse_part(const char *expr, const char **pos, size_t max_hosts, struct part *part, struct clf_error *err)
{
	const char *p = *pos, *text = p;
	bool bracket = false;

	for (;;) {
		while (is_name_char(*p))
			p++;
		if (*p != '[')
			break;
		if (part->n == GROUPS_MAX - 1)
			return fail_at(err, expr, p, "too many '['");
		struct group *g = &part->groups[part->n++];

		*g = (struct group){ .prefix = text, .prefix_len = p - text };
		p++;
		if (parse_group(expr, &p, max_hosts, g, err))
			return -1;
		text = p;
		bracket = true;
	}
	if (*p && *p != ',' && !is_blank(*p))
		return fail_at(err, expr, p, "character that is not part of a host name");
	if (bracket && p != text)
		return fail_at(err, expr, text, "text after the last ']', which Slurm does not read,");
	if (!bracket)
		part->groups[part->n++] = (struct group){ .prefix = text, .prefix_len = p - text, .hosts = 1 };
	*pos = p;
	return 0;
}

static unsigned long long group_value(const struct group *g, unsigned long long i, int *width)
{
	size_t lo = 0, hi = g->n - 1;

	while (lo < hi) {
		size_t mid = (lo + hi + 1) / 2;

		if (g->ranges[mid].before <= i)
			lo = mid;
		else
			hi = mid - 1;
	}
	*width = g->ranges[lo].width;
	return g->ranges[lo].lo + (i - g->ranges[lo].before);
}

/* "%0*llu", without the cost of a format for each of thousands of hosts. */
static int add_number(struct clf_buf *name, int width, unsigned long long value)
{
	char digits[CLF_HOST_MAX + 1];
	size_t at = sizeof(digits);

	do
		digits[--at] = (char) ('0' + value % 10);
	while ((value /= 10) > 0);
	while (sizeof(digits) - at < (size_t) width && at > 0)
		digits[--at] = '0';
	return clf_buf_add(name, digits + at, sizeof(digits) - at, NULL);
}

/* Slurm's order: the last group counts fastest, then the first, the second and so on. */
static int expand_part(const struct part *part, size_t max_hosts, size_t *done, clf_hostlist_f *each, void *arg,
		       struct clf_error *err)
{
	unsigned long long total = 1;

	for (size_t i = 0; i < part->n; i++)
		if (__builtin_mul_overflow(total, part->groups[i].hosts, &total) || total > max_hosts)
			return clf_fail_at(err, CLF_E_NOMEM, NULL, 1, 1, "host list has more than %zu hosts",
					   max_hosts);
	if (*done > max_hosts - total)
		return clf_fail_at(err, CLF_E_NOMEM, NULL, 1, 1, "host list has more than %zu hosts", max_hosts);

	for (unsigned long long i = 0; i < total; i++) {
		unsigned long long index[GROUPS_MAX], rest = i;
		struct clf_buf name = CLF_BUF_INIT(CLF_HOST_MAX);
		char room[CLF_HOST_MAX + 1];

		name.data = room;
		name.cap = sizeof(room);
		for (size_t k = 0; k < part->n; k++) {
			size_t which = k == 0 ? part->n - 1 : k - 1;

			index[which] = rest % part->groups[which].hosts;
			rest /= part->groups[which].hosts;
		}
		for (size_t k = 0; k < part->n; k++) {
			const struct group *g = &part->groups[k];
			int width = 0, rc = clf_buf_add(&name, g->prefix, g->prefix_len, NULL);

			if (!rc && g->n) {
				unsigned long long value = group_value(g, index[k], &width);

				rc = add_number(&name, width, value);
			}
			if (rc)
				return clf_fail_at(err, CLF_E_PARSE, NULL, 1, 1, "host name longer than %d characters",
						   CLF_HOST_MAX);
		}
		if (each(arg, name.data, name.len, err))
			return -1;
	}
	*done += total;
	return 0;
}

int clf_hostlist_each(const char *expr, size_t max_hosts, clf_hostlist_f *each, void *arg, struct clf_error *err)
{
	const char *p = expr;
	size_t done = 0;

	for (;;) {
		CLF_CLEANUP(part_done) struct part part = { .n = 0 };

		while (is_blank(*p) || *p == ',')
			p++;
		if (!*p)
			return 0;
		if (parse_part(expr, &p, max_hosts, &part, err) || expand_part(&part, max_hosts, &done, each, arg, err))
			return -1;
	}
}

static int add_host(void *arg, const char *name, size_t len, struct clf_error *err)
{
	return clf_strv_addn(arg, name, len, err);
}

static void strv_truncate(struct clf_strv *s, size_t n)
{
	while (s->n > n)
		free(s->v[--s->n]);
}

int clf_hostlist_expand(const char *expr, size_t max_hosts, struct clf_strv *out, struct clf_error *err)
{
	size_t before = out->n;

	if (!clf_hostlist_each(expr, max_hosts, add_host, out, err))
		return 0;
	strv_truncate(out, before);
	return -1;
}

/* A name split for compression: prefix and the number at its end. */
struct item {
	const char *name;
	size_t prefix_len;
	size_t digits; /* 0: no number at the end */
	unsigned long long value;
};

static struct item split(const char *name)
{
	size_t len = strlen(name), n = 0;
	struct item it = { .name = name };

	while (n < len && n < NUMBER_MAX_DIGITS && is_digit(name[len - 1 - n]))
		n++;
	it.prefix_len = len - n;
	it.digits = n;
	if (n)
		clf_parse_u64(name + it.prefix_len, n, &it.value);
	return it;
}

static bool same_prefix(const struct item *a, const struct item *b)
{
	return a->prefix_len == b->prefix_len && memcmp(a->name, b->name, a->prefix_len) == 0;
}

static size_t natural_digits(unsigned long long v)
{
	size_t n = 1;

	while (v >= 10)
		v /= 10, n++;
	return n;
}

/* Does b follow a when a range that started with `width` digits counts on? */
static bool follows(const struct item *a, const struct item *b, size_t width)
{
	size_t natural = natural_digits(b->value);

	return b->value == a->value + 1 && b->digits == (natural > width ? natural : width);
}

static int write_ranges(struct clf_buf *buf, const struct item *items, size_t n, struct clf_error *err)
{
	for (size_t i = 0, j; i < n; i = j) {
		const struct item *lo = &items[i], *hi;

		for (j = i + 1; j < n && j - i < RANGE_MAX_HOSTS && follows(&items[j - 1], &items[j], lo->digits); j++)
			;
		hi = &items[j - 1];
		if (clf_buf_printf(buf, err, "%s%s", i ? "," : "", lo->name + lo->prefix_len))
			return -1;
		if (hi != lo && clf_buf_printf(buf, err, "-%s", hi->name + hi->prefix_len))
			return -1;
	}
	return 0;
}

static char *write_items(const struct item *items, size_t n, struct clf_error *err)
{
	/* Never longer than the names with a comma and two brackets each. */
	struct clf_buf buf = CLF_BUF_INIT(n * (CLF_HOST_MAX + 4) + 1);
	char *text;

	for (size_t i = 0, j; i < n; i = j) {
		const struct item *first = &items[i];
		int rc;

		for (j = i + 1; j < n && first->digits && items[j].digits && same_prefix(first, &items[j]); j++)
			;
		if (j - i == 1)
			rc = clf_buf_printf(&buf, err, "%s%s", i ? "," : "", first->name);
		else
			rc = clf_buf_printf(&buf, err, "%s%.*s[", i ? "," : "", (int) first->prefix_len, first->name) ||
			     write_ranges(&buf, first, j - i, err) || clf_buf_puts(&buf, "]", err);
		if (rc) {
			clf_buf_done(&buf);
			return NULL;
		}
	}
	text = clf_buf_steal(&buf);
	if (!text)
		clf_fail(err, CLF_E_NOMEM, "out of memory");
	return text;
}

static struct item *make_items(const char *const *names, size_t n, struct clf_error *err)
{
	struct item *items = calloc(n ? n : 1, sizeof(*items));

	if (!items) {
		clf_fail(err, CLF_E_NOMEM, "out of memory");
		return NULL;
	}
	for (size_t i = 0; i < n; i++) {
		size_t len = strlen(names[i]), ok = 0;

		while (is_name_char(names[i][ok]))
			ok++;
		if (len == 0 || ok != len || len > CLF_HOST_MAX) {
			clf_fail(err, CLF_E_INVALID, "'%s' is not a host name", names[i]);
			free(items);
			return NULL;
		}
		items[i] = split(names[i]);
	}
	return items;
}

char *clf_hostlist_compress_ordered(const char *const *names, size_t n, struct clf_error *err)
{
	CLF_AUTO_FREE struct item *items = make_items(names, n, err);

	return items ? write_items(items, n, err) : NULL;
}

/* Prefix, then number of digits, then value: n[1-12] and n[08-12] both come out as one range. */
static int compare(const void *pa, const void *pb)
{
	const struct item *a = pa, *b = pb;

	if (!same_prefix(a, b)) {
		char x[CLF_HOST_MAX + 1], y[CLF_HOST_MAX + 1];

		memcpy(x, a->name, a->prefix_len);
		x[a->prefix_len] = '\0';
		memcpy(y, b->name, b->prefix_len);
		y[b->prefix_len] = '\0';
		return clf_strnatcmp(x, y);
	}
	if (a->digits != b->digits)
		return a->digits < b->digits ? -1 : 1;
	return a->value < b->value ? -1 : a->value > b->value;
}

char *clf_hostlist_compress(const char *const *names, size_t n, struct clf_error *err)
{
	CLF_AUTO_FREE struct item *items = make_items(names, n, err);
	size_t kept = 0;

	if (!items)
		return NULL;
	qsort(items, n, sizeof(*items), compare);
	for (size_t i = 0; i < n; i++)
		if (kept == 0 || compare(&items[kept - 1], &items[i]) != 0)
			items[kept++] = items[i];
	return write_items(items, kept, err);
}
