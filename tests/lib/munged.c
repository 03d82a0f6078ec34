/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "munged.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tap.h"

static const char *path_of(const char *name, const char *file)
{
	static char paths[8][512];
	static unsigned next;
	char *p = paths[next++ % 8];

	snprintf(p, sizeof paths[0], "%s/munge-%s/%s", clf_test_dir(), name, file);
	return p;
}

static int make_key(const char *path)
{
	unsigned char key[1024];
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
	int bad = fd < 0 || getrandom(key, 256, 0) != 256 || getrandom(key + 256, 256, 0) != 256 ||
		  write(fd, key, 512) != 512;

	if (fd >= 0)
		close(fd);
	return bad;
}

const char *munged_start(const char *name)
{
	static char sockets[4][512];
	static unsigned next;
	char command[4096], *sock = sockets[next % 4];

	if (access("/usr/sbin/munged", X_OK))
		return NULL;
	chmod(clf_test_dir(), 0711);
	if (mkdir(path_of(name, ""), 0711) || make_key(path_of(name, "key")))
		return NULL;
	snprintf(sock, sizeof sockets[0], "%s", path_of(name, "sock"));
	snprintf(command, sizeof command,
		 "/usr/sbin/munged --force --key-file=%s --socket=%s --pid-file=%s --log-file=%s --seed-file=%s >%s "
		 "2>&1",
		 path_of(name, "key"), sock, path_of(name, "pid"), path_of(name, "log"), path_of(name, "seed"),
		 path_of(name, "said"));
	if (system(command)) {
		diag("munged does not start: see %s", path_of(name, "said"));
		return NULL;
	}
	next++;
	return sock;
}

pid_t munged_pid(const char *name)
{
	FILE *f = fopen(path_of(name, "pid"), "r");
	int pid = 0;

	if (f) {
		if (fscanf(f, "%d", &pid) != 1)
			pid = 0;
		fclose(f);
	}
	return pid;
}

void munged_stop(const char *name)
{
	pid_t pid = munged_pid(name);
	const struct timespec pause = { .tv_nsec = 10000000 };

	if (pid <= 0)
		return;
	kill(pid, SIGCONT);
	kill(pid, SIGTERM);
	for (int i = 0; i < 500 && !kill(pid, 0); i++)
		nanosleep(&pause, NULL);
}
