/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Probe frames: the bytes of docs/formats/node-wire.md, and nothing else. */
#include "wire/probe_frame.h"

#include <string.h>

#include "tap.h"

static const struct clf_probe_frame sample = {
	.to = { 2, 0, 0, 0, 0, 1 },
	.from = { 2, 0, 0, 0, 0, 2 },
	.kind = CLF_PROBE_REQUEST,
	.nonce = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 },
	.number = 0x1234,
	.sending = 3,
	.name = "n1",
};

static const uint8_t bytes[] = { 2,   0,   0,   0,  0,  1,  2,    0,    0, 0, 0, 2,   0x88, 0xb5, 'C',
				 'L', 'F', 'P', 1,  1,  0,  1,    2,    3, 4, 5, 6,   7,    8,    9,
				 10,  11,  12,  13, 14, 15, 0x12, 0x34, 0, 3, 2, 'n', '1' };

static void test_form(void)
{
	uint8_t out[CLF_PROBE_FRAME_MAX];
	struct clf_probe_frame f = { 0 };
	size_t n = clf_probe_encode(&sample, out);
	struct clf_error err = { 0 };

	is_int((long long) n, 60, "the shortest frame of Ethernet");
	ok(!memcmp(out, bytes, sizeof bytes), "as the format says");
	for (size_t i = sizeof bytes; i < n; i++)
		if (out[i])
			ok(false, "byte %zu is not 0", i);
	ok(!clf_probe_decode(out, n, &f, &err) && !memcmp(f.nonce, sample.nonce, 16) && f.number == 0x1234 &&
		   f.sending == 3 && f.kind == CLF_PROBE_REQUEST && !strcmp(f.name, "n1") &&
		   !memcmp(f.from, sample.from, 6),
	   "and back: %s", err.text);
	f = sample;
	memset(f.name, 'x', CLF_PROBE_NAME);
	f.name[CLF_PROBE_NAME] = '\0';
	n = clf_probe_encode(&f, out);
	is_int((long long) n, CLF_PROBE_FRAME_MAX, "the longest name");
	ok(!clf_probe_decode(out, n, &f, NULL) && strlen(f.name) == CLF_PROBE_NAME, "and back");
}

static void test_bad(void)
{
	static const struct {
		const char *what;
		size_t at;
		uint8_t value;
	} cases[] = {
		{ "another type", 12, 0x08 },
		{ "another magic", 14, 'X' },
		{ "another version", 18, 2 },
		{ "kind 0", 19, 0 },
		{ "kind 3", 19, 3 },
		{ "no name", 40, 0 },
		{ "a name past the end", 40, 20 },
		{ "a blank in the name", 41, ' ' },
		{ "a NUL in the name", 41, 0 },
	};
	struct clf_probe_frame f;
	uint8_t out[CLF_PROBE_FRAME_MAX];
	size_t n = clf_probe_encode(&sample, out), taken = 0;

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct clf_error err = { 0 };
		uint8_t copy[CLF_PROBE_FRAME_MAX];

		memcpy(copy, out, n);
		copy[cases[i].at] = cases[i].value;
		ok(clf_probe_decode(copy, n, &f, &err) && err.code == CLF_E_PARSE, "%s: %s", cases[i].what, err.text);
	}
	for (size_t len = 0; len < sizeof bytes; len++) {
		uint8_t *cut = malloc(len + !len); /* its own end, for the sanitizer */

		if (!cut)
			abort();
		memcpy(cut, out, len);
		taken += !clf_probe_decode(cut, len, &f, NULL);
		free(cut);
	}
	is_int((long long) taken, 0, "cut short anywhere it is none");
}

int main(void)
{
	test_form();
	test_bad();
	return done_testing();
}
