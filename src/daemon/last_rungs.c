/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/last_rungs.h"

#include <string.h>

#include "base/hostlist.h"
#include "daemon/verify_nodes.h"

#define NODES_MS 5000 /* of one start, for all its nodes */

struct rungs {
	struct clf_state *st;
	char lease[CLF_LEASE_ID];
	size_t left; /* fabrics that have not answered */
	struct clf_error error;
	json_t *evidence; /* fabric to what its nodes said */
};
struct one {
	struct rungs *all;
	char fabric[33];
};

static void answered(struct rungs *r)
{
	struct clf_error why = { 0 };

	if (--r->left)
		return;
	if (clf_run_nodes_verified(&r->st->run, r->lease, &r->error, r->evidence, &why))
		clf_log_error(r->st->sink, &why);
	json_decref(r->evidence);
	free(r);
}

static void done(void *arg, const struct clf_error *why, const json_t *evidence)
{
	struct one *o = arg;
	struct rungs *r = o->all;

	if (why->code && !r->error.code)
		r->error = *why;
	if (evidence && json_object_set_new(r->evidence, o->fabric, json_deep_copy(evidence)) && !r->error.code)
		clf_fail(&r->error, CLF_E_NOMEM, "out of memory");
	free(o);
	answered(r);
}

/* Components of one het job share a network: they are no strangers to each other. */
static int kin_of(const struct clf_state *st, const struct clf_lease *l, struct clf_strv *kin, struct clf_error *err)
{
	const struct clf_lease *o;

	for (size_t i = 0; l->het_job_id && (o = clf_store_next(st->store, &i));)
		if (o->het_job_id == l->het_job_id && strcmp(o->id, l->id) != 0 && clf_lease_open(o) && o->nodes &&
		    clf_hostlist_expand(o->nodes, CLF_MAX_NODES, kin, err))
			return -1;
	return 0;
}

static int strangers(const struct clf_state *st, const struct clf_strv *nodes, const struct clf_strv *kin,
		     struct clf_strv *out, struct clf_error *err)
{
	CLF_CLEANUP(clf_strmap_done) struct clf_strmap own = { .copy = true };
	const char *name;

	for (size_t i = 0; i < nodes->n; i++)
		if (clf_strmap_set(&own, nodes->v[i], 0, err))
			return -1;
	for (size_t i = 0; i < kin->n; i++)
		if (clf_strmap_set(&own, kin->v[i], 0, err))
			return -1;
	for (size_t i = 0; (name = clf_agents_next(st->agents, &i));)
		if (!clf_strmap_find(&own, name, &(uint32_t){ 0 }) && clf_strv_add(out, name, err))
			return -1;
	return 0;
}

/* Nodes of the lease that are on this fabric. */
static int members(const struct clf_run_fabric *f, const struct clf_strv *all, struct clf_strv *out,
		   struct clf_error *err)
{
	for (size_t i = 0; i < all->n; i++)
		if (clf_run_fabric_has(f, all->v[i]) && clf_strv_add(out, all->v[i], err))
			return -1;
	return 0;
}

static int start_one(struct rungs *r, const struct clf_lease *l, const struct clf_run_fabric *f,
		     const struct clf_strv *nodes, const struct clf_strv *others, const struct clf_strv *kin,
		     struct clf_error *err)
{
	CLF_CLEANUP(clf_strv_done) struct clf_strv own = { 0 };
	struct one *o = calloc(1, sizeof *o);
	struct clf_net net = { 0 };
	int rc = -1;

	if (!o)
		return clf_fail(err, CLF_E_NOMEM, "out of memory");
	o->all = r;
	memcpy(o->fabric, f->conf->name, sizeof o->fabric);
	if (!members(f, nodes, &own, err) && !clf_run_net_of(l, f->conf->name, &net, err)) {
		const struct clf_verify_nodes in = { .agents = r->st->agents,
						     .driver = f->driver,
						     .self = f->self,
						     .fabric = f->conf->name,
						     .driver_name = f->conf->driver,
						     .attest = f->conf->attest,
						     .probe = f->conf->probe,
						     .net = &net,
						     .nodes = &own,
						     .others = others,
						     .kin = kin,
						     .timeout_ms = NODES_MS };

		rc = clf_verify_nodes_start(&in, done, o, NULL, err);
		clf_net_done(&net);
	}
	if (rc)
		free(o);
	else
		r->left++;
	return rc;
}

int clf_last_rungs(void *arg, const struct clf_lease *l, struct clf_error *err)
{
	struct clf_state *st = arg;
	CLF_CLEANUP(clf_strv_done) struct clf_strv nodes = { 0 };
	CLF_CLEANUP(clf_strv_done) struct clf_strv others = { 0 };
	CLF_CLEANUP(clf_strv_done) struct clf_strv kin = { 0 };
	struct rungs *r;

	if (clf_hostlist_expand(l->nodes, CLF_MAX_NODES, &nodes, err) || kin_of(st, l, &kin, err) ||
	    strangers(st, &nodes, &kin, &others, err))
		return -1;
	r = calloc(1, sizeof *r);
	if (!r || !(r->evidence = json_object())) {
		free(r);
		return clf_fail(err, CLF_E_NOMEM, "out of memory");
	}
	r->st = st;
	memcpy(r->lease, l->id, sizeof r->lease);
	for (size_t i = 0; i < st->fab.n; i++)
		/* one that cannot begin is an answer too: it counts when the others have given theirs */
		if (clf_lease_net(l, st->fab.run[i].conf->name) &&
		    start_one(r, l, &st->fab.run[i], &nodes, &others, &kin, &r->error) && !r->left) {
			clf_fail(err, r->error.code, "%s", r->error.text);
			json_decref(r->evidence);
			free(r);
			return -1;
		}
	return 0;
}
