/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/clock.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static int64_t system_wall_ms(void *arg)
{
	struct timespec t = { 0 };

	clock_gettime(CLOCK_REALTIME, &t);
	return (int64_t) t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static int64_t system_boot_us(void *arg)
{
	struct timespec t = { 0 };

	clock_gettime(CLOCK_BOOTTIME, &t);
	return (int64_t) t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

const struct clf_clock clf_clock_system = { .wall_ms = system_wall_ms, .boot_us = system_boot_us };

/* Exactly n digits at s; the value or -1. Stops at the NUL, as it is no digit. */
static int digits(const char *s, int n)
{
	int v = 0;

	for (int i = 0; i < n; i++) {
		if (s[i] < '0' || s[i] > '9')
			return -1;
		v = v * 10 + (s[i] - '0');
	}
	return v;
}

static bool parse(const char *s, int64_t *wall_ms)
{
	static const int month_days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
	int field[6], ms = 0, scale = 100, last_day;
	const char *p = s;

	for (int i = 0; i < 6; i++) {
		int width = i == 0 ? 4 : 2;

		field[i] = digits(p, width);
		if (field[i] < 0 || (i < 5 && p[width] != "--T::"[i]))
			return false;
		p += width + (i < 5);
	}
	if (*p == '.') {
		const char *first = ++p;

		for (; *p >= '0' && *p <= '9'; p++, scale /= 10)
			ms += (*p - '0') * scale;
		if (p == first || p - first > 9)
			return false;
	}
	if (strcmp(p, "Z") != 0 || field[0] < 1970 || field[1] < 1 || field[1] > 12)
		return false;
	last_day = month_days[field[1] - 1] +
		   (field[1] == 2 && field[0] % 4 == 0 && (field[0] % 100 != 0 || field[0] % 400 == 0));
	if (field[2] < 1 || field[2] > last_day || field[3] > 23 || field[4] > 59 || field[5] > 59)
		return false;

	struct tm tm = { .tm_year = field[0] - 1900,
			 .tm_mon = field[1] - 1,
			 .tm_mday = field[2],
			 .tm_hour = field[3],
			 .tm_min = field[4],
			 .tm_sec = field[5] };

	*wall_ms = (int64_t) timegm(&tm) * 1000 + ms;
	return true;
}

int clf_time_parse(const char *s, int64_t *wall_ms, struct clf_error *err)
{
	int64_t t;

	if (!parse(s, &t))
		return clf_fail(err, CLF_E_PARSE, "'%s' is not a UTC time like '2026-06-01T00:00:00Z'", s);
	*wall_ms = t;
	return 0;
}

const char *clf_time_format(int64_t wall_ms, char *buf, size_t size)
{
	int64_t sec = wall_ms / 1000 - (wall_ms % 1000 < 0);
	int ms = (int) (wall_ms - sec * 1000);
	time_t t = (time_t) sec;
	struct tm tm;

	if (size == 0)
		return buf;
	if (!gmtime_r(&t, &tm) || tm.tm_year > 9999 - 1900 || tm.tm_year < -1900)
		snprintf(buf, size, "(no time)");
	else
		snprintf(buf, size, "%04d-%02d-%02dT%02d:%02d:%02d.%03dZ", tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday,
			 tm.tm_hour, tm.tm_min, tm.tm_sec, ms);
	return buf;
}
