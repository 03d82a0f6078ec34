/* SPDX-License-Identifier: GPL-2.0-or-later */
/* proto.c - the 16-byte header, byte by byte: no struct is laid over a packet. */
#include "wire/proto.h"

#include <string.h>

static void put(uint8_t *p, uint64_t v, int n)
{
	for (int i = 0; i < n; i++)
		p[i] = (uint8_t) (v >> (8 * i));
}

static uint64_t get(const uint8_t *p, int n)
{
	uint64_t v = 0;

	for (int i = n - 1; i >= 0; i--)
		v = v << 8 | p[i];
	return v;
}

static size_t max_body(unsigned type)
{
	return type == CLF_MSG_RECORD || type == CLF_MSG_RECORD_ASYNC ? CLF_RECORD_MAX : CLF_WIRE_MAX - CLF_WIRE_HEADER;
}

int clf_msg_encode(enum clf_msg_type type, uint64_t seq, const void *body, size_t len, struct clf_buf *out,
		   struct clf_error *err)
{
	uint8_t h[CLF_WIRE_HEADER] = "CLF1";

	if (!len || len > max_body(type))
		return clf_fail(err, CLF_E_INVALID, "message body of %zu bytes, want 1 to %zu", len, max_body(type));
	put(h + 4, CLF_WIRE_VERSION, 2);
	put(h + 6, type, 2);
	put(h + 8, seq, 8);

	size_t before = out->len;

	if (!clf_buf_add(out, h, sizeof h, err) && !clf_buf_add(out, body, len, err))
		return 0;
	out->len = before;
	return -1;
}

int clf_msg_decode(const void *packet, size_t len, struct clf_msg *out, struct clf_error *err)
{
	const uint8_t *p = packet;

	if (len < CLF_WIRE_HEADER)
		return clf_fail(err, CLF_E_PARSE, "packet of %zu bytes is shorter than a header", len);
	if (memcmp(p, "CLF1", 4) != 0)
		return clf_fail(err, CLF_E_PARSE, "packet does not begin with 'CLF1'");

	unsigned version = (unsigned) get(p + 4, 2), type = (unsigned) get(p + 6, 2);

	if (version != CLF_WIRE_VERSION)
		return clf_fail(err, CLF_E_PARSE, "protocol version %u, want %u", version, CLF_WIRE_VERSION);
	if (type < CLF_MSG_RECORD || type > CLF_MSG_REPLY)
		return clf_fail(err, CLF_E_PARSE, "unknown message type %u", type);
	len -= CLF_WIRE_HEADER;
	if (!len || len > max_body(type))
		return clf_fail(err, CLF_E_PARSE, "message body of %zu bytes, want 1 to %zu", len, max_body(type));
	*out = (struct clf_msg){
		.type = type, .seq = get(p + 8, 8), .body = (const char *) p + CLF_WIRE_HEADER, .len = len
	};
	return 0;
}
