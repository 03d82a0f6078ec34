/* SPDX-License-Identifier: GPL-2.0-or-later */
/* drv_ovsdb.c - Open vSwitch by OVSDB: access VLANs of the nodes' ports. See docs/drivers/ovsdb.md. */
#include <signal.h>
#include <string.h>

#include "base/clock.h"
#include "fabric/ovsdb_drv.h"

#define KEEP_ALIVE_S 2 /* a server asks after 5 s of silence and hangs up at 10 */

/* A thread that takes none of the process's signals; false: not started. */
static bool start_thread(pthread_t *t, void *(*f)(void *), void *arg)
{
	sigset_t all, old;
	int rc;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	rc = pthread_create(t, NULL, f, arg);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return rc == 0;
}

/* all switches at once */

struct job {
	clf_ovsdb_each_f *f;
	void *arg;
	uint32_t sw;
	pthread_t thread;
	bool threaded;
};

static void *run_job(void *arg)
{
	struct job *j = arg;

	j->f(j->arg, j->sw);
	return NULL;
}

void clf_ovsdb_each(const struct clf_ovsdb_drv *d, clf_ovsdb_each_f *f, void *arg)
{
	CLF_AUTO_FREE struct job *jobs = calloc(d->conf.nsw, sizeof *jobs);

	for (uint32_t i = 0; i < d->conf.nsw; i++) {
		if (jobs) {
			jobs[i] = (struct job){ .f = f, .arg = arg, .sw = i };
			jobs[i].threaded = start_thread(&jobs[i].thread, run_job, &jobs[i]);
		}
		if (!jobs || !jobs[i].threaded)
			f(arg, i);
	}
	for (uint32_t i = 0; jobs && i < d->conf.nsw; i++)
		if (jobs[i].threaded)
			pthread_join(jobs[i].thread, NULL);
}

struct reading {
	struct clf_ovsdb_drv *d;
	int64_t deadline_us;
	struct clf_error *error;
};

static void read_one(void *arg, uint32_t sw)
{
	struct reading *r = arg;

	r->error[sw] = (struct clf_error){ 0 };
	if (clf_ovsdb_sw_read(&r->d->sw[sw], r->deadline_us, &r->error[sw]))
		return;
	if (!r->d->sw[sw].now.bridge_found && r->d->conf.sw[sw].bridge)
		clf_fail(&r->error[sw], CLF_E_REMOTE, "switch '%s': has no bridge '%s'; correct fabrics.json",
			 r->d->conf.sw[sw].name, r->d->conf.sw[sw].bridge);
}

/* keepalive */

static void *keep(void *arg)
{
	struct clf_ovsdb_drv *d = arg;
	struct timespec t;

	pthread_mutex_lock(&d->mutex);
	while (!d->stop) {
		clock_gettime(CLOCK_MONOTONIC, &t);
		t.tv_sec += KEEP_ALIVE_S;
		pthread_cond_timedwait(&d->wake, &d->mutex, &t);
		for (uint32_t i = 0; !d->stop && i < d->conf.nsw; i++)
			clf_ovsdb_sw_pump(&d->sw[i]);
	}
	pthread_mutex_unlock(&d->mutex);
	return NULL;
}

void clf_ovsdb_read_all(struct clf_ovsdb_drv *d, int64_t deadline_us, struct clf_error *error)
{
	struct reading r = { .d = d, .deadline_us = deadline_us, .error = error };

	if (!d->keeps) /* without it the next read reconnects, that is all */
		d->keeps = start_thread(&d->keeper, keep, d);
	clf_ovsdb_each(d, read_one, &r);
}

/* start and end */

static void close_ovsdb(void *self)
{
	struct clf_ovsdb_drv *d = self;

	pthread_mutex_lock(&d->mutex);
	d->stop = true;
	pthread_cond_signal(&d->wake);
	pthread_mutex_unlock(&d->mutex);
	if (d->keeps)
		pthread_join(d->keeper, NULL);
	for (uint32_t i = 0; d->sw && i < d->conf.nsw; i++)
		clf_ovsdb_sw_done(&d->sw[i]);
	clf_ovsdb_conf_done(&d->conf);
	pthread_cond_destroy(&d->wake);
	pthread_mutex_destroy(&d->mutex);
	free(d->sw);
	free(d->held);
	free(d->doubt);
	free(d);
}

static int make_switches(struct clf_ovsdb_drv *d, struct clf_error *err)
{
	d->held = calloc(d->conf.nports + 1, sizeof *d->held);
	d->doubt = calloc(d->conf.nports + 1, sizeof *d->doubt);
	d->sw = calloc(d->conf.nsw, sizeof *d->sw);
	if (!d->held || !d->doubt || !d->sw)
		return clf_fail(err, CLF_E_NOMEM, "out of memory");
	for (uint32_t i = 0; i < d->conf.nsw; i++) {
		clf_ovsdb_sw_init(&d->sw[i], &d->conf.sw[i], d->conf.port + d->conf.sw[i].first);
		d->sw[i].doubt = d->doubt + d->conf.sw[i].first;
	}
	return 0;
}

static int open_ovsdb(const struct clf_fabric_conf *conf, const struct clf_log *log, void **self, struct clf_error *err)
{
	struct clf_ovsdb_drv *d = calloc(1, sizeof *d);
	pthread_condattr_t attr;

	if (!d)
		return clf_fail(err, CLF_E_NOMEM, "out of memory");
	pthread_mutex_init(&d->mutex, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&d->wake, &attr);
	pthread_condattr_destroy(&attr);
	if (clf_ovsdb_conf_load(conf, &d->conf, err) || make_switches(d, err)) {
		close_ovsdb(d);
		return -1;
	}
	*self = d;
	return 0;
}

const struct clf_driver clf_drv_ovsdb = {
	.name = "ovsdb",
	.touches_devices = true,
	.open = open_ovsdb,
	.close = close_ovsdb,
	.ports = clf_ovsdb_ports,
	.sync = clf_ovsdb_sync,
	.illusions = (const char *const[]){ "trunk-all", "mirror", "shared-quarantine", "quarantine-on-uplink", NULL },
	.nic = clf_ovsdb_nic,
	.attest = clf_ovsdb_attest,
	.audit = clf_ovsdb_audit,
	.check = clf_ovsdb_check,
	.read = clf_ovsdb_read_ports,
	.plan = clf_ovsdb_plan,
};
