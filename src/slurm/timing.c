/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "slurm/timing.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <stdbool.h>
#include <time.h>

#define BATCH 1000

static pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
static uint32_t took_ns[BATCH];
static uint32_t n;

uint64_t clf_timing_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t) t.tv_sec * 1000000000u + (uint64_t) t.tv_nsec;
}

static int by_size(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *) a, y = *(const uint32_t *) b;

	return (x > y) - (x < y);
}

void clf_timing_add(uint64_t started, const struct clf_log *log)
{
	uint64_t took = clf_timing_now() - started;
	uint32_t p50 = 0, p99 = 0;
	bool full;

	pthread_mutex_lock(&mu);
	took_ns[n++] = took > UINT32_MAX ? UINT32_MAX : (uint32_t) took;
	full = n == BATCH;
	if (full) {
		qsort(took_ns, BATCH, sizeof(*took_ns), by_size);
		p50 = took_ns[BATCH / 2];
		p99 = took_ns[BATCH * 99 / 100];
		n = 0;
	}
	pthread_mutex_unlock(&mu);
	if (full)
		clf_log(log, CLF_LOG_DEBUG, "%d decisions: p50 %u.%u us, p99 %u.%u us", BATCH, p50 / 1000,
			p50 / 100 % 10, p99 / 1000, p99 / 100 % 10);
}
