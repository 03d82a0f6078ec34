/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cmd.h - frame of the `closfold` command: a verb is a file cmd_<verb>.c, the table is main.c.
 *
 * A verb gets its own argv (argv[0] = "place"), parses with getopt_long, prints facts on stdout (one JSON object with
 * --json), errors through clf_cmd_fail(), and returns an exit status of enum clf_exit.
 */
#ifndef CLF_CMD_CMD_H
#define CLF_CMD_CMD_H

#include <jansson.h>
#include <stdbool.h>

#include "base/err.h"

/* docs/man/closfold.1; stable. */
enum clf_exit {
	CLF_EXIT_OK = 0,
	CLF_EXIT_NO = 1, /* the question's answer is no */
	CLF_EXIT_USAGE = 2,
	CLF_EXIT_INPUT = 3, /* bad input file */
	CLF_EXIT_PERMISSION = 4,
	CLF_EXIT_UNREACHABLE = 5, /* closfoldd */
	CLF_EXIT_DEVICE = 6,      /* a device did not confirm */
	CLF_EXIT_EXHAUSTED = 7,
	CLF_EXIT_INTERNAL = 70,
};

struct clf_cmd {
	const char *verb;
	const char *about; /* one line */
	int (*run)(int argc, char **argv);
};

/* One line on stderr, "closfold: text" (control characters escaped); with json also {"error":{...}} on stdout. Returns
 * the exit status that belongs to err->code: parse 3, notfound 3, io 3, invalid 1, exhausted 7, denied 4, insecure 4,
 * remote 5, timeout 5, nomem 3 when at a cap of an input file, internal 70. */
int clf_cmd_fail(const struct clf_error *err, bool json);

/* A wrong command line: "closfold: text" and where to look. Returns CLF_EXIT_USAGE. */
int clf_cmd_usage(bool json, const char *fmt, ...) CLF_PRINTF(2, 3);

/* Print an object and a newline to stdout, check that it was written. Steals j. Returns CLF_EXIT_OK, or
 * CLF_EXIT_INTERNAL. */
int clf_cmd_print_json(json_t *j);

/* Text of unknown origin for a terminal: control characters and invalid UTF-8 as \xNN. Owned. */
char *clf_cmd_escape(const char *s);

int clf_cmd_topo(int argc, char **argv);
int clf_cmd_place(int argc, char **argv);
int clf_cmd_policy(int argc, char **argv);
int clf_cmd_fabric(int argc, char **argv);
int clf_cmd_lease(int argc, char **argv);
int clf_cmd_audit(int argc, char **argv);
int clf_cmd_status(int argc, char **argv);

#endif
