/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Surface: a packet of any local user. Must hold: no crash, nothing read past its end, and encoding what was decoded
 * gives it back. */
#include <stdint.h>
#include <string.h>

#include "wire/client.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	CLF_AUTO_FREE uint8_t *packet = malloc(size + !size);
	struct clf_buf b = CLF_BUF_INIT(CLF_WIRE_MAX + 1);
	struct clf_msg m;

	if (!packet)
		return 0;
	memcpy(packet, data, size);
	if (clf_msg_decode(packet, size, &m, NULL))
		return 0;
	if (clf_msg_encode(m.type, m.seq, m.body, m.len, &b, NULL) || b.len != size ||
	    memcmp(b.data, packet, size) != 0)
		abort();
	clf_buf_done(&b);

	CLF_AUTO_FREE char *body = strndup(m.body, m.len);
	struct clf_text t = { 0 };
	struct clf_json_doc doc = { 0 };
	struct clf_error err = { 0 };

	if (body && !clf_text_from_string("fuzz", body, &t, NULL) && !clf_json_load_text(&t, &doc, NULL)) {
		if (clf_reply_check(doc.root, &err) && !*err.text)
			abort(); /* a refusal has words */
		clf_json_doc_done(&doc);
	}
	return 0;
}
