/* SPDX-License-Identifier: GPL-2.0-or-later */
/* path.h - may this file be trusted; write a file whole or not at all.
 * Errors: CLF_E_INSECURE says in words why; CLF_E_IO; CLF_E_NOTFOUND. */
#ifndef CLF_BASE_PATH_H
#define CLF_BASE_PATH_H

#include <sys/types.h>

#include "base/err.h"

/* A file read as root: regular, owned by root or `owner` (pass 0 for root only), not writable by group or others; and
 * so are all directories above it (sticky world-writable ones like /tmp are refused too). Symlinks are followed, the
 * target is what is checked. Checks by the open descriptor and fstat, never by name alone: returns the descriptor to
 * read (owned), -1 on failure. */
int clf_path_open_trusted(const char *path, uid_t owner, struct clf_error *err);

/* Write bytes to path by temporary file in the same directory, fsync, rename, fsync of the directory. mode as for
 * open(2). */
CLF_MUST_USE int clf_path_write_atomic(const char *path, mode_t mode, const void *data, size_t len,
				       struct clf_error *err);

/* All of data at an offset of an open file, through short writes and EINTR; `what` names it in the message ("the
 * ledger"). On failure any part may have been written. */
CLF_MUST_USE int clf_path_write_at(int fd, const void *data, size_t len, off_t at, const char *what,
				   struct clf_error *err);

CLF_MUST_USE int clf_path_mkdirs(const char *path, mode_t mode, struct clf_error *err); /* like mkdir -p */
CLF_MUST_USE int clf_path_fsync_dir(const char *path, struct clf_error *err);

#endif
