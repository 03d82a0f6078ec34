/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Decisions at 10,000 nodes, 1,000 grants, 200 rules, a zone of 5,000 nodes that alternate with others: one JSON line.
 * Target: p99 under 200 us, the worst kind of job included. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/buf.h"
#include "engine/decide.h"
#include "topo/topo_synth.h"

#define NODES 10000
#define RUNS  20000

static void need(int failed, const struct clf_error *err)
{
	if (!failed)
		return;
	fprintf(stderr, "%d:%d: %s\n", err->line, err->column, err->text);
	exit(1);
}

static const char *name_of(void *arg, uint32_t i)
{
	return clf_topo_node(arg, i)->name;
}

static char *policy_text(void)
{
	struct clf_buf b = CLF_BUF_INIT(16u << 20);
	struct clf_error err = { 0 };
	int rc = 0;

	rc |= clf_buf_puts(&b,
			   "{\"format\":\"closfold-policy/"
			   "1\",\"id\":\"bench\",\"version\":1,\"classes\":{\"levels\":[\"public\",\"internal\","
			   "\"personal\"],\"default\":\"internal\",\"flagged_from\":\"personal\"},\"zones\":{\"z\":{"
			   "\"nodes\":\"n[1",
			   &err);
	for (int i = 3; i <= NODES; i += 2)
		rc |= clf_buf_printf(&b, &err, ",%d", i);
	rc |= clf_buf_puts(&b,
			   "]\"}},\"floors\":{\"accounts\":{\"a7\":\"personal\"}},\"terms\":{\"personal\":{\"zone\":"
			   "\"z\",\"exclusive\":true,"
			   "\"switches\":{\"slack\":1,\"wait_s\":60}}},\"rules\":[",
			   &err);
	for (int i = 0; i < 199; i++)
		rc |= clf_buf_printf(&b, &err,
				     "{\"id\":\"r%d\",\"effect\":\"forbid\",\"message\":\"m\",\"when\":{\"partitions\":"
				     "[\"gpu\",\"p%d\"],"
				     "\"classes\":[\"personal\"],\"accounts\":[\"x%d\",\"y\"]}},",
				     i, i, i);
	rc |= clf_buf_puts(
		&b,
		"{\"id\":\"last\",\"effect\":\"permit\",\"when\":{\"accounts\":[\"a99\"],\"partitions\":[\"gpu\"]}}",
		&err);
	rc |= clf_buf_puts(&b, "],\"grants\":[", &err);
	for (int i = 0; i < 1000; i++)
		rc |= clf_buf_printf(
			&b, &err,
			"%s{\"id\":\"G-%d\",\"class\":\"personal\",\"purpose\":\"dpv:R\",\"fiduciary\":\"f\","
			"\"contract\":\"c\","
			"\"basis\":\"s6-consent\",\"datasets\":[\"d\"],\"valid\":{\"from\":\"2026-01-01T00:00:00Z\","
			"\"until\":\"2030-01-01T00:00:00Z\"},\"allow\":{\"accounts\":[\"a%d\"],\"users\":[\"u1\",\"w%"
			"d\"]}}",
			i ? "," : "", i, i % 100, i);
	rc |= clf_buf_puts(&b, "]}", &err);
	need(rc, &err);
	return clf_buf_steal(&b);
}

static int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static int compare(const void *a, const void *b)
{
	int64_t x = *(const int64_t *) a, y = *(const int64_t *) b;

	return (x > y) - (x < y);
}

static void measure(const struct clf_site *site, const char *name, const struct clf_job *job, bool allow, bool last)
{
	static int64_t ns[RUNS];
	struct clf_error err = { 0 };

	for (int i = 0; i < RUNS; i++) {
		struct clf_decision *d = NULL;
		int64_t t = now_ns();

		need(clf_decide(site, job, &d, &err), &err);
		ns[i] = now_ns() - t;
		if (d->allow != allow) {
			fprintf(stderr, "%s: %s\n", name, d->reason);
			exit(1);
		}
		clf_decision_destroy(d);
	}
	qsort(ns, RUNS, sizeof *ns, compare);
	printf("\"%s\":{\"p50_us\":%.1f,\"p99_us\":%.1f,\"max_us\":%.1f}%s", name, ns[RUNS / 2] / 1e3,
	       ns[RUNS / 100 * 99] / 1e3, ns[RUNS - 1] / 1e3, last ? "" : ",");
}

int main(void)
{
	struct clf_policy *policy = NULL;
	struct clf_topo *topo = NULL;
	struct clf_site *site = NULL;
	struct clf_error err = { 0 };
	struct clf_text text;
	char *json = policy_text();
	int64_t t0 = now_ns(), t1, t2;
	struct clf_job ordinary = {
		.user = "u1", .account = "a99", .partition = "gpu", .min_nodes = 64, .now_ms = INT64_C(1800000000000)
	};
	struct clf_job flagged = ordinary, refused, named, excluded, modified, started;
	char *nodes = malloc(128 << 10), *p = nodes;

	need(clf_text_from_string("bench", json, &text, &err), &err);
	t0 = now_ns();
	need(clf_policy_from_text(&text, &policy, &err), &err);
	t1 = now_ns();
	need(clf_topo_synth("pod:20 leaf:25 node:20", &topo, &err), &err);
	t2 = now_ns();
	need(clf_site_make(policy, topo, clf_topo_nnodes(topo), name_of, NULL, topo, &site, &err), &err);
	printf("{\"bench\":\"decide\",\"nodes\":%u,\"grants\":%u,\"rules\":%u,\"zone_nodes\":%u,\"load_ms\":%.1f,"
	       "\"site_ms\":%.1f,",
	       clf_topo_nnodes(topo), policy->ngrants, policy->nrules, site->zones[0].n_nodes, (t1 - t0) / 1e6,
	       (now_ns() - t2) / 1e6);

	flagged = ordinary;
	flagged.claim_class = "personal";
	flagged.claim_grant = "G-199";
	refused = flagged;
	refused.claim_grant = NULL;
	p += sprintf(p, "n[1");
	for (int i = 3; i < 128; i += 2)
		p += sprintf(p, ",%d", i);
	sprintf(p, "]");
	named = flagged;
	named.req_nodes = strdup(nodes);
	started = named;
	started.req_nodes = NULL;
	started.nodes = named.req_nodes;
	excluded = flagged;
	if (asprintf(&nodes, "n1,%s", site->zones[0].exclude) < 0)
		return 1;
	excluded.exc_nodes = nodes; /* the user's own list */
	modified = flagged;
	modified.exc_nodes = site->zones[0].exclude; /* put there when it was submitted */
	measure(site, "ordinary", &ordinary, true, false);
	measure(site, "refused", &refused, false, false);
	measure(site, "flagged", &flagged, true, false);
	measure(site, "named_64_nodes", &named, true, false);
	measure(site, "starts_64_nodes", &started, true, false);
	measure(site, "modified", &modified, true, false);
	measure(site, "excludes_5001_nodes", &excluded, true, true);
	printf("}\n");
	return 0;
}
