/* SPDX-License-Identifier: GPL-2.0-or-later */
/* serve.h - one message to one answer. What the answer promises is not durable yet: the loop commits, then sends.
 *
 * Requests: docs/formats/wire.md. Who may what: root, slurm_user and closfoldd's own user everything; others "status"
 * in short.
 */
#ifndef CLF_DAEMON_SERVE_H
#define CLF_DAEMON_SERVE_H

#include "daemon/listen_unix.h"
#include "daemon/state.h"

/* What somebody waits for: a start's verdict, the end of a network (told to prep, which has done its part; told to an
 * admin). */
enum clf_serve_wait { CLF_WAIT_START, CLF_WAIT_END, CLF_WAIT_RELEASE };

enum clf_served {
	CLF_SERVED_NOTHING, /* no reply: an async record */
	CLF_SERVED_NOW,     /* reply holds whatever the commit says */
	CLF_SERVED_COMMIT,  /* reply is good only after a successful commit */
	CLF_SERVED_LATER,   /* "reconcile", "policy.reload": the loop answers when the work is back */
	CLF_SERVED_LEASE,   /* the verdict on `lease` is the answer: clf_serve_lease() */
	CLF_SERVED_FABRIC,  /* the loop asks the fabrics: later_op, lease = name of one or "" */
	CLF_SERVED_HANGUP,  /* send the reply, then close: the peer does not speak the protocol */
};

struct clf_served_reply {
	enum clf_served how;
	uint64_t seq;
	char *text; /* owned */
	char later_op[16];
	bool dry_run;
	char lease[CLF_LEASE_ID];
	enum clf_serve_wait wait;
};
/* Fails only when memory ends (reply has CLF_SERVED_HANGUP then). */
void clf_serve(struct clf_state *st, const struct clf_peer *peer, const void *packet, size_t len,
	       struct clf_served_reply *out);

/* {"ok":false,...} of an error; owned, NULL when memory ends. */
char *clf_serve_error(const struct clf_error *err, const char *advice);

/* The answer to somebody who waits for a lease; owned. */
char *clf_serve_lease(const struct clf_state *st, const char *lease, enum clf_serve_wait wait,
		      const struct clf_run_result *res);
/* The answer to a question to the fabrics: [{"fabric":..,"ok":bool,...}], borrowed; owned text. */
char *clf_serve_fabrics(const json_t *answers);

json_t *clf_serve_status(const struct clf_state *st, bool whole);

/* Run on the jobs that the query printed; fills reply text. failed: why there is no list. age_ms: since it was asked
 * for; a lease younger than that is not in it. */
char *clf_serve_reconcile(struct clf_state *st, const struct clf_buf *jobs, const struct clf_error *failed,
			  int64_t age_ms, bool dry_run);

#endif
