/* SPDX-License-Identifier: GPL-2.0-or-later */
/* helper.h - one thread beside a loop, for what may hang: munged, lldpcli, name servers.
 *
 * Jobs run one after the other in the order they were put. A job touches nothing but its own memory while it runs; the
 * loop finds it with take() when the descriptor is readable. One that waited longer than its deadline is not run:
 * late is set, and what is behind it need not wait for a service that hangs.
 * Memory: a job belongs to the helper from put() to take(); free_job frees it where nobody takes it any more. close()
 *         does not wait for the job that runs: the thread frees it and what they share, when it comes back.
 */
#ifndef CLF_DAEMON_HELPER_H
#define CLF_DAEMON_HELPER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct clf_job {
	void (*run)(struct clf_job *job);
	void (*free_job)(struct clf_job *job);
	int64_t deadline_ms; /* CLOCK_BOOTTIME; 0 = none */
	bool late;
	struct clf_job *next; /* the helper's */
};

struct clf_helper;

CLF_MUST_USE int clf_helper_open(struct clf_helper **out, size_t max_jobs, struct clf_error *err);
void clf_helper_close(struct clf_helper *h);
CLF_DEFINE_CLEANUP(struct clf_helper, clf_helper_close)

/* job is stolen. CLF_E_EXHAUSTED: max_jobs wait already. */
CLF_MUST_USE int clf_helper_put(struct clf_helper *h, struct clf_job *job, struct clf_error *err);
int clf_helper_fd(const struct clf_helper *h); /* an eventfd, borrowed */
/* The next that is done, owned; NULL: none. */
struct clf_job *clf_helper_take(struct clf_helper *h);
size_t clf_helper_waiting(struct clf_helper *h);

#endif
