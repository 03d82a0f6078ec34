/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which files are trusted, and whole files or none. A condition a test. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/path.h"
#include "tap.h"

static char dir[64];

static const char *in(const char *name)
{
	static char path[2][160];
	static int k;

	k = !k;
	snprintf(path[k], sizeof(path[k]), "%s/%s", dir, name);
	return path[k];
}

static void make(const char *name, mode_t mode)
{
	int fd = open(in(name), O_CREAT | O_WRONLY | O_TRUNC, 0600);

	if (fd < 0 || write(fd, "x", 1) != 1 || fchmod(fd, mode))
		diag("cannot make %s: %m", name);
	close(fd);
}

static void trusts(const char *name, uid_t owner, const char *text)
{
	struct clf_error err = { 0 };
	int fd = clf_path_open_trusted(in(name), owner, &err);

	ok(fd >= 0, "%s: %s", text, err.text);
	if (fd >= 0)
		close(fd);
}

static void refuses(const char *name, uid_t owner, enum clf_code code, const char *text)
{
	struct clf_error err = { 0 };
	int fd = clf_path_open_trusted(in(name), owner, &err);

	ok(fd < 0 && err.code == code, "%s is refused: %s", text, err.text);
	if (fd >= 0)
		close(fd);
}

static void trusted(void)
{
	strcpy(dir, "/run/clf-path.XXXXXX");
	if (!clf_test_require("root", geteuid() == 0 && mkdtemp(dir), "not root, or no /run"))
		return;
	chmod(dir, 0755);
	make("good", 0644);
	trusts("good", 0, "root's file in root's directory");
	make("group", 0664);
	refuses("group", 0, CLF_E_INSECURE, "writable by the group");
	make("others", 0646);
	refuses("others", 0, CLF_E_INSECURE, "writable by others");
	make("owned", 0644);
	if (chown(in("owned"), 1, 1))
		diag("chown: %m");
	refuses("owned", 0, CLF_E_INSECURE, "somebody else's");
	trusts("owned", 1, "that somebody's, where he is trusted");
	refuses("owned", 2, CLF_E_INSECURE, "a third one's");
	if (mkfifo(in("fifo"), 0644))
		diag("mkfifo: %m");
	refuses("fifo", 0, CLF_E_INSECURE, "a fifo (without hanging)");
	refuses("", 0, CLF_E_INSECURE, "a directory");
	refuses("absent", 0, CLF_E_NOTFOUND, "what is not there");
	if (symlink("group", in("link")) || symlink("good", in("goodlink")))
		diag("symlink: %m");
	refuses("link", 0, CLF_E_INSECURE, "a link to what is not trusted");
	trusts("goodlink", 0, "a link to what is");
	mkdir(in("open"), 0777);
	chmod(in("open"), 0777);
	make("open/file", 0644);
	refuses("open/file", 0, CLF_E_INSECURE, "a good file in a directory that others may write");
	chmod(in("open"), 01777);
	refuses("open/file", 0, CLF_E_INSECURE, "the sticky bit does not help");
	chmod(in("open"), 0755);
	trusts("open/file", 0, "the same directory closed");
	if (chown(in("open"), 1, 1))
		diag("chown: %m");
	refuses("open/file", 0, CLF_E_INSECURE, "a directory that is somebody's");
	unlink(in("open/file"));
	rmdir(in("open"));
	for (const char *const *n =
		     (const char *const[]){ "good", "group", "others", "owned", "fifo", "link", "goodlink", NULL };
	     *n; n++)
		unlink(in(*n));
	rmdir(dir);
}

static void atomic(void)
{
	struct clf_error err = { 0 };
	char buf[8] = "";
	int fd;

	snprintf(dir, sizeof(dir), "%s", clf_test_dir());
	ok(!clf_path_write_atomic(in("f"), 0640, "new", 3, &err), "written: %s", err.text);

	struct stat st = { 0 };

	ok(!stat(in("f"), &st) && st.st_size == 3 && (st.st_mode & 07777) == 0640, "whole, with its mode");
	ok(clf_path_write_atomic(in("no/such/f"), 0640, "x", 1, &err) == -1, "no directory: %s", err.text);
	mkdir(in("d"), 0755);
	err = (struct clf_error){ 0 };
	ok(clf_path_write_atomic(in("d"), 0640, "x", 1, &err) == -1, "over a directory: %s", err.text);
	fd = open(in("f"), O_RDONLY);
	ok(read(fd, buf, 7) == 3 && !strcmp(buf, "new"), "the old file stands");
	close(fd);
	ok(!clf_path_mkdirs(in("a/b/c"), 0755, NULL) && !clf_path_mkdirs(in("a/b/c"), 0755, NULL),
	   "directories, twice");
	ok(clf_path_mkdirs(in("f/x"), 0755, NULL) == -1, "a file in the way");
}

int main(void)
{
	trusted();
	atomic();
	return done_testing();
}
