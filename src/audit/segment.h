/* SPDX-License-Identifier: GPL-2.0-or-later */
/* segment.h - the files of a log, and their lines one by one in bounded memory.
 *
 * DIR/<sequence of the first record, 20 digits>.jsonl. Reading needs no lock: committed bytes never change.
 * Errors: CLF_E_NOTFOUND no directory; CLF_E_IO.
 * Memory: reader open/close on the caller's storage; lines are borrowed until the next call.
 */
#ifndef CLF_AUDIT_SEGMENT_H
#define CLF_AUDIT_SEGMENT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/strv.h"
#include "wire/proto.h"

#define CLF_SEGMENT_NAME 32
#define CLF_LINE_MAX     (CLF_RECORD_MAX + 1024u) /* a record and what closfoldd adds */

/* Names in order. */
CLF_MUST_USE int clf_segment_list(const char *dir, struct clf_strv *out, struct clf_error *err);
bool clf_segment_number(const char *name, uint64_t *first);
void clf_segment_name(uint64_t first, char name[CLF_SEGMENT_NAME]);

struct clf_segment {
	int fd;
	char *buf;
	size_t have, pos;
	uint64_t line;   /* of the line last returned, 1-based */
	uint64_t offset; /* its first byte in the file */
	uint64_t next_offset;
	bool eof;
};
CLF_MUST_USE int clf_segment_open(const char *dir, const char *name, struct clf_segment *out, struct clf_error *err);
void clf_segment_close(struct clf_segment *s);

enum clf_line { CLF_LINE_END, CLF_LINE_WHOLE, CLF_LINE_CUT, CLF_LINE_LONG };
/* CUT: the file ends without a newline. LONG: over CLF_LINE_MAX, skipped. -1 on a read error. The line has no newline
 * in it. */
int clf_segment_next(struct clf_segment *s, const char **line, size_t *len, struct clf_error *err);

/* The last whole line of a file, copied; CLF_E_PARSE when it does not end in one. */
CLF_MUST_USE int clf_segment_last(const char *dir, const char *name, char **line, size_t *len, struct clf_error *err);

#endif
