/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "audit/canon.h"

#include "sample.h"

static bool scans(const char *text, size_t len)
{
	struct clf_canon c;

	return !clf_canon_scan(text, len, &c, NULL);
}

/* The record with `from` replaced once by `to`. */
static bool scans_with(const char *r, size_t len, const char *from, const char *to)
{
	const char *at = memmem(r, len, from, strlen(from));
	CLF_AUTO_FREE char *s = malloc(len + strlen(to) + 1);
	size_t head = at ? (size_t) (at - r) : 0, tail;

	if (!at || !s) {
		diag("'%s' is not in the record", from);
		return true;
	}
	tail = len - head - strlen(from);
	memcpy(s, r, head);
	memcpy(s + head, to, strlen(to));
	memcpy(s + head + strlen(to), at + strlen(from), tail);
	return scans(s, head + strlen(to) + tail);
}

int main(void)
{
	size_t len;
	CLF_AUTO_FREE char *r = sample_record(1, &len);
	struct clf_canon c;
	static const struct {
		const char *from, *to, *why;
	} bad[] = {
		{ "\"activity_id\":1", "\"activity_id\": 1", "blank" },
		{ "\"activity_id\":1", "\"activity_id\":01", "leading zero" },
		{ "\"activity_id\":1", "\"activity_id\":1.0", "float" },
		{ "\"activity_id\":1", "\"activity_id\":1e3", "exponent" },
		{ "\"activity_id\":1", "\"activity_id\":-0", "minus zero" },
		{ "\"activity_id\":1", "\"activity_id\":9007199254740992", "2^53" },
		{ "\"activity_id\":1", "\"activity_id\":99999999999999999999", "past 64 bits" },
		{ "\"activity_id\":1", "\"activity_id\":", "no value" },
		{ "{\"action_id\":1,", "{\"action_id\":1,\"action_id\":1,", "key twice" },
		{ "{\"action_id\":1,\"activity_id\":1,", "{\"activity_id\":1,\"action_id\":1,", "keys out of order" },
		{ "job permitted", "job\tpermitted", "tab" },
		{ "job permitted", "job\\tpermitted", "escaped tab" },
		{ "job permitted", "job\\u0041permitted", "escape that is not needed" },
		{ "job permitted", "job\xC0\xAFpermitted", "overlong UTF-8" },
		{ "job permitted", "job\xED\xA0\x80permitted", "surrogate" },
		{ "job permitted", "job\x7Fpermitted", "DEL" },
		{ "\"message\"", "\"messag\xC3\xA9\"", "key above ASCII" },
		{ "\"producer\":{", "\"produces\":{", "no producer" },
		{ "\"seq\":1", "\"seq\":-1", "negative number" },
		{ "\"seq\":1", "\"seq\":\"1\"", "number as text" },
		{ "closfold-event/1", "closfold-event/2", "another schema" },
		{ "\"uid\":\"4242\"", "\"uid\":\"4242\"}", "brace too many" },
	};

	if (!r)
		return 1;
	ok(!clf_canon_scan(r, len, &c, NULL), "a made record scans");
	ok(c.event.len == 12 && !memcmp(c.event.p, "job.decision", 12), "event found");
	is_int(c.producer_seq, 1, "producer's number found");
	ok(!memcmp(r + c.at_logged, "\"product\"", 9), "log_name goes before product");
	ok(!memcmp(r + c.at_sequence, "\"tenant_uid\"", 12), "sequence goes before tenant_uid");
	ok(!memcmp(r + c.at_prev, "\"producer\"", 10), "prev goes before producer");
	ok(c.sequence == -1 && c.logged_time == -1 && !c.prev.p && !c.log_name.p, "closfoldd's members are absent");
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		ok(!scans_with(r, len, bad[i].from, bad[i].to), "refused: %s", bad[i].why);
	ok(scans_with(r, len, "job permitted",
		      "j\xC3\xB6"
		      "b \\\"p\\\\"),
	   "UTF-8 and the two escapes are taken");
	for (size_t i = 0; i < len; i++)
		if (scans(r, i))
			ok(false, "cut at %zu is refused", i);
	ok(!scans(r, 0), "nothing is refused");

	char deep[600];
	size_t n = 0;

	for (int i = 0; i < 100; i++)
		n += (size_t) sprintf(deep + n, "{\"a\":");
	ok(!scans(deep, n), "deep nesting is refused");
	return done_testing();
}
