/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/path.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>

#define LINKS_MAX 40

static int fail_errno(struct clf_error *err, const char *what, const char *path)
{
	return clf_fail(err, errno == ENOENT || errno == ENOTDIR ? CLF_E_NOTFOUND : CLF_E_IO, "cannot %s '%s': %s",
			what, path, strerrordesc_np(errno));
}

/* Owner and mode of one object on the way; `name` only for the message. */
static int check_trust(const struct stat *st, uid_t owner, const char *path, const char *name, struct clf_error *err)
{
	const char *kind = S_ISDIR(st->st_mode) ? "directory " : "";

	if (st->st_uid != 0 && st->st_uid != owner)
		return clf_fail(err, CLF_E_INSECURE, "'%s' is not trusted: %s'%s' belongs to uid %u, not to uid %u%s",
				path, kind, name, (unsigned) st->st_uid, (unsigned) owner, owner ? " or root" : "");
	if (st->st_mode & S_IWGRP)
		return clf_fail(err, CLF_E_INSECURE, "'%s' is not trusted: %s'%s' is writable by its group", path, kind,
				name);
	if (st->st_mode & S_IWOTH)
		return clf_fail(err, CLF_E_INSECURE, "'%s' is not trusted: %s'%s' is writable by everybody", path, kind,
				name);
	return 0;
}

/* A walk from / to the file, one component at a time: `dir` is the open directory reached so far, `rest` the names
 * still to go. */
struct walk {
	const char *path; /* as given */
	uid_t owner;
	int dir;
	int links;
	char rest[2 * PATH_MAX];
};

static void walk_done(struct walk *w)
{
	clf_closep(&w->dir);
}

static int walk_enter(struct walk *w, int dirfd, const char *name, struct clf_error *err)
{
	CLF_AUTO_CLOSE int fd = openat(dirfd, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;

	if (fd < 0 || fstat(fd, &st))
		return fail_errno(err, "open", w->path);
	if (check_trust(&st, w->owner, w->path, name, err))
		return -1;
	clf_closep(&w->dir);
	w->dir = fd;
	fd = -1;
	return 0;
}

/* Put the target of the symlink `name` in front of the names still to go. */
static int walk_link(struct walk *w, const char *name, const char *rest, struct clf_error *err)
{
	char target[PATH_MAX], next[sizeof(w->rest)];
	ssize_t n = readlinkat(w->dir, name, target, sizeof(target) - 1);

	if (n < 0)
		return fail_errno(err, "read link", w->path);
	target[n] = '\0';
	if (++w->links > LINKS_MAX)
		return clf_fail(err, CLF_E_IO, "cannot open '%s': too many symbolic links", w->path);
	if ((size_t) snprintf(next, sizeof(next), "%s/%s", target, rest) >= sizeof(next))
		return clf_fail(err, CLF_E_IO, "cannot open '%s': path too long", w->path);
	memcpy(w->rest, next, strlen(next) + 1);
	return target[0] == '/' ? walk_enter(w, AT_FDCWD, "/", err) : 0;
}

static int open_file(const struct walk *w, const char *name, struct clf_error *err)
{
	/* O_NONBLOCK: a fifo put in the file's place must not hang a daemon; it has no effect on a regular file. */
	CLF_AUTO_CLOSE int fd = openat(w->dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	struct stat st;

	if (fd < 0 || fstat(fd, &st))
		return fail_errno(err, "open", w->path);
	if (!S_ISREG(st.st_mode))
		return clf_fail(err, CLF_E_INSECURE, "'%s' is not trusted: not a regular file", w->path);
	if (check_trust(&st, w->owner, w->path, name, err))
		return -1;
	int result = fd;

	fd = -1;
	return result;
}

static int walk_start(struct walk *w, struct clf_error *err)
{
	char cwd[PATH_MAX] = "";

	if (w->path[0] != '/' && !getcwd(cwd, sizeof(cwd)))
		return fail_errno(err, "find the directory of", w->path);
	if ((size_t) snprintf(w->rest, sizeof(w->rest), "%s/%s", cwd, w->path) >= sizeof(w->rest))
		return clf_fail(err, CLF_E_IO, "cannot open '%s': path too long", w->path);
	return walk_enter(w, AT_FDCWD, "/", err);
}

int clf_path_open_trusted(const char *path, uid_t owner, struct clf_error *err)
{
	CLF_CLEANUP(walk_done) struct walk w = { .path = path, .owner = owner, .dir = -1 };

	if (walk_start(&w, err))
		return -1;
	for (;;) {
		char name[NAME_MAX + 1];
		const char *start = w.rest + strspn(w.rest, "/"), *rest;
		size_t len = strcspn(start, "/");
		struct stat st;

		if (len == 0)
			return clf_fail(err, CLF_E_INSECURE, "'%s' is not trusted: not a regular file", path);
		if (len > NAME_MAX)
			return clf_fail(err, CLF_E_IO, "cannot open '%s': name too long", path);
		memcpy(name, start, len);
		name[len] = '\0';
		rest = start + len + strspn(start + len, "/");
		if (fstatat(w.dir, name, &st, AT_SYMLINK_NOFOLLOW))
			return fail_errno(err, "open", path);
		if (S_ISLNK(st.st_mode)) {
			if (walk_link(&w, name, rest, err))
				return -1;
			continue;
		}
		if (!*rest && !S_ISDIR(st.st_mode))
			return open_file(&w, name, err);
		if (walk_enter(&w, w.dir, name, err))
			return -1;
		memmove(w.rest, rest, strlen(rest) + 1);
	}
}

static int write_all(int fd, const char *data, size_t len)
{
	while (len > 0) {
		ssize_t n = write(fd, data, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -1;
		data += n;
		len -= (size_t) n;
	}
	return 0;
}

/* Directory part of path: "." when it has none. */
static int parent_of(const char *path, char *out, size_t size, struct clf_error *err)
{
	const char *slash = strrchr(path, '/');
	size_t len = slash == path ? 1 : slash ? (size_t) (slash - path) : 0;

	if (len >= size)
		return clf_fail(err, CLF_E_IO, "path '%s' is too long", path);
	if (len == 0) {
		memcpy(out, ".", 2);
	} else {
		memcpy(out, path, len);
		out[len] = '\0';
	}
	return 0;
}

int clf_path_fsync_dir(const char *path, struct clf_error *err)
{
	CLF_AUTO_CLOSE int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return fail_errno(err, "open", path);
	/* Some file systems cannot sync a directory and say EINVAL; there is nothing better to do on them. */
	if (fsync(fd) && errno != EINVAL)
		return fail_errno(err, "sync", path);
	return 0;
}

/* A file that did not exist before, next to path. open(2) applies the umask to mode, which mkstemp could not. */
static int open_temp(const char *path, mode_t mode, char *temp, size_t size, struct clf_error *err)
{
	for (int i = 0; i < 100; i++) {
		uint64_t r = 0;
		int fd;

		if (getrandom(&r, sizeof(r), 0) != (ssize_t) sizeof(r))
			return fail_errno(err, "name a temporary file for", path);
		if ((size_t) snprintf(temp, size, "%s.%016llx.tmp", path, (unsigned long long) r) >= size)
			return clf_fail(err, CLF_E_IO, "path '%s' is too long", path);
		fd = open(temp, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
		if (fd >= 0)
			return fd;
		if (errno != EEXIST)
			return fail_errno(err, "create", temp);
	}
	return clf_fail(err, CLF_E_IO, "cannot create a temporary file for '%s'", path);
}

int clf_path_write_atomic(const char *path, mode_t mode, const void *data, size_t len, struct clf_error *err)
{
	char temp[PATH_MAX], parent[PATH_MAX];
	CLF_AUTO_CLOSE int fd = -1;

	if (parent_of(path, parent, sizeof(parent), err))
		return -1;
	fd = open_temp(path, mode, temp, sizeof(temp), err);
	if (fd < 0)
		return -1;
	if (write_all(fd, data, len) || fsync(fd) || rename(temp, path)) {
		fail_errno(err, "write", path);
		unlink(temp);
		return -1;
	}
	return clf_path_fsync_dir(parent, err);
}

int clf_path_mkdirs(const char *path, mode_t mode, struct clf_error *err)
{
	size_t len = strlen(path);
	char part[PATH_MAX];

	if (len == 0 || len >= sizeof(part))
		return clf_fail(err, CLF_E_INVALID, "'%s' is not a usable path", path);
	for (size_t i = 1; i <= len; i++) {
		struct stat st;

		if (path[i] != '/' && path[i] != '\0')
			continue;
		memcpy(part, path, i);
		part[i] = '\0';
		if (mkdir(part, mode) == 0)
			continue;
		/* It may exist, or be on a read-only file system and exist. */
		int saved = errno;

		if (stat(part, &st) == 0 && S_ISDIR(st.st_mode))
			continue;
		errno = saved == EEXIST ? ENOTDIR : saved;
		return clf_fail(err, CLF_E_IO, "cannot make directory '%s': %s", part, strerrordesc_np(errno));
	}
	return 0;
}

int clf_path_write_at(int fd, const void *data, size_t len, off_t at, const char *what, struct clf_error *err)
{
	const char *p = data;

	while (len) {
		ssize_t k = pwrite(fd, p, len, at);

		if (k < 0 && errno == EINTR)
			continue;
		if (k <= 0)
			return clf_fail(err, CLF_E_IO, "cannot write %s: %s", what, strerror(k ? errno : ENOSPC));
		p += k;
		at += k;
		len -= (size_t) k;
	}
	return 0;
}
