/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tcp_frame.h - frames on a non-blocking stream: u32 length (little endian, 1 to CLF_FRAME_MAX), then as many bytes of
 * text. Format: docs/formats/node-wire.md.
 *
 * Bounded: one frame and its length are held of what comes in (cap max_in, so that who is not known yet gets less), and
 *          CLF_FRAME_OUT bytes of what goes out: a peer that does not read is an error.
 * Errors:  CLF_E_PARSE length 0, over the cap, or a NUL in the text: the stream cannot be read on; CLF_E_REMOTE the
 * peer hung up or the connection broke; CLF_E_EXHAUSTED the peer does not read. Memory:  init/done on the caller's
 * storage; the descriptor is borrowed.
 */
#ifndef CLF_WIRE_TCP_FRAME_H
#define CLF_WIRE_TCP_FRAME_H

#include <stdbool.h>

#include "base/buf.h"

#define CLF_FRAME_MAX (1u << 20)
#define CLF_FRAME_OUT (4u << 20)

struct clf_frames {
	struct clf_buf in, out;
	size_t max_in;
};
void clf_frames_init(struct clf_frames *f, size_t max_in);
void clf_frames_done(struct clf_frames *f);

/* Take what the stream has, up to one whole frame. 1: something came, 0: nothing now. */
CLF_MUST_USE int clf_frames_read(struct clf_frames *f, int fd, struct clf_error *err);
/* The first frame, terminated, owned; 1. 0: not whole yet. */
CLF_MUST_USE int clf_frames_next(struct clf_frames *f, char **text, struct clf_error *err);

/* Put a frame behind those that wait. */
CLF_MUST_USE int clf_frames_put(struct clf_frames *f, const char *text, size_t len, struct clf_error *err);
/* Send what the stream takes; f->out.len is what is left. */
CLF_MUST_USE int clf_frames_write(struct clf_frames *f, int fd, struct clf_error *err);

#endif
