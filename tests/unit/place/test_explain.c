/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The sentences: what is said, and when. */
#include <string.h>

#include "place/explain.h"
#include "tap.h"
#include "topo/topo_synth.h"

static struct clf_topo *fabric;

/* All sentences of a placement in one string, one a line. */
static struct clf_bitmap *eligible;

static char *story(uint32_t nodes, const char *busy, const char *required, enum clf_objective objective)
{
	CLF_CLEANUP(clf_bitmap_destroyp) struct clf_bitmap *set = NULL, *must = NULL;
	CLF_CLEANUP(clf_placement_destroyp) struct clf_placement *p = NULL;
	CLF_CLEANUP(clf_strv_done) struct clf_strv reasons = { 0 };
	struct clf_request req = { .nodes = nodes, .objective = objective };
	static char text[4096];

	text[0] = '\0';
	if (clf_topo_nodeset(fabric, busy, NULL, &set, NULL) ||
	    (required && clf_topo_nodeset(fabric, required, NULL, &must, NULL)))
		return text;
	clf_bitmap_invert(set);
	req.free = set;
	req.required = must;
	req.eligible = eligible;
	if (clf_place(fabric, &req, &p, NULL) || clf_explain(fabric, &req, p, &reasons, NULL))
		return text;
	for (size_t i = 0; i < reasons.n; i++) {
		strcat(text, reasons.v[i]);
		strcat(text, "\n");
	}
	return text;
}

static void says(const char *text, const char *want)
{
	if (!ok(strstr(text, want) != NULL, "says: %s", want))
		diag("%s", text);
}

static void silent(const char *text, const char *word)
{
	if (!ok(strstr(text, word) == NULL, "does not speak of: %s", word))
		diag("%s", text);
}

int main(void)
{
	struct clf_error err = { 0 };
	const char *s;

	if (!ok(!clf_topo_synth("pod:3 leaf:3 node:4", &fabric, &err), "a fabric of 3 x 3 x 4"))
		return done_testing();

	s = story(3, "n[1-2],n5,n9", NULL, CLF_OBJECTIVE_LEX);
	says(s, "3 nodes on 1 leaf in 1 pod: no free set is better, proven (objective lex)\n");
	says(s, "7 other leaves would do as well, with as many free nodes or more; the first of the tightest is taken");
	says(s, "largest job now: 4 nodes in one leaf, 12 in one pod, 32 in all");
	silent(s, "would do alone");
	silent(s, "required");

	s = story(6, "n[1-11]", NULL, CLF_OBJECTIVE_LEX);
	says(s, "6 nodes on 2 leaves in 1 pod");
	says(s, "1 other pod would do as well, with as many free nodes or more");
	says(s, "no leaf has 6 nodes that could be used; the largest has 4");
	silent(s, "pod 'p");

	s = story(6, "n[1-11],n[30-33]", NULL, CLF_OBJECTIVE_LEX);
	says(s,
	     "1 other pod would do as well; this one has the fewest free nodes (8; 'p2' has 12), so larger holes stay");

	/* pod 1 has 6 free nodes on 3 leaves, pod 2 on 2 leaves */
	s = story(6, "n[1-2,5-6,9-10],n[13-14,17-20],n[25-36]", NULL, CLF_OBJECTIVE_LEX);
	says(s, "6 nodes on 2 leaves in 1 pod");
	says(s, "1 other pod has 6 free nodes; the best of them, 'p1', needs 3 leaves");

	s = story(9, "n[1-5,13-20,25-33]", NULL, CLF_OBJECTIVE_LEX);
	says(s, "9 nodes on 3 leaves in 2 pods");
	says(s, "with every node free 3 leaves would do");
	says(s, "pod 'p1' would do alone; 5 of its 12 nodes are not free");
	says(s, "in this order the ring crosses leaves 3 times and pods 2 times");

	s = story(2, "", "n1,n36", CLF_OBJECTIVE_HOPS);
	says(s, "(objective hops)");
	says(s, "2 of the nodes were required");
	says(s, "would do alone, but does not have all required nodes");

	s = story(1, "n[1-35]", NULL, CLF_OBJECTIVE_LEX);
	says(s, "1 node on 1 leaf in 1 pod");
	says(s, "no other leaf holds the job now");
	silent(s, "ring crosses");

	/* nodes that can never be used do not make a pod that would do */
	if (!ok(!clf_topo_nodeset(fabric, "n[1-8,13-20,25-32]", NULL, &eligible, NULL), "8 nodes a pod eligible"))
		return done_testing();
	s = story(9, "n[9-12,21-24,33-36]", NULL, CLF_OBJECTIVE_LEX);
	says(s, "no pod has 9 nodes that could be used; the largest has 8");
	clf_bitmap_destroy(eligible);
	clf_topo_destroy(fabric);
	return done_testing();
}
