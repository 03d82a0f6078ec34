/* SPDX-License-Identifier: GPL-2.0-or-later */
/* log_recover.c - open a log: find its head, cut off what a crash left. A crash is never called tampering, and what was
 * durable
 * (`known`) is never cut off. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "audit/log_private.h"
#include "base/path.h"

const char *clf_auditlog_check_line(const char *line, size_t len, uint64_t n, const char *prev, const char *origin,
				    struct clf_canon *c)
{
	if (clf_canon_scan(line, len, c, NULL))
		return "line is not a canonical record";
	if (!c->log_name.p || !c->prev.p || c->sequence < 0 || c->logged_time < 0)
		return "record was not written by closfoldd";
	if ((uint64_t) c->sequence != n)
		return "sequence number is not the next one";
	if (c->log_name.len != strlen(origin) || memcmp(c->log_name.p, origin, c->log_name.len) != 0)
		return "record belongs to another log";
	if (c->prev.len != 64 || memcmp(c->prev.p, prev, 64) != 0)
		return "prev is not the hash of the record before";
	return NULL;
}

static int remove_leftovers(const char *dir, struct clf_error *err)
{
	DIR *d = opendir(dir);

	if (!d)
		return clf_fail(err, CLF_E_IO, "cannot read directory '%s': %s", dir, strerror(errno));
	for (struct dirent *e; (e = readdir(d));)
		if (!strncmp(e->d_name, ".tmp-", 5))
			unlinkat(dirfd(d), e->d_name, 0);
	closedir(d);
	return 0;
}

static int origin_of(struct clf_auditlog *l, const char *first_segment, const char *fallback, struct clf_error *err)
{
	struct clf_segment s = { 0 };
	struct clf_canon c;
	const char *line, *from = fallback;
	size_t len, n = strlen(fallback);
	int rc = 0;

	if (first_segment && clf_segment_open(l->dir, first_segment, &s, err))
		return -1;
	if (first_segment && clf_segment_next(&s, &line, &len, err) == CLF_LINE_WHOLE &&
	    !clf_canon_scan(line, len, &c, NULL) && c.log_name.p) {
		from = c.log_name.p;
		n = c.log_name.len;
	}
	if (!n || n > CLF_AUDITLOG_ORIGIN_MAX || memchr(from, '"', n) || memchr(from, '\\', n))
		rc = clf_fail(err, CLF_E_INVALID, "name of the log must have 1 to %d plain characters",
			      CLF_AUDITLOG_ORIGIN_MAX);
	else
		snprintf(l->origin, sizeof l->origin, "%.*s", (int) n, from);
	clf_segment_close(&s);
	return rc;
}

/* Hash that the first line of the last segment must name. */
static int hash_before(struct clf_auditlog *l, const struct clf_strv *names, struct clf_error *err)
{
	CLF_AUTO_FREE char *line = NULL;
	size_t len;

	if (names->n < 2)
		return clf_auditlog_genesis(l->origin, strlen(l->origin), l->durable.hash, err);
	if (clf_segment_last(l->dir, names->v[names->n - 2], &line, &len, err))
		return -1;
	return clf_hash_sha256(line, len, l->durable.hash, err);
}

static int cut_tail(struct clf_auditlog *l, const char *name, uint64_t at, struct clf_auditlog_torn *torn,
		    struct clf_error *err)
{
	struct stat st;

	if (fstat(l->fd, &st))
		return clf_fail(err, CLF_E_IO, "cannot look at '%s': %s", name, strerror(errno));

	size_t n = (size_t) (st.st_size - (off_t) at);
	CLF_AUTO_FREE char *tail = malloc(n ? n : 1);

	if (!tail)
		return clf_fail(err, CLF_E_NOMEM, "out of memory");
	if (pread(l->fd, tail, n, (off_t) at) != (ssize_t) n)
		return clf_fail(err, CLF_E_IO, "cannot read '%s'", name);
	*torn = (struct clf_auditlog_torn){ .sequence = l->durable.n, .offset = at, .bytes = n };
	snprintf(torn->file, sizeof torn->file, "%s", name);
	for (size_t i = 0; i < n; i++)
		torn->lines += tail[i] == '\n';
	if (clf_hash_sha256(tail, n, torn->sha256, err))
		return -1;
	if (ftruncate(l->fd, (off_t) at) || fdatasync(l->fd))
		return clf_fail(err, CLF_E_IO, "cannot cut the torn end off '%s': %s", name, strerror(errno));
	return 0;
}

/* Read the last segment up to its first line that is not the next record. */
static int scan_last(struct clf_auditlog *l, const char *name, const struct clf_auditlog_head *known, uint64_t *end,
		     bool *rewritten, uint64_t *bad_line, struct clf_error *err)
{
	struct clf_segment s = { 0 };
	const char *line;
	size_t len;
	int kind, rc = 0;

	if (clf_segment_open(l->dir, name, &s, err))
		return -1;
	while (!rc && (kind = clf_segment_next(&s, &line, &len, err)) != CLF_LINE_END) {
		struct clf_canon c;
		bool dup;

		if (kind < 0)
			rc = -1;
		if (kind != CLF_LINE_WHOLE ||
		    clf_auditlog_check_line(line, len, l->durable.n, l->durable.hash, l->origin, &c))
			break;
		rc = clf_hash_sha256(line, len, l->durable.hash, err);
		l->durable.n++;
		if (!rc && known && l->durable.n == known->n && strcmp(l->durable.hash, known->hash) != 0)
			*rewritten = true;
		if (!rc && c.producer_seq > 0)
			rc = clf_producers_note(l->producers, &c, l->clock->boot_us(l->clock->arg) / 1000, &dup, err);
		*end = s.next_offset;
	}
	*bad_line = s.line;
	clf_segment_close(&s);
	return rc;
}

/* The log and what is remembered of it disagree. With accept_damage the files stay as they are and a new segment
 * begins. */
static int damaged(struct clf_auditlog *l, const struct clf_auditlog_options *o, const char *name, uint64_t line,
		   const char *what, struct clf_error *err)
{
	if (!o->accept_damage)
		return clf_fail_at(err, CLF_E_CONFLICT, name, (int) line, 0,
				   "audit log %s: keep a copy, run 'closfold audit verify', then start closfoldd once "
				   "with --accept-damaged-log",
				   what);
	clf_closep(&l->fd);
	l->fd = -1;
	if (o->known && o->known->n > l->durable.n)
		l->durable = *o->known;
	return 0;
}

static int open_last(struct clf_auditlog *l, const struct clf_strv *names, const struct clf_auditlog_options *o,
		     struct clf_auditlog_torn *torn, struct clf_error *err)
{
	const char *name = names->v[names->n - 1];
	char path[PATH_MAX];
	uint64_t end = 0, bad_line = 0;
	bool rewritten = false;
	struct stat st;

	if (snprintf(path, sizeof path, "%s/%s", l->dir, name) >= (int) sizeof path)
		return clf_fail(err, CLF_E_INVALID, "path of the log is too long");
	clf_segment_number(name, &l->durable.n);
	if (hash_before(l, names, err) || scan_last(l, name, o->known, &end, &rewritten, &bad_line, err))
		return -1;
	l->fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
	if (l->fd < 0 || fstat(l->fd, &st))
		return clf_fail(err, CLF_E_IO, "cannot open '%s': %s", path, strerror(errno));
	l->size = end;
	if (rewritten)
		return damaged(l, o, name, 0, "does not have the record that the ledger remembers", err);
	if (o->known && l->durable.n < o->known->n)
		return damaged(l, o, name, bad_line, end < (uint64_t) st.st_size ? "was changed" : "is cut short", err);
	if (end < (uint64_t) st.st_size)
		return cut_tail(l, name, end, torn, err);
	return 0;
}

int clf_auditlog_recover(struct clf_auditlog *l, const struct clf_auditlog_options *o, struct clf_auditlog_torn *torn,
			 struct clf_error *err)
{
	struct clf_strv names = { 0 };
	int rc;

	if (clf_path_mkdirs(l->dir, 0750, err) || remove_leftovers(l->dir, err))
		return -1;
	rc = clf_segment_list(l->dir, &names, err);
	if (!rc)
		rc = origin_of(l, names.n ? names.v[0] : NULL, o->origin, err);
	if (!rc && names.n)
		rc = open_last(l, &names, o, torn, err);
	if (!rc && !names.n) {
		rc = clf_auditlog_genesis(l->origin, strlen(l->origin), l->durable.hash, err);
		if (!rc && o->known && o->known->n)
			rc = damaged(l, o, l->dir, 0, "is gone", err);
	}
	clf_strv_done(&names);
	l->next = l->durable;
	return rc;
}

int clf_auditlog_open(const struct clf_auditlog_options *o, struct clf_auditlog_torn *torn, struct clf_auditlog **out,
		      struct clf_error *err)
{
	CLF_CLEANUP(clf_auditlog_closep) struct clf_auditlog *l = calloc(1, sizeof *l);
	struct clf_auditlog_torn t = { 0 };

	if (!l)
		return clf_fail(err, CLF_E_NOMEM, "out of memory");
	l->fd = -1;
	l->clock = o->clock;
	l->segment_bytes = o->segment_bytes ? o->segment_bytes : CLF_AUDITLOG_SEGMENT;
	l->pending.max = CLF_AUDITLOG_PENDING_MAX + (1u << 20);
	if (snprintf(l->dir, sizeof l->dir, "%s", o->dir) >= (int) sizeof l->dir)
		return clf_fail(err, CLF_E_INVALID, "path of the log is too long");
	l->uncommitted = calloc(CLF_UNCOMMITTED_MAX, sizeof *l->uncommitted);
	l->producers = clf_producers_create(err);
	if (!l->uncommitted || !l->producers)
		return clf_fail(err, CLF_E_NOMEM, "out of memory");
	if (clf_auditlog_recover(l, o, &t, err))
		return -1;
	*torn = t;
	*out = CLF_STEAL(l);
	return 0;
}
