/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cmd_lease.c - closfold lease: the ledger, and repairing it by hand. */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/lex.h"
#include "cmd/cmd.h"
#include "cmd/remote.h"

static const char help_text[] =
	"usage: closfold lease list [--all] [--job ID]\n"
	"       closfold lease show LEASE\n"
	"       closfold lease release LEASE\n"
	"       closfold lease reconcile [--dry-run]\n"
	"\n"
	"options: --conf FILE, --json\n"
	"\n"
	"  list       open leases; --all: also those that are over, as far as they are kept\n"
	"  show       one lease, whole\n"
	"  release    take the network away from a job now; Slurm is not told\n"
	"  reconcile  compare leases with Slurm's jobs, release those without one\n"
	"\n"
	"Exit: 0 done; 1 (reconcile) a lease could not be released; 4 not permitted; 5 closfoldd is not reachable;\n"
	"7 (release) it is closed already.\n";

struct lease_cmd {
	const char *conf;
	json_int_t job;
	bool json, all, dry_run;
	struct clf_conf *c;
};

static json_int_t num(const json_t *j, const char *key)
{
	return json_integer_value(json_object_get(j, key));
}

/* "ib:256/0x0100": fabric and key, as a VLAN id and as a PKey are written. */
static const char *networks(const json_t *l, char *buf, size_t size)
{
	const json_t *list = json_object_get(l, "nets");
	size_t n = 0;

	snprintf(buf, size, "-");
	for (size_t i = 0; i < json_array_size(list) && n < size; i++) {
		const json_t *net = json_array_get(list, i);
		CLF_AUTO_FREE char *name = clf_remote_text(net, "fabric");

		n += (size_t) snprintf(buf + n, size - n, "%s%s:%" PRId64 "/0x%04" PRIx64, n ? " " : "", name,
				       (int64_t) num(net, "key"), (int64_t) num(net, "key"));
	}
	return buf;
}

static void print_row(const json_t *l)
{
	CLF_AUTO_FREE char *id = clf_remote_text(l, "id"), *state = clf_remote_text(l, "state"),
			   *user = clf_remote_text(l, "user"), *cls = clf_remote_text(l, "class"),
			   *grant = clf_remote_text(l, "grant"), *nodes = clf_remote_text(l, "nodes");
	char when[64], nets[200];

	printf("%-10s %-9s %10" PRId64 " %-12s %-12s %-10s %6" PRId64 " %-24s %-20s %s\n", id, state,
	       (int64_t) num(l, "job_id"), user, cls, grant, (int64_t) num(l, "n_nodes"), nodes,
	       networks(l, nets, sizeof nets), clf_remote_time(num(l, "requested_ms"), when, sizeof when));
}

/* All pages of the list; *out owned. */
static int fetch_list(struct lease_cmd *k, json_t **out, struct clf_error *err)
{
	json_auto_t *all = json_array();
	json_int_t from = 0;

	for (;;) {
		json_auto_t *r = NULL;
		json_t *q = json_pack("{s:s,s:b,s:I,s:I}", "op", "lease.list", "all", k->all, "from", from, "job_id",
				      k->job);

		if (clf_remote_ask(k->c, q, &r, err))
			return -1;
		if (json_array_extend(all, json_object_get(r, "leases")))
			return clf_fail(err, CLF_E_REMOTE, "closfoldd's list of leases is none");
		if (!json_is_integer(json_object_get(r, "next")))
			break;
		from = num(r, "next");
	}
	*out = CLF_STEAL(all);
	return 0;
}

static int do_list(struct lease_cmd *k, const char *arg)
{
	struct clf_error err = { 0 };
	json_auto_t *list = NULL;
	json_t *l;
	size_t i;

	if (fetch_list(k, &list, &err))
		return clf_cmd_fail(&err, k->json);
	if (k->json)
		return clf_cmd_print_json(
			json_pack("{s:O,s:I}", "leases", list, "count", (json_int_t) json_array_size(list)));
	if (!json_array_size(list)) {
		printf("no %sleases\n", k->all ? "" : "open ");
		return CLF_EXIT_OK;
	}
	printf("%-10s %-9s %10s %-12s %-12s %-10s %6s %-24s %-20s %s\n", "LEASE", "STATE", "JOB", "USER", "CLASS",
	       "GRANT", "COUNT", "NODES", "NETWORK", "SINCE");
	json_array_foreach(list, i, l) print_row(l);
	return CLF_EXIT_OK;
}

static int do_show(struct lease_cmd *k, const char *arg)
{
	static const char *const times[] = { "requested_ms", "granted_ms", "closed_ms", NULL };
	struct clf_error err = { 0 };
	json_auto_t *r = NULL;
	const char *key;
	char when[64];
	json_t *v, *l;

	if (clf_remote_ask(k->c, json_pack("{s:s,s:s}", "op", "lease.show", "lease", arg), &r, &err))
		return clf_cmd_fail(&err, k->json);
	l = json_object_get(r, "lease");
	if (k->json)
		return clf_cmd_print_json(json_pack("{s:O,s:I}", "lease", l, "failures", num(r, "failures")));
	json_object_foreach(l, key, v)
	{
		bool time = false;

		for (int i = 0; times[i]; i++)
			time |= !strcmp(key, times[i]);
		if (json_is_string(v)) {
			CLF_AUTO_FREE char *s = clf_remote_text(l, key);

			printf("%-14s %s\n", key, s);
		} else if (time) {
			printf("%-14.*s %s\n", (int) strlen(key) - 3, key,
			       clf_remote_time(json_integer_value(v), when, sizeof when));
		} else if (json_is_array(v)) {
			char nets[400];

			printf("%-14s %s\n", key, networks(l, nets, sizeof nets));
		} else if (json_is_integer(v)) {
			printf("%-14s %" PRId64 "\n", key, (int64_t) json_integer_value(v));
		}
	}
	printf("%-14s %" PRId64 "\n", "failed starts", (int64_t) num(r, "failures"));
	return CLF_EXIT_OK;
}

static int do_release(struct lease_cmd *k, const char *arg)
{
	struct clf_error err = { 0 };
	json_auto_t *r = NULL;

	if (clf_remote_ask(k->c, json_pack("{s:s,s:s}", "op", "lease.release", "lease", arg), &r, &err))
		return clf_cmd_fail(&err, k->json);
	if (k->json)
		return clf_cmd_print_json(json_pack("{s:s}", "released", arg));

	CLF_AUTO_FREE char *safe = clf_cmd_escape(arg);

	printf("lease %s is released\n", safe);
	return CLF_EXIT_OK;
}

static int do_reconcile(struct lease_cmd *k, const char *arg)
{
	struct clf_error err = { 0 };
	json_auto_t *r = NULL;
	json_t *a;
	size_t i;
	int rc = CLF_EXIT_OK;

	if (clf_remote_ask(k->c, json_pack("{s:s,s:b}", "op", "reconcile", "dry_run", k->dry_run), &r, &err))
		return clf_cmd_fail(&err, k->json);
	if (k->json) {
		json_object_del(r, "ok");
		rc = clf_cmd_print_json(json_incref(r));
	} else {
		json_array_foreach(json_object_get(r, "actions"), i, a)
		{
			CLF_AUTO_FREE char *id = clf_remote_text(a, "lease"), *why = clf_remote_text(a, "why");

			printf("%s of job %" PRId64 ": %s, %s\n", id, (int64_t) num(a, "job_id"), why,
			       json_is_true(json_object_get(a, "done")) ? "released"
			       : k->dry_run                             ? "would be released"
									: "NOT released");
		}
		printf("%" PRId64 " open leases: %" PRId64 " have their job, %" PRId64
		       " are too young to tell, %zu %s\n",
		       (int64_t) num(r, "leases"), (int64_t) num(r, "kept"), (int64_t) num(r, "young"),
		       json_array_size(json_object_get(r, "actions")), k->dry_run ? "would be released" : "acted on");
	}
	return rc ? rc : num(r, "failed") ? CLF_EXIT_NO : CLF_EXIT_OK;
}

static const struct sub {
	const char *name;
	int (*run)(struct lease_cmd *k, const char *arg);
	bool arg;
} subs[] = { { "list", do_list, false },
	     { "show", do_show, true },
	     { "release", do_release, true },
	     { "reconcile", do_reconcile, false } };

/* -1: go on. */
static int parse(int argc, char **argv, struct lease_cmd *k)
{
	static const struct option longs[] = { { "conf", required_argument, NULL, 'c' },
					       { "json", no_argument, NULL, 'j' },
					       { "all", no_argument, NULL, 'a' },
					       { "job", required_argument, NULL, 'J' },
					       { "dry-run", no_argument, NULL, 'n' },
					       { "help", no_argument, NULL, 'h' },
					       { 0 } };
	unsigned long long v;
	int c;

	while ((c = getopt_long(argc, argv, "h", longs, NULL)) != -1) {
		switch (c) {
		case 'c':
			k->conf = optarg;
			break;
		case 'j':
			k->json = true;
			break;
		case 'a':
			k->all = true;
			break;
		case 'n':
			k->dry_run = true;
			break;
		case 'J':
			if (!clf_parse_u64(optarg, strlen(optarg), &v) || !v || v > UINT32_MAX)
				return clf_cmd_usage(k->json, "--job: '%s' is no job id", optarg);
			k->job = (json_int_t) v;
			break;
		case 'h':
			return fputs(help_text, stdout) == EOF ? CLF_EXIT_INTERNAL : CLF_EXIT_OK;
		default:
			return clf_cmd_usage(k->json, "lease: wrong option");
		}
	}
	return -1;
}

int clf_cmd_lease(int argc, char **argv)
{
	struct lease_cmd k = { 0 };
	struct clf_error err = { 0 };
	const struct sub *s = NULL;
	int rc = parse(argc, argv, &k);

	if (rc >= 0)
		return rc;
	for (size_t i = 0; optind < argc && i < sizeof subs / sizeof *subs; i++)
		if (!strcmp(subs[i].name, argv[optind]))
			s = &subs[i];
	if (!s)
		return clf_cmd_usage(k.json, "lease: want list, show, release or reconcile");
	if (argc - optind - 1 != s->arg)
		return clf_cmd_usage(k.json, "lease %s takes %s", s->name, s->arg ? "one lease" : "no argument");
	if (clf_remote_conf(k.conf, &k.c, &err))
		return clf_cmd_fail(&err, k.json);
	rc = s->run(&k, s->arg ? argv[optind + 1] : NULL);
	clf_conf_destroy(k.c);
	return rc;
}
