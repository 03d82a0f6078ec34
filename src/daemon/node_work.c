/* SPDX-License-Identifier: GPL-2.0-or-later */
/* node_work.c - reports when something changed, each 30 s and when asked; probes when asked. */
#include <string.h>

#include "daemon/node_facts.h"
#include "daemon/node_private.h"
#include "daemon/node_report.h"

/* ---- answers */

/* A question's name beyond its connection: numbers begin anew on the next one. */
static uint64_t tag_of(const struct clf_node_loop *n, uint64_t seq)
{
	return n->link.id << 32 | (seq & UINT32_MAX);
}

static void answer(struct clf_node_loop *n, uint64_t tag, json_t *reply /* stolen */)
{
	json_auto_t *m =
		json_pack("{s:s,s:I,s:o}", "op", "answer", "re", (json_int_t) (tag & UINT32_MAX), "answer", reply);

	if (m && tag >> 32 == n->link.id)
		clf_node_send(n, m);
}

static void answer_error(struct clf_node_loop *n, uint64_t tag, const struct clf_error *why)
{
	answer(n, tag, json_pack("{s:b,s:s,s:s}", "ok", 0, "code", clf_code_name(why->code), "text", why->text));
}

/* ---- facts */

static void run_facts(struct clf_job *job)
{
	struct facts_job *j = (struct facts_job *) job;

	if (j->with_lldp) {
		json_decref(j->lldp);
		j->lldp = clf_lldp_read(j->lldp_socket, &j->lldp_error);
	}
	j->report = clf_node_facts(j->node, j->sysfs, j->lldp, &j->error);
}

static void free_facts(struct clf_job *job)
{
	struct facts_job *j = (struct facts_job *) job;

	free(j->node);
	free(j->sysfs);
	free(j->lldp_socket);
	json_decref(j->lldp);
	json_decref(j->report);
	free(j);
}

/* Begin; those who asked until now are answered by it. */
static void gather(struct clf_node_loop *n, int64_t now_ms)
{
	struct facts_job *j = calloc(1, sizeof *j);

	if (!j)
		return;
	j->job = (struct clf_job){ .run = run_facts, .free_job = free_facts };
	j->node = strdup(n->name);
	j->sysfs = strdup(n->conf->sysfs);
	j->lldp_socket = strdup(n->conf->lldp_socket);
	j->lldp = json_deep_copy(n->lldp); /* the thread's own */
	j->with_lldp = n->fresh;
	memcpy(j->tags, n->asks, sizeof j->tags);
	j->ntags = n->nasks;
	if (!j->node || !j->sysfs || !j->lldp_socket) {
		free_facts(&j->job);
		return;
	}
	if (clf_helper_put(n->facts, &j->job, NULL))
		return;
	n->gathering = true;
	n->fresh = false;
	n->nasks = 0;
	n->polled_ms = now_ms;
}

static void send_report(struct clf_node_loop *n)
{
	json_auto_t *m = json_pack("{s:s,s:O}", "op", "report", "facts", n->report);

	if (!m || n->state != NODE_UP)
		return;
	n->unsent = false;
	clf_node_send(n, m);
}

static void lldp_done(struct clf_node_loop *n, struct facts_job *j)
{
	if (!j->with_lldp)
		return;
	n->lldp_ms = clf_node_now();
	json_decref(n->lldp);
	n->lldp = CLF_STEAL(j->lldp);
	if (!n->lldp && !n->lldp_told)
		clf_log(n->sink, CLF_LOG_WARN, "nothing is known of neighbours: %s", j->lldp_error.text);
	n->lldp_told = !n->lldp;
}

/* Has an interface or a link come or gone since? Then what lldpd says is of before. */
static bool links_differ(const json_t *a, const json_t *b)
{
	const json_t *x = json_object_get(a, "net"), *y = json_object_get(b, "net");
	size_t i;
	json_t *e;

	if (json_array_size(x) != json_array_size(y))
		return true;
	json_array_foreach((json_t *) x, i, e)
	{
		const json_t *f = json_array_get(y, i);

		if (!json_equal(json_object_get(e, "name"), json_object_get(f, "name")) ||
		    json_is_true(json_object_get(e, "link")) != json_is_true(json_object_get(f, "link")))
			return true;
	}
	return false;
}

static void take_report(struct clf_node_loop *n, struct facts_job *j)
{
	json_t *gist;

	clf_probes_update(n->probes, j->report);
	lldp_done(n, j);
	if (n->report && !j->with_lldp && links_differ(n->report, j->report)) {
		/* Its neighbours are those of before: not to be told as news. */
		n->fresh = true;
		return;
	}
	gist = clf_node_report_gist(j->report);
	/* The one with LLDP is also the word that we are alive. */
	if (j->with_lldp || !gist || !n->gist || !json_equal(gist, n->gist))
		n->unsent = true;
	json_decref(n->gist);
	json_decref(n->report);
	n->gist = gist;
	n->report = json_incref(j->report);
}

void clf_node_facts_done(struct clf_node_loop *n)
{
	struct clf_job *job = clf_helper_take(n->facts);
	struct facts_job *j = (struct facts_job *) job;

	if (!job)
		return;
	n->gathering = false;
	if (j->report)
		take_report(n, j);
	for (size_t i = 0; i < j->ntags; i++) {
		if (j->report)
			answer(n, j->tags[i], json_pack("{s:b,s:O}", "ok", 1, "facts", n->report));
		else
			answer_error(n, j->tags[i], &j->error);
	}
	if (n->unsent && n->report)
		send_report(n);
	job->free_job(job);
}

void clf_node_up(struct clf_node_loop *n)
{
	/* Questions of the connection before are nobody's any more, and what was read then may be long ago. */
	n->nasks = 0;
	n->fresh = true;
}

/* ---- questions */

static void probed(void *arg, uint64_t tag, json_t *reply)
{
	answer(arg, tag, reply);
}

static void ask(struct clf_node_loop *n, uint64_t tag, const json_t *question)
{
	const char *op = json_string_value(json_object_get(question, "op"));
	struct clf_error why = { 0 };
	json_t *reply = NULL;

	if (!op)
		op = "";
	if (!strcmp(op, "report")) {
		if (n->nasks == CLF_NODE_ASKS)
			clf_fail(&why, CLF_E_EXHAUSTED, "%u questions wait already", CLF_NODE_ASKS);
		else
			n->asks[n->nasks++] = tag;
		n->fresh = true;
	} else if (!strcmp(op, "probe")) {
		(void) !clf_probes_run(n->probes, question, probed, n, tag, &why);
	} else if (!strcmp(op, "probe_seen")) {
		reply = clf_probes_seen(n->probes, question, &why);
	} else {
		clf_fail(&why, CLF_E_INVALID, "unknown question '%.32s'", op);
	}
	if (reply)
		answer(n, tag, reply);
	else if (why.code)
		answer_error(n, tag, &why);
}

void clf_node_message(struct clf_node_loop *n, const json_t *m)
{
	const char *op = json_string_value(json_object_get(m, "op"));
	const json_t *question = json_object_get(m, "ask");

	if (!strcmp(op, "ask") && json_is_object(question))
		ask(n, tag_of(n, n->link.seq_in), question);
	else if (strcmp(op, "ack") != 0)
		clf_log(n->sink, CLF_LOG_DEBUG, "unknown message '%.32s'", op);
}

int64_t clf_node_work_tick(struct clf_node_loop *n, int64_t now_ms)
{
	int64_t probes;

	if (now_ms - n->lldp_ms >= CLF_NODE_REPORT_MS)
		n->fresh = true;
	if (!n->gathering && (n->nasks || n->fresh || now_ms - n->polled_ms >= CLF_NODE_POLL_MS))
		gather(n, now_ms);
	probes = clf_probes_tick(n->probes, clf_node_now() * 1000);
	if (probes != INT64_MAX && (probes + 999) / 1000 < now_ms + CLF_NODE_POLL_MS)
		return (probes + 999) / 1000;
	return now_ms + 1000;
}

void clf_node_work_close(struct clf_node_loop *n)
{
	json_decref(n->report);
	json_decref(n->gist);
	json_decref(n->lldp);
}
