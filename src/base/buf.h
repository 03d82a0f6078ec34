/* SPDX-License-Identifier: GPL-2.0-or-later */
/* buf.h - growing bytes with a hard cap, so that no unbounded buffer exists.
 *
 * Memory: init/done on the caller's storage. data is always NUL-terminated
 *         after the first successful add (the NUL is not counted in len).
 * Errors: CLF_E_NOMEM when memory ends or the cap would be passed; the buffer
 *         keeps what it had.
 */
#ifndef CLF_BASE_BUF_H
#define CLF_BASE_BUF_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct clf_buf {
	char *data;
	size_t len, cap, max;
};

#define CLF_BUF_INIT(max_bytes)                                                                                        \
	{                                                                                                              \
		.max = (max_bytes)                                                                                     \
	}

void clf_buf_done(struct clf_buf *b);  /* frees, leaves an empty buffer with the same cap */
void clf_buf_reset(struct clf_buf *b); /* len = 0, memory kept */
/* p must not point into the buffer. */
CLF_MUST_USE int clf_buf_add(struct clf_buf *b, const void *p, size_t n, struct clf_error *err);
CLF_MUST_USE int clf_buf_puts(struct clf_buf *b, const char *s, struct clf_error *err);
CLF_MUST_USE int clf_buf_printf(struct clf_buf *b, struct clf_error *err, const char *fmt, ...) CLF_PRINTF(3, 4);
/* The bytes as an owned string (free()); the buffer is empty afterwards. NULL only when memory ends. */
char *clf_buf_steal(struct clf_buf *b);

#endif
