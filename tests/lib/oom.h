/* SPDX-License-Identifier: GPL-2.0-or-later */
/* oom.h - make the Nth allocation of a call fail, for every N.
 *
 * A program with oom.c in it has malloc, calloc and realloc of the whole program (libraries too) under this control;
 * glibc only. With a sanitizer, which has its own, oom_available() is false and nothing fails. */
#ifndef CLF_TESTS_OOM_H
#define CLF_TESTS_OOM_H

#include <stdbool.h>

bool oom_available(void);

/* Call run(arg) with its 1st, 2nd ... allocation failing, until a call has no more to fail. run() returns whether all
 * is well: with `failed` an error that was told and nothing half-made, without it success. Says as one TAP test how
 * many allocations there were. */
void oom_each(const char *name, bool (*run)(void *arg, bool failed), void *arg);

#endif
