/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cmd_topo.c - closfold topo: import, show, check, diff, export. */
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "base/path.h"
#include "cmd/cmd.h"
#include "cmd/topo_arg.h"
#include "topo/read/reader.h"
#include "topo/topo_diff.h"
#include "topo/topo_export.h"
#include "topo/topo_json.h"

struct options {
	const char *from, *out, *format;
	bool json, all;
	int argc; /* what is left: files */
	char **argv;
};

static void help(void)
{
	printf("usage: closfold topo import --from KIND FILE... [-o OUT.json] [--json]\n"
	       "       closfold topo show|check TOPO [--all] [--json]\n"
	       "       closfold topo diff OLD NEW [--json]\n"
	       "       closfold topo export --format slurm|nodes|json|dot TOPO [-o OUT]\n\n"
	       "Read a fabric, look at it, write it for others. TOPO is any file that import reads, or "
	       "synth:DESCRIPTION.\n\n"
	       "  --from KIND        what the FILE is:\n");
	for (size_t i = 0; clf_reader_get(i); i++)
		printf("                       %-14s %s\n", clf_reader_get(i)->name, clf_reader_get(i)->about);
	printf("  -o, --output OUT   where to write; default: import writes nothing, export to standard output\n"
	       "  --format FORMAT    slurm: topology.conf; nodes: NodeName order along the fabric; json; dot "
	       "(Graphviz)\n"
	       "  --all              print every finding, not only the first of each kind\n"
	       "  --json             one JSON object\n"
	       "  -h, --help         this text\n\n"
	       "exit status: 0 good, 1 findings at error level or differences, 2 usage, 3 bad input\n");
}

static const char *const level_words[] = { "info", "warn", "error" };

static bool has_errors(const struct clf_topo *t)
{
	for (uint32_t i = 0; i < clf_topo_nfindings(t); i++)
		if (clf_topo_finding(t, i)->level == CLF_FINDING_ERROR)
			return true;
	return false;
}

static json_t *summary(const struct clf_topo *t)
{
	struct clf_topo_counts c = clf_topo_counts(t);
	json_t *findings = json_array();

	for (uint32_t i = 0; i < clf_topo_nfindings(t); i++) {
		const struct clf_finding *f = clf_topo_finding(t, i);

		json_array_append_new(findings, json_pack("{s:s,s:s,s:s,s:s}", "level", level_words[f->level], "code",
							  f->code, "subject", f->subject, "text", f->text));
	}
	return json_pack("{s:s,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:o}", "source", clf_topo_source(t), "nodes",
			 (json_int_t) c.nodes, "unplaced", (json_int_t) c.unplaced, "switches", (json_int_t) c.switches,
			 "leaves", (json_int_t) c.leaves, "pods", (json_int_t) c.pods, "components",
			 (json_int_t) c.components, "rails", (json_int_t) c.rails, "links", (json_int_t) c.links,
			 "levels", (json_int_t) c.levels, "findings", findings);
}

static void print_counts(const struct clf_topo *t)
{
	struct clf_topo_counts c = clf_topo_counts(t);

	printf("%u nodes on %u leaves, %u pods, %u %s, %u levels; %u switches, %u links", c.nodes, c.leaves, c.pods,
	       c.components, c.components == 1 ? "component" : "components", c.levels, c.switches, c.links);
	if (c.rails)
		printf(", %u rails", c.rails);
	printf("\n");
	if (c.unplaced)
		printf("%u nodes have no place in the fabric\n", c.unplaced);
}

/* Findings by kind: the first one in full and how many more, or all. */
static void print_findings(const struct clf_topo *t, bool all)
{
	for (uint32_t i = 0, n; i < clf_topo_nfindings(t); i += n) {
		const struct clf_finding *f = clf_topo_finding(t, i);

		for (n = 1; i + n < clf_topo_nfindings(t) && !strcmp(clf_topo_finding(t, i + n)->code, f->code); n++)
			;
		for (uint32_t k = 0; k < (all ? n : 1); k++) {
			const struct clf_finding *g = clf_topo_finding(t, i + k);

			printf("%s: %s: '%s': %s\n", level_words[g->level], g->code, g->subject, g->text);
		}
		if (!all && n > 1)
			printf("      and %u more of this kind (--all)\n", n - 1);
	}
}

static int load_files(const struct options *o, const char *from, struct clf_topo **out, struct clf_error *err)
{
	if (!from && o->argc == 1)
		return clf_topo_arg(o->argv[0], out, err);
	return clf_topo_load_many(from, (const char *const *) o->argv, (size_t) o->argc, out, err);
}

static int write_out(const char *path, const char *text, size_t len, struct clf_error *err)
{
	if (path)
		return clf_path_write_atomic(path, 0644, text, len, err);
	return fwrite(text, 1, len, stdout) == len ? 0 : clf_fail(err, CLF_E_IO, "cannot write the output");
}

static int cmd_import(const struct options *o)
{
	CLF_CLEANUP(clf_topo_destroyp) struct clf_topo *t = NULL;
	CLF_AUTO_FREE char *text = NULL;
	struct clf_error err = { 0 };
	size_t len;

	if (!o->from)
		return clf_cmd_usage(o->json, "topo import needs --from KIND");
	if (!clf_reader_find(o->from))
		return clf_cmd_usage(o->json, "--from takes no kind '%.40s'", o->from);
	if (!o->argc)
		return clf_cmd_usage(o->json, "topo import needs a file");
	if (load_files(o, o->from, &t, &err) || clf_topo_json_dump(t, &text, &len, &err) ||
	    (o->out && write_out(o->out, text, len, &err)))
		return clf_cmd_fail(&err, o->json);
	if (o->json) {
		int rc = clf_cmd_print_json(summary(t));

		return rc ? rc : has_errors(t) ? CLF_EXIT_NO : CLF_EXIT_OK;
	}
	print_counts(t);
	print_findings(t, o->all);
	return has_errors(t) ? CLF_EXIT_NO : CLF_EXIT_OK;
}

static void print_tree(const struct clf_topo *t, uint32_t g, int depth)
{
	const struct clf_topo_group *x = clf_topo_group(t, g);
	CLF_AUTO_FREE char *list = x->level == 1 ? clf_topo_leaf_hosts(t, g, NULL) : NULL;

	printf("%*s%s  %u %s", 2 * depth, "", x->name, x->n_nodes, x->n_nodes == 1 ? "node" : "nodes");
	if (x->n_switches > 1)
		printf(", %u switches", x->n_switches);
	printf("%s%s\n", list ? "  " : "", list ? list : "");
	for (uint32_t i = 0; x->level > 1 && i < x->n; i++)
		print_tree(t, x->first + i, depth + 1);
}

static int cmd_show(const struct options *o)
{
	CLF_CLEANUP(clf_topo_destroyp) struct clf_topo *t = NULL;
	struct clf_error err = { 0 };

	if (o->argc != 1)
		return clf_cmd_usage(o->json, "topo show takes one topology");
	if (load_files(o, NULL, &t, &err))
		return clf_cmd_fail(&err, o->json);
	if (o->json)
		return clf_cmd_print_json(summary(t));
	print_counts(t);
	for (uint32_t g = 0; g < clf_topo_ngroups(t); g++)
		if (clf_topo_group(t, g)->parent == CLF_NONE)
			print_tree(t, g, 0);
	for (uint32_t i = clf_topo_nplaced(t); i < clf_topo_nnodes(t); i++)
		printf("%s%s", i == clf_topo_nplaced(t) ? "not placed: " : " ", clf_topo_node(t, i)->name);
	if (clf_topo_nplaced(t) < clf_topo_nnodes(t))
		printf("\n");
	return CLF_EXIT_OK;
}

static int cmd_check(const struct options *o)
{
	CLF_CLEANUP(clf_topo_destroyp) struct clf_topo *t = NULL;
	struct clf_error err = { 0 };
	bool bad;

	if (o->argc != 1)
		return clf_cmd_usage(o->json, "topo check takes one topology");
	if (load_files(o, NULL, &t, &err))
		return clf_cmd_fail(&err, o->json);
	bad = has_errors(t) || !clf_topo_nplaced(t);
	if (o->json) {
		int rc = clf_cmd_print_json(summary(t));

		return rc ? rc : bad ? CLF_EXIT_NO : CLF_EXIT_OK;
	}
	print_findings(t, true);
	if (!clf_topo_nplaced(t))
		printf("error: empty: no node has a place in this fabric\n");
	printf("%u %s\n", clf_topo_nfindings(t), clf_topo_nfindings(t) == 1 ? "finding" : "findings");
	return bad ? CLF_EXIT_NO : CLF_EXIT_OK;
}

static int cmd_diff(const struct options *o)
{
	CLF_CLEANUP(clf_topo_destroyp) struct clf_topo *a = NULL, *b = NULL;
	CLF_CLEANUP(clf_topo_changes_done) struct clf_topo_changes c = { 0 };
	struct clf_error err = { 0 };

	if (o->argc != 2)
		return clf_cmd_usage(o->json, "topo diff takes two topologies");
	if (clf_topo_arg(o->argv[0], &a, &err) || clf_topo_arg(o->argv[1], &b, &err) || clf_topo_diff(a, b, &c, &err))
		return clf_cmd_fail(&err, o->json);
	if (o->json) {
		json_t *v = json_array();
		int rc;

		for (size_t i = 0; i < c.n; i++)
			json_array_append_new(v, json_pack("{s:s,s:s,s:s}", "change", c.v[i].kind, "subject",
							   c.v[i].subject, "text", c.v[i].text));
		rc = clf_cmd_print_json(json_pack("{s:o}", "changes", v));
		return rc ? rc : c.n ? CLF_EXIT_NO : CLF_EXIT_OK;
	}
	for (size_t i = 0; i < c.n; i++)
		printf("%s: '%s': %s\n", c.v[i].kind, c.v[i].subject, c.v[i].text);
	return c.n ? CLF_EXIT_NO : CLF_EXIT_OK;
}

static int cmd_export(const struct options *o)
{
	static const struct {
		const char *name;
		int (*run)(const struct clf_topo *t, char **out, size_t *len, struct clf_error *err);
	} formats[] = {
		{ "slurm", clf_topo_export_slurm },
		{ "nodes", clf_topo_export_nodes },
		{ "json", clf_topo_json_dump },
		{ "dot", clf_topo_export_dot },
	};
	CLF_CLEANUP(clf_topo_destroyp) struct clf_topo *t = NULL;
	CLF_AUTO_FREE char *text = NULL;
	struct clf_error err = { 0 };
	size_t len, f = 0;

	if (!o->format)
		return clf_cmd_usage(o->json, "topo export needs --format");
	while (f < sizeof(formats) / sizeof(*formats) && strcmp(formats[f].name, o->format))
		f++;
	if (f == sizeof(formats) / sizeof(*formats))
		return clf_cmd_usage(o->json, "--format takes slurm, nodes, json or dot, not '%.40s'", o->format);
	if (o->argc != 1)
		return clf_cmd_usage(o->json, "topo export takes one topology");
	if (load_files(o, NULL, &t, &err) || formats[f].run(t, &text, &len, &err) || write_out(o->out, text, len, &err))
		return clf_cmd_fail(&err, o->json);
	return CLF_EXIT_OK;
}

/* -1 = go on */
static int parse(int argc, char **argv, struct options *o)
{
	enum { FROM = 256, FORMAT, ALL, JSON };
	static const struct option longs[] = {
		{ "from", 1, NULL, FROM },
		{ "output", 1, NULL, 'o' },
		{ "format", 1, NULL, FORMAT },
		{ "all", 0, NULL, ALL },
		{ "json", 0, NULL, JSON },
		{ "help", 0, NULL, 'h' },
		{ 0 },
	};
	int c;

	for (int i = 1; i < argc; i++)
		o->json |= !strcmp(argv[i], "--json");
	opterr = 0;
	optind = 1;
	while ((c = getopt_long(argc, argv, "ho:", longs, NULL)) != -1)
		switch (c) {
		case FROM:
			o->from = optarg;
			break;
		case 'o':
			o->out = optarg;
			break;
		case FORMAT:
			o->format = optarg;
			break;
		case ALL:
			o->all = true;
			break;
		case JSON:
			break;
		case 'h':
			help();
			return CLF_EXIT_OK;
		default:
			return clf_cmd_usage(o->json, "topo: bad option or missing argument '%.40s'", argv[optind - 1]);
		}
	o->argc = argc - optind;
	o->argv = argv + optind;
	return -1;
}

int clf_cmd_topo(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*run)(const struct options *o);
	} verbs[] = {
		{ "import", cmd_import }, { "show", cmd_show },     { "check", cmd_check },
		{ "diff", cmd_diff },     { "export", cmd_export },
	};
	struct options o = { 0 };
	int rc;

	if (argc < 2)
		return clf_cmd_usage(false, "topo needs import, show, check, diff or export");
	if (!strcmp(argv[1], "-h") || !strcmp(argv[1], "--help")) {
		help();
		return CLF_EXIT_OK;
	}
	for (size_t i = 0; i < sizeof(verbs) / sizeof(*verbs); i++)
		if (!strcmp(argv[1], verbs[i].name)) {
			rc = parse(argc - 1, argv + 1, &o);
			return rc < 0 ? verbs[i].run(&o) : rc;
		}
	return clf_cmd_usage(false, "topo has no verb '%.40s'", argv[1]);
}
