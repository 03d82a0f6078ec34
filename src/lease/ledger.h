/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ledger.h - what the entries of a journal add up to, in memory; store.c keeps it on disk.
 * Pure. Memory: init/done on the caller's storage. Errors: CLF_E_PARSE for an entry of another form, CLF_E_NOMEM. */
#ifndef CLF_LEASE_LEDGER_H
#define CLF_LEASE_LEDGER_H

#include "base/strmap.h"
#include "lease/store.h"

struct clf_failure {
	uint32_t job_id, n;
	int64_t submit_time_s, last_ms;
};

/* What is remembered of a fabric's keys when their leases are long dropped. */
struct clf_ledger_key {
	char *fabric;
	uint16_t key;
	bool last;         /* the one given last on its fabric */
	int64_t closed_ms; /* 0 = never closed */
};

struct clf_ledger {
	struct clf_lease **leases; /* NULL where one was dropped */
	size_t n, cap, nclosed, nopen;
	struct clf_failure *failures;
	size_t nfailures, failures_cap;
	struct clf_ledger_key *keys;
	size_t nkeys, keys_cap;
	struct clf_strmap by_id, by_job, failure_of, key_of; /* value: index; by_job the newest; key_of "fabric/key" */
	struct clf_store_facts facts;
};
void clf_ledger_done(struct clf_ledger *g);
CLF_MUST_USE int clf_ledger_apply(struct clf_ledger *g, const json_t *entry, struct clf_error *err);

/* Entries; new references, NULL when memory ends. */
json_t *clf_ledger_lease_entry(const struct clf_lease *l);
json_t *clf_ledger_failure_entry(const struct clf_failure *f); /* n 0 = forget */
json_t *clf_ledger_facts_entry(const struct clf_store_facts *f);
json_t *clf_ledger_key_entry(const struct clf_ledger_key *k);

const struct clf_lease *clf_ledger_find(const struct clf_ledger *g, const char *id);
const struct clf_lease *clf_ledger_find_job(const struct clf_ledger *g, uint32_t job_id, int64_t submit_time_s);
const struct clf_failure *clf_ledger_failure(const struct clf_ledger *g, uint32_t job_id, int64_t submit_time_s);

#endif
