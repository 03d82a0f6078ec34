/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "audit/verify.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "audit/log_private.h"
#include "audit/segment.h"

static const char *const names[] = {
	"intact", "torn-tail", "truncated", "gap", "duplicate-writer", "modified", "empty"
};

const char *clf_verdict_name(enum clf_verdict v)
{
	return names[v];
}

bool clf_verdict_good(enum clf_verdict v)
{
	return v == CLF_VERDICT_INTACT || v == CLF_VERDICT_TORN;
}

int clf_verify_parse_head(const char *s, struct clf_auditlog_head *out, struct clf_error *err)
{
	const char *colon = strchr(s, ':');
	unsigned long long n;

	if (!colon || !clf_parse_u64(s, (size_t) (colon - s), &n) || !n || strlen(colon + 1) != 64 ||
	    strspn(colon + 1, "0123456789abcdef") != 64)
		return clf_fail(err, CLF_E_INVALID, "head '%.90s' is not N:HASH, a number of records and 64 hex digits",
				s);
	out->n = n;
	strcpy(out->hash, colon + 1);
	return 0;
}

static void found(struct clf_verify_result *r, enum clf_verdict v, const char *file, uint64_t line, uint64_t offset,
		  const char *what)
{
	r->verdict = v;
	snprintf(r->file, sizeof r->file, "%s", file);
	r->line = line;
	r->offset = offset;
	snprintf(r->what, sizeof r->what, "%s", what);
}

/* Which word fits a line that is not the next record. One that still names the record before was changed in place. */
static enum clf_verdict judge(const struct clf_canon *c, uint64_t want, const char *prev)
{
	if (!c->event.p || c->sequence < 0 || (c->prev.p && c->prev.len == 64 && !memcmp(c->prev.p, prev, 64)))
		return CLF_VERDICT_MODIFIED;
	if ((uint64_t) c->sequence > want)
		return CLF_VERDICT_GAP;
	return (uint64_t) c->sequence < want ? CLF_VERDICT_DUPLICATE : CLF_VERDICT_MODIFIED;
}

struct check {
	struct clf_verify_result *r;
	const struct clf_auditlog_head *heads;
	size_t nheads;
	char prev[CLF_SHA256_HEX];
};

/* Origin and genesis come from the very first record. */
static int first_record(struct check *k, const char *line, size_t len, struct clf_error *err)
{
	struct clf_canon c;

	if (clf_canon_scan(line, len, &c, NULL) || !c.log_name.p || c.log_name.len > CLF_AUDITLOG_ORIGIN_MAX)
		return 0; /* the check of the line says it */
	snprintf(k->r->origin, sizeof k->r->origin, "%.*s", (int) c.log_name.len, c.log_name.p);
	return clf_auditlog_genesis(k->r->origin, c.log_name.len, k->prev, err);
}

static int check_line(struct check *k, const char *name, const struct clf_segment *s, const char *line, size_t len,
		      struct clf_error *err)
{
	struct clf_canon c = { .sequence = -1 };
	struct clf_verify_result *r = k->r;
	const char *what;
	char text[200];

	if (!r->checked && first_record(k, line, len, err))
		return -1;
	what = clf_auditlog_check_line(line, len, r->checked, k->prev, r->origin, &c);
	if (what) {
		enum clf_verdict v = judge(&c, r->checked, k->prev);

		if (v == CLF_VERDICT_GAP || v == CLF_VERDICT_DUPLICATE)
			snprintf(text, sizeof text, "record %" PRId64 " stands where record %" PRIu64 " should",
				 c.sequence, r->checked);
		else
			snprintf(text, sizeof text, "record %" PRIu64 ": %s", r->checked, what);
		found(r, v, name, s->line, s->offset, text);
		return 0;
	}
	if (clf_hash_sha256(line, len, k->prev, err))
		return -1;
	r->checked++;
	r->bytes += len + 1;
	memcpy(r->head, k->prev, sizeof r->head);
	for (size_t i = 0; i < k->nheads; i++) {
		if (k->heads[i].n != r->checked)
			continue;
		if (strcmp(k->heads[i].hash, k->prev) != 0) {
			snprintf(text, sizeof text,
				 "record %" PRIu64
				 " is not the one that was remembered: it or one before it was rewritten",
				 r->checked - 1);
			r->checked--;
			found(r, CLF_VERDICT_MODIFIED, name, s->line, s->offset, text);
			return 0;
		}
		r->anchored = r->checked;
	}
	return 0;
}

/* A line without its end: is somebody writing it now? */
static int settles(const char *dir, const char *name, const struct clf_segment *s, size_t len, int settle_ms)
{
	for (int waited = 0; waited < settle_ms; waited += 10) {
		struct clf_segment again;
		const char *line;
		size_t n;
		int kind = CLF_LINE_END;

		usleep(10000);
		if (clf_segment_open(dir, name, &again, NULL))
			return -1;
		while (again.line < s->line && (kind = clf_segment_next(&again, &line, &n, NULL)) > CLF_LINE_END)
			;
		clf_segment_close(&again);
		if (kind == CLF_LINE_WHOLE || (kind == CLF_LINE_CUT && n != len))
			return 1;
		if (kind != CLF_LINE_CUT)
			return 1; /* cut off by a starting closfoldd */
	}
	return 0;
}

/* 1: look at the whole log again, 0: done with this segment. */
static int check_segment(struct check *k, const char *dir, const char *name, bool last, int settle_ms,
			 struct clf_error *err)
{
	struct clf_segment s = { 0 };
	const char *line;
	size_t len;
	int kind = CLF_LINE_END, rc = 0;
	char text[200];

	if (clf_segment_open(dir, name, &s, err))
		return -1;
	while (!rc && k->r->verdict == CLF_VERDICT_INTACT &&
	       (kind = clf_segment_next(&s, &line, &len, err)) != CLF_LINE_END) {
		if (kind < 0)
			rc = -1;
		else if (kind == CLF_LINE_WHOLE)
			rc = check_line(k, name, &s, line, len, err);
		else if (kind == CLF_LINE_CUT && last && (rc = settles(dir, name, &s, len, settle_ms)) == 0) {
			snprintf(text, sizeof text, "%zu bytes of an unfinished record", len);
			found(k->r, CLF_VERDICT_TORN, name, s.line, s.offset, text);
		} else if (!rc)
			found(k->r, CLF_VERDICT_MODIFIED, name, s.line, s.offset,
			      kind == CLF_LINE_CUT ? "segment ends inside a record, and others follow"
						   : "line is longer than any record");
	}
	clf_segment_close(&s);
	return rc;
}

static int check_all(struct check *k, const char *dir, int settle_ms, struct clf_error *err)
{
	struct clf_strv segs = { 0 };
	int rc = clf_segment_list(dir, &segs, err);

	for (size_t i = 0; !rc && i < segs.n && k->r->verdict == CLF_VERDICT_INTACT; i++) {
		uint64_t first = 0;

		clf_segment_number(segs.v[i], &first);
		k->r->segments++;
		if (first != k->r->checked) {
			char text[200];

			snprintf(text, sizeof text,
				 "segment begins with record %" PRIu64 ", and record %" PRIu64 " should come", first,
				 k->r->checked);
			found(k->r, first > k->r->checked ? CLF_VERDICT_GAP : CLF_VERDICT_DUPLICATE, segs.v[i], 1, 0,
			      text);
			break;
		}
		rc = check_segment(k, dir, segs.v[i], i + 1 == segs.n, settle_ms, err);
	}
	clf_strv_done(&segs);
	return rc;
}

static void check_heads(struct check *k)
{
	struct clf_verify_result *r = k->r;
	char text[200];

	for (size_t i = 0; i < k->nheads; i++) {
		if (k->heads[i].n <= r->checked || (r->verdict != CLF_VERDICT_INTACT && r->verdict != CLF_VERDICT_TORN))
			continue;
		snprintf(text, sizeof text, "%" PRIu64 " records were there once, %" PRIu64 " are left", k->heads[i].n,
			 r->checked);
		r->verdict = CLF_VERDICT_TRUNCATED;
		snprintf(r->what, sizeof r->what, "%s", text);
	}
	if (r->verdict == CLF_VERDICT_INTACT && !r->checked)
		found(r, CLF_VERDICT_EMPTY, "", 0, 0, "no record was checked");
}

int clf_verify_log(const char *dir, const struct clf_auditlog_head *heads, size_t n, int settle_ms,
		   struct clf_verify_result *out, struct clf_error *err)
{
	struct clf_verify_result r;
	int rc, tries = 0;

	do {
		struct check k = { .r = &r, .heads = heads, .nheads = n };

		r = (struct clf_verify_result){ 0 };
		rc = check_all(&k, dir, settle_ms, err);
		if (!rc)
			check_heads(&k);
	} while (rc > 0 && ++tries < 100);
	if (rc > 0)
		return clf_fail(err, CLF_E_TIMEOUT, "log in '%s' does not come to rest", dir);
	if (rc)
		return -1;
	*out = r;
	return 0;
}
