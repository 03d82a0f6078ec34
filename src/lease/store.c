/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lease/store.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "base/path.h"
#include "lease/frame.h"
#include "lease/ledger.h"

#define FILE_MAX (1u << 30)

struct clf_store {
	char dir[PATH_MAX - 64];
	int lock, fd; /* fd: journal, -1 after a failure until it is cut back */
	uint64_t epoch, next_id;
	uint64_t seq, durable_seq; /* of the last entry */
	uint64_t size;             /* durable bytes of the journal */
	uint64_t torn;
	bool failed; /* the journal may have bytes behind size */
	bool broken; /* memory is not what the disk is, and could not be made so */
	struct clf_buf pending;
	struct clf_ledger g;
};

static const char *in_dir(const char *dir, const char *name, char path[PATH_MAX])
{
	snprintf(path, PATH_MAX, "%s/%s", dir, name);
	return path;
}

/* One pass over a file of frames. first: seq of the first wanted entry; earlier ones are passed over. */
struct reading {
	struct clf_ledger *g;
	uint64_t seq;     /* of the last entry taken */
	uint64_t good;    /* bytes up to the end of the last good line */
	uint64_t torn;    /* bytes behind it */
	uint64_t covered; /* snapshot: last journal entry it stands for */
	bool whole;       /* snapshot: its end was seen */
};

static int apply_frame(struct reading *r, const struct clf_frame *f, const char *file, int line, struct clf_error *err)
{
	struct clf_error why = { 0 };
	json_error_t je;
	json_auto_t *j = json_loadb(f->json, f->len, JSON_REJECT_DUPLICATES, &je);
	json_t *v;

	if (!j)
		return clf_fail_at(err, CLF_E_PARSE, file, line, 0, "entry is not JSON: %s", je.text);
	if ((v = json_object_get(j, "snapshot"))) {
		const char *format = json_string_value(json_object_get(v, "format"));

		if (!format || strcmp(format, "closfold-ledger/1") != 0)
			return clf_fail_at(err, CLF_E_PARSE, file, line, 0, "format is not 'closfold-ledger/1'");
		r->covered = (uint64_t) json_integer_value(json_object_get(v, "covers"));
		return 0;
	}
	if (json_object_get(j, "end")) {
		r->whole = true;
		return 0;
	}
	if (clf_ledger_apply(r->g, j, &why))
		return clf_fail_at(err, why.code, file, line, 0, "%s", why.text);
	return 0;
}

/* Is the damage at seq the end of a write that never became durable? Then no good line behind it is of a later write.
 */
static bool only_torn(struct clf_lines it, uint64_t seq)
{
	struct clf_frame f;
	const char *line;
	size_t len;

	while (clf_lines_next(&it, &line, &len))
		if (!clf_frame_parse(line, len, &f, NULL) && f.batch > seq)
			return false;
	return true;
}

static int read_frames(struct reading *r, const struct clf_text *t, struct clf_error *err)
{
	struct clf_lines it = clf_lines_begin(t);
	const char *line;
	size_t len;

	while (clf_lines_next(&it, &line, &len)) {
		struct clf_frame f;
		struct clf_error why = { 0 };
		bool whole = line + len < t->data + t->len && line[len] == '\n';

		if (!whole || clf_frame_parse(line, len, &f, &why) || f.seq > r->seq + 1) {
			if (!only_torn(it, r->seq + 1))
				return clf_fail_at(
					err, CLF_E_PARSE, t->name, it.line, 0,
					"ledger is damaged (%s) and good entries follow: restore it from a copy",
					why.text[0] ? why.text : "entries are missing");
			break;
		}
		if (f.seq == r->seq + 1) {
			if (apply_frame(r, &f, t->name, it.line, err))
				return -1;
			r->seq++;
		}
		r->good = (uint64_t) (line + len + 1 - t->data);
	}
	r->torn = t->len - r->good;
	return 0;
}

static int load_text(const char *dir, const char *name, struct clf_text *t, struct clf_error *err)
{
	struct clf_error why = { 0 };
	char path[PATH_MAX];

	if (!clf_text_load(in_dir(dir, name, path), FILE_MAX, t, &why))
		return 0;
	if (why.code == CLF_E_NOTFOUND)
		return 0; /* empty */
	return clf_fail(err, why.code, "%s", why.text);
}

/* Snapshot, then what the first `limit` bytes of the journal add. */
static int load(const char *dir, uint64_t limit, struct clf_ledger *g, struct reading *journal, bool *any,
		struct clf_error *err)
{
	struct clf_text t = { 0 };
	struct reading snap = { .g = g };
	int rc = load_text(dir, "ledger.snapshot", &t, err);

	if (!rc && t.data) {
		rc = read_frames(&snap, &t, err);
		if (!rc && (!snap.whole || snap.torn))
			rc = clf_fail_at(err, CLF_E_PARSE, t.name, 0, 0,
					 "snapshot of the ledger is not whole: restore it from a copy");
	}
	*any = t.data != NULL;
	clf_text_done(&t);
	if (rc)
		return -1;
	*journal = (struct reading){ .g = g, .seq = snap.covered };
	t = (struct clf_text){ 0 };
	rc = load_text(dir, "ledger.journal", &t, err);
	if (t.len > limit)
		t.len = limit;
	if (!rc && t.data)
		rc = read_frames(journal, &t, err);
	*any = *any || t.data;
	clf_text_done(&t);
	return rc;
}

static int lock_dir(struct clf_store *s, struct clf_error *err)
{
	char path[PATH_MAX], who[32] = "";

	s->lock = open(in_dir(s->dir, "lock", path), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (s->lock < 0)
		return clf_fail(err, CLF_E_IO, "cannot open '%s': %s", path, strerror(errno));
	if (flock(s->lock, LOCK_EX | LOCK_NB)) {
		if (errno != EWOULDBLOCK)
			return clf_fail(err, CLF_E_IO, "cannot lock '%s': %s", path, strerror(errno));
		if (pread(s->lock, who, sizeof who - 1, 0) < 0)
			who[0] = '\0';
		return clf_fail(err, CLF_E_CONFLICT,
				"state directory '%s' is in use by another closfoldd (process %.*s)", s->dir,
				(int) strspn(who, "0123456789"), who);
	}
	snprintf(who, sizeof who, "%d\n", (int) getpid());
	if (ftruncate(s->lock, 0) || pwrite(s->lock, who, strlen(who), 0) < 0)
		return clf_fail(err, CLF_E_IO, "cannot write '%s': %s", path, strerror(errno));
	return 0;
}

static int read_epoch(const char *dir, uint64_t *out, struct clf_error *err)
{
	struct clf_text t = { 0 };
	unsigned long long v = 0;
	int rc = load_text(dir, "epoch", &t, err);

	if (!rc && t.data && (!t.len || !clf_parse_u64(t.data, t.len - (t.data[t.len - 1] == '\n'), &v)))
		rc = clf_fail_at(err, CLF_E_PARSE, t.name, 1, 1, "epoch is not a number");
	clf_text_done(&t);
	*out = v;
	return rc;
}

static int next_epoch(struct clf_store *s, struct clf_error *err)
{
	char path[PATH_MAX], text[32];

	if (read_epoch(s->dir, &s->epoch, err))
		return -1;
	snprintf(text, sizeof text, "%" PRIu64 "\n", ++s->epoch);
	return clf_path_write_atomic(in_dir(s->dir, "epoch", path), 0600, text, strlen(text), err);
}

static int open_journal(struct clf_store *s, struct clf_error *err)
{
	char path[PATH_MAX];

	s->fd = open(in_dir(s->dir, "ledger.journal", path), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (s->fd < 0)
		return clf_fail(err, CLF_E_IO, "cannot open '%s': %s", path, strerror(errno));
	if (ftruncate(s->fd, (off_t) s->size) || fdatasync(s->fd))
		return clf_fail(err, CLF_E_IO, "cannot cut the end off '%s': %s", path, strerror(errno));
	return clf_path_fsync_dir(s->dir, err);
}

int clf_store_open(const char *dir, struct clf_store **out, struct clf_error *err)
{
	CLF_CLEANUP(clf_store_closep) struct clf_store *s = calloc(1, sizeof *s);
	struct reading r;
	bool any;

	if (!s)
		return clf_fail(err, CLF_E_NOMEM, "out of memory");
	s->lock = s->fd = -1;
	s->pending.max = 64u << 20;
	if (snprintf(s->dir, sizeof s->dir, "%s", dir) >= (int) sizeof s->dir)
		return clf_fail(err, CLF_E_INVALID, "path of the state directory is too long");
	if (clf_path_mkdirs(dir, 0755, err) || lock_dir(s, err) || next_epoch(s, err) ||
	    load(dir, UINT64_MAX, &s->g, &r, &any, err))
		return -1;
	s->seq = s->durable_seq = r.seq;
	s->size = r.good;
	s->torn = r.torn;
	if (open_journal(s, err))
		return -1;
	*out = CLF_STEAL(s);
	return 0;
}

void clf_store_close(struct clf_store *s)
{
	if (!s)
		return;
	clf_ledger_done(&s->g);
	clf_buf_done(&s->pending);
	clf_closep(&s->fd);
	clf_closep(&s->lock); /* last: it lets the next one in */
	free(s);
}

uint64_t clf_store_epoch(const struct clf_store *s)
{
	return s->epoch;
}

uint64_t clf_store_torn_bytes(const struct clf_store *s)
{
	return s->torn;
}

void clf_store_new_id(struct clf_store *s, char id[CLF_LEASE_ID])
{
	snprintf(id, CLF_LEASE_ID, "L%" PRIu64 "-%" PRIu64, s->epoch, ++s->next_id);
}

/* The bytes that go to disk are made first: what cannot be written is not in memory either. */
static int enter(struct clf_store *s, json_t *entry /* stolen */, struct clf_error *err)
{
	json_auto_t *j = entry;
	size_t before = s->pending.len;

	if (!j)
		return clf_fail(err, CLF_E_NOMEM, "out of memory");
	if (clf_frame_add(&s->pending, s->seq + 1, s->durable_seq + 1, j, err))
		return -1;
	if (clf_ledger_apply(&s->g, j, err)) {
		s->pending.len = before;
		return -1;
	}
	s->seq++;
	return 0;
}

int clf_store_put(struct clf_store *s, const struct clf_lease *l, struct clf_error *err)
{
	return enter(s, clf_ledger_lease_entry(l), err);
}

int clf_store_fail(struct clf_store *s, uint32_t job_id, int64_t submit_time_s, int64_t now_ms, uint32_t *n,
		   struct clf_error *err)
{
	struct clf_failure f = { .job_id = job_id,
				 .n = clf_store_failures(s, job_id, submit_time_s) + 1,
				 .submit_time_s = submit_time_s,
				 .last_ms = now_ms };

	if (enter(s, clf_ledger_failure_entry(&f), err))
		return -1;
	*n = f.n;
	return 0;
}

int clf_store_clear_failures(struct clf_store *s, uint32_t job_id, int64_t submit_time_s, struct clf_error *err)
{
	struct clf_failure f = { .job_id = job_id, .submit_time_s = submit_time_s };

	return clf_store_failures(s, job_id, submit_time_s) ? enter(s, clf_ledger_failure_entry(&f), err) : 0;
}

int clf_store_set_facts(struct clf_store *s, const struct clf_store_facts *f, struct clf_error *err)
{
	return enter(s, clf_ledger_facts_entry(f), err);
}

bool clf_store_dirty(const struct clf_store *s)
{
	return s->pending.len > 0;
}

int clf_store_rollback(struct clf_store *s, struct clf_error *err)
{
	struct clf_ledger g = { 0 };
	struct reading r;
	bool any;

	clf_buf_reset(&s->pending);
	if (load(s->dir, s->size, &g, &r, &any, err)) {
		clf_ledger_done(&g);
		s->broken = true;
		return -1;
	}
	s->broken = false;
	clf_ledger_done(&s->g);
	s->g = g;
	s->seq = s->durable_seq = r.seq;
	return 0;
}

static int check_fence(const struct clf_store *s, struct clf_error *err)
{
	uint64_t now;

	if (read_epoch(s->dir, &now, err))
		return -1;
	if (now != s->epoch)
		return clf_fail(err, CLF_E_CONFLICT, "another closfoldd has taken over '%s'", s->dir);
	return 0;
}

static int write_snapshot(const struct clf_store *s, struct clf_error *err)
{
	struct clf_buf b = CLF_BUF_INIT(FILE_MAX);
	uint64_t n = 0;
	char path[PATH_MAX];
	json_t *head = json_pack("{s:{s:s,s:I}}", "snapshot", "format", "closfold-ledger/1", "covers",
				 (json_int_t) s->durable_seq);
	json_t *end = json_pack("{s:b}", "end", true);
	int rc = clf_frame_add(&b, ++n, 1, head, err);
	json_t *j = NULL;

	for (size_t i = 0; !rc && i < s->g.n; i++) {
		rc = clf_frame_add(&b, ++n, 1, j = clf_ledger_lease_entry(s->g.leases[i]), err);
		json_decref(j);
	}
	for (size_t i = 0; !rc && i < s->g.nfailures; i++) {
		rc = clf_frame_add(&b, ++n, 1, j = clf_ledger_failure_entry(&s->g.failures[i]), err);
		json_decref(j);
	}
	for (size_t i = 0; !rc && i < s->g.nkeys; i++) { /* behind the leases: which was last is theirs to say */
		rc = clf_frame_add(&b, ++n, 1, j = clf_ledger_key_entry(&s->g.keys[i]), err);
		json_decref(j);
	}
	if (!rc) {
		rc = clf_frame_add(&b, ++n, 1, j = clf_ledger_facts_entry(&s->g.facts), err);
		json_decref(j);
	}
	rc = rc || clf_frame_add(&b, ++n, 1, end, err);
	rc = rc || clf_path_write_atomic(in_dir(s->dir, "ledger.snapshot", path), 0600, b.data, b.len, err);
	json_decref(head);
	json_decref(end);
	clf_buf_done(&b);
	return rc ? -1 : 0;
}

/* The journal begins anew once the snapshot is durable; a crash between the two leaves entries that the snapshot
 * covers. */
static void compact(struct clf_store *s)
{
	if (write_snapshot(s, NULL))
		return;
	s->size = 0;
	s->failed = ftruncate(s->fd, 0) || fdatasync(s->fd);
}

static int write_pending(struct clf_store *s, struct clf_error *err)
{
	if (s->broken)
		return clf_fail(err, CLF_E_INTERNAL, "ledger in memory is not what the disk is: restart closfoldd");
	if (check_fence(s, err))
		return -1;
	if (s->failed && (ftruncate(s->fd, (off_t) s->size) || fdatasync(s->fd)))
		return clf_fail(err, CLF_E_IO, "cannot cut the failed end off the ledger: %s", strerror(errno));
	s->failed = true;
	if (clf_path_write_at(s->fd, s->pending.data, s->pending.len, (off_t) s->size, "the ledger", err))
		return -1;
	if (fdatasync(s->fd))
		return clf_fail(err, CLF_E_IO, "cannot make the ledger durable: %s", strerror(errno));
	s->failed = false;
	s->size += s->pending.len;
	s->durable_seq = s->seq;
	clf_buf_reset(&s->pending);
	return 0;
}

int clf_store_commit(struct clf_store *s, struct clf_error *err)
{
	if (!s->pending.len)
		return 0;
	if (write_pending(s, err)) {
		/* Cut back at once, so that what is read again is what was durable; if that fails too, the next commit
		 * tries. */
		if (s->failed && !ftruncate(s->fd, (off_t) s->size) && !fdatasync(s->fd))
			s->failed = false;
		struct clf_error why = { 0 };

		if (clf_store_rollback(s, &why))
			clf_error_prefix(err, "memory cannot be made what the disk is (%s): ", why.text);
		return -1;
	}
	/* What was asked is durable: a journal that could not be shortened is tried again, and no failure of it. */
	if (s->size > CLF_STORE_COMPACT)
		compact(s);
	return 0;
}

const struct clf_store_facts *clf_store_facts(const struct clf_store *s)
{
	return &s->g.facts;
}

const struct clf_lease *clf_store_find(const struct clf_store *s, const char *id)
{
	return clf_ledger_find(&s->g, id);
}

const struct clf_lease *clf_store_find_job(const struct clf_store *s, uint32_t job_id, int64_t submit_time_s)
{
	return clf_ledger_find_job(&s->g, job_id, submit_time_s);
}

uint32_t clf_store_failures(const struct clf_store *s, uint32_t job_id, int64_t submit_time_s)
{
	const struct clf_failure *f = clf_ledger_failure(&s->g, job_id, submit_time_s);

	return f ? f->n : 0;
}

const struct clf_lease *clf_store_next(const struct clf_store *s, size_t *i)
{
	return *i < s->g.n ? s->g.leases[(*i)++] : NULL;
}

bool clf_store_key_rest(const struct clf_store *s, size_t i, struct clf_key_rest *out)
{
	if (i >= s->g.nkeys)
		return false;
	*out = (struct clf_key_rest){ s->g.keys[i].fabric, s->g.keys[i].key, s->g.keys[i].closed_ms };
	return true;
}

uint16_t clf_store_key_last(const struct clf_store *s, const char *fabric)
{
	for (size_t i = 0; i < s->g.nkeys; i++)
		if (s->g.keys[i].last && !strcmp(s->g.keys[i].fabric, fabric))
			return s->g.keys[i].key;
	return 0;
}

size_t clf_store_nopen(const struct clf_store *s)
{
	return s->g.nopen;
}

int clf_store_read_facts(const char *dir, struct clf_store_facts *out, struct clf_error *err)
{
	/* The writer may replace the snapshot and empty the journal between our two reads: look again. */
	for (int tries = 0;; tries++) {
		struct clf_ledger g = { 0 };
		struct clf_error why = { 0 };
		struct reading r;
		bool any = false;
		int rc = load(dir, UINT64_MAX, &g, &r, &any, &why);
		struct clf_store_facts f = g.facts;

		clf_ledger_done(&g);
		if (!rc && any) {
			*out = f;
			return 0;
		}
		if (!rc)
			return clf_fail(err, CLF_E_NOTFOUND, "no ledger in '%s'", dir);
		if (tries >= 5)
			return clf_fail(err, why.code, "%s", why.text);
		usleep(20000);
	}
}
