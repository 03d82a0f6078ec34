/* SPDX-License-Identifier: GPL-2.0-or-later */
/* verify_nodes.h - the last rungs of a start: what the job's nodes see (attest), and frames that must and must not pass
 * (probe). Runs after a driver's OPEN was verified.
 *
 * Order:   every node of the job is asked for a fresh report; the driver judges each (attest); then, on fabrics of
 * driver "ovsdb", the probes of fabric/witness_probe.h. One callback, from clf_agents_ready(), _tick() or _close(),
 * never from start() or cancel(). Verdict: CLF_E_CONFLICT: a node sees another network, a frame did not arrive where it
 * must, or a stranger was reached: refuses whatever the rung says. What could not be looked at refuses only where the
 * rung is "require" (CLF_E_REMOTE, with what to do); "off" leaves it out. Time:    timeout_ms for everything; ends
 * earlier. Memory:  start() copies everything but driver, self and agents, which outlive the run. evidence is borrowed
 * for the callback: {"attest":{"ok":N,"unattested":N,"mismatch":N,"nodes":{...}},"positive":{"done":N,"failed":N},
 *          "negative":{"done":N,"failed":N},"skipped":[TEXT,...],"ms":N}.
 */
#ifndef CLF_DAEMON_VERIFY_NODES_H
#define CLF_DAEMON_VERIFY_NODES_H

#include "daemon/agents.h"
#include "fabric/driver.h"

struct clf_verify_nodes {
	struct clf_agents *agents;
	const struct clf_driver *driver;
	void *self;
	const char *fabric, *driver_name; /* of clf_fabric_conf */
	enum clf_rung attest, probe;
	const struct clf_net *net;
	const struct clf_strv *nodes;  /* of the job */
	const struct clf_strv *others; /* strangers to probe; NULL: all with a report, but the job's own */
	const struct clf_strv *kin;    /* nodes that share the network without being of this job's part; NULL: none */
	int timeout_ms;                /* all of it; at least 1000 */
};

/* why->code CLF_OK: nothing that counts speaks against the start. */
typedef void clf_verify_done_f(void *arg, const struct clf_error *why, const json_t *evidence);

struct clf_verify;
/* *out is valid until done() was called; NULL allowed when nobody wants to cancel. */
CLF_MUST_USE int clf_verify_nodes_start(const struct clf_verify_nodes *in, clf_verify_done_f *done, void *arg,
					struct clf_verify **out, struct clf_error *err);
/* done() will not be called any more; answers under way are dropped. */
void clf_verify_nodes_cancel(struct clf_verify *v);

#endif
