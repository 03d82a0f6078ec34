/* SPDX-License-Identifier: GPL-2.0-or-later */
/* log.c - the writer; recovery is in log_recover.c. */
#include "audit/log.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "audit/log_private.h"
#include "base/path.h"

int clf_auditlog_genesis(const char *origin, size_t len, char hash[CLF_SHA256_HEX], struct clf_error *err)
{
	char line[CLF_AUDITLOG_ORIGIN_MAX + 32];
	int n = snprintf(line, sizeof line, "closfold-log/1 %.*s", (int) len, origin);

	if (len > CLF_AUDITLOG_ORIGIN_MAX || n >= (int) sizeof line)
		return clf_fail(err, CLF_E_PARSE, "log name is longer than %d bytes", CLF_AUDITLOG_ORIGIN_MAX);
	return clf_hash_sha256(line, (size_t) n, hash, err);
}

static bool span_is_hex(struct clf_span s, size_t len)
{
	if (s.len != len)
		return false;
	for (size_t i = 0; i < len; i++)
		if (!strchr("0123456789abcdef", s.p[i]))
			return false;
	return true;
}

static int check_incoming(const char *record, size_t len, struct clf_canon *c, struct clf_error *err)
{
	if (len > CLF_RECORD_MAX)
		return clf_fail(err, CLF_E_PARSE, "record of %zu bytes, at most %u", len, CLF_RECORD_MAX);
	if (clf_canon_scan(record, len, c, err))
		return -1;
	if (c->log_name.p || c->prev.p || c->sequence >= 0 || c->logged_time >= 0)
		return clf_fail(err, CLF_E_DENIED,
				"record brings log_name, logged_time, sequence or prev: closfoldd alone sets them");
	if (!span_is_hex(c->uid, 32))
		return clf_fail(err, CLF_E_PARSE, "metadata.uid is not 32 hex digits");
	return 0;
}

/* The record with the four members that only the writer knows, as it stands in the file. */
static int splice_record(struct clf_auditlog *l, const char *r, size_t len, const struct clf_canon *c,
			 struct clf_error *err)
{
	struct clf_buf *b = &l->pending;
	size_t before = b->len;

	if (!clf_buf_add(b, r, c->at_logged, err) &&
	    !clf_buf_printf(b, err, "\"log_name\":\"%s\",\"logged_time\":%" PRId64 ",", l->origin,
			    l->clock->wall_ms(l->clock->arg)) &&
	    !clf_buf_add(b, r + c->at_logged, c->at_sequence - c->at_logged, err) &&
	    !clf_buf_printf(b, err, "\"sequence\":%" PRIu64 ",", l->next.n) &&
	    !clf_buf_add(b, r + c->at_sequence, c->at_prev - c->at_sequence, err) &&
	    !clf_buf_printf(b, err, "\"prev\":\"%s\",", l->next.hash) &&
	    !clf_buf_add(b, r + c->at_prev, len - c->at_prev, err)) {
		struct clf_auditlog_head next = { .n = l->next.n + 1 };

		if (!clf_hash_sha256(b->data + before, b->len - before, next.hash, err) &&
		    !clf_buf_add(b, "\n", 1, err)) {
			l->next = next;
			return 0;
		}
	}
	b->len = before;
	return -1;
}

static int remember(struct clf_auditlog *l, const struct clf_canon *c, struct clf_error *err)
{
	char *key = clf_producers_key(c);

	if (key && l->nuncommitted < CLF_UNCOMMITTED_MAX) {
		l->uncommitted[l->nuncommitted++] = (struct clf_uncommitted){ key, (uint64_t) c->producer_seq };
		return 0;
	}
	free(key);
	return clf_fail(err, CLF_E_NOMEM, key ? "too many records in one commit" : "out of memory");
}

int clf_auditlog_append(struct clf_auditlog *l, const char *record, size_t len, uint64_t *sequence, bool *known,
			struct clf_error *err)
{
	struct clf_canon c;
	bool was_known = false;

	if (check_incoming(record, len, &c, err))
		return -1;
	if (l->pending.len + len > CLF_AUDITLOG_PENDING_MAX)
		return clf_fail(err, CLF_E_NOMEM, "too many bytes in one commit");
	if (clf_producers_note(l->producers, &c, l->clock->boot_us(l->clock->arg) / 1000, &was_known, err))
		return -1;
	if (!was_known) {
		if (remember(l, &c, err)) {
			CLF_AUTO_FREE char *key = clf_producers_key(&c);

			if (key)
				clf_producers_forget(l->producers, key, (uint64_t) c.producer_seq);
			return -1;
		}
		if (splice_record(l, record, len, &c, err)) {
			struct clf_uncommitted *u = &l->uncommitted[--l->nuncommitted];

			clf_producers_forget(l->producers, u->key, u->seq);
			free(u->key);
			return -1;
		}
	}
	*sequence = was_known ? 0 : l->next.n - 1;
	*known = was_known;
	return 0;
}

/* A new segment appears in the directory with its first commit in it, whole. */
static int begin_segment(struct clf_auditlog *l, struct clf_error *err)
{
	char name[CLF_SEGMENT_NAME], path[PATH_MAX], tmp[PATH_MAX];

	clf_segment_name(l->durable.n, name);
	if (snprintf(path, sizeof path, "%s/%s", l->dir, name) >= (int) sizeof path ||
	    snprintf(tmp, sizeof tmp, "%s/.tmp-%s", l->dir, name) >= (int) sizeof tmp)
		return clf_fail(err, CLF_E_INVALID, "path of the log is too long");

	CLF_AUTO_CLOSE int fd = open(tmp, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0640);

	if (fd < 0)
		return clf_fail(err, CLF_E_IO, "cannot make '%s': %s", tmp, strerror(errno));
	if (clf_path_write_at(fd, l->pending.data, l->pending.len, 0, "the audit log", err)) {
		unlink(tmp);
		return -1;
	}
	if (fdatasync(fd) || rename(tmp, path)) {
		int e = errno;

		unlink(tmp);
		return clf_fail(err, CLF_E_IO, "cannot make segment '%s' durable: %s", path, strerror(e));
	}
	if (clf_path_fsync_dir(l->dir, err)) {
		unlink(path); /* it may come back after a crash; recovery then finds it whole, unacknowledged */
		return -1;
	}
	clf_closep(&l->fd);
	l->fd = fd;
	fd = -1;
	l->size = l->pending.len;
	return 0;
}

/* The end of a segment that failed is cut back to what was durable, so that the chain can go on behind it. */
static int retire_segment(struct clf_auditlog *l, struct clf_error *err)
{
	if (l->fd < 0 || !l->failed)
		return 0;
	if (ftruncate(l->fd, (off_t) l->size) || fdatasync(l->fd))
		return clf_fail(err, CLF_E_IO, "cannot cut the failed end off the audit log: %s", strerror(errno));
	clf_closep(&l->fd);
	l->fd = -1;
	l->failed = false;
	return 0;
}

static int write_pending(struct clf_auditlog *l, struct clf_error *err)
{
	if (retire_segment(l, err))
		return -1;
	if (l->fd < 0 || (l->size && l->size + l->pending.len > l->segment_bytes))
		return begin_segment(l, err);
	if (clf_path_write_at(l->fd, l->pending.data, l->pending.len, (off_t) l->size, "the audit log", err)) {
		l->failed = true;
		return -1;
	}
	if (fdatasync(l->fd)) {
		l->failed = true;
		return clf_fail(err, CLF_E_IO, "cannot make the audit log durable: %s", strerror(errno));
	}
	l->size += l->pending.len;
	return 0;
}

int clf_auditlog_commit(struct clf_auditlog *l, struct clf_error *err)
{
	if (!l->pending.len)
		return 0;

	int rc = write_pending(l, err);

	for (size_t i = 0; i < l->nuncommitted; i++) {
		if (rc)
			clf_producers_forget(l->producers, l->uncommitted[i].key, l->uncommitted[i].seq);
		free(l->uncommitted[i].key);
	}
	l->nuncommitted = 0;
	if (rc)
		l->next = l->durable;
	else
		l->durable = l->next;
	clf_buf_reset(&l->pending);
	return rc;
}

size_t clf_auditlog_pending(const struct clf_auditlog *l)
{
	return l->pending.len;
}

const struct clf_auditlog_head *clf_auditlog_head(const struct clf_auditlog *l)
{
	return &l->durable;
}

const char *clf_auditlog_origin(const struct clf_auditlog *l)
{
	return l->origin;
}

bool clf_auditlog_gap(struct clf_auditlog *l, int64_t grace_ms, struct clf_gap *out)
{
	return clf_producers_gap(l->producers, l->clock->boot_us(l->clock->arg) / 1000, grace_ms, out);
}

void clf_auditlog_close(struct clf_auditlog *l)
{
	if (!l)
		return;
	for (size_t i = 0; i < l->nuncommitted; i++)
		free(l->uncommitted[i].key);
	free(l->uncommitted);
	clf_producers_destroy(l->producers);
	clf_buf_done(&l->pending);
	clf_closep(&l->fd);
	free(l);
}
