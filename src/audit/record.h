/* SPDX-License-Identifier: GPL-2.0-or-later */
/* record.h - one schema for every record: OCSF 1.8.0 JSON, canonical bytes (docs/formats/audit-record.md).
 *
 * A producer makes a record without the four fields that closfoldd alone sets (metadata.logged_time, .sequence,
 * .log_name, unmapped.closfold.prev) and sends its canonical bytes; closfoldd splices them in and never serialises
 * again. Canonical: RFC 8785 restricted so that jansson's compact sorted dump gives the same bytes: no floats, |int| <
 * 2^53, ASCII keys, no control characters, valid UTF-8. Strings that break it are escaped with '?' when a record is
 * made (hostile job fields), and refused when a record is received. At most CLF_RECORD_MAX bytes. Links against base
 * only: runs inside slurmctld. No script text, job name, data path or environment ever goes into a record. Source:
 * https://schema.ocsf.io/1.8.0; RFC 8785.
 */
#ifndef CLF_AUDIT_RECORD_H
#define CLF_AUDIT_RECORD_H

#include "base/clock.h"
#include "base/json.h"

/* Events, docs/formats/audit-record.md; the table in record.c gives class, activity and severity. */
enum clf_event {
	CLF_EV_JOB_DECISION, /* submit: allow or deny */
	CLF_EV_JOB_MODIFY,
	CLF_EV_JOB_HOLD,
	CLF_EV_JOB_ALLOCATE, /* lease granted, start allowed */
	CLF_EV_JOB_REFUSE,   /* start refused: 1006/6 with status 2 */
	CLF_EV_JOB_END,
	CLF_EV_NET_PROGRAM,
	CLF_EV_NET_VERIFY,
	CLF_EV_NET_RELEASE,
	CLF_EV_POLICY_APPLY,
	CLF_EV_POLICY_REJECT,
	CLF_EV_LOG_START,
	CLF_EV_LOG_STOP,
	CLF_EV_LOG_TORN,
	CLF_EV_LOG_GAP,
	CLF_EV_FINDING, /* name in `finding`: "finding.orphan-lease" ... */
	CLF_EV_AUDIT_READ,
};

/* Facts common to all; NULL or 0 = absent. Strings are borrowed for the call. */
struct clf_record_facts {
	enum clf_event event;
	const char *finding; /* CLF_EV_FINDING: its name */
	const char *cluster;
	uint32_t job_id; /* 0 = none yet */
	int64_t submit_time_s;
	const char *decision; /* decision id: ties submit, lease, start, end together */
	uint32_t uid;
	bool has_uid;
	const char *user, *account, *partition;
	const char *process;                                              /* "slurmctld", "closfoldd" */
	bool ok;                                                          /* status_id 1 or 2 */
	const char *status_code;                                          /* rule id or result word */
	const char *message;                                              /* one sentence */
	const char *cls, *grant, *purpose, *fiduciary, *contract, *basis; /* unmapped.dpdp */
	const char *policy_sha256;
	const char *producer; /* this process: "slurmctld" */
	uint64_t producer_seq;
	json_t *detail; /* borrowed: object stored under unmapped.closfold.<first part of the event name>, may be NULL
			 */
};

/* Canonical bytes, owned (free()). */
CLF_MUST_USE int clf_record_make(const struct clf_record_facts *f, const struct clf_clock *clock, char **out,
				 size_t *len, struct clf_error *err);

#endif
