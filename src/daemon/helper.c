/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/helper.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>

#include "base/clock.h"

struct list {
	struct clf_job *first, **end;
};

struct clf_helper {
	pthread_mutex_t lock;
	pthread_cond_t work;
	struct list todo, done;
	size_t waiting, max;
	int event;
	bool stop;
};

static void list_init(struct list *l)
{
	*l = (struct list){ NULL, &l->first };
}

static void list_add(struct list *l, struct clf_job *job)
{
	job->next = NULL;
	*l->end = job;
	l->end = &job->next;
}

static struct clf_job *list_take(struct list *l)
{
	struct clf_job *job = l->first;

	if (job && !(l->first = job->next))
		l->end = &l->first;
	return job;
}

static void list_free(struct list *l)
{
	struct clf_job *job;

	while ((job = list_take(l)))
		job->free_job(job);
}

static void destroy(struct clf_helper *h)
{
	list_free(&h->todo);
	list_free(&h->done);
	clf_closep(&h->event);
	pthread_mutex_destroy(&h->lock);
	pthread_cond_destroy(&h->work);
	free(h);
}

static void run(struct clf_job *job)
{
	int64_t now_ms = clf_clock_system.boot_us(NULL) / 1000;

	job->late = job->deadline_ms && now_ms > job->deadline_ms;
	if (!job->late)
		job->run(job);
}

static void *thread(void *arg)
{
	struct clf_helper *h = arg;
	const uint64_t one = 1;

	pthread_mutex_lock(&h->lock);
	while (!h->stop) {
		struct clf_job *job = list_take(&h->todo);

		if (!job) {
			pthread_cond_wait(&h->work, &h->lock);
			continue;
		}
		pthread_mutex_unlock(&h->lock);
		run(job);
		pthread_mutex_lock(&h->lock);
		list_add(&h->done, job);
		h->waiting--;
		/* A counter that is full wakes just as well. */
		(void) !write(h->event, &one, sizeof one);
	}
	pthread_mutex_unlock(&h->lock);
	destroy(h);
	return NULL;
}

static int start(struct clf_helper *h, struct clf_error *err)
{
	pthread_attr_t a;
	sigset_t all, old;
	pthread_t t;
	int rc;

	if (pthread_attr_init(&a))
		return clf_fail(err, CLF_E_NOMEM, "out of memory");
	pthread_attr_setdetachstate(&a, PTHREAD_CREATE_DETACHED);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	rc = pthread_create(&t, &a, thread, h);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	pthread_attr_destroy(&a);
	return rc ? clf_fail(err, CLF_E_IO, "cannot start a thread: %s", strerror(rc)) : 0;
}

int clf_helper_open(struct clf_helper **out, size_t max_jobs, struct clf_error *err)
{
	struct clf_helper *h = calloc(1, sizeof *h);

	if (!h)
		return clf_fail(err, CLF_E_NOMEM, "out of memory");
	h->max = max_jobs;
	list_init(&h->todo);
	list_init(&h->done);
	pthread_mutex_init(&h->lock, NULL);
	pthread_cond_init(&h->work, NULL);
	h->event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (h->event < 0 || start(h, err)) {
		destroy(h);
		return clf_fail(err, CLF_E_IO, "cannot make an eventfd");
	}
	*out = h;
	return 0;
}

void clf_helper_close(struct clf_helper *h)
{
	if (!h)
		return;
	/* From here on h is the thread's. */
	pthread_mutex_lock(&h->lock);
	h->stop = true;
	pthread_cond_signal(&h->work);
	pthread_mutex_unlock(&h->lock);
}

int clf_helper_put(struct clf_helper *h, struct clf_job *job, struct clf_error *err)
{
	bool full;

	pthread_mutex_lock(&h->lock);
	full = h->waiting >= h->max;
	if (!full) {
		list_add(&h->todo, job);
		h->waiting++;
		pthread_cond_signal(&h->work);
	}
	pthread_mutex_unlock(&h->lock);
	if (!full)
		return 0;
	job->free_job(job);
	return clf_fail(err, CLF_E_EXHAUSTED, "%zu jobs wait for a helper already", h->max);
}

int clf_helper_fd(const struct clf_helper *h)
{
	return h->event;
}

struct clf_job *clf_helper_take(struct clf_helper *h)
{
	struct clf_job *job;
	uint64_t n;

	pthread_mutex_lock(&h->lock);
	job = list_take(&h->done);
	if (!job)
		(void) !read(h->event, &n, sizeof n);
	pthread_mutex_unlock(&h->lock);
	return job;
}

size_t clf_helper_waiting(struct clf_helper *h)
{
	size_t n;

	pthread_mutex_lock(&h->lock);
	n = h->waiting;
	pthread_mutex_unlock(&h->lock);
	return n;
}
