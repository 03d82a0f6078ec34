/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/worker.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/proc.h"

#define QUERY_MS  30000
#define QUERY_MAX (256u << 20)

void clf_work_destroy(struct clf_work *w)
{
	if (!w)
		return;
	clf_buf_done(&w->out);
	clf_inforce_destroy(w->inforce);
	clf_fab_call_destroy(w->fabric);
	free(w);
}

/* One line of what a program complained of. */
static void first_line(const struct clf_buf *b, char *out, size_t size)
{
	size_t n = b->data ? strcspn(b->data, "\n") : 0;

	snprintf(out, size, "%.*s", (int) (n < size ? n : size - 1), b->data ? b->data : "");
}

static int ask_slurm(struct clf_work *w, struct clf_error *err)
{
	const char *argv[] = { w->conf->slurm_query, "jobs", NULL };
	char conf[PATH_MAX + 16], said[200];
	const char *env[] = { "PATH=/usr/bin:/bin", NULL, NULL };
	struct clf_buf complaint = CLF_BUF_INIT(64u << 10);
	struct clf_proc_result res = { 0 };
	int rc;

	if (*w->conf->slurm_conf) {
		snprintf(conf, sizeof conf, "SLURM_CONF=%s", w->conf->slurm_conf);
		env[1] = conf;
	}
	rc = clf_proc_run(argv, env, QUERY_MS, &w->out, &complaint, &res, err);
	first_line(&complaint, said, sizeof said);
	clf_buf_done(&complaint);
	if (rc)
		return -1;
	if (res.status)
		return clf_fail(err, CLF_E_REMOTE, "'%s' ended with status %d%s%s", w->conf->slurm_query, res.status,
				*said ? ": " : "", said);
	return 0;
}

static void *work(void *arg)
{
	struct clf_work *w = arg;

	if (w->kind == CLF_WORK_JOBS)
		ask_slurm(w, &w->error);
	else if (w->kind == CLF_WORK_FABRIC)
		clf_fab_call_run(w->fabric);
	else if (!(w->inforce = clf_inforce_load(w->conf)))
		clf_fail(&w->error, CLF_E_NOMEM, "out of memory");
	/* Eight bytes into a pipe are written whole. When the loop has gone, nobody waits for them. */
	if (write(w->pipe, &w, sizeof w) != (ssize_t) sizeof w)
		clf_work_destroy(w);
	return NULL;
}

int clf_work_start(enum clf_work_kind kind, const struct clf_conf *conf, struct clf_fab_call *call, int pipe,
		   struct clf_error *err)
{
	CLF_CLEANUP(clf_work_destroyp) struct clf_work *w = calloc(1, sizeof *w);
	pthread_attr_t a;
	pthread_t t;
	sigset_t all, old;
	int rc;

	if (!w)
		return clf_fail(err, CLF_E_NOMEM, "out of memory");
	w->kind = kind;
	w->conf = conf;
	w->pipe = pipe;
	w->out.max = QUERY_MAX;
	if (pthread_attr_init(&a))
		return clf_fail(err, CLF_E_NOMEM, "out of memory");
	pthread_attr_setdetachstate(&a, PTHREAD_CREATE_DETACHED);
	w->fabric = call;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	rc = pthread_create(&t, &a, work, w);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	pthread_attr_destroy(&a);
	if (rc) {
		w->fabric = NULL;
		return clf_fail(err, CLF_E_IO, "cannot start a thread: %s", strerror(rc));
	}
	w = NULL; /* the thread's */
	return 0;
}
