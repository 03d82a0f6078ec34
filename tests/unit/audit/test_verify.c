/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Every change of a small log is seen, and none is seen where there is none. */
#include "audit/verify.h"

#include <unistd.h>

#include "audit/segment.h"
#include "sample.h"

static char dir[300], path[400];
static struct clf_auditlog_head head;
static char *whole;
static size_t len;

static enum clf_verdict verdict(const struct clf_auditlog_head *h, struct clf_verify_result *r)
{
	struct clf_error err = { 0 };

	if (clf_verify_log(dir, h, h ? 1 : 0, 0, r, &err)) {
		diag("verify: %s", err.text);
		return CLF_VERDICT_EMPTY;
	}
	return r->verdict;
}

static enum clf_verdict verdict_of(const char *p, size_t n, const struct clf_auditlog_head *h)
{
	struct clf_verify_result r;

	sample_spill(path, p, n);
	return verdict(h, &r);
}

/* Line i of the log, newline included. */
static const char *line(size_t i, size_t *n)
{
	const char *p = whole;

	while (i--)
		p = strchr(p, '\n') + 1;
	*n = (size_t) (strchr(p, '\n') + 1 - p);
	return p;
}

/* The log made of these lines. */
static enum clf_verdict verdict_of_lines(const int *which, size_t n, const struct clf_auditlog_head *h)
{
	CLF_AUTO_FREE char *p = malloc(8 * len);
	size_t at = 0, k;

	for (size_t i = 0; i < n; i++) {
		const char *l = line((size_t) which[i], &k);

		memcpy(p + at, l, k);
		at += k;
	}
	return verdict_of(p, at, h);
}

static void test_flips(void)
{
	CLF_AUTO_FREE char *p = malloc(len);
	size_t last, unseen = 0, unseen_by_head = 0;

	line(3, &last);
	for (size_t i = 0; i < len; i++) {
		memcpy(p, whole, len);
		p[i] ^= 0x01;
		if (i < len - last && clf_verdict_good(verdict_of(p, len, NULL)))
			unseen++;
		if (clf_verdict_good(verdict_of(p, len, &head)))
			unseen_by_head++;
	}
	is_int((long long) unseen, 0, "a flipped bit in any byte before the last record is seen without any head");
	is_int((long long) unseen_by_head, 0, "in any byte at all with a head");
}

static void test_lines(void)
{
	static const struct {
		int lines[6];
		size_t n;
		enum clf_verdict want;
		const char *what;
	} cases[] = {
		{ { 0, 1, 3 }, 3, CLF_VERDICT_GAP, "deleted record" },
		{ { 1, 2, 3 }, 3, CLF_VERDICT_GAP, "deleted first record" },
		{ { 0, 2, 1, 3 }, 4, CLF_VERDICT_GAP, "swapped records" },
		{ { 0, 1, 1, 2, 3 }, 5, CLF_VERDICT_DUPLICATE, "record twice" },
		{ { 0, 1, 2, 3, 3 }, 5, CLF_VERDICT_DUPLICATE, "last record twice" },
		{ { 0, 1, 2, 3, 0 }, 5, CLF_VERDICT_DUPLICATE, "old record at the end" },
		{ { 0, 1, 2 }, 3, CLF_VERDICT_TRUNCATED, "cut at a record's end, with a head" },
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		is_str(clf_verdict_name(verdict_of_lines(cases[i].lines, cases[i].n, &head)),
		       clf_verdict_name(cases[i].want), "%s", cases[i].what);
	is_str(clf_verdict_name(verdict_of_lines((int[]){ 0, 1, 2 }, 3, NULL)), "intact",
	       "the same cut without a head is not seen");
	is_str(clf_verdict_name(verdict_of(whole, 0, NULL)), "empty", "nothing checked is not good");
	is_str(clf_verdict_name(verdict_of(whole, len - 5, NULL)), "torn-tail", "an unfinished end is a crash's");
	is_str(clf_verdict_name(verdict_of(whole, len - 5, &head)), "truncated",
	       "unless that record was known to be durable");
}

/* A forger who computes prev anew. */
static void test_forged(void)
{
	struct clf_auditlog *l;
	struct clf_error err = { 0 };
	struct clf_verify_result r;

	unlink(path);
	l = sample_open(dir, NULL, 0, NULL, &err);
	sample_fill(l, 51, 4);
	clf_auditlog_close(l);
	is_str(clf_verdict_name(verdict(NULL, &r)), "intact", "a log written anew is consistent in itself");
	is_str(clf_verdict_name(verdict(&head, &r)), "modified", "and not the one that was remembered, though as long");
	ok(r.line == 4 && strstr(r.what, "remembered"), "the place is named: %s", r.what);
}

static void test_segments(void)
{
	struct clf_error err = { 0 };
	struct clf_auditlog *l;
	struct clf_verify_result r;
	char second[400], name[CLF_SEGMENT_NAME];

	snprintf(dir, sizeof dir, "%s/segments", clf_test_dir());
	l = sample_open(dir, NULL, 4000, NULL, &err);
	sample_fill(l, 1, 9);
	clf_auditlog_close(l);
	ok(verdict(NULL, &r) == CLF_VERDICT_INTACT && r.segments > 3 && r.checked == 9, "the chain spans %d segments",
	   (int) r.segments);
	clf_segment_name(2, name);
	snprintf(second, sizeof second, "%s/%s", dir, name);
	unlink(second);
	ok(verdict(NULL, &r) == CLF_VERDICT_GAP, "a segment that is gone is a gap: %s", r.what);
}

int main(void)
{
	struct clf_error err = { 0 };
	struct clf_auditlog *l;
	struct clf_verify_result r;
	struct clf_auditlog_head h;

	snprintf(dir, sizeof dir, "%s/log", clf_test_dir());
	snprintf(path, sizeof path, "%s/00000000000000000000.jsonl", dir);
	l = sample_open(dir, NULL, 0, NULL, &err);
	sample_fill(l, 1, 4);
	head = *clf_auditlog_head(l);
	clf_auditlog_close(l);
	whole = sample_slurp(path, &len);
	ok(verdict(&head, &r) == CLF_VERDICT_INTACT && r.checked == 4 && r.anchored == 4, "an untouched log is intact");
	is_str(r.head, head.hash, "its head is the writer's");
	test_flips();
	test_lines();
	test_forged();
	test_segments();
	ok(clf_verify_log("/nonexistent/log", NULL, 0, 0, &r, &err) == -1 && err.code == CLF_E_NOTFOUND,
	   "no log is an error");
	ok(clf_verify_parse_head("3:abc", &h, NULL) && clf_verify_parse_head("x", &h, NULL),
	   "heads of another form are refused");
	free(whole);
	return done_testing();
}
