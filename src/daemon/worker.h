/* SPDX-License-Identifier: GPL-2.0-or-later */
/* worker.h - what may take long runs beside the loop: asking Slurm, reading policy and topology, driving a fabric.
 *
 * A job is a function that fills its own memory and touches nothing else; when it has returned, the loop finds the job
 * on the pipe and owns it. At most one thread a job; the caller starts no second of a kind before the first is back.
 * Errors: CLF_E_IO, CLF_E_NOMEM.
 */
#ifndef CLF_DAEMON_WORKER_H
#define CLF_DAEMON_WORKER_H

#include "base/buf.h"
#include "daemon/fabrics.h"
#include "daemon/inforce.h"
#include "policy/conf.h"

enum clf_work_kind { CLF_WORK_JOBS, CLF_WORK_INFORCE, CLF_WORK_FABRIC };

struct clf_work {
	enum clf_work_kind kind;
	const struct clf_conf *conf; /* borrowed, outlives the work */
	int pipe;                    /* written when done */
	struct clf_fab_call *fabric; /* FABRIC: owned */
	/* results */
	struct clf_error error;
	struct clf_buf out;          /* JOBS: what the program printed */
	struct clf_inforce *inforce; /* INFORCE */
};
/* call: FABRIC only (the work's when it returns 0), else NULL. */
CLF_MUST_USE int clf_work_start(enum clf_work_kind kind, const struct clf_conf *conf, struct clf_fab_call *call,
				int pipe, struct clf_error *err);
void clf_work_destroy(struct clf_work *w);
CLF_DEFINE_CLEANUP(struct clf_work, clf_work_destroy)

#endif
