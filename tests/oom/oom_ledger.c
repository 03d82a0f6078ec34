/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Record, log and ledger with each allocation failing in turn: an error that is told, and afterwards nothing half-made.
 */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "audit/log.h"
#include "audit/record.h"
#include "lease/store.h"
#include "oom.h"
#include "tap.h"

static int64_t fixed_ms(void *arg)
{
	return INT64_C(1796115600000);
}
static const struct clf_clock fixed = { fixed_ms, fixed_ms, NULL };

static uint64_t number;

static int make(char **out, size_t *len, struct clf_error *err)
{
	json_t *detail = json_pack("{s:s}", "k", "v");
	struct clf_record_facts f = { .event = CLF_EV_JOB_DECISION,
				      .job_id = 7,
				      .cls = "personal",
				      .user = "u",
				      .producer = "t",
				      .producer_seq = ++number,
				      .detail = detail };
	int rc = detail ? clf_record_make(&f, &fixed, out, len, err) : clf_fail(err, CLF_E_NOMEM, "out of memory");

	json_decref(detail);
	return rc;
}

static bool record(void *arg, bool failed)
{
	char *out = NULL;
	size_t len = 0;
	struct clf_error err = { 0 };
	int rc = make(&out, &len, &err);
	bool well = rc ? failed && *err.text && !out : out && len > 100;

	free(out);
	return well;
}

/* A record is in the log whole or not at all, and a failed one may be sent again. */
static bool log_append(void *arg, bool failed)
{
	struct clf_auditlog *l = arg;
	uint64_t before = clf_auditlog_head(l)->n, seq;
	struct clf_error err = { 0 };
	char *out = NULL;
	size_t len = 0;
	bool known, well;
	int rc = make(&out, &len, &err) || clf_auditlog_append(l, out, len, &seq, &known, &err) ||
		 clf_auditlog_commit(l, &err);

	well = rc ? failed && *err.text && clf_auditlog_head(l)->n == before : clf_auditlog_head(l)->n == before + 1;
	free(out);
	return well;
}

static bool store_put(void *arg, bool failed)
{
	struct clf_store *s = arg;
	struct clf_error err = { 0 };
	struct clf_lease *l = clf_lease_create(&err);
	size_t open = clf_store_nopen(s);
	int rc = l ? 0 : -1;
	bool well;

	if (l) {
		snprintf(l->id, sizeof l->id, "L1-%u", (unsigned) ++number);
		l->job_id = (uint32_t) number;
		l->state = CLF_LEASE_GRANTED;
		rc = clf_lease_set(&l->nodes, "n[1-2]", &err) || clf_store_put(s, l, &err) || clf_store_commit(s, &err);
	}
	/* what is in memory and on disk agree: a failed commit reads the disk again, and says when it cannot */
	well = rc ? failed && *err.text : clf_store_nopen(s) == open + 1;
	clf_lease_destroy(l);
	return well;
}

static bool store_open(void *arg, bool failed)
{
	struct clf_store *s = NULL;
	struct clf_error err = { 0 };
	int rc = clf_store_open(arg, &s, &err);
	bool well = rc ? failed && *err.text && !s : s != NULL;

	clf_store_close(s);
	return well;
}

int main(void)
{
	char dir[300];
	struct clf_auditlog_torn torn;
	struct clf_auditlog *l = NULL;
	struct clf_store *s = NULL, *again = NULL;
	size_t open;

	if (!oom_available()) {
		skip("a sanitizer has its own allocator");
		return done_testing();
	}
	snprintf(dir, sizeof dir, "%s/log", clf_test_dir());

	struct clf_auditlog_options o = { .dir = dir, .origin = "t", .clock = &fixed };

	oom_each("record", record, NULL);
	if (clf_auditlog_open(&o, &torn, &l, NULL))
		return 1;
	oom_each("log", log_append, l);
	clf_auditlog_close(l);
	ok(!clf_auditlog_open(&o, &torn, &l, NULL) && !torn.bytes, "the log is whole");
	clf_auditlog_close(l);
	snprintf(dir, sizeof dir, "%s/state", clf_test_dir());
	if (clf_store_open(dir, &s, NULL))
		return 1;
	oom_each("ledger", store_put, s);
	/* a rollback that failed for want of memory is made good by the next one */
	struct clf_error err = { 0 };

	ok(!clf_store_rollback(s, &err), "memory is what the disk is %s", err.text);
	open = clf_store_nopen(s);
	clf_store_close(s);
	ok(!clf_store_open(dir, &again, NULL) && clf_store_nopen(again) == open, "%zu leases, read again", open);
	clf_store_close(again);
	oom_each("opening", store_open, dir);
	return done_testing();
}
