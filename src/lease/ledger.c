/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lease/ledger.h"

#include <stdio.h>
#include <string.h>

#define GONE UINT32_MAX

void clf_ledger_done(struct clf_ledger *g)
{
	for (size_t i = 0; i < g->n; i++)
		clf_lease_destroy(g->leases[i]);
	free(g->leases);
	free(g->failures);
	for (size_t i = 0; i < g->nkeys; i++)
		free(g->keys[i].fabric);
	free(g->keys);
	clf_strmap_done(&g->key_of);
	clf_strmap_done(&g->by_id);
	clf_strmap_done(&g->by_job);
	clf_strmap_done(&g->failure_of);
	memset(g, 0, sizeof *g);
}

const struct clf_lease *clf_ledger_find(const struct clf_ledger *g, const char *id)
{
	uint32_t i = GONE;

	return clf_strmap_find(&g->by_id, id, &i) && i != GONE ? g->leases[i] : NULL;
}

const struct clf_lease *clf_ledger_find_job(const struct clf_ledger *g, uint32_t job_id, int64_t submit_time_s)
{
	char key[40];
	uint32_t i = GONE;

	clf_lease_job_key(job_id, submit_time_s, key);
	return clf_strmap_find(&g->by_job, key, &i) && i != GONE ? g->leases[i] : NULL;
}

const struct clf_failure *clf_ledger_failure(const struct clf_ledger *g, uint32_t job_id, int64_t submit_time_s)
{
	char key[40];
	uint32_t i = GONE;

	clf_lease_job_key(job_id, submit_time_s, key);
	return clf_strmap_find(&g->failure_of, key, &i) && i != GONE ? &g->failures[i] : NULL;
}

static void count(struct clf_ledger *g, const struct clf_lease *l, int by)
{
	*(clf_lease_open(l) ? &g->nopen : &g->nclosed) += (size_t) by;
}

/* New maps over leases and failures, after some of them went. */
static int reindex(struct clf_ledger *g, struct clf_error *err)
{
	struct clf_strmap id = { .copy = true }, job = { .copy = true }, fail = { .copy = true };
	char key[40];
	int rc = 0;

	for (size_t i = 0; !rc && i < g->n; i++) {
		clf_lease_job_key(g->leases[i]->job_id, g->leases[i]->submit_time_s, key);
		rc = clf_strmap_set(&id, g->leases[i]->id, (uint32_t) i, err) ||
		     clf_strmap_set(&job, key, (uint32_t) i, err);
	}
	for (size_t i = 0; !rc && i < g->nfailures; i++) {
		clf_lease_job_key(g->failures[i].job_id, g->failures[i].submit_time_s, key);
		rc = clf_strmap_set(&fail, key, (uint32_t) i, err);
	}
	if (rc) {
		clf_strmap_done(&id);
		clf_strmap_done(&job);
		clf_strmap_done(&fail);
		return -1;
	}
	clf_strmap_done(&g->by_id);
	clf_strmap_done(&g->by_job);
	clf_strmap_done(&g->failure_of);
	g->by_id = id;
	g->by_job = job;
	g->failure_of = fail;
	return 0;
}

/* Same entries, same order, same outcome: replaying a journal drops what the writer dropped. */
static int drop_oldest_closed(struct clf_ledger *g, struct clf_error *err)
{
	size_t keep = 0, left = CLF_STORE_CLOSED_MAX / 2;

	for (size_t i = 0; i < g->n; i++) {
		if (left && !clf_lease_open(g->leases[i])) {
			count(g, g->leases[i], -1);
			clf_lease_destroy(g->leases[i]);
			left--;
			continue;
		}
		g->leases[keep++] = g->leases[i];
	}
	g->n = keep;
	return reindex(g, err);
}

static void *grow(void *v, size_t n, size_t *cap, size_t size)
{
	if (n < *cap)
		return v;

	size_t want = *cap ? 2 * *cap : 64;
	void *p = want < GONE ? realloc(v, want * size) : NULL;

	if (p)
		*cap = want;
	return p;
}

/* The entry of a key, made when it is new. */
static struct clf_ledger_key *key_entry(struct clf_ledger *g, const char *fabric, uint16_t key, struct clf_error *err)
{
	char name[80];
	uint32_t i;
	void *v;

	snprintf(name, sizeof name, "%.64s/%u", fabric, key);
	if (clf_strmap_find(&g->key_of, name, &i))
		return &g->keys[i];
	v = grow(g->keys, g->nkeys, &g->keys_cap, sizeof *g->keys);
	if (v)
		g->keys = v;
	if (!v || !(g->keys[g->nkeys].fabric = strdup(fabric)))
		return clf_fail(err, CLF_E_NOMEM, "out of memory"), NULL;
	if (clf_strmap_set(&g->key_of, name, (uint32_t) g->nkeys, err)) {
		free(g->keys[g->nkeys].fabric);
		return NULL;
	}
	g->keys[g->nkeys].key = key;
	g->keys[g->nkeys].last = false;
	g->keys[g->nkeys].closed_ms = 0;
	return &g->keys[g->nkeys++];
}

static int key_given(struct clf_ledger *g, const char *fabric, uint16_t key, struct clf_error *err)
{
	struct clf_ledger_key *k = key_entry(g, fabric, key, err);

	if (!k)
		return -1;
	if (k->last)
		return 0;
	for (size_t i = 0; i < g->nkeys; i++)
		if (!strcmp(g->keys[i].fabric, fabric))
			g->keys[i].last = false;
	k->last = true;
	return 0;
}

/* Keys of a lease as it is now: given with the first entry that has them, at rest when it is over. */
static int keys_of(struct clf_ledger *g, const struct clf_lease *l, bool first, struct clf_error *err)
{
	for (size_t i = 0; i < l->nnets; i++) {
		struct clf_ledger_key *k;

		if (first && key_given(g, l->nets[i].fabric, l->nets[i].key, err))
			return -1;
		if (clf_lease_open(l))
			continue;
		k = key_entry(g, l->nets[i].fabric, l->nets[i].key, err);
		if (!k)
			return -1;
		if (l->closed_ms > k->closed_ms)
			k->closed_ms = l->closed_ms;
	}
	return 0;
}

static int put(struct clf_ledger *g, struct clf_lease *l /* stolen */, struct clf_error *err)
{
	CLF_CLEANUP(clf_lease_destroyp) struct clf_lease *own = l;
	char key[40];
	uint32_t i = GONE;
	void *v;

	clf_lease_job_key(l->job_id, l->submit_time_s, key);
	if (keys_of(g, l, !clf_ledger_find(g, l->id), err))
		return -1;
	if (clf_strmap_find(&g->by_id, l->id, &i) && i != GONE) {
		count(g, g->leases[i], -1);
		clf_lease_destroy(g->leases[i]);
		count(g, l, 1);
		g->leases[i] = CLF_STEAL(own);
	} else {
		v = grow(g->leases, g->n, &g->cap, sizeof *g->leases);
		if (!v)
			return clf_fail(err, CLF_E_NOMEM, "out of memory");
		g->leases = v;
		if (clf_strmap_set(&g->by_id, l->id, (uint32_t) g->n, err))
			return -1;
		if (clf_strmap_set(&g->by_job, key, (uint32_t) g->n, err)) {
			if (clf_strmap_set(&g->by_id, l->id, GONE, NULL)) /* the key is there: no memory is needed */
				return clf_fail(err, CLF_E_INTERNAL, "map lost a key");
			return -1;
		}
		count(g, l, 1);
		g->leases[g->n++] = CLF_STEAL(own);
	}
	return g->nclosed > CLF_STORE_CLOSED_MAX ? drop_oldest_closed(g, err) : 0;
}

static int failure(struct clf_ledger *g, struct clf_failure f, struct clf_error *err)
{
	struct clf_failure *have = (struct clf_failure *) clf_ledger_failure(g, f.job_id, f.submit_time_s);
	char key[40];
	void *v;

	if (have) {
		*have = f; /* n 0 stays until room is made */
		return 0;
	}
	if (!f.n)
		return 0;
	v = grow(g->failures, g->nfailures, &g->failures_cap, sizeof *g->failures);
	if (!v)
		return clf_fail(err, CLF_E_NOMEM, "out of memory");
	g->failures = v;
	clf_lease_job_key(f.job_id, f.submit_time_s, key);
	if (clf_strmap_set(&g->failure_of, key, (uint32_t) g->nfailures, err))
		return -1;
	g->failures[g->nfailures++] = f;
	if (g->nfailures <= CLF_STORE_FAILURES_MAX)
		return 0;

	size_t keep = 0;

	for (size_t i = 0; i < g->nfailures; i++)
		if (i >= CLF_STORE_FAILURES_MAX / 2 && g->failures[i].n)
			g->failures[keep++] = g->failures[i];
	g->nfailures = keep;
	return reindex(g, err);
}

static int hash_member(const json_t *j, const char *key, char out[65], struct clf_error *err)
{
	const char *s = json_string_value(json_object_get(j, key));

	if (!s || (strlen(s) != 64 && *s))
		return clf_fail(err, CLF_E_PARSE, "ledger: '%s' is no SHA-256", key);
	strcpy(out, s);
	return 0;
}

static int facts(struct clf_ledger *g, const json_t *j, struct clf_error *err)
{
	struct clf_store_facts f = { .log_n = (uint64_t) json_integer_value(json_object_get(j, "log_n")),
				     .generation = (uint64_t) json_integer_value(json_object_get(j, "generation")) };

	if (hash_member(j, "log_hash", f.log_hash, err) || hash_member(j, "policy_sha256", f.policy_sha256, err) ||
	    hash_member(j, "topology_sha256", f.topology_sha256, err))
		return -1;
	g->facts = f;
	return 0;
}

static int key_fact(struct clf_ledger *g, const json_t *j, struct clf_error *err)
{
	const char *fabric = json_string_value(json_object_get(j, "fabric"));
	json_int_t key = json_integer_value(json_object_get(j, "key"));
	struct clf_ledger_key *k;

	if (!fabric || !*fabric || key < 1 || key > UINT16_MAX)
		return clf_fail(err, CLF_E_PARSE, "ledger: a key is wrong");
	if (json_is_true(json_object_get(j, "last")) && key_given(g, fabric, (uint16_t) key, err))
		return -1;
	if (!(k = key_entry(g, fabric, (uint16_t) key, err)))
		return -1;
	k->closed_ms = json_integer_value(json_object_get(j, "closed_ms"));
	return 0;
}

int clf_ledger_apply(struct clf_ledger *g, const json_t *entry, struct clf_error *err)
{
	const json_t *j;
	struct clf_lease *l = NULL;

	if (!g->by_id.copy)
		g->by_id.copy = g->by_job.copy = g->failure_of.copy = g->key_of.copy = true;
	if ((j = json_object_get(entry, "lease")))
		return clf_lease_from_json(j, &l, err) ? -1 : put(g, l, err);
	if ((j = json_object_get(entry, "failure")))
		return failure(
			g,
			(struct clf_failure){ .job_id = (uint32_t) json_integer_value(json_object_get(j, "job_id")),
					      .n = (uint32_t) json_integer_value(json_object_get(j, "n")),
					      .submit_time_s = json_integer_value(json_object_get(j, "submit_time")),
					      .last_ms = json_integer_value(json_object_get(j, "ms")) },
			err);
	if ((j = json_object_get(entry, "facts")))
		return facts(g, j, err);
	if ((j = json_object_get(entry, "key")))
		return key_fact(g, j, err);
	return clf_fail(err, CLF_E_PARSE, "ledger entry of an unknown kind");
}

json_t *clf_ledger_lease_entry(const struct clf_lease *l)
{
	return json_pack("{s:o}", "lease", clf_lease_to_json(l));
}

json_t *clf_ledger_failure_entry(const struct clf_failure *f)
{
	return json_pack("{s:{s:I,s:I,s:I,s:I}}", "failure", "job_id", (json_int_t) f->job_id, "n", (json_int_t) f->n,
			 "submit_time", (json_int_t) f->submit_time_s, "ms", (json_int_t) f->last_ms);
}

json_t *clf_ledger_facts_entry(const struct clf_store_facts *f)
{
	return json_pack("{s:{s:I,s:s,s:I,s:s,s:s}}", "facts", "log_n", (json_int_t) f->log_n, "log_hash", f->log_hash,
			 "generation", (json_int_t) f->generation, "policy_sha256", f->policy_sha256, "topology_sha256",
			 f->topology_sha256);
}

json_t *clf_ledger_key_entry(const struct clf_ledger_key *k)
{
	return json_pack("{s:{s:s,s:i,s:b,s:I}}", "key", "fabric", k->fabric, "key", (int) k->key, "last", k->last,
			 "closed_ms", (json_int_t) k->closed_ms);
}
