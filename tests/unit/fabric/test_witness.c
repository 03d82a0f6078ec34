/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Probes: who tries whom, and what the answers mean. A network is played here: each node answers by what a switch would
 * let through. */
#include "fabric/witness_probe.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "tap.h"

#define POS "00000000000000000000000000000001"
#define NEG "00000000000000000000000000000002"

/* A wire: VLAN of each interface, and pairs of leaves whose uplink lacks it. */
struct nic {
	struct clf_probe_nic n;
	int vlan;
	bool job;
};
static struct nic nics[64];
static size_t nnics;
static const char *cut[2]; /* leaves that do not reach each other */
static const char *silent, *deaf, *young, *lossy, *unplugged, *one_way;

static void reset(void)
{
	nnics = 0;
	cut[0] = cut[1] = silent = deaf = young = lossy = unplugged = one_way = NULL;
}

static void add(const char *node, const char *nic, const char *leaf, int vlan, bool job)
{
	static char macs[64][18];

	snprintf(macs[nnics], sizeof macs[0], "02:00:00:00:00:%02x", (unsigned) nnics);
	nics[nnics] = (struct nic){ { node, nic, macs[nnics], leaf }, vlan, job };
	nnics++;
}

static const struct nic *by_name(const char *node, const char *nic)
{
	for (size_t i = 0; i < nnics; i++)
		if (!strcmp(nics[i].n.node, node) && !strcmp(nics[i].n.nic, nic))
			return &nics[i];
	return NULL;
}

static bool is(const char *a, const char *b)
{
	return a && b && !strcmp(a, b);
}

static bool passes(const struct nic *a, const struct nic *b)
{
	bool cut_off =
		(is(a->n.leaf, cut[0]) && is(b->n.leaf, cut[1])) || (is(a->n.leaf, cut[1]) && is(b->n.leaf, cut[0]));

	return a->vlan == b->vlan && !cut_off && !is(a->n.node, unplugged) && !is(b->n.node, unplugged);
}

static struct clf_probe_plan *make_plan(uint64_t seed)
{
	struct clf_probe_nic job[64], others[64];
	size_t nj = 0, no = 0;
	struct clf_probe_plan *p = NULL;
	struct clf_error err = { 0 };

	for (size_t i = 0; i < nnics; i++) {
		if (nics[i].job)
			job[nj++] = nics[i].n;
		else
			others[no++] = nics[i].n;
	}
	if (clf_probe_plan_make(job, nj, others, no, POS, NEG, seed, &p, &err))
		diag("%s", err.text);
	return p;
}

/* Frames of the negative nonce that came to a node: {"nic","from"} */
static json_t *seen[64];

static void note_seen(const struct nic *to, const char *from)
{
	for (size_t i = 0; i < nnics; i++)
		if (&nics[i] == to)
			json_array_append_new(seen[i],
					      json_pack("{s:s,s:s,s:i}", "nic", to->n.nic, "from", from, "count", 1));
}

static json_t *probe_reply(const char *node, const json_t *q)
{
	bool negative = is(json_string_value(json_object_get(q, "nonce")), NEG);
	json_t *list = json_array(), *heard = json_array(), *x;
	size_t i;

	json_array_foreach(json_object_get(q, "probes"), i, x)
	{
		const struct nic *from = by_name(node, json_string_value(json_object_get(x, "nic")));
		const char *mac = json_string_value(json_object_get(x, "mac"));
		bool reached = false;

		if (is(node, unplugged)) {
			json_array_append_new(list, json_pack("{s:b,s:s}", "reached", 0, "error", "no such interface"));
			continue;
		}
		for (size_t k = 0; k < nnics; k++) {
			const struct nic *to = &nics[k];

			if (to == from || !(is(mac, to->n.mac) || is(mac, "ff:ff:ff:ff:ff:ff")) || !passes(from, to))
				continue;
			if (negative)
				note_seen(to, node);
			if (is(node, one_way) || is(to->n.node, one_way))
				continue; /* seen, but no answer comes back */
			reached = true;
			json_array_append_new(heard, json_pack("{s:s,s:s}", "nic", from->n.nic, "node", to->n.node));
		}
		json_array_append_new(list, json_pack("{s:b}", "reached", reached));
	}
	return json_pack("{s:b,s:o,s:o}", "ok", 1, "probes", list, "heard", heard);
}

static json_t *seen_reply(const char *node)
{
	json_t *list = json_array(), *all = json_array();

	for (size_t i = 0; i < nnics; i++)
		if (is(nics[i].n.node, node)) {
			json_array_extend(all, seen[i]);
			if (!is(node, deaf))
				json_array_append_new(list, json_pack("{s:s,s:i}", "nic", nics[i].n.nic, "for_ms",
								      is(node, young) ? 10 : 10000));
		}
	return json_pack("{s:b,s:b,s:o,s:o}", "ok", 1, "complete", !is(node, lossy), "nics", list, "seen", all);
}

static void play(struct clf_probe_plan *p)
{
	for (size_t i = 0; i < nnics; i++)
		seen[i] = json_array();
	for (int wave = 0; wave < 2; wave++)
		for (size_t i = 0; i < clf_probe_asks(p); i++) {
			const char *node = clf_probe_ask_node(p, i);
			json_auto_t *q = clf_probe_ask_question(p, i, 500), *reply = NULL;
			struct clf_error why = { .code = CLF_E_TIMEOUT, .text = "no answer in time" };

			if (clf_probe_ask_wave(p, i) != wave)
				continue;
			if (!is(node, silent))
				reply = wave ? seen_reply(node) : probe_reply(node, q);
			clf_probe_ask_answered(p, i, reply, reply ? NULL : &why);
		}
	for (size_t i = 0; i < nnics; i++)
		json_decref(seen[i]);
}

struct outcome {
	struct clf_error err;
	int positive, positive_failed, negative, negative_failed, skipped;
	char skip[400];
};

static int count(const json_t *e, const char *a, const char *b)
{
	return (int) json_integer_value(json_object_get(json_object_get(e, a), b));
}

static struct outcome run(enum clf_rung rung)
{
	struct outcome o = { 0 };
	CLF_CLEANUP(clf_probe_plan_destroyp) struct clf_probe_plan *p = make_plan(7);
	json_t *e = NULL;
	const char *text;

	play(p);
	(void) !clf_probe_verdict(p, rung, 1000, &e, &o.err);
	o.positive = count(e, "positive", "done");
	o.positive_failed = count(e, "positive", "failed");
	o.negative = count(e, "negative", "done");
	o.negative_failed = count(e, "negative", "failed");
	o.skipped = (int) json_array_size(json_object_get(e, "skipped"));
	text = json_string_value(json_array_get(json_object_get(e, "skipped"), 0));
	snprintf(o.skip, sizeof o.skip, "%s", text ? text : "");
	json_decref(e);
	return o;
}

/* Two leaves, two nodes of the job on each with two rails, a stranger on each. */
static void usual(void)
{
	reset();
	for (int rail = 0; rail < 2; rail++) {
		const char *nic = rail ? "eth1" : "eth0";

		add("n1", nic, "leaf1", 100, true);
		add("n2", nic, "leaf1", 100, true);
		add("n3", nic, "leaf2", 100, true);
		add("n4", nic, "leaf2", 100, true);
	}
	add("s1", "eth0", "leaf1", 1, false);
	add("s2", "eth0", "leaf2", 1, false);
}

static void test_good(void)
{
	struct outcome o;

	usual();
	o = run(CLF_RUNG_REQUIRE);
	ok(!o.err.code, "an isolated job: %s", o.err.text);
	is_int(o.positive, 9, "a ring of four on each of two rails, and one from leaf to leaf");
	is_int(o.positive_failed, 0, "none failed");
	is_int(o.negative, 2, "a stranger on each leaf");
	is_int(o.skipped, 0, "nothing was passed over: %s", o.skip);
	reset();
	add("n1", "eth0", "leaf1", 100, true);
	add("s1", "eth0", "leaf1", 1, false);
	o = run(CLF_RUNG_REQUIRE);
	ok(!o.err.code && !o.positive && o.negative == 1, "a job of one node has nobody to reach: %s", o.err.text);
	reset();
	add("n1", "eth0", "leaf1", 100, true);
	add("n2", "ens1", "leaf1", 100, true);
	add("s1", "eth0", "leaf9", 1, false);
	o = run(CLF_RUNG_REQUIRE);
	ok(!o.err.code && o.positive == 1 && o.negative == 1, "names that differ, a stranger elsewhere: %s, %d, %d",
	   o.err.text, o.positive, o.negative);
}

static void test_positive(void)
{
	struct outcome o;

	usual();
	cut[0] = "leaf1";
	cut[1] = "leaf2";
	o = run(CLF_RUNG_TRY);
	is_int(o.err.code, CLF_E_CONFLICT, "an uplink without the VLAN: %s", o.err.text);
	ok(strstr(o.err.text, "uplink") && strstr(o.err.text, "leaf1") && strstr(o.err.text, "leaf2"),
	   "cause and leaves are named");
	is_int(o.positive_failed, 5, "each rail, both ways round the ring, and the one from leaf to leaf");
	usual();
	nics[1].vlan = 77;
	o = run(CLF_RUNG_TRY);
	ok(o.err.code == CLF_E_CONFLICT && strstr(o.err.text, "n2") && strstr(o.err.text, "another VLAN"),
	   "a port in another VLAN: %s", o.err.text);
	usual();
	unplugged = "n3";
	o = run(CLF_RUNG_TRY);
	ok(o.err.code == CLF_E_CONFLICT && strstr(o.err.text, "'n3' (eth0 on leaf2) does not") &&
		   strstr(o.err.text, "no such interface"),
	   "no link: %s", o.err.text);
	usual();
	silent = "n2";
	o = run(CLF_RUNG_TRY);
	ok(!o.err.code && o.skipped, "a node daemon that does not answer says nothing: %s", o.skip);
	o = run(CLF_RUNG_REQUIRE);
	is_int(o.err.code, CLF_E_REMOTE, "which is not enough where probes are required: %s", o.err.text);
}

static void test_negative(void)
{
	struct outcome o;

	usual();
	nics[8].vlan = 100;
	o = run(CLF_RUNG_TRY);
	is_int(o.err.code, CLF_E_CONFLICT, "a stranger in the job's VLAN: %s", o.err.text);
	ok(strstr(o.err.text, "s1") != NULL, "is named");
	ok(o.negative_failed > 0, "and counted");
	usual();
	nics[8].vlan = 100;
	one_way = "s1";
	o = run(CLF_RUNG_TRY);
	ok(o.err.code == CLF_E_CONFLICT && strstr(o.err.text, "s1") && strstr(o.err.text, "came to"),
	   "one that only hears, or is only heard: %s", o.err.text);
	/* Somebody who was not sampled answers what goes to everybody. */
	usual();
	add("s3", "eth0", "leaf1", 1, false);
	add("s4", "eth0", "leaf1", 1, false);
	add("s5", "eth0", "leaf1", 100, false);
	o = run(CLF_RUNG_TRY);
	ok(o.err.code == CLF_E_CONFLICT && strstr(o.err.text, "s5"), "a stranger that was not sampled: %s", o.err.text);
}

static void skipped(const char *what, const char *says)
{
	struct outcome o = run(CLF_RUNG_TRY);

	ok(!o.err.code && o.skipped == 1 && strstr(o.skip, says), "%s is skipped: %s %s", what, o.skip, o.err.text);
	is_int(o.negative, 1, "%s is not counted as done", what);
	o = run(CLF_RUNG_REQUIRE);
	is_int(o.err.code, CLF_E_REMOTE, "%s refuses where required: %s", what, o.err.text);
}

static void test_skipped(void)
{
	struct outcome o;

	usual();
	silent = "s1";
	skipped("a stranger that does not answer", "no answer in time");
	usual();
	deaf = "s1";
	skipped("a stranger that does not listen", "does not listen");
	usual();
	young = "s1";
	skipped("a stranger that began to listen late", "since a moment");
	usual();
	lossy = "s1";
	skipped("a stranger that lost frames", "lost some");
	usual();
	unplugged = "s1";
	skipped("a stranger without a link", "no such interface");
	usual();
	nnics -= 2;
	o = run(CLF_RUNG_TRY);
	ok(!o.err.code && !o.negative && o.skipped == 1 && strstr(o.skip, "no node outside"), "no stranger at all: %s",
	   o.skip);
	usual();
	deaf = "n1";
	young = "n2";
	lossy = "n3";
	silent = NULL;
	o = run(CLF_RUNG_TRY);
	ok(!o.err.code && o.skipped == 2 - o.negative, "so is a node of the job that does not listen: %d, %s",
	   o.skipped, o.skip);
}

/* Replies of another form are none. */
static void test_odd(void)
{
	static const char *const replies[] = { "{}",
					       "[]",
					       "{\"probes\":[]}",
					       "{\"probes\":[{\"reached\":\"yes\"}]}",
					       "{\"probes\":7,\"heard\":7,\"seen\":7,\"nics\":7}",
					       "{\"heard\":[7,{}],\"seen\":[7,{}],\"nics\":[7,{}],\"complete\":true}" };

	usual();
	for (size_t k = 0; k < sizeof replies / sizeof *replies; k++) {
		CLF_CLEANUP(clf_probe_plan_destroyp) struct clf_probe_plan *p = make_plan(1);
		json_auto_t *reply = json_loads(replies[k], 0, NULL), *e = NULL;
		struct clf_error err = { 0 };

		for (size_t i = 0; i < clf_probe_asks(p); i++)
			clf_probe_ask_answered(p, i, reply, NULL);
		ok(clf_probe_verdict(p, CLF_RUNG_REQUIRE, 0, &e, &err) && err.code == CLF_E_REMOTE &&
			   !count(e, "negative", "done") && !count(e, "positive", "done"),
		   "reply %s proves nothing: %s", replies[k], err.text);
	}
}

/* The questions as text: what a plan is. */
static char *plan_text(uint64_t seed)
{
	CLF_CLEANUP(clf_probe_plan_destroyp) struct clf_probe_plan *p = make_plan(seed);
	json_auto_t *all = json_array();

	for (size_t i = 0; i < clf_probe_asks(p); i++)
		json_array_append_new(all, json_pack("{s:s,s:o}", "node", clf_probe_ask_node(p, i), "q",
						     clf_probe_ask_question(p, i, 500)));
	return clf_json_canonical(all);
}

static void test_seed(void)
{
	CLF_AUTO_FREE char *a = NULL, *b = NULL;
	bool differs = false;

	usual();
	for (int i = 0; i < 20; i++)
		add("x", i % 2 ? "eth0" : "eth1", i % 2 ? "leaf1" : "leaf2", 1, false);
	a = plan_text(7);
	b = plan_text(7);
	is_str(a, b, "the same seed, the same plan");
	for (uint64_t s = 0; s < 8; s++) {
		CLF_AUTO_FREE char *c = plan_text(s);

		differs |= strcmp(a, c) != 0;
	}
	ok(differs, "other seeds, other strangers");
}

static void test_large(void)
{
	enum { NODES = 10000, RAILS = 8, LEAVES = 300 };
	static char names[2 * NODES][16], leaves[LEAVES][16], rails[RAILS][16];
	struct clf_probe_nic *v = calloc(2 * NODES * RAILS, sizeof *v);
	CLF_CLEANUP(clf_probe_plan_destroyp) struct clf_probe_plan *p = NULL;
	struct clf_error err = { 0 };
	size_t n = 0, most = 0, bytes = 0;
	int64_t began = clf_clock_system.boot_us(NULL);

	if (!v)
		abort();
	for (int i = 0; i < LEAVES; i++)
		snprintf(leaves[i], sizeof leaves[i], "l%d", i);
	for (int i = 0; i < RAILS; i++)
		snprintf(rails[i], sizeof rails[i], "eth%d", i);
	for (int i = 0; i < 2 * NODES; i++) {
		snprintf(names[i], sizeof names[i], "n%d", i);
		for (int r = 0; r < RAILS; r++)
			v[n++] = (struct clf_probe_nic){ names[i], rails[r], "02:00:00:00:00:01",
							 leaves[(i + r) % LEAVES] };
	}
	ok(!clf_probe_plan_make(v, n / 2, v + n / 2, n / 2, POS, NEG, 1, &p, &err), "80,000 interfaces: %s", err.text);
	for (size_t i = 0; i < clf_probe_asks(p); i++) {
		json_auto_t *q = clf_probe_ask_question(p, i, 500);
		size_t k = json_array_size(json_object_get(q, "probes"));

		most = k > most ? k : most;
		bytes += k;
	}
	diag("%zu questions, %zu probes, at most %zu for one node, %lld ms", clf_probe_asks(p), bytes, most,
	     (long long) (clf_clock_system.boot_us(NULL) - began) / 1000);
	ok(most <= 200, "no node has more than it takes");
	ok(bytes <= n / 2 + 64 + 3 * 64, "bounded");
	free(v);
}

int main(void)
{
	struct clf_probe_plan *p = NULL;
	struct clf_error err = { 0 };

	test_good();
	test_positive();
	test_negative();
	test_skipped();
	test_odd();
	test_seed();
	test_large();
	ok(clf_probe_plan_make(NULL, 0, NULL, 0, POS, POS, 0, &p, &err) && err.code == CLF_E_INVALID,
	   "one nonce for both is refused: %s", err.text);
	return done_testing();
}
