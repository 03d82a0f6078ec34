/* SPDX-License-Identifier: GPL-2.0-or-later */
/* witness_verdict.c - what the answers to a plan mean. A reply of another form than the format says is none. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "fabric/witness_private.h"

struct verdict {
	struct clf_probe_plan *p;
	int64_t listen_ms;
	size_t positive_done, positive_failed, negative_done, negative_failed;
	struct clf_error first; /* CLF_E_CONFLICT */
	bool local_works;       /* some positive probe inside a leaf passed */
};

static void skip(struct verdict *v, const char *fmt, ...) CLF_PRINTF(2, 3);
static void skip(struct verdict *v, const char *fmt, ...)
{
	char text[400];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	(void) !clf_probe_plan_skip(v->p, text, NULL);
}

/* ---- replies */

static void read_probe(struct clf_probe_plan *p, struct probe *x)
{
	const json_t *list = json_object_get(p->asks[x->ask].reply, "probes"), *r = json_array_get(list, x->at);
	const json_t *reached = json_object_get(r, "reached");

	if (!json_is_boolean(reached) || json_array_size(list) != p->asks[x->ask].n)
		return;
	x->reached = json_is_true(reached);
	x->other = json_string_value(json_object_get(r, "other"));
	x->error = json_string_value(json_object_get(r, "error"));
	x->sent = !x->error;
}

/* Why nothing can be said of this probe. */
static const char *unsent_why(const struct clf_probe_plan *p, const struct probe *x)
{
	const struct ask *a = &p->asks[x->ask];

	return a->why ? a->why : x->error ? x->error : "the answer has no such probe";
}

static const struct ask *seen_of(const struct clf_probe_plan *p, const char *node)
{
	uint32_t i;

	return clf_strmap_find(&p->ask_of[ASK_SEEN], node, &i) ? &p->asks[i] : NULL;
}

/* NULL: this interface listened all the time, and all it heard is told. Else why not. */
static const char *deaf_why(const struct verdict *v, const struct nic *n, char *text, size_t size)
{
	const struct ask *a = seen_of(v->p, n->node);
	const json_t *nics = a ? json_object_get(a->reply, "nics") : NULL, *e;
	size_t i;

	if (!a || !a->reply)
		return a && a->why ? a->why : "not asked what it saw";
	if (!json_is_true(json_object_get(a->reply, "complete")) || !json_is_array(json_object_get(a->reply, "seen")))
		return "it lost some of what it saw";
	json_array_foreach((json_t *) nics, i, e)
	{
		const char *name = json_string_value(json_object_get(e, "nic"));

		if (!name || strcmp(name, n->nic) != 0)
			continue;
		if (json_integer_value(json_object_get(e, "for_ms")) >= v->listen_ms)
			return NULL;
		snprintf(text, size, "%s listens since a moment only", n->nic);
		return text;
	}
	snprintf(text, size, "%s does not listen there: no link?", n->nic);
	return text;
}

/* ---- positive */

static const char *likely(const struct verdict *v, const struct probe *x)
{
	if (x->other)
		return "the address belongs to another node: are the reports of both fresh?";
	if (strcmp(x->from->leaf, x->to->leaf) != 0)
		return v->local_works ? "nodes of one leaf do reach each other: is the VLAN missing on an uplink?"
				      : "is the VLAN missing on an uplink, or on one of the ports?";
	return "is one of the ports in another VLAN, or blocked by spanning tree?";
}

static void judge_positive(struct verdict *v, struct probe *x)
{
	if (x->sent && x->reached) {
		v->positive_done++;
		v->local_works |= !strcmp(x->from->leaf, x->to->leaf);
		return;
	}
	/* A daemon that did not answer says nothing of the network; an interface without a link says enough. */
	if (!x->sent && !x->error) {
		skip(v, "positive: node '%s' to '%s': %s", x->from->node, x->to->node, unsent_why(v->p, x));
		return;
	}
	v->positive_done++;
	v->positive_failed++;
}

static bool failed(const struct probe *x)
{
	return x->kind <= PROBE_LEAVES && (x->sent || x->error) && !x->reached;
}

/* One that its own node explains is said rather than another's that suffers from it. */
static void say_positive(struct verdict *v)
{
	const struct probe *worst = NULL;

	for (size_t i = 0; i < v->p->nprobes && !(worst && worst->error); i++)
		if (failed(&v->p->probes[i]) && (!worst || v->p->probes[i].error))
			worst = &v->p->probes[i];
	if (worst)
		clf_fail(&v->first, CLF_E_CONFLICT,
			 "node '%.60s' (%.15s on %.30s) does not reach node '%.60s' (%.15s on %.30s): %.90s (%zu of "
			 "%zu probes failed)",
			 worst->from->node, worst->from->nic, worst->from->leaf, worst->to->node, worst->to->nic,
			 worst->to->leaf, worst->error ? worst->error : likely(v, worst), v->positive_failed,
			 v->positive_done);
}

/* ---- negative */

static void leak(struct verdict *v, const char *fmt, ...) CLF_PRINTF(2, 3);
static void leak(struct verdict *v, const char *fmt, ...)
{
	char text[300];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	v->negative_failed++;
	clf_fail(&v->first, CLF_E_CONFLICT,
		 "%s: the job's network is open to others; look at both ports on the switches", text);
}

static bool in_job(const struct clf_probe_plan *p, const char *node)
{
	uint32_t one;

	return clf_strmap_find(&p->job_names, node, &one);
}

/* Answers to the negative nonce: at a job's node from somebody outside, at a stranger from somebody inside. */
static void judge_heard(struct verdict *v, const struct ask *a)
{
	const json_t *list = json_object_get(a->reply, "heard"), *h;
	bool inside = in_job(v->p, a->node);
	size_t i;

	json_array_foreach((json_t *) list, i, h)
	{
		const char *node = json_string_value(json_object_get(h, "node"));

		if (node && in_job(v->p, node) != inside)
			leak(v, "node '%.60s' was answered by node '%.60s', which is %s the job", a->node, node,
			     inside ? "not in" : "in");
	}
	if (json_is_true(json_object_get(a->reply, "more")))
		skip(v, "negative: node '%s' had more answers than it keeps", a->node);
}

static void judge_seen(struct verdict *v, const struct ask *a)
{
	const json_t *list = json_object_get(a->reply, "seen"), *s;
	bool inside = in_job(v->p, a->node);
	size_t i;

	json_array_foreach((json_t *) list, i, s)
	{
		const char *from = json_string_value(json_object_get(s, "from"));
		const char *nic = json_string_value(json_object_get(s, "nic"));

		if (from && in_job(v->p, from) != inside)
			leak(v, "a frame of node '%.60s' came to node '%.60s' (%.15s), which is %s the job", from,
			     a->node, nic ? nic : "?", inside ? "in" : "not in");
	}
}

static void judge_pair(struct verdict *v, const struct pair *pair)
{
	const struct probe *to = &v->p->probes[pair->to], *from = &v->p->probes[pair->from];
	const struct nic *mine = to->from, *stranger = to->to;
	char text[64];
	const char *why = deaf_why(v, stranger, text, sizeof text);

	if (to->reached || from->reached) {
		leak(v, "node '%.60s' of the job and node '%.60s', which is not in it, reach each other", mine->node,
		     stranger->node);
		return;
	}
	if (!to->sent)
		why = unsent_why(v->p, to);
	else if (!from->sent)
		why = unsent_why(v->p, from);
	else if (!why)
		why = deaf_why(v, mine, text, sizeof text);
	if (why)
		skip(v, "negative: node '%s' and stranger '%s' on %s: %s", mine->node, stranger->node, stranger->leaf,
		     why);
	else
		v->negative_done++;
}

static void judge_negative(struct verdict *v)
{
	struct clf_probe_plan *p = v->p;

	for (size_t i = 0; i < p->nasks; i++) {
		if (p->asks[i].kind == ASK_NEGATIVE)
			judge_heard(v, &p->asks[i]);
		else if (p->asks[i].kind == ASK_SEEN)
			judge_seen(v, &p->asks[i]);
	}
	for (size_t i = 0; i < p->npairs; i++)
		judge_pair(v, &p->pairs[i]);
	for (size_t i = 0; i < p->nprobes; i++)
		if (p->probes[i].kind == PROBE_EVERYBODY && !p->probes[i].sent)
			skip(v, "negative: node '%s' to everybody: %s", p->probes[i].from->node,
			     unsent_why(p, &p->probes[i]));
}

int clf_probe_verdict(struct clf_probe_plan *p, enum clf_rung rung, int64_t listen_ms, json_t **evidence,
		      struct clf_error *err)
{
	struct verdict v = { .p = p, .listen_ms = listen_ms };

	for (size_t i = 0; i < p->nprobes; i++)
		read_probe(p, &p->probes[i]);
	for (size_t i = 0; i < p->nprobes; i++)
		if (p->probes[i].kind <= PROBE_LEAVES)
			judge_positive(&v, &p->probes[i]);
	/* A leak is the worse news, and said first. */
	judge_negative(&v);
	say_positive(&v);
	*evidence =
		json_pack("{s:{s:I,s:I},s:{s:I,s:I},s:O}", "positive", "done", (json_int_t) v.positive_done, "failed",
			  (json_int_t) v.positive_failed, "negative", "done", (json_int_t) v.negative_done, "failed",
			  (json_int_t) v.negative_failed, "skipped", p->skipped);
	if (!*evidence)
		return clf_fail(err, CLF_E_NOMEM, "out of memory");
	if (v.first.code)
		return clf_fail(err, v.first.code, "%s", v.first.text);
	if (rung == CLF_RUNG_REQUIRE && p->nskipped)
		return clf_fail(err, CLF_E_REMOTE, "probes are required, %zu could not be made: %.250s", p->nskipped,
				json_string_value(json_array_get(p->skipped, 0)));
	return 0;
}
