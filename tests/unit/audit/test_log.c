/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writing, recovery at every cut, dedup. What verify says of it is in test_verify.c. */
#include "sample.h"

#include <sys/resource.h>
#include <signal.h>
#include <unistd.h>

#include "audit/segment.h"

static const char *sub(const char *name)
{
	static char path[8][300];
	static int i;
	char *p = path[i++ % 8];

	snprintf(p, 300, "%s/%s", clf_test_dir(), name);
	return p;
}

static const char *segment(const char *dir, uint64_t first)
{
	static char path[400];
	char name[CLF_SEGMENT_NAME];

	clf_segment_name(first, name);
	snprintf(path, sizeof path, "%s/%s", dir, name);
	return path;
}

static void test_append(void)
{
	const char *dir = sub("append");
	struct clf_error err = { 0 };
	struct clf_auditlog *l = sample_open(dir, NULL, 0, NULL, &err);
	size_t len, n;
	CLF_AUTO_FREE char *r = sample_record(1, &len);
	uint64_t seq = 99;
	bool known = true;
	struct stat st;

	ok(l != NULL, "new log %s", err.text);
	ok(!clf_auditlog_append(l, r, len, &seq, &known, &err) && seq == 0 && !known, "first record is 0");
	ok(stat(segment(dir, 0), &st), "nothing is in the file before commit");
	is_int((long long) clf_auditlog_head(l)->n, 0, "nor in the head");
	ok(!clf_auditlog_commit(l, &err) && clf_auditlog_head(l)->n == 1, "commit moves the head");
	ok(!clf_auditlog_append(l, r, len, &seq, &known, &err) && known, "the same record again is known");
	is_int((long long) clf_auditlog_pending(l), 0, "and adds nothing");

	CLF_AUTO_FREE char *text = sample_slurp(segment(dir, 0), &n);
	json_auto_t *j = json_loads(text, 0, NULL);
	json_t *m = json_object_get(j, "metadata");
	CLF_AUTO_FREE char *canon = clf_json_canonical(j);

	is_str(json_string_value(json_object_get(m, "log_name")), "asha/closfold/ctl0", "log_name spliced");
	ok(json_is_integer(json_object_get(m, "logged_time")) && json_is_integer(json_object_get(m, "sequence")),
	   "and its numbers");
	ok(canon && strlen(canon) + 1 == n && !memcmp(canon, text, n - 1), "the line is canonical");

	struct clf_error e2 = { 0 };

	ok(clf_auditlog_append(l, text, n - 1, &seq, &known, &e2) && e2.code == CLF_E_DENIED,
	   "a record that brings prev is refused");
	e2 = (struct clf_error){ 0 };
	ok(clf_auditlog_append(l, "{}", 2, &seq, &known, &e2) && e2.code == CLF_E_PARSE, "no record is refused");
	clf_auditlog_close(l);
}

static void test_reopen(void)
{
	const char *dir = sub("reopen");
	struct clf_error err = { 0 };
	struct clf_auditlog *l = sample_open(dir, NULL, 4000, NULL, &err);
	struct clf_auditlog_head h;
	size_t len;
	CLF_AUTO_FREE char *r = NULL;
	uint64_t seq;
	bool known;
	struct stat st;

	sample_fill(l, 1, 5);
	h = *clf_auditlog_head(l);
	clf_auditlog_close(l);
	ok(!stat(segment(dir, 2), &st), "a full segment is followed by another");
	l = sample_open(dir, &h, 4000, NULL, &err);
	ok(l && clf_auditlog_head(l)->n == 5 && !strcmp(clf_auditlog_head(l)->hash, h.hash), "reopened at its head %s",
	   err.text);
	r = sample_record(5, &len);
	ok(!clf_auditlog_append(l, r, len, &seq, &known, &err) && known, "a producer's retry is known after a restart");
	clf_auditlog_close(l);
}

/* Cut the last segment at every byte: recovery gives a prefix, reports what it cut, and goes on. */
static void test_cut(void)
{
	const char *dir = sub("cut");
	struct clf_error err = { 0 };
	struct clf_auditlog *l = sample_open(dir, NULL, 0, NULL, &err);
	size_t len;
	CLF_AUTO_FREE char *whole = NULL;
	int bad = 0, torn_seen = 0;

	sample_fill(l, 1, 3);
	clf_auditlog_close(l);
	whole = sample_slurp(segment(dir, 0), &len);
	for (size_t cut = 0; cut <= len; cut++) {
		struct clf_auditlog_torn torn = { 0 };
		size_t lines = 0, edge = 0;

		for (size_t i = 0; i < cut; i++)
			if (whole[i] == '\n') {
				lines++;
				edge = i + 1;
			}
		sample_spill(segment(dir, 0), whole, cut);
		l = sample_open(dir, NULL, 0, &torn, &err);
		if (!l || clf_auditlog_head(l)->n != lines || torn.bytes != cut - edge || sample_fill(l, 10, 1))
			bad++;
		torn_seen += torn.bytes != 0;
		clf_auditlog_close(l);
	}
	is_int(bad, 0, "each of %zu cuts recovers to the records before it and takes new ones", len + 1);
	ok(torn_seen > 1000, "and most are torn");
}

static void test_known(void)
{
	const char *dir = sub("known");
	struct clf_error err = { 0 };
	struct clf_auditlog *l = sample_open(dir, NULL, 0, NULL, &err);
	struct clf_auditlog_head h, wrong;
	size_t len;
	CLF_AUTO_FREE char *whole = NULL;

	sample_fill(l, 1, 3);
	h = *clf_auditlog_head(l);
	clf_auditlog_close(l);
	whole = sample_slurp(segment(dir, 0), &len);
	sample_spill(segment(dir, 0), whole, len - 10);
	ok(!sample_open(dir, &h, 0, NULL, &err) && err.code == CLF_E_CONFLICT,
	   "a durable record that was cut is no torn tail");

	size_t n;
	free(sample_slurp(segment(dir, 0), &n));
	is_int((long long) n, (long long) len - 10, "and the file is left as it was");
	sample_spill(segment(dir, 0), whole, len);
	wrong = h;
	wrong.hash[0] ^= 1;
	err = (struct clf_error){ 0 };
	ok(!sample_open(dir, &wrong, 0, NULL, &err) && err.code == CLF_E_CONFLICT,
	   "another record in its place is seen");
	unlink(segment(dir, 0));
	err = (struct clf_error){ 0 };
	ok(!sample_open(dir, &h, 0, NULL, &err) && err.code == CLF_E_CONFLICT, "a log that is gone is seen");

	struct clf_auditlog_options o = {
		.dir = dir, .origin = "asha/closfold/ctl0", .clock = &sample_clock, .known = &h, .accept_damage = true
	};
	struct clf_auditlog_torn torn;

	ok(!clf_auditlog_open(&o, &torn, &l, NULL) && clf_auditlog_head(l)->n == 3,
	   "accepted damage goes on behind what was known");
	clf_auditlog_close(l);
}

/* A file size limit is a disk that fills up at an exact byte. */
static void test_full(void)
{
	const char *dir = sub("full");
	struct clf_error err = { 0 };
	struct clf_auditlog *l = sample_open(dir, NULL, 0, NULL, &err);
	struct rlimit old, lim;
	size_t len, n;
	CLF_AUTO_FREE char *r = sample_record(2, &len);
	CLF_AUTO_FREE char *before = NULL;
	uint64_t seq;
	bool known;

	sample_fill(l, 1, 1);
	before = sample_slurp(segment(dir, 0), &n);
	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &old);
	lim = (struct rlimit){ n + 100, old.rlim_max };
	setrlimit(RLIMIT_FSIZE, &lim);
	ok(!clf_auditlog_append(l, r, len, &seq, &known, &err), "append needs no disk");
	ok(clf_auditlog_commit(l, &err) && err.code == CLF_E_IO, "commit fails: %s", err.text);
	is_int((long long) clf_auditlog_head(l)->n, 1, "the head does not move");
	setrlimit(RLIMIT_FSIZE, &old);
	err = (struct clf_error){ 0 };
	ok(!clf_auditlog_append(l, r, len, &seq, &known, &err) && !known && seq == 1,
	   "the retry is not taken for known");
	ok(!clf_auditlog_commit(l, &err), "and becomes durable when there is room %s", err.text);
	free(sample_slurp(segment(dir, 0), &len));
	is_int((long long) len, (long long) n, "the failed segment is cut back to what was durable");
	ok(!access(segment(dir, 1), F_OK), "and a new one was begun");
	clf_auditlog_close(l);
}

int main(void)
{
	test_append();
	test_reopen();
	test_cut();
	test_known();
	test_full();
	return done_testing();
}
