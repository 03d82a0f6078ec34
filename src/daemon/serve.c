/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/serve.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/hostlist.h"
#include "config.h"

#define TIME_MAX_S  (INT64_C(1) << 40)
#define NODES_MAX   (64u << 10)
#define PAGE_BYTES  (96u << 10)
#define PORTS_SHOWN 1500u /* more do not fit into a packet */

static char *dump(json_t *j /* stolen */)
{
	char *s = j ? clf_json_canonical(j) : NULL;

	json_decref(j);
	return s;
}

char *clf_serve_error(const struct clf_error *err, const char *advice)
{
	return dump(json_pack("{s:b,s:s,s:s,s:s*}", "ok", false, "code", clf_code_name(err->code), "text", err->text,
			      "advice", advice));
}

static int64_t now_ms(void)
{
	return clf_clock_system.wall_ms(clf_clock_system.arg);
}

/* ---- members of a request */

static int number(const json_t *q, const char *key, bool required, int64_t max, int64_t *out, struct clf_error *err)
{
	const json_t *v = json_object_get(q, key);

	if (!v || json_is_null(v)) {
		if (required)
			return clf_fail(err, CLF_E_INVALID, "'%s' is missing", key);
		return 0;
	}
	if (!json_is_integer(v) || json_integer_value(v) < 0 || json_integer_value(v) > max)
		return clf_fail(err, CLF_E_INVALID, "'%s' is no number from 0 to %" PRId64, key, max);
	*out = json_integer_value(v);
	return 0;
}

static int number32(const json_t *q, const char *key, uint32_t *out, struct clf_error *err)
{
	int64_t v = *out;

	if (number(q, key, false, UINT32_MAX, &v, err))
		return -1;
	*out = (uint32_t) v;
	return 0;
}

static int text(const json_t *q, const char *key, size_t max, char **member, struct clf_error *err)
{
	const json_t *v = json_object_get(q, key);

	if (!v || json_is_null(v))
		return 0;
	if (!json_is_string(v) || json_string_length(v) > max)
		return clf_fail(err, CLF_E_INVALID, "'%s' is no string of at most %zu bytes", key, max);
	return clf_lease_set(member, json_string_value(v), err);
}

static int job_of(const json_t *q, uint32_t *job_id, int64_t *submit, struct clf_error *err)
{
	int64_t id = 0;

	if (number(q, "job_id", true, UINT32_MAX, &id, err) || number(q, "submit_time", true, TIME_MAX_S, submit, err))
		return -1;
	if (!id)
		return clf_fail(err, CLF_E_INVALID, "'job_id' is 0");
	*job_id = (uint32_t) id;
	return 0;
}

static struct clf_lease *lease_of(const json_t *q, struct clf_error *err)
{
	CLF_CLEANUP(clf_lease_destroyp) struct clf_lease *l = clf_lease_create(err);
	int64_t uid = 0;

	if (!l || job_of(q, &l->job_id, &l->submit_time_s, err) || number(q, "uid", true, UINT32_MAX, &uid, err) ||
	    number32(q, "array_job_id", &l->array_job_id, err) ||
	    number32(q, "array_task_id", &l->array_task_id, err) || number32(q, "het_job_id", &l->het_job_id, err) ||
	    number32(q, "het_offset", &l->het_offset, err) || number32(q, "restart", &l->restart, err) ||
	    number32(q, "min_nodes", &l->min_nodes, err) || text(q, "user", 256, &l->user, err) ||
	    text(q, "account", 256, &l->account, err) || text(q, "partition", 1024, &l->partition, err) ||
	    text(q, "class", 64, &l->cls, err) || text(q, "grant", 64, &l->grant, err) ||
	    text(q, "decision", 64, &l->decision, err) || text(q, "nodes", NODES_MAX, &l->nodes, err))
		return NULL;
	l->uid = (uint32_t) uid;
	return CLF_STEAL(l);
}

/* ---- requests */

static char *granted(const struct clf_state *st, const char *lease, bool again)
{
	const struct clf_lease *l = clf_store_find(st->store, lease);
	struct clf_error err = { 0 };
	CLF_AUTO_FREE char *token = l ? clf_state_token(st, l, &err) : NULL;

	if (!token)
		return clf_serve_error(
			err.code ? &err : &(struct clf_error){ .code = CLF_E_INTERNAL, .text = "lease lost" }, NULL);
	return dump(json_pack("{s:b,s:s,s:i,s:b,s:s}", "ok", true, "lease", lease, "failures", 0, "again", again,
			      "token", token));
}

static char *refused(const struct clf_state *st, const struct clf_run_result *r)
{
	return dump(json_pack("{s:b,s:s,s:s,s:s,s:s,s:I,s:b}", "ok", false, "code", clf_code_name(r->code), "text",
			      r->text, "advice", r->advice, "rule", r->rule, "failures", (json_int_t) r->failures,
			      "hold", r->failures >= st->conf->start_failures && r->code != CLF_E_EXHAUSTED));
}

char *clf_serve_lease(const struct clf_state *st, const char *lease, enum clf_serve_wait wait,
		      const struct clf_run_result *res)
{
	struct clf_error e = { .code = res->code };

	if (wait == CLF_WAIT_START)
		return res->granted ? granted(st, lease, false) : refused(st, res);
	if (res->code && wait == CLF_WAIT_RELEASE) {
		snprintf(e.text, sizeof e.text, "%.380s", res->text);
		return clf_serve_error(&e, "the lease is in release; closfoldd goes on trying");
	}
	/* prep has told us: what is left is ours */
	return dump(json_pack("{s:b,s:s,s:I,s:b}", "ok", true, "lease", lease, "failures", (json_int_t) res->failures,
			      "releasing", res->code != 0));
}

/* The answer comes when the fabrics have given theirs. */
static char *wait_for(struct clf_served_reply *out, const char *lease, enum clf_serve_wait wait)
{
	out->how = CLF_SERVED_LEASE;
	out->wait = wait;
	snprintf(out->lease, sizeof out->lease, "%s", lease);
	return strdup("");
}

static char *lease_open(struct clf_state *st, const json_t *q, struct clf_served_reply *out, struct clf_error *err)
{
	CLF_CLEANUP(clf_lease_destroyp) struct clf_lease *ask = lease_of(q, err);
	struct clf_run_result r;

	if (!ask || clf_run_start(&st->run, ask, &r, err))
		return NULL;
	if (r.pending)
		return wait_for(out, r.lease, CLF_WAIT_START);
	return r.granted ? granted(st, r.lease, r.again) : refused(st, &r);
}

static char *lease_close(struct clf_state *st, const json_t *q, struct clf_served_reply *out, struct clf_error *err)
{
	const char *reason = json_string_value(json_object_get(q, "reason"));
	struct clf_run_result r;
	uint32_t job_id;
	int64_t submit = 0;

	if (job_of(q, &job_id, &submit, err))
		return NULL;
	if (clf_run_end(&st->run, job_id, submit, reason && *reason ? reason : "ended", &r, err))
		return NULL;
	if (r.pending)
		return wait_for(out, r.lease, CLF_WAIT_END);
	return dump(json_pack("{s:b,s:s,s:I}", "ok", true, "lease", r.lease, "failures", (json_int_t) r.failures));
}

static char *lease_release(struct clf_state *st, const json_t *q, struct clf_served_reply *out, struct clf_error *err)
{
	const char *id = json_string_value(json_object_get(q, "lease"));
	struct clf_run_result r;

	if (!id)
		return clf_fail(err, CLF_E_INVALID, "'lease' is missing"), NULL;
	if (clf_run_release(&st->run, id, "released-by-admin", &r, err))
		return NULL;
	if (r.pending)
		return wait_for(out, r.lease, CLF_WAIT_RELEASE);
	return dump(json_pack("{s:b,s:s}", "ok", true, "lease", id));
}

/* A list shows how many; lease.show has them. */
static void without_ports(json_t *lease)
{
	json_t *net;
	size_t i;

	json_array_foreach(json_object_get(lease, "nets"), i, net)
	{
		json_object_set_new(net, "n_ports",
				    json_integer((json_int_t) json_array_size(json_object_get(net, "ports"))));
		json_object_del(net, "ports");
	}
}

static char *lease_show(struct clf_state *st, const json_t *q, struct clf_served_reply *out, struct clf_error *err)
{
	const char *id = json_string_value(json_object_get(q, "lease"));
	const struct clf_lease *l = id ? clf_store_find(st->store, id) : NULL;
	size_t ports = 0;
	json_t *j;

	if (!l)
		return clf_fail(err, CLF_E_NOTFOUND, "no lease '%.60s'", id ? id : ""), NULL;
	for (size_t i = 0; i < l->nnets; i++)
		ports += l->nets[i].ports.n;
	j = clf_lease_to_json(l);
	if (ports > PORTS_SHOWN)
		without_ports(j);
	return dump(json_pack("{s:b,s:o,s:I}", "ok", true, "lease", j, "failures",
			      (json_int_t) clf_store_failures(st->store, l->job_id, l->submit_time_s)));
}

static char *fabric_accept(struct clf_state *st, const json_t *q, struct clf_served_reply *out, struct clf_error *err)
{
	const char *node = json_string_value(json_object_get(q, "node"));
	json_auto_t *detail = json_pack("{s:s}", "node", node ? node : "");
	struct clf_record_facts f = { .event = CLF_EV_FINDING,
				      .finding = "finding.ports-accepted",
				      .ok = true,
				      .status_code = "accepted",
				      .message = "an admin accepted the ports that a node has now",
				      .detail = detail };

	if (!node || !*node)
		return clf_fail(err, CLF_E_INVALID, "'node' is missing"), NULL;
	if (clf_state_record(st, &f, err))
		return NULL;
	clf_known_accept(&st->fab.known, node);
	clf_fab_learn(&st->fab, node, st->run.facts ? st->run.facts(st, node) : NULL);
	return dump(json_pack("{s:b,s:s}", "ok", true, "node", node));
}

char *clf_serve_fabrics(const json_t *answers)
{
	return dump(json_pack("{s:b,s:O}", "ok", true, "fabrics", answers));
}

/* A page of leases; "next" is where the following page begins, null at the end. */
static char *lease_list(struct clf_state *st, const json_t *q, struct clf_served_reply *out, struct clf_error *err)
{
	bool all = json_is_true(json_object_get(q, "all"));
	json_auto_t *list = json_array();
	int64_t from = 0, job = 0;
	size_t i, bytes = 0;
	const struct clf_lease *l = NULL;

	if (number(q, "from", false, UINT32_MAX, &from, err) || number(q, "job_id", false, UINT32_MAX, &job, err))
		return NULL;
	for (i = (size_t) from; bytes < PAGE_BYTES && (l = clf_store_next(st->store, &i));) {
		json_t *j;

		if ((!all && !clf_lease_open(l)) || (job && l->job_id != job))
			continue;
		j = clf_lease_to_json(l);
		if (l->nodes && strlen(l->nodes) > 1024)
			json_object_set_new(j, "nodes", json_null()); /* lease.show has it */
		without_ports(j);
		bytes += 700 + (l->nodes ? strlen(l->nodes) % 1025 : 0) + 3 * (l->partition ? strlen(l->partition) : 0);
		if (json_array_append_new(list, j))
			return clf_fail(err, CLF_E_NOMEM, "out of memory"), NULL;
	}
	return dump(json_pack("{s:b,s:O,s:o}", "ok", true, "leases", list, "next",
			      l ? json_integer((json_int_t) i) : json_null()));
}

/* ---- records */

static void serve_record(struct clf_state *st, const struct clf_msg *m, struct clf_served_reply *out)
{
	struct clf_error err = { 0 };
	uint64_t sequence;
	bool known;
	int rc = clf_auditlog_append(st->log, m->body, m->len, &sequence, &known, &err);

	if (m->type == CLF_MSG_RECORD_ASYNC) {
		out->how = CLF_SERVED_NOTHING;
		if (rc)
			clf_log(st->sink, CLF_LOG_WARN, "record refused: %s", err.text);
		return;
	}
	out->how = rc ? CLF_SERVED_NOW : CLF_SERVED_COMMIT;
	if (rc)
		out->text = clf_serve_error(&err, NULL);
	else if (known)
		out->text = strdup("{\"known\":true,\"ok\":true}");
	else if (asprintf(&out->text, "{\"ok\":true,\"sequence\":%" PRIu64 "}", sequence) < 0)
		out->text = NULL;
}

static const struct op {
	const char *name;
	char *(*run)(struct clf_state *st, const json_t *q, struct clf_served_reply *out, struct clf_error *err);
} ops[] = {
	{ "lease.open", lease_open }, { "lease.close", lease_close }, { "lease.release", lease_release },
	{ "lease.show", lease_show }, { "lease.list", lease_list },   { "fabric.accept", fabric_accept },
};

static void serve_op(struct clf_state *st, const struct clf_peer *peer, const json_t *q, struct clf_served_reply *out)
{
	static const char *const fabric_ops[] = { "fabric.read", "fabric.verify", "fabric.check", "fabric.plan" };
	const char *name = json_string_value(json_object_get(q, "op"));
	const char *fabric = json_string_value(json_object_get(q, "fabric"));
	struct clf_error err = { 0 };

	out->how = CLF_SERVED_NOW;
	if (name && !strcmp(name, "status")) {
		out->text = dump(clf_serve_status(st, peer->trusted));
		return;
	}
	if (!peer->trusted) {
		clf_fail(&err, CLF_E_DENIED, "only root and the Slurm user may ask this of closfoldd");
		out->text = clf_serve_error(&err, NULL);
		return;
	}
	if (name && (!strcmp(name, "reconcile") || !strcmp(name, "policy.reload"))) {
		out->how = CLF_SERVED_LATER;
		strcpy(out->later_op, name);
		out->dry_run = json_is_true(json_object_get(q, "dry_run"));
		return;
	}
	for (size_t i = 0; name && i < sizeof fabric_ops / sizeof *fabric_ops; i++) {
		if (strcmp(fabric_ops[i], name) != 0)
			continue;
		out->how = CLF_SERVED_FABRIC;
		strcpy(out->later_op, name);
		snprintf(out->lease, sizeof out->lease, "%s", fabric ? fabric : "");
		return;
	}
	for (size_t i = 0; name && i < sizeof ops / sizeof *ops; i++) {
		if (strcmp(ops[i].name, name) != 0)
			continue;
		out->how = CLF_SERVED_COMMIT;
		out->text = ops[i].run(st, q, out, &err);
		if (!out->text)
			out->text = clf_serve_error(
				err.code ? &err : &(struct clf_error){ .code = CLF_E_NOMEM, .text = "out of memory" },
				NULL);
		if (err.code)
			out->how = CLF_SERVED_NOW;
		return;
	}
	clf_fail(&err, CLF_E_INVALID, "closfoldd knows no request '%.40s'", name ? name : "");
	out->text = clf_serve_error(&err, NULL);
}

static int parse(const struct clf_msg *m, json_t **out, struct clf_error *err)
{
	CLF_AUTO_FREE char *body = strndup(m->body, m->len);
	struct clf_text t = { 0 };
	struct clf_json_doc doc = { 0 };

	if (!body)
		return clf_fail(err, CLF_E_NOMEM, "out of memory");
	if (memchr(m->body, 0, m->len))
		return clf_fail(err, CLF_E_PARSE, "request holds a NUL byte");
	if (clf_text_from_string("request", body, &t, err) || clf_json_load_text(&t, &doc, err))
		return -1;
	if (json_is_object(doc.root))
		*out = json_incref(doc.root);
	else
		clf_fail(err, CLF_E_PARSE, "request is no JSON object");
	clf_json_doc_done(&doc);
	return *out ? 0 : -1;
}

void clf_serve(struct clf_state *st, const struct clf_peer *peer, const void *packet, size_t len,
	       struct clf_served_reply *out)
{
	struct clf_error err = { 0 };
	struct clf_msg m;
	json_auto_t *q = NULL;

	*out = (struct clf_served_reply){ .how = CLF_SERVED_HANGUP };
	if (clf_msg_decode(packet, len, &m, &err) || m.type == CLF_MSG_REPLY) {
		out->text = clf_serve_error(
			err.code ? &err : &(struct clf_error){ .code = CLF_E_PARSE, .text = "a reply to nothing" },
			NULL);
		return;
	}
	out->seq = m.seq;
	if (m.type != CLF_MSG_REQUEST && !peer->trusted) {
		clf_fail(&err, CLF_E_DENIED, "only root and the Slurm user may write records");
		out->text = clf_serve_error(&err, NULL);
		return;
	}
	if (m.type != CLF_MSG_REQUEST)
		serve_record(st, &m, out);
	else if (parse(&m, &q, &err))
		out->text = clf_serve_error(&err, NULL);
	else
		serve_op(st, peer, q, out);
}

/* ---- status, reconcile */

json_t *clf_serve_status(const struct clf_state *st, bool whole)
{
	const struct clf_store_facts *f = clf_store_facts(st->store);
	const struct clf_auditlog_head *h = clf_auditlog_head(st->log);
	const struct clf_inforce *in = st->inforce;
	json_t *j;

	if (!whole)
		return json_pack("{s:b,s:s,s:s,s:b,s:b}", "ok", true, "version", PACKAGE_VERSION, "cluster",
				 st->conf->cluster, "policy_in_force", in != NULL, "log_writable", !*st->log_error);
	j = json_pack("{s:b,s:s,s:s,s:i,s:I,s:I}", "ok", true, "version", PACKAGE_VERSION, "cluster", st->conf->cluster,
		      "pid", (int) getpid(), "started_ms", (json_int_t) st->started_ms, "epoch",
		      (json_int_t) clf_store_epoch(st->store));
	json_object_set_new(j, "log",
			    json_pack("{s:s,s:I,s:s,s:b,s:s}", "name", clf_auditlog_origin(st->log), "records",
				      (json_int_t) h->n, "head", h->hash, "writable", !*st->log_error, "error",
				      st->log_error));
	json_object_set_new(j, "policy",
			    json_pack("{s:b,s:s,s:s,s:I,s:s,s:I,s:s,s:s}", "in_force", in != NULL, "sha256",
				      in ? in->policy_sha256 : "", "id", in && in->policy->id ? in->policy->id : "",
				      "version", (json_int_t) (in ? in->policy->version : 0), "topology_sha256",
				      in ? in->topo_sha256 : "", "generation", (json_int_t) f->generation, "file",
				      st->conf->policy, "error", st->inforce_error));
	json_object_set_new(j, "topology",
			    json_pack("{s:s,s:I}", "file", st->conf->topology, "nodes",
				      (json_int_t) (in && in->topo ? clf_topo_nnodes(in->topo) : 0)));
	json_object_set_new(j, "leases", json_pack("{s:I}", "open", (json_int_t) clf_store_nopen(st->store)));
	json_object_set_new(j, "fabrics", clf_fab_status(&st->fab, &st->run));
	if (st->agents)
		json_object_set_new(j, "nodes", clf_agents_status(st->agents));
	json_object_set_new(j, "reconcile",
			    json_pack("{s:I,s:b,s:s,s:O*}", "last_ms", (json_int_t) st->reconcile.last_ms, "known",
				      st->reconcile.ok, "error", st->reconcile.text, "result", st->reconcile.result));
	return j;
}

/* Unknown is no answer: nothing is changed, and everybody is told. */
static char *unknown_jobs(struct clf_state *st, const struct clf_error *why)
{
	struct clf_error e = { 0 };

	if (st->reconcile.ok || strcmp(st->reconcile.text, why->text) != 0)
		clf_log(st->sink, CLF_LOG_WARN, "cannot reconcile, nothing is changed: %s", why->text);
	st->reconcile.ok = false;
	snprintf(st->reconcile.text, sizeof st->reconcile.text, "%s", why->text);
	clf_fail(&e, CLF_E_REMOTE, "Slurm's jobs are not known: %s", why->text);
	return clf_serve_error(&e, "nothing was changed");
}

char *clf_serve_reconcile(struct clf_state *st, const struct clf_buf *out, const struct clf_error *failed,
			  int64_t age_ms, bool dry_run)
{
	int64_t grace = st->conf->lease_grace_s * INT64_C(1000);
	struct clf_live_jobs jobs = { 0 };
	struct clf_text t = { 0 };
	struct clf_error why = { 0 };
	json_t *result = NULL;
	int rc;

	st->reconcile.last_ms = now_ms();
	if (failed->code)
		return unknown_jobs(st, failed);
	rc = clf_text_from_string("job list", out->data ? out->data : "", &t, &why) ||
	     clf_live_jobs_parse(&t, &jobs, &why);
	clf_text_done(&t);
	if (rc)
		return unknown_jobs(st, &why);
	st->reconcile.ok = true;
	st->reconcile.text[0] = '\0';
	rc = clf_run_reconcile(&st->run, &jobs, grace > age_ms + 1000 ? grace : age_ms + 1000, dry_run, &result, &why);
	clf_live_jobs_done(&jobs);
	if (rc)
		return clf_serve_error(&why, NULL);
	if (!dry_run) {
		json_decref(st->reconcile.result);
		st->reconcile.result = json_incref(result);
	}
	json_object_set_new(result, "ok", json_true());
	return dump(result);
}
