/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "audit/segment.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#define BUF (256u << 10)

bool clf_segment_number(const char *name, uint64_t *first)
{
	uint64_t v = 0;

	if (strlen(name) != 26 || strcmp(name + 20, ".jsonl") != 0 || strspn(name, "0123456789") != 20)
		return false;
	for (int i = 0; i < 20; i++) {
		if (v > (UINT64_MAX - 9) / 10)
			return false;
		v = v * 10 + (uint64_t) (name[i] - '0');
	}
	*first = v;
	return true;
}

void clf_segment_name(uint64_t first, char name[CLF_SEGMENT_NAME])
{
	snprintf(name, CLF_SEGMENT_NAME, "%020" PRIu64 ".jsonl", first);
}

int clf_segment_list(const char *dir, struct clf_strv *out, struct clf_error *err)
{
	DIR *d = opendir(dir);
	uint64_t n;
	int rc = 0;

	if (!d)
		return clf_fail(err, errno == ENOENT ? CLF_E_NOTFOUND : CLF_E_IO, "cannot read directory '%s': %s", dir,
				strerror(errno));
	for (struct dirent *e; !rc && (errno = 0, e = readdir(d));)
		if (clf_segment_number(e->d_name, &n))
			rc = clf_strv_add(out, e->d_name, err);
	if (!rc && errno)
		rc = clf_fail(err, CLF_E_IO, "cannot read directory '%s': %s", dir, strerror(errno));
	closedir(d);
	clf_strv_sort(out);
	return rc;
}

static int open_in(const char *dir, const char *name, struct clf_error *err)
{
	char path[PATH_MAX];

	if (snprintf(path, sizeof path, "%s/%s", dir, name) >= (int) sizeof path)
		return clf_fail(err, CLF_E_INVALID, "path of segment '%s' is too long", name);

	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);

	if (fd < 0)
		return clf_fail(err, CLF_E_IO, "cannot open '%s': %s", path, strerror(errno));
	return fd;
}

int clf_segment_open(const char *dir, const char *name, struct clf_segment *out, struct clf_error *err)
{
	CLF_AUTO_CLOSE int fd = open_in(dir, name, err);

	if (fd < 0)
		return -1;

	char *buf = malloc(BUF);

	if (!buf)
		return clf_fail(err, CLF_E_NOMEM, "out of memory");
	*out = (struct clf_segment){ .fd = fd, .buf = buf };
	fd = -1;
	return 0;
}

void clf_segment_close(struct clf_segment *s)
{
	if (!s->buf)
		return;
	close(s->fd);
	free(s->buf);
	s->buf = NULL;
}

static int fill(struct clf_segment *s, struct clf_error *err)
{
	memmove(s->buf, s->buf + s->pos, s->have - s->pos);
	s->have -= s->pos;
	s->pos = 0;
	for (;;) {
		ssize_t n = read(s->fd, s->buf + s->have, BUF - s->have);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return clf_fail(err, CLF_E_IO, "cannot read the log: %s", strerror(errno));
		s->have += (size_t) n;
		s->eof = n == 0;
		return 0;
	}
}

int clf_segment_next(struct clf_segment *s, const char **line, size_t *len, struct clf_error *err)
{
	bool skipping = false;

	s->offset = s->next_offset;
	for (;;) {
		char *start = s->buf + s->pos, *nl = memchr(start, '\n', s->have - s->pos);
		size_t n = nl ? (size_t) (nl - start) : s->have - s->pos;

		if (nl || (s->eof && (n || skipping))) {
			s->line++;
			s->pos += n + (nl != NULL);
			s->next_offset += n + (nl != NULL);
			*line = start;
			*len = n;
			return skipping || n > CLF_LINE_MAX ? CLF_LINE_LONG : nl ? CLF_LINE_WHOLE : CLF_LINE_CUT;
		}
		if (s->eof)
			return CLF_LINE_END;
		if (n > CLF_LINE_MAX) {
			s->next_offset += n;
			s->pos = s->have;
			skipping = true;
		}
		if (fill(s, err))
			return -1;
	}
}

int clf_segment_last(const char *dir, const char *name, char **line, size_t *len, struct clf_error *err)
{
	CLF_AUTO_CLOSE int fd = open_in(dir, name, err);

	if (fd < 0)
		return -1;

	off_t size = lseek(fd, 0, SEEK_END),
	      from = size > (off_t) CLF_LINE_MAX + 2 ? size - (off_t) CLF_LINE_MAX - 2 : 0;
	size_t n = (size_t) (size - from);
	CLF_AUTO_FREE char *tail = malloc(n + 1);

	if (!tail)
		return clf_fail(err, CLF_E_NOMEM, "out of memory");
	if (pread(fd, tail, n, from) != (ssize_t) n)
		return clf_fail(err, CLF_E_IO, "cannot read segment '%s'", name);
	if (!n || tail[n - 1] != '\n')
		return clf_fail_at(err, CLF_E_PARSE, name, 0, 0, "segment does not end with a whole line");

	char *start = n > 1 ? memrchr(tail, '\n', n - 1) : NULL;

	if (!start && from)
		return clf_fail_at(err, CLF_E_PARSE, name, 0, 0, "last line is longer than %u bytes", CLF_LINE_MAX);
	start = start ? start + 1 : tail;

	char *copy = strndup(start, (size_t) (tail + n - 1 - start));

	if (!copy)
		return clf_fail(err, CLF_E_NOMEM, "out of memory");
	*len = (size_t) (tail + n - 1 - start);
	*line = copy;
	return 0;
}
