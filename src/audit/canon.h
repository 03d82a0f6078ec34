/* SPDX-License-Identifier: GPL-2.0-or-later */
/* canon.h - are these bytes a canonical record, and where are its parts: one pass, nothing allocated.
 *
 * Checks the whole of docs/formats/audit-record.md that bytes can show: one object, no blanks, keys printable ASCII in
 * strictly rising order (so no duplicates), integers only and |int| < 2^53, valid UTF-8, no control characters, escapes
 * \" and \\ only, nesting up to CLF_JSON_DEPTH; and the members that every record has. Errors: CLF_E_PARSE, column =
 * 1-based byte. Shapes: spans are raw bytes between the quotes, borrowed from the text. Source: RFC 8785, section 3.2.
 */
#ifndef CLF_AUDIT_CANON_H
#define CLF_AUDIT_CANON_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

#define CLF_CANON_INT_MAX ((INT64_C(1) << 53) - 1)

struct clf_span {
	const char *p; /* NULL = absent */
	size_t len;
};

struct clf_canon {
	size_t at_logged, at_sequence, at_prev; /* where the daemon's members go: offset of the key they stand before */
	struct clf_span event, schema, uid, version;
	struct clf_span producer, boot_id, run;
	int64_t producer_seq, time; /* -1 = absent */
	/* set by closfoldd only: */
	struct clf_span log_name, prev;
	int64_t sequence, logged_time; /* -1 = absent */
};
CLF_MUST_USE int clf_canon_scan(const char *text, size_t len, struct clf_canon *out, struct clf_error *err);

/* Bytes of the well-formed UTF-8 character at p (1 for printable ASCII), 0 when it is none or a control character. */
size_t clf_canon_char(const unsigned char *p, const unsigned char *end);

#endif
