/* SPDX-License-Identifier: GPL-2.0-or-later */
/* driver.h - the contract of everything that closes a job's network.
 *
 * One driver closes the network of a lease: its nodes reach each other, strangers do not reach them. closfoldd is the
 * only caller, one call at a time.
 *
 * Promises of every driver:
 * - Fail closed. apply() == 0 says that the device accepted; only verify() == 0 says that members are what the lease
 * wants, read back from the device (for a fabric with a second source: from that).
 * - Unknown is no success: no answer is CLF_E_TIMEOUT, a broken one CLF_E_REMOTE; a hung device may act later, so the
 * lease's key is not free until release() has returned 0.
 * - apply() and release() are idempotent: after a crash they are called again from the start.
 * - A call blocks at most the deadline it is given; replies are capped; no redirects.
 * - Nothing in a driver knows that it is under test.
 *
 * Partial failure: apply() that returns -1 may have done any part of its steps; the caller calls release(), and again
 * until it is 0. release() that returns -1 leaves the lease "releasing"; its ports are in quarantine or still in the
 * lease's network, never free.
 *
 * To add one: drv_<name>.c, a line in registry.c, docs/drivers/<name>.md, tests/unit/fabric, a simulator in tests/sim.
 * Memory: report->steps is owned by the caller of the driver (clf_fabric_report_done).
 */
#ifndef CLF_FABRIC_DRIVER_H
#define CLF_FABRIC_DRIVER_H

#include "base/log.h"
#include "lease/lease.h"

/* What was done or seen, for record and terminal. */
struct clf_fabric_report {
	bool programmed; /* a wire was really changed, or read back */
	char word[32];   /* status_code of the record: "null", "applied", "verified", "mismatch" */
	char text[200];  /* one sentence */
	json_t *steps;   /* array of strings, or NULL */
};
static inline void clf_fabric_report_done(struct clf_fabric_report *r)
{
	json_decref(r->steps);
	r->steps = NULL;
}

struct clf_driver {
	const char *name;
	bool touches_devices; /* false: closfoldd need not make a lease durable before apply() */

	/* Once at start, required. Blocks on local files only. *self is handed to every other call. */
	int (*open)(const struct clf_log *log, void **self, struct clf_error *err);
	void (*close)(void *self);

	/* Name and version of the device, for status. Called at start and on `closfold status`; a failure stops
	 * nothing. */
	int (*probe)(void *self, int timeout_ms, struct clf_fabric_report *out, struct clf_error *err);
	/* Members present in the lease's network now: out->steps lists them. Changes nothing. */
	int (*read)(void *self, const struct clf_lease *l, int timeout_ms, struct clf_fabric_report *out,
		    struct clf_error *err);
	/* Close the network. Called after the lease is durable as "requested". */
	int (*apply)(void *self, const struct clf_lease *l, int timeout_ms, struct clf_fabric_report *out,
		     struct clf_error *err);
	/* Compare what is there with what the lease wants. Called after apply(), before the job starts. CLF_E_CONFLICT:
	 * a mismatch. */
	int (*verify)(void *self, const struct clf_lease *l, int timeout_ms, struct clf_fabric_report *out,
		      struct clf_error *err);
	/* Move every port to its own quarantine. 0 only when each device has confirmed. */
	int (*release)(void *self, const struct clf_lease *l, int timeout_ms, struct clf_fabric_report *out,
		       struct clf_error *err);
};

/* NULL when there is none of this name. */
const struct clf_driver *clf_driver_find(const char *name);
/* "null, ..." for messages; borrowed, static. */
const char *clf_driver_names(void);

extern const struct clf_driver clf_drv_null;

#endif
