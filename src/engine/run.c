/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engine/run.h"

#include <stdio.h>
#include <string.h>

#include "base/hostlist.h"

#define NODES_IN_RECORD (16u << 10) /* a longer host expression stays in the ledger only */

static int64_t now_ms(const struct clf_run *r)
{
	return r->clock->wall_ms(r->clock->arg);
}

static const struct clf_policy_grant *grant_of(const struct clf_run *r, const char *grant)
{
	uint32_t i;

	if (!r->site || !grant || !clf_strmap_find(&r->site->policy->grant_of, grant, &i))
		return NULL;
	return &r->site->policy->grants[i];
}

static json_t *lease_detail(const struct clf_lease *l)
{
	json_auto_t *j = json_pack("{s:s,s:I,s:I}", "lease", l->id, "n_nodes", (json_int_t) l->n_nodes, "restart",
				   (json_int_t) l->restart);
	int bad = !j;

	if (l->nodes && strlen(l->nodes) <= NODES_IN_RECORD)
		bad |= json_object_set_new(j, "nodes", json_string(l->nodes));
	if (l->array_job_id)
		bad |= json_object_set_new(j, "array_job_id", json_integer(l->array_job_id));
	if (l->het_job_id)
		bad |= json_object_set_new(j, "het_job_id", json_integer(l->het_job_id));
	return bad ? NULL : CLF_STEAL(j);
}

/* detail is stolen; NULL means that memory ended. */
static int record(struct clf_run *r, const struct clf_lease *l, enum clf_event event, bool ok, const char *code,
		  const char *message, json_t *detail, const char *finding, struct clf_error *err)
{
	json_auto_t *own = detail;
	const struct clf_policy_grant *g = grant_of(r, l->grant);
	struct clf_record_facts f = {
		.event = event,
		.finding = finding,
		.cluster = r->cluster,
		.job_id = l->job_id,
		.submit_time_s = l->submit_time_s,
		.decision = l->decision,
		.uid = l->uid,
		.has_uid = true,
		.user = l->user,
		.account = l->account,
		.partition = l->partition,
		.process = "closfoldd",
		.producer = "closfoldd",
		.ok = ok,
		.status_code = code,
		.message = message,
		.cls = l->cls,
		.grant = l->grant,
		.policy_sha256 = r->policy_sha256 && *r->policy_sha256 ? r->policy_sha256 : NULL,
		.detail = own,
	};

	if (!own)
		return clf_fail(err, CLF_E_NOMEM, "out of memory");
	if (g) {
		f.purpose = g->purpose;
		f.fiduciary = g->fiduciary;
		f.contract = g->contract;
		f.basis = g->basis;
	}
	return r->record(r->arg, &f, err);
}

static json_t *net_detail(const struct clf_run *r, const struct clf_lease *l, const struct clf_fabric_report *rep)
{
	return json_pack("{s:s,s:s,s:b,s:O*}", "lease", l->id, "driver", r->driver->name, "programmed", rep->programmed,
			 "steps", rep->steps);
}

/* Move a lease towards closed. A device that does not confirm leaves it "releasing", and that is no error of the call.
 */
static int finish(struct clf_run *r, const struct clf_lease *have, const char *reason, bool *done,
		  struct clf_error *err)
{
	CLF_CLEANUP(clf_lease_destroyp) struct clf_lease *l = clf_lease_copy(have, err);
	struct clf_fabric_report rep = { 0 };
	struct clf_error why = { 0 };
	char text[300];
	int rc = 0;

	if (!l || (l->state != CLF_LEASE_RELEASING && clf_lease_move(l, CLF_LEASE_RELEASING, now_ms(r), reason, err)))
		return -1;
	if (r->driver->touches_devices && (clf_store_put(r->store, l, err) || r->commit(r->arg, err)))
		return -1;
	*done = !r->driver->release(r->driver_self, l, CLF_RUN_DEVICE_MS, &rep, &why);
	if (*done) {
		rc = clf_lease_move(l, CLF_LEASE_CLOSED, now_ms(r), NULL, err);
		rc = rc ||
		     record(r, l, CLF_EV_NET_RELEASE, true, rep.word, rep.text, net_detail(r, l, &rep), NULL, err);
		snprintf(text, sizeof text, "job %u ended: lease %s closed (%s)", l->job_id, l->id,
			 l->reason ? l->reason : reason);
		rc = rc || record(r, l, CLF_EV_JOB_END, true, l->reason ? l->reason : reason, text, lease_detail(l),
				  NULL, err);
	} else {
		rc = record(r, l, CLF_EV_NET_RELEASE, false, clf_code_name(why.code), why.text, net_detail(r, l, &rep),
			    NULL, err);
	}
	clf_fabric_report_done(&rep);
	return rc || clf_store_put(r->store, l, err) ? -1 : 0;
}

static int refuse(struct clf_run *r, struct clf_lease *l, enum clf_code code, const char *rule, const char *text,
		  const char *advice, struct clf_run_result *out, struct clf_error *err)
{
	json_t *detail = lease_detail(l);
	uint32_t n;

	if (detail && json_object_set_new(detail, "advice", json_string(advice))) {
		json_decref(detail);
		detail = NULL;
	}
	if (record(r, l, CLF_EV_JOB_REFUSE, false, rule, text, detail, NULL, err))
		return -1;
	if (l->state == CLF_LEASE_REQUESTED && clf_lease_move(l, CLF_LEASE_REFUSED, now_ms(r), rule, err))
		return -1;
	if (clf_store_put(r->store, l, err) ||
	    clf_store_fail(r->store, l->job_id, l->submit_time_s, now_ms(r), &n, err))
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
		.now_ms = now_ms(r),
	};

	CLF_CLEANUP(clf_site_destroyp) struct clf_site *own = NULL;

	if (site_for(r, l, &own, err))
		return -1;
	return clf_decide(own ? own : r->site, &job, out, err);
}

static int grant(struct clf_run *r, struct clf_lease *l, struct clf_run_result *out, struct clf_error *err)
{
	struct clf_fabric_report rep = { 0 }, seen = { 0 };
	struct clf_error why = { 0 };
	char text[300];
	int rc;

	if (r->driver->touches_devices && (clf_store_put(r->store, l, err) || r->commit(r->arg, err)))
		return -1;
	if (r->driver->apply(r->driver_self, l, CLF_RUN_DEVICE_MS, &rep, &why) ||
	    r->driver->verify(r->driver_self, l, CLF_RUN_DEVICE_MS, &seen, &why)) {
		clf_fabric_report_done(&rep);
		/* Something may have been done: it is undone by release(), now or by reconcile. */
		struct clf_fabric_report undo = { 0 };
		bool undone = !r->driver->release(r->driver_self, l, CLF_RUN_DEVICE_MS, &undo, NULL);

		clf_fabric_report_done(&undo);
		if (!undone && clf_lease_move(l, CLF_LEASE_RELEASING, now_ms(r), "network-unverified", err))
			return -1;
		return refuse(r, l, why.code, "network-unverified", why.text,
			      "look at 'closfold lease list' and at the switch", out, err);
	}
	rc = record(r, l, CLF_EV_NET_PROGRAM, true, rep.word, rep.text, net_detail(r, l, &rep), NULL, err) ||
	     record(r, l, CLF_EV_NET_VERIFY, true, seen.word, seen.text, net_detail(r, l, &seen), NULL, err);
	clf_fabric_report_done(&rep);
	clf_fabric_report_done(&seen);
	snprintf(text, sizeof text, "job %u starts on %u nodes, lease %s; %s", l->job_id, l->n_nodes, l->id, seen.text);
	if (rc || clf_lease_set(&l->fabric, seen.word, err) ||
	    clf_lease_move(l, CLF_LEASE_GRANTED, now_ms(r), NULL, err) ||
	    record(r, l, CLF_EV_JOB_ALLOCATE, true, seen.word, text, lease_detail(l), NULL, err) ||
	    clf_store_put(r->store, l, err) || clf_store_clear_failures(r->store, l->job_id, l->submit_time_s, err))
		return -1;
	*out = (struct clf_run_result){ .granted = true };
	memcpy(out->lease, l->id, sizeof out->lease);
	return 0;
}

static bool same_start(const struct clf_lease *have, const struct clf_lease *ask)
{
	return have->state == CLF_LEASE_GRANTED && have->restart == ask->restart && have->uid == ask->uid &&
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

/* Takes a new lease through policy and fabric. */
static int start_new(struct clf_run *r, struct clf_lease *l, struct clf_run_result *out, struct clf_error *err)
{
	CLF_CLEANUP(clf_decision_destroyp) struct clf_decision *d = NULL;
	struct clf_error why = { 0 };

	if (count_nodes(l, &why))
		return refuse(r, l, CLF_E_INVALID, "nodes-unreadable", why.text,
			      "this is no answer of policy: tell the admin", out, err);
	if (decide(r, l, &d, err))
		return -1;
	if (!d->allow)
		return refuse(r, l, CLF_E_DENIED, d->rule ? d->rule : "denied", d->reason ? d->reason : "denied",
			      d->advice ? d->advice : "ask the admin", out, err);
	if (!l->cls && clf_lease_set(&l->cls, d->cls, err))
		return -1;
	return grant(r, l, out, err);
}

int clf_run_start(struct clf_run *r, const struct clf_lease *ask, struct clf_run_result *out, struct clf_error *err)
{
	const struct clf_lease *have = clf_store_find_job(r->store, ask->job_id, ask->submit_time_s);
	CLF_CLEANUP(clf_lease_destroyp) struct clf_lease *l = clf_lease_copy(ask, err);
	bool done = true;

	if (!l)
		return -1;
	if (have && same_start(have, ask)) {
		*out = (struct clf_run_result){ .granted = true, .again = true };
		memcpy(out->lease, have->id, sizeof out->lease);
		return 0;
	}
	if (have && clf_lease_open(have) && finish(r, have, "superseded", &done, err))
		return -1;
	clf_store_new_id(r->store, l->id);
	l->state = CLF_LEASE_REQUESTED;
	l->requested_ms = now_ms(r);
	l->granted_ms = l->closed_ms = 0;
	if (!done)
		return refuse(r, l, CLF_E_REMOTE, "earlier-lease",
			      "the network of this job's earlier run is not closed yet",
			      "closfoldd goes on trying; see 'closfold lease list'", out, err);
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
		if (finish(r, have, reason, &done, err))
			return -1;
	}
	*out = res;
	return 0;
}

int clf_run_release(struct clf_run *r, const char *lease, const char *reason, struct clf_error *err)
{
	const struct clf_lease *have = clf_store_find(r->store, lease);
	bool done;

	if (!have)
		return clf_fail(err, CLF_E_NOTFOUND, "no lease '%.60s'", lease);
	if (!clf_lease_open(have))
		return clf_fail(err, CLF_E_CONFLICT, "lease '%.60s' is %s already", lease,
				clf_lease_state_name(have->state));
	if (finish(r, have, reason, &done, err))
		return -1;
	return done ? 0
		    : clf_fail(err, CLF_E_REMOTE, "lease '%.60s': a device did not confirm; closfoldd goes on trying",
			       lease);
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
		switch (clf_reconcile_lease(l, jobs, now_ms(r), grace_ms, &why)) {
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
	if (strcmp(why, "release-unfinished") != 0 &&
	    record(r, l, CLF_EV_FINDING, false, why, text, lease_detail(l), "finding.orphan-lease", err))
		return -1;
	return finish(r, l, why, done, err);
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
		bool done = false;

		if (!dry_run)
			rc = repair(r, l, whys.v[i], &done, err);
		released += done;
		failed += !done && !dry_run;
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
