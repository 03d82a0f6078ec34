/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engine/run.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/hostlist.h"
#include "engine/run_priv.h"

/* Verified: nothing of the lease is on a wire. detail is stolen. */
int clf_run_close(struct clf_run *r, struct clf_lease *l, const char *word, const char *text, json_t *detail,
		  struct clf_error *err)
{
	char ended[300];

	if (clf_run_record(r, l, CLF_EV_NET_RELEASE, true, word, text, detail, NULL, err) ||
	    clf_lease_move(l, CLF_LEASE_CLOSED, clf_run_now(r), NULL, err))
		return -1;
	snprintf(ended, sizeof ended, "job %u ended: lease %s closed (%s)", l->job_id, l->id,
		 l->reason ? l->reason : "ended");
	if (clf_run_record(r, l, CLF_EV_JOB_END, true, l->reason ? l->reason : "ended", ended, clf_run_lease_detail(l),
			   NULL, err) ||
	    clf_lease_set(&l->fabric, word, err))
		return -1;
	return clf_store_put(r->store, l, err);
}

/* A start that is still under way is over, whatever fabric and nodes will say. */
static void overtake(struct clf_run *r, const char *lease)
{
	struct clf_run_pending *p = clf_run_find(r, lease, CLF_RUN_OPENING);
	struct clf_run_result res = { .code = CLF_E_CONFLICT };

	if (!p)
		p = clf_run_find(r, lease, CLF_RUN_ATTESTING);
	if (!p)
		return;
	clf_run_drop(r, p);
	snprintf(res.rule, sizeof res.rule, "ended-meanwhile");
	snprintf(res.text, sizeof res.text, "the job ended while its network was being closed off");
	snprintf(res.advice, sizeof res.advice, "nothing is to be done");
	r->verdict(r->arg, lease, CLF_NET_OPEN, &res);
}

int clf_run_finish(struct clf_run *r, const struct clf_lease *have, const char *reason, bool *done,
		   struct clf_error *err)
{
	CLF_CLEANUP(clf_lease_destroyp) struct clf_lease *l = clf_lease_copy(have, err);
	struct clf_run_pending *p;

	*done = false;
	if (!l ||
	    (l->state != CLF_LEASE_RELEASING && clf_lease_move(l, CLF_LEASE_RELEASING, clf_run_now(r), reason, err)))
		return -1;
	if (!l->nnets) {
		*done = true;
		return clf_run_close(r, l, "null", "null: no wire was programmed", clf_run_evidence(l, NULL, NULL),
				     err);
	}
	overtake(r, l->id);
	p = clf_run_find(r, l->id, CLF_RUN_CLOSING);
	if (p && p->waiting >> 31)
		clf_run_drop(r, p);
	else if (p)
		return 0;
	return clf_store_put(r->store, l, err) || clf_run_dispatch(r, l, CLF_RUN_CLOSING, err) ? -1 : 0;
}

int clf_run_refuse(struct clf_run *r, struct clf_lease *l, enum clf_code code, const char *rule, const char *text,
		   const char *advice, struct clf_run_result *out, struct clf_error *err)
{
	json_t *detail = clf_run_lease_detail(l);
	uint32_t n = clf_store_failures(r->store, l->job_id, l->submit_time_s);

	if (detail && json_object_set_new(detail, "advice", json_string(advice))) {
		json_decref(detail);
		detail = NULL;
	}
	if (clf_run_record(r, l, CLF_EV_JOB_REFUSE, false, rule, text, detail, NULL, err))
		return -1;
	/* what may be on a wire is released, not forgotten */
	if (l->state == CLF_LEASE_REQUESTED && !l->nnets &&
	    clf_lease_move(l, CLF_LEASE_REFUSED, clf_run_now(r), rule, err))
		return -1;
	if (clf_store_put(r->store, l, err))
		return -1;
	/* a job that waits for a key has not failed */
	if (code != CLF_E_EXHAUSTED && clf_store_fail(r->store, l->job_id, l->submit_time_s, clf_run_now(r), &n, err))
		return -1;
	*out = (struct clf_run_result){ .code = code, .failures = n };
	snprintf(out->rule, sizeof out->rule, "%s", rule);
	snprintf(out->text, sizeof out->text, "%s", text);
	snprintf(out->advice, sizeof out->advice, "%s", advice);
	return 0;
}

static const char *node_name(void *arg, uint32_t i)
{
	return ((const struct clf_strv *) arg)->v[i];
}

static bool has_feature(void *arg, uint32_t i, const char *feature)
{
	return true;
}

int clf_run_site(const struct clf_policy *policy, const struct clf_topo *topo, const struct clf_strv *nodes,
		 struct clf_site **out, struct clf_error *err)
{
	return clf_site_make(policy, topo, (uint32_t) nodes->n, node_name, has_feature, (void *) nodes, out, err);
}

/* A zone by features may hold nodes that no list names: the job's own are added for the question. *out NULL: the site
 * at hand will do. */
static int site_for(struct clf_run *r, const struct clf_lease *l, struct clf_site **out, struct clf_error *err)
{
	CLF_CLEANUP(clf_strv_done) struct clf_strv nodes = { 0 };
	CLF_CLEANUP(clf_strmap_done) struct clf_strmap seen = { .copy = true };
	CLF_CLEANUP(clf_strv_done) struct clf_strv all = { 0 };
	bool by_features = false;
	uint32_t ignored;

	for (uint32_t z = 0; r->site && z < r->site->policy->nzones; z++)
		by_features |= !r->site->policy->zones[z].nodes;
	if (!by_features || !l->nodes)
		return 0;
	for (size_t i = 0; i < r->nodes->n; i++)
		if (clf_strv_add(&all, r->nodes->v[i], err))
			return -1;
	if (clf_hostlist_expand(l->nodes, CLF_MAX_NODES, &all, err))
		return -1;
	for (size_t i = 0; i < all.n; i++) {
		if (clf_strmap_find(&seen, all.v[i], &ignored))
			continue;
		if (clf_strmap_add(&seen, all.v[i], 0, err) || clf_strv_add(&nodes, all.v[i], err))
			return -1;
	}
	return clf_run_site(r->site->policy, r->site->topo, &nodes, out, err);
}

/* The policy in force may be another than at submission: ask it again, now with the nodes. */
static int decide(struct clf_run *r, const struct clf_lease *l, struct clf_decision **out, struct clf_error *err)
{
	const struct clf_job job = {
		.uid = l->uid,
		.user = l->user,
		.account = l->account,
		.partition = l->partition,
		.had_class = l->cls,
		.had_grant = l->grant,
		.min_nodes = l->n_nodes ? l->n_nodes : l->min_nodes,
		.max_nodes = l->n_nodes,
		.nodes = l->nodes,
		.het_component = l->het_job_id != 0,
		.het_leader = l->het_job_id && !l->het_offset,
		.array = l->array_job_id != 0,
		.now_ms = clf_run_now(r),
	};

	CLF_CLEANUP(clf_site_destroyp) struct clf_site *own = NULL;

	if (site_for(r, l, &own, err))
		return -1;
	return clf_decide(own ? own : r->site, &job, out, err);
}

int clf_run_grant(struct clf_run *r, struct clf_lease *l, const struct clf_run_pending *p, const json_t *nodes,
		  struct clf_run_result *out, struct clf_error *err)
{
	const char *word = p && *p->word ? p->word : "null",
		   *seen = p && *p->text ? p->text : "null: no wire was programmed";
	const json_t *fabrics = p ? p->evidence : NULL;
	json_t *detail = clf_run_lease_detail(l);
	char text[300];

	if (detail && r->env && l->nnets && json_object_set_new(detail, "env", r->env(r->arg, l))) {
		json_decref(detail);
		detail = NULL;
	}
	if (clf_run_record(r, l, CLF_EV_NET_PROGRAM, true, word, seen, detail, NULL, err) ||
	    clf_run_record(r, l, CLF_EV_NET_VERIFY, true, word, seen, clf_run_evidence(l, fabrics, nodes), NULL, err))
		return -1;
	snprintf(text, sizeof text, "job %u starts on %u nodes, lease %s; %.180s", l->job_id, l->n_nodes, l->id, seen);
	if (clf_lease_set(&l->fabric, word, err) || clf_lease_move(l, CLF_LEASE_GRANTED, clf_run_now(r), NULL, err) ||
	    clf_run_record(r, l, CLF_EV_JOB_ALLOCATE, true, word, text, clf_run_lease_detail(l), NULL, err) ||
	    clf_store_put(r->store, l, err) || clf_store_clear_failures(r->store, l->job_id, l->submit_time_s, err))
		return -1;
	*out = (struct clf_run_result){ .granted = true };
	memcpy(out->lease, l->id, sizeof out->lease);
	return 0;
}

static bool same_start(const struct clf_lease *have, const struct clf_lease *ask)
{
	return have->restart == ask->restart && have->uid == ask->uid &&
	       !strcmp(have->nodes ? have->nodes : "", ask->nodes ? ask->nodes : "") &&
	       !strcmp(have->cls ? have->cls : "", ask->cls ? ask->cls : "");
}

static int count_nodes(struct clf_lease *l, struct clf_error *err)
{
	struct clf_strv hosts = { 0 };
	int rc = l->nodes ? clf_hostlist_expand(l->nodes, CLF_MAX_NODES, &hosts, err) : 0;

	l->n_nodes = (uint32_t) hosts.n;
	clf_strv_done(&hosts);
	return rc;
}

static int cannot_reserve(struct clf_run *r, struct clf_lease *l, const struct clf_error *why,
			  struct clf_run_result *out, struct clf_error *err)
{
	const char *rule = why->code == CLF_E_EXHAUSTED  ? "no-key"
			   : why->code == CLF_E_CONFLICT ? "port-in-use"
							 : "node-not-eligible";
	const char *advice =
		why->code == CLF_E_EXHAUSTED
			? "it starts when a key is free; the number of closfold_key licences should be that of the keys"
		: why->code == CLF_E_CONFLICT
			? "closfoldd compares leases with Slurm's jobs and frees it when that job is gone; see "
			  "'closfold lease list'"
			: "the admin sees why with 'closfold fabric check'; exclude the node meanwhile";

	if (why->code == CLF_E_NOMEM)
		return clf_fail(err, CLF_E_NOMEM, "out of memory");
	/* what was reserved on the first fabrics was never on a wire */
	while (l->nnets) {
		free(l->nets[--l->nnets].fabric);
		clf_strv_done(&l->nets[l->nnets].ports);
	}
	return clf_run_refuse(r, l, why->code, rule, why->text, advice, out, err);
}

/* Takes a new lease through policy and towards the fabrics. */
static int start_new(struct clf_run *r, struct clf_lease *l, struct clf_run_result *out, struct clf_error *err)
{
	CLF_CLEANUP(clf_decision_destroyp) struct clf_decision *d = NULL;
	struct clf_error why = { 0 };

	if (count_nodes(l, &why))
		return clf_run_refuse(r, l, CLF_E_INVALID, "nodes-unreadable", why.text,
				      "this is no answer of policy: tell the admin", out, err);
	if (decide(r, l, &d, err))
		return -1;
	if (!d->allow)
		return clf_run_refuse(r, l, CLF_E_DENIED, d->rule ? d->rule : "denied",
				      d->reason ? d->reason : "denied", d->advice ? d->advice : "ask the admin", out,
				      err);
	if (!l->cls && clf_lease_set(&l->cls, d->cls, err))
		return -1;
	if (clf_run_reserve(r, l, &why))
		return cannot_reserve(r, l, &why, out, err);
	if (!l->nnets)
		return clf_run_grant(r, l, NULL, NULL, out, err);
	if (clf_store_put(r->store, l, err) || clf_run_dispatch(r, l, CLF_RUN_OPENING, err))
		return -1;
	*out = (struct clf_run_result){ .pending = true };
	memcpy(out->lease, l->id, sizeof out->lease);
	return 0;
}

int clf_run_start(struct clf_run *r, const struct clf_lease *ask, struct clf_run_result *out, struct clf_error *err)
{
	const struct clf_lease *have = clf_store_find_job(r->store, ask->job_id, ask->submit_time_s);
	CLF_CLEANUP(clf_lease_destroyp) struct clf_lease *l = clf_lease_copy(ask, err);
	/* a network that is known not to be proven any more starts nobody: it is made anew */
	bool lost = have && have->fabric && !strcmp(have->fabric, "lost"), done;
	bool granted = have && have->state == CLF_LEASE_GRANTED && same_start(have, ask) && !lost;
	bool waits = have && have->state == CLF_LEASE_REQUESTED && same_start(have, ask) &&
		     (clf_run_find(r, have->id, CLF_RUN_OPENING) || clf_run_find(r, have->id, CLF_RUN_ATTESTING));

	if (!l)
		return -1;
	if (granted || waits) {
		*out = (struct clf_run_result){ .granted = granted, .pending = waits, .again = true };
		memcpy(out->lease, have->id, sizeof out->lease);
		return 0;
	}
	/* its ports go from the old network into the new one, and the old key is proven gone all the same */
	if (have && clf_lease_open(have) && clf_run_finish(r, have, "superseded", &done, err))
		return -1;
	clf_store_new_id(r->store, l->id);
	l->state = CLF_LEASE_REQUESTED;
	l->requested_ms = clf_run_now(r);
	l->granted_ms = l->closed_ms = 0;
	return start_new(r, l, out, err);
}

int clf_run_end(struct clf_run *r, uint32_t job_id, int64_t submit_time_s, const char *reason,
		struct clf_run_result *out, struct clf_error *err)
{
	const struct clf_lease *have = clf_store_find_job(r->store, job_id, submit_time_s);
	struct clf_run_result res = { .failures = clf_store_failures(r->store, job_id, submit_time_s) };
	bool done;

	if (have && clf_lease_open(have)) {
		memcpy(res.lease, have->id, sizeof res.lease);
		if (clf_run_finish(r, have, reason, &done, err))
			return -1;
		res.pending = !done;
	}
	*out = res;
	return 0;
}

int clf_run_release(struct clf_run *r, const char *lease, const char *reason, struct clf_run_result *out,
		    struct clf_error *err)
{
	const struct clf_lease *have = clf_store_find(r->store, lease);
	struct clf_run_result res = { 0 };
	bool done;

	if (!have)
		return clf_fail(err, CLF_E_NOTFOUND, "no lease '%.60s'", lease);
	if (!clf_lease_open(have))
		return clf_fail(err, CLF_E_CONFLICT, "lease '%.60s' is %s already", lease,
				clf_lease_state_name(have->state));
	memcpy(res.lease, have->id, sizeof res.lease);
	if (clf_run_finish(r, have, reason, &done, err))
		return -1;
	res.pending = !done;
	*out = res;
	return 0;
}

/* Leases to act on, by id: acting moves them in memory. */
static int collect(struct clf_run *r, const struct clf_live_jobs *jobs, int64_t grace_ms, struct clf_strv *ids,
		   struct clf_strv *whys, json_int_t *kept, json_int_t *young, struct clf_error *err)
{
	const struct clf_lease *l;

	for (size_t i = 0; (l = clf_store_next(r->store, &i));) {
		const char *why = NULL;

		if (!clf_lease_open(l))
			continue;
		switch (clf_reconcile_lease(l, jobs, clf_run_now(r), grace_ms, &why)) {
		case CLF_KEEP_YOUNG:
			++*young;
			continue;
		case CLF_KEEP:
			++*kept;
			if (l->state != CLF_LEASE_RELEASING)
				continue;
			why = "release-unfinished";
			break;
		default:
			break;
		}
		if (clf_strv_add(ids, l->id, err) || clf_strv_add(whys, why, err))
			return -1;
	}
	return 0;
}

/* One orphan: the finding says what was wrong, the end of the job what was done. */
static int repair(struct clf_run *r, const struct clf_lease *l, const char *why, bool *done, struct clf_error *err)
{
	char text[200];

	snprintf(text, sizeof text, "lease %s of job %u has no job behind it (%s)", l->id, l->job_id, why);
	/* once it is in release the finding has been made */
	if (l->state != CLF_LEASE_RELEASING && clf_run_record(r, l, CLF_EV_FINDING, false, why, text,
							      clf_run_lease_detail(l), "finding.orphan-lease", err))
		return -1;
	return clf_run_finish(r, l, why, done, err);
}

int clf_run_reconcile(struct clf_run *r, const struct clf_live_jobs *jobs, int64_t grace_ms, bool dry_run, json_t **out,
		      struct clf_error *err)
{
	struct clf_strv ids = { 0 }, whys = { 0 };
	json_int_t kept = 0, young = 0, released = 0, failed = 0, open = (json_int_t) clf_store_nopen(r->store);
	json_auto_t *actions = json_array();
	int rc = collect(r, jobs, grace_ms, &ids, &whys, &kept, &young, err);

	for (size_t i = 0; !rc && i < ids.n; i++) {
		const struct clf_lease *l = clf_store_find(r->store, ids.v[i]);
		json_int_t job = l->job_id;
		bool done = false, begun = false;

		if (!dry_run) {
			rc = repair(r, l, whys.v[i], &done, err);
			begun = !rc;
		}
		released += begun;
		failed += !begun && !dry_run;
		if (!rc && json_array_append_new(actions, json_pack("{s:s,s:I,s:s,s:b}", "lease", ids.v[i], "job_id",
								    job, "why", whys.v[i], "done", done)))
			rc = clf_fail(err, CLF_E_NOMEM, "out of memory");
	}
	clf_strv_done(&ids);
	clf_strv_done(&whys);
	if (rc)
		return -1;

	json_t *j = json_pack("{s:I,s:I,s:I,s:I,s:I,s:b,s:O}", "leases", open, "kept", kept, "young", young, "released",
			      released, "failed", failed, "dry_run", dry_run, "actions", actions);

	if (!j)
		return clf_fail(err, CLF_E_NOMEM, "out of memory");
	*out = j;
	return 0;
}
