/* SPDX-License-Identifier: GPL-2.0-or-later */
/* store.h - the ledger: leases, failure counts and what closfoldd must not forget, in a journal that survives kill -9
 * at any byte.
 *
 * DIR/lock            held with flock(2) while the store is open
 * DIR/epoch           counts openings; a store whose epoch is no longer the file's has been fenced off and writes
 * nothing more DIR/ledger.snapshot everything up to entry N, replaced by rename DIR/ledger.journal  entries after N,
 * appended (docs/formats/journal.md)
 *
 * Changes are in memory at once and durable after commit(). When commit() fails, memory is what the disk is again.
 * Errors: open: CLF_E_CONFLICT somebody else holds the directory (text names the process); CLF_E_PARSE damage that is
 * no torn end; commit: CLF_E_IO, or CLF_E_CONFLICT when fenced off. Memory: open/close; leases got from it are borrowed
 * until the next call that changes it.
 */
#ifndef CLF_LEASE_STORE_H
#define CLF_LEASE_STORE_H

#include "lease/lease.h"

#define CLF_STORE_CLOSED_MAX                                                                                           \
	2048u /* closed leases kept for `closfold lease list --all`; half of them go when it is passed */
#define CLF_STORE_FAILURES_MAX 65536u     /* the oldest half goes */
#define CLF_STORE_COMPACT      (8u << 20) /* bytes of journal */

/* The audit log as it was known to be durable, and the policy in force: remembered here so that a cut log is seen. */
struct clf_store_facts {
	uint64_t log_n;
	char log_hash[65];
	uint64_t generation;
	char policy_sha256[65], topology_sha256[65];
};

struct clf_store;
CLF_MUST_USE int clf_store_open(const char *dir, struct clf_store **out, struct clf_error *err);
void clf_store_close(struct clf_store *s);
CLF_DEFINE_CLEANUP(struct clf_store, clf_store_close)

uint64_t clf_store_epoch(const struct clf_store *s);
uint64_t clf_store_torn_bytes(const struct clf_store *s); /* cut off the journal's end when it was opened */

/* Next lease id. */
void clf_store_new_id(struct clf_store *s, char id[CLF_LEASE_ID]);
CLF_MUST_USE int clf_store_put(struct clf_store *s, const struct clf_lease *l,
			       struct clf_error *err); /* copied; by id */
/* Count one failed start; *n is the new count. */
CLF_MUST_USE int clf_store_fail(struct clf_store *s, uint32_t job_id, int64_t submit_time_s, int64_t now_ms,
				uint32_t *n, struct clf_error *err);
CLF_MUST_USE int clf_store_clear_failures(struct clf_store *s, uint32_t job_id, int64_t submit_time_s,
					  struct clf_error *err);
CLF_MUST_USE int clf_store_set_facts(struct clf_store *s, const struct clf_store_facts *f, struct clf_error *err);
CLF_MUST_USE int clf_store_commit(struct clf_store *s, struct clf_error *err);
bool clf_store_dirty(const struct clf_store *s);
/* Forget what was not committed. Done by a failed commit too. */
CLF_MUST_USE int clf_store_rollback(struct clf_store *s, struct clf_error *err);

const struct clf_store_facts *clf_store_facts(const struct clf_store *s);
const struct clf_lease *clf_store_find(const struct clf_store *s, const char *id);
/* The newest lease of a job, open or not. */
const struct clf_lease *clf_store_find_job(const struct clf_store *s, uint32_t job_id, int64_t submit_time_s);
uint32_t clf_store_failures(const struct clf_store *s, uint32_t job_id, int64_t submit_time_s);
/* Leases in the order they were made: i from 0; NULL entries are skipped by the call. Returns NULL at the end. */
const struct clf_lease *clf_store_next(const struct clf_store *s, size_t *i);
size_t clf_store_nopen(const struct clf_store *s);

/* Keys that were in a lease's network: when its release was last verified. false past the end. */
struct clf_key_rest {
	const char *fabric; /* borrowed */
	uint16_t key;
	int64_t closed_ms;
};
bool clf_store_key_rest(const struct clf_store *s, size_t i, struct clf_key_rest *out);
/* The key that was given last on a fabric; 0 = none yet. */
uint16_t clf_store_key_last(const struct clf_store *s, const char *fabric);

/* Facts as they stand on disk, for readers without the lock. CLF_E_NOTFOUND when there is no ledger. */
CLF_MUST_USE int clf_store_read_facts(const char *dir, struct clf_store_facts *out, struct clf_error *err);

#endif
