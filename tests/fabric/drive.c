/* SPDX-License-Identifier: GPL-2.0-or-later */
/* drive.c - a driver by hand: drive FABRICS.json NAME, commands on standard input, one JSON line for each answer.
 *
 *   known PORT...             all ports of all nodes
 *   open LEASE KEY PORT...    take a net into the desired state; its task waits for "sync"
 *   want LEASE KEY PORT...    the same without a task
 *   close LEASE               out of the desired state, with a task; forget LEASE: without
 *   sync [MS]                 do what waits; a line for each task, then {"sync":0}
 *   audit [MS], check [MS], read [MS], plan [MS]
 *   ports NODE                the driver's ports of a node that never sent a report
 *   attest LEASE NODE JSON    the node's view against the net
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/lex.h"
#include "fabric/driver.h"

#define NETS_MAX 4096

static struct {
	const struct clf_driver *driver;
	void *self;
	struct clf_net nets[NETS_MAX], gone[NETS_MAX];
	size_t n, ngone;
	struct clf_strv known;
	struct {
		enum clf_net_op op;
		char lease[CLF_NET_ID];
		size_t gone;
	} waiting[2 * NETS_MAX];
	size_t nwaiting;
} D;

static void emit(json_t *j)
{
	char *s = json_dumps(j, JSON_COMPACT | JSON_SORT_KEYS);

	puts(s ? s : "{\"error\":\"no memory\"}");
	fflush(stdout);
	free(s);
	json_decref(j);
}

static json_t *error_json(const struct clf_error *e)
{
	return e->code ? json_pack("{s:s,s:s}", "code", clf_code_name(e->code), "text", e->text) : json_null();
}

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double) t.tv_sec * 1e3 + (double) t.tv_nsec / 1e6;
}

static struct clf_net *find(const char *lease)
{
	for (size_t i = 0; i < D.n; i++)
		if (!strcmp(D.nets[i].lease, lease))
			return &D.nets[i];
	return NULL;
}

static void add(char **word, bool task)
{
	char *lease = strtok_r(NULL, " ", word), *key = strtok_r(NULL, " ", word), *port;
	struct clf_net *n = &D.nets[D.n++];

	*n = (struct clf_net){ .key = (uint16_t) strtoul(key, NULL, 0), .job_id = (uint32_t) D.n };
	snprintf(n->lease, sizeof n->lease, "%s", lease);
	while ((port = strtok_r(NULL, " ", word)))
		if (clf_strv_add(&n->ports, port, NULL))
			abort();
	if (!task)
		return;
	D.waiting[D.nwaiting].op = CLF_NET_OPEN;
	strcpy(D.waiting[D.nwaiting++].lease, n->lease);
}

static void take(char **word, bool task)
{
	struct clf_net *n = find(strtok_r(NULL, " ", word));

	if (!n) {
		emit(json_pack("{s:s}", "error", "no such lease"));
		return;
	}
	D.gone[D.ngone++] = *n;
	*n = D.nets[--D.n];
	if (!task)
		return;
	D.waiting[D.nwaiting].op = CLF_NET_CLOSE;
	D.waiting[D.nwaiting].gone = D.ngone - 1;
	strcpy(D.waiting[D.nwaiting++].lease, D.gone[D.ngone - 1].lease);
}

static void sync_all(const struct clf_want *want, int ms)
{
	struct clf_net_task *t = calloc(D.nwaiting + 1, sizeof *t);
	struct clf_error err = { 0 };
	double began = now_ms();
	size_t n = 0;
	int rc;

	for (size_t i = 0; t && i < D.nwaiting; i++) {
		const struct clf_net *net =
			D.waiting[i].op == CLF_NET_CLOSE ? &D.gone[D.waiting[i].gone] : find(D.waiting[i].lease);

		if (net)
			t[n++] = (struct clf_net_task){ .op = D.waiting[i].op, .net = net };
	}
	rc = D.driver->sync(D.self, want, t, n, ms, &err);
	for (size_t i = 0; !rc && i < n; i++) {
		emit(json_pack("{s:s,s:s,s:o,s:s,s:s,s:b,s:O*}", "op", t[i].op == CLF_NET_OPEN ? "open" : "close",
			       "lease", t[i].net->lease, "error", error_json(&t[i].error), "word", t[i].report.word,
			       "text", t[i].report.text, "programmed", t[i].report.programmed, "detail",
			       t[i].report.detail));
		clf_net_task_done(&t[i]);
	}
	emit(json_pack("{s:i,s:o,s:f}", "sync", rc, "error", error_json(&err), "ms", now_ms() - began));
	free(t);
	D.nwaiting = 0;
}

typedef int ask_f(void *self, const struct clf_want *want, int timeout_ms, json_t **out, struct clf_error *err);

static void ask(const char *name, ask_f *f, const struct clf_want *want, int ms)
{
	struct clf_error err = { 0 };
	json_t *out = NULL;
	double began = now_ms();
	int rc = f(D.self, want, ms, &out, &err);

	emit(json_pack("{s:i,s:o,s:f,s:o*}", name, rc, "error", error_json(&err), "ms", now_ms() - began, "out", out));
}

static void ports(const char *node)
{
	struct clf_error err = { 0 };
	struct clf_strv v = { 0 };
	json_t *list = json_array();
	int rc = D.driver->ports(D.self, node, NULL, &v, &err);

	for (size_t i = 0; i < v.n; i++)
		json_array_append_new(list, json_string(v.v[i]));
	emit(json_pack("{s:i,s:o,s:o}", "ports", rc, "error", error_json(&err), "out", list));
	clf_strv_done(&v);
}

static void attest(char **word)
{
	static const char *const words[] = { "ok", "unattested", "mismatch" };
	const struct clf_net *n = find(strtok_r(NULL, " ", word));
	const char *node = strtok_r(NULL, " ", word);
	json_t *facts = json_loads(*word, 0, NULL);
	char text[300] = "";
	enum clf_attest a = D.driver->attest(D.self, n, node, facts, text, sizeof text);

	emit(json_pack("{s:s,s:s}", "attest", words[a], "text", text));
	json_decref(facts);
}

static void command(char *line)
{
	char *word, *verb = strtok_r(line, " ", &word), *p;
	struct clf_want want = { .nets = D.nets, .n = D.n, .known = &D.known };
	int ms = 8000;

	if (!verb || *verb == '#')
		return;
	if (!strcmp(verb, "known")) {
		while ((p = strtok_r(NULL, " ", &word)))
			if (clf_strv_add(&D.known, p, NULL))
				abort();
	} else if (!strcmp(verb, "open") || !strcmp(verb, "want")) {
		add(&word, *verb == 'o');
	} else if (!strcmp(verb, "close") || !strcmp(verb, "forget")) {
		take(&word, *verb == 'c');
	} else if (!strcmp(verb, "ports")) {
		ports(strtok_r(NULL, " ", &word));
	} else if (!strcmp(verb, "attest")) {
		attest(&word);
	} else {
		if ((p = strtok_r(NULL, " ", &word)))
			ms = atoi(p);
		if (!strcmp(verb, "sync"))
			sync_all(&want, ms);
		else if (!strcmp(verb, "audit"))
			ask(verb, D.driver->audit, &want, ms);
		else if (!strcmp(verb, "check"))
			ask(verb, D.driver->check, &want, ms);
		else if (!strcmp(verb, "read"))
			ask(verb, D.driver->read, &want, ms);
		else if (!strcmp(verb, "plan"))
			ask(verb, D.driver->plan, &want, ms);
		else
			emit(json_pack("{s:s}", "error", "no such command"));
	}
}

int main(int argc, char **argv)
{
	struct clf_log sink = clf_log_stderr(CLF_LOG_WARN);
	struct clf_fabrics *set = NULL;
	struct clf_error err = { 0 };
	char *line = NULL, msg[400];
	size_t cap = 0, i = 0;
	ssize_t len;

	if (argc != 3 || clf_fabrics_load(argv[1], &set, &err)) {
		fprintf(stderr, "drive: %s\n", clf_error_string(&err, msg, sizeof msg));
		return 3;
	}
	while (i < set->n && strcmp(set->v[i].name, argv[2]) != 0)
		i++;
	if (i == set->n) {
		fprintf(stderr, "drive: no fabric '%s'\n", argv[2]);
		return 2;
	}
	D.driver = clf_driver_find(set->v[i].driver);
	if (D.driver->open(&set->v[i], &sink, &D.self, &err)) {
		fprintf(stderr, "drive: %s\n", clf_error_string(&err, msg, sizeof msg));
		clf_fabrics_destroy(set);
		return 3;
	}
	while ((len = getline(&line, &cap, stdin)) > 0) {
		line[strcspn(line, "\n")] = '\0';
		command(line);
	}
	D.driver->close(D.self);
	for (i = 0; i < D.n; i++)
		clf_net_done(&D.nets[i]);
	for (i = 0; i < D.ngone; i++)
		clf_net_done(&D.gone[i]);
	clf_strv_done(&D.known);
	clf_fabrics_destroy(set);
	free(line);
	return 0;
}
