/* SPDX-License-Identifier: GPL-2.0-or-later */
/* hop.c - can a frame get from one namespace to another? Any stack of 802.1Q tags, to the unicast and the broadcast
 * address.
 *
 *   hop SRC_NS DST_NS [TAGS [WAIT_MS]]   TAGS: comma list, outermost first; "-" untagged, 0 priority tag
 *
 * Prints "delivered" or "dropped" (nothing within WAIT_MS, 150). Exit 0 in both cases, 2 when it could not try. */
#include <poll.h>
#include <sys/random.h>
#include <time.h>

#include "netns.h"

#define COOKIE 32

struct frame {
	unsigned char data[256];
	size_t len;
};

static void add(struct frame *f, const void *p, size_t n)
{
	memcpy(f->data + f->len, p, n);
	f->len += n;
}

static void add16(struct frame *f, unsigned v)
{
	unsigned char b[2] = { (unsigned char) (v >> 8), (unsigned char) v };

	add(f, b, 2);
}

static struct frame make(const unsigned char *to, const unsigned char *from, const char *tags,
			 const unsigned char *cookie)
{
	static const unsigned char pad[20];
	struct frame f = { .len = 0 };

	add(&f, to, 6);
	add(&f, from, 6);
	for (char *end; *tags && *tags != '-'; tags = *end ? end + 1 : end) {
		add16(&f, 0x8100);
		add16(&f, (unsigned) strtoul(tags, &end, 10));
	}
	add16(&f, 0x88b5); /* local experimental */
	add(&f, cookie, COOKIE);
	add(&f, pad, sizeof pad);
	return f;
}

static long now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static int arrives(int fd, const unsigned char *cookie, long wait_ms)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	long until = now_ms() + wait_ms;
	unsigned char buf[2048];

	for (long left; (left = until - now_ms()) > 0;) {
		ssize_t n;

		if (poll(&p, 1, (int) left) <= 0)
			continue;
		n = recv(fd, buf, sizeof buf, 0);
		if (n > 0 && memmem(buf, (size_t) n, cookie, COOKIE))
			return 1;
	}
	return 0;
}

int main(int argc, char **argv)
{
	static const unsigned char all[6] = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff };
	unsigned char src[6], dst[6], cookie[COOKIE];
	const char *tags = argc > 3 ? argv[3] : "-";
	int rx, tx;

	if (argc < 3)
		errx(2, "usage: hop SRC_NS DST_NS [TAGS [WAIT_MS]]");
	if (getrandom(cookie, sizeof cookie, 0) != sizeof cookie)
		err(2, "random");
	enter(argv[2]);
	rx = raw_socket("eth0", ETH_P_ALL, dst);
	enter(argv[1]);
	tx = raw_socket("eth0", 0, src);
	for (int i = 0; i < 2; i++) {
		struct frame f = make(i ? all : dst, src, tags, cookie);

		if (send(tx, f.data, f.len, 0) != (ssize_t) f.len)
			err(2, "send");
	}
	puts(arrives(rx, cookie, argc > 4 ? atol(argv[4]) : 150) ? "delivered" : "dropped");
	return 0;
}
