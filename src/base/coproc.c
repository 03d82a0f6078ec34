/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/coproc.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/proc.h"

#define PAUSE_MS     100
#define PAUSE_MAX_MS 10000
#define GRACE_MS     200

int64_t clf_coproc_now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t) t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* One socket for both ways: send() with MSG_NOSIGNAL cannot kill the caller as a write to a dead pipe would. */
static int spawn(struct clf_coproc *c, const char *const argv[], const char *const env[], struct clf_error *err)
{
	int io[2], e[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, io))
		return clf_fail(err, CLF_E_IO, "cannot run '%s': %s", argv[0], strerror(errno));

	CLF_AUTO_CLOSE int ours = io[0];
	CLF_AUTO_CLOSE int theirs = io[1];

	if (pipe2(e, O_CLOEXEC))
		return clf_fail(err, CLF_E_IO, "cannot run '%s': %s", argv[0], strerror(errno));

	CLF_AUTO_CLOSE int err_r = e[0];
	CLF_AUTO_CLOSE int err_w = e[1];
	pid_t pid = fork();

	if (pid < 0)
		return clf_fail(err, CLF_E_IO, "cannot run '%s': %s", argv[0], strerror(errno));
	if (!pid)
		clf_proc_child(argv, env, theirs, theirs, err_w);
	setpgid(pid, pid);
	fcntl(ours, F_SETFL, O_NONBLOCK);
	fcntl(err_r, F_SETFL, O_NONBLOCK);
	c->pid = pid;
	c->fd = ours;
	c->fd_err = err_r;
	ours = err_r = -1;
	return 0;
}

int clf_coproc_start(struct clf_coproc *c, const char *const argv[], const char *const env[], struct clf_error *err)
{
	int64_t now = clf_coproc_now_ms();

	if (argv[0][0] != '/')
		return clf_fail(err, CLF_E_INVALID, "'%s' is not an absolute path", argv[0]);
	if (now < c->not_before_ms)
		return clf_fail(err, CLF_E_REMOTE, "'%s' failed %u times and is tried again in %lld ms%s%s", argv[0],
				c->failures, (long long) (c->not_before_ms - now), *c->last ? "; it said: " : "",
				c->last);
	if (access(argv[0], X_OK))
		return clf_fail(err, CLF_E_IO, "cannot run '%s': %s", argv[0], strerror(errno));
	clf_buf_reset(&c->in);
	c->used = 0;
	*c->last = '\0';
	return spawn(c, argv, env, err);
}

/* Keep the end of what it complains of; a full pipe would stop it. */
static void drain_errors(struct clf_coproc *c)
{
	char chunk[512];
	ssize_t n;

	while (c->fd_err >= 0 && (n = read(c->fd_err, chunk, sizeof chunk)) > 0) {
		size_t keep = (size_t) n < sizeof c->last ? (size_t) n : sizeof c->last - 1;

		memcpy(c->last, chunk + n - keep, keep);
		c->last[keep] = '\0';
		while (keep && strchr("\r\n ", c->last[keep - 1]))
			c->last[--keep] = '\0';
		clf_printable(c->last);
	}
}

static int gone(struct clf_coproc *c, struct clf_error *err)
{
	drain_errors(c);
	return clf_fail(err, CLF_E_REMOTE, "the program ended%s%s", *c->last ? "; it said: " : "", c->last);
}

/* Until the socket is ready for `events`. */
static int wait_for(struct clf_coproc *c, short events, int64_t deadline_ms, struct clf_error *err)
{
	for (;;) {
		struct pollfd p[2] = { { .fd = c->fd, .events = events }, { .fd = c->fd_err, .events = POLLIN } };
		int64_t left = deadline_ms - clf_coproc_now_ms();

		if (left <= 0)
			return clf_fail(err, CLF_E_TIMEOUT, "the program did not answer in time");
		if (poll(p, 2, left > 60000 ? 60000 : (int) left) < 0 && errno != EINTR)
			return clf_fail(err, CLF_E_IO, "poll: %s", strerror(errno));
		if (p[1].revents & POLLIN)
			drain_errors(c);
		else if (p[1].revents)
			clf_closep(&c->fd_err), c->fd_err = -1;
		if (p[0].revents)
			return 0;
	}
}

int clf_coproc_send(struct clf_coproc *c, const void *data, size_t len, int64_t deadline_ms, struct clf_error *err)
{
	const char *p = data;

	if (c->fd < 0)
		return gone(c, err);
	while (len) {
		ssize_t n = send(c->fd, p, len, MSG_NOSIGNAL);

		if (n < 0 && errno != EAGAIN && errno != EINTR)
			return gone(c, err);
		if (n < 0 && errno == EAGAIN && wait_for(c, POLLOUT, deadline_ms, err))
			return -1;
		if (n > 0) {
			p += n;
			len -= (size_t) n;
		}
	}
	return 0;
}

void clf_coproc_end_input(struct clf_coproc *c)
{
	if (c->fd >= 0)
		shutdown(c->fd, SHUT_WR);
}

/* More bytes behind those that are there. *end: it has no more to say. */
static int fill(struct clf_coproc *c, int64_t deadline_ms, bool *end, struct clf_error *err)
{
	char chunk[65536];
	ssize_t n = recv(c->fd, chunk, sizeof chunk, 0);

	*end = !n;
	if (n > 0)
		return clf_buf_add(&c->in, chunk, (size_t) n, err);
	if (n < 0 && errno == EAGAIN)
		return wait_for(c, POLLIN, deadline_ms, err);
	return n < 0 && errno != EINTR ? gone(c, err) : 0;
}

int clf_coproc_line(struct clf_coproc *c, char **line, int64_t deadline_ms, struct clf_error *err)
{
	size_t seen = c->used;
	bool end = false;

	if (c->fd < 0)
		return gone(c, err);
	for (;;) {
		char *nl = c->in.len > seen ? memchr(c->in.data + seen, '\n', c->in.len - seen) : NULL;

		if (nl) {
			*nl = '\0';
			*line = c->in.data + c->used;
			c->used = (size_t) (nl + 1 - c->in.data);
			return 0;
		}
		if (end)
			return gone(c, err);
		if (c->used) { /* room is given back only here: lines given out before are no longer valid */
			memmove(c->in.data, c->in.data + c->used, c->in.len - c->used + 1);
			c->in.len -= c->used;
			c->used = 0;
		}
		seen = c->in.len;
		if (fill(c, deadline_ms, &end, err))
			return -1;
	}
}

static bool reap(struct clf_coproc *c, int64_t deadline_ms, int *status)
{
	for (;;) {
		struct timespec pause = { .tv_nsec = 1000000 };
		pid_t r = waitpid(c->pid, status, WNOHANG);

		if (r == c->pid || (r < 0 && errno != EINTR))
			return true;
		if (clf_coproc_now_ms() >= deadline_ms)
			return false;
		nanosleep(&pause, NULL);
	}
}

static void forget(struct clf_coproc *c)
{
	clf_closep(&c->fd);
	clf_closep(&c->fd_err);
	c->fd = c->fd_err = -1;
	c->pid = 0;
	clf_buf_done(&c->in);
	c->used = 0;
}

int clf_coproc_wait(struct clf_coproc *c, int64_t deadline_ms, int *status, struct clf_error *err)
{
	int st = 0;

	if (!c->pid)
		return gone(c, err);
	if (!reap(c, deadline_ms, &st))
		return clf_fail(err, CLF_E_TIMEOUT, "the program did not end in time");
	drain_errors(c);
	forget(c);
	*status = WIFEXITED(st) ? WEXITSTATUS(st) : 128 + WTERMSIG(st);
	return 0;
}

void clf_coproc_stop(struct clf_coproc *c)
{
	int status;

	if (c->pid) {
		clf_closep(&c->fd);
		c->fd = -1;
		if (!reap(c, clf_coproc_now_ms() + GRACE_MS, &status)) {
			kill(-c->pid, SIGKILL);
			kill(c->pid, SIGKILL);
			while (waitpid(c->pid, &status, 0) < 0 && errno == EINTR)
				;
		}
	}
	drain_errors(c);
	forget(c);
}

void clf_coproc_failed(struct clf_coproc *c)
{
	unsigned shift = c->failures < 7 ? c->failures : 7;
	int64_t pause = (int64_t) PAUSE_MS << shift;

	clf_coproc_stop(c);
	c->failures++;
	c->not_before_ms = clf_coproc_now_ms() + (pause < PAUSE_MAX_MS ? pause : PAUSE_MAX_MS);
}

void clf_coproc_worked(struct clf_coproc *c)
{
	c->failures = 0;
	c->not_before_ms = 0;
}
