/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/err.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Length of the well-formed UTF-8 sequence at s (RFC 3629: no overlong forms, no surrogates), 0 when there is none. */
static size_t utf8_length(const unsigned char *s)
{
	size_t n;

	if (s[0] < 0x80)
		return 1;
	if (s[0] >= 0xc2 && s[0] <= 0xdf)
		n = 2;
	else if ((s[0] & 0xf0) == 0xe0)
		n = 3;
	else if (s[0] >= 0xf0 && s[0] <= 0xf4)
		n = 4;
	else
		return 0;
	/* A terminating NUL is no continuation byte, so this never reads past it. */
	for (size_t i = 1; i < n; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) || (s[0] == 0xf0 && s[1] < 0x90) ||
	    (s[0] == 0xf4 && s[1] > 0x8f))
		return 0;
	return n;
}

void clf_printable(char *text)
{
	unsigned char *s = (unsigned char *) text;

	while (*s) {
		size_t n = utf8_length(s);

		/* U+0080..U+009F move the cursor on some terminals, as ESC does. */
		if (n == 0 || (n == 1 && (*s < 0x20 || *s == 0x7f)) || (n == 2 && *s == 0xc2 && s[1] < 0xa0)) {
			*s++ = '?';
			if (n == 2)
				*s++ = '?';
			continue;
		}
		s += n;
	}
}

static void fill(struct clf_error *err, enum clf_code code, const char *source, int line, int column, const char *fmt,
		 va_list ap)
{
	struct clf_error e = { .code = code == CLF_OK ? CLF_E_INTERNAL : code, .line = line, .column = column };
	size_t len = source ? strlen(source) : 0;

	if (len < sizeof(e.source)) {
		if (len)
			memcpy(e.source, source, len);
	} else {
		memcpy(e.source, "...", 3);
		memcpy(e.source + 3, source + len - (sizeof(e.source) - 4), sizeof(e.source) - 4);
	}
	clf_printable(e.source);
	if (vsnprintf(e.text, sizeof(e.text), fmt, ap) < 0)
		snprintf(e.text, sizeof(e.text), "message could not be formatted");
	clf_printable(e.text);
	*err = e;
}

int clf_fail(struct clf_error *err, enum clf_code code, const char *fmt, ...)
{
	int saved = errno;

	if (err && err->code == CLF_OK) {
		va_list ap;

		va_start(ap, fmt);
		fill(err, code, NULL, 0, 0, fmt, ap);
		va_end(ap);
	}
	errno = saved;
	return -1;
}

int clf_fail_at(struct clf_error *err, enum clf_code code, const char *source, int line, int column, const char *fmt,
		...)
{
	int saved = errno;

	if (err && err->code == CLF_OK) {
		va_list ap;

		va_start(ap, fmt);
		fill(err, code, source, line, column, fmt, ap);
		va_end(ap);
	}
	errno = saved;
	return -1;
}

void clf_error_prefix(struct clf_error *err, const char *fmt, ...)
{
	int saved = errno;

	if (err && err->code != CLF_OK) {
		char text[sizeof(err->text)], context[sizeof(err->text)];
		va_list ap;

		memcpy(text, err->text, sizeof(text));
		va_start(ap, fmt);
		if (vsnprintf(context, sizeof(context), fmt, ap) < 0)
			context[0] = '\0';
		va_end(ap);
		/* A long context must not push the error itself out of the record. */
		snprintf(err->text, sizeof(err->text), "%.*s: %.*s", (int) sizeof(context) / 2, context,
			 (int) sizeof(text) / 2 - 3, text);
		clf_printable(err->text);
	}
	errno = saved;
}

const char *clf_error_string(const struct clf_error *err, char *buf, size_t size)
{
	int saved = errno;

	if (size == 0)
		return buf;
	if (!err->source[0])
		snprintf(buf, size, "%s", err->text);
	else if (err->line > 0 && err->column > 0)
		snprintf(buf, size, "%s:%d:%d: %s", err->source, err->line, err->column, err->text);
	else if (err->line > 0)
		snprintf(buf, size, "%s:%d: %s", err->source, err->line, err->text);
	else
		snprintf(buf, size, "%s: %s", err->source, err->text);
	errno = saved;
	return buf;
}

const char *clf_code_name(enum clf_code code)
{
	switch (code) {
	case CLF_OK:
		return "ok";
	case CLF_E_NOMEM:
		return "nomem";
	case CLF_E_INVALID:
		return "invalid";
	case CLF_E_PARSE:
		return "parse";
	case CLF_E_IO:
		return "io";
	case CLF_E_NOTFOUND:
		return "notfound";
	case CLF_E_CONFLICT:
		return "conflict";
	case CLF_E_EXHAUSTED:
		return "exhausted";
	case CLF_E_DENIED:
		return "denied";
	case CLF_E_REMOTE:
		return "remote";
	case CLF_E_TIMEOUT:
		return "timeout";
	case CLF_E_INSECURE:
		return "insecure";
	case CLF_E_INTERNAL:
		return "internal";
	}
	return "unknown";
}
