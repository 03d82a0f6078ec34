/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "slurm/rank_argv.h"

#include <string.h>

/* Options after which the user's word stands: the shape of the step is theirs. */
static const char *const owned[] = { "nodes",
				     "ntasks",
				     "nodelist",
				     "exclude",
				     "relative",
				     "distribution",
				     "nodefile",
				     "jobid",
				     "ntasks-per-node",
				     "tasks-per-node",
				     "ntasks-per-core",
				     "ntasks-per-socket",
				     "ntasks-per-gpu",
				     "ntasks-per-tres",
				     "gpus-per-task",
				     "multi-prog",
				     "het-group",
				     "pack-group",
				     "pty",
				     "spread-job",
				     "use-min-nodes",
				     "contiguous",
				     "exact",
				     "exclusive",
				     "no-allocate",
				     "test-only" };
static const char owned_short[] = "NnwxrmFZ";

static const char *const with_arg[] = {
	"accel-bind",
	"account",
	"acctg-freq",
	"bb",
	"bbf",
	"bcast-exclude",
	"begin",
	"chdir",
	"cluster",
	"cluster-constraint",
	"clusters",
	"comment",
	"constraint",
	"container",
	"context",
	"core-spec",
	"cores-per-socket",
	"cpu-bind",
	"cpu_bind",
	"cpu-freq",
	"cpus-per-gpu",
	"cpus-per-task",
	"data-class",
	"data-grant",
	"deadline",
	"delay-boot",
	"dependency",
	"epilog",
	"error",
	"export",
	"extra-node-info",
	"gid",
	"gpu-bind",
	"gpu-freq",
	"gpus",
	"gpus-per-node",
	"gpus-per-socket",
	"gres",
	"gres-flags",
	"hint",
	"input",
	"job-name",
	"licenses",
	"mail-type",
	"mail-user",
	"mcs-label",
	"mem",
	"mem-bind",
	"mem-per-cpu",
	"mem-per-gpu",
	"mincpus",
	"mpi",
	"msg-timeout",
	"network",
	"open-mode",
	"output",
	"partition",
	"power",
	"prefer",
	"priority",
	"profile",
	"prolog",
	"qos",
	"reservation",
	"signal",
	"slurmd-debug",
	"sockets-per-node",
	"switches",
	"task-epilog",
	"task-prolog",
	"thread-spec",
	"threads",
	"threads-per-core",
	"time",
	"time-min",
	"tmp",
	"uid",
	"wait",
	"wckey",
};
static const char *const without_arg[] = {
	"bcast",
	"compress",
	"debugger-test",
	"disable-status",
	"help",
	"hold",
	"immediate",
	"interactive",
	"kill-on-bad-exit",
	"label",
	"nice",
	"no-kill",
	"overcommit",
	"overlap",
	"oversubscribe",
	"preserve-env",
	"propagate",
	"quiet",
	"quit-on-interrupt",
	"reboot",
	"resv-ports",
	"send-libs",
	"unbuffered",
	"usage",
	"verbose",
	"version",
	"whole",
	"x11",
};
static const char short_arg[] = "AbDMCScdeBGiJLTFNnopPqrtUWwmx";
static const char short_none[] = "XhHlOsEQuvVj"; /* and IKk, whose optional argument is never a word of its own */
static const char short_optional[] = "IKk";

/* Is the word, of len characters, the name or the beginning of one in the list? getopt_long takes any unambiguous
 * beginning. */
static bool names(const char *const *list, size_t n, const char *word, size_t len)
{
	for (size_t i = 0; i < n; i++)
		if (len > 0 && !strncmp(list[i], word, len))
			return true;
	return false;
}
static bool is(const char *const *list, size_t n, const char *word, size_t len)
{
	for (size_t i = 0; i < n; i++)
		if (strlen(list[i]) == len && !strncmp(list[i], word, len))
			return true;
	return false;
}
#define NAMES(list, word, len) names(list, sizeof(list) / sizeof(*(list)), word, len)

/* Returns how many words a long option takes (1 or 2), 0 for "not ours to order". */
static size_t long_option(const char *word)
{
	size_t len = strcspn(word, "=");

	/* a full name before a beginning: --gpus is not short for --gpus-per-task */
	if (!is(with_arg, sizeof(with_arg) / sizeof(*with_arg), word, len) &&
	    !is(without_arg, sizeof(without_arg) / sizeof(*without_arg), word, len) && NAMES(owned, word, len))
		return 0;
	if (NAMES(with_arg, word, len))
		return word[len] == '=' ? 1 : 2;
	return NAMES(without_arg, word, len) ? 1 : 0;
}

static size_t short_options(const char *cluster)
{
	for (const char *c = cluster; *c; c++) {
		if (strchr(owned_short, *c))
			return 0;
		if (strchr(short_arg, *c))
			return c[1] ? 1 : 2;
		if (strchr(short_optional, *c))
			return 1;
		if (!strchr(short_none, *c))
			return 0;
	}
	return 1;
}

bool clf_rank_argv_free(const char *const *argv, size_t argc)
{
	size_t i = 1;

	while (i < argc) {
		const char *a = argv[i];
		size_t words;

		if (a[0] != '-' || !a[1] || !strcmp(a, "--"))
			break; /* the program and its own words */
		words = a[1] == '-' ? long_option(a + 2) : short_options(a + 1);
		if (!words)
			return false;
		i += words;
	}
	if (i > argc)
		return false;
	/* "prog : prog" starts components of a heterogeneous job */
	for (; i < argc; i++)
		if (!strcmp(argv[i], ":"))
			return false;
	return true;
}
