/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/state.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/hostlist.h"
#include "base/path.h"
#include "daemon/lease_check.h"
#include "policy/snapshot.h"

#define FACTS_EVERY_MS 1000          /* how far the ledger's memory of the log may lag */
#define DIGEST_NODES   1024u         /* the token goes through an environment variable: 128 KiB at most */
#define TOKEN_MS       (3600 * 1000) /* a signed lease opens a job's prologs this long */
#define GAP_GRACE_MS   10000         /* records of one producer may overtake each other this long */

static int64_t now_ms(void)
{
	return clf_clock_system.wall_ms(clf_clock_system.arg);
}

int clf_state_record(struct clf_state *st, struct clf_record_facts *f, struct clf_error *err)
{
	CLF_AUTO_FREE char *text = NULL;
	size_t len;
	uint64_t sequence;
	bool known;

	f->cluster = st->conf->cluster;
	f->process = f->producer = "closfoldd";
	f->producer_seq = st->producer_seq + 1;
	if (clf_record_make(f, &clf_clock_system, &text, &len, err) ||
	    clf_auditlog_append(st->log, text, len, &sequence, &known, err))
		return -1;
	st->producer_seq++;
	return 0;
}

static int run_record(void *arg, struct clf_record_facts *f, struct clf_error *err)
{
	return clf_state_record(arg, f, err);
}

static const json_t *run_facts(void *arg, const char *node)
{
	const struct clf_state *st = arg;

	return st->agents ? clf_agents_facts(st->agents, node, NULL) : NULL;
}

static json_t *run_env(void *arg, const struct clf_lease *l)
{
	return clf_state_env(arg, l);
}

static int run_eligible(void *arg, size_t fabric, const char *node, struct clf_error *why)
{
	struct clf_state *st = arg;

	if (clf_fab_fit(&st->fab, fabric, why))
		return -1;
	clf_fab_learn(&st->fab, node, run_facts(arg, node));
	return clf_known_eligible(&st->fab.known, st->fab.run[fabric].conf->name, node, why);
}

/* The ledger remembers the log's head with its next entry, and on its own once a second. */
static int remember_head(struct clf_state *st, struct clf_error *err)
{
	const struct clf_auditlog_head *h = clf_auditlog_head(st->log);
	struct clf_store_facts f = *clf_store_facts(st->store);

	if (f.log_n == h->n)
		return 0;
	f.log_n = h->n;
	memcpy(f.log_hash, h->hash, sizeof f.log_hash);
	st->facts_ms = now_ms();
	return clf_store_set_facts(st->store, &f, err);
}

static int commit_ledger(struct clf_state *st, struct clf_error *err)
{
	struct clf_error why = { 0 };

	if (!remember_head(st, &why) && !clf_store_commit(st->store, &why))
		return 0;
	st->fenced |= why.code == CLF_E_CONFLICT;
	return clf_fail(err, why.code, "%s", why.text);
}

int clf_state_commit(struct clf_state *st, struct clf_error *err)
{
	struct clf_error why = { 0 };
	bool dirty = clf_store_dirty(st->store);

	if (st->fenced)
		clf_fail(&why, CLF_E_CONFLICT, "another closfoldd has taken over the state directory");
	if (why.code || clf_auditlog_commit(st->log, &why) || (dirty && commit_ledger(st, &why))) {
		st->failed_commits++;
		snprintf(st->log_error, sizeof st->log_error, "%s", why.text);
		/* What is not durable is not so in memory either. */
		if (clf_store_dirty(st->store) && clf_store_rollback(st->store, &why))
			clf_log(st->sink, CLF_LOG_ERROR, "ledger cannot be read again: %s", why.text);
		return clf_fail(err, why.code, "%s", why.text);
	}
	st->log_error[0] = '\0';
	return 0;
}

static void report_gaps(struct clf_state *st)
{
	struct clf_gap g;

	while (clf_auditlog_gap(st->log, GAP_GRACE_MS, &g)) {
		char text[200];
		json_auto_t *detail =
			json_pack("{s:s,s:I,s:I,s:I}", "producer", g.name, "first", (json_int_t) g.first, "last",
				  (json_int_t) g.last, "count", (json_int_t) (g.last - g.first + 1));
		struct clf_record_facts f = {
			.event = CLF_EV_LOG_GAP, .status_code = "gap", .message = text, .detail = detail
		};
		struct clf_error why = { 0 };

		snprintf(text, sizeof text, "%" PRIu64 " records of %s never came", g.last - g.first + 1, g.name);
		if (clf_state_record(st, &f, &why))
			clf_log_error(st->sink, &why);
	}
}

void clf_state_tick(struct clf_state *st)
{
	struct clf_error why = { 0 };

	report_gaps(st);
	if (clf_known_save(&st->fab.known, &why))
		clf_log_error(st->sink, &why);
	if (clf_state_commit(st, &why) || (now_ms() - st->facts_ms >= FACTS_EVERY_MS && commit_ledger(st, &why)))
		clf_log_error(st->sink, &why);
}

static int find_slurm_user(struct clf_state *st, struct clf_error *err)
{
	struct passwd pw, *found = NULL;
	char buf[4096];

	if (getpwnam_r(st->conf->slurm_user, &pw, buf, sizeof buf, &found) || !found)
		return clf_fail(err, CLF_E_NOTFOUND, "slurm_user '%s' is no user of this host", st->conf->slurm_user);
	st->slurm_uid = found->pw_uid;
	return 0;
}

static int open_log(struct clf_state *st, bool accept_damage, struct clf_auditlog_torn *torn, struct clf_error *err)
{
	const struct clf_store_facts *f = clf_store_facts(st->store);
	struct clf_auditlog_head known = { .n = f->log_n };
	char dir[PATH_MAX], origin[CLF_AUDITLOG_ORIGIN_MAX + 1], host[128] = "localhost";

	memcpy(known.hash, f->log_hash, sizeof known.hash);
	if (gethostname(host, sizeof host - 1))
		strcpy(host, "localhost");
	snprintf(origin, sizeof origin, "%.64s/closfold/%.120s", st->conf->cluster, host);
	if (snprintf(dir, sizeof dir, "%s/log", st->conf->state_dir) >= (int) sizeof dir)
		return clf_fail(err, CLF_E_INVALID, "path of the log is too long");

	struct clf_auditlog_options o = { .dir = dir,
					  .origin = origin,
					  .clock = &clf_clock_system,
					  .known = known.n ? &known : NULL,
					  .accept_damage = accept_damage };

	return clf_auditlog_open(&o, torn, &st->log, err);
}

static int record_torn(struct clf_state *st, const struct clf_auditlog_torn *t, struct clf_error *err)
{
	char text[200];
	json_auto_t *detail = json_pack("{s:s,s:I,s:I,s:I,s:I,s:s}", "file", t->file, "sequence",
					(json_int_t) t->sequence, "offset", (json_int_t) t->offset, "bytes",
					(json_int_t) t->bytes, "lines", (json_int_t) t->lines, "sha256", t->sha256);
	struct clf_record_facts f = {
		.event = CLF_EV_LOG_TORN, .ok = true, .status_code = "torn-tail", .message = text, .detail = detail
	};

	if (!detail)
		return clf_fail(err, CLF_E_NOMEM, "out of memory");
	snprintf(text, sizeof text, "%" PRIu64 " bytes of an unacknowledged write cut off the end of %s", t->bytes,
		 t->file);
	clf_log(st->sink, CLF_LOG_WARN, "%s", text);
	return clf_state_record(st, &f, err);
}

static int record_start(struct clf_state *st, bool accept_damage, struct clf_error *err)
{
	json_auto_t *detail = json_pack("{s:I,s:s,s:I,s:b}", "epoch", (json_int_t) clf_store_epoch(st->store),
					"log_name", clf_auditlog_origin(st->log), "ledger_torn_bytes",
					(json_int_t) clf_store_torn_bytes(st->store), "damage_accepted", accept_damage);
	struct clf_record_facts f = { .event = CLF_EV_LOG_START,
				      .ok = !accept_damage,
				      .status_code = accept_damage ? "damage-accepted" : "started",
				      .message = "closfoldd started",
				      .detail = detail };

	if (!detail)
		return clf_fail(err, CLF_E_NOMEM, "out of memory");
	return clf_state_record(st, &f, err);
}

static int open_key(struct clf_state *st, struct clf_error *err)
{
	char path[PATH_MAX], public[PATH_MAX];

	if (snprintf(path, sizeof path, "%s/lease.key", st->conf->state_dir) >= (int) sizeof path ||
	    snprintf(public, sizeof public, "%s/lease.pub", st->conf->state_dir) >= (int) sizeof public)
		return clf_fail(err, CLF_E_INVALID, "path of the key of leases is too long");
	return clf_sign_key_open(path, public, &st->key, err);
}

/* "eth0,eth1": the NICs of the net's ports, the same on all its nodes as far as the configuration goes. false: not
 * known, or too many. */
static bool interfaces(const struct clf_run_fabric *f, const struct clf_lease_net *net, char *out, size_t size)
{
	size_t len = 0;

	for (size_t i = 0; f->driver->nic && i < net->ports.n; i++) {
		const char *nic = f->driver->nic(f->self, net->ports.v[i]), *at = nic ? strstr(out, nic) : NULL;
		size_t n = nic ? strlen(nic) : 0;

		while (at && ((at > out && at[-1] != ',') || (at[n] && at[n] != ',')))
			at = strstr(at + 1, nic);
		if (at)
			continue;
		if (!nic || len + n + 2 > size)
			return false;
		len += (size_t) snprintf(out + len, size - len, "%s%s", len ? "," : "", nic);
	}
	return len > 0;
}

/* Index 0 holds the key (docs/drivers/opensm.md): what software takes by itself, said for those that ask. */
static json_t *step_env(const struct clf_run_fabric *f, const struct clf_lease_net *net)
{
	char list[200] = "";

	if (f->conf->env)
		return json_deep_copy(f->conf->env);
	if (!strcmp(f->conf->driver, "opensm"))
		return json_pack("{s:s,s:s}", "NCCL_IB_PKEY", "0", "UCX_IB_PKEY", "%k");
	if (!interfaces(f, net, list, sizeof list))
		return NULL;
	/* "=": these names, not names that begin so (NCCL's environment variables) */
	return json_pack("{s:o,s:s,s:s}", "NCCL_SOCKET_IFNAME", json_sprintf("=%s", list), "GLOO_SOCKET_IFNAME", list,
			 "UCX_NET_DEVICES", list);
}

json_t *clf_state_env(const struct clf_state *st, const struct clf_lease *l)
{
	json_t *all = json_object();

	for (size_t i = 0; all && i < l->nnets; i++) {
		size_t f = clf_fab_find(&st->fab, l->nets[i].fabric);
		json_auto_t *env = f < st->fab.n ? step_env(&st->fab.run[f], &l->nets[i]) : NULL;

		if (env && json_object_update(all, env)) {
			json_decref(all);
			return NULL;
		}
	}
	return all;
}

/* Digests of the ports that the lease's nodes reported, in their order; NULL where they are the configuration's word,
 * or too many. */
static char *port_digests(const struct clf_state *st, const struct clf_lease *l, const struct clf_fabric_conf *c)
{
	CLF_CLEANUP(clf_strv_done) struct clf_strv hosts = { 0 };
	struct clf_buf out = CLF_BUF_INIT(DIGEST_NODES * CLF_PORTS_DIGEST + 1);
	bool any = false;

	if (clf_hostlist_expand(l->nodes ? l->nodes : "", DIGEST_NODES, &hosts, NULL))
		return NULL;
	for (size_t i = 0; i < hosts.n; i++) {
		const struct clf_strv *ports = clf_known_reported(&st->fab.known, c->name, hosts.v[i]);
		char digest[CLF_PORTS_DIGEST + 1] = "----------------";

		if (ports)
			clf_ports_digest(ports, digest);
		any |= ports != NULL;
		if (clf_buf_puts(&out, digest, NULL)) {
			clf_buf_done(&out);
			return NULL;
		}
	}
	if (any)
		return clf_buf_steal(&out);
	clf_buf_done(&out);
	return NULL;
}

char *clf_state_token(const struct clf_state *st, const struct clf_lease *l, struct clf_error *err)
{
	json_auto_t *nets = json_array(), *j = NULL;
	CLF_AUTO_FREE char *body = NULL;
	char *token = NULL;

	for (size_t i = 0; i < l->nnets; i++) {
		size_t f = clf_fab_find(&st->fab, l->nets[i].fabric);
		const struct clf_fabric_conf *c = f < st->fab.n ? st->fab.run[f].conf : NULL;

		CLF_AUTO_FREE char *digests = c ? port_digests(st, l, c) : NULL;

		if (json_array_append_new(nets, json_pack("{s:s,s:s,s:i,s:s*,s:s*,s:o*}", "fabric", l->nets[i].fabric,
							  "driver", c ? c->driver : "", "key", (int) l->nets[i].key,
							  "nodes", c ? c->nodes : NULL, "ports", digests, "env",
							  c ? step_env(&st->fab.run[f], &l->nets[i]) : NULL)))
			return clf_fail(err, CLF_E_NOMEM, "out of memory"), NULL;
	}
	j = json_pack("{s:i,s:s,s:s,s:I,s:I,s:s,s:O,s:I}", "v", 1, "cluster", st->conf->cluster, "lease", l->id,
		      "job_id", (json_int_t) l->job_id, "submit_time", (json_int_t) l->submit_time_s, "nodes",
		      l->nodes ? l->nodes : "", "nets", nets, "not_after_ms", (json_int_t) (now_ms() + TOKEN_MS));
	body = j ? clf_json_canonical(j) : NULL;
	if (!body)
		return clf_fail(err, CLF_E_NOMEM, "out of memory"), NULL;
	return clf_sign_token(st->key, body, &token, err) ? NULL : token;
}

/* A lease whose key is no longer its fabric's: the driver would refuse everything on it. */
static int keys_in_range(const struct clf_state *st, struct clf_error *err)
{
	const struct clf_lease *l;

	for (size_t i = 0; (l = clf_store_next(st->store, &i));)
		for (size_t n = 0; clf_lease_open(l) && n < l->nnets; n++) {
			size_t f = clf_fab_find(&st->fab, l->nets[n].fabric);
			const struct clf_fabric_conf *c = f < st->fab.n ? st->fab.run[f].conf : NULL;

			if (c && (l->nets[n].key < c->key_min || l->nets[n].key > c->key_max))
				return clf_fail(err, CLF_E_PARSE,
						"fabrics.json: lease %s of job %" PRIu32
						" has key 0x%04x of fabric '%s', which is not "
						"in 'keys' any more; put it back until that job has ended",
						l->id, l->job_id, l->nets[n].key, c->name);
		}
	return 0;
}

int clf_state_open(struct clf_state *st, const struct clf_conf *conf, bool accept_damage, const struct clf_log *sink,
		   struct clf_error *err)
{
	struct clf_auditlog_torn torn = { 0 };

	*st = (struct clf_state){ .conf = conf, .sink = sink, .started_ms = now_ms() };
	st->run = (struct clf_run){ .clock = &clf_clock_system,
				    .cluster = conf->cluster,
				    .record = run_record,
				    .facts = run_facts,
				    .eligible = run_eligible,
				    .env = run_env,
				    .arg = st };
	if (find_slurm_user(st, err) || clf_store_open(conf->state_dir, &st->store, err) ||
	    open_log(st, accept_damage, &torn, err))
		return -1;
	st->run.store = st->store;
	if ((torn.bytes && record_torn(st, &torn, err)) || record_start(st, accept_damage, err))
		return -1;
	if (open_key(st, err) || clf_fab_open(&st->fab, conf, sink, err) || keys_in_range(st, err) ||
	    clf_state_commit(st, err))
		return -1;
	st->run.fabrics = st->fab.run;
	st->run.nfabrics = st->fab.n;
	return commit_ledger(st, err);
}

void clf_state_close(struct clf_state *st)
{
	struct clf_error why = { 0 };

	if (st->log && st->store && !st->fenced) {
		struct clf_record_facts f = {
			.event = CLF_EV_LOG_STOP, .ok = true, .status_code = "stopped", .message = "closfoldd stopped"
		};

		if (clf_state_record(st, &f, &why) || clf_state_commit(st, &why) || commit_ledger(st, &why))
			clf_log_error(st->sink, &why);
	}
	clf_run_done(&st->run);
	clf_fab_close(&st->fab);
	clf_sign_key_destroy(st->key);
	json_decref(st->reconcile.result);
	clf_inforce_destroy(st->inforce);
	clf_auditlog_close(st->log);
	clf_store_close(st->store);
	memset(st, 0, sizeof *st);
}

/* A broken file is recorded once, not each second. */
static void reject(struct clf_state *st, const struct clf_inforce *n)
{
	char place[600];
	json_auto_t *detail = json_pack("{s:s,s:s}", "error", clf_error_string(&n->error, place, sizeof place),
					"in_force", st->inforce ? st->inforce->policy_sha256 : "");
	struct clf_record_facts f = { .event = CLF_EV_POLICY_REJECT,
				      .status_code = clf_code_name(n->error.code),
				      .message = place,
				      .policy_sha256 = st->inforce ? st->inforce->policy_sha256 : NULL,
				      .detail = detail };
	struct clf_error why = { 0 };

	if (!strcmp(place, st->inforce_error))
		return;
	snprintf(st->inforce_error, sizeof st->inforce_error, "%s", place);
	clf_log(st->sink, CLF_LOG_ERROR, "new policy or topology is not taken, %s: %s",
		st->inforce ? "the old one stays in force" : "none is in force", place);
	if (clf_state_record(st, &f, &why) || clf_state_commit(st, &why))
		clf_log_error(st->sink, &why);
}

static int record_apply(struct clf_state *st, const struct clf_inforce *n, uint64_t generation, struct clf_error *err)
{
	char text[200];
	json_auto_t *detail = json_pack("{s:s,s:s,s:s,s:I,s:s,s:I}", "new_sha256", n->policy_sha256, "old_sha256",
					clf_store_facts(st->store)->policy_sha256, "topology_sha256", n->topo_sha256,
					"generation", (json_int_t) generation, "id", n->policy->id ? n->policy->id : "",
					"version", (json_int_t) n->policy->version);
	struct clf_record_facts f = { .event = CLF_EV_POLICY_APPLY,
				      .ok = true,
				      .status_code = "applied",
				      .message = text,
				      .policy_sha256 = n->policy_sha256,
				      .detail = detail };

	if (!detail)
		return clf_fail(err, CLF_E_NOMEM, "out of memory");
	snprintf(text, sizeof text, "policy %.100s version %u in force", n->policy->id ? n->policy->id : "?",
		 n->policy->version);
	return clf_state_record(st, &f, err);
}

static int publish(struct clf_state *st, const struct clf_inforce *n, uint64_t generation, struct clf_error *err)
{
	char dir[PATH_MAX];

	if (snprintf(dir, sizeof dir, "%s/snapshot", st->conf->state_dir) >= (int) sizeof dir)
		return clf_fail(err, CLF_E_INVALID, "path of the snapshot is too long");
	if (clf_path_mkdirs(dir, 0755, err))
		return -1;
	return clf_snapshot_publish(dir, generation, n->policy_sha256, n->policy_text,
				    n->topo_text ? n->topo_sha256 : NULL, n->topo_text, err);
}

/* Recorded and durable first, then published, then used here. */
static int apply(struct clf_state *st, const struct clf_inforce *n, struct clf_error *err)
{
	struct clf_store_facts f = *clf_store_facts(st->store);
	bool same = !strcmp(f.policy_sha256, n->policy_sha256) && !strcmp(f.topology_sha256, n->topo_sha256);

	if (!same) {
		f.generation++;
		strcpy(f.policy_sha256, n->policy_sha256);
		strcpy(f.topology_sha256, n->topo_sha256);
		if (record_apply(st, n, f.generation, err) || clf_store_set_facts(st->store, &f, err) ||
		    clf_state_commit(st, err))
			return -1;
	}
	return publish(st, n, f.generation, err);
}

void clf_state_take_inforce(struct clf_state *st, struct clf_inforce *n)
{
	struct clf_error why = { 0 };

	if (!n->error.code && apply(st, n, &why))
		n->error = why;
	if (n->error.code) {
		reject(st, n);
		clf_inforce_destroy(n);
		return;
	}
	if (!st->inforce || strcmp(st->inforce->policy_sha256, n->policy_sha256) != 0 ||
	    strcmp(st->inforce->topo_sha256, n->topo_sha256) != 0)
		clf_log(st->sink, CLF_LOG_INFO, "policy %.12s in force, generation %" PRIu64, n->policy_sha256,
			clf_store_facts(st->store)->generation);
	clf_inforce_destroy(st->inforce);
	st->inforce = n;
	for (size_t i = 0; i < n->nodes.n; i++)
		clf_fab_learn(&st->fab, n->nodes.v[i], run_facts(st, n->nodes.v[i]));
	st->inforce_error[0] = '\0';
	st->run.site = n->site;
	st->run.nodes = &n->nodes;
	st->run.policy_sha256 = n->policy_sha256;
}
