/* SPDX-License-Identifier: GPL-2.0-or-later */
/* main.c - the verb table of `closfold`. */
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/verbs.h"
#include "config.h"

static const struct clf_cmd verbs[] = {
#define VERB(name, about) { #name, about, clf_cmd_##name },
	CLF_VERBS
#undef VERB
};
#define NVERBS (sizeof verbs / sizeof *verbs)

static void help(FILE *f)
{
	fprintf(f, "usage: closfold VERB [OPTIONS] [ARGUMENTS]\n"
		   "       closfold VERB --help\n"
		   "       closfold --version\n\n"
		   "verbs:\n");
	for (size_t i = 0; i < NVERBS; i++)
		fprintf(f, "  %-8s %s\n", verbs[i].verb, verbs[i].about);
}

int main(int argc, char **argv)
{
	if (argc < 2) {
		help(stderr);
		return CLF_EXIT_USAGE;
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")) {
		help(stdout);
		return fflush(stdout) ? CLF_EXIT_INTERNAL : CLF_EXIT_OK;
	}
	if (!strcmp(argv[1], "--version")) {
		printf("closfold %s (Slurm plugins built for: %s)\n", PACKAGE_VERSION, CLF_SLURM_VERSION);
		return fflush(stdout) ? CLF_EXIT_INTERNAL : CLF_EXIT_OK;
	}
	for (size_t i = 0; i < NVERBS; i++)
		if (!strcmp(argv[1], verbs[i].verb)) {
			int rc = verbs[i].run(argc - 1, argv + 1);

			if (fflush(stdout) || ferror(stdout)) {
				fprintf(stderr, "closfold: cannot write the output\n");
				return CLF_EXIT_INTERNAL;
			}
			return rc;
		}
	return clf_cmd_usage(false, "no verb '%.40s'", argv[1]);
}
