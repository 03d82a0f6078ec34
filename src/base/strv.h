/* SPDX-License-Identifier: GPL-2.0-or-later */
/* strv.h - a list of owned strings.
 * Memory: init/done on the caller's storage; v[0..n-1] owned by the list. */
#ifndef CLF_BASE_STRV_H
#define CLF_BASE_STRV_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

struct clf_strv {
	char **v;
	size_t n, cap;
};

void clf_strv_done(struct clf_strv *s);
CLF_MUST_USE int clf_strv_add(struct clf_strv *s, const char *str, struct clf_error *err);              /* copied */
CLF_MUST_USE int clf_strv_addn(struct clf_strv *s, const char *str, size_t len, struct clf_error *err); /* copied */
bool clf_strv_has(const struct clf_strv *s, const char *str);                                           /* linear */
void clf_strv_sort(struct clf_strv *s); /* natural order: n2 before n10 */
/* Natural order of two names: digit runs compare as numbers of any length; ties by strcmp. */
int clf_strnatcmp(const char *a, const char *b);

#endif
