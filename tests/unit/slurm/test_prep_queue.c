/* SPDX-License-Identifier: GPL-2.0-or-later */
/* prep's queue against a closfoldd that answers, refuses, is away, hangs, or answers too late: each start is answered
 * exactly once, and a lease nobody uses is given back. The other side of prep_io.h is this file. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "slurm/prep_io.h"
#include "slurm/prep_queue.h"
#include "tap.h"

struct told {
	int starts_ok, starts_failed, ends, stamps, notes, holds;
	char last[256];
};
static struct told told[64];
static int64_t now = 1000;

int64_t clf_prep_now_ms(void)
{
	return now;
}

void clf_prep_stamp(uint32_t job_id, const char *lease, const char *token)
{
	told[job_id].stamps += token && *token;
	snprintf(told[job_id].last, sizeof(told[job_id].last), "%s", lease);
}

void clf_prep_note(uint32_t job_id, const char *reason, bool hold)
{
	told[job_id].notes++;
	told[job_id].holds += hold;
	snprintf(told[job_id].last, sizeof(told[job_id].last), "%s", reason);
}

void clf_prep_answer_start(uint32_t job_id, bool ok)
{
	if (ok)
		told[job_id].starts_ok++;
	else
		told[job_id].starts_failed++;
}

void clf_prep_answer_end(uint32_t job_id)
{
	told[job_id].ends++;
}

/* The wire, played by hand: what was sent, what comes back. */
static struct {
	uint64_t seq;
	char op[32];
	uint32_t job;
} sent[256];
static int nsent;
static bool away;
static struct {
	uint64_t seq;
	json_t *body;
} back[64];
static int nback;
static bool hung_up;

int clf_client_send(struct clf_client *c, json_t *request, uint64_t *seq, struct clf_error *err)
{
	(void) c;
	if (away)
		return clf_fail(err, CLF_E_REMOTE, "nobody there");
	sent[nsent].seq = *seq = (uint64_t) nsent + 1;
	snprintf(sent[nsent].op, sizeof(sent[nsent].op), "%s", json_string_value(json_object_get(request, "op")));
	sent[nsent].job = (uint32_t) json_integer_value(json_object_get(request, "job_id"));
	nsent++;
	return 0;
}

int clf_client_fd(const struct clf_client *c)
{
	(void) c;
	return away ? -1 : 3;
}

int clf_client_receive(struct clf_client *c, uint64_t *seq, json_t **reply, struct clf_error *err)
{
	(void) c;
	if (hung_up) {
		hung_up = false;
		return clf_fail(err, CLF_E_REMOTE, "hung up");
	}
	if (!nback)
		return 0;
	nback--;
	*seq = back[nback].seq;
	*reply = back[nback].body;
	return 1;
}

int clf_reply_check(const json_t *reply, struct clf_error *err)
{
	if (json_is_true(json_object_get(reply, "ok")))
		return 0;
	return clf_fail(err, CLF_E_DENIED, "%s", json_string_value(json_object_get(reply, "text")));
}

static void answer(int i, json_t *body)
{
	back[nback].seq = sent[i].seq;
	back[nback++].body = body;
}

static json_t *granted(void)
{
	return json_pack("{s:b,s:s,s:s}", "ok", 1, "lease", "L1-7", "token", "t");
}

static struct clf_prep_queue *fresh(void)
{
	memset(told, 0, sizeof(told));
	nsent = nback = 0;
	away = hung_up = false;
	now = 1000;
	return clf_prep_queue_create(5000, 2, NULL);
}

static void start(struct clf_prep_queue *q, uint32_t id, const char *refuse)
{
	struct clf_prep_job j = { .job_id = id, .submit_time_s = 1, .refuse = refuse };

	if (!refuse)
		j.ask = json_pack("{s:s,s:i}", "op", "lease.open", "job_id", (int) id);
	if (clf_prep_queue_start(q, &j))
		ok(false, "start of %u is taken", id);
}

static void end(struct clf_prep_queue *q, uint32_t id)
{
	struct clf_prep_job j = { .job_id = id,
				  .submit_time_s = 1,
				  .ask = json_pack("{s:s,s:i}", "op", "lease.close", "job_id", (int) id) };

	if (clf_prep_queue_end(q, &j))
		ok(false, "end of %u is taken", id);
}

static void step(struct clf_prep_queue *q, int64_t after_ms)
{
	now += after_ms;
	clf_prep_queue_step(q, NULL);
}

#define ONCE(id) (told[id].starts_ok + told[id].starts_failed == 1)

static void plain(void)
{
	struct clf_prep_queue *q = fresh();

	start(q, 1, NULL);
	step(q, 1);
	ok(nsent == 1 && !strcmp(sent[0].op, "lease.open") && !ONCE(1), "a start asks, and waits");
	answer(0, granted());
	step(q, 1);
	ok(told[1].starts_ok == 1 && told[1].stamps == 1 && !strcmp(told[1].last, "L1-7"),
	   "granted: stamped, then let go");
	is_int(clf_prep_queue_length(q), 0, "nothing is left");
	end(q, 1);
	step(q, 1);
	ok(nsent == 2 && !strcmp(sent[1].op, "lease.close") && !told[1].ends, "an end asks, and waits");
	answer(1, json_pack("{s:b}", "ok", 1));
	step(q, 1);
	is_int(told[1].ends, 1, "confirmed: answered");
	clf_prep_queue_destroy(q);
}

static void refused(void)
{
	struct clf_prep_queue *q = fresh();

	start(q, 1, "no");
	step(q, 1);
	ok(told[1].starts_failed == 1 && !nsent && told[1].notes == 1 && !told[1].holds,
	   "the plugin's own refusal asks nobody");
	start(q, 1, "no");
	step(q, 1);
	is_int(told[1].holds, 1, "the second failure holds the job");
	start(q, 2, NULL);
	step(q, 1);
	answer(0, json_pack("{s:b,s:s,s:i}", "ok", 0, "text", "grant expired", "failures", 2));
	step(q, 1);
	ok(told[2].starts_failed == 1 && told[2].holds == 1 && !told[2].stamps,
	   "closfoldd's no, and its count, hold the job");
	start(q, 3, NULL);
	step(q, 1);
	answer(1, json_pack("{s:b}", "ok", 1));
	step(q, 1);
	ok(told[3].starts_failed == 1 && !told[3].stamps, "a yes without a lease is a no");
	clf_prep_queue_destroy(q);
}

static void absent(void)
{
	struct clf_prep_queue *q = fresh();

	away = true;
	start(q, 1, NULL);
	for (int i = 0; i < 20; i++)
		step(q, 300);
	ok(told[1].starts_failed == 1 && !told[1].starts_ok && strstr(told[1].last, "nobody there"),
	   "closfoldd away: no after the deadline: %s", told[1].last);
	away = false;
	q = (clf_prep_queue_destroy(q), fresh());
	away = true;
	start(q, 1, NULL);
	step(q, 1);
	step(q, 1000);
	away = false;
	step(q, 300);
	is_int(nsent, 1, "back in time: asked");
	answer(0, granted());
	step(q, 1);
	is_int(told[1].starts_ok, 1, "and started");
	clf_prep_queue_destroy(q);
}

static void late(void)
{
	struct clf_prep_queue *q = fresh();
	bool closed = false;

	start(q, 1, NULL);
	step(q, 1);
	step(q, 6000);
	ok(told[1].starts_failed == 1 && !told[1].starts_ok, "no answer: no");
	answer(0, granted());
	step(q, 1);
	step(q, 1);
	ok(ONCE(1) && !told[1].stamps, "a yes that comes later starts nothing");
	for (int i = 0; i < 5; i++)
		step(q, 3000);
	for (int i = 0; i < nsent; i++)
		closed |= !strcmp(sent[i].op, "lease.close") && sent[i].job == 1;
	ok(closed, "and its lease is given back");
	is_int(told[1].ends, 0, "without an answer that nobody asked for");
	clf_prep_queue_destroy(q);
}

/* The answer never comes, and then the connection goes: whether closfoldd granted is unknown, so it is told to close.
 */
static void lost_late(void)
{
	struct clf_prep_queue *q = fresh();
	bool closed = false;

	start(q, 1, NULL);
	step(q, 1);
	step(q, 6000);
	ok(told[1].starts_failed == 1, "no answer: no");
	hung_up = true;
	for (int i = 0; i < 5; i++)
		step(q, 3000);
	for (int i = 0; i < nsent; i++)
		closed |= !strcmp(sent[i].op, "lease.close") && sent[i].job == 1;
	ok(closed && ONCE(1), "what may have been granted is given back");
	clf_prep_queue_destroy(q);
}

static void cancelled(void)
{
	struct clf_prep_queue *q = fresh();

	start(q, 1, NULL);
	step(q, 1);
	end(q, 1); /* cancelled while closfoldd thinks */
	answer(0, granted());
	step(q, 1);
	ok(told[1].starts_ok == 1 && !told[1].starts_failed && !told[1].notes && ONCE(1),
	   "cancelled during the start: one answer, no failure (it would be queued again)");
	answer(1, json_pack("{s:b}", "ok", 1));
	step(q, 1);
	is_int(told[1].ends, 1, "its end is answered once");
	/* cancelled before it was asked */
	away = true;
	start(q, 2, NULL);
	end(q, 2);
	step(q, 1);
	ok(told[2].starts_ok == 1 && ONCE(2), "cancelled before it was asked: answered at once");
	clf_prep_queue_destroy(q);
}

static void broken(void)
{
	struct clf_prep_queue *q = fresh();

	start(q, 1, NULL);
	step(q, 1);
	hung_up = true;
	step(q, 1);
	ok(!ONCE(1), "a lost connection decides nothing");
	step(q, 300);
	is_int(nsent, 2, "the same question is asked again");
	answer(1, granted());
	step(q, 1);
	ok(ONCE(1) && told[1].stamps == 1, "and answered once");
	clf_prep_queue_destroy(q);
}

/* Random orders of everything: exactly one answer a start and an end, and no stamp without a yes. */
static void random_walk(void)
{
	uint32_t wrong = 0;

	srand(7);
	for (int round = 0; round < 300; round++) {
		struct clf_prep_queue *q = fresh();
		bool started[32] = { false }, ended[32] = { false };

		for (int i = 0; i < 80 && nsent < 200; i++) {
			uint32_t id = (uint32_t) rand() % 20 + 1;

			switch (rand() % 8) {
			case 0:
			case 1:
				if (!started[id])
					start(q, id, rand() % 4 ? NULL : "no");
				started[id] = true;
				break;
			case 2:
				if (started[id] && !ended[id]) {
					end(q, id);
					ended[id] = true;
				}
				break;
			case 3:
				away = !away;
				break;
			case 4:
				hung_up = !away && rand() % 3 == 0;
				break;
			default:
				if (nsent && !away && nback < 60) {
					int k = rand() % nsent;

					answer(k, rand() % 3 || strcmp(sent[k].op, "lease.open")
							  ? granted()
							  : json_pack("{s:b,s:s}", "ok", 0, "text", "no"));
				}
			}
			step(q, rand() % 2 ? 1 : 700);
		}
		away = hung_up = false;
		for (int i = 0; i < 10; i++)
			step(q, 6000);
		for (uint32_t id = 1; id <= 20; id++)
			wrong += (started[id] && !ONCE(id)) ||
				 (!started[id] && told[id].starts_ok + told[id].starts_failed) ||
				 told[id].ends != ended[id] || (told[id].stamps && told[id].starts_failed);
		while (nback)
			json_decref(back[--nback].body);
		clf_prep_queue_destroy(q);
	}
	is_int(wrong, 0, "300 random histories: each start and each end is answered exactly once");
}

int main(void)
{
	plain();
	refused();
	absent();
	late();
	lost_late();
	cancelled();
	broken();
	random_walk();
	return done_testing();
}
