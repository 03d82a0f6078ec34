/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The last rungs of a start, with node daemons and a driver that are played here: agents.h is this file's. */
#include "daemon/verify_nodes.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "tap.h"

/* ---- agents: answers wait in a list until turn() */

struct waiting {
	char node[32], op[16], nonce[33];
	json_t *question;
	clf_agents_answer_f *answer;
	void *arg;
	int64_t due_ms;
	bool pause;
};
static struct waiting list[256];
static size_t nlist, asked, pauses;
static bool closing;
static const char *away;    /* a node that is not connected */
static int mismatches_left; /* of node n2 */
static bool leak, no_lldp;  /* the stranger is in the job's VLAN; nobody knows its port */
static const char *const all[] = { "n1", "n2", "s1" };
static json_t *facts_of[3];

static int64_t now_ms(void)
{
	return clf_clock_system.boot_us(NULL) / 1000;
}

static int index_of(const char *node)
{
	for (int i = 0; i < 3; i++)
		if (!strcmp(all[i], node))
			return i;
	return -1;
}

int clf_agents_ask(struct clf_agents *a, const char *node, json_t *question, int timeout_ms,
		   clf_agents_answer_f *answer, void *arg, struct clf_error *err)
{
	struct waiting *w = &list[nlist];
	const char *nonce = json_string_value(json_object_get(question, "nonce"));

	(void) a, (void) timeout_ms;
	if (closing || nlist == 256) {
		json_decref(question);
		return clf_fail(err, CLF_E_REMOTE, "closing");
	}
	*w = (struct waiting){ .question = question, .answer = answer, .arg = arg };
	snprintf(w->node, sizeof w->node, "%s", node);
	snprintf(w->op, sizeof w->op, "%s", json_string_value(json_object_get(question, "op")));
	snprintf(w->nonce, sizeof w->nonce, "%s", nonce ? nonce : "");
	nlist++;
	asked++;
	return 0;
}

int clf_agents_after(struct clf_agents *a, int ms, clf_agents_answer_f *fn, void *arg, struct clf_error *err)
{
	(void) a;
	if (closing)
		return clf_fail(err, CLF_E_REMOTE, "closing");
	list[nlist++] = (struct waiting){ .answer = fn, .arg = arg, .due_ms = now_ms() + ms, .pause = true };
	pauses++;
	return 0;
}

const json_t *clf_agents_facts(const struct clf_agents *a, const char *node, int64_t *age_ms)
{
	int i = index_of(node);

	(void) a, (void) age_ms;
	return i < 0 ? NULL : facts_of[i];
}

const char *clf_agents_next(const struct clf_agents *a, size_t *i)
{
	(void) a;
	return *i < 3 ? all[(*i)++] : NULL;
}

bool clf_agents_closing(const struct clf_agents *a)
{
	(void) a;
	return closing;
}

static json_t *facts_make(int i)
{
	char mac[40], port[20];

	snprintf(mac, sizeof mac, "02:00:00:00:00:%02d", i + 1);
	snprintf(port, sizeof port, "swp%d", i + 1);
	if (no_lldp)
		return json_pack("{s:s,s:[{s:s,s:s,s:b},{s:s,s:s,s:b}]}", "node", all[i], "net", "name", "eth0", "mac",
				 mac, "link", 1, "name", "mgmt", "mac", "02:00:00:00:01:01", "link", 1);
	return json_pack("{s:s,s:[{s:s,s:s,s:b,s:[{s:s}]},{s:s,s:s,s:b,s:[]}]}", "node", all[i], "net", "name", "eth0",
			 "mac", mac, "link", 1, "lldp", "port", port, "name", "mgmt", "mac", "02:00:00:00:01:01",
			 "link", 1, "lldp");
}

/* Who is at the other end, by the address. */
static const char *by_mac(const char *mac)
{
	int i = mac[16] - '1';

	return strncmp(mac, "02:00:00:00:00:0", 16) || i < 0 || i > 2 ? NULL : all[i];
}

static json_t *probe_reply(const struct waiting *w)
{
	json_t *probes = json_array(), *heard = json_array(), *x;
	size_t i;

	json_array_foreach(json_object_get(w->question, "probes"), i, x)
	{
		const char *to = by_mac(json_string_value(json_object_get(x, "mac")));
		bool across = to && (to[0] != w->node[0]), reached = to && (!across || leak);

		json_array_append_new(probes, json_pack("{s:b}", "reached", reached));
	}
	return json_pack("{s:b,s:o,s:o}", "ok", 1, "probes", probes, "heard", heard);
}

static json_t *reply_to(const struct waiting *w)
{
	if (!strcmp(w->op, "report"))
		return json_pack("{s:b,s:O}", "ok", 1, "facts", facts_of[index_of(w->node)]);
	if (!strcmp(w->op, "probe"))
		return probe_reply(w);
	return json_pack("{s:b,s:b,s:[{s:s,s:i}],s:[]}", "ok", 1, "complete", 1, "nics", "nic", "eth0", "for_ms",
			 1000000, "seen");
}

/* Answer what waits, as ready() would. false: nothing waits. */
static bool turn(void)
{
	struct waiting w = list[0];
	struct clf_error why = { 0 };
	const struct timespec moment = { .tv_nsec = 1000000 };
	json_auto_t *reply = NULL;

	if (!nlist)
		return false;
	while (w.pause && !closing && now_ms() < w.due_ms)
		nanosleep(&moment, NULL);
	memmove(list, list + 1, --nlist * sizeof *list);
	if (closing)
		clf_fail(&why, CLF_E_REMOTE, "closfoldd is ending");
	else if (w.pause)
		clf_fail(&why, CLF_E_TIMEOUT, "time is over");
	else if (away && !strcmp(w.node, away))
		clf_fail(&why, CLF_E_NOTFOUND, "node '%s' is not connected", w.node);
	else
		reply = reply_to(&w);
	w.answer(w.arg, w.node, reply, reply ? NULL : &why);
	json_decref(w.question);
	return true;
}

/* ---- a driver */

static int ports(void *self, const char *node, const json_t *facts, struct clf_strv *out, struct clf_error *err)
{
	char port[32];

	(void) self, (void) facts;
	snprintf(port, sizeof port, "leaf%d/swp%d", index_of(node) ? 2 : 1, index_of(node) + 1);
	return clf_strv_add(out, port, err);
}

static enum clf_attest attest(void *self, const struct clf_net *net, const char *node, const json_t *facts, char *text,
			      size_t size)
{
	(void) self, (void) net;
	if (!facts || no_lldp) {
		snprintf(text, size, "no LLDP on %s", node);
		return CLF_ATTEST_UNATTESTED;
	}
	if (!strcmp(node, "n2") && mismatches_left) {
		mismatches_left--;
		snprintf(text, size, "VLAN 7 on eth0");
		return CLF_ATTEST_MISMATCH;
	}
	return CLF_ATTEST_OK;
}
static const struct clf_driver driver = { .name = "ovsdb", .ports = ports, .attest = attest };

/* ---- runs */

struct outcome {
	int calls;
	struct clf_error why;
	json_t *evidence;
};

static void done(void *arg, const struct clf_error *why, const json_t *evidence)
{
	struct outcome *o = arg;

	o->calls++;
	o->why = *why;
	json_decref(o->evidence);
	o->evidence = json_deep_copy(evidence);
}

static void set(void)
{
	for (int i = 0; i < 3; i++) {
		json_decref(facts_of[i]);
		facts_of[i] = facts_make(i);
	}
	asked = pauses = 0;
	closing = false;
}

static struct clf_verify *start(struct outcome *o, enum clf_rung att, enum clf_rung probe, const char *name, int ms)
{
	static struct clf_net net = { .lease = "l1", .key = 100 };
	CLF_CLEANUP(clf_strv_done) struct clf_strv nodes = { 0 };
	struct clf_verify *v = NULL;
	struct clf_error err = { 0 };

	if (clf_strv_add(&nodes, "n1", NULL) || clf_strv_add(&nodes, "n2", NULL))
		abort();

	struct clf_verify_nodes in = { .driver = &driver,
				       .fabric = "eth",
				       .driver_name = name,
				       .attest = att,
				       .probe = probe,
				       .net = &net,
				       .nodes = &nodes,
				       .timeout_ms = ms };

	set();
	*o = (struct outcome){ 0 };
	if (clf_verify_nodes_start(&in, done, o, &v, &err))
		diag("%s", err.text);
	return v;
}

static struct outcome run(enum clf_rung att, enum clf_rung probe, const char *name, int ms)
{
	struct outcome o;

	start(&o, att, probe, name, ms);
	ok(!o.calls, "no word before the loop turns");
	while (turn())
		;
	is_int(o.calls, 1, "one word");
	return o;
}

static int number(const struct outcome *o, const char *a, const char *b)
{
	return (int) json_integer_value(json_object_get(json_object_get(o->evidence, a), b));
}

static const char *skipped(const struct outcome *o)
{
	const char *s = json_string_value(json_array_get(json_object_get(o->evidence, "skipped"), 0));

	return s ? s : "";
}

static void test_good(void)
{
	struct outcome o = run(CLF_RUNG_REQUIRE, CLF_RUNG_REQUIRE, "ovsdb", 2000);

	ok(!o.why.code, "all is well: %s", o.why.text);
	is_int(number(&o, "attest", "ok"), 2, "two nodes attested");
	is_int(number(&o, "positive", "done"), 1, "one pair probed");
	is_int(number(&o, "negative", "done"), 1, "one stranger");
	ok(json_is_integer(json_object_get(o.evidence, "ms")), "the time it took");
	json_decref(o.evidence);
	o = run(CLF_RUNG_TRY, CLF_RUNG_TRY, "opensm", 2000);
	ok(!o.why.code && strstr(skipped(&o), "no probe on this fabric"), "another fabric has no probe: %s",
	   skipped(&o));
	is_int((long long) asked, 2, "only reports were asked for");
	json_decref(o.evidence);
	o = run(CLF_RUNG_TRY, CLF_RUNG_REQUIRE, "opensm", 2000);
	is_int(o.why.code, CLF_E_REMOTE, "which refuses where probes are required: %s", o.why.text);
	json_decref(o.evidence);
	o = run(CLF_RUNG_OFF, CLF_RUNG_OFF, "ovsdb", 2000);
	ok(!o.why.code && !asked, "both off: nobody is asked");
	json_decref(o.evidence);
}

static void test_attest(void)
{
	struct outcome o;

	mismatches_left = 1000;
	o = run(CLF_RUNG_TRY, CLF_RUNG_TRY, "ovsdb", 1500);
	is_int(o.why.code, CLF_E_CONFLICT, "another network refuses even where attest is try: %s", o.why.text);
	ok(strstr(o.why.text, "n2") && strstr(o.why.text, "VLAN 7"), "with node and what it saw");
	ok(pauses > 1, "after several looks");
	is_int(number(&o, "attest", "mismatch"), 1, "and is in the evidence");
	json_decref(o.evidence);
	mismatches_left = 2;
	o = run(CLF_RUNG_TRY, CLF_RUNG_TRY, "ovsdb", 4000);
	ok(!o.why.code, "a switch that announces late is waited for: %s", o.why.text);
	json_decref(o.evidence);
	mismatches_left = 1000;
	o = run(CLF_RUNG_OFF, CLF_RUNG_TRY, "ovsdb", 1500);
	ok(!o.why.code && !json_object_get(o.evidence, "attest"), "off: not looked at: %s", o.why.text);
	json_decref(o.evidence);
	mismatches_left = 0;

	away = "n1";
	o = run(CLF_RUNG_TRY, CLF_RUNG_TRY, "ovsdb", 1500);
	ok(!o.why.code && number(&o, "attest", "unattested") == 1, "a node without daemon is unattested: %s",
	   o.why.text);
	ok(strstr(skipped(&o), "n1"), "and not probed: %s", skipped(&o));
	json_decref(o.evidence);
	o = run(CLF_RUNG_REQUIRE, CLF_RUNG_TRY, "ovsdb", 1000);
	ok(o.why.code == CLF_E_REMOTE && strstr(o.why.text, "n1"), "which refuses where required: %s", o.why.text);
	json_decref(o.evidence);
	away = NULL;
}

static void test_probe(void)
{
	struct outcome o;

	leak = true;
	o = run(CLF_RUNG_TRY, CLF_RUNG_TRY, "ovsdb", 1500);
	ok(o.why.code == CLF_E_CONFLICT && strstr(o.why.text, "s1"), "a stranger that is reached refuses: %s",
	   o.why.text);
	json_decref(o.evidence);
	leak = false;
	away = "s1";
	o = run(CLF_RUNG_TRY, CLF_RUNG_TRY, "ovsdb", 1500);
	ok(!o.why.code && !number(&o, "negative", "done") && strstr(skipped(&o), "s1"),
	   "one that is away is skipped: %s", skipped(&o));
	json_decref(o.evidence);
	away = NULL;
	no_lldp = true;
	o = run(CLF_RUNG_TRY, CLF_RUNG_TRY, "ovsdb", 1500);
	ok(!o.why.code && strstr(skipped(&o), "leaf1/swp1") && strstr(skipped(&o), "lldpd"),
	   "without LLDP it is not known which interface to use: %s", skipped(&o));
	json_decref(o.evidence);
	no_lldp = false;
}

static void test_ends(void)
{
	struct outcome o;
	struct clf_verify *v;

	/* Cancelled after each number of answers. */
	for (int after = 0; after < 12; after++) {
		v = start(&o, CLF_RUNG_TRY, CLF_RUNG_TRY, "ovsdb", 1500);
		for (int i = 0; i < after && !o.calls; i++)
			turn();
		if (!o.calls) {
			clf_verify_nodes_cancel(v);
			while (turn())
				;
			ok(!o.calls, "cancelled after %d answers: no word", after);
		} else {
			while (turn())
				;
		}
		json_decref(o.evidence);
	}
	/* The daemon ends at any of these moments. */
	for (int after = 0; after < 10; after++) {
		start(&o, CLF_RUNG_TRY, CLF_RUNG_TRY, "ovsdb", 1500);
		for (int i = 0; i < after && !o.calls; i++)
			turn();
		if (!o.calls) {
			closing = true;
			while (turn())
				;
			ok(o.calls == 1 && o.why.code == CLF_E_REMOTE, "ending after %d answers is no success: %d %s",
			   after, o.calls, o.why.text);
		}
		while (turn())
			;
		json_decref(o.evidence);
	}
}

int main(void)
{
	test_good();
	test_attest();
	test_probe();
	test_ends();
	for (int i = 0; i < 3; i++)
		json_decref(facts_of[i]);
	return done_testing();
}
