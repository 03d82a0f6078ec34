/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cmd_fabric.c - closfold fabric: what the devices say, and whether it is what the ledger wants. */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/remote.h"

static const char help_text[] =
	"usage: closfold fabric read|verify|plan|check [--fabric NAME]\n"
	"       closfold fabric accept NODE\n"
	"\n"
	"options: --conf FILE, --json\n"
	"\n"
	"  read    what the devices say now, port by port\n"
	"  verify  compare every port with what the leases want\n"
	"  plan    what would be changed now to make it so\n"
	"  check   would isolation on this fabric be an illusion? reasons, and what to do\n"
	"  accept  take the ports that NODE reports now for all it has (an HCA was replaced or taken out)\n"
	"\n"
	"All but accept change nothing. Exit: 0 good; 1 findings of level error; 4 not permitted; 5 closfoldd is not\n"
	"reachable; 6 a device did not answer; 3 no such fabric.\n";

struct fabric_cmd {
	const char *conf, *fabric;
	bool json;
	struct clf_conf *c;
};

static const char *str(const json_t *j, const char *key)
{
	const char *s = json_string_value(json_object_get(j, key));

	return s ? s : "";
}

static void say(const char *text)
{
	CLF_AUTO_FREE char *safe = clf_cmd_escape(text);

	puts(safe ? safe : "?");
}

static int print_findings(const json_t *list)
{
	int rc = CLF_EXIT_OK;
	json_t *f;
	size_t i;

	json_array_foreach(list, i, f)
	{
		char text[900];

		snprintf(text, sizeof text, "  %s %s %s: %s%s%s", str(f, "level"), str(f, "code"), str(f, "subject"),
			 str(f, "text"), *str(f, "advice") ? "; " : "", str(f, "advice"));
		say(text);
		if (!strcmp(str(f, "level"), "error"))
			rc = CLF_EXIT_NO;
	}
	if (!json_array_size(list))
		puts("  nothing found");
	return rc;
}

static void print_ports(const json_t *out)
{
	json_t *p, *v;
	const char *key;
	size_t i;

	json_array_foreach(json_object_get(out, "ports"), i, p)
	{
		char text[600];
		size_t n = (size_t) snprintf(text, sizeof text, "  %-28s", str(p, "port"));

		json_object_foreach(p, key, v)
		{
			CLF_AUTO_FREE char *s =
				strcmp(key, "port") ? json_dumps(v, JSON_COMPACT | JSON_ENCODE_ANY) : NULL;

			if (s && n < sizeof text)
				n += (size_t) snprintf(text + n, sizeof text - n, " %s=%s", key, s);
		}
		say(text);
	}
}

static void print_plan(const json_t *out)
{
	const char *diff = str(out, "diff");
	json_t *s;
	size_t i;

	json_array_foreach(json_object_get(out, "steps"), i, s)
	{
		CLF_AUTO_FREE char *safe = clf_cmd_escape(json_string_value(s) ? json_string_value(s) : "");

		printf("  %s\n", safe ? safe : "?");
	}
	if (!json_array_size(json_object_get(out, "steps")))
		puts("  nothing is to be changed");
	while (*diff) {
		CLF_AUTO_FREE char *line = strndup(diff, strcspn(diff, "\n"));

		say(line ? line : "?");
		diff += strcspn(diff, "\n");
		diff += *diff == '\n';
	}
}

static int print_one(const json_t *a, const char *verb)
{
	const json_t *out = json_object_get(a, "out");
	char text[600];

	snprintf(text, sizeof text, "fabric %s (%s)", str(a, "fabric"), str(a, "driver"));
	say(text);
	if (!json_is_true(json_object_get(a, "ok"))) {
		snprintf(text, sizeof text, "  not answered: %s", str(a, "text"));
		say(text);
		return CLF_EXIT_DEVICE;
	}
	if (!strcmp(verb, "verify") || !strcmp(verb, "check"))
		return print_findings(out);
	if (!strcmp(verb, "plan"))
		print_plan(out);
	else
		print_ports(out);
	return CLF_EXIT_OK;
}

static int exit_of(const json_t *a)
{
	const json_t *out = json_object_get(a, "out");
	int rc = CLF_EXIT_OK;

	if (!json_is_true(json_object_get(a, "ok")))
		return CLF_EXIT_DEVICE;
	for (size_t i = 0; json_is_array(out) && i < json_array_size(out); i++)
		if (!strcmp(str(json_array_get(out, i), "level"), "error"))
			rc = CLF_EXIT_NO;
	return rc;
}

/* The answer itself may lie in a file when it is long. */
static int fetch(struct fabric_cmd *k, const char *verb, json_t **out, struct clf_error *err)
{
	char op[24];
	json_auto_t *r = NULL;
	struct clf_json_doc doc = { 0 };

	snprintf(op, sizeof op, "fabric.%s", verb);
	if (clf_remote_ask(k->c, json_pack("{s:s,s:s}", "op", op, "fabric", k->fabric ? k->fabric : ""), &r, err))
		return -1;
	if (*str(r, "file")) {
		if (clf_json_load_file(str(r, "file"), 256u << 20, &doc, err))
			return -1;
		*out = json_incref(json_object_get(doc.root, "fabrics"));
		clf_json_doc_done(&doc);
	} else {
		*out = json_incref(json_object_get(r, "fabrics"));
	}
	return *out ? 0 : clf_fail(err, CLF_E_REMOTE, "closfoldd's answer has no fabrics");
}

static int ask(struct fabric_cmd *k, const char *verb)
{
	struct clf_error err = { 0 };
	json_auto_t *list = NULL;
	int rc = CLF_EXIT_OK;
	json_t *a;
	size_t i;

	if (fetch(k, verb, &list, &err))
		return clf_cmd_fail(&err, k->json);
	json_array_foreach(list, i, a)
	{
		int one = k->json ? exit_of(a) : print_one(a, verb);

		rc = one > rc ? one : rc;
	}
	if (k->json && clf_cmd_print_json(json_pack("{s:O}", "fabrics", list)))
		return CLF_EXIT_INTERNAL;
	return rc;
}

static int accept_node(struct fabric_cmd *k, const char *node)
{
	struct clf_error err = { 0 };
	json_auto_t *r = NULL;

	if (clf_remote_ask(k->c, json_pack("{s:s,s:s}", "op", "fabric.accept", "node", node), &r, &err))
		return clf_cmd_fail(&err, k->json);
	if (k->json)
		return clf_cmd_print_json(json_pack("{s:s}", "accepted", node));
	printf("the ports that ");
	say(node);
	puts("has now are taken for all it has");
	return CLF_EXIT_OK;
}

/* -1: go on. */
static int parse(int argc, char **argv, struct fabric_cmd *k)
{
	static const struct option longs[] = { { "conf", required_argument, NULL, 'c' },
					       { "json", no_argument, NULL, 'j' },
					       { "fabric", required_argument, NULL, 'f' },
					       { "help", no_argument, NULL, 'h' },
					       { 0 } };
	int c;

	while ((c = getopt_long(argc, argv, "h", longs, NULL)) != -1) {
		switch (c) {
		case 'c':
			k->conf = optarg;
			break;
		case 'j':
			k->json = true;
			break;
		case 'f':
			k->fabric = optarg;
			break;
		case 'h':
			return fputs(help_text, stdout) == EOF ? CLF_EXIT_INTERNAL : CLF_EXIT_OK;
		default:
			return clf_cmd_usage(k->json, "fabric: wrong option");
		}
	}
	return -1;
}

int clf_cmd_fabric(int argc, char **argv)
{
	static const char *const verbs[] = { "read", "verify", "plan", "check", "accept" };
	struct fabric_cmd k = { 0 };
	struct clf_error err = { 0 };
	const char *verb = NULL;
	int rc = parse(argc, argv, &k);

	if (rc >= 0)
		return rc;
	for (size_t i = 0; optind < argc && i < sizeof verbs / sizeof *verbs; i++)
		if (!strcmp(verbs[i], argv[optind]))
			verb = verbs[i];
	if (!verb)
		return clf_cmd_usage(k.json, "fabric: want read, verify, plan, check or accept");
	if (argc - optind - 1 != !strcmp(verb, "accept"))
		return clf_cmd_usage(k.json, "fabric %s takes %s", verb,
				     strcmp(verb, "accept") ? "no argument" : "one node");
	if (clf_remote_conf(k.conf, &k.c, &err))
		return clf_cmd_fail(&err, k.json);
	rc = strcmp(verb, "accept") ? ask(&k, verb) : accept_node(&k, argv[optind + 1]);
	clf_conf_destroy(k.c);
	return rc;
}
