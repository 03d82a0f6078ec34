/* SPDX-License-Identifier: GPL-2.0-or-later */
/* spank_step.c - tells batch scripts and tasks the order of their hosts on the fabric.
 *
 * CLOSFOLD_RANK_HOSTS  file, one host a line; CLOSFOLD_NODE_RANK  this host's line, from 0; CLOSFOLD_MASTER  the first
 * host. Advice for launchers, no authority: the node list may come from the step's environment. Any failure: the
 * variables are not there. A flagged job's steps also get what their fabric's software looks at (NCCL_IB_PKEY...), from
 * the file that the node's prolog wrote.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <slurm/slurm.h>

#include "base/hostlist.h"
#include "base/lex.h"
#include "policy/conf.h"
#include "slurm/glue_conf.h"
#include "slurm/rank_file.h"
#include "slurm/spank_closfold.h"

#define NODELIST_MAX (1u << 20)

static char file[4096]; /* "" = none made */

/* Where node files live: runtime_dir of closfold.conf where a node has one. SLURM_CONF is slurmd's own here, not the
 * job's. */
static void runtime_dir(char *buf, size_t size)
{
	CLF_CLEANUP(clf_conf_destroyp) struct clf_conf *conf = NULL;
	char path[4096];

	if (!clf_glue_conf_path(getenv("SLURM_CONF"), path, sizeof(path)) && !clf_conf_load(path, &conf, NULL) &&
	    conf->runtime_dir && strlen(conf->runtime_dir) < size)
		strcpy(buf, conf->runtime_dir);
	else
		snprintf(buf, size, "/run/closfold");
}

/* A flagged job's network variables, which its prolog wrote down; a user's own value stays. */
static void tell_network(spank_t sp, uint32_t job)
{
	char runtime[2048], path[3072], had[8];
	struct clf_text t = { 0 };
	struct clf_lines it;
	const char *line;
	size_t len;

	runtime_dir(runtime, sizeof(runtime));
	snprintf(path, sizeof(path), "%s/jobs/%u", runtime, job);
	if (clf_text_load(path, 64u << 10, &t, NULL))
		return;
	for (it = clf_lines_begin(&t); clf_lines_next(&it, &line, &len);) {
		CLF_AUTO_FREE char *entry = strndup(line, len);
		char *eq = entry ? strchr(entry, '=') : NULL;

		if (!eq)
			continue;
		*eq = '\0';
		if (spank_getenv(sp, entry, had, sizeof(had)) == ESPANK_ENV_NOEXIST)
			spank_setenv(sp, entry, eq + 1, 0);
		else
			slurm_debug("closfold: %s is the user's own", entry);
	}
	clf_text_done(&t);
}

static int file_path(uint32_t job, uint32_t step, uint32_t node, char *buf, size_t size)
{
	char runtime[2048], dir[3072];
	int n;

	runtime_dir(runtime, sizeof(runtime));
	n = snprintf(dir, sizeof(dir), "%s/ranks", runtime);
	if (n < 0 || (size_t) n >= sizeof(dir))
		return -1;
	if ((mkdir(runtime, 0755) && errno != EEXIST) || (mkdir(dir, 0755) && errno != EEXIST))
		return -1;
	n = snprintf(buf, size, "%s/%u.%u.%u", dir, job, step, node);
	return n < 0 || (size_t) n >= size ? -1 : 0;
}

static int write_file(const char *path, const char *text)
{
	CLF_AUTO_CLOSE int fd = -1;
	size_t len = strlen(text);

	if (unlink(path) && errno != ENOENT)
		return -1;
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
	if (fd < 0 || fchmod(fd, 0644) || write(fd, text, len) != (ssize_t) len) {
		if (fd >= 0)
			unlink(path);
		return -1;
	}
	return 0;
}

/* What srun was given for its own ranks is no wish of the user's: a nested srun must not find it. */
static void forget_hostfile(spank_t sp)
{
	char given[8];

	if (spank_getenv(sp, "CLOSFOLD_RANKS_GIVEN", given, sizeof(given)) != ESPANK_SUCCESS)
		return;
	spank_unsetenv(sp, "CLOSFOLD_RANKS_GIVEN");
	spank_unsetenv(sp, "SLURM_HOSTFILE");
	spank_unsetenv(sp, "SLURM_DISTRIBUTION");
}

static int tell_order(spank_t sp, const struct clf_spank_args *args, uint32_t job, uint32_t step, uint32_t node,
		      struct clf_error *err)
{
	CLF_AUTO_FREE char *list = malloc(NODELIST_MAX);
	CLF_CLEANUP(clf_strv_done) struct clf_strv hosts = { 0 };
	CLF_CLEANUP(clf_topo_destroyp) struct clf_topo *topo = NULL;
	CLF_AUTO_FREE uint32_t *perm = NULL;
	CLF_AUTO_FREE char *text = NULL;
	char number[16];
	uint32_t rank = 0;
	bool same;

	if (!list)
		return clf_fail(err, CLF_E_NOMEM, "no memory for a rank order");
	if ((step == SLURM_BATCH_SCRIPT ||
	     spank_getenv(sp, "SLURM_STEP_NODELIST", list, NODELIST_MAX) != ESPANK_SUCCESS) &&
	    spank_getenv(sp, "SLURM_JOB_NODELIST", list, NODELIST_MAX) != ESPANK_SUCCESS)
		return clf_fail(err, CLF_E_NOTFOUND, "no node list");
	if (clf_hostlist_expand(list, CLF_MAX_NODES, &hosts, err))
		return -1;
	if (node >= hosts.n)
		return clf_fail(err, CLF_E_INVALID, "node %u of %zu", node, hosts.n);
	perm = calloc(hosts.n, sizeof(*perm));
	if (!perm)
		return clf_fail(err, CLF_E_NOMEM, "no memory for a rank order");
	if (clf_rank_topology(args->topology, getenv("SLURM_CONF"), &topo, err) ||
	    clf_rank_order(topo, &hosts, perm, &same, err))
		return -1;
	while (rank < hosts.n && perm[rank] != node)
		rank++;
	text = clf_rank_text(&hosts, perm, NULL, err);
	if (!text)
		return -1;
	if (file_path(job, step, node, file, sizeof(file)) || write_file(file, text)) {
		file[0] = '\0';
		return clf_fail(err, CLF_E_IO, "cannot write the rank file: %m");
	}
	snprintf(number, sizeof(number), "%u", rank);
	spank_setenv(sp, "CLOSFOLD_RANK_HOSTS", file, 1);
	spank_setenv(sp, "CLOSFOLD_NODE_RANK", number, 1);
	spank_setenv(sp, "CLOSFOLD_MASTER", hosts.v[perm[0]], 1);
	return 0;
}

void clf_spank_step_begin(spank_t sp, const struct clf_spank_args *args)
{
	struct clf_error err = { 0 };
	uint32_t job = 0, step = 0, node = 0;

	forget_hostfile(sp);
	if (spank_get_item(sp, S_JOB_ID, &job) != ESPANK_SUCCESS ||
	    spank_get_item(sp, S_JOB_STEPID, &step) != ESPANK_SUCCESS ||
	    spank_get_item(sp, S_JOB_NODEID, &node) != ESPANK_SUCCESS || step == SLURM_EXTERN_CONT)
		return;
	tell_network(sp, job);
	if (tell_order(sp, args, job, step, node, &err))
		slurm_debug("closfold: no rank file for this step: %s", err.text);
}

void clf_spank_step_end(void)
{
	if (file[0])
		unlink(file);
	file[0] = '\0';
}
