/* SPDX-License-Identifier: GPL-2.0-or-later */
/* driver.h - the contract of everything that closes a job's network.
 *
 * A fabric is a configured name with one driver (fabric/conf.h). A driver gets the whole desired state and makes it so:
 * every net that is open (key, ports), and by that what every other managed port must be (its rest: ordinary network or
 * quarantine). What a job start or end needs proven is a task; one sync() does all that wait, so a hundred starts cost
 * one reload of a subnet manager or one transaction a switch.
 *
 * Promises of every driver:
 * - Fail closed. A task's error code is CLF_OK only when its result was read back from the device (for a fabric with a
 *   second source: from that). Accepted is not applied, applied is not verified.
 * - OPEN is verified: every port of the net is in the net and in nothing else, its link is up, and no other port of the
 *   fabric is in it, but those of other nets of the same key in `want`.
 * - CLOSE is verified: every port of the net was seen without the key (or in the net of `want` that has it now).
 * - Unknown is no success: no answer is CLF_E_TIMEOUT, a broken one CLF_E_REMOTE, another state than wanted
 *   CLF_E_CONFLICT. A device that hangs may act later: the caller keeps the key and sends CLOSE until it is verified.
 * - Idempotent: after a crash or failure sync() is called again with the then desired state.
 * - A call blocks at most timeout_ms (and a little for cleaning up); replies are capped; no redirects.
 * - Nothing in a driver knows that it is under test.
 *
 * Partial failure: a failed OPEN may have done any part of its steps. The caller takes the net out of `want` and sends
 * CLOSE, again and again until it is verified; where the device cannot be reached the driver writes the rest state
 * there as soon as it can.
 *
 * Threads: one thread a fabric calls everything but ports(), nic() and attest(), which the daemon's loop may call at
 * the same time: they read what open() made and nothing that changes. To add one: drv_<name>.c, a line in registry.c,
 * docs/drivers/<name>.md, tests/unit/fabric, tests/fabric/<name>. Memory: nets and strings are borrowed for the call;
 * task->report.detail is owned by the caller (clf_net_task_done).
 */
#ifndef CLF_FABRIC_DRIVER_H
#define CLF_FABRIC_DRIVER_H

#include "base/finding.h"
#include "base/log.h"
#include "base/strv.h"
#include "fabric/conf.h"

#define CLF_NET_ID 48

/* The network of one lease on one fabric. Ports in the driver's words: "0x0002c9030000abcd" (port GUID), "leaf1/swp1".
 */
struct clf_net {
	char lease[CLF_NET_ID]; /* owner marker on devices that have a place for one */
	uint32_t job_id;
	uint16_t key; /* PKey without the membership bit, or VLAN id */
	struct clf_strv ports;
};
void clf_net_done(struct clf_net *n);

/* Desired state of a fabric. */
struct clf_want {
	const struct clf_net *nets; /* open ones; the same port in two nets is refused (CLF_E_INVALID) */
	size_t n;
	const struct clf_strv *known; /* every port of every known node, for drivers that must list ordinary ports */
};

/* What was done or seen, for record and terminal. */
struct clf_fabric_report {
	bool programmed; /* a wire was really changed, or read back */
	char word[32];   /* status_code of the record: "null", "verified", "mismatch", "unreachable", ... */
	char text[200];  /* one sentence; of a failure: what to do is in it or in error.text */
	json_t *detail;  /* object: rungs as they were seen, times in ms; or NULL */
};

enum clf_net_op { CLF_NET_OPEN, CLF_NET_CLOSE };
struct clf_net_task {
	enum clf_net_op op;
	const struct clf_net *net; /* of a CLOSE: not in want */
	/* results; error.code CLF_OK = verified */
	struct clf_error error;
	struct clf_fabric_report report;
};
void clf_net_task_done(struct clf_net_task *t); /* the results */

/* One thing that is wrong, or strange, or good to know; text up to 399 bytes, advice may be NULL.
 * Appends {"level":"error","code":WORD,"subject":..,"text":..,"advice":..} to the array; -1 when memory ends. */
CLF_MUST_USE int clf_finding_add(json_t *list, enum clf_finding_level level, const char *code, const char *subject,
				 const char *advice, struct clf_error *err, const char *fmt, ...) CLF_PRINTF(7, 8);

enum clf_attest { CLF_ATTEST_OK, CLF_ATTEST_UNATTESTED, CLF_ATTEST_MISMATCH };

struct clf_driver {
	const char *name;
	bool touches_devices; /* false: no wire is changed, and status says so */
	/* Codes of check() under which isolation is an illusion, NULL at the end: while one of them is found no flagged
	 * job starts on the fabric. NULL: none. */
	const char *const *illusions;

	/* Once at start. Reads its section of the configuration; blocks on local files only. *self is handed to every
	 * other call. conf and log outlive it. */
	int (*open)(const struct clf_fabric_conf *conf, const struct clf_log *log, void **self, struct clf_error *err);
	void (*close)(void *self);

	/* Ports of a node on this fabric, appended to *out. facts: the node's own report (docs/formats/node-report.md)
	 * or NULL when it never sent one. None, or an ineligible node: CLF_E_NOTFOUND / CLF_E_DENIED with the reason
	 * and what to do. */
	int (*ports)(void *self, const char *node, const json_t *facts, struct clf_strv *out, struct clf_error *err);

	/* The NIC of a node that is on a port, by the configuration; NULL: not known. Optional. */
	const char *(*nic)(void *self, const char *port);

	/* Make `want` so and answer each task. 0: every task has its answer. -1: nothing could be tried (memory). */
	int (*sync)(void *self, const struct clf_want *want, struct clf_net_task *tasks, size_t n, int timeout_ms,
		    struct clf_error *err);

	/* Does a node's own view agree with the net? A port's table in sysfs, the VLAN a switch announces by LLDP.
	 * Pure. text (size bytes) says what was seen. */
	enum clf_attest (*attest)(void *self, const struct clf_net *net, const char *node, const json_t *facts,
				  char *text, size_t size);

	/* Compare devices with `want`, everywhere; changes nothing. *findings: array of clf_finding_add(), owned. -1:
	 * no comparison was possible. */
	int (*audit)(void *self, const struct clf_want *want, int timeout_ms, json_t **findings, struct clf_error *err);

	/* Would isolation on this fabric be an illusion? Findings of level error: flagged jobs must not run. Changes
	 * nothing. */
	int (*check)(void *self, const struct clf_want *want, int timeout_ms, json_t **findings, struct clf_error *err);

	/* What the devices say: {"ports":[{"port":..,"node"?:..,...}],...}. Owned. Changes nothing. */
	int (*read)(void *self, const struct clf_want *want, int timeout_ms, json_t **out, struct clf_error *err);

	/* What sync() would change now: {"steps":["..."],"diff"?:"..."}. Owned. Changes nothing. */
	int (*plan)(void *self, const struct clf_want *want, int timeout_ms, json_t **out, struct clf_error *err);
};

/* NULL when there is none of this name. */
const struct clf_driver *clf_driver_find(const char *name);
/* "null, ..." for messages; borrowed, static. */
const char *clf_driver_names(void);

extern const struct clf_driver clf_drv_null, clf_drv_opensm, clf_drv_ovsdb;

#endif
