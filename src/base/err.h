/* SPDX-License-Identifier: GPL-2.0-or-later */
/* err.h - one error record, filled once, at the place that knows.
 *
 * Errors: functions return 0 or -1; the record is the last argument and may be
 *         NULL. The first error wins: filling a record twice keeps the first.
 *         errno is kept across every function here.
 * Text:   error first, lower case, no full stop, subject in single quotes;
 *         a refusal also says what to do. Control characters become '?'.
 * Memory: a struct clf_error is plain storage of the caller: {0} is "no error".
 */
#ifndef CLF_BASE_ERR_H
#define CLF_BASE_ERR_H

#include <stddef.h>

#include "base/cleanup.h"

enum clf_code {
	CLF_OK = 0,
	CLF_E_NOMEM,     /* an allocation failed or a cap was reached */
	CLF_E_INVALID,   /* the request can never be right */
	CLF_E_PARSE,     /* a file or message has the wrong form */
	CLF_E_IO,        /* the system said no; text holds its words */
	CLF_E_NOTFOUND,  /* the thing named does not exist */
	CLF_E_CONFLICT,  /* somebody else holds or changed it */
	CLF_E_EXHAUSTED, /* right, but nothing is free now */
	CLF_E_DENIED,    /* policy or permission says no */
	CLF_E_REMOTE,    /* the peer failed, or its state is unknown */
	CLF_E_TIMEOUT,   /* no answer in time; state is unknown */
	CLF_E_INSECURE,  /* owner, mode or signature is not to be trusted */
	CLF_E_INTERNAL,  /* a promise inside the program is broken */
};

struct clf_error {
	enum clf_code code;
	int line;   /* 1-based, 0 = not from a file */
	int column; /* 1-based, 0 = unknown */
	char source[128];
	char text[400];
};

/* Fill err (NULL is allowed) and return -1. Keeps errno. */
int clf_fail(struct clf_error *err, enum clf_code code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* The same with a place in a file; source is copied, long paths keep their end. */
int clf_fail_at(struct clf_error *err, enum clf_code code, const char *source, int line, int column, const char *fmt,
		...) __attribute__((format(printf, 6, 7)));

/* Put "context: " before the text of a filled record; no effect on {0}. */
void clf_error_prefix(struct clf_error *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* "source:line:column: text" or "text" into buf; always terminated. Returns buf. */
const char *clf_error_string(const struct clf_error *err, char *buf, size_t size);

/* Make a text safe to print: control characters, C1 controls and bytes that are not UTF-8 become '?', in place. */
void clf_printable(char *text);

/* Stable machine word of a code: "ok" "nomem" "invalid" "parse" "io" ... */
const char *clf_code_name(enum clf_code code);

#endif
