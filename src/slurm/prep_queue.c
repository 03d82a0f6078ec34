/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "slurm/prep_queue.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "slurm/prep_io.h"

#define RETRY_MS       2000
#define CONNECT_MS     200 /* closfoldd away: try again so often until the deadline */
#define LOCAL_FAILURES 1024

enum item_state { QUEUED, SENT, DONE };

struct item {
	struct item *next;
	bool is_end, dead, answered, detached;
	enum item_state state;
	uint32_t job_id;
	int64_t submit_time_s;
	json_t *ask;
	char *refuse;
	uint64_t seq;
	int64_t deadline_ms; /* of the answer to slurmctld */
	int64_t retry_ms;    /* when to send (again) */
	char last_error[sizeof(((struct clf_error *) 0)->text)];
};

struct failures {
	uint32_t job_id, n;
	int64_t submit_time_s;
};

struct clf_prep_queue {
	pthread_mutex_t mu; /* items, length */
	struct item *items;
	struct item **tail;
	uint32_t length;
	uint32_t start_timeout_ms, start_failures;
	struct failures local[LOCAL_FAILURES]; /* while closfoldd cannot count: oldest overwritten */
	uint32_t next_local;
};

struct clf_prep_queue *clf_prep_queue_create(uint32_t start_timeout_ms, uint32_t start_failures, struct clf_error *err)
{
	struct clf_prep_queue *q = calloc(1, sizeof(*q));

	if (!q) {
		clf_fail(err, CLF_E_NOMEM, "no memory for the start queue");
		return NULL;
	}
	pthread_mutex_init(&q->mu, NULL);
	q->tail = &q->items;
	q->start_timeout_ms = start_timeout_ms;
	q->start_failures = start_failures;
	return q;
}

static void item_free(struct item *it)
{
	json_decref(it->ask);
	free(it->refuse);
	free(it);
}

void clf_prep_queue_destroy(struct clf_prep_queue *q)
{
	if (!q)
		return;
	for (struct item *it = q->items, *next; it; it = next) {
		next = it->next;
		item_free(it);
	}
	pthread_mutex_destroy(&q->mu);
	free(q);
}

uint32_t clf_prep_queue_length(struct clf_prep_queue *q)
{
	uint32_t n;

	pthread_mutex_lock(&q->mu);
	n = q->length;
	pthread_mutex_unlock(&q->mu);
	return n;
}

static int add(struct clf_prep_queue *q, const struct clf_prep_job *job, bool is_end)
{
	struct item *it = calloc(1, sizeof(*it));
	char *refuse = job->refuse ? strdup(job->refuse) : NULL;
	int rc = -1;

	if (!it || (job->refuse && !refuse) || (!job->refuse && !job->ask)) {
		free(it);
		free(refuse);
		json_decref(job->ask);
		return -1;
	}
	it->is_end = is_end;
	it->detached = job->detached;
	it->job_id = job->job_id;
	it->submit_time_s = job->submit_time_s;
	it->ask = job->ask;
	it->refuse = refuse;
	it->retry_ms = clf_prep_now_ms();
	it->deadline_ms = it->retry_ms + q->start_timeout_ms;
	pthread_mutex_lock(&q->mu);
	if (q->length < CLF_PREP_QUEUE_MAX) {
		if (is_end)
			for (struct item *o = q->items; o; o = o->next)
				if (!o->is_end && o->job_id == it->job_id)
					o->dead = true;
		*q->tail = it;
		q->tail = &it->next;
		q->length++;
		rc = 0;
	}
	pthread_mutex_unlock(&q->mu);
	if (rc)
		item_free(it);
	return rc;
}

int clf_prep_queue_start(struct clf_prep_queue *q, const struct clf_prep_job *job)
{
	return add(q, job, false);
}

int clf_prep_queue_end(struct clf_prep_queue *q, const struct clf_prep_job *job)
{
	return add(q, job, true);
}

/* Failed starts of a job: closfoldd's count when it gave one, else the one kept here; the larger wins. */
static uint32_t count_failure(struct clf_prep_queue *q, const struct item *it, uint32_t told)
{
	struct failures *f = NULL;

	for (uint32_t i = 0; i < LOCAL_FAILURES && !f; i++)
		if (q->local[i].n && q->local[i].job_id == it->job_id && q->local[i].submit_time_s == it->submit_time_s)
			f = &q->local[i];
	if (!f) {
		f = &q->local[q->next_local++ % LOCAL_FAILURES];
		*f = (struct failures){ it->job_id, 0, it->submit_time_s };
	}
	f->n++;
	if (told > f->n)
		f->n = told;
	return f->n;
}

static void forget_failures(struct clf_prep_queue *q, const struct item *it)
{
	for (uint32_t i = 0; i < LOCAL_FAILURES; i++)
		if (q->local[i].n && q->local[i].job_id == it->job_id && q->local[i].submit_time_s == it->submit_time_s)
			q->local[i].n = 0;
}

/* The only places that answer: each item once. */
static void answer_start(struct clf_prep_queue *q, struct item *it, bool ok, const char *lease, const char *token,
			 const char *reason, uint32_t told)
{
	bool dead;

	if (it->answered)
		return;
	it->answered = true;
	pthread_mutex_lock(&q->mu);
	dead = it->dead;
	pthread_mutex_unlock(&q->mu);
	if (dead) { /* its end has been called: "go" starts nothing, "fail" would put a cancelled job back into the
		       queue */
		clf_prep_answer_start(it->job_id, true);
	} else if (ok) {
		forget_failures(q, it);
		clf_prep_stamp(it->job_id, lease, token);
		clf_prep_answer_start(it->job_id, true);
	} else {
		bool hold = count_failure(q, it, told) >= q->start_failures;

		if (hold) /* an operator's release starts a new count */
			forget_failures(q, it);
		clf_prep_note(it->job_id, reason, hold);
		clf_prep_answer_start(it->job_id, false);
	}
}

static void answer_end(struct item *it)
{
	if (!it->answered && !it->detached)
		clf_prep_answer_end(it->job_id);
	it->answered = true;
}

/* A start that was answered "fail" although closfoldd may have granted it later: its lease must not stay. */
static void close_behind(struct clf_prep_queue *q, const struct item *it)
{
	struct clf_prep_job job = { it->job_id, it->submit_time_s,
				    json_pack("{s:s, s:I, s:I, s:s}", "op", "lease.close", "job_id",
					      (json_int_t) it->job_id, "submit_time", (json_int_t) it->submit_time_s,
					      "reason", "start failed"),
				    NULL, true };

	(void) add(q, &job, true); /* a full queue: reconcile finds the lease */
}

static void take_reply(struct clf_prep_queue *q, struct item *it, const json_t *reply)
{
	struct clf_error err = { 0 };
	const char *lease = json_string_value(json_object_get(reply, "lease"));
	const char *token = json_string_value(json_object_get(reply, "token"));
	json_int_t failures = json_integer_value(json_object_get(reply, "failures"));
	char text[600];

	if (it->is_end) {
		answer_end(it);
		it->state = DONE;
		return;
	}
	if (clf_reply_check(reply, &err)) {
		answer_start(q, it, false, NULL, NULL, clf_error_string(&err, text, sizeof(text)),
			     failures > 0 ? (uint32_t) failures : 0);
	} else if (!lease || !*lease || !token || !*token) {
		answer_start(q, it, false, NULL, NULL, "closfoldd gave no signed lease", 0);
		close_behind(q, it);
	} else {
		bool late = it->answered, dead;

		pthread_mutex_lock(&q->mu);
		dead = it->dead;
		pthread_mutex_unlock(&q->mu);
		answer_start(q, it, true, lease, token, NULL, 0);
		if (late && !dead) /* a dead one has its end in the queue */
			close_behind(q, it);
	}
	it->state = DONE;
}

/* Items are only appended by others, under the mutex; only this thread removes. */
static struct item *first(struct clf_prep_queue *q)
{
	struct item *it;

	pthread_mutex_lock(&q->mu);
	it = q->items;
	pthread_mutex_unlock(&q->mu);
	return it;
}

static struct item *following(struct clf_prep_queue *q, struct item *it)
{
	struct item *n;

	pthread_mutex_lock(&q->mu);
	n = it->next;
	pthread_mutex_unlock(&q->mu);
	return n;
}

/* The connection is gone: what was sent may have happened. Starts are asked again (the same question gets the same
 * lease), but not those that were answered: their close is in the queue. */
static void lost(struct clf_prep_queue *q, const char *why)
{
	for (struct item *it = first(q); it; it = following(q, it)) {
		if (it->state != SENT)
			continue;
		it->state = it->answered && !it->is_end ? DONE : QUEUED;
		it->retry_ms = clf_prep_now_ms() + (it->answered ? RETRY_MS : CONNECT_MS);
		snprintf(it->last_error, sizeof(it->last_error), "%s", why);
	}
}

static struct item *by_seq(struct clf_prep_queue *q, uint64_t seq)
{
	for (struct item *it = first(q); it; it = following(q, it))
		if (it->state == SENT && it->seq == seq)
			return it;
	return NULL;
}

static void receive_all(struct clf_prep_queue *q, struct clf_client *c)
{
	for (;;) {
		struct clf_error err = { 0 };
		json_auto_t *reply = NULL;
		uint64_t seq;
		struct item *it;
		int rc;

		if (clf_client_fd(c) < 0)
			return;
		rc = clf_client_receive(c, &seq, &reply, &err);
		if (rc < 0) {
			lost(q, err.text);
			return;
		}
		if (rc == 0)
			return;
		it = by_seq(q, seq);
		if (it)
			take_reply(q, it, reply);
	}
}

static void send_due(struct clf_prep_queue *q, struct clf_client *c, struct item *it, int64_t now)
{
	struct clf_error err = { 0 };
	bool dead;

	pthread_mutex_lock(&q->mu);
	dead = it->dead;
	pthread_mutex_unlock(&q->mu);
	if (dead && !it->is_end) { /* never asked: nothing to close */
		answer_start(q, it, false, NULL, NULL, "cancelled", 0);
		it->state = DONE;
		return;
	}
	if (it->refuse) {
		answer_start(q, it, false, NULL, NULL, it->refuse, 0);
		it->state = DONE;
		return;
	}
	if (!clf_client_send(c, it->ask, &it->seq, &err)) {
		it->state = SENT;
		return;
	}
	snprintf(it->last_error, sizeof(it->last_error), "%s", err.text);
	it->retry_ms = now + (it->answered ? RETRY_MS : CONNECT_MS);
}

static void expire(struct clf_prep_queue *q, struct item *it)
{
	char text[500];

	if (it->is_end) {
		answer_end(it); /* stays queued until closfoldd has confirmed */
		return;
	}
	snprintf(text, sizeof(text), "no lease within %u ms: %s", q->start_timeout_ms,
		 it->last_error[0] ? it->last_error : "closfoldd did not answer");
	answer_start(q, it, false, NULL, NULL, text, 0);
	if (it->state == QUEUED)
		it->state = DONE; /* not asked, or asked on a connection that is gone */
	close_behind(q, it);
}

static void sweep(struct clf_prep_queue *q)
{
	pthread_mutex_lock(&q->mu);
	for (struct item **p = &q->items; *p;) {
		struct item *it = *p;

		if (it->state != DONE) {
			p = &it->next;
			continue;
		}
		*p = it->next;
		if (q->tail == &it->next)
			q->tail = p;
		q->length--;
		item_free(it);
	}
	pthread_mutex_unlock(&q->mu);
}

int clf_prep_queue_step(struct clf_prep_queue *q, struct clf_client *c)
{
	int64_t now = clf_prep_now_ms(), next = INT64_MAX;

	receive_all(q, c);
	for (struct item *it = first(q); it; it = following(q, it)) {
		if (it->state == QUEUED && it->retry_ms <= now)
			send_due(q, c, it, now);
		if (it->state != DONE && !it->answered && it->deadline_ms <= now)
			expire(q, it);
	}
	receive_all(q, c);
	sweep(q);
	for (struct item *it = first(q); it; it = following(q, it)) {
		if (!it->answered && it->deadline_ms < next)
			next = it->deadline_ms;
		if (it->state == QUEUED && it->retry_ms < next)
			next = it->retry_ms;
	}
	if (next == INT64_MAX)
		return -1;
	return next <= now ? 1 : (int) (next - now);
}
