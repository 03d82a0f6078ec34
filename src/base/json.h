/* SPDX-License-Identifier: GPL-2.0-or-later */
/* json.h - jansson with caps, and a place in the file for every value.
 *
 * jansson keeps no position on values; clf_json_fail() scans the text again for a JSON pointer (RFC 6901).
 * Columns count bytes. Loading rejects duplicate keys, non-UTF-8, NUL in strings, files over max_bytes, nesting over
 * CLF_JSON_DEPTH. Memory: clf_json_doc init/done; doc.root is borrowed while the doc lives. Base stays free of other
 * libraries but for this file (docs/adr/0002).
 */
#ifndef CLF_BASE_JSON_H
#define CLF_BASE_JSON_H

#include <jansson.h>
#include <stdbool.h>

#include "base/lex.h"

#define CLF_JSON_DEPTH 32

struct clf_json_doc {
	struct clf_text text;
	json_t *root;
};
CLF_MUST_USE int clf_json_load_file(const char *path, size_t max_bytes, struct clf_json_doc *out,
				    struct clf_error *err);
CLF_MUST_USE int clf_json_load_text(struct clf_text *text /* stolen */, struct clf_json_doc *out,
				    struct clf_error *err);
void clf_json_doc_done(struct clf_json_doc *doc);

/* CLF_E_PARSE at the value (or, where the pointer's last part is absent, at its object). pointer "" is the whole
 * document. */
int clf_json_fail(const struct clf_json_doc *doc, const char *pointer, struct clf_error *err, const char *fmt, ...)
	CLF_PRINTF(4, 5);
bool clf_json_position(const char *text, size_t len, const char *pointer, int *line, int *column);

/* Schema table: a key, its type, whether it must be there. Unknown keys are errors with a suggestion ("did you mean
 * 'class'?"). */
struct clf_json_key {
	const char *name;
	json_type type; /* JSON_TRUE: a boolean; JSON_REAL: integer or real; JSON_NULL: any */
	bool required;
	json_t **out; /* borrowed value or NULL when absent; may be NULL */
};
/* Check object at pointer against keys[0..n-1]. doc may be NULL (no place in the message). Outputs are set only on
 * success. */
CLF_MUST_USE int clf_json_object(const struct clf_json_doc *doc, json_t *obj, const char *pointer,
				 const struct clf_json_key *keys, size_t n, struct clf_error *err);

/* The nearest word of the list within an edit distance of 2, or NULL; for "did you mean". */
const char *clf_suggest(const char *word, const char *const *list, size_t n);

/* Canonical bytes: JSON_COMPACT | JSON_SORT_KEYS, ends without newline. Owned; NULL when memory ends. */
char *clf_json_canonical(const json_t *j);

#endif
