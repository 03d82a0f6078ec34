/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "audit/record.h"

#include "audit/canon.h"
#include "sample.h"
#include "wire/proto.h"

static json_t *make(struct clf_record_facts *f, size_t *len)
{
	CLF_AUTO_FREE char *out = NULL;
	struct clf_error err = { 0 };
	struct clf_canon c;

	f->producer = "test";
	f->producer_seq = 1;
	if (clf_record_make(f, &sample_clock, &out, len, &err)) {
		diag("%s", err.text);
		return NULL;
	}
	ok(!clf_canon_scan(out, *len, &c, &err), "event %d: canonical %s", f->event, err.text);

	json_t *j = json_loadb(out, *len, JSON_REJECT_DUPLICATES, NULL);
	CLF_AUTO_FREE char *again = j ? clf_json_canonical(j) : NULL;

	ok(again && strlen(again) == *len && !memcmp(again, out, *len), "event %d: jansson dumps the same bytes",
	   f->event);
	return j;
}

static void test_events(void)
{
	for (int e = CLF_EV_JOB_DECISION; e <= CLF_EV_AUDIT_READ; e++) {
		struct clf_record_facts f = {
			.event = e, .finding = "finding.orphan-lease", .job_id = 7, .cls = "personal"
		};
		size_t len;
		json_auto_t *j = make(&f, &len);
		json_int_t c = json_integer_value(json_object_get(j, "class_uid"));

		ok(c && json_integer_value(json_object_get(j, "type_uid")) ==
				   c * 100 + json_integer_value(json_object_get(j, "activity_id")),
		   "event %d: type_uid", e);
		is_int(json_integer_value(json_object_get(j, "status_id")), 2, "event %d: not ok is status 2", e);
	}
	ok(clf_record_make(&(struct clf_record_facts){ .event = 99 }, &sample_clock, &(char *){ NULL }, &(size_t){ 0 },
			   NULL),
	   "unknown event is refused");
	ok(clf_record_make(&(struct clf_record_facts){ .event = CLF_EV_FINDING, .finding = "bad name" }, &sample_clock,
			   &(char *){ NULL }, &(size_t){ 0 }, NULL),
	   "finding without its form is refused");
}

static void test_hostile(void)
{
	char big[5000];
	json_auto_t *detail = json_pack("{s:s,s:{s:s}}", "name", "a", "sub", "x", "y\xC3\xA9z");
	struct clf_record_facts f = {
		.event = CLF_EV_JOB_DECISION, .user = "e\x01v\xFFi\"l\\", .account = big, .detail = detail
	};
	size_t len;

	memset(big, 'A', sizeof big - 1);
	big[sizeof big - 1] = '\0';
	json_object_set_new(detail, "ctl", json_stringn("a\nb\x7F", 4));

	json_auto_t *j = make(&f, &len);
	json_t *u = json_object_get(json_object_get(j, "actor"), "user");
	json_t *d = json_object_get(json_object_get(json_object_get(j, "unmapped"), "closfold"), "job");

	is_str(json_string_value(json_object_get(u, "name")), "e?v?i\"l\\", "what is not canonical becomes '?'");
	is_int((long long) json_string_length(json_object_get(json_object_get(u, "account"), "name")), 1024,
	       "long text is cut");
	is_str(json_string_value(json_object_get(d, "ctl")), "a?b?", "in details too");
}

static void test_refused(void)
{
	json_auto_t *real = json_pack("{s:f}", "x", 1.5), *big = json_pack("{s:I}", "x", (json_int_t) 1 << 53),
		    *key = json_pack("{s:i}", "a\"b", 1);
	json_t *bad[] = { real, big, key };

	for (int i = 0; i < 3; i++) {
		struct clf_record_facts f = {
			.event = CLF_EV_JOB_END, .producer = "t", .producer_seq = 1, .detail = bad[i]
		};
		char *out = (char *) 1;
		size_t len = 7;
		struct clf_error err = { 0 };

		ok(clf_record_make(&f, &sample_clock, &out, &len, &err) == -1 && err.code == CLF_E_INVALID,
		   "bad detail %d", i);
		ok(out == (char *) 1 && len == 7, "outputs untouched");
	}
}

static void test_too_long(void)
{
	json_auto_t *detail = json_object();
	struct clf_record_facts f = { .event = CLF_EV_JOB_END, .detail = detail };
	CLF_AUTO_FREE char *s = malloc(30001);
	size_t len;

	memset(s, 'n', 30000);
	s[30000] = '\0';
	json_object_set_new(detail, "a", json_string(s));
	json_object_set_new(detail, "b", json_string(s));
	json_object_set_new(detail, "c", json_string(s));

	json_auto_t *j = make(&f, &len);

	ok(len <= CLF_RECORD_MAX, "at most the cap");
	ok(json_is_true(json_object_get(json_object_get(j, "metadata"), "is_truncated")), "and says that it was cut");
}

int main(void)
{
	test_events();
	test_hostile();
	test_refused();
	test_too_long();
	return done_testing();
}
