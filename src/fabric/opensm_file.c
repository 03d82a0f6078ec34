/* SPDX-License-Identifier: GPL-2.0-or-later */
/* opensm_file.c - partitions.conf on this host and on the others, and the signal that makes OpenSM read it. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/path.h"
#include "base/hash.h"
#include "fabric/opensm.h"

#define FILE_MODE   0644
#define COPY_LINE   4096
#define PID_SLACK_S 5 /* a pid file is written a little after, or before, its process started */

static const char *const copy_env[] = { "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", NULL };

void osm_file_done(struct osm_file *f)
{
	clf_text_done(&f->text);
}

int osm_file_load(const struct osm *o, struct osm_file *out, struct clf_error *err)
{
	struct osm_file f = { .whose = CLF_PARTFILE_EMPTY, .missing = true };
	struct clf_error why = { 0 };
	struct stat st;
	struct timespec now;

	if (stat(o->partitions, &st)) {
		if (errno != ENOENT)
			return clf_fail(err, CLF_E_IO, "cannot read '%s': %s", o->partitions, strerror(errno));
		*out = f;
		return 0;
	}
	f.missing = false;
	clock_gettime(CLOCK_REALTIME, &now);
	f.age_ms = (now.tv_sec - st.st_mtim.tv_sec) * 1000 + (now.tv_nsec - st.st_mtim.tv_nsec) / 1000000;
	if (clf_text_load(o->partitions, CLF_PARTITIONS_MAX_BYTES, &f.text, &why)) {
		/* A NUL byte in it is damage or somebody else's; both are not to be written over. */
		if (why.code != CLF_E_PARSE)
			return clf_fail(err, why.code, "%s", why.text);
		f.whose = CLF_PARTFILE_FOREIGN;
	} else {
		f.whose = clf_partitions_whose(f.text.data ? f.text.data : "", f.text.len);
	}
	*out = f;
	return 0;
}

static int load_known(const struct clf_want *want, struct clf_guids *out, struct clf_error *err)
{
	for (size_t i = 0; want->known && i < want->known->n; i++) {
		uint64_t guid;

		if (!clf_guid_parse(want->known->v[i], strlen(want->known->v[i]), &guid))
			return clf_fail(err, CLF_E_INVALID, "'%.40s' is no port GUID like 0x0002c9030000abcd",
					want->known->v[i]);
		if (clf_guids_add(out, guid, err))
			return -1;
	}
	clf_guids_sort(out);
	return 0;
}

static void textp(struct clf_text *t)
{
	clf_text_done(t);
}

static void guidsp(struct clf_guids *g)
{
	clf_guids_done(g);
}

static int load_include(const struct osm *o, struct clf_text *out, struct clf_error *err)
{
	if (!o->include)
		return 0;
	if (clf_text_load(o->include, CLF_PARTITIONS_MAX_BYTES / 2, out, err))
		return -1;
	return clf_partitions_lint_foreign(o->include, out->data ? out->data : "", out->len, &o->rules, err);
}

int osm_render(const struct osm *o, const struct clf_want *want, const bool *skip, struct clf_buf *text,
	       struct clf_partitions *parts, struct clf_error *err)
{
	CLF_CLEANUP(textp) struct clf_text include = { 0 };
	CLF_CLEANUP(guidsp) struct clf_guids known = { 0 };
	CLF_AUTO_FREE const struct clf_net **nets = calloc(want->n + 1, sizeof *nets);
	struct clf_partitions_want w = { .rules = o->rules, .sm = &o->sm_ports, .known = &known, .nets = nets };

	if (!nets)
		return clf_fail(err, CLF_E_NOMEM, "out of memory");
	for (size_t i = 0; i < want->n; i++)
		if (!skip || !skip[i])
			nets[w.n++] = &want->nets[i];
	if (load_known(want, &known, err) || load_include(o, &include, err))
		return -1;
	w.foreign = include.data;
	w.foreign_len = include.len;
	clf_buf_reset(text);
	if (clf_partitions_render(&w, text, err))
		return -1;
	return clf_partitions_lint("partitions", text->data, text->len, &o->rules, parts, err);
}

int osm_publish(const struct osm *o, const struct clf_buf *text, struct clf_error *err)
{
	CLF_CLEANUP(textp) struct clf_text back = { 0 };

	if (clf_path_write_atomic(o->partitions, FILE_MODE, text->data, text->len, err) ||
	    clf_text_load(o->partitions, CLF_PARTITIONS_MAX_BYTES, &back, err))
		return -1;
	if (back.len != text->len || memcmp(back.data, text->data, text->len) != 0)
		return clf_fail(err, CLF_E_CONFLICT,
				"'%s' reads other than it was written; is somebody else writing it?", o->partitions);
	return 0;
}

int osm_save_aside(const struct osm *o, const struct osm_file *f, char *saved, size_t size, struct clf_error *err)
{
	char hex[65];

	if (clf_hash_sha256(f->text.data, f->text.len, hex, err))
		return -1;
	snprintf(saved, size, "%s.saved-%.12s", o->partitions, hex);
	return clf_path_write_atomic(saved, FILE_MODE, f->text.data, f->text.len, err);
}

static void coprocp(struct clf_coproc *c)
{
	clf_coproc_stop(c);
}

/* The file goes in, its hash comes out, and the program ends well. */
static int push(struct osm_copy *c, const struct clf_buf *text, const char *hash, int64_t deadline,
		struct clf_error *err)
{
	CLF_CLEANUP(coprocp) struct clf_coproc p = CLF_COPROC_INIT(COPY_LINE);
	char *line, said[65];
	int status;

	*c->confirmed = '\0';
	if (clf_coproc_start(&p, c->publish, copy_env, err) ||
	    clf_coproc_send(&p, text->data, text->len, deadline, err))
		return -1;
	clf_coproc_end_input(&p);
	if (clf_coproc_line(&p, &line, deadline, err))
		return -1;
	snprintf(said, sizeof said, "%s", line);
	if (clf_coproc_wait(&p, deadline, &status, err))
		return -1;
	if (status)
		return clf_fail(err, CLF_E_REMOTE, "its program ended with %d%s%s", status, *p.last ? ": " : "",
				p.last);
	if (strcmp(said, hash) != 0)
		return clf_fail(err, CLF_E_REMOTE, "its program confirmed '%.64s', not the file's SHA-256 %.12s...",
				said, hash);
	snprintf(c->confirmed, sizeof c->confirmed, "%s", hash);
	return 0;
}

int osm_push_copies(struct osm *o, const struct clf_buf *text, bool all, int64_t deadline, struct clf_error *err)
{
	char hash[65];
	int rc = 0;

	if (!o->ncopies)
		return 0;
	if (clf_hash_sha256(text->data, text->len, hash, err))
		return -1;
	for (size_t i = 0; i < o->ncopies; i++) {
		struct clf_error why = { 0 };

		if (!all && !strcmp(o->copies[i].confirmed, hash))
			continue;
		if (push(&o->copies[i], text, hash, deadline, &why))
			rc = clf_fail(err, CLF_E_REMOTE, "the copy on '%s' is not confirmed: %s", o->copies[i].name,
				      why.text);
	}
	return rc;
}

bool osm_copies_confirmed(const struct osm *o, const char *hash, const char **who)
{
	for (size_t i = 0; i < o->ncopies; i++)
		if (strcmp(o->copies[i].confirmed, hash) != 0) {
			*who = o->copies[i].name;
			return false;
		}
	return true;
}

/* Start of a process in seconds since 1970 and its name; false when it is gone. */
static bool process_facts(pid_t pid, char *name, size_t size, int64_t *start_s)
{
	char path[64], line[1024], *open, *close;
	struct timespec real, boot;
	unsigned long long ticks;
	FILE *f;
	size_t n;

	snprintf(path, sizeof path, "/proc/%d/stat", (int) pid);
	f = fopen(path, "re");
	if (!f)
		return false;
	n = fread(line, 1, sizeof line - 1, f);
	fclose(f);
	line[n] = '\0';
	open = strchr(line, '(');
	close = strrchr(line, ')');
	if (!open || !close || close < open)
		return false;
	*close = '\0';
	snprintf(name, size, "%s", open + 1);
	if (sscanf(close + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu",
		   &ticks) != 1)
		return false;
	clock_gettime(CLOCK_REALTIME, &real);
	clock_gettime(CLOCK_BOOTTIME, &boot);
	*start_s = real.tv_sec - boot.tv_sec + (int64_t) (ticks / (unsigned long) sysconf(_SC_CLK_TCK));
	return true;
}

/* The number in the pid file; a process younger than the file only has the same number. */
static int from_pid_file(const struct osm *o, pid_t *pid, struct clf_error *err)
{
	CLF_CLEANUP(textp) struct clf_text t = { 0 };
	unsigned long long n;
	char name[64];
	int64_t start_s;
	struct stat st;

	if (clf_text_load(o->pid_file, 64, &t, err) || stat(o->pid_file, &st))
		return clf_fail(err, CLF_E_NOTFOUND, "cannot read '%s'", o->pid_file);
	if (!t.len || !clf_parse_u64(t.data, strcspn(t.data, "\n"), &n) || n < 2 || n > 4194304)
		return clf_fail(err, CLF_E_NOTFOUND, "'%s' holds no process number", o->pid_file);
	if (!process_facts((pid_t) n, name, sizeof name, &start_s))
		return clf_fail(err, CLF_E_NOTFOUND, "process %llu of '%s' does not run; is OpenSM down?", n,
				o->pid_file);
	if (strcmp(name, o->process) != 0)
		return clf_fail(err, CLF_E_NOTFOUND, "process %llu of '%s' is '%.20s', not '%s'; is the file old?", n,
				o->pid_file, name, o->process);
	if (start_s > st.st_mtime + PID_SLACK_S)
		return clf_fail(err, CLF_E_NOTFOUND, "process %llu started after '%s' was written; is the file old?", n,
				o->pid_file);
	*pid = (pid_t) n;
	return 0;
}

static void dirp(DIR **d)
{
	if (*d)
		closedir(*d);
}

/* By name only when there is one of it. */
static int from_name(const struct osm *o, pid_t *pid, struct clf_error *err)
{
	CLF_CLEANUP(dirp) DIR *d = opendir("/proc");
	pid_t found = 0;
	unsigned n = 0;

	for (struct dirent *e; d && (e = readdir(d));) {
		unsigned long long k;
		char name[64];
		int64_t start_s;

		if (!clf_parse_u64(e->d_name, strlen(e->d_name), &k) ||
		    !process_facts((pid_t) k, name, sizeof name, &start_s) || strcmp(name, o->process) != 0)
			continue;
		found = (pid_t) k;
		n++;
	}
	if (!n)
		return clf_fail(err, CLF_E_NOTFOUND, "no process '%s' runs on this host", o->process);
	if (n > 1)
		return clf_fail(err, CLF_E_CONFLICT, "%u processes '%s' run on this host; name one by \"pid_file\"", n,
				o->process);
	*pid = found;
	return 0;
}

int osm_find_process(const struct osm *o, pid_t *pid, struct clf_error *err)
{
	return o->pid_file ? from_pid_file(o, pid, err) : from_name(o, pid, err);
}

/* Over a descriptor of the process that was checked: its number cannot pass to another in between. */
int osm_signal(const struct osm *o, pid_t *pid, struct clf_error *err)
{
	CLF_AUTO_CLOSE int fd = -1;
	pid_t again;

	if (osm_find_process(o, pid, err))
		return -1;
	fd = (int) syscall(SYS_pidfd_open, *pid, 0);
	if (fd < 0 && errno == ENOSYS) {
		if (kill(*pid, SIGHUP))
			return clf_fail(err, CLF_E_IO, "cannot signal process %d: %s", (int) *pid, strerror(errno));
		return 0;
	}
	if (fd < 0 || osm_find_process(o, &again, err) || again != *pid)
		return clf_fail(err, CLF_E_NOTFOUND, "OpenSM ended just now");
	if (syscall(SYS_pidfd_send_signal, fd, SIGHUP, NULL, 0))
		return clf_fail(err, CLF_E_IO, "cannot signal OpenSM (process %d): %s", (int) *pid, strerror(errno));
	return 0;
}
