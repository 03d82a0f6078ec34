/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lease/frame.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

uint32_t clf_crc32c(const void *data, size_t len)
{
	const uint8_t *p = data;
	uint32_t crc = UINT32_MAX;

	while (len--) {
		crc ^= *p++;
		for (int k = 0; k < 8; k++)
			crc = crc >> 1 ^ (UINT32_C(0x82F63B78) & -(crc & 1));
	}
	return ~crc;
}

int clf_frame_add(struct clf_buf *out, uint64_t seq, uint64_t batch, const json_t *j, struct clf_error *err)
{
	CLF_AUTO_FREE char *json = clf_json_canonical(j);
	CLF_AUTO_FREE char *body = NULL;
	int n = json ? asprintf(&body, "%" PRIu64 " %" PRIu64 " %s", seq, batch, json) : -1;

	if (n < 0)
		return clf_fail(err, CLF_E_NOMEM, "out of memory");
	if ((size_t) n + 10 > CLF_FRAME_MAX)
		return clf_fail(err, CLF_E_INVALID, "ledger entry of %d bytes is too long", n);
	return clf_buf_printf(out, err, "%08" PRIx32 " %s\n", clf_crc32c(body, (size_t) n), body);
}

static bool number(const char **p, const char *end, uint64_t *out)
{
	const char *blank = memchr(*p, ' ', (size_t) (end - *p));
	unsigned long long v;

	if (!blank || !clf_parse_u64(*p, (size_t) (blank - *p), &v))
		return false;
	*out = v;
	*p = blank + 1;
	return true;
}

int clf_frame_parse(const char *line, size_t len, struct clf_frame *out, struct clf_error *err)
{
	const char *p = line + 9, *end = line + len;
	unsigned long long crc;
	struct clf_frame f;

	if (len < 14 || len > CLF_FRAME_MAX || line[8] != ' ' || !clf_parse_hex64(line, 8, &crc))
		return clf_fail(err, CLF_E_PARSE, "line has not the form of a ledger entry");
	if (clf_crc32c(p, (size_t) (end - p)) != crc)
		return clf_fail(err, CLF_E_PARSE, "checksum does not match");
	if (!number(&p, end, &f.seq) || !number(&p, end, &f.batch) || f.batch > f.seq)
		return clf_fail(err, CLF_E_PARSE, "numbers of a ledger entry are wrong");
	f.json = p;
	f.len = (size_t) (end - p);
	*out = f;
	return 0;
}
