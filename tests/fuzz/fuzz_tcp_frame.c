/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Surface: what any host sends to closfoldd's port before it has shown who it is; and a probe frame of anybody in the
 * network. Must hold: no crash, nothing read past its end, never more held than one frame, and putting frames that came
 * gives the bytes back. */
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>

#include "wire/probe_frame.h"
#include "wire/tcp_frame.h"

#define CAP 4096u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void probe(const uint8_t *data, size_t size)
{
	CLF_AUTO_FREE uint8_t *frame = malloc(size + !size);
	uint8_t out[CLF_PROBE_FRAME_MAX];
	struct clf_probe_frame f, g;

	if (!frame)
		return;
	memcpy(frame, data, size);
	if (clf_probe_decode(frame, size, &f, NULL))
		return;
	if (clf_probe_decode(out, clf_probe_encode(&f, out), &g, NULL) || strcmp(f.name, g.name) != 0 ||
	    f.number != g.number || memcmp(f.nonce, g.nonce, sizeof f.nonce) != 0)
		abort();
}

/* How far the stream can be read: frames go to `again`, as they would be sent. */
static void drain(struct clf_frames *f, int fd, struct clf_frames *again)
{
	for (;;) {
		char *text = NULL;
		int got = clf_frames_read(f, fd, NULL), whole = got < 0 ? got : clf_frames_next(f, &text, NULL);

		if (f->in.len > CAP + 4)
			abort();
		if (whole > 0 && clf_frames_put(again, text, strlen(text), NULL))
			abort();
		free(text);
		if (whole < 0 || (!got && !whole))
			return;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct clf_frames in, again;
	int ends[2];

	probe(data, size);
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends))
		return 0;
	clf_frames_init(&in, CAP);
	clf_frames_init(&again, CAP);
	if (size && send(ends[0], data, size, MSG_NOSIGNAL) == (ssize_t) size) {
		drain(&in, ends[1], &again);
		if (again.out.len > size || (again.out.len && memcmp(again.out.data, data, again.out.len) != 0))
			abort();
	}
	clf_frames_done(&in);
	clf_frames_done(&again);
	close(ends[0]);
	close(ends[1]);
	return 0;
}
