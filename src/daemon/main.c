/* SPDX-License-Identifier: GPL-2.0-or-later */
/* main.c - closfoldd: the single writer of leases, fabric and audit log. closfoldd(8). */
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/path.h"
#include "config.h"
#include "daemon/inforce.h"
#include "daemon/loop.h"
#include "daemon/node.h"

static const char help_text[] =
	"usage: closfoldd [-f FILE] [-v] [--role ROLE] [--accept-damaged-log]\n"
	"\n"
	"  -f, --conf FILE          configuration (default " CLF_CONF_DEFAULT ")\n"
	"  -v, --verbose            say more; twice: debug\n"
	"      --role ROLE          controller (default): leases, fabric and log, beside slurmctld; node: what this "
	"node\n"
	"                           is, and probes, on each compute node\n"
	"      --check              read configuration, policy and topology, and end\n"
	"      --accept-damaged-log go on behind an audit log that was cut or changed\n"
	"  -h, --help               this text\n"
	"      --version            version\n"
	"\n"
	"Stays in the foreground. SIGTERM ends it in order, SIGHUP reads policy and topology again.\n";

struct options {
	const char *conf;
	enum clf_log_level level;
	bool accept_damage, check, node;
};

/* -1: go on; else the exit status. */
static int parse(int argc, char **argv, struct options *o)
{
	static const struct option longs[] = {
		{ "conf", required_argument, NULL, 'f' }, { "verbose", no_argument, NULL, 'v' },
		{ "check", no_argument, NULL, 'c' },      { "accept-damaged-log", no_argument, NULL, 'a' },
		{ "role", required_argument, NULL, 'r' }, { "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'V' },    { 0 }
	};
	int c;

	while ((c = getopt_long(argc, argv, "f:vh", longs, NULL)) != -1) {
		switch (c) {
		case 'f':
			o->conf = optarg;
			break;
		case 'v':
			o->level = o->level < CLF_LOG_DEBUG ? o->level + 1 : CLF_LOG_DEBUG;
			break;
		case 'c':
			o->check = true;
			break;
		case 'a':
			o->accept_damage = true;
			break;
		case 'r':
			o->node = !strcmp(optarg, "node");
			if (o->node || !strcmp(optarg, "controller"))
				break;
			fprintf(stderr, "closfoldd: no role '%s': controller or node\n", optarg);
			return 2;
		case 'h':
			fputs(help_text, stdout);
			return 0;
		case 'V':
			puts("closfoldd " PACKAGE_VERSION);
			return 0;
		default:
			fputs("closfoldd: see --help\n", stderr);
			return 2;
		}
	}
	if (o->node && (o->check || o->accept_damage)) {
		fputs("closfoldd: --check and --accept-damaged-log are the controller's\n", stderr);
		return 2;
	}
	if (optind < argc) {
		fprintf(stderr, "closfoldd: no argument is taken, '%s' was given\n", argv[optind]);
		return 2;
	}
	return -1;
}

static int fail(const struct clf_error *err)
{
	char line[sizeof err->source + sizeof err->text + 32];

	fprintf(stderr, "closfoldd: %s\n", clf_error_string(err, line, sizeof line));
	return err->code == CLF_E_PARSE || err->code == CLF_E_NOTFOUND ? 3 : err->code == CLF_E_CONFLICT ? 7 : 1;
}

static int check_files(const struct clf_conf *conf)
{
	CLF_CLEANUP(clf_inforce_destroyp) struct clf_inforce *f = clf_inforce_load(conf);

	if (!f || f->error.code)
		return fail(f ? &f->error : &(struct clf_error){ .code = CLF_E_NOMEM, .text = "out of memory" });
	printf("policy %s version %u, %u grants; topology of %u nodes\n", f->policy->id ? f->policy->id : "?",
	       f->policy->version, f->policy->ngrants, f->topo ? clf_topo_nnodes(f->topo) : 0);
	return 0;
}

static int write_pid(const struct clf_conf *conf, char path[PATH_MAX], struct clf_error *err)
{
	char pid[16];

	if (clf_path_mkdirs(conf->runtime_dir, 0755, err))
		return -1;
	if (snprintf(path, PATH_MAX, "%s/closfoldd.pid", conf->runtime_dir) >= PATH_MAX)
		return clf_fail(err, CLF_E_INVALID, "path of the pid file is too long");
	snprintf(pid, sizeof pid, "%d\n", (int) getpid());
	return clf_path_write_atomic(path, 0644, pid, strlen(pid), err);
}

static int serve(const struct clf_conf *conf, const struct options *o)
{
	struct clf_log sink = clf_log_stderr(o->level);
	struct clf_error err = { 0 };
	struct clf_state st;
	char pid[PATH_MAX] = "";
	/* The lock of the state directory comes first: who does not have it touches nothing. */
	int rc = clf_state_open(&st, conf, o->accept_damage, &sink, &err);

	if (!rc && !(rc = write_pid(conf, pid, &err)))
		rc = clf_loop_run(&st, &err);
	if (*pid && !st.fenced)
		unlink(pid);
	clf_state_close(&st);
	return rc ? fail(&err) : 0;
}

/* Nothing comes from the environment: not the resolver's options either. */
static int serve_node(const struct clf_conf *conf, const struct options *o)
{
	struct clf_log sink = clf_log_stderr(o->level);
	struct clf_error err = { 0 };

	clearenv();
	if (!clf_node_run(conf, &sink, &err))
		return 0;
	fail(&err);
	return err.code == CLF_E_INVALID ? 3 : 1;
}

int main(int argc, char **argv)
{
	struct options o = { .conf = CLF_CONF_DEFAULT, .level = CLF_LOG_INFO };
	CLF_CLEANUP(clf_conf_destroyp) struct clf_conf *conf = NULL;
	struct clf_error err = { 0 };
	int rc = parse(argc, argv, &o);

	if (rc >= 0)
		return rc;
	umask(022);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN); /* a file size limit is an error of write(2), not a death */
	if (clf_inforce_trusted(o.conf, &err) || clf_conf_load(o.conf, &conf, &err))
		return fail(&err);
	if (o.node)
		return serve_node(conf, &o);
	return o.check ? check_files(conf) : serve(conf, &o);
}
