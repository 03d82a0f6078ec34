/* SPDX-License-Identifier: GPL-2.0-or-later */
/* clock.h - injected time. Tests hand in a fake. Units in names. */
#ifndef CLF_BASE_CLOCK_H
#define CLF_BASE_CLOCK_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct clf_clock {
	int64_t (*wall_ms)(void *arg); /* UTC, milliseconds since 1970 */
	int64_t (*boot_us)(void *arg); /* CLOCK_BOOTTIME, microseconds: for order and deadlines */
	void *arg;
};
extern const struct clf_clock clf_clock_system;

/* RFC 3339 UTC only: "2026-06-01T00:00:00Z". */
CLF_MUST_USE int clf_time_parse(const char *s, int64_t *wall_ms, struct clf_error *err);
const char *clf_time_format(int64_t wall_ms, char *buf, size_t size); /* "2026-06-01T00:00:00.000Z" */

#endif
