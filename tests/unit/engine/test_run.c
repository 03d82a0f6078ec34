/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Job start and end against a driver that fails, a log that is full, a policy that is not there. */
#include "engine/run.h"

#include <stdio.h>
#include <string.h>

#include "tap.h"

static const char policy_text[] =
	"{\"format\":\"closfold-policy/1\",\"id\":\"t\",\"version\":1,"
	"\"classes\":{\"levels\":[\"internal\",\"personal\"],\"default\":\"internal\",\"flagged_from\":\"personal\"},"
	"\"zones\":{\"secure\":{\"nodes\":\"n[1-8]\"}},\"floors\":{\"accounts\":{}},"
	"\"terms\":{\"personal\":{\"zone\":\"secure\",\"exclusive\":true}},"
	"\"rules\":[{\"id\":\"r-1\",\"effect\":\"permit\",\"when\":{\"classes\":[\"personal\"],\"accounts\":[\"acct\"]}"
	"}],"
	"\"grants\":[{\"id\":\"G-1\",\"class\":\"personal\",\"purpose\":\"dpv:R\",\"fiduciary\":\"f\",\"contract\":"
	"\"c\",\"basis\":\"s6-consent\","
	"\"datasets\":[\"d\"],\"valid\":{\"from\":\"2020-01-01T00:00:00Z\",\"until\":\"2120-01-01T00:00:00Z\"},"
	"\"allow\":{\"accounts\":[\"acct\"]}}]}";

/* ---- a driver that does as told and keeps a list of what it was asked */

static struct {
	bool fail_apply, fail_verify, fail_release;
	char calls[400];
	const struct clf_store *store;
	bool durable_before_apply;
} fake;

static int called(const char *what, bool fail, struct clf_fabric_report *out, struct clf_error *err)
{
	strcat(fake.calls, what);
	if (fail)
		return clf_fail(err, CLF_E_TIMEOUT, "switch does not answer");
	*out = (struct clf_fabric_report){ .programmed = true, .word = "ok", .text = "done" };
	return 0;
}
static int fake_apply(void *self, const struct clf_lease *l, int ms, struct clf_fabric_report *out,
		      struct clf_error *err)
{
	fake.durable_before_apply = clf_store_find(fake.store, l->id) && !clf_store_dirty(fake.store);
	return called("apply ", fake.fail_apply, out, err);
}
static int fake_verify(void *self, const struct clf_lease *l, int ms, struct clf_fabric_report *out,
		       struct clf_error *err)
{
	return called("verify ", fake.fail_verify, out, err);
}
static int fake_release(void *self, const struct clf_lease *l, int ms, struct clf_fabric_report *out,
			struct clf_error *err)
{
	return called("release ", fake.fail_release, out, err);
}
static const struct clf_driver fake_driver = {
	.name = "fake", .touches_devices = true, .apply = fake_apply, .verify = fake_verify, .release = fake_release
};

/* ---- a log that is a list of event numbers */

static int events[200], nevents;
static bool log_full;

static int fake_record(void *arg, struct clf_record_facts *f, struct clf_error *err)
{
	if (log_full)
		return clf_fail(err, CLF_E_IO, "no room");
	events[nevents++ % 200] = f->event;
	return 0;
}
static int fake_commit(void *arg, struct clf_error *err)
{
	return clf_store_commit(arg, err);
}
static int64_t fixed_ms(void *arg)
{
	return INT64_C(1796115600000);
}
static const struct clf_clock fixed = { fixed_ms, fixed_ms, NULL };

static bool saw(enum clf_event e)
{
	for (int i = 0; i < nevents; i++)
		if (events[i] == (int) e)
			return true;
	return false;
}

static struct clf_run_result start(struct clf_run *r, uint32_t job, const char *nodes, uint32_t restart)
{
	CLF_CLEANUP(clf_lease_destroyp) struct clf_lease *l = clf_lease_create(NULL);
	struct clf_run_result res = { 0 };
	struct clf_error err = { 0 };

	l->job_id = job;
	l->submit_time_s = 1000 + job;
	l->uid = 4242;
	l->restart = restart;
	if (clf_lease_set(&l->user, "u1", NULL) || clf_lease_set(&l->account, "acct", NULL) ||
	    clf_lease_set(&l->cls, "personal", NULL) || clf_lease_set(&l->grant, "G-1", NULL) ||
	    clf_lease_set(&l->nodes, nodes, NULL))
		return res;
	nevents = 0;
	fake.calls[0] = '\0';
	if (clf_run_start(r, l, &res, &err)) {
		res.granted = false;
		res.code = err.code;
		snprintf(res.rule, sizeof res.rule, "error");
	}
	if (clf_store_commit(r->store, NULL))
		diag("commit");
	return res;
}

static enum clf_lease_state state_of(const struct clf_run *r, uint32_t job)
{
	return clf_store_find_job(r->store, job, 1000 + job)->state;
}

static void test_good(struct clf_run *r)
{
	struct clf_run_result res = start(r, 1, "n[1-2]", 0), end;
	char id[CLF_LEASE_ID];

	ok(res.granted && !res.again, "granted: %s", res.text);
	is_str(fake.calls, "apply verify ", "applied, then verified");
	ok(fake.durable_before_apply, "the lease is durable before a device is touched");
	ok(saw(CLF_EV_NET_PROGRAM) && saw(CLF_EV_NET_VERIFY) && saw(CLF_EV_JOB_ALLOCATE), "recorded");
	memcpy(id, res.lease, sizeof id);
	res = start(r, 1, "n[1-2]", 0);
	ok(res.granted && res.again && !strcmp(id, res.lease) && !*fake.calls && !nevents,
	   "again: the same, nothing is done");
	res = start(r, 1, "n[1-2]", 1);
	ok(res.granted && strcmp(id, res.lease) != 0, "a restart is a new lease");
	is_str(fake.calls, "release apply verify ", "after the old one's release");
	is_int(clf_store_find(r->store, id)->state, CLF_LEASE_CLOSED, "which is closed");
	ok(!clf_run_end(r, 1, 1001, "ended", &end, NULL) && *end.lease && saw(CLF_EV_JOB_END), "the end");
	is_int(state_of(r, 1), CLF_LEASE_CLOSED, "closes it");
	ok(!clf_run_end(r, 1, 1001, "ended", &end, NULL) && !*end.lease, "twice is no error");
}

static void test_devices(struct clf_run *r)
{
	struct clf_run_result res;

	fake.fail_verify = true;
	res = start(r, 2, "n3", 0);
	ok(!res.granted && res.code == CLF_E_TIMEOUT && res.failures == 1, "unverified is refused");
	is_str(fake.calls, "apply verify release ", "and undone");
	is_int(state_of(r, 2), CLF_LEASE_REFUSED, "refused");
	ok(saw(CLF_EV_JOB_REFUSE) && !saw(CLF_EV_JOB_ALLOCATE), "recorded");
	fake.fail_release = true;
	res = start(r, 2, "n3", 0);
	ok(!res.granted && res.failures == 2, "nor undone");
	is_int(state_of(r, 2), CLF_LEASE_RELEASING, "it stays in release: its wire may still be there");
	fake.fail_verify = false;
	res = start(r, 2, "n3", 0);
	ok(!res.granted && !strcmp(res.rule, "earlier-lease") && res.failures == 3, "and the job waits for that");
	fake.fail_release = false;
	res = start(r, 2, "n3", 0);
	ok(res.granted, "until a device has confirmed");
	is_int(clf_store_failures(r->store, 2, 1002), 0, "then failures are forgotten");
	fake.fail_apply = true;
	ok(!start(r, 3, "n4", 0).granted, "a device that refuses");
	fake.fail_apply = false;
}

static void test_refusals(struct clf_run *r)
{
	const struct clf_site *site = r->site;
	struct clf_run_result res = start(r, 4, "n[8-9]", 0);

	ok(!res.granted && res.code == CLF_E_DENIED && *res.advice && !*fake.calls,
	   "outside the zone: no device is asked");
	r->site = NULL;
	res = start(r, 4, "n8", 0);
	ok(!res.granted && res.code == CLF_E_DENIED, "no policy in force: denied (%s)", res.rule);
	r->site = site;
	log_full = true;
	res = start(r, 5, "n5", 0);
	ok(!res.granted && res.code == CLF_E_IO, "a log that is full: not granted");
	log_full = false;
	ok(!clf_store_find_job(r->store, 5, 1005) || state_of(r, 5) != CLF_LEASE_GRANTED, "nor in the ledger");
}

static void test_reconcile(struct clf_run *r)
{
	struct clf_live_jobs none = { 0 };
	json_auto_t *j = NULL;

	ok(start(r, 6, "n6", 0).granted, "a lease");
	fake.fail_release = true;
	ok(!clf_run_reconcile(r, &none, 0, false, &j, NULL) && json_integer_value(json_object_get(j, "failed")) > 0,
	   "a device does not confirm");
	is_int(state_of(r, 6), CLF_LEASE_RELEASING, "the lease is kept");
	fake.fail_release = false;
	json_decref(j);
	j = NULL;
	ok(!clf_run_reconcile(r, &none, 0, false, &j, NULL) && json_integer_value(json_object_get(j, "failed")) == 0,
	   "the next time it does");
	is_int((long long) clf_store_nopen(r->store), 0, "and none is left");
}

int main(void)
{
	struct clf_text t = { 0 };
	struct clf_error err = { 0 };
	struct clf_policy *p = NULL;
	struct clf_site *site = NULL;
	struct clf_strv nodes = { 0 };
	struct clf_store *s = NULL;
	struct clf_run r = {
		.driver = &fake_driver, .clock = &fixed, .cluster = "t", .record = fake_record, .commit = fake_commit
	};

	if (clf_text_from_string("policy", policy_text, &t, &err) || clf_policy_from_text(&t, &p, &err) ||
	    clf_strv_add(&nodes, "n1", &err) || clf_store_open(clf_test_dir(), &s, &err)) {
		diag("%s", err.text);
		return 1;
	}
	for (int i = 2; i <= 9; i++) {
		char n[16];

		snprintf(n, sizeof n, "n%d", i);
		if (clf_strv_add(&nodes, n, &err))
			return 1;
	}
	ok(!clf_run_site(p, NULL, &nodes, &site, &err), "site %s", err.text);
	r.site = site;
	r.nodes = &nodes;
	r.store = s;
	r.arg = s;
	fake.store = s;
	test_good(&r);
	test_devices(&r);
	test_refusals(&r);
	test_reconcile(&r);
	clf_store_close(s);
	clf_site_destroy(site);
	clf_policy_destroy(p);
	clf_strv_done(&nodes);
	return done_testing();
}
