/* SPDX-License-Identifier: GPL-2.0-or-later */
/* leak.c - does a frame get through after the driver said "verified"?
 *
 *   leak DRIVE FABRICS NAME NS_A NS_B IP_B ROUNDS OPEN CLOSE [BEFORE [HOOK]]
 *
 * Datagrams flow from A to B all the time, each with the time it was sent. OPEN and CLOSE are commands for `drive` that
 * join and part A and B ("open j 100 leaf1/swp1 ..."); after each comes "sync". BEFORE is sent once.
 * HOOK is a shell command run before each CLOSE (to make a switch lag). Prints a line a round; exit 1 when a
 * datagram sent after a verified CLOSE arrived, 2 when the test proves nothing (no traffic, sync failed). */
#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/wait.h>
#include <time.h>

#include "netns.h"

#define RX_MAX 4000000

static FILE *to, *from;
static int tx_fd, rx_fd;
static struct sockaddr_in dst;
static double *rx;
static atomic_long nrx;
static atomic_bool stop;

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double) t.tv_sec * 1e3 + (double) t.tv_nsec / 1e6;
}

static void *sender(void *arg)
{
	const struct timespec gap = { 0, 20000 };

	while (!stop) {
		double t = now_ms();

		(void) !sendto(tx_fd, &t, sizeof t, 0, (struct sockaddr *) &dst, sizeof dst);
		nanosleep(&gap, NULL);
	}
	return arg;
}

static void *receiver(void *arg)
{
	double t;

	while (!stop)
		if (recv(rx_fd, &t, sizeof t, 0) == sizeof t && nrx < RX_MAX) {
			rx[nrx] = t;
			nrx++;
		}
	return arg;
}

static pid_t start_drive(char **argv)
{
	int in[2], out[2];
	pid_t pid;

	if (pipe(in) || pipe(out) || (pid = fork()) < 0)
		err(2, "fork");
	if (!pid) {
		dup2(in[0], 0);
		dup2(out[1], 1);
		close(in[1]);
		close(out[0]);
		execl(argv[0], argv[0], argv[1], argv[2], (char *) NULL);
		err(2, "%s", argv[0]);
	}
	close(in[0]);
	close(out[1]);
	to = fdopen(in[1], "w");
	from = fdopen(out[0], "r");
	return pid;
}

/* When the answer came. */
static double command(const char *text)
{
	char *line = NULL;
	size_t cap = 0;
	bool good = true;
	double t = 0;

	fprintf(to, "%s\nsync\n", text);
	fflush(to);
	while (getline(&line, &cap, from) > 0) {
		t = now_ms();
		if (strstr(line, "\"sync\":"))
			break;
		good = good && strstr(line, "\"word\":\"verified\"");
		if (!good)
			fprintf(stderr, "%s", line);
	}
	free(line);
	if (!good || !t)
		errx(2, "'%s' was not verified", text);
	return t;
}

static bool round_of(const char *open, const char *close, const char *hook, int n)
{
	double verified, last;
	long k;

	command(open);
	usleep(200000);
	k = nrx;
	usleep(100000);
	if (nrx == k)
		errx(2, "no traffic before the test: the round proves nothing");
	if (hook && system(hook))
		errx(2, "'%s' failed", hook);
	verified = command(close);
	usleep(hook ? 900000 : 300000); /* a switch that lagged forwards what it had queued */
	last = rx[nrx - 1];
	printf("round %d: last datagram that arrived was sent %.3f ms %s verified\n", n,
	       last < verified ? verified - last : last - verified, last < verified ? "before" : "AFTER");
	return last < verified;
}

static void open_sockets(char **argv)
{
	const struct timeval tv = { 0, 100000 };
	struct sockaddr_in any;

	dst = (struct sockaddr_in){ .sin_family = AF_INET, .sin_port = htons(5555) };
	inet_aton(argv[2], &dst.sin_addr);
	enter(argv[0]);
	tx_fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	enter(argv[1]);
	rx_fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	any = dst;
	any.sin_addr.s_addr = 0;
	if (bind(rx_fd, (struct sockaddr *) &any, sizeof any) ||
	    setsockopt(rx_fd, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof tv))
		err(2, "bind");
}

int main(int argc, char **argv)
{
	pthread_t a, b;
	bool good = true;
	pid_t pid;

	if (argc < 10 || argc > 12)
		errx(2, "usage: leak DRIVE FABRICS NAME NS_A NS_B IP_B ROUNDS OPEN CLOSE [BEFORE [HOOK]]");
	rx = calloc(RX_MAX, sizeof *rx);
	if (!rx)
		err(2, "memory");
	pid = start_drive(argv + 1); /* in our own namespace, before the others are entered */
	if (argc > 10)
		fprintf(to, "%s\n", argv[10]);
	open_sockets(argv + 4);
	pthread_create(&a, NULL, sender, NULL);
	pthread_create(&b, NULL, receiver, NULL);
	for (int i = 1; i <= atoi(argv[7]); i++)
		good = round_of(argv[8], argv[9], argc > 11 ? argv[11] : NULL, i) && good;
	stop = true;
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	fclose(to);
	waitpid(pid, NULL, 0);
	return good ? 0 : 1;
}
