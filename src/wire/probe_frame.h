/* SPDX-License-Identifier: GPL-2.0-or-later */
/* probe_frame.h - the Ethernet frames by which nodes find out whether they reach each other.
 *
 * Form:   docs/formats/node-wire.md: Ethernet header of type 0x88B5, "CLFP", version 1, kind, nonce of 16 bytes, u16
 * number of the probe, u16 number of the sending, u8 length and name of the sender; zeros up to 60 bytes. Big endian.
 * Trust:  none. A nonce is random and told over the authenticated connection only, so what carries it has met a frame
 * of that probe; who it is from is what it says. Errors: decode: CLF_E_PARSE for anything else, nothing is read past
 * len. Source: IEEE Std 802, Local Experimental EtherType 1.
 */
#ifndef CLF_WIRE_PROBE_FRAME_H
#define CLF_WIRE_PROBE_FRAME_H

#include <stdint.h>

#include "base/err.h"

#define CLF_PROBE_TYPE      0x88B5
#define CLF_PROBE_NONCE     16
#define CLF_PROBE_NAME      255
#define CLF_PROBE_FRAME_MAX (14 + 4 + 2 + CLF_PROBE_NONCE + 4 + 1 + CLF_PROBE_NAME)

enum clf_probe_kind { CLF_PROBE_REQUEST = 1, CLF_PROBE_ANSWER = 2 };

struct clf_probe_frame {
	uint8_t to[6], from[6];
	enum clf_probe_kind kind;
	uint8_t nonce[CLF_PROBE_NONCE];
	uint16_t number, sending;
	char name[CLF_PROBE_NAME + 1];
};
/* Length of the frame in out. */
size_t clf_probe_encode(const struct clf_probe_frame *f, uint8_t out[CLF_PROBE_FRAME_MAX]);
CLF_MUST_USE int clf_probe_decode(const void *frame, size_t len, struct clf_probe_frame *out, struct clf_error *err);

#endif
