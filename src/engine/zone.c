/* SPDX-License-Identifier: GPL-2.0-or-later */
/* zone.c - can the job run in the zone of its class, and on what terms. */
#include "engine/subject.h"

#include <stdio.h>
#include <string.h>

#include "place/order.h"

static const struct clf_policy_terms *terms_of(const struct clf_subject *s)
{
	return &s->policy->terms[s->level];
}

static const struct clf_zone_view *view_of(const struct clf_subject *s)
{
	uint32_t z;

	if (!terms_of(s)->zone || !clf_strmap_find(&s->policy->zone_of, terms_of(s)->zone, &z))
		return NULL;
	return &s->site->zones[z];
}

static bool given(const char *expr)
{
	return expr && *expr;
}

static enum clf_step bad_list(struct clf_subject *s, const struct clf_error *why, const char *option)
{
	const char *id = clf_builtin_id(CLF_RULE_JOB_INVALID);

	if (why->code == CLF_E_NOMEM && !why->column) {
		clf_fail(s->err, why->code, "%s", why->text);
		return CLF_STEP_ERROR;
	}
	if (why->code == CLF_E_NOMEM) {
		clf_refuse(s, id, "the list of nodes of %s is too long: this cluster has %u nodes", option,
			   s->site->n_cluster_nodes);
		return clf_advise(s, "name nodes of this cluster only, each once");
	}
	clf_refuse(s, id, "the list of nodes of %s is not understood, at character %d", option, why->column);
	return clf_advise(s, "write it as node[1-4,7]");
}

/* All of these must lie in the zone. Gives their number. */
static enum clf_step check_inside(struct clf_subject *s, const struct clf_zone_view *view, const char *expr,
				  const char *option, uint32_t *count)
{
	CLF_CLEANUP(clf_bitmap_destroyp) struct clf_bitmap *set = NULL;
	CLF_CLEANUP(clf_strv_done) struct clf_strv outside = { 0 };
	struct clf_error why = { 0 };
	char names[3 * 48] = "";
	size_t len = 0;
	uint32_t n;

	*count = 0;
	if (!given(expr))
		return CLF_STEP_NEXT;
	if (clf_site_nodes(s->site, expr, view->members, &set, &outside, &n, &why))
		return bad_list(s, &why, option);
	*count = clf_bitmap_count(set);
	if (!n)
		return CLF_STEP_NEXT;
	for (size_t i = 0; i < outside.n; i++)
		len += (size_t) snprintf(names + len, sizeof names - len, "%s%s", i ? ", " : "",
					 CLF_SAFE(outside.v[i]));
	clf_refuse(s, clf_builtin_id(CLF_RULE_ZONE_NODES),
		   "class %s runs in zone %s, and these nodes are outside: %s%s", s->d->cls, view->name, names,
		   n > outside.n ? ", ..." : "");
	if (expr == s->job->nodes)
		return clf_advise(s, "submit the job again; if it lasts, tell the administrators of the cluster");
	return clf_advise(s, "leave them out of %s, or leave the choice to Slurm", option);
}

/* The grant's limit counts the nodes a job names or was given, too. */
static enum clf_step check_limit(struct clf_subject *s, uint32_t nodes)
{
	if (!s->grant || !s->grant->max_nodes || nodes <= s->grant->max_nodes)
		return CLF_STEP_NEXT;
	clf_refuse(s, clf_builtin_id(CLF_RULE_GRANT_SCOPE), "grant %s allows %u nodes, and the job names %u",
		   s->grant->id, s->grant->max_nodes, nodes);
	return clf_advise(s, "give --nodes=%u or fewer", s->grant->max_nodes);
}

static enum clf_step check_size(struct clf_subject *s, const struct clf_zone_view *view)
{
	const uint32_t want = s->job->min_nodes;

	if (!view->n_nodes) {
		clf_refuse(s, clf_builtin_id(CLF_RULE_ZONE_EMPTY),
			   "class %s runs in zone %s, and no node of this cluster is in it", s->d->cls, view->name);
		return clf_advise(s, "ask the administrators: the zone or the nodes are set up wrongly");
	}
	if (want <= view->n_nodes)
		return CLF_STEP_NEXT;
	clf_refuse(s, clf_builtin_id(CLF_RULE_ZONE_SIZE),
		   "class %s runs in zone %s, which has %u nodes, and the job asks for %u", s->d->cls, view->name,
		   view->n_nodes, want);
	return clf_advise(s, "give --nodes=%u or fewer", view->n_nodes);
}

/* What the job itself excludes: a job that was decided before has the zone's exclusion in front, which takes nothing
 * from the zone and is long. */
static const char *own_exclusion(const char *exc_nodes, const struct clf_zone_view *view)
{
	size_t len = strlen(view->exclude);

	if (!exc_nodes || !len || strncmp(exc_nodes, view->exclude, len))
		return exc_nodes;
	return exc_nodes[len] == ',' ? exc_nodes + len + 1 : exc_nodes[len] ? exc_nodes : NULL;
}

static enum clf_step check_excluded(struct clf_subject *s, const struct clf_zone_view *view)
{
	CLF_CLEANUP(clf_strv_done) struct clf_strv ignored = { 0 };
	const uint32_t want = s->job->min_nodes ? s->job->min_nodes : 1;
	const char *own = own_exclusion(s->job->exc_nodes, view);
	struct clf_error why = { 0 };
	uint32_t n;

	if (!given(own))
		return CLF_STEP_NEXT;
	if (clf_site_nodes(s->site, own, view->members, &s->excluded, &ignored, &n, &why))
		return bad_list(s, &why, "--exclude");
	clf_bitmap_and(s->excluded, view->members);
	n = view->n_nodes - clf_bitmap_count(s->excluded);
	if (want <= n)
		return CLF_STEP_NEXT;
	clf_refuse(s, clf_builtin_id(CLF_RULE_ZONE_EXCLUDED),
		   "--exclude leaves %u nodes of zone %s, and the job needs %u", n, view->name, want);
	return clf_advise(s, "exclude fewer nodes; class %s runs in zone %s only", s->d->cls, view->name);
}

enum clf_step clf_step_zone(struct clf_subject *s)
{
	const struct clf_zone_view *view = view_of(s);
	uint32_t named = 0, given_to = 0;
	enum clf_step step;

	if (!view)
		return CLF_STEP_NEXT;
	if ((step = check_size(s, view)) || (step = check_inside(s, view, s->job->req_nodes, "--nodelist", &named)) ||
	    (step = check_inside(s, view, s->job->nodes, "the allocation", &given_to)) ||
	    (step = check_excluded(s, view)))
		return step;
	return check_limit(s, named > given_to ? named : given_to);
}

/* Fewest leaves for the job on the nodes of the zone that it has not excluded; 0 = unknown. */
static enum clf_step fewest_leaves(const struct clf_subject *s, const struct clf_zone_view *view, uint32_t *leaves)
{
	CLF_CLEANUP(clf_bitmap_destroyp) struct clf_bitmap *left = NULL;

	if (!s->excluded) {
		*leaves = clf_min_leaves(s->site->topo, view->eligible, s->job->min_nodes);
		return CLF_STEP_NEXT;
	}
	left = clf_bitmap_copy(view->eligible, s->err);
	if (!left)
		return CLF_STEP_ERROR;
	for (uint32_t i = clf_bitmap_next(s->excluded, 0); i < s->excluded->nbits;
	     i = clf_bitmap_next(s->excluded, i + 1))
		clf_bitmap_clear(left, s->site->topo_id[i]);
	*leaves = clf_min_leaves(s->site->topo, left, s->job->min_nodes);
	return CLF_STEP_NEXT;
}

/* The fewest leaves, and the policy's slack. A user's own --switches stays where it is stricter; who names nodes has
 * chosen leaves. */
static enum clf_step set_switches(struct clf_subject *s, const struct clf_policy_terms *t,
				  const struct clf_zone_view *view)
{
	struct clf_terms *out = &s->d->terms;
	uint32_t leaves;

	if (!t->switches || !view || !view->covered || !s->job->min_nodes || given(s->job->req_nodes))
		return CLF_STEP_NEXT;
	if (fewest_leaves(s, view, &leaves))
		return CLF_STEP_ERROR;
	if (!leaves)
		return CLF_STEP_NEXT;
	out->req_switch = leaves + t->switch_slack;
	out->switch_wait_s = t->switch_wait_s;
	if (s->job->req_switch && s->job->req_switch < out->req_switch) {
		out->req_switch = s->job->req_switch;
		out->switch_wait_s = 0;
	}
	return CLF_STEP_NEXT;
}

enum clf_step clf_step_terms(struct clf_subject *s)
{
	const struct clf_policy_terms *t = terms_of(s);
	const struct clf_zone_view *view = view_of(s);
	struct clf_terms *out = &s->d->terms;

	out->exclusive = t->exclusive;
	out->zone = t->zone;
	out->exclude = view ? view->exclude : NULL;
	out->licence = t->licence;
	if (s->grant && !s->job->max_nodes)
		out->max_nodes = s->grant->max_nodes;
	return set_switches(s, t, view);
}
