/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cmd.c - what every verb needs: errors, JSON and safe text on the terminal. */
#include "cmd/cmd.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static enum clf_exit exit_of(enum clf_code code)
{
	switch (code) {
	case CLF_OK:
		return CLF_EXIT_OK;
	case CLF_E_INVALID:
		return CLF_EXIT_NO;
	case CLF_E_DENIED:
	case CLF_E_INSECURE:
		return CLF_EXIT_PERMISSION;
	case CLF_E_REMOTE:
	case CLF_E_TIMEOUT:
		return CLF_EXIT_UNREACHABLE;
	case CLF_E_EXHAUSTED:
	case CLF_E_CONFLICT:
		return CLF_EXIT_EXHAUSTED;
	case CLF_E_NOMEM:
	case CLF_E_PARSE:
	case CLF_E_IO:
	case CLF_E_NOTFOUND:
		return CLF_EXIT_INPUT;
	case CLF_E_INTERNAL:
		break;
	}
	return CLF_EXIT_INTERNAL;
}

int clf_cmd_print_json(json_t *j)
{
	int rc = j && !json_dumpf(j, stdout, JSON_COMPACT | JSON_SORT_KEYS) && putchar('\n') != EOF;

	json_decref(j);
	return rc ? CLF_EXIT_OK : CLF_EXIT_INTERNAL;
}

static void print_error_object(const char *code, const char *message, const struct clf_error *err)
{
	json_t *e = json_pack("{s:s,s:s}", "code", code, "message", message);

	if (e && err && err->source[0])
		json_object_set_new(e, "file", json_string(err->source));
	if (e && err && err->line)
		json_object_set_new(e, "line", json_integer(err->line));
	if (e && err && err->column)
		json_object_set_new(e, "column", json_integer(err->column));
	clf_cmd_print_json(json_pack("{s:o}", "error", e));
}

int clf_cmd_fail(const struct clf_error *err, bool json)
{
	char line[sizeof err->source + sizeof err->text + 32];
	CLF_AUTO_FREE char *safe = clf_cmd_escape(clf_error_string(err, line, sizeof line));

	fprintf(stderr, "closfold: %s\n", safe ? safe : "out of memory");
	if (json)
		print_error_object(clf_code_name(err->code), err->text, err);
	return exit_of(err->code);
}

int clf_cmd_usage(bool json, const char *fmt, ...)
{
	char text[400];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);

	CLF_AUTO_FREE char *safe = clf_cmd_escape(text);

	fprintf(stderr, "closfold: %s; see --help\n", safe ? safe : "out of memory");
	if (json)
		print_error_object("usage", safe ? safe : "out of memory", NULL);
	return CLF_EXIT_USAGE;
}

/* Length of one well-formed UTF-8 sequence above ASCII, 0 when it is none. C1 controls (U+0080..9F) count as none. */
static size_t utf8_len(const unsigned char *s)
{
	size_t n = s[0] >= 0xC2 && s[0] <= 0xDF ? 2 : (s[0] & 0xF0) == 0xE0 ? 3 : s[0] >= 0xF0 && s[0] <= 0xF4 ? 4 : 0;

	for (size_t i = 1; i < n; i++)
		if ((s[i] & 0xC0) != 0x80)
			return 0;
	if ((s[0] == 0xC2 && s[1] < 0xA0) || (s[0] == 0xE0 && s[1] < 0xA0) || (s[0] == 0xED && s[1] > 0x9F) ||
	    (s[0] == 0xF0 && s[1] < 0x90) || (s[0] == 0xF4 && s[1] > 0x8F))
		return 0;
	return n;
}

char *clf_cmd_escape(const char *s)
{
	char *out = malloc(4 * strlen(s) + 1), *o = out;

	if (!out)
		return NULL;
	for (const unsigned char *p = (const unsigned char *) s; *p;) {
		size_t n = *p >= 0x20 && *p < 0x7F ? 1 : *p >= 0x80 ? utf8_len(p) : 0;

		if (!n) {
			o += sprintf(o, "\\x%02X", *p++);
			continue;
		}
		memcpy(o, p, n);
		o += n;
		p += n;
	}
	*o = '\0';
	return out;
}
