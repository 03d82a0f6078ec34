/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cmd_audit.c - closfold audit: ask the log, and prove it. Verifying needs files only, no daemon. */
#include <getopt.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "audit/query.h"
#include "audit/record.h"
#include "audit/verify.h"
#include "cmd/cmd.h"
#include "cmd/remote.h"
#include "lease/store.h"

static const char help_text[] =
	"usage: closfold audit query [FILTERS] [--log DIR] [--json]\n"
	"       closfold audit verify [--expect N:HASH] [--log DIR] [--json]\n"
	"\n"
	"  query   records that meet all filters:\n"
	"          --job ID, --decision ID, --event NAME (\"job\" is all job events), --user NAME|UID, --account "
	"NAME,\n"
	"          --node HOST, --since TIME, --until TIME (2026-12-01 or 2026-12-01T09:00:00Z, UTC), --denied\n"
	"  verify  check every record; --expect: a head noted elsewhere (verify prints it)\n"
	"\n"
	"  --log DIR    a copy of the log, instead of the one of this host's configuration\n"
	"  --conf FILE  configuration that names the log\n"
	"\n"
	"Exit: 0 done, verified; 1 not verified; 3 no log there.\n";

#define SETTLE_MS 500

struct audit_cmd {
	const char *conf, *log, *expect;
	bool json;
	struct clf_query q;
	/* resolved */
	struct clf_conf *c; /* NULL with --log */
	char dir[PATH_MAX];
};

/* ---- verify */

static void print_anchor(const struct clf_verify_result *r, uint64_t ledger_n)
{
	if (r->anchored == r->checked && r->checked)
		printf("anchor    all records are backed by a head from elsewhere\n");
	else if (r->anchored)
		printf("anchor    the first %" PRIu64
		       " records are backed by a head from %s; of those behind it a change of the very "
		       "last one, or a cut tail, would not be seen\n",
		       r->anchored, ledger_n ? "the ledger or --expect" : "--expect");
	else
		printf("anchor    none: a cut tail, or a change of the last record, cannot be seen without a head from "
		       "elsewhere "
		       "(--expect)\n");
}

static json_t *verify_json(const struct clf_verify_result *r)
{
	json_t *j = json_pack("{s:s,s:b,s:I,s:I,s:I,s:I,s:s,s:s}", "verdict", clf_verdict_name(r->verdict), "good",
			      clf_verdict_good(r->verdict), "checked", (json_int_t) r->checked, "segments",
			      (json_int_t) r->segments, "bytes", (json_int_t) r->bytes, "anchored",
			      (json_int_t) r->anchored, "head", r->head, "log_name", r->origin);

	if (*r->what)
		json_object_set_new(j, "bad",
				    json_pack("{s:s,s:I,s:I,s:s}", "file", r->file, "line", (json_int_t) r->line,
					      "offset", (json_int_t) r->offset, "what", r->what));
	return j;
}

static int do_verify(struct audit_cmd *k)
{
	struct clf_auditlog_head heads[2];
	struct clf_verify_result r;
	struct clf_store_facts facts = { 0 };
	struct clf_error err = { 0 };
	size_t n = 0;

	if (k->expect && clf_verify_parse_head(k->expect, &heads[n++], &err))
		return clf_cmd_usage(k->json, "--expect: %s", err.text);
	/* Read before the log, which only grows. */
	if (k->c && clf_store_read_facts(k->c->state_dir, &facts, &err) && err.code != CLF_E_NOTFOUND)
		fprintf(stderr, "closfold: the ledger's memory of the log cannot be read: %s\n", err.text);
	if (facts.log_n) {
		heads[n].n = facts.log_n;
		memcpy(heads[n++].hash, facts.log_hash, sizeof facts.log_hash);
	}
	err = (struct clf_error){ 0 };
	if (clf_verify_log(k->dir, heads, n, SETTLE_MS, &r, &err))
		return clf_cmd_fail(&err, k->json);
	if (k->json) {
		int rc = clf_cmd_print_json(verify_json(&r));

		return rc ? rc : clf_verdict_good(r.verdict) ? CLF_EXIT_OK : CLF_EXIT_NO;
	}
	printf("verdict   %s\n", clf_verdict_name(r.verdict));
	if (*r.what)
		printf("%-9s %s\n", clf_verdict_good(r.verdict) ? "note" : "first bad", r.what);
	if (r.line)
		printf("place     %s line %" PRIu64 ", byte %" PRIu64 "\n", r.file, r.line, r.offset);
	printf("checked   %" PRIu64 " records, %" PRIu64 " bytes in %" PRIu64 " segment%s of %s\n", r.checked, r.bytes,
	       r.segments, r.segments == 1 ? "" : "s", *r.origin ? r.origin : k->dir);
	if (r.checked)
		printf("head      %" PRIu64 ":%s\n", r.checked, r.head);
	print_anchor(&r, facts.log_n);
	return clf_verdict_good(r.verdict) ? CLF_EXIT_OK : CLF_EXIT_NO;
}

/* ---- query */

static const json_t *at(const json_t *r, const char *a, const char *b, const char *c)
{
	const json_t *j = json_object_get(json_object_get(r, a), b);

	return c ? json_object_get(j, c) : j;
}

static int print_record(void *arg, const json_t *r, const char *line, size_t len)
{
	struct audit_cmd *k = arg;
	char when[64], job[24] = "-";
	json_int_t id = json_integer_value(at(r, "unmapped", "closfold", "job_id"));

	if (k->json) {
		/* The bytes as they stand in the log: what was hashed is what is shown. */
		static bool first = true;

		printf("%s%.*s", first ? "" : ",", (int) len, line);
		first = false;
		return ferror(stdout) ? 1 : 0;
	}
	if (id)
		snprintf(job, sizeof job, "%" PRId64, (int64_t) id);

	CLF_AUTO_FREE char *event = clf_remote_text(at(r, "unmapped", "closfold", NULL), "event");
	const json_t *actor = at(r, "actor", "user", NULL);
	CLF_AUTO_FREE char *user = clf_remote_text(actor, json_object_get(actor, "name") ? "name" : "uid");
	CLF_AUTO_FREE char *code = clf_remote_text(r, "status_code");
	CLF_AUTO_FREE char *message = clf_remote_text(r, "message");

	printf("%s  %-14s %-4s job %-9s %-10s %-16s %s\n",
	       clf_remote_time(json_integer_value(json_object_get(r, "time")), when, sizeof when), event,
	       json_integer_value(json_object_get(r, "status_id")) == 1 ? "ok" : "FAIL", job, user, code, message);
	return ferror(stdout) ? 1 : 0;
}

/* Reading the log of this cluster is an event of the log. A copy's readers are others' business. */
static int record_read(const struct audit_cmd *k, struct clf_error *err)
{
	CLF_CLEANUP(clf_client_destroyp) struct clf_client *c = NULL;
	CLF_AUTO_FREE char *bytes = NULL;
	const struct clf_query *q = &k->q;
	json_auto_t *detail = json_pack("{s:I,s:s,s:s,s:s,s:s,s:s,s:I,s:I,s:b}", "job_id", (json_int_t) q->job_id,
					"decision", q->decision ? q->decision : "", "event", q->event ? q->event : "",
					"user", q->user ? q->user : "", "account", q->account ? q->account : "", "node",
					q->node ? q->node : "", "since_ms", (json_int_t) q->since_ms, "until_ms",
					(json_int_t) q->until_ms, "denied", q->denied);
	struct clf_record_facts f = { .event = CLF_EV_AUDIT_READ,
				      .cluster = k->c->cluster,
				      .uid = (uint32_t) getuid(),
				      .has_uid = true,
				      .process = "closfold",
				      .producer = "closfold",
				      .producer_seq = 1,
				      .ok = true,
				      .status_code = "read",
				      .message = "audit log read",
				      .detail = detail };
	size_t len;

	if (!detail || clf_record_make(&f, &clf_clock_system, &bytes, &len, err) || clf_remote_client(k->c, &c, err))
		return -1;
	return clf_client_record(c, bytes, len, 5000, err);
}

static int do_query(struct audit_cmd *k)
{
	struct clf_query_counts n;
	struct clf_error err = { 0 };

	if (k->c && record_read(k, &err))
		fprintf(stderr, "closfold: this reading is not recorded: %s\n", err.text);
	err = (struct clf_error){ 0 };
	if (k->json)
		printf("{\"records\":[");
	if (clf_query_log(k->dir, &k->q, print_record, k, &n, &err)) {
		if (k->json)
			printf("]}\n");
		return clf_cmd_fail(&err, false);
	}
	if (k->json)
		printf("],\"matched\":%" PRIu64 ",\"read\":%" PRIu64 ",\"unreadable\":%" PRIu64 "}\n", n.matched,
		       n.records, n.unreadable);
	else
		printf("%" PRIu64 " of %" PRIu64 " records\n", n.matched, n.records);
	if (n.unreadable)
		fprintf(stderr, "closfold: %" PRIu64 " lines are no records; see 'closfold audit verify'\n",
			n.unreadable);
	return fflush(stdout) || ferror(stdout) ? CLF_EXIT_INTERNAL : CLF_EXIT_OK;
}

/* ---- command line */

static int parse_time(const char *s, int64_t *out, struct clf_error *err)
{
	char full[40];

	if (strlen(s) == 10)
		snprintf(full, sizeof full, "%sT00:00:00Z", s);
	else
		snprintf(full, sizeof full, "%.39s", s);
	return clf_time_parse(full, out, err);
}

/* A filter took its value: 1, is not one: 0, is wrong: -1 and said. */
static int parse_filter(struct audit_cmd *k, int c)
{
	struct clf_error err = { 0 };
	unsigned long long v;

	switch (c) {
	case 'J':
		if (!clf_parse_u64(optarg, strlen(optarg), &v) || !v || v > UINT32_MAX)
			return clf_cmd_usage(k->json, "--job: '%s' is no job id", optarg), -1;
		k->q.job_id = (uint32_t) v;
		return 1;
	case 'd':
		k->q.decision = optarg;
		return 1;
	case 'e':
		k->q.event = optarg;
		return 1;
	case 'u':
		k->q.user = optarg;
		return 1;
	case 'a':
		k->q.account = optarg;
		return 1;
	case 'n':
		k->q.node = optarg;
		return 1;
	case 's':
	case 'U':
		if (parse_time(optarg, c == 's' ? &k->q.since_ms : &k->q.until_ms, &err))
			return clf_cmd_usage(k->json, "--%s: %s", c == 's' ? "since" : "until", err.text), -1;
		return 1;
	case 'D':
		k->q.denied = true;
		return 1;
	default:
		return 0;
	}
}

static int parse(int argc, char **argv, struct audit_cmd *k)
{
	static const struct option longs[] = { { "conf", required_argument, NULL, 'c' },
					       { "json", no_argument, NULL, 'j' },
					       { "log", required_argument, NULL, 'l' },
					       { "expect", required_argument, NULL, 'x' },
					       { "job", required_argument, NULL, 'J' },
					       { "decision", required_argument, NULL, 'd' },
					       { "event", required_argument, NULL, 'e' },
					       { "user", required_argument, NULL, 'u' },
					       { "account", required_argument, NULL, 'a' },
					       { "node", required_argument, NULL, 'n' },
					       { "since", required_argument, NULL, 's' },
					       { "until", required_argument, NULL, 'U' },
					       { "denied", no_argument, NULL, 'D' },
					       { "help", no_argument, NULL, 'h' },
					       { 0 } };
	int c, f;

	while ((c = getopt_long(argc, argv, "h", longs, NULL)) != -1) {
		if (c == 'h')
			return fputs(help_text, stdout) == EOF ? CLF_EXIT_INTERNAL : CLF_EXIT_OK;
		if (c == 'j')
			k->json = true;
		else if (c == 'c')
			k->conf = optarg;
		else if (c == 'l')
			k->log = optarg;
		else if (c == 'x')
			k->expect = optarg;
		else if ((f = parse_filter(k, c)) < 0)
			return CLF_EXIT_USAGE;
		else if (!f)
			return clf_cmd_usage(k->json, "audit: wrong option");
	}
	return -1;
}

static int resolve(struct audit_cmd *k, struct clf_error *err)
{
	int n;

	if (!k->log && clf_remote_conf(k->conf, &k->c, err))
		return -1;
	n = k->log ? snprintf(k->dir, sizeof k->dir, "%s", k->log)
		   : snprintf(k->dir, sizeof k->dir, "%s/log", k->c->state_dir);
	return n < (int) sizeof k->dir ? 0 : clf_fail(err, CLF_E_INVALID, "path of the log is too long");
}

int clf_cmd_audit(int argc, char **argv)
{
	struct audit_cmd k = { 0 };
	struct clf_error err = { 0 };
	int rc = parse(argc, argv, &k);
	const char *what = optind < argc ? argv[optind] : "";

	if (rc >= 0)
		return rc;
	if (argc - optind != 1 || (strcmp(what, "query") != 0 && strcmp(what, "verify") != 0))
		return clf_cmd_usage(k.json, "audit: want query or verify, and no other argument");
	rc = resolve(&k, &err) ? clf_cmd_fail(&err, k.json) : *what == 'q' ? do_query(&k) : do_verify(&k);
	clf_conf_destroy(k.c);
	return rc;
}
