/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cmd_status.c - closfold status: daemon, policy, log, leases at a glance. */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "cmd/cmd.h"
#include "cmd/remote.h"

static const char help_text[] =
	"usage: closfold status [--conf FILE] [--json]\n"
	"\n"
	"Daemon, policy in force, audit log, leases and the last comparison with Slurm.\n"
	"Exit: 0 all is well; 1 no policy in force, a new one refused, or the log cannot be written; 5 closfoldd\n"
	"is not reachable.\n";

static json_int_t num(const json_t *j, const char *key)
{
	return json_integer_value(json_object_get(j, key));
}

static void line(const char *name, const char *fmt, ...) CLF_PRINTF(2, 3);
static void line(const char *name, const char *fmt, ...)
{
	char text[1200];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);

	CLF_AUTO_FREE char *safe = clf_cmd_escape(text);

	printf("%-10s %s\n", name, safe ? safe : "?");
}

static const char *str(const json_t *j, const char *key)
{
	const char *s = json_string_value(json_object_get(j, key));

	return s ? s : "";
}

static void fabrics(const json_t *list)
{
	json_t *f;
	size_t i;

	if (!json_array_size(list))
		line("fabric", "none configured: no wire is programmed");
	json_array_foreach(list, i, f)
	{
		const json_t *k = json_object_get(f, "keys");

		line("fabric",
		     "%s (%s%s): %" PRId64 " of %" PRId64 " keys in use, %" PRId64 " rest; %s, %" PRId64
		     " errors, %" PRId64 " warnings%s%s",
		     str(f, "name"), str(f, "driver"),
		     json_is_true(json_object_get(f, "programs_wires")) ? "" : ", no wire is programmed",
		     (int64_t) num(k, "in_use"), (int64_t) num(k, "size"), (int64_t) num(k, "resting"),
		     json_is_true(json_object_get(f, "audited")) ? "audited" : "NOT AUDITED YET",
		     (int64_t) num(f, "errors"), (int64_t) num(f, "warnings"), *str(f, "last_error") ? "; " : "",
		     str(f, "last_error"));
	}
}

static void print_whole(const json_t *r)
{
	const json_t *log = json_object_get(r, "log"), *pol = json_object_get(r, "policy"),
		     *topo = json_object_get(r, "topology"), *rec = json_object_get(r, "reconcile"),
		     *res = json_object_get(rec, "result");
	int64_t now = clf_clock_system.wall_ms(clf_clock_system.arg);
	char span[40];

	line("closfoldd", "%s on cluster %s, process %" PRId64 ", up %s", str(r, "version"), str(r, "cluster"),
	     (int64_t) num(r, "pid"), clf_remote_span(now - num(r, "started_ms"), span, sizeof span));
	if (json_is_true(json_object_get(pol, "in_force")))
		line("policy", "%s version %" PRId64 " in force, generation %" PRId64 " (%.12s)", str(pol, "id"),
		     (int64_t) num(pol, "version"), (int64_t) num(pol, "generation"), str(pol, "sha256"));
	else
		line("policy", "NONE in force: flagged jobs are refused");
	if (*str(pol, "error"))
		line("", "REFUSED: %s", str(pol, "error"));
	if (*str(topo, "file"))
		line("topology", "%" PRId64 " nodes, from %s", (int64_t) num(topo, "nodes"), str(topo, "file"));
	else
		line("topology", "none");
	line("log", "%" PRId64 " records of %s%s%s", (int64_t) num(log, "records"), str(log, "name"),
	     json_is_true(json_object_get(log, "writable")) ? "" : "; CANNOT BE WRITTEN, flagged jobs are refused: ",
	     str(log, "error"));
	line("leases", "%" PRId64 " open", (int64_t) num(json_object_get(r, "leases"), "open"));
	fabrics(json_object_get(r, "fabrics"));
	if (!num(rec, "last_ms"))
		line("reconcile", "not yet");
	else if (!json_is_true(json_object_get(rec, "known")))
		line("reconcile", "Slurm's jobs are NOT KNOWN, nothing was changed: %s", str(rec, "error"));
	else
		line("reconcile",
		     "%s ago: %" PRId64 " kept, %" PRId64 " young, %" PRId64 " released, %" PRId64 " failed",
		     clf_remote_span(now - num(rec, "last_ms"), span, sizeof span), (int64_t) num(res, "kept"),
		     (int64_t) num(res, "young"), (int64_t) num(res, "released"), (int64_t) num(res, "failed"));
}

/* What anybody may know. */
static void print_short(const json_t *r)
{
	line("closfoldd", "%s on cluster %s runs; root and the Slurm user see more", str(r, "version"),
	     str(r, "cluster"));
	line("policy", "%s", json_is_true(json_object_get(r, "policy_in_force")) ? "in force" : "NONE in force");
	line("log", "%s", json_is_true(json_object_get(r, "log_writable")) ? "written" : "CANNOT BE WRITTEN");
}

static bool is_well(const json_t *r)
{
	const json_t *log = json_object_get(r, "log"), *pol = json_object_get(r, "policy");

	if (!log)
		return json_is_true(json_object_get(r, "policy_in_force")) &&
		       json_is_true(json_object_get(r, "log_writable"));
	return json_is_true(json_object_get(log, "writable")) && json_is_true(json_object_get(pol, "in_force")) &&
	       !*str(pol, "error");
}

int clf_cmd_status(int argc, char **argv)
{
	static const struct option longs[] = { { "conf", required_argument, NULL, 'c' },
					       { "json", no_argument, NULL, 'j' },
					       { "help", no_argument, NULL, 'h' },
					       { 0 } };
	CLF_CLEANUP(clf_conf_destroyp) struct clf_conf *conf = NULL;
	struct clf_error err = { 0 };
	json_auto_t *r = NULL;
	const char *path = NULL;
	bool json = false, well;
	int c;

	while ((c = getopt_long(argc, argv, "h", longs, NULL)) != -1) {
		if (c == 'c')
			path = optarg;
		else if (c == 'j')
			json = true;
		else if (c == 'h')
			return fputs(help_text, stdout) == EOF ? CLF_EXIT_INTERNAL : CLF_EXIT_OK;
		else
			return clf_cmd_usage(json, "status: wrong option");
	}
	if (optind < argc)
		return clf_cmd_usage(json, "status takes no argument, '%s' was given", argv[optind]);
	if (clf_remote_conf(path, &conf, &err) || clf_remote_ask(conf, json_pack("{s:s}", "op", "status"), &r, &err))
		return clf_cmd_fail(&err, json);
	well = is_well(r);
	if (json)
		c = clf_cmd_print_json(json_incref(r));
	else {
		if (json_object_get(r, "log"))
			print_whole(r);
		else
			print_short(r);
		c = CLF_EXIT_OK;
	}
	return c ? c : well ? CLF_EXIT_OK : CLF_EXIT_NO;
}
