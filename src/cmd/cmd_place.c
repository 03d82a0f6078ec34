/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cmd_place.c - closfold place: choose nodes and rank order on paper. */
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "base/hostlist.h"
#include "base/lex.h"
#include "cmd/cmd.h"
#include "cmd/topo_arg.h"
#include "place/explain.h"
#include "place/order.h"

struct options {
	const char *topo, *free_list, *busy_list, *required;
	bool json, explain;
	struct clf_request req;
};

static void help(void)
{
	printf("usage: closfold place --topo TOPO --nodes N [OPTIONS]\n\n"
	       "Choose the nodes of a job and their rank order.\n\n"
	       "  --topo TOPO        fabric in any format of 'closfold topo import', or synth:DESCRIPTION\n"
	       "  --nodes N          how many nodes\n"
	       "  --free LIST        only these nodes are free (host expression)\n"
	       "  --busy LIST        all nodes but these are free\n"
	       "  --required LIST    these must be among them\n"
	       "  --max-leaves N     at most so many leaves\n"
	       "  --objective WORD   lex: fewest pods, then leaves (default); hops: least hop-weighted ring\n"
	       "  --pattern WORD     ring (default), rd (recursive doubling), tree (double binary tree)\n"
	       "  --explain          say why, and search without a time limit\n"
	       "  --json             one JSON object\n"
	       "  -h, --help         this text\n\n"
	       "exit status: 0 placed, 1 can never be placed, 7 not placeable now, 2 usage, 3 bad input\n");
}

static int parse_count(const char *s, const char *what, bool json, uint32_t *out)
{
	unsigned long long n;

	if (!clf_parse_u64(s, strlen(s), &n) || !n || n > CLF_MAX_NODES)
		return clf_cmd_usage(json, "%s takes a number from 1 to %d, not '%.40s'", what, CLF_MAX_NODES, s);
	*out = (uint32_t) n;
	return 0;
}

static int parse(int argc, char **argv, struct options *o)
{
	enum { TOPO = 256, NODES, FREE, BUSY, REQUIRED, MAX_LEAVES, OBJECTIVE, PATTERN, EXPLAIN, JSON };
	static const struct option longs[] = {
		{ "topo", 1, NULL, TOPO },
		{ "nodes", 1, NULL, NODES },
		{ "free", 1, NULL, FREE },
		{ "busy", 1, NULL, BUSY },
		{ "required", 1, NULL, REQUIRED },
		{ "max-leaves", 1, NULL, MAX_LEAVES },
		{ "objective", 1, NULL, OBJECTIVE },
		{ "pattern", 1, NULL, PATTERN },
		{ "explain", 0, NULL, EXPLAIN },
		{ "json", 0, NULL, JSON },
		{ "help", 0, NULL, 'h' },
		{ 0 },
	};
	int c, rc = 0;

	for (int i = 1; i < argc; i++)
		o->json |= !strcmp(argv[i], "--json");
	opterr = 0;
	optind = 1;
	while (!rc && (c = getopt_long(argc, argv, "h", longs, NULL)) != -1)
		switch (c) {
		case TOPO:
			o->topo = optarg;
			break;
		case NODES:
			rc = parse_count(optarg, "--nodes", o->json, &o->req.nodes);
			break;
		case FREE:
			o->free_list = optarg;
			break;
		case BUSY:
			o->busy_list = optarg;
			break;
		case REQUIRED:
			o->required = optarg;
			break;
		case MAX_LEAVES:
			rc = parse_count(optarg, "--max-leaves", o->json, &o->req.max_leaves);
			break;
		case OBJECTIVE:
			if (!strcmp(optarg, "hops"))
				o->req.objective = CLF_OBJECTIVE_HOPS;
			else if (strcmp(optarg, "lex"))
				rc = clf_cmd_usage(o->json, "--objective takes lex or hops, not '%.40s'", optarg);
			break;
		case PATTERN:
			if (!strcmp(optarg, "rd"))
				o->req.pattern = CLF_PATTERN_RD;
			else if (!strcmp(optarg, "tree"))
				o->req.pattern = CLF_PATTERN_TREE;
			else if (strcmp(optarg, "ring"))
				rc = clf_cmd_usage(o->json, "--pattern takes ring, rd or tree, not '%.40s'", optarg);
			break;
		case EXPLAIN:
			o->explain = true;
			break;
		case JSON:
			break;
		case 'h':
			help();
			return -1;
		default:
			rc = clf_cmd_usage(o->json, "place: bad option or missing argument '%.40s'", argv[optind - 1]);
		}
	if (rc)
		return rc;
	if (optind < argc)
		return clf_cmd_usage(o->json, "place takes no argument '%.40s'", argv[optind]);
	if (!o->topo)
		return clf_cmd_usage(o->json, "place needs --topo");
	if (!o->req.nodes)
		return clf_cmd_usage(o->json, "place needs --nodes");
	if (o->free_list && o->busy_list)
		return clf_cmd_usage(o->json, "give --free or --busy, not both");
	return 0;
}

/* Names of nodes in an order, as JSON; NULL when memory ends. */
static json_t *names_json(const struct clf_topo *t, const struct clf_placement *p)
{
	json_t *a = json_array();

	for (uint32_t i = 0; a && i < p->count; i++)
		if (json_array_append_new(a, json_string(clf_topo_node(t, p->order[i])->name))) {
			json_decref(a);
			return NULL;
		}
	return a;
}

static char *compressed(const struct clf_topo *t, const struct clf_placement *p, struct clf_error *err)
{
	CLF_AUTO_FREE const char **v = calloc(p->count, sizeof(*v));

	if (!v) {
		clf_fail(err, CLF_E_NOMEM, "out of memory");
		return NULL;
	}
	for (uint32_t i = 0; i < p->count; i++)
		v[i] = clf_topo_node(t, p->order[i])->name;
	return clf_hostlist_compress(v, p->count, err);
}

struct leaf_use {
	uint32_t leaf, taken, left;
};

/* Leaves in the order in which ranks visit them. Owned; *n of them. */
static struct leaf_use *leaves_used(const struct clf_topo *t, const struct clf_request *req,
				    const struct clf_placement *p, uint32_t *n)
{
	struct leaf_use *v = calloc(p->count, sizeof(*v));

	*n = 0;
	for (uint32_t i = 0; v && i < p->count; i++) {
		uint32_t leaf = clf_topo_node(t, p->order[i])->leaf;
		const struct clf_topo_group *g = clf_topo_group(t, leaf);

		if (!*n || v[*n - 1].leaf != leaf)
			v[(*n)++] = (struct leaf_use){
				.leaf = leaf, .left = clf_bitmap_count_range(req->free, g->first_node, g->n_nodes)
			};
		v[*n - 1].taken++;
		v[*n - 1].left--;
	}
	return v;
}

static json_t *strings_json(const struct clf_strv *s)
{
	json_t *a = json_array();

	for (size_t i = 0; i < s->n; i++)
		json_array_append_new(a, json_string(s->v[i]));
	return a;
}

static json_t *placement_json(const struct clf_topo *t, const struct options *o, const struct clf_placement *p,
			      const char *nodes, const struct leaf_use *use, uint32_t nuse,
			      const struct clf_strv *reasons)
{
	json_t *per_leaf = json_array();

	for (uint32_t i = 0; i < nuse; i++)
		json_array_append_new(per_leaf,
				      json_pack("{s:s,s:I,s:I}", "leaf", clf_topo_group(t, use[i].leaf)->name, "taken",
						(json_int_t) use[i].taken, "free", (json_int_t) use[i].left));
	return json_pack("{s:s,s:o,s:I,s:I,s:I,s:{s:I,s:I},s:I,s:s,s:{s:I,s:I,s:I,s:b},s:o,s:o}", "nodes", nodes,
			 "order", names_json(t, p), "count", (json_int_t) p->count, "leaves",
			 (json_int_t) p->cost.leaves, "pods", (json_int_t) p->cost.pods, "ring_crossings", "leaf",
			 (json_int_t) p->cost.leaf_crossings, "pod", (json_int_t) p->cost.pod_crossings, "hops",
			 (json_int_t) p->cost.hops, "objective",
			 o->req.objective == CLF_OBJECTIVE_HOPS ? "hops" : "lex", "optimal", "leaves",
			 (json_int_t) p->optimal.leaves, "pods", (json_int_t) p->optimal.pods, "hops",
			 (json_int_t) p->optimal.hops, "proven", p->proven, "per_leaf", per_leaf, "reasons",
			 strings_json(reasons));
}

static void print_text(const struct clf_topo *t, const struct options *o, const struct clf_placement *p,
		       const char *nodes, const struct leaf_use *use, uint32_t nuse, const struct clf_strv *reasons)
{
	printf("nodes   %s\n", nodes);
	printf("cost    %u %s, %u %s, ring crosses leaves %u times and pods %u times, %llu hops%s\n", p->cost.leaves,
	       p->cost.leaves == 1 ? "leaf" : "leaves", p->cost.pods, p->cost.pods == 1 ? "pod" : "pods",
	       p->cost.leaf_crossings, p->cost.pod_crossings, (unsigned long long) p->cost.hops,
	       p->proven ? " (optimal)" : "");
	printf("ranks   leaf and its nodes in rank order\n");
	for (uint32_t i = 0, at = 0; i < nuse; at += use[i++].taken) {
		CLF_CLEANUP(clf_strv_done) struct clf_strv names = { 0 };
		CLF_AUTO_FREE char *list = NULL;

		for (uint32_t k = at; k < at + use[i].taken; k++)
			if (clf_strv_add(&names, clf_topo_node(t, p->order[k])->name, NULL))
				return;
		list = clf_hostlist_compress_ordered((const char *const *) names.v, names.n, NULL);
		printf("  %4u  %-24s %s%s\n", at, clf_topo_group(t, use[i].leaf)->name, list ? list : "",
		       use[i].left ? "" : "  (leaf full)");
	}
	if (o->explain)
		for (size_t i = 0; i < reasons->n; i++)
			printf("%s %s\n", i ? "       " : "why    ", reasons->v[i]);
}

/* Not placeable: the reason is an answer, not an error. */
static int not_placed(const struct options *o, const struct clf_error *err)
{
	if (err->code != CLF_E_EXHAUSTED && err->code != CLF_E_INVALID)
		return clf_cmd_fail(err, o->json);
	if (o->json)
		clf_cmd_print_json(json_pack("{s:i,s:[s]}", "count", 0, "reasons", err->text));
	else
		fprintf(stderr, "closfold: %s: %s\n",
			err->code == CLF_E_EXHAUSTED ? "not placeable now" : "can never be placed", err->text);
	return err->code == CLF_E_EXHAUSTED ? CLF_EXIT_EXHAUSTED : CLF_EXIT_NO;
}

/* Nodes of a list; all that the fabric does not know are named, as far as a line holds. */
static int node_list(const struct clf_topo *t, const char *option, const char *list, struct clf_bitmap **out,
		     struct clf_error *err)
{
	CLF_CLEANUP(clf_strv_done) struct clf_strv unknown = { 0 };
	CLF_CLEANUP(clf_bitmap_destroyp) struct clf_bitmap *set = NULL;
	CLF_AUTO_FREE char *names = NULL;

	if (clf_topo_nodeset(t, list, &unknown, &set, err)) {
		clf_error_prefix(err, "%s", option);
		return -1;
	}
	if (unknown.n) {
		names = clf_hostlist_compress((const char *const *) unknown.v, unknown.n, err);
		return names ? clf_fail(err, CLF_E_NOTFOUND, "%s: %zu of the nodes %s not in the topology: '%.200s'%s",
					option, unknown.n, unknown.n == 1 ? "is" : "are", names,
					strlen(names) > 200 ? " ..." : "")
			     : -1;
	}
	*out = CLF_STEAL(set);
	return 0;
}

static int run(struct options *o, const struct clf_topo *t, struct clf_error *err)
{
	CLF_CLEANUP(clf_bitmap_destroyp) struct clf_bitmap *set = NULL, *required = NULL;
	CLF_CLEANUP(clf_placement_destroyp) struct clf_placement *p = NULL;
	CLF_CLEANUP(clf_strv_done) struct clf_strv reasons = { 0 };
	CLF_AUTO_FREE struct leaf_use *use = NULL;
	CLF_AUTO_FREE char *nodes = NULL;
	uint32_t nuse;

	if (node_list(t, o->free_list ? "--free" : "--busy",
		      o->free_list   ? o->free_list
		      : o->busy_list ? o->busy_list
				     : "",
		      &set, err))
		return clf_cmd_fail(err, o->json);
	if (!o->free_list)
		clf_bitmap_invert(set);
	if (o->required && node_list(t, "--required", o->required, &required, err))
		return clf_cmd_fail(err, o->json);
	o->req.free = set;
	o->req.required = required;
	o->req.budget_us = o->explain ? 0 : 5000;
	if (clf_place(t, &o->req, &p, err))
		return not_placed(o, err);
	if (clf_explain(t, &o->req, p, &reasons, err) || !(nodes = compressed(t, p, err)))
		return clf_cmd_fail(err, o->json);
	use = leaves_used(t, &o->req, p, &nuse);
	if (!use)
		return clf_cmd_fail(&(struct clf_error){ .code = CLF_E_INTERNAL, .text = "out of memory" }, o->json);
	if (o->json)
		return clf_cmd_print_json(placement_json(t, o, p, nodes, use, nuse, &reasons));
	print_text(t, o, p, nodes, use, nuse, &reasons);
	return CLF_EXIT_OK;
}

int clf_cmd_place(int argc, char **argv)
{
	CLF_CLEANUP(clf_topo_destroyp) struct clf_topo *t = NULL;
	struct options o = { 0 };
	struct clf_error err = { 0 };
	int rc = parse(argc, argv, &o);

	if (rc)
		return rc < 0 ? CLF_EXIT_OK : rc;
	if (clf_topo_arg(o.topo, &t, &err))
		return clf_cmd_fail(&err, o.json);
	return run(&o, t, &err);
}
