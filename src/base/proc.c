/* SPDX-License-Identifier: GPL-2.0-or-later */
/* proc.c - see proc.h. */
#include "base/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t) t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* Between fork and exec only async-signal-safe calls: the parent may have threads. */
void clf_proc_child(const char *const argv[], const char *const env[], int in, int out, int errout)
{
	static const char *const none[] = { NULL };
	sigset_t all;

	setpgid(0, 0);
	for (int s = 1; s < 32; s++)
		signal(s, SIG_DFL);
	sigemptyset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	if (dup2(in, 0) < 0 || dup2(out, 1) < 0 || dup2(errout, 2) < 0)
		_exit(127);
	if (syscall(SYS_close_range, 3, ~0U, 0))
		for (int fd = 3; fd < 1024; fd++)
			close(fd);
	execve(argv[0], (char *const *) argv, (char *const *) (env ? env : none));
	_exit(127);
}

/* Wait for the end of the child until the deadline; true with *status when it ended. */
static bool reap(pid_t pid, int64_t deadline, int *status)
{
	for (;;) {
		pid_t r = waitpid(pid, status, WNOHANG);
		struct timespec pause = { .tv_nsec = 1000000 };

		if (r == pid || (r < 0 && errno != EINTR))
			return true;
		if (now_ms() >= deadline)
			return false;
		nanosleep(&pause, NULL);
	}
}

static int drain(int fd, struct clf_buf *buf, bool *open, struct clf_error *err)
{
	char chunk[4096];
	ssize_t n = read(fd, chunk, sizeof(chunk));

	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return 0;
	if (n <= 0) {
		*open = false;
		return n < 0 ? clf_fail(err, CLF_E_IO, "cannot read from the program: %s", strerror(errno)) : 0;
	}
	return buf ? clf_buf_add(buf, chunk, (size_t) n, err) : 0;
}

static int collect(const char *name, int fd_out, int fd_err, int64_t deadline, struct clf_buf *out,
		   struct clf_buf *errout, struct clf_error *err)
{
	bool open_out = true, open_err = true;

	while (open_out || open_err) {
		struct pollfd p[2] = { { .fd = open_out ? fd_out : -1, .events = POLLIN },
				       { .fd = open_err ? fd_err : -1, .events = POLLIN } };
		int64_t left = deadline - now_ms();

		if (left <= 0)
			return clf_fail(err, CLF_E_TIMEOUT, "'%s' did not end in time and was killed", name);
		if (poll(p, 2, (int) left) < 0 && errno != EINTR)
			return clf_fail(err, CLF_E_IO, "poll: %s", strerror(errno));
		if ((p[0].revents && drain(fd_out, out, &open_out, err)) ||
		    (p[1].revents && drain(fd_err, errout, &open_err, err)))
			return -1;
	}
	return 0;
}

int clf_proc_run(const char *const argv[], const char *const env[], int timeout_ms, struct clf_buf *out,
		 struct clf_buf *errout, struct clf_proc_result *res, struct clf_error *err)
{
	int64_t deadline = now_ms() + timeout_ms;
	int o[2] = { -1, -1 }, e[2] = { -1, -1 }, status = 0, rc;
	pid_t pid;

	if (argv[0][0] != '/')
		return clf_fail(err, CLF_E_INVALID, "'%s' is not an absolute path", argv[0]);
	if (access(argv[0], X_OK))
		return clf_fail(err, CLF_E_IO, "cannot run '%s': %s", argv[0], strerror(errno));

	CLF_AUTO_CLOSE int null = open("/dev/null", O_RDONLY | O_CLOEXEC);

	if (null < 0 || pipe2(o, O_CLOEXEC))
		return clf_fail(err, CLF_E_IO, "cannot run '%s': %s", argv[0], strerror(errno));

	CLF_AUTO_CLOSE int out_r = o[0];
	CLF_AUTO_CLOSE int out_w = o[1];

	if (pipe2(e, O_CLOEXEC))
		return clf_fail(err, CLF_E_IO, "cannot run '%s': %s", argv[0], strerror(errno));

	CLF_AUTO_CLOSE int err_r = e[0];
	CLF_AUTO_CLOSE int err_w = e[1];

	pid = fork();
	if (pid < 0)
		return clf_fail(err, CLF_E_IO, "cannot run '%s': %s", argv[0], strerror(errno));
	if (!pid)
		clf_proc_child(argv, env, null, out_w, err_w);
	setpgid(pid, pid);
	close(out_w);
	close(err_w);
	out_w = err_w = -1;
	rc = collect(argv[0], out_r, err_r, deadline, out, errout, err);
	if (!rc && !reap(pid, deadline, &status))
		rc = clf_fail(err, CLF_E_TIMEOUT, "'%s' did not end in time and was killed", argv[0]);
	if (rc) {
		kill(-pid, SIGKILL);
		kill(pid, SIGKILL);
		while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
			;
		return -1;
	}
	res->status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	return 0;
}
