/* SPDX-License-Identifier: GPL-2.0-or-later */
/* golden.h - expected output in files: a case is a file or folder, and UPDATE=1 rewrites what is expected. */
#ifndef CLF_TESTS_GOLDEN_H
#define CLF_TESTS_GOLDEN_H

#include <stdbool.h>

/* One test: is `got` the content of the file? With UPDATE=1 in the environment the file is written instead. */
bool golden(const char *path, const char *got, const char *name);

/* Call run() for each name in dir that begins with prefix and ends with suffix, in order. Returns how many: a test
 * should fail at 0. */
int golden_each(const char *dir, const char *prefix, const char *suffix,
		void (*run)(const char *dir, const char *name));

/* Content of a file, owned; NULL when it cannot be read. */
char *golden_read(const char *path);

#endif
