/* SPDX-License-Identifier: GPL-2.0-or-later */
/* lex.h - whole text files with caps, and a cursor that knows its line and column.
 * Errors: CLF_E_IO, CLF_E_NOTFOUND, CLF_E_NOMEM (file larger than max_bytes), CLF_E_PARSE (NUL byte in the file).
 * Memory: clf_text init/done; text is NUL-terminated; name is copied. */
#ifndef CLF_BASE_LEX_H
#define CLF_BASE_LEX_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

struct clf_text {
	char *data;
	size_t len;
	char name[128]; /* for messages; "-" is standard input */
};
CLF_MUST_USE int clf_text_load(const char *path, size_t max_bytes, struct clf_text *out,
			       struct clf_error *err); /* "-": stdin */
/* The same from an open descriptor (borrowed), for one that clf_path_open_trusted() has checked. */
CLF_MUST_USE int clf_text_load_fd(int fd, const char *name, size_t max_bytes, struct clf_text *out,
				  struct clf_error *err);
CLF_MUST_USE int clf_text_from_string(const char *name, const char *s, struct clf_text *out,
				      struct clf_error *err); /* copied */
void clf_text_done(struct clf_text *t);

/* Line by line: *line points into text (not terminated), without CR, LF. false at the end. */
struct clf_lines {
	const char *next, *end;
	int line; /* number of the line last returned, 1-based */
};
struct clf_lines clf_lines_begin(const struct clf_text *t);
bool clf_lines_next(struct clf_lines *it, const char **line, size_t *len);

/* Strict whole-string numbers; false on blanks, signs where unsigned, trailing text, overflow. */
bool clf_parse_u64(const char *s, size_t len, unsigned long long *out);
bool clf_parse_hex64(const char *s, size_t len, unsigned long long *out); /* with or without 0x */
bool clf_parse_double(const char *s, size_t len, double *out); /* -12, 3.5, 1e-9: '.' in any locale, finite only */

#endif
