/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/buf.h"

#include <stdio.h>
#include <string.h>

void clf_buf_done(struct clf_buf *b)
{
	free(b->data);
	*b = (struct clf_buf) CLF_BUF_INIT(b->max);
}

void clf_buf_reset(struct clf_buf *b)
{
	b->len = 0;
	if (b->data)
		b->data[0] = '\0';
}

/* Room for n more bytes and the NUL. */
static int reserve(struct clf_buf *b, size_t n, struct clf_error *err)
{
	size_t need, cap;
	char *p;

	if (n > b->max || b->len > b->max - n || b->max == SIZE_MAX)
		return clf_fail(err, CLF_E_NOMEM, "output larger than %zu bytes", b->max);
	need = b->len + n + 1;
	if (need <= b->cap)
		return 0;
	cap = b->cap < 64 ? 64 : b->cap;
	while (cap < need)
		cap = cap > b->max / 2 ? b->max + 1 : cap * 2;
	p = realloc(b->data, cap);
	if (!p)
		return clf_fail(err, CLF_E_NOMEM, "out of memory");
	p[b->len] = '\0';
	b->data = p;
	b->cap = cap;
	return 0;
}

int clf_buf_add(struct clf_buf *b, const void *p, size_t n, struct clf_error *err)
{
	if (reserve(b, n, err))
		return -1;
	if (n)
		memcpy(b->data + b->len, p, n);
	b->len += n;
	b->data[b->len] = '\0';
	return 0;
}

int clf_buf_puts(struct clf_buf *b, const char *s, struct clf_error *err)
{
	return clf_buf_add(b, s, strlen(s), err);
}

int clf_buf_printf(struct clf_buf *b, struct clf_error *err, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	if (n < 0)
		return clf_fail(err, CLF_E_INTERNAL, "message could not be formatted");
	if (reserve(b, n, err))
		return -1;
	va_start(ap, fmt);
	vsnprintf(b->data + b->len, (size_t) n + 1, fmt, ap);
	va_end(ap);
	b->len += n;
	return 0;
}

char *clf_buf_steal(struct clf_buf *b)
{
	char *p = b->data ? b->data : calloc(1, 1);

	*b = (struct clf_buf) CLF_BUF_INIT(b->max);
	return p;
}
