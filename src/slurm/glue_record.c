/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "slurm/glue_record.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/strmap.h"
#include "wire/client.h"

static struct {
	pthread_mutex_t mu;
	struct clf_client *client;
	char producer[32];
	uint64_t seq, lost;
} R = { .mu = PTHREAD_MUTEX_INITIALIZER };

int clf_slurm_record_init(const char *producer, const char *runtime_dir, struct clf_error *err)
{
	char path[4096];

	if (snprintf(path, sizeof(path), "%s/closfoldd.sock", runtime_dir) >= (int) sizeof(path))
		return clf_fail(err, CLF_E_INVALID, "runtime_dir too long");
	snprintf(R.producer, sizeof(R.producer), "%s", producer);
	if (!R.client)
		R.client = clf_client_create(path, err);
	return R.client ? 0 : -1;
}

void clf_slurm_record_done(void)
{
	pthread_mutex_lock(&R.mu);
	clf_client_destroy(R.client);
	R.client = NULL;
	pthread_mutex_unlock(&R.mu);
}

uint64_t clf_slurm_record_lost(void)
{
	return R.lost;
}

static void fill(struct clf_record_facts *f, const struct clf_slurm_view *v, const struct clf_decision *dec)
{
	uint32_t g;

	f->process = "slurmctld";
	f->producer = R.producer;
	if (v) {
		f->cluster = v->conf->cluster;
		f->policy_sha256 = v->snapshot->policy_sha256;
	}
	if (!dec)
		return;
	f->decision = dec->id[0] ? dec->id : f->decision;
	f->cls = dec->cls;
	f->grant = dec->grant;
	if (!f->status_code)
		f->status_code = dec->rule;
	if (!f->message)
		f->message = dec->reason;
	if (v && dec->grant && clf_strmap_find(&v->snapshot->policy->grant_of, dec->grant, &g)) {
		const struct clf_policy_grant *grant = &v->snapshot->policy->grants[g];

		f->purpose = grant->purpose;
		f->fiduciary = grant->fiduciary;
		f->contract = grant->contract;
		f->basis = grant->basis;
	}
}

int clf_slurm_record(struct clf_record_facts *f, const struct clf_slurm_view *v, const struct clf_decision *dec,
		     bool wait, struct clf_error *err)
{
	CLF_AUTO_FREE char *bytes = NULL;
	size_t len;
	int rc;

	fill(f, v, dec);
	pthread_mutex_lock(&R.mu);
	f->producer_seq = ++R.seq;
	if (!R.client || clf_record_make(f, &clf_clock_system, &bytes, &len, err))
		rc = R.client ? -1 : clf_fail(err, CLF_E_REMOTE, "no connection to closfoldd");
	else if (wait)
		rc = clf_client_record(R.client, bytes, len, v ? (int) v->conf->submit_timeout_ms : 50, err);
	else
		rc = clf_client_record_async(R.client, bytes, len, err);
	if (rc)
		R.lost++;
	pthread_mutex_unlock(&R.mu);
	return rc;
}
