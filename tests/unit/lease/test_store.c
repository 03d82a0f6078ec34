/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The ledger: what is committed is there after any crash, what is not is not, and nobody shares it. */
#include "lease/store.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "lease/frame.h"
#include "tap.h"

static char dir[300];

static void fresh(const char *name)
{
	snprintf(dir, sizeof dir, "%s/%s", clf_test_dir(), name);
}

static const char *in(const char *name)
{
	static char path[400];

	snprintf(path, sizeof path, "%s/%s", dir, name);
	return path;
}

static char *slurp(const char *path, size_t *len)
{
	FILE *f = fopen(path, "rb");
	char *p = calloc(1, 1 << 20);

	*len = f && p ? fread(p, 1, (1 << 20) - 1, f) : 0;
	if (f)
		fclose(f);
	return p;
}

static void spill(const char *path, const char *p, size_t n)
{
	FILE *f = fopen(path, "wb");

	if (!f || fwrite(p, 1, n, f) != n)
		diag("cannot write %s", path);
	if (f)
		fclose(f);
}

static int put(struct clf_store *s, uint32_t job, enum clf_lease_state state)
{
	CLF_CLEANUP(clf_lease_destroyp) struct clf_lease *l = clf_lease_create(NULL);

	l->job_id = job;
	l->submit_time_s = 1000 + job;
	l->state = state;
	snprintf(l->id, sizeof l->id, "L1-%u", job);
	if (clf_lease_set(&l->nodes, "n[1-2]", NULL) || clf_lease_set(&l->user, "u\n\"1", NULL))
		return -1;
	return clf_store_put(s, l, NULL);
}

static struct clf_store *reopen(struct clf_error *err)
{
	struct clf_store *s = NULL;

	return clf_store_open(dir, &s, err) ? NULL : s;
}

static void test_basics(void)
{
	struct clf_error err = { 0 };
	struct clf_store *s, *second = NULL;
	struct clf_store_facts f = { .log_n = 3, .generation = 2 }, g;
	uint32_t n = 0;

	fresh("basics");
	s = reopen(&err);
	ok(s && clf_store_epoch(s) == 1, "a new ledger has epoch 1 %s", err.text);
	ok(!put(s, 7, CLF_LEASE_GRANTED) && !put(s, 8, CLF_LEASE_GRANTED), "two leases");
	ok(!clf_store_fail(s, 9, 1009, 5, &n, NULL) && n == 1 && !clf_store_fail(s, 9, 1009, 6, &n, NULL) && n == 2,
	   "two failures");
	ok(!clf_store_fail(s, 9, 1010, 6, &n, NULL) && n == 1, "another submit time is another job");
	memset(f.log_hash, 'a', 64);
	ok(!clf_store_set_facts(s, &f, NULL), "facts");
	ok(!clf_store_commit(s, &err), "commit %s", err.text);
	ok(!put(s, 10, CLF_LEASE_GRANTED) && clf_store_find(s, "L1-10"), "a change is in memory at once");
	ok(clf_store_open(dir, &second, &err) == -1 && err.code == CLF_E_CONFLICT, "a second opener is refused: %s",
	   err.text);
	ok(!clf_store_read_facts(dir, &g, NULL) && g.log_n == 3, "facts are read without the lock");
	clf_store_close(s);
	err = (struct clf_error){ 0 };
	s = reopen(&err);
	ok(s && clf_store_epoch(s) == 2, "epoch counts openings %s", err.text);
	ok(!clf_store_find(s, "L1-10"), "what was not committed is gone");
	ok(clf_store_find_job(s, 7, 1007) && !clf_store_find_job(s, 7, 1008), "a job is id and submit time");
	is_str(clf_store_find(s, "L1-7")->user, "u\n\"1", "hostile text survives");
	is_int(clf_store_failures(s, 9, 1009), 2, "failure counts survive");
	is_int((long long) clf_store_nopen(s), 2, "two are open");
	ok(!put(s, 7, CLF_LEASE_CLOSED) && clf_store_nopen(s) == 1, "closing counts");
	ok(!clf_store_rollback(s, NULL) && clf_store_nopen(s) == 2, "rollback brings it back");
	clf_store_close(s);
}

static void test_fence(void)
{
	struct clf_error err = { 0 };
	struct clf_store *s;

	fresh("fence");
	s = reopen(&err);
	spill(in("epoch"), "2\n", 2);
	ok(!put(s, 1, CLF_LEASE_GRANTED), "a fenced store may change its memory");
	ok(clf_store_commit(s, &err) && err.code == CLF_E_CONFLICT, "but writes nothing: %s", err.text);
	clf_store_close(s);
}

/* Jobs 1..8, each committed alone, then two in one commit. */
static char *journal(size_t *len)
{
	struct clf_store *s = reopen(NULL);

	for (uint32_t j = 1; j <= 8; j++)
		if (put(s, j, CLF_LEASE_GRANTED) || clf_store_commit(s, NULL))
			return NULL;
	if (put(s, 9, CLF_LEASE_GRANTED) || put(s, 10, CLF_LEASE_GRANTED) || clf_store_commit(s, NULL))
		return NULL;
	clf_store_close(s);
	return slurp(in("ledger.journal"), len);
}

static void test_cut(void)
{
	size_t len, bad = 0;
	CLF_AUTO_FREE char *whole = NULL;

	fresh("cut");
	whole = journal(&len);
	for (size_t cut = 0; cut <= len; cut++) {
		struct clf_error err = { 0 };
		struct clf_store *s;
		size_t lines = 0;

		for (size_t i = 0; i < cut; i++)
			lines += whole[i] == '\n';
		spill(in("ledger.journal"), whole, cut);
		s = reopen(&err);
		if (!s || clf_store_nopen(s) != lines || put(s, 99, CLF_LEASE_GRANTED) || clf_store_commit(s, &err)) {
			if (!bad++)
				diag("cut at %zu: %s", cut, err.text);
		}
		clf_store_close(s);
		s = reopen(&err);
		if (!s || clf_store_nopen(s) != lines + 1 || clf_store_torn_bytes(s))
			bad++;
		clf_store_close(s);
	}
	is_int((long long) bad, 0, "each of %zu cuts gives the entries before it, and takes new ones", len + 1);
}

static void test_damage(void)
{
	size_t len, wrong = 0, last_batch;
	CLF_AUTO_FREE char *whole = NULL;
	CLF_AUTO_FREE char *p = NULL;

	fresh("damage");
	whole = journal(&len);
	p = malloc(len);
	/* start of the last write: entries 9 and 10 */
	last_batch = (size_t) ((char *) memmem(whole, len, " 9 9 {", 6) - whole) - 8;
	for (size_t i = 0; i < len; i += 3) {
		struct clf_error err = { 0 };
		struct clf_store *s;

		memcpy(p, whole, len);
		p[i] ^= 0x04;
		spill(in("ledger.journal"), p, len);
		s = reopen(&err);
		/* What was durable before the last write: refused. In the last write: it may be a crash's, and is cut.
		 */
		if (i < last_batch ? s != NULL || err.code != CLF_E_PARSE : !s || clf_store_nopen(s) > 10) {
			if (!wrong++)
				diag("byte %zu of %zu: %s", i, last_batch, s ? "opened" : err.text);
		}
		clf_store_close(s);
	}
	is_int((long long) wrong, 0, "a flipped byte in what was durable is refused, in the last write cut off");
}

static void test_compact(void)
{
	struct clf_error err = { 0 };
	struct clf_store *s;
	size_t len, n;
	uint32_t k = 0;
	CLF_AUTO_FREE char *big = malloc(60001);
	CLF_AUTO_FREE char *old = NULL;
	CLF_AUTO_FREE char *now = NULL;

	fresh("compact");
	memset(big, 'n', 60000);
	big[60000] = '\0';
	s = reopen(&err);
	for (; k < 10000 && stat(in("ledger.snapshot"), &(struct stat){ 0 }); k++) {
		CLF_CLEANUP(clf_lease_destroyp) struct clf_lease *l = clf_lease_create(NULL);

		l->job_id = 1 + k % 7;
		snprintf(l->id, sizeof l->id, "L1-%u", l->job_id);
		l->restart = k;
		free(old);
		old = slurp(in("ledger.journal"), &len);
		if (clf_lease_set(&l->nodes, big, NULL) || clf_store_put(s, l, &err) || clf_store_commit(s, &err))
			break;
	}
	ok(k > 100 && k < 200, "a long journal becomes a snapshot after %u entries %s", k, err.text);
	now = slurp(in("ledger.journal"), &n);
	is_int((long long) n, 0, "the journal is empty then");
	ok(!put(s, 50, CLF_LEASE_GRANTED) && !clf_store_commit(s, NULL), "and goes on");
	clf_store_close(s);
	s = reopen(&err);
	ok(s && clf_store_nopen(s) == 8 && clf_store_find(s, "L1-1"), "both are read %s", err.text);
	clf_store_close(s);
	/* The crash between snapshot and emptying: entries that the snapshot covers are passed over. */
	if (len < (1 << 20) - 1) {
		spill(in("ledger.journal"), old, len);
		s = reopen(&err);
		ok(s && clf_store_nopen(s) == 7, "entries covered by the snapshot do no harm %s", err.text);
		clf_store_close(s);
	}
	spill(in("ledger.snapshot"), "x", 1);
	err = (struct clf_error){ 0 };
	ok(!reopen(&err) && err.code == CLF_E_PARSE, "half a snapshot is refused: %s", err.text);
}

static void test_full(void)
{
	struct clf_error err = { 0 };
	struct clf_store *s;
	struct rlimit old, lim;
	struct stat st;

	fresh("full");
	s = reopen(&err);
	ok(!put(s, 1, CLF_LEASE_GRANTED) && !clf_store_commit(s, NULL), "one lease");
	stat(in("ledger.journal"), &st);
	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &old);
	lim = (struct rlimit){ (rlim_t) st.st_size + 50, old.rlim_max };
	setrlimit(RLIMIT_FSIZE, &lim);
	ok(!put(s, 2, CLF_LEASE_GRANTED) && clf_store_commit(s, &err) && err.code == CLF_E_IO, "no room: %s", err.text);
	ok(!clf_store_find(s, "L1-2") && clf_store_find(s, "L1-1"), "memory is what the disk is again");
	setrlimit(RLIMIT_FSIZE, &old);
	ok(!put(s, 2, CLF_LEASE_GRANTED) && !clf_store_commit(s, NULL), "with room it goes on");
	clf_store_close(s);
	s = reopen(&err);
	ok(s && clf_store_nopen(s) == 2, "and is read again %s", err.text);
	clf_store_close(s);
}

/* Closed leases are kept, but not for ever; replaying gives what the writer had. */
static void test_forget(void)
{
	struct clf_store *s;
	size_t i = 0, n = 0, m = 0;

	fresh("forget");
	s = reopen(NULL);
	for (uint32_t j = 1; j <= CLF_STORE_CLOSED_MAX + 10; j++)
		if (put(s, j, CLF_LEASE_CLOSED))
			break;
	ok(!put(s, 100000, CLF_LEASE_GRANTED) && !clf_store_commit(s, NULL), "many closed, one open");
	while (clf_store_next(s, &i))
		n++;
	clf_store_close(s);
	s = reopen(NULL);
	for (i = 0; clf_store_next(s, &i);)
		m++;
	ok(n < CLF_STORE_CLOSED_MAX && n == m && clf_store_find(s, "L1-100000"), "%zu are kept, after a restart %zu", n,
	   m);
	clf_store_close(s);
}

int main(void)
{
	is_int(clf_crc32c("123456789", 9), 0xE3069283LL, "CRC-32C check value");
	test_basics();
	test_fence();
	test_cut();
	test_damage();
	test_compact();
	test_full();
	test_forget();
	return done_testing();
}
