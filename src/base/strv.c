/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/strv.h"

#include <stdint.h>
#include <string.h>

void clf_strv_done(struct clf_strv *s)
{
	for (size_t i = 0; i < s->n; i++)
		free(s->v[i]);
	free(s->v);
	*s = (struct clf_strv){ 0 };
}

int clf_strv_addn(struct clf_strv *s, const char *str, size_t len, struct clf_error *err)
{
	char *copy;

	if (s->n == s->cap) {
		size_t cap = s->cap ? s->cap * 2 : 8;
		char **v = cap > SIZE_MAX / sizeof(*v) ? NULL : realloc(s->v, cap * sizeof(*v));

		if (!v)
			return clf_fail(err, CLF_E_NOMEM, "out of memory");
		s->v = v;
		s->cap = cap;
	}
	copy = malloc(len + 1);
	if (!copy)
		return clf_fail(err, CLF_E_NOMEM, "out of memory");
	memcpy(copy, str, len);
	copy[len] = '\0';
	s->v[s->n++] = copy;
	return 0;
}

int clf_strv_add(struct clf_strv *s, const char *str, struct clf_error *err)
{
	return clf_strv_addn(s, str, strlen(str), err);
}

bool clf_strv_has(const struct clf_strv *s, const char *str)
{
	for (size_t i = 0; i < s->n; i++)
		if (strcmp(s->v[i], str) == 0)
			return true;
	return false;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

int clf_strnatcmp(const char *a, const char *b)
{
	const char *x = a, *y = b;

	while (*x && *y) {
		const char *p, *q;
		int c;

		if (!is_digit(*x) || !is_digit(*y)) {
			if (*x != *y)
				return (unsigned char) *x < (unsigned char) *y ? -1 : 1;
			x++;
			y++;
			continue;
		}
		while (*x == '0')
			x++;
		while (*y == '0')
			y++;
		for (p = x; is_digit(*p); p++)
			;
		for (q = y; is_digit(*q); q++)
			;
		if (p - x != q - y)
			return p - x < q - y ? -1 : 1;
		c = memcmp(x, y, p - x);
		if (c)
			return c < 0 ? -1 : 1;
		x = p;
		y = q;
	}
	if (*x || *y)
		return *x ? 1 : -1;
	return strcmp(a, b);
}

static int compare(const void *a, const void *b)
{
	return clf_strnatcmp(*(char *const *) a, *(char *const *) b);
}

void clf_strv_sort(struct clf_strv *s)
{
	if (s->n > 1)
		qsort(s->v, s->n, sizeof(*s->v), compare);
}
