/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Frames on a stream: whole, byte by byte, several at once, too long, with a NUL, to a peer that does not read. */
#include "wire/tcp_frame.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>

#include "tap.h"

static int ends[2];

static void open_ends(void)
{
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends))
		abort();
}

static void close_ends(void)
{
	close(ends[0]);
	close(ends[1]);
}

/* What next() says after reading all that is there. */
static int pump(struct clf_frames *f, char **text, struct clf_error *err)
{
	int rc;

	while ((rc = clf_frames_read(f, ends[1], err)) > 0)
		;
	return rc < 0 ? rc : clf_frames_next(f, text, err);
}

static void raw(const void *p, size_t n)
{
	if (send(ends[0], p, n, MSG_NOSIGNAL) != (ssize_t) n)
		abort();
}

static void test_round_trip(void)
{
	struct clf_frames out, in;
	char *text = NULL;
	struct clf_error err = { 0 };

	open_ends();
	clf_frames_init(&out, CLF_FRAME_MAX);
	clf_frames_init(&in, CLF_FRAME_MAX);
	ok(!clf_frames_put(&out, "first", 5, &err) && !clf_frames_put(&out, "2", 1, &err), "two frames are put");
	ok(!clf_frames_write(&out, ends[0], &err) && !out.out.len, "and sent");
	is_int(pump(&in, &text, &err), 1, "one is there");
	is_str(text, "first", "the first");
	free(text);
	is_int(pump(&in, &text, &err), 1, "then the other");
	is_str(text, "2", "the second");
	free(text);
	is_int(pump(&in, &text, &err), 0, "then none");
	ok(!in.in.data, "a quiet peer holds no memory");
	ok(clf_frames_put(&out, "", 0, &err) && err.code == CLF_E_INVALID, "an empty frame cannot be sent: %s",
	   err.text);
	clf_frames_done(&out);
	clf_frames_done(&in);
	close_ends();
}

static void test_bytes(void)
{
	static const char bytes[] = "\3\0\0\0abc\1\0\0\0d";
	struct clf_frames in;
	char *text = NULL;
	struct clf_error err = { 0 };
	size_t frames = 0, at = 0;

	open_ends();
	clf_frames_init(&in, CLF_FRAME_MAX);
	for (size_t i = 0; i < sizeof bytes - 1; i++) {
		raw(bytes + i, 1);
		if (pump(&in, &text, &err) == 1) {
			is_str(text, frames ? "d" : "abc", "byte by byte: frame %zu", frames + 1);
			frames++;
			at = i;
			free(text);
		}
	}
	is_int((long long) frames, 2, "two frames");
	is_int((long long) at, sizeof bytes - 2, "the last one with the last byte");
	close(ends[0]);
	ok(clf_frames_read(&in, ends[1], &err) == -1 && err.code == CLF_E_REMOTE, "then the end: %s", err.text);
	close(ends[1]);
	clf_frames_done(&in);
}

static const struct {
	const char *what, *bytes;
	size_t n;
} bad[] = {
	{ "length 0", "\0\0\0\0", 4 },
	{ "one more than the cap", "\x41\0\0\0", 4 },
	{ "the largest length", "\xff\xff\xff\xff", 4 },
	{ "a NUL in the text", "\3\0\0\0a\0b", 7 },
};

static void test_bad(void)
{
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		struct clf_frames in;
		char *text = NULL;
		struct clf_error err = { 0 };

		open_ends();
		clf_frames_init(&in, 64);
		raw(bad[i].bytes, bad[i].n);
		ok(pump(&in, &text, &err) == -1 && err.code == CLF_E_PARSE && !text, "%s: %s", bad[i].what, err.text);
		ok(in.in.cap <= 128, "%s: nothing was set aside for it", bad[i].what);
		clf_frames_done(&in);
		close_ends();
	}
}

/* Bytes behind the first frame stay in the socket: a peer cannot make us hold more than one. */
static void test_bounds(void)
{
	struct clf_frames in, out;
	struct clf_error err = { 0 };
	char *text = NULL, *big = calloc(1, CLF_FRAME_MAX + 1);
	size_t n = 0;

	if (!big)
		abort();
	memset(big, 'x', CLF_FRAME_MAX);
	open_ends();
	clf_frames_init(&in, CLF_FRAME_MAX);
	clf_frames_init(&out, CLF_FRAME_MAX);
	for (int i = 0; i < 100; i++)
		raw("\1\0\0\0z", 5);
	while (clf_frames_read(&in, ends[1], &err) > 0)
		;
	is_int((long long) in.in.len, 5, "one frame is held of a hundred");
	while (pump(&in, &text, &err) == 1) {
		free(text);
		n++;
	}
	is_int((long long) n, 100, "all come in turn");
	for (n = 0;
	     n < 100 && !clf_frames_put(&out, big, CLF_FRAME_MAX, &err) && !clf_frames_write(&out, ends[0], &err); n++)
		;
	ok(n && n < 100 && err.code == CLF_E_EXHAUSTED, "a peer that does not read is an error after %zu MiB: %s", n,
	   err.text);
	ok(out.out.len <= CLF_FRAME_OUT, "and no more than the cap was kept");
	err = (struct clf_error){ 0 };
	ok(clf_frames_put(&out, big, CLF_FRAME_MAX + 1, &err) && err.code == CLF_E_INVALID, "too long to be sent: %s",
	   err.text);
	/* The largest one arrives whole. */
	clf_frames_done(&out);
	close_ends();
	open_ends();
	text = NULL;
	if (clf_frames_put(&out, big, CLF_FRAME_MAX, &err))
		abort();
	for (int i = 0; i < 1000 && !text; i++) {
		if (clf_frames_write(&out, ends[0], &err))
			break;
		if (pump(&in, &text, &err))
			break;
	}
	ok(text && strlen(text) == CLF_FRAME_MAX, "a frame of the largest size arrives");
	free(text);
	free(big);
	clf_frames_done(&in);
	clf_frames_done(&out);
	close_ends();
}

int main(void)
{
	test_round_trip();
	test_bytes();
	test_bad();
	test_bounds();
	return done_testing();
}
