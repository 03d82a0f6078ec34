/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cmd_policy.c - `closfold policy check|explain`: is the file right, and what would it say to a job. Pure: no daemon,
 * no Slurm. */
#include "cmd/cmd.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "cmd/policy_check.h"
#include "cmd/policy_site.h"
#include "engine/decide.h"
#include "policy/conf.h"
#include "topo/read/reader.h"

static const char *const help_text =
	"usage: closfold policy check [--policy FILE] [--topo FILE] [--json]\n"
	"       closfold policy explain [--policy FILE] [--topo FILE] [JOB] [--json]\n"
	"\n"
	"check    is the policy right; findings about it\n"
	"explain  what it says to a job, and which rules speak of it\n"
	"\n"
	"  --policy FILE      the policy; else the one that closfold.conf names\n"
	"  --conf FILE        closfold.conf; else $CLOSFOLD_CONF, else " CLF_CONF_DEFAULT "\n"
	"  --topo FILE        nodes and switches of the cluster, in any format of 'closfold topo'\n"
	"  --json             one JSON object on stdout\n"
	"  -h, --help         this text\n"
	"JOB of explain:\n"
	"  --class CLASS      what --data-class says\n"
	"  --grant ID         what --data-grant says\n"
	"  --account NAME     account; without it the job has none\n"
	"  --user NAME        user\n"
	"  --partition LIST   partition, or several with commas\n"
	"  --nodes MIN[-MAX]  number of nodes\n"
	"  --nodelist HOSTS   nodes the job asks for\n"
	"  --exclude HOSTS    nodes the job does not want\n"
	"  --switches N       most leaf switches the job wants\n"
	"  --had-class CLASS  class it was given before (a modified job)\n"
	"  --had-grant ID     grant it had before\n"
	"  --at TIME          2026-06-01T00:00:00Z; else now\n"
	"exit: 0 right or allowed, 1 findings at error level or refused, 2 usage, 3 bad file\n";

enum option_id {
	O_POLICY = 256,
	O_CONF,
	O_TOPO,
	O_JSON,
	O_CLASS,
	O_GRANT,
	O_ACCOUNT,
	O_USER,
	O_PARTITION,
	O_NODES,
	O_NODELIST,
	O_EXCLUDE,
	O_SWITCHES,
	O_HAD_CLASS,
	O_HAD_GRANT,
	O_AT
};

struct options {
	const char *policy, *conf, *topo;
	bool json;
	struct clf_job job;
};

static bool parse_u32(const char *s, size_t len, uint32_t *out)
{
	unsigned long long v;

	if (!clf_parse_u64(s, len, &v) || v < 1 || v > CLF_MAX_NODES)
		return false;
	*out = (uint32_t) v;
	return true;
}

/* "4" is just four, as for sbatch. */
static bool parse_nodes(const char *s, struct clf_job *job)
{
	const char *dash = strchr(s, '-');

	if (!parse_u32(s, dash ? (size_t) (dash - s) : strlen(s), &job->min_nodes))
		return false;
	job->max_nodes = job->min_nodes;
	return !dash || (parse_u32(dash + 1, strlen(dash + 1), &job->max_nodes) && job->max_nodes >= job->min_nodes);
}

/* 0, or the status of a wrong command line. */
static int take(int opt, const char *arg, struct options *o)
{
	struct clf_error err = { 0 };
	struct clf_job *j = &o->job;
	const struct {
		int opt;
		const char **to;
	} words[] = {
		{ O_POLICY, &o->policy },     { O_CONF, &o->conf },           { O_TOPO, &o->topo },
		{ O_CLASS, &j->claim_class }, { O_GRANT, &j->claim_grant },   { O_ACCOUNT, &j->account },
		{ O_USER, &j->user },         { O_PARTITION, &j->partition }, { O_NODELIST, &j->req_nodes },
		{ O_EXCLUDE, &j->exc_nodes }, { O_HAD_CLASS, &j->had_class }, { O_HAD_GRANT, &j->had_grant },
	};

	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (words[i].opt == opt) {
			*words[i].to = arg;
			return 0;
		}
	if (opt == O_NODES && !parse_nodes(arg, j))
		return clf_cmd_usage(o->json, "bad number of nodes '%.40s': give MIN or MIN-MAX", arg);
	if (opt == O_SWITCHES && !parse_u32(arg, strlen(arg), &j->req_switch))
		return clf_cmd_usage(o->json, "bad number of switches '%.40s'", arg);
	if (opt == O_AT && clf_time_parse(arg, &j->now_ms, &err))
		return clf_cmd_usage(o->json, "bad time '%.40s': give UTC as 2026-06-01T00:00:00Z", arg);
	return 0;
}

static bool asks_json(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		if (!strcmp(argv[i], "--json"))
			return true;
	return false;
}

/* -1 = go on; else the exit status. `explain` says which options are known. */
static int parse(int argc, char **argv, bool explain, struct options *o)
{
	static const struct option longs[] = {
		{ "help", no_argument, NULL, 'h' },
		{ "json", no_argument, NULL, O_JSON },
		{ "policy", required_argument, NULL, O_POLICY },
		{ "conf", required_argument, NULL, O_CONF },
		{ "topo", required_argument, NULL, O_TOPO },
		{ "class", required_argument, NULL, O_CLASS },
		{ "grant", required_argument, NULL, O_GRANT },
		{ "account", required_argument, NULL, O_ACCOUNT },
		{ "user", required_argument, NULL, O_USER },
		{ "partition", required_argument, NULL, O_PARTITION },
		{ "nodes", required_argument, NULL, O_NODES },
		{ "nodelist", required_argument, NULL, O_NODELIST },
		{ "exclude", required_argument, NULL, O_EXCLUDE },
		{ "switches", required_argument, NULL, O_SWITCHES },
		{ "had-class", required_argument, NULL, O_HAD_CLASS },
		{ "had-grant", required_argument, NULL, O_HAD_GRANT },
		{ "at", required_argument, NULL, O_AT },
		{ NULL, 0, NULL, 0 },
	};
	int opt, rc, which = 0;

	o->json = asks_json(argc, argv);
	o->job.accountless = true;
	o->job.now_ms = clf_clock_system.wall_ms(clf_clock_system.arg);
	opterr = 0;
	optind = 0;
	while ((opt = getopt_long(argc, argv, "+:h", longs, &which)) != -1) {
		if (opt == 'h') {
			fputs(help_text, stdout);
			return CLF_EXIT_OK;
		}
		if (opt == ':')
			return clf_cmd_usage(o->json, "option '%.40s' needs a value", argv[optind - 1]);
		if (opt == '?')
			return clf_cmd_usage(o->json, "unknown option '%.40s'", argv[optind - 1]);
		if (opt >= O_CLASS && !explain)
			return clf_cmd_usage(o->json, "option '--%s' is for explain", longs[which].name);
		rc = take(opt, optarg, o);
		if (rc)
			return rc;
	}
	return optind < argc ? clf_cmd_usage(o->json, "too many arguments: '%.40s'", argv[optind]) : -1;
}

/* The policy that --policy, else closfold.conf names. */
static int load_policy(const struct options *o, struct clf_policy **out, struct clf_error *err)
{
	CLF_CLEANUP(clf_conf_destroyp) struct clf_conf *conf = NULL;
	const char *env = getenv("CLOSFOLD_CONF");

	if (o->policy)
		return clf_policy_load(o->policy, out, err);
	if (clf_conf_load(o->conf ? o->conf : env && *env ? env : CLF_CONF_DEFAULT, &conf, err)) {
		clf_error_prefix(err, "no --policy, and closfold.conf does not tell");
		return -1;
	}
	return clf_policy_load(conf->policy, out, err);
}

static int check(const struct options *o)
{
	CLF_CLEANUP(clf_policy_destroyp) struct clf_policy *policy = NULL;
	CLF_CLEANUP(clf_topo_destroyp) struct clf_topo *topo = NULL;
	struct clf_error err = { 0 };

	if (load_policy(o, &policy, &err) || (o->topo && clf_topo_load(NULL, o->topo, &topo, &err)))
		return clf_cmd_fail(&err, o->json);
	return clf_policy_check(policy, topo, o->job.now_ms, o->json);
}

struct told {
	json_t *rules; /* with --json */
	bool json;
};

static void tell_rule(void *arg, const struct clf_policy_rule *rule, enum clf_match match)
{
	static const char *const words[] = {
		[CLF_MATCH_NO] = "no", [CLF_MATCH_YES] = "yes", [CLF_MATCH_UNKNOWN] = "unknown"
	};
	const char *effect = rule->effect == CLF_FORBID ? "forbid" : "permit";
	struct told *t = arg;

	if (t->json)
		json_array_append_new(
			t->rules, json_pack("{s:s,s:s,s:s}", "id", rule->id, "effect", effect, "speaks", words[match]));
	else
		printf("rule %s (%s): %s\n", rule->id, effect,
		       match == CLF_MATCH_YES  ? "speaks of this job"
		       : match == CLF_MATCH_NO ? "does not"
					       : "cannot be told");
}

static json_t *string_or_null(const char *s)
{
	return s && *s ? json_string(s) : json_null();
}

static int print_json(const struct clf_decision *d, const struct clf_site *site, json_t *rules, const char *note)
{
	json_t *raised = json_array();
	json_t *terms = json_pack("{s:b,s:o,s:o,s:o,s:i,s:i,s:i}", "exclusive", d->terms.exclusive, "zone",
				  string_or_null(d->terms.zone), "exclude", string_or_null(d->terms.exclude), "licence",
				  string_or_null(d->terms.licence), "req_switch", (int) d->terms.req_switch,
				  "switch_wait_s", (int) d->terms.switch_wait_s, "max_nodes", (int) d->terms.max_nodes);

	for (size_t i = 0; d->raised[i]; i++)
		json_array_append_new(raised, json_string(d->raised[i]));
	clf_cmd_print_json(json_pack("{s:b,s:s,s:b,s:s,s:o,s:s,s:s,s:o,s:o,s:o,s:{s:s,s:I},s:o}", "allow", d->allow,
				     "class", d->cls, "flagged", d->flagged, "rule", d->rule, "grant",
				     string_or_null(d->grant), "reason", d->reason, "advice", d->advice, "raised",
				     raised, "terms", terms, "rules", rules, "policy", "id", site->policy->id,
				     "version", (json_int_t) site->policy->version, "note", string_or_null(note)));
	return d->allow ? CLF_EXIT_OK : CLF_EXIT_NO;
}

static int print_text(const struct clf_decision *d, const char *note)
{
	CLF_AUTO_FREE char *text = clf_decision_text(d);

	printf("class %s%s", d->cls, d->flagged ? ", flagged" : "");
	for (size_t i = 0; d->raised[i]; i++)
		printf("%s%s", i ? ", " : "; raised by ", d->raised[i]);
	printf("\n");
	if (d->allow && d->terms.zone)
		printf("zone %s%s%s\n", d->terms.zone, d->terms.exclude && *d->terms.exclude ? ", excluded: " : "",
		       d->terms.exclude ? d->terms.exclude : "");
	if (d->allow && d->terms.exclusive)
		printf("nodes are not shared\n");
	if (d->allow && d->terms.licence)
		printf("licence %s\n", d->terms.licence);
	if (d->allow && d->terms.req_switch)
		printf("at most %u leaf switches, waits up to %u s for them\n", d->terms.req_switch,
		       d->terms.switch_wait_s);
	if (d->allow && d->terms.max_nodes)
		printf("at most %u nodes\n", d->terms.max_nodes);
	if (note)
		printf("note: %s\n", note);
	printf("%s\n", text ? text : "out of memory");
	return d->allow ? CLF_EXIT_OK : CLF_EXIT_NO;
}

static int explain(const struct options *o)
{
	CLF_CLEANUP(clf_policy_destroyp) struct clf_policy *policy = NULL;
	CLF_CLEANUP(clf_topo_destroyp) struct clf_topo *topo = NULL;
	CLF_CLEANUP(clf_site_destroyp) struct clf_site *site = NULL;
	CLF_CLEANUP(clf_decision_destroyp) struct clf_decision *d = NULL;
	struct told told = { .json = o->json };
	struct clf_error err = { 0 };
	const char *note = NULL;

	if (load_policy(o, &policy, &err) || (o->topo && clf_topo_load(NULL, o->topo, &topo, &err)) ||
	    clf_policy_site(policy, topo, &site, &note, &err) || clf_decide(site, &o->job, &d, &err))
		return clf_cmd_fail(&err, o->json);
	told.rules = json_array();
	if (clf_explain_rules(site, &o->job, tell_rule, &told, &err)) {
		json_decref(told.rules);
		return clf_cmd_fail(&err, o->json);
	}
	if (o->json)
		return print_json(d, site, told.rules, note);
	json_decref(told.rules);
	return print_text(d, note);
}

int clf_cmd_policy(int argc, char **argv)
{
	struct options o = { 0 };
	bool is_explain;
	int rc;

	if (argc > 1 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))) {
		fputs(help_text, stdout);
		return CLF_EXIT_OK;
	}
	if (argc < 2)
		return clf_cmd_usage(false, "policy needs a word: check or explain");
	is_explain = !strcmp(argv[1], "explain");
	if (!is_explain && strcmp(argv[1], "check"))
		return clf_cmd_usage(asks_json(argc, argv), "no policy verb '%.40s'", argv[1]);
	rc = parse(argc - 1, argv + 1, is_explain, &o);
	if (rc >= 0)
		return rc;
	return is_explain ? explain(&o) : check(&o);
}
