/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bench.h - what every benchmark needs: a clock, percentiles, a fixed random sequence. Results are JSON lines on
 * stdout. */
#ifndef CLF_TESTS_BENCH_H
#define CLF_TESTS_BENCH_H

#include <stdint.h>
#include <stdlib.h>
#include <time.h>

static inline uint64_t bench_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t) t.tv_sec * 1000000000 + (uint64_t) t.tv_nsec;
}

static inline uint32_t bench_rnd(uint64_t *seed, uint32_t n)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return (uint32_t) (*seed >> 11) % n;
}

static inline int bench_cmp(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *) a, y = *(const uint64_t *) b;

	return x < y ? -1 : x > y;
}

/* Sorts ns[0..n-1]; the value below which the share q of them lies, in microseconds. */
static inline double bench_percentile_us(uint64_t *ns, size_t n, double q)
{
	size_t i = (size_t) (q * (double) n);

	qsort(ns, n, sizeof(*ns), bench_cmp);
	return (double) ns[i < n ? i : n - 1] / 1000;
}

#endif
