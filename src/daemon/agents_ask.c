/* SPDX-License-Identifier: GPL-2.0-or-later */
/* agents_ask.c - questions under way. Each leaves the list before its answer is called, so it is called once. */
#include <string.h>
#include <sys/timerfd.h>

#include "daemon/agents_private.h"
#include "wire/client.h"

static void arm(struct clf_agents *a, int64_t at_ms)
{
	struct itimerspec t = { .it_value = { .tv_sec = at_ms / 1000, .tv_nsec = at_ms % 1000 * 1000000 } };

	if (a->armed_ms && a->armed_ms <= at_ms)
		return;
	if (!timerfd_settime(a->timer, TFD_TIMER_ABSTIME, &t, NULL))
		a->armed_ms = at_ms;
}

static void unlink_ask(struct ask *q)
{
	*q->at = q->next;
	if (q->next)
		q->next->at = q->at;
}

static void link_ask(struct ask **list, struct ask *q)
{
	q->next = *list;
	q->at = list;
	if (*list)
		(*list)->at = &q->next;
	*list = q;
}

static void ask_free(struct ask *q)
{
	free(q->name);
	free(q);
}

/* q is on no list of all asks any more; it leaves its node's here. */
static void finish(struct ask *q, const json_t *reply, const struct clf_error *why)
{
	struct ask **at = q->node ? &q->node->first : NULL;

	while (at && *at != q)
		at = &(*at)->next_of_node;
	if (at) {
		*at = q->next_of_node;
		q->node->asks--;
	}
	q->answer(q->arg, q->name, reply, why);
	ask_free(q);
}

/* An answer may ask again: what ends now is on a list of its own first. */
static void finish_all(struct ask *list, const struct clf_error *why)
{
	for (struct ask *q = list; q; q = list) {
		list = q->next;
		finish(q, NULL, q->why.code ? &q->why : why);
	}
}

void clf_asks_due(struct clf_agents *a, int64_t now_ms)
{
	struct clf_error why = { 0 };
	struct ask *due = NULL;

	clf_fail(&why, CLF_E_TIMEOUT, "no answer from the node daemon in time");
	a->armed_ms = 0;
	for (struct ask *q = a->asks, *next; q; q = next) {
		next = q->next;
		if (q->deadline_ms > now_ms) {
			arm(a, q->deadline_ms);
			continue;
		}
		unlink_ask(q);
		link_ask(&due, q);
	}
	finish_all(due, &why);
}

void clf_asks_lost(struct node *n, const struct clf_error *why)
{
	struct ask *lost = NULL;

	for (struct ask *q = n->first; q; q = q->next_of_node)
		if (q->link) {
			unlink_ask(q);
			link_ask(&lost, q);
		}
	finish_all(lost, why);
}

void clf_asks_close(struct clf_agents *a, const struct clf_error *why)
{
	finish_all(CLF_STEAL(a->asks), why);
}

int clf_asks_reply(struct clf_agents *a, struct peer *p, uint64_t re, const json_t *reply, struct clf_error *err)
{
	struct clf_error why = { 0 };
	struct node *n = clf_agents_node(a, p->node);
	struct ask *q = n ? n->first : NULL;

	while (q && (q->link != p->link.id || q->seq != re))
		q = q->next_of_node;
	if (!q)
		return 0; /* timed out before */

	json_t *facts = q->report ? json_object_get(reply, "facts") : NULL;
	int rc = 0;

	unlink_ask(q);
	if (clf_reply_check(reply, &why))
		;
	else if (q->report && !facts)
		clf_fail(&why, CLF_E_PARSE, "answer without a report");
	else if (facts && (rc = clf_agents_store(a, q->node, facts, &why)))
		clf_fail(err, why.code, "%s", why.text);
	finish(q, why.code ? NULL : reply, why.code ? &why : NULL);
	return rc;
}

/* Send it, or say in `why` what is against that. */
static void post(struct clf_agents *a, struct ask *q, json_t *question)
{
	json_auto_t *m = json_pack("{s:s,s:O}", "op", "ask", "ask", question);

	if (!q->node || !q->node->peer)
		clf_fail(&q->why, CLF_E_NOTFOUND,
			 "node '%.64s' is not connected: is closfoldd --role node running there?", q->name);
	else if (!m)
		clf_fail(&q->why, CLF_E_NOMEM, "out of memory");
	else if (!clf_link_send(&q->node->peer->link, m, &q->seq, &q->why))
		q->link = q->node->peer->link.id;
	if (q->why.code)
		q->deadline_ms = clf_agents_now();
}

static struct ask *ask_make(const char *name, int ms, clf_agents_answer_f *answer, void *arg, struct clf_error *err)
{
	struct ask *q = calloc(1, sizeof *q);

	if (!q || !(q->name = strdup(name))) {
		free(q);
		clf_fail(err, CLF_E_NOMEM, "out of memory");
		return NULL;
	}
	q->deadline_ms = clf_agents_now() + (ms > 0 ? ms : 0);
	q->answer = answer;
	q->arg = arg;
	return q;
}

int clf_agents_ask(struct clf_agents *a, const char *node, json_t *question, int timeout_ms,
		   clf_agents_answer_f *answer, void *arg, struct clf_error *err)
{
	json_auto_t *stolen = question;
	struct node *n = clf_agents_node(a, node);
	const char *op = json_string_value(json_object_get(question, "op"));
	struct ask *q;

	if (!op)
		return clf_fail(err, CLF_E_NOMEM, "out of memory, or a question without op");
	if (a->closing)
		return clf_fail(err, CLF_E_REMOTE, "closfoldd is ending");
	if (n && n->asks >= CLF_ASKS_A_NODE)
		return clf_fail(err, CLF_E_EXHAUSTED, "%u questions wait for node '%.64s' already", n->asks, node);
	q = ask_make(node, timeout_ms, answer, arg, err);
	if (!q)
		return -1;
	q->node = n;
	q->report = !strcmp(op, "report");
	post(a, q, stolen);
	if (n) {
		n->asks++;
		q->next_of_node = n->first;
		n->first = q;
	}
	link_ask(&a->asks, q);
	arm(a, q->deadline_ms);
	return 0;
}

int clf_agents_after(struct clf_agents *a, int ms, clf_agents_answer_f *fn, void *arg, struct clf_error *err)
{
	struct ask *q;

	if (a->closing)
		return clf_fail(err, CLF_E_REMOTE, "closfoldd is ending");
	q = ask_make("", ms, fn, arg, err);
	if (!q)
		return -1;
	link_ask(&a->asks, q);
	arm(a, q->deadline_ms);
	return 0;
}
