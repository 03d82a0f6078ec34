/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/lex.h"

#include "base/buf.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void set_name(struct clf_text *t, const char *name)
{
	size_t len = strlen(name), room = sizeof(t->name) - 1;

	if (len <= room) {
		memcpy(t->name, name, len + 1);
	} else {
		/* The end of a path tells more than its start. */
		memcpy(t->name, "...", 3);
		memcpy(t->name + 3, name + len - (room - 3), room - 3 + 1);
	}
}

static int check_nul(const struct clf_text *t, struct clf_error *err)
{
	const char *nul = memchr(t->data, '\0', t->len), *start = t->data;
	int line = 1;

	if (!nul)
		return 0;
	for (const char *p; (p = memchr(start, '\n', nul - start)); start = p + 1)
		line++;
	return clf_fail_at(err, CLF_E_PARSE, t->name, line, (int) (nul - start) + 1, "NUL byte in a text file");
}

static int read_all(int fd, const char *path, struct clf_buf *buf, struct clf_error *err)
{
	char chunk[65536];

	for (;;) {
		ssize_t n = read(fd, chunk, sizeof(chunk));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return clf_fail(err, CLF_E_IO, "cannot read '%s': %s", path, strerrordesc_np(errno));
		/* Adding nothing at the end gives an empty file its NUL. */
		if ((size_t) n > buf->max - buf->len)
			return clf_fail(err, CLF_E_NOMEM, "'%s' is larger than %zu bytes", path, buf->max);
		if (clf_buf_add(buf, chunk, n, err))
			return -1;
		if (n == 0)
			return 0;
	}
}

int clf_text_load_fd(int fd, const char *name, size_t max_bytes, struct clf_text *out, struct clf_error *err)
{
	struct clf_buf buf = CLF_BUF_INIT(max_bytes);
	CLF_CLEANUP(clf_text_done) struct clf_text t = { 0 };
	int rc = read_all(fd, name, &buf, err);

	set_name(&t, name);
	t.len = buf.len;
	t.data = CLF_STEAL(buf.data);
	if (rc || check_nul(&t, err))
		return -1;
	*out = t;
	t.data = NULL;
	return 0;
}

int clf_text_load(const char *path, size_t max_bytes, struct clf_text *out, struct clf_error *err)
{
	CLF_AUTO_CLOSE int fd = -1;

	if (strcmp(path, "-") == 0)
		return clf_text_load_fd(STDIN_FILENO, path, max_bytes, out, err);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (fd < 0)
		return clf_fail(err, errno == ENOENT || errno == ENOTDIR ? CLF_E_NOTFOUND : CLF_E_IO,
				"cannot open '%s': %s", path, strerrordesc_np(errno));
	return clf_text_load_fd(fd, path, max_bytes, out, err);
}

int clf_text_from_string(const char *name, const char *s, struct clf_text *out, struct clf_error *err)
{
	struct clf_text t = { .data = strdup(s), .len = strlen(s) };

	if (!t.data)
		return clf_fail(err, CLF_E_NOMEM, "out of memory");
	set_name(&t, name);
	*out = t;
	return 0;
}

void clf_text_done(struct clf_text *t)
{
	free(t->data);
	*t = (struct clf_text){ 0 };
}

struct clf_lines clf_lines_begin(const struct clf_text *t)
{
	return (struct clf_lines){ .next = t->data, .end = t->data ? t->data + t->len : NULL };
}

bool clf_lines_next(struct clf_lines *it, const char **line, size_t *len)
{
	const char *nl;
	size_t n;

	if (it->next == it->end)
		return false;
	nl = memchr(it->next, '\n', it->end - it->next);
	n = (nl ? nl : it->end) - it->next;
	*line = it->next;
	*len = n > 0 && it->next[n - 1] == '\r' ? n - 1 : n;
	it->next += n + (nl != NULL);
	it->line++;
	return true;
}

bool clf_parse_u64(const char *s, size_t len, unsigned long long *out)
{
	unsigned long long v = 0;

	if (len == 0)
		return false;
	for (size_t i = 0; i < len; i++) {
		unsigned digit = (unsigned char) s[i] - '0';

		if (digit > 9 || v > (ULLONG_MAX - digit) / 10)
			return false;
		v = v * 10 + digit;
	}
	*out = v;
	return true;
}

bool clf_parse_hex64(const char *s, size_t len, unsigned long long *out)
{
	unsigned long long v = 0;

	if (len >= 2 && s[0] == '0' && (s[1] == 'x' || s[1] == 'X')) {
		s += 2;
		len -= 2;
	}
	if (len == 0)
		return false;
	for (size_t i = 0; i < len; i++) {
		unsigned digit = (unsigned char) s[i] - '0';

		if (digit > 9) {
			digit = ((unsigned char) s[i] | 0x20) - 'a';
			if (digit > 5)
				return false;
			digit += 10;
		}
		if (v >> 60)
			return false;
		v = v << 4 | digit;
	}
	*out = v;
	return true;
}

static size_t skip_digits(const char *s, size_t i, size_t len)
{
	while (i < len && s[i] >= '0' && s[i] <= '9')
		i++;
	return i;
}

/* [-]digits[.digits][e[+-]digits] and nothing else. */
static bool is_decimal(const char *s, size_t len)
{
	size_t i = len > 0 && s[0] == '-', j = skip_digits(s, i, len);

	if (j == i)
		return false;
	if (j < len && s[j] == '.') {
		i = j + 1;
		j = skip_digits(s, i, len);
		if (j == i)
			return false;
	}
	if (j < len && (s[j] == 'e' || s[j] == 'E')) {
		i = j + 1;
		if (i < len && (s[i] == '+' || s[i] == '-'))
			i++;
		j = skip_digits(s, i, len);
		if (j == i)
			return false;
	}
	return j == len;
}

bool clf_parse_double(const char *s, size_t len, double *out)
{
	char copy[128];
	locale_t c;
	double v;

	if (len >= sizeof(copy) || !is_decimal(s, len))
		return false;
	memcpy(copy, s, len);
	copy[len] = '\0';
	/* The host process may have set a locale with a decimal comma. */
	c = newlocale(LC_ALL_MASK, "C", (locale_t) 0);
	if (!c)
		return false;
	v = strtod_l(copy, NULL, c);
	freelocale(c);
	if (!isfinite(v))
		return false;
	*out = v;
	return true;
}
