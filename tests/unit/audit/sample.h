/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sample.h - records, a clock that ticks, and a log in a fresh directory, for the tests of this folder. */
#ifndef CLF_TESTS_AUDIT_SAMPLE_H
#define CLF_TESTS_AUDIT_SAMPLE_H

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "audit/log.h"
#include "audit/record.h"
#include "tap.h"

static int64_t sample_now = 1796115600000;
static int64_t sample_wall(void *arg)
{
	return sample_now++;
}
static int64_t sample_boot(void *arg)
{
	return (sample_now++ - 1796115600000 + 1000) * 1000;
}
static const struct clf_clock sample_clock = { sample_wall, sample_boot, NULL };

/* One record of producer "test", numbered seq; owned. */
static inline char *sample_record(uint64_t seq, size_t *len)
{
	json_t *detail = json_pack("{s:s,s:i}", "effect", "permit", "n_nodes", 2);
	struct clf_record_facts f = {
		.event = CLF_EV_JOB_DECISION,
		.cluster = "asha",
		.job_id = 7,
		.submit_time_s = 1007,
		.decision = "0123456789abcdef0123456789abcdef",
		.uid = 4242,
		.has_uid = true,
		.user = "u1",
		.account = "acct-health",
		.partition = "gpu",
		.ok = true,
		.status_code = "permit",
		.message = "job permitted",
		.cls = "personal",
		.grant = "G-17",
		.purpose = "dpv:ResearchAndDevelopment",
		.fiduciary = "hosp-01",
		.contract = "DPA-1",
		.basis = "s6-consent",
		.policy_sha256 = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
		.producer = "test",
		.producer_seq = seq,
		.detail = detail,
	};
	char *out = NULL;
	struct clf_error err = { 0 };

	if (clf_record_make(&f, &sample_clock, &out, len, &err))
		diag("record: %s", err.text);
	json_decref(detail);
	return out;
}

static inline struct clf_auditlog *sample_open(const char *dir, const struct clf_auditlog_head *known,
					       uint64_t segment_bytes, struct clf_auditlog_torn *torn,
					       struct clf_error *err)
{
	struct clf_auditlog_options o = { .dir = dir,
					  .origin = "asha/closfold/ctl0",
					  .clock = &sample_clock,
					  .known = known,
					  .segment_bytes = segment_bytes };
	struct clf_auditlog *l = NULL;
	struct clf_auditlog_torn ignored = { 0 };

	return clf_auditlog_open(&o, torn ? torn : &ignored, &l, err) ? NULL : l;
}

/* Append and commit records first..first+n-1 of the producer. */
static inline int sample_fill(struct clf_auditlog *l, uint64_t first, uint64_t n)
{
	struct clf_error err = { 0 };

	for (uint64_t i = first; i < first + n; i++) {
		size_t len;
		CLF_AUTO_FREE char *r = sample_record(i, &len);
		uint64_t seq;
		bool known;

		if (!r || clf_auditlog_append(l, r, len, &seq, &known, &err) || clf_auditlog_commit(l, &err)) {
			diag("fill: %s", err.text);
			return -1;
		}
	}
	return 0;
}

static inline char *sample_slurp(const char *path, size_t *len)
{
	FILE *f = fopen(path, "rb");
	char *p = calloc(1, 1 << 20);

	*len = f && p ? fread(p, 1, (1 << 20) - 1, f) : 0;
	if (f)
		fclose(f);
	return p;
}

static inline void sample_spill(const char *path, const char *p, size_t len)
{
	FILE *f = fopen(path, "wb");

	if (!f || fwrite(p, 1, len, f) != len)
		diag("cannot write %s", path);
	if (f)
		fclose(f);
}

#endif
