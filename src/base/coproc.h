/* SPDX-License-Identifier: GPL-2.0-or-later */
/* coproc.h - a helper program that stays: lines to its standard input, lines from its standard output.
 *
 * No shell, absolute path, given environment, closed descriptors, a process group of its own, and a deadline on every
 * call; a deadline is CLOCK_MONOTONIC in milliseconds (clf_coproc_now_ms() + n). What it says on standard error is
 * kept, the last of it, for messages. Errors: CLF_E_TIMEOUT; CLF_E_REMOTE it ended or broke; CLF_E_NOMEM a line past
 * the cap; CLF_E_IO it cannot be started. After any of them the caller stops it. Memory: init by CLF_COPROC_INIT, done
 * by clf_coproc_stop(); lines are borrowed until the next call.
 */
#ifndef CLF_BASE_COPROC_H
#define CLF_BASE_COPROC_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"

struct clf_coproc {
	pid_t pid; /* 0: none */
	int fd, fd_err;
	struct clf_buf in; /* bytes read; those before `used` were given out */
	size_t used;
	char last[160]; /* end of its standard error */
	/* restart: how often it failed in a row, and when it may be tried again */
	unsigned failures;
	int64_t not_before_ms;
};
#define CLF_COPROC_INIT(max_bytes)                                                                                     \
	{                                                                                                              \
		.fd = -1, .fd_err = -1, .in = CLF_BUF_INIT(max_bytes)                                                  \
	}

int64_t clf_coproc_now_ms(void);

/* argv[0] is the absolute path; env NULL for an empty one. After failures (clf_coproc_failed) a start is refused with
 * CLF_E_REMOTE until its pause, 100 ms doubling up to 10 s, is over. */
CLF_MUST_USE int clf_coproc_start(struct clf_coproc *c, const char *const argv[], const char *const env[],
				  struct clf_error *err);
CLF_MUST_USE int clf_coproc_send(struct clf_coproc *c, const void *data, size_t len, int64_t deadline_ms,
				 struct clf_error *err);
void clf_coproc_end_input(struct clf_coproc *c);
/* The next line, without its newline, NUL-terminated. */
CLF_MUST_USE int clf_coproc_line(struct clf_coproc *c, char **line, int64_t deadline_ms, struct clf_error *err);
/* Wait for its own end; *status as in proc.h. */
CLF_MUST_USE int clf_coproc_wait(struct clf_coproc *c, int64_t deadline_ms, int *status, struct clf_error *err);
/* End it: its input is closed, after 200 ms its process group is killed. Nothing when it does not run. */
void clf_coproc_stop(struct clf_coproc *c);
/* Stop, and remember that it failed; clf_coproc_worked() forgets. */
void clf_coproc_failed(struct clf_coproc *c);
void clf_coproc_worked(struct clf_coproc *c);

#endif
