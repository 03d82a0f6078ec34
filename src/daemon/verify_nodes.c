/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/verify_nodes.h"

#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "base/clock.h"
#include "base/strmap.h"
#include "daemon/link.h"
#include "daemon/verify_private.h"

#define TEXTS_KEPT   64u
#define RETRY_MS     250 /* a switch announces its change with its next LLDP frame, a port's table follows by an event */
#define PROBE_MIN_MS 200
#define PROBE_MAX_MS 1500
#define ANSWER_MS    1000 /* for the way to a node and back */

struct member {
	struct clf_verify *v;
	char *name;
	json_t *facts;
	enum clf_attest attest;
	char text[200];
	bool settled;
};

enum stage { STAGE_ATTEST, STAGE_PROBE, STAGE_SEEN, STAGE_END };

struct clf_verify {
	struct clf_agents *agents;
	const struct clf_driver *driver;
	void *self;
	char *fabric;
	bool can_probe;
	enum clf_rung attest, probe;
	struct clf_net net;
	struct clf_strv others, kin;
	bool only_others;
	struct member *members;
	size_t n;
	struct clf_strmap names; /* of them */
	int64_t began_ms, attest_until_ms, until_ms, probes_ms;
	enum stage stage;
	size_t pending; /* answers that will come */
	struct clf_probe_plan *plan;
	json_t *skipped; /* before there is a plan */
	size_t mismatches, unattested;
	clf_verify_done_f *done; /* NULL: cancelled or called */
	void *arg;
};

struct probe_ask {
	struct clf_verify *v;
	size_t i;
};

static void attest_go(struct clf_verify *v);
static void probe_go(struct clf_verify *v);
static void wave_done(struct clf_verify *v);

static int64_t now_ms(void)
{
	return clf_clock_system.boot_us(NULL) / 1000;
}

static int left(int64_t until_ms)
{
	int64_t ms = until_ms - now_ms();

	return ms > 0 ? (int) ms : 0;
}

/* ---- life */

static void destroy(struct clf_verify *v)
{
	for (size_t i = 0; v->members && i < v->n; i++) {
		free(v->members[i].name);
		json_decref(v->members[i].facts);
	}
	free(v->members);
	clf_strmap_done(&v->names);
	clf_net_done(&v->net);
	clf_strv_done(&v->others);
	clf_strv_done(&v->kin);
	clf_probe_plan_destroy(v->plan);
	json_decref(v->skipped);
	free(v->fabric);
	free(v);
}

/* No answer will come any more and nobody waits: the end of v. */
static void settle(struct clf_verify *v)
{
	if (!v->pending && !v->done)
		destroy(v);
}

void clf_verify_nodes_cancel(struct clf_verify *v)
{
	v->done = NULL;
	v->stage = STAGE_END;
	settle(v);
}

static void skip(struct clf_verify *v, const char *text)
{
	if (json_array_size(v->skipped) < TEXTS_KEPT)
		json_array_append_new(v->skipped, json_string(text));
}

static json_t *attest_evidence(const struct clf_verify *v)
{
	json_t *nodes = json_object();
	size_t ok = 0;

	for (size_t i = 0; i < v->n; i++) {
		const struct member *m = &v->members[i];

		ok += m->settled && m->attest == CLF_ATTEST_OK;
		if (m->settled && m->attest != CLF_ATTEST_OK && json_object_size(nodes) < TEXTS_KEPT)
			json_object_set_new(nodes, m->name, json_string(m->text));
	}
	return json_pack("{s:I,s:I,s:I,s:o}", "ok", (json_int_t) ok, "unattested", (json_int_t) v->unattested,
			 "mismatch", (json_int_t) v->mismatches, "nodes", nodes);
}

/* probes: of clf_probe_verdict(), stolen; NULL: there were none. */
static void finish(struct clf_verify *v, const struct clf_error *why, json_t *probes)
{
	json_auto_t *evidence = probes ? probes : json_object();
	clf_verify_done_f *done = CLF_STEAL(v->done);
	struct clf_error ending = { 0 };

	v->stage = STAGE_END;
	/* What was skipped because we end was not looked at by anybody. */
	if (!why->code && clf_agents_closing(v->agents)) {
		clf_fail(&ending, CLF_E_REMOTE, "closfoldd is ending");
		why = &ending;
	}
	if (!probes) {
		json_object_set(evidence, "skipped", v->skipped);
		json_object_set_new(evidence, "positive", json_pack("{s:i,s:i}", "done", 0, "failed", 0));
		json_object_set_new(evidence, "negative", json_pack("{s:i,s:i}", "done", 0, "failed", 0));
	}
	if (v->attest != CLF_RUNG_OFF)
		json_object_set_new(evidence, "attest", attest_evidence(v));
	json_object_set_new(evidence, "ms", json_integer((json_int_t) (now_ms() - v->began_ms)));
	if (done)
		done(v->arg, why, evidence);
	settle(v);
}

/* ---- attest */

static void judge(struct member *m, const struct clf_error *why)
{
	struct clf_verify *v = m->v;

	m->settled = true;
	m->text[0] = '\0';
	if (m->facts && !why) {
		m->attest = v->attest == CLF_RUNG_OFF
				    ? CLF_ATTEST_OK
				    : v->driver->attest(v->self, &v->net, m->name, m->facts, m->text, sizeof m->text);
		return;
	}
	m->attest = CLF_ATTEST_UNATTESTED;
	snprintf(m->text, sizeof m->text, "%.199s", why ? why->text : "no report");
}

/* A second look may help: what a switch announces and what a port's table says follows the change. */
static bool again(const struct clf_verify *v, const struct member *m)
{
	return !m->settled || m->attest == CLF_ATTEST_MISMATCH ||
	       (m->attest == CLF_ATTEST_UNATTESTED && v->attest == CLF_RUNG_REQUIRE);
}

static void paused(void *arg, const char *node, const json_t *reply, const struct clf_error *why)
{
	struct clf_verify *v = arg;

	(void) node, (void) reply;
	v->pending--;
	if (!v->done)
		settle(v);
	else if (why && why->code == CLF_E_REMOTE)
		finish(v, why, NULL);
	else
		attest_go(v);
}

static int pause_for(struct clf_verify *v, int ms, struct clf_error *err)
{
	if (clf_agents_after(v->agents, ms, paused, v, err))
		return -1;
	v->pending++;
	return 0;
}

static const struct member *worst(const struct clf_verify *v, enum clf_attest what)
{
	for (size_t i = 0; i < v->n; i++)
		if (v->members[i].attest == what)
			return &v->members[i];
	return NULL;
}

static void attest_done(struct clf_verify *v)
{
	struct clf_error why = { 0 };

	v->mismatches = v->unattested = 0;
	for (size_t i = 0; i < v->n; i++) {
		v->mismatches += v->members[i].attest == CLF_ATTEST_MISMATCH;
		v->unattested += v->members[i].attest == CLF_ATTEST_UNATTESTED;
	}
	if (v->mismatches) {
		const struct member *m = worst(v, CLF_ATTEST_MISMATCH);

		clf_fail(&why, CLF_E_CONFLICT, "node '%.60s' sees another network on fabric '%s' than was made: %s",
			 m->name, v->fabric, m->text);
	} else if (v->unattested && v->attest == CLF_RUNG_REQUIRE) {
		const struct member *m = worst(v, CLF_ATTEST_UNATTESTED);

		clf_fail(&why, CLF_E_REMOTE, "attestation is required on fabric '%s', node '%.60s' has none: %s",
			 v->fabric, m->name, m->text);
	}
	if (why.code) {
		skip(v, "probes: not made after the attestation failed");
		finish(v, &why, NULL);
		return;
	}
	probe_go(v);
}

static void attest_answered(struct clf_verify *v)
{
	size_t open = 0;
	struct clf_error why = { 0 };

	for (size_t i = 0; i < v->n; i++)
		open += again(v, &v->members[i]);
	if (open && left(v->attest_until_ms) > RETRY_MS && !pause_for(v, RETRY_MS, &why))
		return;
	attest_done(v);
}

static void reported(void *arg, const char *node, const json_t *reply, const struct clf_error *why)
{
	struct member *m = arg;
	struct clf_verify *v = m->v;
	json_t *facts = json_object_get(reply, "facts");

	(void) node;
	v->pending--;
	if (!v->done) {
		settle(v);
		return;
	}
	if (facts) {
		json_decref(m->facts);
		m->facts = json_incref(facts);
	}
	judge(m, facts ? NULL : why);
	if (!v->pending)
		attest_answered(v);
}

static void attest_go(struct clf_verify *v)
{
	size_t asked = 0;

	v->stage = STAGE_ATTEST;
	for (size_t i = 0; i < v->n; i++) {
		struct member *m = &v->members[i];
		struct clf_error why = { 0 };

		if (!again(v, m))
			continue;
		if (clf_agents_ask(v->agents, m->name, json_pack("{s:s}", "op", "report"), left(v->attest_until_ms),
				   reported, m, &why)) {
			judge(m, &why);
			continue;
		}
		v->pending++;
		asked++;
	}
	if (!asked)
		attest_done(v);
}

/* ---- probes */

static int job_nics(struct clf_verify *v, struct clf_verify_nics *list, struct clf_error *err)
{
	for (size_t i = 0; i < v->n; i++) {
		const struct member *m = &v->members[i];
		CLF_AUTO_FREE char *unknown = NULL;
		struct clf_error why = { 0 };
		char text[400];

		if (!m->facts)
			snprintf(text, sizeof text, "positive: node '%.60s': %s", m->name, m->text);
		else if (clf_verify_nics_add(list, v->driver, v->self, m->name, m->facts, &unknown, &why))
			snprintf(text, sizeof text, "positive: node '%.60s': %.300s", m->name, why.text);
		else if (*unknown)
			snprintf(text, sizeof text,
				 "positive: node '%.60s': no interface is known to be on %.200s: is lldpd running "
				 "there?",
				 m->name, unknown);
		else
			continue;
		if (why.code == CLF_E_NOMEM)
			return clf_fail(err, CLF_E_NOMEM, "out of memory");
		skip(v, text);
	}
	return 0;
}

/* A stranger that has no place on this fabric, or is not known to have one, is none. */
static void add_stranger(struct clf_verify *v, const char *name, struct clf_verify_nics *list)
{
	const json_t *facts = clf_agents_facts(v->agents, name, NULL);
	CLF_AUTO_FREE char *unknown = NULL;
	uint32_t i;

	if (facts && !clf_strmap_find(&v->names, name, &i))
		(void) !clf_verify_nics_add(list, v->driver, v->self, name, facts, &unknown, NULL);
}

/* From anywhere in the list on, and round: not always the same ones. */
static void stranger_nics(struct clf_verify *v, uint64_t seed, struct clf_verify_nics *list)
{
	const char *name;
	size_t n = 0, start, looked = 0;

	for (size_t i = 0; i < v->others.n && i < CLF_VERIFY_CANDIDATES; i++)
		add_stranger(v, v->others.v[i], list);
	if (v->only_others)
		return;
	for (size_t i = 0; clf_agents_next(v->agents, &i);)
		n++;
	start = n ? seed % n : 0;
	for (size_t i = start; looked < CLF_VERIFY_CANDIDATES && (name = clf_agents_next(v->agents, &i)); looked++)
		add_stranger(v, name, list);
	for (size_t i = 0; looked < CLF_VERIFY_CANDIDATES && i < start && (name = clf_agents_next(v->agents, &i));
	     looked++)
		add_stranger(v, name, list);
}

static int make_plan(struct clf_verify *v, struct clf_error *err)
{
	CLF_CLEANUP(clf_verify_nics_done) struct clf_verify_nics job = { 0 }, others = { 0 };
	char positive[CLF_LINK_SESSION + 1], negative[CLF_LINK_SESSION + 1];
	uint64_t seed = 0;
	size_t i;
	json_t *text;

	if (job_nics(v, &job, err) || clf_link_nonce(positive, err) || clf_link_nonce(negative, err))
		return -1;
	(void) !getrandom(&seed, sizeof seed, GRND_NONBLOCK);
	stranger_nics(v, seed, &others);
	if (clf_probe_plan_make(job.v, job.n, others.v, others.n, positive, negative, seed, &v->plan, err))
		return -1;
	for (i = 0; i < v->kin.n; i++)
		if (clf_probe_plan_kin(v->plan, v->kin.v[i], err))
			return -1;
	json_array_foreach(v->skipped, i,
			   text) if (clf_probe_plan_skip(v->plan, json_string_value(text), err)) return -1;
	return 0;
}

static int probe_ms(const struct clf_verify *v)
{
	int ms = left(v->until_ms) / 4;

	return ms < PROBE_MIN_MS ? PROBE_MIN_MS : ms > PROBE_MAX_MS ? PROBE_MAX_MS : ms;
}

static void probed(void *arg, const char *node, const json_t *reply, const struct clf_error *why)
{
	struct probe_ask *a = arg;
	struct clf_verify *v = a->v;

	(void) node;
	v->pending--;
	if (v->done)
		clf_probe_ask_answered(v->plan, a->i, reply, why);
	free(a);
	if (!v->done)
		settle(v);
	else if (!v->pending)
		wave_done(v);
}

static void ask_probe(struct clf_verify *v, size_t i, int deadline_ms, int timeout_ms)
{
	struct probe_ask *a = calloc(1, sizeof *a);
	struct clf_error why = { 0 };

	if (!a) {
		clf_fail(&why, CLF_E_NOMEM, "out of memory");
		clf_probe_ask_answered(v->plan, i, NULL, &why);
		return;
	}
	*a = (struct probe_ask){ v, i };
	if (clf_agents_ask(v->agents, clf_probe_ask_node(v->plan, i), clf_probe_ask_question(v->plan, i, deadline_ms),
			   timeout_ms, probed, a, &why)) {
		clf_probe_ask_answered(v->plan, i, NULL, &why);
		free(a);
		return;
	}
	v->pending++;
}

static void ask_wave(struct clf_verify *v, int wave)
{
	int ms = probe_ms(v), timeout = wave ? left(v->until_ms) : ms + ANSWER_MS;

	if (timeout > left(v->until_ms))
		timeout = left(v->until_ms);
	for (size_t i = 0; i < clf_probe_asks(v->plan); i++)
		if (clf_probe_ask_wave(v->plan, i) == wave)
			ask_probe(v, i, ms, timeout);
	if (!v->pending)
		wave_done(v);
}

static void verdict(struct clf_verify *v)
{
	struct clf_error why = { 0 };
	json_t *evidence = NULL;

	(void) !clf_probe_verdict(v->plan, v->probe, v->probes_ms, &evidence, &why);
	finish(v, &why, evidence);
}

static void wave_done(struct clf_verify *v)
{
	if (v->stage == STAGE_PROBE) {
		/* From when the first question left until now: who listens since less may have missed a frame. */
		v->probes_ms = now_ms() - v->probes_ms;
		v->stage = STAGE_SEEN;
		ask_wave(v, 1);
	} else {
		verdict(v);
	}
}

static void probe_go(struct clf_verify *v)
{
	struct clf_error why = { 0 };

	if (v->probe != CLF_RUNG_OFF && v->can_probe) {
		if (make_plan(v, &why)) {
			finish(v, &why, NULL);
			return;
		}
		v->stage = STAGE_PROBE;
		v->probes_ms = now_ms();
		ask_wave(v, 0);
		return;
	}
	if (v->probe != CLF_RUNG_OFF)
		skip(v, "no probe on this fabric");
	if (v->probe == CLF_RUNG_REQUIRE)
		clf_fail(&why, CLF_E_REMOTE,
			 "probes are required on fabric '%s', which has none: set probe to try or off in fabrics.json",
			 v->fabric);
	finish(v, &why, NULL);
}

/* ---- begin */

static void begin(void *arg, const char *node, const json_t *reply, const struct clf_error *why)
{
	struct clf_verify *v = arg;

	(void) node, (void) reply;
	v->pending--;
	if (!v->done)
		settle(v);
	else if (why && why->code == CLF_E_REMOTE)
		finish(v, why, NULL);
	else if (v->attest == CLF_RUNG_OFF && (v->probe == CLF_RUNG_OFF || !v->can_probe))
		probe_go(v);
	else
		attest_go(v);
}

static int copy_net(struct clf_net *to, const struct clf_net *from, struct clf_error *err)
{
	memcpy(to->lease, from->lease, sizeof to->lease);
	to->job_id = from->job_id;
	to->key = from->key;
	for (size_t i = 0; i < from->ports.n; i++)
		if (clf_strv_add(&to->ports, from->ports.v[i], err))
			return -1;
	return 0;
}

static int copy_in(struct clf_verify *v, const struct clf_verify_nodes *in, struct clf_error *err)
{
	v->agents = in->agents;
	v->driver = in->driver;
	v->self = in->self;
	v->attest = in->attest;
	v->probe = in->probe;
	v->can_probe = !strcmp(in->driver_name, "ovsdb");
	v->only_others = in->others != NULL;
	v->fabric = strdup(in->fabric);
	v->skipped = json_array();
	v->members = calloc(in->nodes->n + 1, sizeof *v->members);
	if (!v->fabric || !v->skipped || !v->members)
		return clf_fail(err, CLF_E_NOMEM, "out of memory");
	for (size_t i = 0; i < in->nodes->n; i++) {
		v->members[i] = (struct member){ .v = v, .name = strdup(in->nodes->v[i]) };
		if (!v->members[i].name || clf_strmap_set(&v->names, v->members[i].name, 1, NULL))
			return clf_fail(err, CLF_E_NOMEM, "out of memory");
		v->n++;
	}
	for (size_t i = 0; in->others && i < in->others->n; i++)
		if (clf_strv_add(&v->others, in->others->v[i], err))
			return -1;
	for (size_t i = 0; in->kin && i < in->kin->n; i++)
		if (clf_strv_add(&v->kin, in->kin->v[i], err))
			return -1;
	return copy_net(&v->net, in->net, err);
}

/* The probes' part of the time is kept back: their own, what was seen, and the way there. */
static void set_times(struct clf_verify *v, int timeout_ms)
{
	int keep = v->can_probe && v->probe != CLF_RUNG_OFF ? PROBE_MAX_MS + 2 * ANSWER_MS : 0;

	v->began_ms = now_ms();
	v->until_ms = v->began_ms + timeout_ms;
	v->attest_until_ms = v->until_ms - (keep < timeout_ms / 2 ? keep : timeout_ms / 2);
}

int clf_verify_nodes_start(const struct clf_verify_nodes *in, clf_verify_done_f *done, void *arg,
			   struct clf_verify **out, struct clf_error *err)
{
	struct clf_verify *v = calloc(1, sizeof *v);

	if (!v)
		return clf_fail(err, CLF_E_NOMEM, "out of memory");
	v->arg = arg;
	set_times(v, in->timeout_ms);
	if (copy_in(v, in, err) || clf_agents_after(v->agents, 0, begin, v, err)) {
		destroy(v);
		return -1;
	}
	set_times(v, in->timeout_ms); /* now that it is known whether there are probes */
	v->done = done;
	v->pending = 1;
	if (out)
		*out = v;
	return 0;
}
