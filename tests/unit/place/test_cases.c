/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/place/<case>/: topo (a file of any format), request ("key value" lines: nodes, free, busy, eligible, required,
 * objective, pattern, max-leaves) and expect. A case needs no C; UPDATE=1 rewrites what is expected. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/hostlist.h"
#include "golden.h"
#include "place/explain.h"
#include "place/place.h"
#include "tap.h"
#include "topo/read/reader.h"

static const char *word_after(char *text, const char *key, char *out, size_t size)
{
	size_t n = strlen(key);

	for (char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (!strncmp(line, key, n) && line[n] == ' ') {
			snprintf(out, size, "%.*s", (int) strcspn(line + n + 1, "\n"), line + n + 1);
			return out;
		}
		if (!*line)
			break;
	}
	return NULL;
}

static void show(const struct clf_topo *t, const struct clf_request *req, struct clf_buf *out)
{
	CLF_CLEANUP(clf_placement_destroyp) struct clf_placement *p = NULL;
	CLF_CLEANUP(clf_strv_done) struct clf_strv reasons = { 0 }, names = { 0 };
	CLF_AUTO_FREE char *order = NULL;
	struct clf_error err = { 0 };
	bool bad = false;

	if (clf_place(t, req, &p, &err)) {
		bad = clf_buf_printf(out, NULL, "%s: %s\n",
				     err.code == CLF_E_EXHAUSTED ? "not now"
				     : err.code == CLF_E_INVALID ? "never"
								 : "error",
				     err.text);
		ok(!bad, "refused");
		return;
	}
	for (uint32_t i = 0; i < p->count; i++)
		bad |= clf_strv_add(&names, clf_topo_node(t, p->order[i])->name, NULL);
	order = clf_hostlist_compress_ordered((const char *const *) names.v, names.n, NULL);
	bad |= !order || clf_explain(t, req, p, &reasons, NULL);
	bad |= clf_buf_printf(out, NULL, "order %s\nleaves %u pods %u ring %u %u hops %llu%s\n", order ? order : "?",
			      p->cost.leaves, p->cost.pods, p->cost.leaf_crossings, p->cost.pod_crossings,
			      (unsigned long long) p->cost.hops, p->proven ? " proven" : "");
	for (size_t i = 0; i < reasons.n; i++)
		bad |= clf_buf_printf(out, NULL, "%s\n", reasons.v[i]);
	ok(!bad, "placed");
}

static int set_of(const struct clf_topo *t, char *text, const char *key, struct clf_bitmap **out, struct clf_error *err)
{
	char hosts[512];

	return word_after(text, key, hosts, sizeof(hosts)) ? clf_topo_nodeset(t, hosts, NULL, out, err) : 0;
}

static void run(const char *dir, const char *name)
{
	CLF_CLEANUP(clf_topo_destroyp) struct clf_topo *t = NULL;
	CLF_CLEANUP(clf_bitmap_destroyp)
	struct clf_bitmap *set = NULL, *busy = NULL, *eligible = NULL, *required = NULL;
	CLF_CLEANUP(clf_buf_done) struct clf_buf got = CLF_BUF_INIT(65536);
	CLF_AUTO_FREE char *request = NULL;
	struct clf_request req = { 0 };
	struct clf_error err = { 0 };
	char path[1024], word[64];

	snprintf(path, sizeof(path), "%s/%s/request", dir, name);
	request = golden_read(path);
	snprintf(path, sizeof(path), "%s/%s/topo", dir, name);
	if (!ok(request && !clf_topo_load(NULL, path, &t, &err), "%s: read", name) ||
	    !ok(!set_of(t, request, "free", &set, &err) && !set_of(t, request, "busy", &busy, &err) &&
			!set_of(t, request, "eligible", &eligible, &err) &&
			!set_of(t, request, "required", &required, &err),
		"%s: node lists", name)) {
		diag("%s", err.text);
		return;
	}
	if (!set) {
		set = clf_bitmap_create(clf_topo_nnodes(t), NULL);
		clf_bitmap_fill(set);
	}
	if (busy)
		clf_bitmap_andnot(set, busy);
	req.free = set;
	req.eligible = eligible;
	req.required = required;
	if (word_after(request, "nodes", word, sizeof(word)))
		req.nodes = (uint32_t) strtoul(word, NULL, 10);
	if (word_after(request, "max-leaves", word, sizeof(word)))
		req.max_leaves = (uint32_t) strtoul(word, NULL, 10);
	if (word_after(request, "objective", word, sizeof(word)))
		req.objective = !strcmp(word, "hops") ? CLF_OBJECTIVE_HOPS : CLF_OBJECTIVE_LEX;
	if (word_after(request, "pattern", word, sizeof(word)))
		req.pattern = !strcmp(word, "rd")     ? CLF_PATTERN_RD
			      : !strcmp(word, "tree") ? CLF_PATTERN_TREE
						      : CLF_PATTERN_RING;
	show(t, &req, &got);
	snprintf(path, sizeof(path), "%s/%s/expect", dir, name);
	golden(path, got.data ? got.data : "", name);
}

int main(void)
{
	char dir[1024];

	snprintf(dir, sizeof(dir), "%s/tests/place", clf_test_srcdir());
	ok(golden_each(dir, "", "", run) > 0, "there are cases");
	return done_testing();
}
