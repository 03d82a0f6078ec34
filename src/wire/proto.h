/* SPDX-License-Identifier: GPL-2.0-or-later */
/* proto.h - messages between closfold's programs: bounded, versioned. Format: docs/formats/wire.md.
 *
 * One message is one packet of a SOCK_SEQPACKET socket: a 16-byte header and a JSON object (or, for CLF_MSG_RECORD, a
 * record's canonical bytes). Replies carry the request's sequence number and may come in any order. Header, little
 * endian: magic "CLF1", u16 version (1), u16 type, u64 sequence. Errors: CLF_E_PARSE for anything of another form;
 * nothing is read past the length given.
 */
#ifndef CLF_WIRE_PROTO_H
#define CLF_WIRE_PROTO_H

#include <stdint.h>

#include "base/buf.h"
#include "base/json.h"

#define CLF_WIRE_VERSION 1
#define CLF_WIRE_HEADER  16
#define CLF_WIRE_MAX     (128u << 10) /* one packet, header included */
#define CLF_RECORD_MAX   (60u << 10)

enum clf_msg_type {
	CLF_MSG_RECORD = 1,       /* one audit record, acknowledged when durable */
	CLF_MSG_RECORD_ASYNC = 2, /* the same, no reply */
	CLF_MSG_REQUEST = 3,      /* {"op":"lease.open",...} */
	CLF_MSG_REPLY = 4,        /* {"ok":true,...} or {"ok":false,"code":"denied","text":"...","advice":"..."} */
};

struct clf_msg {
	enum clf_msg_type type;
	uint64_t seq;
	const char *body; /* borrowed, not terminated */
	size_t len;
};
CLF_MUST_USE int clf_msg_encode(enum clf_msg_type type, uint64_t seq, const void *body, size_t len, struct clf_buf *out,
				struct clf_error *err);
CLF_MUST_USE int clf_msg_decode(const void *packet, size_t len, struct clf_msg *out, struct clf_error *err);

#endif
