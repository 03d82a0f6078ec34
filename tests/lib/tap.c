/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tap.h"

#include <ftw.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int tests_run, tests_failed;
static char temp_dir[PATH_MAX];

/* A name on one line, without '#', which starts a directive. */
static void print_name(const char *fmt, va_list ap)
{
	char name[512];

	vsnprintf(name, sizeof(name), fmt, ap);
	for (char *p = name; *p; p++)
		if (*p == '\n' || *p == '#')
			*p = ' ';
	printf("%s\n", name);
}

static bool report(bool pass, const char *file, int line, const char *fmt, va_list ap)
{
	tests_run++;
	printf("%s %d - ", pass ? "ok" : "not ok", tests_run);
	print_name(fmt, ap);
	if (!pass) {
		tests_failed++;
		diag("failed at %s line %d", file, line);
	}
	fflush(stdout);
	return pass;
}

bool clf_tap_ok(bool pass, const char *file, int line, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	report(pass, file, line, fmt, ap);
	va_end(ap);
	return pass;
}

bool clf_tap_int(long long got, long long want, const char *file, int line, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	if (!report(got == want, file, line, fmt, ap))
		diag("     got: %lld\nexpected: %lld", got, want);
	va_end(ap);
	return got == want;
}

bool clf_tap_str(const char *got, const char *want, const char *file, int line, const char *fmt, ...)
{
	bool same = got && want ? strcmp(got, want) == 0 : got == want;
	va_list ap;

	va_start(ap, fmt);
	if (!report(same, file, line, fmt, ap))
		diag("     got: %s%s%s\nexpected: %s%s%s", got ? "'" : "", got ? got : "NULL", got ? "'" : "",
		     want ? "'" : "", want ? want : "NULL", want ? "'" : "");
	va_end(ap);
	return same;
}

void diag(const char *fmt, ...)
{
	char text[4096];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	for (char *line = text, *next; line; line = next) {
		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		printf("# %s\n", line);
	}
	fflush(stdout);
}

void skip(const char *fmt, ...)
{
	va_list ap;

	printf("ok %d # SKIP ", ++tests_run);
	va_start(ap, fmt);
	print_name(fmt, ap);
	va_end(ap);
	fflush(stdout);
}

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void) st, (void) type, (void) ftw;
	return remove(path);
}

int done_testing(void)
{
	if (temp_dir[0]) {
		nftw(temp_dir, remove_entry, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
		temp_dir[0] = '\0';
	}
	printf("1..%d\n", tests_run);
	fflush(stdout);
	return tests_failed || !tests_run ? EXIT_FAILURE : EXIT_SUCCESS;
}

static bool listed(const char *list, const char *tag)
{
	size_t len = strlen(tag);

	while (list && *list) {
		size_t n = strcspn(list, ",");

		if (n == len && memcmp(list, tag, n) == 0)
			return true;
		list += n + (list[n] == ',');
	}
	return false;
}

bool clf_test_require(const char *tag, bool available, const char *reason)
{
	if (available)
		return true;
	if (listed(getenv("CLF_REQUIRE"), tag))
		clf_tap_ok(false, tag, 0, "'%s' is required but missing: %s", tag, reason);
	else
		skip("%s: %s", tag, reason);
	return false;
}

const char *clf_test_dir(void)
{
	const char *base = getenv("TMPDIR");

	if (temp_dir[0])
		return temp_dir;
	snprintf(temp_dir, sizeof(temp_dir), "%s/clf-test.XXXXXX", base && base[0] == '/' ? base : "/tmp");
	if (!mkdtemp(temp_dir)) {
		printf("Bail out! no temporary directory %s\n", temp_dir);
		exit(EXIT_FAILURE);
	}
	return temp_dir;
}

const char *clf_test_srcdir(void)
{
	const char *dir = getenv("CLF_SRCDIR");

	return dir && *dir ? dir : ".";
}

const char *clf_test_shared(void)
{
	static char path[PATH_MAX];
	const char *dir = getenv("CLF_SHARED");

	if (dir && *dir)
		return dir;
	snprintf(path, sizeof(path), "%s/../shared", clf_test_srcdir());
	return path;
}
