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

/* ---- a fabric that does as told and keeps a list of what it was asked */

static struct {
	bool fail_open, fail_close;
	char calls[400];
	const struct clf_store *store;
	bool durable_before;
} fake;

/* Ports "n1/p0"; n7 has none. */
static int fake_ports(void *self, const char *node, const json_t *facts, struct clf_strv *out, struct clf_error *err)
{
	char port[40];

	if (!strcmp(node, "n7"))
		return clf_fail(err, CLF_E_DENIED, "node 'n7' has an HCA that nobody listed");
	snprintf(port, sizeof port, "%s/p0", node);
	return clf_strv_add(out, port, err);
}

static const struct clf_driver fake_driver = { .name = "fake", .touches_devices = true, .ports = fake_ports };
static const struct clf_fabric_conf fake_conf = { .name = "ib", .driver = "fake", .key_min = 1, .key_max = 3 };
static struct clf_run_fabric fabric = { .conf = &fake_conf, .driver = &fake_driver };

/* What the loop does between two commits: hand over, bring the answers back. */
static void pump(struct clf_run *r)
{
	struct clf_run_task t;

	while (clf_run_take(r, 0, &t)) {
		struct clf_net net = { 0 };
		json_auto_t *detail = json_pack("{s:f,s:[f,s]}", "ms", 1.25, "list", 0.5, "x");
		struct clf_net_task a = {
			.op = t.op,
			.net = &net,
			.report = { .programmed = true, .word = "verified", .text = "done", .detail = detail }
		};
		struct clf_error err = { 0 };
		const struct clf_lease *l = clf_store_find(fake.store, t.lease);

		fake.durable_before &= l && !clf_store_dirty(fake.store);
		strcat(fake.calls, t.op == CLF_NET_OPEN ? "open " : "close ");
		if (clf_run_net_of(l, "ib", &net, &err))
			diag("%s", err.text);
		if (t.op == CLF_NET_OPEN ? fake.fail_open : fake.fail_close)
			clf_fail(&a.error, CLF_E_TIMEOUT, "switch does not answer");
		if (clf_run_answered(r, &t, &a, &err))
			diag("answer: %s", err.text);
		clf_net_done(&net);
		if (clf_store_commit(r->store, NULL))
			diag("commit");
	}
}

static struct {
	int n;
	char lease[CLF_LEASE_ID];
	enum clf_net_op op;
	struct clf_run_result res;
} verdicts[50];
static int nverdicts;

static void fake_verdict(void *arg, const char *lease, enum clf_net_op op, const struct clf_run_result *res)
{
	snprintf(verdicts[nverdicts % 50].lease, CLF_LEASE_ID, "%s", lease);
	verdicts[nverdicts % 50].op = op;
	verdicts[nverdicts++ % 50].res = *res;
}

/* The only verdict on a lease, or one that says that there is none or more. */
static struct clf_run_result verdict_on(const char *lease, enum clf_net_op op)
{
	struct clf_run_result res = { .rule = "no verdict" };
	int n = 0;

	for (int i = 0; i < nverdicts; i++)
		if (!strcmp(verdicts[i].lease, lease) && verdicts[i].op == op && !n++)
			res = verdicts[i].res;
	if (n > 1)
		snprintf(res.rule, sizeof res.rule, "%d verdicts", n);
	return res;
}

/* ---- a log that is a list of event numbers */

static int events[200], nevents;
static bool log_full;

static bool whole_numbers(const json_t *j)
{
	const char *key;
	json_t *v;
	size_t i;
	bool good = !json_is_real(j);

	json_array_foreach(j, i, v) good &= whole_numbers(v);
	json_object_foreach((json_t *) j, key, v) good &= whole_numbers(v);
	return good;
}

static int fake_record(void *arg, struct clf_record_facts *f, struct clf_error *err)
{
	if (log_full)
		return clf_fail(err, CLF_E_IO, "no room");
	events[nevents++ % 200] = f->event;
	return whole_numbers(f->detail) ? 0 : clf_fail(err, CLF_E_INVALID, "a fraction in a record");
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

/* Ask for a start; the fabric has not answered yet. */
static struct clf_run_result ask(struct clf_run *r, uint32_t job, const char *nodes, uint32_t restart, uint32_t het)
{
	CLF_CLEANUP(clf_lease_destroyp) struct clf_lease *l = clf_lease_create(NULL);
	struct clf_run_result res = { 0 };
	struct clf_error err = { 0 };

	l->job_id = job;
	l->submit_time_s = het ? 1000 + het : 1000 + job;
	l->uid = 4242;
	l->restart = restart;
	l->het_job_id = het;
	l->het_offset = het ? job - het : 0;
	if (clf_lease_set(&l->user, "u1", NULL) || clf_lease_set(&l->account, "acct", NULL) ||
	    clf_lease_set(&l->cls, "personal", NULL) || clf_lease_set(&l->grant, "G-1", NULL) ||
	    clf_lease_set(&l->nodes, nodes, NULL))
		return res;
	nevents = nverdicts = 0;
	fake.calls[0] = '\0';
	fake.durable_before = true;
	if (clf_run_start(r, l, &res, &err)) {
		res.granted = false;
		res.code = err.code;
		snprintf(res.rule, sizeof res.rule, "error");
	}
	if (clf_store_commit(r->store, NULL))
		diag("commit");
	return res;
}

static struct clf_run_result start(struct clf_run *r, uint32_t job, const char *nodes, uint32_t restart)
{
	struct clf_run_result res = ask(r, job, nodes, restart, 0);

	pump(r);
	return res.pending ? verdict_on(res.lease, CLF_NET_OPEN) : res;
}

static struct clf_run_result end(struct clf_run *r, uint32_t job)
{
	struct clf_run_result res = { 0 };

	nverdicts = 0;
	fake.calls[0] = '\0';
	if (clf_run_end(r, job, 1000 + job, "ended", &res, NULL) || clf_store_commit(r->store, NULL))
		diag("end");
	pump(r);
	return res;
}

static enum clf_lease_state state_of(const struct clf_run *r, uint32_t job)
{
	return clf_store_find_job(r->store, job, 1000 + job)->state;
}

static void test_good(struct clf_run *r)
{
	struct clf_run_result res = ask(r, 1, "n[1-2]", 0, 0);
	char id[CLF_LEASE_ID];

	ok(res.pending && !res.granted && *res.lease, "a start waits for its fabric: %s", res.text);
	memcpy(id, res.lease, sizeof id);
	is_int(clf_store_find(r->store, id)->state, CLF_LEASE_REQUESTED, "what is wanted is in the ledger");
	ok(clf_store_find(r->store, id)->nnets == 1 && clf_store_find(r->store, id)->nets[0].ports.n == 2,
	   "with its ports");
	res = ask(r, 1, "n[1-2]", 0, 0);
	ok(res.pending && res.again && !strcmp(id, res.lease), "asked again meanwhile: the same one");
	pump(r);
	ok(verdict_on(id, CLF_NET_OPEN).granted, "granted, once");
	is_str(fake.calls, "open ", "after the fabric has answered");
	ok(fake.durable_before, "the lease is durable before a device is touched");
	ok(saw(CLF_EV_NET_PROGRAM) && saw(CLF_EV_NET_VERIFY) && saw(CLF_EV_JOB_ALLOCATE), "recorded");
	res = start(r, 1, "n[1-2]", 0);
	ok(res.granted && res.again && !strcmp(id, res.lease) && !*fake.calls && !nevents,
	   "again: the same, nothing is done");
	res = start(r, 1, "n[1-2]", 1);
	ok(res.granted && strcmp(id, res.lease) != 0, "a restart is a new lease");
	is_str(fake.calls, "close open ", "behind the old one's release");
	is_int(clf_store_find(r->store, id)->state, CLF_LEASE_CLOSED, "which is closed");
	ok(clf_lease_net(clf_store_find(r->store, res.lease), "ib")->key == 2, "with another key");
	res = end(r, 1);
	ok(*res.lease && saw(CLF_EV_JOB_END), "the end");
	is_int(state_of(r, 1), CLF_LEASE_CLOSED, "closes it");
	ok(!*end(r, 1).lease, "twice is no error");
}

static void test_devices(struct clf_run *r)
{
	struct clf_run_result res;

	fake.fail_open = true;
	res = start(r, 2, "n3", 0);
	ok(!res.granted && res.code == CLF_E_TIMEOUT && res.failures == 1 && !strcmp(res.rule, "network-unverified"),
	   "unverified is refused");
	is_str(fake.calls, "open close ", "and undone");
	is_int(state_of(r, 2), CLF_LEASE_CLOSED, "closed");
	ok(saw(CLF_EV_JOB_REFUSE) && !saw(CLF_EV_JOB_ALLOCATE), "recorded");
	fake.fail_close = true;
	res = start(r, 2, "n3", 0);
	ok(!res.granted && res.failures == 2, "nor undone");
	is_int(state_of(r, 2), CLF_LEASE_RELEASING, "it stays in release: its wire may still be there");
	ok(clf_store_find_job(r->store, 2, 1002)->nets[0].key == 1, "and its key in use");
	nevents = 0;
	ok(!clf_run_tick(r, NULL) && !clf_store_commit(r->store, NULL), "the release is tried again");
	pump(r);
	ok(state_of(r, 2) == CLF_LEASE_RELEASING && !saw(CLF_EV_NET_RELEASE), "in vain, which is recorded once");
	fake.fail_open = fake.fail_close = false;
	ok(!clf_run_tick(r, NULL) && !clf_store_commit(r->store, NULL), "and again");
	pump(r);
	ok(state_of(r, 2) == CLF_LEASE_CLOSED && saw(CLF_EV_NET_RELEASE), "until the device has confirmed");
	ok(start(r, 2, "n3", 0).granted, "then the job starts");
	is_int(clf_store_failures(r->store, 2, 1002), 0, "and failures are forgotten");
	end(r, 2);
}

static void test_overtaken(struct clf_run *r)
{
	struct clf_run_result res = ask(r, 10, "n4", 0, 0), stop = { 0 };

	ok(!clf_run_end(r, 10, 1010, "ended", &stop, NULL) && stop.pending, "ended before the fabric was asked");
	ok(!strcmp(verdict_on(res.lease, CLF_NET_OPEN).rule, "ended-meanwhile"), "the start is told so");
	ok(!clf_store_commit(r->store, NULL), "commit");
	pump(r);
	is_str(fake.calls, "close ", "its opening is not begun, its closing is verified all the same");
	is_int(state_of(r, 10), CLF_LEASE_CLOSED, "closed");
	ok(!verdict_on(res.lease, CLF_NET_OPEN).granted, "and nothing was granted");
	res = ask(r, 11, "n4", 0, 0);
	clf_run_forget(r);
	ok(!clf_run_waits(r, res.lease, CLF_NET_OPEN), "a failed commit: nobody waits any more");
	ok(!clf_run_tick(r, NULL) && !clf_store_commit(r->store, NULL), "what is left of it");
	pump(r);
	is_str(fake.calls, "close ", "is closed");
	is_int(state_of(r, 11), CLF_LEASE_CLOSED, "and over");
}

static void test_keys(struct clf_run *r)
{
	struct clf_run_result a = start(r, 20, "n1", 0), b = start(r, 21, "n2", 0), c, d;
	uint16_t ka = clf_store_find(r->store, a.lease)->nets[0].key,
		 kb = clf_store_find(r->store, b.lease)->nets[0].key;

	ok(a.granted && b.granted && ka != kb, "two jobs, two keys");
	c = start(r, 22, "n[2-3]", 0);
	ok(!c.granted && c.code == CLF_E_CONFLICT && !strcmp(c.rule, "port-in-use") && strstr(c.text, "job 21"),
	   "a port is in one network at a time: %s", c.text);
	ok(r->hurry, "and Slurm is asked whether that job is still there");
	c = start(r, 23, "n3", 0);
	ok(c.granted, "the last key");
	d = start(r, 24, "n4", 0);
	ok(!d.granted && d.code == CLF_E_EXHAUSTED && !d.failures, "none is left: waits, which is no failed start (%s)",
	   d.text);
	is_int(clf_store_find_job(r->store, 24, 1024)->state, CLF_LEASE_REFUSED, "refused");
	d = start(r, 25, "n7", 0);
	ok(!d.granted && d.code == CLF_E_DENIED && strstr(d.text, "n7"), "a node that is not eligible: %s", d.text);
	end(r, 20);
	end(r, 21);
	end(r, 23);
	a = ask(r, 30, "n1", 0, 30);
	b = ask(r, 31, "n2", 0, 30);
	ok(a.pending && b.pending &&
		   clf_store_find(r->store, a.lease)->nets[0].key == clf_store_find(r->store, b.lease)->nets[0].key,
	   "components of a het job share a key");
	pump(r);
	for (uint32_t j = 30; j <= 31; j++)
		if (clf_run_end(r, j, 1030, "ended", &c, NULL) || clf_store_commit(r->store, NULL))
			diag("end");
	pump(r);
	is_int((long long) clf_store_nopen(r->store), 0, "all closed");
}

static void test_recheck(struct clf_run *r)
{
	struct clf_run_result a = start(r, 40, "n1", 0), again;

	fake.fail_open = true;
	nevents = 0;
	ok(!clf_run_recheck(r, 0, NULL), "a running job's network is looked at again");
	pump(r);
	ok(saw(CLF_EV_FINDING) && clf_store_find(r->store, a.lease)->state == CLF_LEASE_GRANTED,
	   "it is lost: a finding, the job is not touched");
	nevents = 0;
	ok(!clf_run_recheck(r, 0, NULL), "again");
	pump(r);
	ok(!saw(CLF_EV_FINDING), "said once");
	fake.fail_open = false;
	ok(!clf_run_recheck(r, 0, NULL), "it is back");
	pump(r);
	ok(saw(CLF_EV_FINDING), "which is said too");
	fake.fail_open = true;
	ok(!clf_run_recheck(r, 0, NULL), "lost once more");
	pump(r);
	fake.fail_open = false;
	again = start(r, 40, "n1", 0);
	ok(again.granted && strcmp(again.lease, a.lease) != 0,
	   "the same start asks again: what is lost is not given again");
	is_int(clf_store_find(r->store, a.lease)->state, CLF_LEASE_CLOSED, "it is released");
	end(r, 40);
}

static void answer_next(struct clf_run *r, size_t which, enum clf_code code, bool *asked)
{
	struct clf_run_task t;
	struct clf_net_task a = { .report = { .programmed = true, .word = "verified", .text = "done" } };

	*asked = clf_run_take(r, which, &t);
	if (!*asked)
		return;
	a.op = t.op;
	if (code)
		clf_fail(&a.error, code, "switch does not answer");
	if (clf_run_answered(r, &t, &a, NULL) || clf_store_commit(r->store, NULL))
		diag("answer");
}

/* What one fabric cannot prove is not restored by the word of another. */
static void test_recheck_two(struct clf_run *r)
{
	struct clf_fabric_conf eth = { .name = "eth", .driver = "fake", .key_min = 1, .key_max = 9 };
	struct clf_run_fabric two[] = { { .conf = &fake_conf, .driver = &fake_driver },
					{ .conf = &eth, .driver = &fake_driver } };
	struct clf_run run = { .store = r->store,
			       .fabrics = two,
			       .nfabrics = 2,
			       .clock = r->clock,
			       .cluster = r->cluster,
			       .site = r->site,
			       .nodes = r->nodes,
			       .record = fake_record,
			       .verdict = fake_verdict,
			       .arg = r->arg };
	struct clf_run_result a = ask(&run, 41, "n1", 0, 0);
	bool both[2];

	answer_next(&run, 0, CLF_OK, &both[0]);
	answer_next(&run, 1, CLF_OK, &both[1]);
	ok(both[0] && both[1] && verdict_on(a.lease, CLF_NET_OPEN).granted, "a job on two fabrics runs");
	ok(!clf_run_recheck(&run, 1, NULL), "the second is looked at again");
	answer_next(&run, 0, CLF_OK, &both[0]);
	answer_next(&run, 1, CLF_E_TIMEOUT, &both[1]);
	is_str(clf_store_find(r->store, a.lease)->fabric, "lost", "and does not answer");
	ok(!clf_run_recheck(&run, 0, NULL), "then the first");
	answer_next(&run, 0, CLF_OK, &both[0]);
	answer_next(&run, 1, CLF_E_TIMEOUT, &both[1]);
	is_str(clf_store_find(r->store, a.lease)->fabric, "lost", "which proves nothing of the second");
	ok(!clf_run_recheck(&run, 0, NULL), "looked at again");
	end(&run, 41);
	answer_next(&run, 1, CLF_OK, &both[1]);
	is_int(state_of(r, 41), CLF_LEASE_CLOSED, "ended before that was begun");
	is_int((int64_t) run.npending, 0, "nothing of it is left");
	clf_run_done(&run);
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
	res = ask(r, 5, "n5", 0, 0);
	log_full = true;
	pump(r);
	res = verdict_on(res.lease, CLF_NET_OPEN);
	ok(!res.granted && res.code == CLF_E_IO, "a log that is full: not granted (%s)", res.rule);
	log_full = false;
	ok(state_of(r, 5) != CLF_LEASE_GRANTED, "nor in the ledger");
	ok(!clf_run_tick(r, NULL) && !clf_store_commit(r->store, NULL), "and its wire");
	pump(r);
	is_int(state_of(r, 5), CLF_LEASE_CLOSED, "is closed when there is room again");
}

static void test_reconcile(struct clf_run *r)
{
	struct clf_live_jobs none = { 0 };
	json_auto_t *j = NULL;

	ok(start(r, 6, "n6", 0).granted, "a lease");
	fake.fail_close = true;
	ok(!clf_run_reconcile(r, &none, 0, false, &j, NULL) && json_integer_value(json_object_get(j, "released")) == 1,
	   "an orphan's release is begun");
	ok(!clf_store_commit(r->store, NULL), "commit");
	pump(r);
	is_int(state_of(r, 6), CLF_LEASE_RELEASING, "a device does not confirm: the lease is kept");
	fake.fail_close = false;
	json_decref(j);
	j = NULL;
	ok(!clf_run_reconcile(r, &none, 0, false, &j, NULL) && !clf_store_commit(r->store, NULL), "the next time");
	pump(r);
	is_int((long long) clf_store_nopen(r->store), 0, "it does, and none is left");
}

/* Random starts, ends, failures, lost commits: no key is in two hands, no job is granted twice, all ends closed. */
static void test_random(struct clf_run *r)
{
	static const char *const nodes[] = { "n1", "n2", "n3", "n4", "n[5-6]", "n8" };
	unsigned bad = 0, granted = 0, refused = 0;

	srand(5);
	for (int i = 0; i < 3000; i++) {
		uint32_t job = 100 + (uint32_t) rand() % 6;
		struct clf_run_result res;
		const struct clf_lease *l;
		uint64_t keys = 0;

		fake.fail_open = rand() % 8 == 0;
		fake.fail_close = rand() % 5 == 0;
		if (rand() % 3) {
			res = ask(r, job, nodes[job - 100], (uint32_t) rand() % 2, 0);
			if (rand() % 12 == 0)
				clf_run_forget(r);
			else if (rand() % 4)
				pump(r);
			granted += res.granted || (res.pending && verdict_on(res.lease, CLF_NET_OPEN).granted);
			refused += res.code != 0;
		} else if (clf_run_end(r, job, 1000 + job, "ended", &res, NULL) || clf_store_commit(r->store, NULL)) {
			bad++;
		}
		if (rand() % 6 == 0)
			bad += clf_run_tick(r, NULL) || clf_store_commit(r->store, NULL);
		fake.calls[0] = '\0';
		for (size_t k = 0; (l = clf_store_next(r->store, &k));) {
			if (!clf_lease_open(l) || !l->nnets)
				continue;
			bad += keys >> l->nets[0].key & 1;
			keys |= UINT64_C(1) << l->nets[0].key;
		}
	}
	fake.fail_open = fake.fail_close = false;
	for (uint32_t job = 100; job < 106; job++) {
		pump(r);
		end(r, job);
	}
	bad += clf_run_tick(r, NULL) || clf_store_commit(r->store, NULL);
	pump(r);
	ok(!bad, "3,000 random steps (%u granted, %u refused): a key is never in two hands", granted, refused);
	ok(granted > 200 && refused > 100, "and they are no idle steps");
	is_int((long long) clf_store_nopen(r->store), 0, "in the end all is closed");
	is_int((long long) r->npending, 0, "and nothing waits");
}

int main(void)
{
	struct clf_text t = { 0 };
	struct clf_error err = { 0 };
	struct clf_policy *p = NULL;
	struct clf_site *site = NULL;
	struct clf_strv nodes = { 0 };
	struct clf_store *s = NULL;
	struct clf_run r = { .fabrics = &fabric,
			     .nfabrics = 1,
			     .clock = &fixed,
			     .cluster = "t",
			     .record = fake_record,
			     .verdict = fake_verdict };

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
	test_overtaken(&r);
	test_keys(&r);
	test_recheck(&r);
	test_recheck_two(&r);
	test_refusals(&r);
	test_reconcile(&r);
	test_random(&r);
	clf_run_done(&r);
	clf_store_close(s);
	clf_site_destroy(site);
	clf_policy_destroy(p);
	clf_strv_done(&nodes);
	return done_testing();
}
