/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "wire/tcp_frame.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#define HEAD  4u
#define CHUNK (64u << 10)

static uint32_t get32(const char *p)
{
	const uint8_t *b = (const uint8_t *) p;

	return (uint32_t) b[0] | (uint32_t) b[1] << 8 | (uint32_t) b[2] << 16 | (uint32_t) b[3] << 24;
}

void clf_frames_init(struct clf_frames *f, size_t max_in)
{
	*f = (struct clf_frames){ .in.max = HEAD + CLF_FRAME_MAX + 1, .out.max = CLF_FRAME_OUT, .max_in = max_in };
}

void clf_frames_done(struct clf_frames *f)
{
	clf_buf_done(&f->in);
	clf_buf_done(&f->out);
}

static int lost(const char *why, struct clf_error *err)
{
	return clf_fail(err, CLF_E_REMOTE, "connection lost: %s", why);
}

/* Bytes that the first frame still lacks; its head first. 0: it is whole, or its length is wrong and next() says so. */
static size_t lacking(const struct clf_frames *f)
{
	if (f->in.len < HEAD)
		return HEAD - f->in.len;

	size_t len = get32(f->in.data);

	return len > f->max_in || f->in.len >= HEAD + len ? 0 : HEAD + len - f->in.len;
}

int clf_frames_read(struct clf_frames *f, int fd, struct clf_error *err)
{
	char chunk[CHUNK];
	size_t want = lacking(f);
	ssize_t n;

	if (!want)
		return 0;
	do
		n = recv(fd, chunk, want < sizeof chunk ? want : sizeof chunk, MSG_DONTWAIT);
	while (n < 0 && errno == EINTR);
	if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
		return 0;
	if (n <= 0)
		return lost(n ? strerror(errno) : "the peer hung up", err);
	return clf_buf_add(&f->in, chunk, (size_t) n, err) ? -1 : 1;
}

int clf_frames_next(struct clf_frames *f, char **text, struct clf_error *err)
{
	char *copy;
	size_t len;

	if (f->in.len < HEAD)
		return 0;
	len = get32(f->in.data);
	if (!len || len > f->max_in)
		return clf_fail(err, CLF_E_PARSE, "frame of %zu bytes, from 1 to %zu are taken", len, f->max_in);
	if (f->in.len < HEAD + len)
		return 0;
	if (memchr(f->in.data + HEAD, 0, len))
		return clf_fail(err, CLF_E_PARSE, "frame with a NUL in its text");
	copy = strndup(f->in.data + HEAD, len);
	if (!copy)
		return clf_fail(err, CLF_E_NOMEM, "out of memory");
	memmove(f->in.data, f->in.data + HEAD + len, f->in.len - HEAD - len);
	f->in.len -= HEAD + len;
	if (!f->in.len)
		clf_buf_done(&f->in); /* thousands of quiet peers hold nothing */
	*text = copy;
	return 1;
}

int clf_frames_put(struct clf_frames *f, const char *text, size_t len, struct clf_error *err)
{
	const uint8_t head[HEAD] = { (uint8_t) len, (uint8_t) (len >> 8), (uint8_t) (len >> 16),
				     (uint8_t) (len >> 24) };
	size_t before = f->out.len;

	if (!len || len > CLF_FRAME_MAX)
		return clf_fail(err, CLF_E_INVALID, "frame of %zu bytes, from 1 to %u can be sent", len, CLF_FRAME_MAX);
	if (len + HEAD > CLF_FRAME_OUT - before)
		return clf_fail(err, CLF_E_EXHAUSTED, "the peer does not read: %zu bytes wait for it", before);
	if (!clf_buf_add(&f->out, head, HEAD, err) && !clf_buf_add(&f->out, text, len, err))
		return 0;
	f->out.len = before;
	return -1;
}

int clf_frames_write(struct clf_frames *f, int fd, struct clf_error *err)
{
	size_t at = 0;

	while (at < f->out.len) {
		ssize_t n = send(fd, f->out.data + at, f->out.len - at, MSG_DONTWAIT | MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
			break;
		if (n <= 0)
			return lost(n ? strerror(errno) : "nothing was taken", err);
		at += (size_t) n;
	}
	if (at)
		memmove(f->out.data, f->out.data + at, f->out.len - at);
	f->out.len -= at;
	if (!f->out.len)
		clf_buf_done(&f->out);
	return 0;
}
