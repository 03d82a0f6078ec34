/* SPDX-License-Identifier: GPL-2.0-or-later */
/* munged.h - a munged of a test's own: key, socket and pid file in a directory below clf_test_dir(). */
#ifndef CLF_TESTS_MUNGED_H
#define CLF_TESTS_MUNGED_H

#include <sys/types.h>

/* Path of its socket (static; one for each name), NULL when there is no munged here. Another name, another key. */
const char *munged_start(const char *name);
pid_t munged_pid(const char *name);
void munged_stop(const char *name);

#endif
