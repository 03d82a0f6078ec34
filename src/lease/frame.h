/* SPDX-License-Identifier: GPL-2.0-or-later */
/* frame.h - one line of the ledger: "crc32c seq batch json\n" (docs/formats/journal.md).
 *
 * crc32c is over everything after its blank; batch is the seq of the first line of the same write, so that a reader can
 * tell the end of a write that a crash cut (all lines behind the damage are of that write) from damage to what was
 * durable. Errors: CLF_E_PARSE. Pure. Source: CRC-32C, RFC 3720 appendix B.4.
 */
#ifndef CLF_LEASE_FRAME_H
#define CLF_LEASE_FRAME_H

#include <stdint.h>

#include "base/buf.h"
#include "base/json.h"

#define CLF_FRAME_MAX (4u << 20) /* a lease names the ports of all its nodes */

struct clf_frame {
	uint64_t seq, batch;
	const char *json; /* borrowed from the line, not terminated */
	size_t len;
};
CLF_MUST_USE int clf_frame_add(struct clf_buf *out, uint64_t seq, uint64_t batch, const json_t *j,
			       struct clf_error *err);
CLF_MUST_USE int clf_frame_parse(const char *line, size_t len, struct clf_frame *out, struct clf_error *err);
uint32_t clf_crc32c(const void *data, size_t len);

#endif
