/* SPDX-License-Identifier: GPL-2.0-or-later */
/* proc.h - run a program carefully: no shell, absolute path, clean environment, closed descriptors, deadline, output
 * cap. Errors: CLF_E_TIMEOUT (killed with its process group), CLF_E_NOMEM (output past the cap, killed), CLF_E_IO. */
#ifndef CLF_BASE_PROC_H
#define CLF_BASE_PROC_H

#include "base/buf.h"

struct clf_proc_result {
	int status; /* exit status 0..255, or 128 + signal */
};
/* argv[0] is the absolute path. env is a NULL-terminated list or NULL for an empty one. out and errout may be NULL
 * (discarded). */
CLF_MUST_USE int clf_proc_run(const char *const argv[], const char *const env[], int timeout_ms, struct clf_buf *out,
			      struct clf_buf *errout, struct clf_proc_result *res, struct clf_error *err);

/* The child's side of a fork: own process group, default signals, these three descriptors and no other, exec. Does not
 * return. For coproc.c. */
void clf_proc_child(const char *const argv[], const char *const env[], int in, int out, int errout)
	__attribute__((noreturn));

#endif
