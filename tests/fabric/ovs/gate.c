/* SPDX-License-Identifier: GPL-2.0-or-later */
/* gate.c - stands between a driver and its ovsdb-server and does what a busy network does.
 *
 *   gate LISTEN UPSTREAM race COUNT COMMAND   run COMMAND before each of the first COUNT compare-and-set transactions
 *   gate LISTEN UPSTREAM mute                 swallow every notification of the server
 *   gate LISTEN UPSTREAM cut COUNT            hang up after each of the first COUNT such transactions, without its
 * answer
 *
 * Paths of unix sockets. One client after the other, until killed. */
#include <err.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "fabric/ovsdb.h"

static const char *mode, *command;
static long count;

static struct sockaddr_un address(const char *path)
{
	struct sockaddr_un sun = { .sun_family = AF_UNIX };

	snprintf(sun.sun_path, sizeof sun.sun_path, "%s", path);
	return sun;
}

static int dial(const char *path)
{
	struct sockaddr_un sun = address(path);
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	if (fd < 0 || connect(fd, (struct sockaddr *) &sun, sizeof sun))
		err(2, "%s", path);
	return fd;
}

static void forward(int fd, const json_t *msg)
{
	char *s = json_dumps(msg, JSON_COMPACT);

	for (size_t at = 0, n = strlen(s); at < n;) {
		ssize_t w = write(fd, s + at, n - at);

		if (w <= 0)
			break;
		at += (size_t) w;
	}
	free(s);
}

static int is_write(const json_t *msg)
{
	json_t *op;
	size_t i;

	json_array_foreach(json_object_get(msg, "params"), i, op)
	{
		const char *name = json_string_value(json_object_get(op, "op"));

		if (name && !strcmp(name, "wait"))
			return 1;
	}
	return 0;
}

/* What a client says; 1: hang up. */
static int from_client(int server, const json_t *msg)
{
	int special = is_write(msg) && count > 0;

	if (special && !strcmp(mode, "race")) {
		count--;
		if (system(command))
			errx(2, "'%s' failed", command);
	}
	forward(server, msg);
	if (special && !strcmp(mode, "cut")) {
		count--;
		usleep(100000); /* the server has it */
		return 1;
	}
	return 0;
}

static int pass(struct clf_ovsdb_frames *f, int in, int out, int client)
{
	char buf[65536];
	ssize_t n = read(in, buf, sizeof buf);
	json_t *msg;

	if (n <= 0 || clf_ovsdb_frames_add(f, buf, (size_t) n, NULL))
		return 1;
	for (;;) {
		int end = 0;

		if (clf_ovsdb_frames_next(f, &msg, NULL))
			return 1;
		if (!msg)
			return 0;
		if (client)
			end = from_client(out, msg);
		else if (strcmp(mode, "mute") != 0 || !json_object_get(msg, "method"))
			forward(out, msg);
		json_decref(msg);
		if (end)
			return 1;
	}
}

static void serve(int client, int server)
{
	struct clf_ovsdb_frames a = CLF_OVSDB_FRAMES_INIT, b = CLF_OVSDB_FRAMES_INIT;
	struct pollfd p[2] = { { .fd = client, .events = POLLIN }, { .fd = server, .events = POLLIN } };
	int end = 0;

	while (!end && poll(p, 2, -1) > 0) {
		if (p[0].revents)
			end = pass(&a, client, server, 1);
		if (!end && p[1].revents)
			end = pass(&b, server, client, 0);
	}
	clf_ovsdb_frames_done(&a);
	clf_ovsdb_frames_done(&b);
	close(client);
	close(server);
}

int main(int argc, char **argv)
{
	struct sockaddr_un sun;
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	if (argc < 4)
		errx(2, "usage: gate LISTEN UPSTREAM race COUNT COMMAND | mute | cut COUNT");
	mode = argv[3];
	count = argc > 4 ? atol(argv[4]) : 0;
	command = argc > 5 ? argv[5] : "true";
	signal(SIGPIPE, SIG_IGN);
	sun = address(argv[1]);
	unlink(argv[1]);
	if (fd < 0 || bind(fd, (struct sockaddr *) &sun, sizeof sun) || listen(fd, 4))
		err(2, "%s", argv[1]);
	for (int c; (c = accept(fd, NULL, NULL)) >= 0;)
		serve(c, dial(argv[2]));
	return 2;
}
