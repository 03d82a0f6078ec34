/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The thread beside a loop: order, bounds, jobs that waited too long, and an end while one runs. */
#include "daemon/helper.h"

#include <poll.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "tap.h"

struct job {
	struct clf_job job;
	int number;
	sem_t *gate; /* waited for while running */
};
static atomic_int freed;

static void run(struct clf_job *j)
{
	struct job *me = (struct job *) j;

	if (me->gate)
		sem_wait(me->gate);
}

static void free_job(struct clf_job *j)
{
	freed++;
	free(j);
}

static struct clf_job *make(int number, sem_t *gate, int64_t deadline_ms)
{
	struct job *j = calloc(1, sizeof *j);

	if (!j)
		abort();
	j->job = (struct clf_job){ .run = run, .free_job = free_job, .deadline_ms = deadline_ms };
	j->number = number;
	j->gate = gate;
	return &j->job;
}

static struct job *take(struct clf_helper *h)
{
	struct pollfd p = { .fd = clf_helper_fd(h), .events = POLLIN };
	struct clf_job *j;

	while (!(j = clf_helper_take(h)))
		if (poll(&p, 1, 5000) != 1)
			return NULL;
	return (struct job *) j;
}

static void test_order(void)
{
	struct clf_helper *h = NULL;
	struct clf_error err = { 0 };
	bool in_order = true;

	if (!ok(!clf_helper_open(&h, 100, &err), "a helper: %s", err.text))
		return;
	for (int i = 0; i < 50; i++)
		if (clf_helper_put(h, make(i, NULL, 0), &err))
			abort();
	for (int i = 0; i < 50; i++) {
		struct job *j = take(h);

		in_order &= j && j->number == i && !j->job.late;
		if (j)
			free_job(&j->job);
	}
	ok(in_order, "jobs come back in order");
	ok(!clf_helper_take(h), "and then none");
	is_int((long long) clf_helper_waiting(h), 0, "none waits");
	clf_helper_close(h);
}

static void test_bounds(void)
{
	struct clf_helper *h = NULL;
	struct clf_error err = { 0 };
	int64_t now_ms = clf_clock_system.boot_us(NULL) / 1000;
	sem_t gate;
	int before = freed;
	struct job *j;
	const struct timespec pause = { .tv_nsec = 60000000 };

	sem_init(&gate, 0, 0);
	if (clf_helper_open(&h, 3, NULL) || clf_helper_put(h, make(0, &gate, 0), NULL) ||
	    clf_helper_put(h, make(1, NULL, now_ms + 20), NULL) ||
	    clf_helper_put(h, make(2, NULL, now_ms + 60000), NULL))
		abort();
	ok(clf_helper_put(h, make(3, NULL, 0), &err) && err.code == CLF_E_EXHAUSTED, "a fourth is one too many: %s",
	   err.text);
	is_int(freed - before, 1, "and was freed");
	nanosleep(&pause, NULL);
	sem_post(&gate);
	j = take(h);
	ok(j && j->number == 0 && !j->job.late, "the one that was held");
	free_job(&j->job);
	j = take(h);
	ok(j && j->number == 1 && j->job.late, "one whose time was over is not run");
	free_job(&j->job);
	j = take(h);
	ok(j && j->number == 2 && !j->job.late, "the next one is");
	free_job(&j->job);
	clf_helper_close(h);
	sem_destroy(&gate);
}

static void test_close(void)
{
	struct clf_helper *h = NULL;
	static sem_t gate;
	int before = freed;
	int64_t began = clf_clock_system.boot_us(NULL);
	const struct timespec pause = { .tv_nsec = 10000000 };

	sem_init(&gate, 0, 0);
	if (clf_helper_open(&h, 9, NULL))
		abort();
	for (int i = 0; i < 5; i++)
		if (clf_helper_put(h, make(i, &gate, 0), NULL))
			abort();
	nanosleep(&pause, NULL);
	clf_helper_close(h);
	ok(clf_clock_system.boot_us(NULL) - began < 1000000, "close does not wait for a job that hangs");
	sem_post(&gate);
	for (int i = 0; i < 500 && freed - before < 5; i++)
		nanosleep(&pause, NULL);
	is_int(freed - before, 5, "all are freed when it comes back");
}

int main(void)
{
	test_order();
	test_bounds();
	test_close();
	return done_testing();
}
