/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "wire/proto.h"

#include <string.h>

#include "tap.h"

int main(void)
{
	struct clf_buf b = CLF_BUF_INIT(CLF_WIRE_MAX + 1);
	struct clf_error err = { 0 };
	struct clf_msg m;
	static const unsigned char want[] = { 'C',  'L',  'F',  '1',  1,    0,    3,    0,   0x88,
					      0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11, '{', '}' };
	CLF_AUTO_FREE char *big = calloc(1, CLF_WIRE_MAX);
	char p[sizeof want];

	ok(!clf_msg_encode(CLF_MSG_REQUEST, UINT64_C(0x1122334455667788), "{}", 2, &b, &err), "encode");
	ok(b.len == sizeof want && !memcmp(b.data, want, sizeof want), "the bytes of docs/formats/wire.md");
	ok(!clf_msg_decode(b.data, b.len, &m, &err) && m.type == CLF_MSG_REQUEST &&
		   m.seq == UINT64_C(0x1122334455667788) && m.len == 2 && m.body == b.data + 16,
	   "decode");
	for (size_t n = 0; n <= 16; n++)
		ok(clf_msg_decode(want, n, &m, NULL) == -1, "%zu bytes are no message", n);
	for (size_t i = 0; i < 8; i++) {
		memcpy(p, want, sizeof want);
		p[i] ^= 0x40;
		ok(clf_msg_decode(p, sizeof want, &m, NULL) == -1, "header byte %zu changed", i);
	}
	memcpy(p, want, sizeof want);
	p[6] = 0;
	ok(clf_msg_decode(p, sizeof want, &m, NULL) == -1, "type 0");
	p[6] = 5;
	ok(clf_msg_decode(p, sizeof want, &m, NULL) == -1, "type 5");
	clf_buf_reset(&b);
	ok(clf_msg_encode(CLF_MSG_REQUEST, 1, "", 0, &b, NULL) == -1 && !b.len, "an empty body is refused");
	ok(!clf_msg_encode(CLF_MSG_REPLY, 1, big, CLF_WIRE_MAX - CLF_WIRE_HEADER, &b, &err) && b.len == CLF_WIRE_MAX,
	   "the largest packet %s", err.text);
	ok(!clf_msg_decode(b.data, b.len, &m, NULL), "is read");
	clf_buf_reset(&b);
	ok(clf_msg_encode(CLF_MSG_REPLY, 1, big, CLF_WIRE_MAX - CLF_WIRE_HEADER + 1, &b, NULL) == -1,
	   "one byte more is refused");
	ok(clf_msg_encode(CLF_MSG_RECORD, 1, big, CLF_RECORD_MAX + 1, &b, NULL) == -1, "a record has its own cap");
	clf_buf_done(&b);
	return done_testing();
}
