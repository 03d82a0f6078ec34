/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "wire/probe_frame.h"

#include <string.h>

enum {
	AT_TYPE = 12,
	AT_MAGIC = 14,
	AT_VERSION = 18,
	AT_KIND = 19,
	AT_NONCE = 20,
	AT_NUMBER = 36,
	AT_SENDING = 38,
	AT_LENGTH = 40,
	AT_NAME = 41,
	MIN_FRAME = 60
};

static void put16(uint8_t *p, unsigned v)
{
	p[0] = (uint8_t) (v >> 8);
	p[1] = (uint8_t) v;
}

static uint16_t get16(const uint8_t *p)
{
	return (uint16_t) (p[0] << 8 | p[1]);
}

size_t clf_probe_encode(const struct clf_probe_frame *f, uint8_t out[CLF_PROBE_FRAME_MAX])
{
	size_t name = strnlen(f->name, CLF_PROBE_NAME), len = AT_NAME + name;

	memset(out, 0, MIN_FRAME);
	memcpy(out, f->to, 6);
	memcpy(out + 6, f->from, 6);
	put16(out + AT_TYPE, CLF_PROBE_TYPE);
	memcpy(out + AT_MAGIC, "CLFP", 4);
	out[AT_VERSION] = 1;
	out[AT_KIND] = (uint8_t) f->kind;
	memcpy(out + AT_NONCE, f->nonce, CLF_PROBE_NONCE);
	put16(out + AT_NUMBER, f->number);
	put16(out + AT_SENDING, f->sending);
	out[AT_LENGTH] = (uint8_t) name;
	memcpy(out + AT_NAME, f->name, name);
	return len < MIN_FRAME ? (size_t) MIN_FRAME : len;
}

/* The name goes into messages and comparisons: a host name's characters only. */
static int take_name(const uint8_t *p, size_t n, char *out)
{
	static const char chars[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";

	for (size_t i = 0; i < n; i++)
		if (!memchr(chars, p[i], sizeof chars - 1))
			return -1;
	memcpy(out, p, n);
	out[n] = '\0';
	return 0;
}

int clf_probe_decode(const void *frame, size_t len, struct clf_probe_frame *out, struct clf_error *err)
{
	const uint8_t *p = frame;
	struct clf_probe_frame f;

	if (len < AT_NAME || get16(p + AT_TYPE) != CLF_PROBE_TYPE || memcmp(p + AT_MAGIC, "CLFP", 4) != 0 ||
	    p[AT_VERSION] != 1)
		return clf_fail(err, CLF_E_PARSE, "no probe frame of version 1");
	if (p[AT_KIND] != CLF_PROBE_REQUEST && p[AT_KIND] != CLF_PROBE_ANSWER)
		return clf_fail(err, CLF_E_PARSE, "probe frame of kind %u", p[AT_KIND]);
	if (!p[AT_LENGTH] || (size_t) p[AT_LENGTH] > len - AT_NAME || take_name(p + AT_NAME, p[AT_LENGTH], f.name))
		return clf_fail(err, CLF_E_PARSE, "probe frame without the name of a host");
	memcpy(f.to, p, 6);
	memcpy(f.from, p + 6, 6);
	f.kind = p[AT_KIND];
	memcpy(f.nonce, p + AT_NONCE, CLF_PROBE_NONCE);
	f.number = get16(p + AT_NUMBER);
	f.sending = get16(p + AT_SENDING);
	*out = f;
	return 0;
}
