/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tap.h - Test Anything Protocol for C programs, without a plan at the top.
 *
 * int main(void) { ok(1 + 1 == 2, "sum"); return done_testing(); }
 *
 * ok(), is_int() and is_str() return whether they passed and say on failure where and what. done_testing() prints the
 * plan and returns the exit status: not 0 when a test failed or none ran. */
#ifndef CLF_TESTS_TAP_H
#define CLF_TESTS_TAP_H

#include <stdbool.h>

bool clf_tap_ok(bool pass, const char *file, int line, const char *fmt, ...) __attribute__((format(printf, 4, 5)));
bool clf_tap_int(long long got, long long want, const char *file, int line, const char *fmt, ...)
	__attribute__((format(printf, 5, 6)));
bool clf_tap_str(const char *got, const char *want, const char *file, int line, const char *fmt, ...)
	__attribute__((format(printf, 5, 6)));

#define ok(cond, ...)          clf_tap_ok((cond), __FILE__, __LINE__, __VA_ARGS__)
#define is_int(got, want, ...) clf_tap_int((got), (want), __FILE__, __LINE__, __VA_ARGS__)
/* NULL equals only NULL. */
#define is_str(got, want, ...) clf_tap_str((got), (want), __FILE__, __LINE__, __VA_ARGS__)

void diag(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* One test that is not run; counts as skipped, with its reason. */
void skip(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
int done_testing(void);

/* Can what `tag` stands for be tested here? When not: skip with the reason, or fail when CLF_REQUIRE (a comma list)
 * names the tag. Use: if (clf_test_require("root", geteuid() == 0, "not root")) { ... } */
bool clf_test_require(const char *tag, bool available, const char *reason);

/* A fresh directory under $TMPDIR, removed by done_testing(); absolute, valid until then. */
const char *clf_test_dir(void);

/* Absolute path of the source tree (CLF_SRCDIR, else ".") and of ../shared (CLF_SHARED, else beside the source tree).
 */
const char *clf_test_srcdir(void);
const char *clf_test_shared(void);

#endif
