/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "oom.h"

#include <errno.h>
#include <stddef.h>

#include "tap.h"

#if defined(__SANITIZE_ADDRESS__)
#define HAVE_OOM 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HAVE_OOM 0
#endif
#endif
#ifndef HAVE_OOM
#define HAVE_OOM 1
#endif

static unsigned long left; /* allocations until one fails; 0 = none will */
static bool did_fail;

#if HAVE_OOM
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *p, size_t size);
void *malloc(size_t size);
void *calloc(size_t n, size_t size);
void *realloc(void *p, size_t size);

static bool fails(void)
{
	if (!left || --left)
		return false;
	did_fail = true;
	errno = ENOMEM;
	return true;
}

__attribute__((visibility("default"))) void *malloc(size_t size)
{
	return fails() ? NULL : __libc_malloc(size);
}

__attribute__((visibility("default"))) void *calloc(size_t n, size_t size)
{
	return fails() ? NULL : __libc_calloc(n, size);
}

__attribute__((visibility("default"))) void *realloc(void *p, size_t size)
{
	return fails() ? NULL : __libc_realloc(p, size);
}
#endif

bool oom_available(void)
{
	return HAVE_OOM;
}

void oom_each(const char *name, bool (*run)(void *arg, bool failed), void *arg)
{
	unsigned long n = 0, bad = 0, first = 0;

	do {
		bool well;

		did_fail = false;
		left = ++n;
		well = run(arg, true);
		left = 0;
		if (!did_fail)
			break;
		if (!well && !bad++)
			first = n;
	} while (n < 1000000);
	ok(!bad && (n > 1 || !oom_available()),
	   "%s: each of %lu allocations may fail (%lu went wrong, the first was number %lu)", name, n - 1, bad, first);
	ok(run(arg, false), "%s: and without a failure all is well", name);
}
