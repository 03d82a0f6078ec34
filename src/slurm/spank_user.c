/* SPDX-License-Identifier: GPL-2.0-or-later */
/* spank_user.c - what users type, and the rank order srun is given.
 *
 * The values are claims: slurmctld decides. They are looked at here only so that a typing error is told at once.
 * Ranks: slurm_spank_init runs before srun parses its options; SLURM_HOSTFILE with SLURM_DISTRIBUTION=arbitrary set
 * then decides the order. Both are taken back once srun has read them: a task that starts srun itself must not inherit
 * them.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/hostlist.h"
#include "base/lex.h"
#include "slurm/rank_argv.h"
#include "slurm/rank_file.h"
#include "slurm/spank_closfold.h"

#define WORD_MAX    64
#define WORD_CHARS  "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._:/-"
#define CMDLINE_MAX (1u << 20)

static int check_word(const char *option, const char *value, int remote)
{
	if (remote) /* the step's environment may hold anything; nothing is decided there */
		return 0;
	if (value && *value && strlen(value) <= WORD_MAX && strspn(value, WORD_CHARS) == strlen(value))
		return 0;
	slurm_error("closfold: --%s takes one word of at most %d letters, digits, '.', '_', ':', '/' and '-'", option,
		    WORD_MAX);
	return -1;
}

static int on_class(int val, const char *value, int remote)
{
	(void) val;
	return check_word("data-class", value, remote);
}

static int on_grant(int val, const char *value, int remote)
{
	(void) val;
	return check_word("data-grant", value, remote);
}

static struct spank_option options[] = {
	{ "data-class", "CLASS",
	  "class of the data the job works on, as the site's policy names it (public, personal, ...); "
	  "without it the policy classifies the job by account and partition",
	  1, 0, on_class },
	{ "data-grant", "ID", "grant that permits this work; asked for by classes that need one", 1, 0, on_grant },
};

int clf_spank_options(spank_t sp)
{
	for (size_t i = 0; i < sizeof(options) / sizeof(*options); i++)
		if (spank_option_register(sp, &options[i]) != ESPANK_SUCCESS)
			return -1;
	return 0;
}

/* The command line of this process, cut into words; *words is owned, pointing into *bytes. */
static size_t command_line(char **bytes, const char ***words)
{
	CLF_AUTO_CLOSE int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
	CLF_AUTO_FREE char *text = malloc(CMDLINE_MAX);
	CLF_AUTO_FREE const char **list = NULL;
	size_t len = 0, n = 0;
	ssize_t got;

	if (fd < 0 || !text)
		return 0;
	while (len < CMDLINE_MAX && (got = read(fd, text + len, CMDLINE_MAX - len)) > 0)
		len += (size_t) got;
	if (!len || len == CMDLINE_MAX || text[len - 1])
		return 0;
	for (size_t i = 0; i < len; i++)
		n += !text[i];
	list = calloc(n, sizeof(*list));
	if (!list)
		return 0;
	for (size_t i = 0, k = 0; k < n; i += strlen(text + i) + 1)
		list[k++] = text + i;
	*bytes = CLF_STEAL(text);
	*words = CLF_STEAL(list);
	return n;
}

static bool stays_out(const char **why)
{
	static const char *const chosen[] = { "SLURM_HOSTFILE", "SLURM_DISTRIBUTION", "SLURM_HET_SIZE",
					      "SLURM_PACK_SIZE", "SLURM_STEP_ID" };
	const char *off = getenv("CLOSFOLD_RANKS");
	CLF_AUTO_FREE char *bytes = NULL;
	CLF_AUTO_FREE const char **words = NULL;
	size_t n;

	if (off && !strcmp(off, "off")) {
		*why = "CLOSFOLD_RANKS=off";
		return true;
	}
	for (size_t i = 0; i < sizeof(chosen) / sizeof(*chosen); i++)
		if (getenv(chosen[i])) {
			*why = chosen[i];
			return true;
		}
	n = command_line(&bytes, &words);
	if (!n || !clf_rank_argv_free(words, n)) {
		*why = "the command line shapes the step";
		return true;
	}
	return false;
}

/* Tasks of each host. Without SLURM_NTASKS srun starts one task a node, whatever SLURM_TASKS_PER_NODE says of CPUs. */
static int task_counts(size_t n, uint32_t *counts, struct clf_error *err)
{
	const char *tasks = getenv("SLURM_NTASKS"), *per_node = getenv("SLURM_TASKS_PER_NODE");
	unsigned long long want, sum = 0;

	if (!tasks) {
		if (getenv("SLURM_NTASKS_PER_NODE"))
			return clf_fail(err, CLF_E_INVALID, "task count not known");
		for (size_t i = 0; i < n; i++)
			counts[i] = 1;
		return 0;
	}
	if (!per_node || !clf_parse_u64(tasks, strlen(tasks), &want))
		return clf_fail(err, CLF_E_INVALID, "task count not known");
	if (clf_rank_counts(per_node, n, counts, err))
		return -1;
	for (size_t i = 0; i < n; i++)
		sum += counts[i];
	return sum == want && sum <= CLF_RANK_MAX_TASKS
		       ? 0
		       : clf_fail(err, CLF_E_INVALID, "task count and tasks a node differ");
}

/* A file of the user's own, removed when srun has read it. */
static int write_hostfile(const char *text, char *path, size_t size, struct clf_error *err)
{
	const char *dir = getenv("TMPDIR");
	CLF_AUTO_CLOSE int fd = -1;
	size_t len = strlen(text);
	int n = snprintf(path, size, "%s/closfold-ranks.XXXXXX", dir && *dir == '/' ? dir : "/tmp");

	if (n < 0 || (size_t) n >= size)
		return clf_fail(err, CLF_E_INVALID, "TMPDIR too long");
	fd = mkostemp(path, O_CLOEXEC);
	if (fd < 0)
		return clf_fail(err, CLF_E_IO, "cannot make '%s': %m", path);
	if (write(fd, text, len) != (ssize_t) len) {
		unlink(path);
		return clf_fail(err, CLF_E_IO, "cannot write '%s': %m", path);
	}
	return 0;
}

static char hostfile[4096]; /* "" = none given */

static int give_order(const struct clf_spank_args *args, struct clf_error *err)
{
	const char *nodelist = getenv("SLURM_JOB_NODELIST");
	CLF_CLEANUP(clf_strv_done) struct clf_strv hosts = { 0 };
	CLF_CLEANUP(clf_topo_destroyp) struct clf_topo *topo = NULL;
	CLF_AUTO_FREE uint32_t *counts = NULL;
	CLF_AUTO_FREE uint32_t *perm = NULL;
	CLF_AUTO_FREE char *text = NULL;
	char path[sizeof(hostfile)];
	bool same = true;

	if (clf_hostlist_expand(nodelist, CLF_MAX_NODES, &hosts, err))
		return -1;
	if (hosts.n < 2)
		return 0;
	counts = calloc(hosts.n, sizeof(*counts));
	perm = calloc(hosts.n, sizeof(*perm));
	if (!counts || !perm)
		return clf_fail(err, CLF_E_NOMEM, "no memory for a rank order");
	if (task_counts(hosts.n, counts, err) || clf_rank_topology(args->topology, getenv("SLURM_CONF"), &topo, err) ||
	    clf_rank_order(topo, &hosts, perm, &same, err))
		return -1;
	if (same)
		return 0;
	text = clf_rank_text(&hosts, perm, counts, err);
	if (!text || write_hostfile(text, path, sizeof(path), err))
		return -1;
	if (setenv("SLURM_HOSTFILE", path, 1) || setenv("SLURM_DISTRIBUTION", "arbitrary", 1) ||
	    setenv("CLOSFOLD_RANKS_GIVEN", "1", 1)) {
		unlink(path);
		return clf_fail(err, CLF_E_NOMEM, "no memory for a rank order");
	}
	strcpy(hostfile, path);
	slurm_verbose("closfold: ranks in the order of the fabric (CLOSFOLD_RANKS=off keeps Slurm's)");
	return 0;
}

int clf_spank_user_ranks(const struct clf_spank_args *args)
{
	struct clf_error err = { 0 };
	const char *why = NULL;

	if (!getenv("SLURM_JOB_ID") || !getenv("SLURM_JOB_NODELIST"))
		return 0;
	if (stays_out(&why))
		slurm_verbose("closfold: ranks left in Slurm's order: %s", why);
	else if (give_order(args, &err))
		slurm_verbose("closfold: ranks left in Slurm's order: %s", err.text);
	return 0;
}

void clf_spank_user_ranks_done(void)
{
	if (!hostfile[0])
		return;
	unlink(hostfile);
	hostfile[0] = '\0';
	unsetenv("SLURM_HOSTFILE");
	unsetenv("SLURM_DISTRIBUTION");
}
