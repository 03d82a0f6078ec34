/* SPDX-License-Identifier: GPL-2.0-or-later */
/* run_net.c - keys and ports for a lease, and what fabrics answer. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/hostlist.h"
#include "engine/run_priv.h"
#include "lease/keypool.h"

/* ---- nets */

int clf_run_net_of(const struct clf_lease *l, const char *fabric, struct clf_net *out, struct clf_error *err)
{
	const struct clf_lease_net *n = clf_lease_net(l, fabric);
	struct clf_net net = { 0 };

	if (!n)
		return clf_fail(err, CLF_E_NOTFOUND, "lease %s has no network on fabric '%s'", l->id, fabric);
	memcpy(net.lease, l->id, sizeof l->id);
	net.job_id = l->job_id;
	net.key = n->key;
	for (size_t i = 0; i < n->ports.n; i++)
		if (clf_strv_add(&net.ports, n->ports.v[i], err)) {
			clf_net_done(&net);
			return -1;
		}
	*out = net;
	return 0;
}

static bool wanted(const struct clf_lease *l)
{
	return l->state == CLF_LEASE_REQUESTED || l->state == CLF_LEASE_GRANTED;
}

int clf_run_nets(const struct clf_run *r, size_t fabric, struct clf_net **nets, size_t *n, struct clf_error *err)
{
	const char *name = r->fabrics[fabric].conf->name;
	const struct clf_lease *l;
	struct clf_net *v = NULL;
	size_t count = 0;
	int rc = 0;

	for (size_t i = 0; !rc && (l = clf_store_next(r->store, &i));) {
		void *more;

		if (!wanted(l) || !clf_lease_net(l, name))
			continue;
		more = realloc(v, (count + 1) * sizeof *v);
		rc = more ? 0 : clf_fail(err, CLF_E_NOMEM, "out of memory");
		if (more)
			v = more;
		rc = rc || clf_run_net_of(l, name, &v[count], err) ? -1 : 0;
		count += !rc;
	}
	if (rc) {
		while (count)
			clf_net_done(&v[--count]);
		free(v);
		return -1;
	}
	*nets = v;
	*n = count;
	return 0;
}

bool clf_run_fabric_has(const struct clf_run_fabric *f, const char *node)
{
	return !f->nodes.cap || clf_strmap_find(&f->nodes, node, &(uint32_t){ 0 });
}

/* ---- reserve */

/* Ports of the lease's nodes that are on this fabric. */
static int ports_of(struct clf_run *r, const struct clf_run_fabric *f, const struct clf_strv *hosts,
		    struct clf_strv *ports, struct clf_error *why)
{
	for (size_t i = 0; i < hosts->n; i++) {
		const json_t *facts = r->facts ? r->facts(r->arg, hosts->v[i]) : NULL;

		if (!clf_run_fabric_has(f, hosts->v[i]))
			continue;
		if (f->driver->ports(f->self, hosts->v[i], facts, ports, why) ||
		    (r->eligible && r->eligible(r->arg, (size_t) (f - r->fabrics), hosts->v[i], why)))
			return -1;
	}
	return 0;
}

/* A port is in one network at a time. The lease that has it may be of a job that Slurm has forgotten. */
static int not_held(struct clf_run *r, const struct clf_lease *mine, const char *fabric, const struct clf_strv *ports,
		    struct clf_error *why)
{
	CLF_CLEANUP(clf_strmap_done) struct clf_strmap set = { 0 };
	const struct clf_lease *l;
	uint32_t ignored;

	for (size_t i = 0; i < ports->n; i++)
		if (clf_strmap_set(&set, ports->v[i], 0, why))
			return -1;
	for (size_t i = 0; (l = clf_store_next(r->store, &i));) {
		const struct clf_lease_net *n = wanted(l) ? clf_lease_net(l, fabric) : NULL;

		for (size_t p = 0; n && strcmp(l->id, mine->id) != 0 && p < n->ports.n; p++) {
			if (!clf_strmap_find(&set, n->ports.v[p], &ignored))
				continue;
			r->hurry = true;
			return clf_fail(why, CLF_E_CONFLICT,
					"port '%s' is in the network of job %" PRIu32 " (lease %s)", n->ports.v[p],
					l->job_id, l->id);
		}
	}
	return 0;
}

/* Components of one het job share a key: they are one job. */
static uint16_t group_key(const struct clf_run *r, const struct clf_lease *mine, const char *fabric)
{
	const struct clf_lease *l;

	for (size_t i = 0; mine->het_job_id && (l = clf_store_next(r->store, &i));) {
		const struct clf_lease_net *n = clf_lease_net(l, fabric);

		if (n && wanted(l) && l->het_job_id == mine->het_job_id && l->uid == mine->uid &&
		    l->het_offset != mine->het_offset && l->submit_time_s == mine->submit_time_s)
			return n->key;
	}
	return 0;
}

static int reserve_on(struct clf_run *r, const struct clf_run_fabric *f, struct clf_lease *l,
		      const struct clf_strv *hosts, struct clf_error *why)
{
	CLF_CLEANUP(clf_strv_done) struct clf_strv ports = { 0 };
	const struct clf_keypool pool = { f->conf->name, f->conf->key_min, f->conf->key_max,
					  f->conf->cool_down_s * INT64_C(1000) };
	uint16_t key = group_key(r, l, f->conf->name);

	if (ports_of(r, f, hosts, &ports, why) || not_held(r, l, f->conf->name, &ports, why))
		return -1;
	/* a driver that has no ports for nodes it knows closes nothing (null): no key is spent on it */
	if (!ports.n)
		return 0;
	if (!key && clf_keypool_next(r->store, &pool, clf_run_now(r), &key, why))
		return -1;
	return clf_lease_add_net(l, f->conf->name, key, &ports, why);
}

static bool on_any(const struct clf_run *r, const char *node)
{
	for (size_t i = 0; i < r->nfabrics; i++)
		if (clf_run_fabric_has(&r->fabrics[i], node))
			return true;
	return false;
}

int clf_run_reserve(struct clf_run *r, struct clf_lease *l, struct clf_error *why)
{
	CLF_CLEANUP(clf_strv_done) struct clf_strv hosts = { 0 };

	if (!r->nfabrics)
		return 0;
	if (!l->nodes || clf_hostlist_expand(l->nodes, CLF_MAX_NODES, &hosts, why))
		return clf_fail(why, CLF_E_INVALID, "the job's nodes are not known");
	for (size_t i = 0; i < hosts.n; i++)
		if (!on_any(r, hosts.v[i]))
			return clf_fail(why, CLF_E_DENIED, "node '%s' is on no fabric of fabrics.json", hosts.v[i]);
	for (size_t i = 0; i < r->nfabrics; i++)
		if (reserve_on(r, &r->fabrics[i], l, &hosts, why))
			return -1;
	return 0;
}

/* ---- pending */

static void *grown(void *v, size_t n, size_t *cap, size_t size)
{
	size_t want = *cap ? 2 * *cap : 32;
	void *p = n < *cap ? v : realloc(v, want * size);

	if (p && n >= *cap)
		*cap = want;
	return p;
}

struct clf_run_pending *clf_run_find(struct clf_run *r, const char *lease, enum clf_run_what what)
{
	for (size_t i = 0; i < r->npending; i++)
		if (r->pending[i].what == what && !strcmp(r->pending[i].lease, lease))
			return &r->pending[i];
	return NULL;
}

void clf_run_drop(struct clf_run *r, struct clf_run_pending *p)
{
	json_decref(p->evidence);
	*p = r->pending[--r->npending];
}

static size_t fabric_index(const struct clf_run *r, const char *name)
{
	size_t i = 0;

	while (i < r->nfabrics && strcmp(r->fabrics[i].conf->name, name) != 0)
		i++;
	return i;
}

static int post(struct clf_run *r, size_t fabric, enum clf_net_op op, const char *lease, struct clf_error *err)
{
	void *v = grown(r->outbox, r->noutbox, &r->outbox_cap, sizeof *r->outbox);

	if (!v)
		return clf_fail(err, CLF_E_NOMEM, "out of memory");
	r->outbox = v;
	r->outbox[r->noutbox] = (struct clf_run_task){ .fabric = fabric, .op = op };
	snprintf(r->outbox[r->noutbox++].lease, CLF_LEASE_ID, "%s", lease);
	return 0;
}

int clf_run_dispatch(struct clf_run *r, const struct clf_lease *l, enum clf_run_what what, struct clf_error *err)
{
	void *v = grown(r->pending, r->npending, &r->pending_cap, sizeof *r->pending);
	struct clf_run_pending *p;
	bool unknown = false;

	if (!v)
		return clf_fail(err, CLF_E_NOMEM, "out of memory");
	r->pending = v;
	p = &r->pending[r->npending];
	*p = (struct clf_run_pending){ .what = what, .evidence = json_array() };
	snprintf(p->lease, sizeof p->lease, "%s", l->id);
	if (!p->evidence)
		return clf_fail(err, CLF_E_NOMEM, "out of memory");
	r->npending++;
	for (size_t i = 0; i < l->nnets; i++) {
		size_t f = fabric_index(r, l->nets[i].fabric);

		unknown |= f == r->nfabrics;
		if (f == r->nfabrics)
			continue;
		if (post(r, f, what == CLF_RUN_CLOSING ? CLF_NET_CLOSE : CLF_NET_OPEN, l->id, err))
			return -1;
		p->waiting |= 1u << f;
	}
	if (unknown) /* nobody can confirm its release: it stays in release, and its key in use */
		clf_fail(&p->error, CLF_E_NOTFOUND, "a fabric of lease %s is no longer in fabrics.json: put it back",
			 l->id);
	if (unknown && !p->waiting)
		p->waiting = UINT32_C(1) << 31; /* answered by nobody; tick() looks again */
	return 0;
}

/* All fabrics of the lease are asked: the word of one does not stand for the others. */
int clf_run_recheck(struct clf_run *r, size_t fabric, struct clf_error *err)
{
	const struct clf_lease *l;

	for (size_t i = 0; (l = clf_store_next(r->store, &i));)
		if (l->state == CLF_LEASE_GRANTED && clf_lease_net(l, r->fabrics[fabric].conf->name) &&
		    !clf_run_find(r, l->id, CLF_RUN_CHECKING) && clf_run_dispatch(r, l, CLF_RUN_CHECKING, err))
			return -1;
	return 0;
}

bool clf_run_take(struct clf_run *r, size_t fabric, struct clf_run_task *out)
{
	for (size_t i = 0; i < r->noutbox; i++) {
		const struct clf_lease *l;
		struct clf_run_pending *p;

		if (r->outbox[i].fabric != fabric)
			continue;
		*out = r->outbox[i];
		memmove(&r->outbox[i], &r->outbox[i + 1], (--r->noutbox - i) * sizeof *r->outbox);
		l = clf_store_find(r->store, out->lease);
		/* overtaken by its own end: not begun at all */
		if (l && (out->op == CLF_NET_CLOSE || wanted(l)))
			return true;
		p = clf_run_find(r, out->lease, CLF_RUN_CHECKING);
		if (p)
			clf_run_drop(r, p);
		i--;
	}
	return false;
}

void clf_run_forget(struct clf_run *r)
{
	for (size_t i = 0; i < r->noutbox; i++)
		for (size_t p = r->npending; p-- > 0;)
			if (!strcmp(r->pending[p].lease, r->outbox[i].lease) &&
			    (r->pending[p].what == CLF_RUN_CLOSING) == (r->outbox[i].op == CLF_NET_CLOSE))
				clf_run_drop(r, &r->pending[p]);
	r->noutbox = 0;
}

/* ---- answers */

static int keep_evidence(struct clf_run *r, struct clf_run_pending *p, size_t fabric, const struct clf_net_task *a,
			 struct clf_error *err)
{
	const struct clf_run_fabric *f = &r->fabrics[fabric];
	const struct clf_net *n = a->net;

	if (json_array_append_new(p->evidence,
				  json_pack("{s:s,s:s,s:i,s:I,s:s,s:s,s:b,s:O*}", "fabric", f->conf->name, "driver",
					    f->driver->name, "key", n ? (int) n->key : 0, "n_ports",
					    (json_int_t) (n ? n->ports.n : 0), "word",
					    a->error.code ? clf_code_name(a->error.code) : a->report.word, "text",
					    a->error.code ? a->error.text : a->report.text, "programmed",
					    a->report.programmed, "detail", a->report.detail)))
		return clf_fail(err, CLF_E_NOMEM, "out of memory");
	if (a->error.code && !p->error.code)
		p->error = a->error;
	p->programmed |= a->report.programmed;
	if (!*p->word || strcmp(p->word, "verified") == 0) {
		memcpy(p->word, a->report.word, sizeof p->word);
		memcpy(p->text, a->report.text, sizeof p->text);
	}
	return 0;
}

/* A network could not be proven: it is taken down again, and the job is told why. */
static int not_opened(struct clf_run *r, struct clf_lease *l, const struct clf_error *error, const json_t *fabrics,
		      const json_t *nodes, struct clf_error *err)
{
	struct clf_error why = *error; /* it may lie in what is dropped below */
	struct clf_run_result res = { 0 };
	bool done = false;

	if (clf_run_record(r, l, CLF_EV_NET_VERIFY, false, clf_code_name(why.code), why.text,
			   clf_run_evidence(l, fabrics, nodes), NULL, err) ||
	    clf_run_refuse(
		    r, l, why.code, "network-unverified", why.text,
		    "the job is tried again; the admin sees more with 'closfold lease list' and 'closfold fabric "
		    "verify'",
		    &res, err) ||
	    clf_run_finish(r, l, "network-unverified", &done, err))
		return -1;
	r->verdict(r->arg, l->id, CLF_NET_OPEN, &res);
	return 0;
}

static int granted(struct clf_run *r, struct clf_lease *l, struct clf_run_pending *p, const json_t *nodes,
		   struct clf_error *err)
{
	struct clf_run_result res = { 0 };

	if (clf_run_grant(r, l, p, nodes, &res, err))
		return -1;
	clf_run_drop(r, p);
	r->verdict(r->arg, l->id, CLF_NET_OPEN, &res);
	return 0;
}

static bool must_ask_nodes(const struct clf_run *r, const struct clf_lease *l, const char **fabric)
{
	for (size_t i = 0; i < r->nfabrics; i++)
		if (clf_lease_net(l, r->fabrics[i].conf->name) &&
		    (r->fabrics[i].conf->attest == CLF_RUNG_REQUIRE || r->fabrics[i].conf->probe == CLF_RUNG_REQUIRE)) {
			*fabric = r->fabrics[i].conf->name;
			return true;
		}
	return false;
}

static int opened(struct clf_run *r, struct clf_lease *l, struct clf_run_pending *p, struct clf_error *err)
{
	json_auto_t *fabrics = json_incref(p->evidence);
	struct clf_error why = p->error;
	const char *fabric = NULL;

	if (!why.code && !r->verify_nodes && must_ask_nodes(r, l, &fabric))
		clf_fail(&why, CLF_E_REMOTE,
			 "fabric '%s' requires the nodes' own word, and no node daemon is configured: set 'listen'",
			 fabric);
	if (!why.code && r->verify_nodes) {
		p->what = CLF_RUN_ATTESTING;
		if (!r->verify_nodes(r->arg, l, &why))
			return 0;
	}
	if (why.code) {
		clf_run_drop(r, p);
		return not_opened(r, l, &why, fabrics, NULL, err);
	}
	return granted(r, l, p, NULL, err);
}

/* A release that is not verified is recorded when it begins to fail, not at each try. */
static int closed(struct clf_run *r, struct clf_lease *l, struct clf_run_pending *p, struct clf_error *err)
{
	json_auto_t *fabrics = json_incref(p->evidence);
	struct clf_run_result res = { 0 };
	struct clf_error why = p->error;
	char word[32], text[200];

	memcpy(word, p->word, sizeof word);
	memcpy(text, p->text, sizeof text);
	clf_run_drop(r, p);
	snprintf(res.lease, sizeof res.lease, "%s", l->id);
	if (!why.code) {
		if (clf_run_close(r, l, word, text, clf_run_evidence(l, fabrics, NULL), err))
			return -1;
	} else {
		res.code = why.code;
		snprintf(res.text, sizeof res.text, "%s", why.text);
		if (!l->fabric || strcmp(l->fabric, clf_code_name(why.code)) != 0) {
			if (clf_run_record(r, l, CLF_EV_NET_RELEASE, false, clf_code_name(why.code), why.text,
					   clf_run_evidence(l, fabrics, NULL), NULL, err) ||
			    clf_lease_set(&l->fabric, clf_code_name(why.code), err) || clf_store_put(r->store, l, err))
				return -1;
		}
	}
	r->verdict(r->arg, l->id, CLF_NET_CLOSE, &res);
	return 0;
}

/* The network of a running job, looked at again. What was repaired and what is lost is recorded once. */
static int checked(struct clf_run *r, struct clf_lease *l, struct clf_run_pending *p, struct clf_error *err)
{
	json_auto_t *fabrics = json_incref(p->evidence);
	struct clf_error why = p->error;
	bool was_lost = l->fabric && !strcmp(l->fabric, "lost");
	char text[300];

	clf_run_drop(r, p);
	if (l->state != CLF_LEASE_GRANTED || (why.code != 0) == was_lost)
		return 0;
	snprintf(text, sizeof text, "network of running job %" PRIu32 " %s%s%.180s", l->job_id,
		 why.code ? "is not proven any more" : "is proven again", why.code ? ": " : "",
		 why.code ? why.text : "");
	if (clf_run_record(r, l, CLF_EV_FINDING, !why.code, why.code ? clf_code_name(why.code) : "restored", text,
			   clf_run_evidence(l, fabrics, NULL),
			   why.code ? "finding.isolation-lost" : "finding.isolation-restored", err) ||
	    clf_lease_set(&l->fabric, why.code ? "lost" : "verified", err))
		return -1;
	return clf_store_put(r->store, l, err);
}

static struct clf_run_pending *waits_for(struct clf_run *r, const struct clf_run_task *t)
{
	const enum clf_run_what whats[] = { CLF_RUN_OPENING, CLF_RUN_CHECKING, CLF_RUN_CLOSING };

	for (size_t i = 0; i < 3; i++) {
		struct clf_run_pending *p = clf_run_find(r, t->lease, whats[i]);

		if (p && p->waiting >> t->fabric & 1 && (whats[i] == CLF_RUN_CLOSING) == (t->op == CLF_NET_CLOSE))
			return p;
	}
	return NULL;
}

/* Record or ledger cannot be kept: whoever waits is told so; tick() takes up what is left. */
static int broken(struct clf_run *r, const char *lease, enum clf_run_what what, struct clf_error *err)
{
	struct clf_run_pending *p = clf_run_find(r, lease, what);
	struct clf_run_result res = { .code = err->code };

	if (p)
		clf_run_drop(r, p);
	snprintf(res.rule, sizeof res.rule, "not-recorded");
	snprintf(res.text, sizeof res.text, "%s", err->text);
	snprintf(res.advice, sizeof res.advice, "nothing was granted; the admin sees why with 'closfold status'");
	if (what != CLF_RUN_CHECKING)
		r->verdict(r->arg, lease, what == CLF_RUN_CLOSING ? CLF_NET_CLOSE : CLF_NET_OPEN, &res);
	return -1;
}

static int all_answered(struct clf_run *r, struct clf_run_pending *p, const char *lease, struct clf_error *err)
{
	const struct clf_lease *have = clf_store_find(r->store, lease);
	CLF_CLEANUP(clf_lease_destroyp) struct clf_lease *l = NULL;

	if (!have) {
		clf_run_drop(r, p);
		return 0;
	}
	l = clf_lease_copy(have, err);
	if (!l)
		return -1;
	switch (p->what) {
	case CLF_RUN_OPENING:
		return opened(r, l, p, err);
	case CLF_RUN_CHECKING:
		return checked(r, l, p, err);
	default:
		return closed(r, l, p, err);
	}
}

int clf_run_answered(struct clf_run *r, const struct clf_run_task *task, const struct clf_net_task *answer,
		     struct clf_error *err)
{
	struct clf_run_pending *p = waits_for(r, task);
	struct clf_error why = { 0 };
	enum clf_run_what what;

	if (!p)
		return 0; /* overtaken */
	what = p->what;
	p->waiting &= ~(1u << task->fabric);
	if (keep_evidence(r, p, task->fabric, answer, &why) || (!p->waiting && all_answered(r, p, task->lease, &why))) {
		broken(r, task->lease, what, &why);
		return clf_fail(err, why.code, "%s", why.text);
	}
	return 0;
}

int clf_run_nodes_verified(struct clf_run *r, const char *lease, const struct clf_error *why, const json_t *evidence,
			   struct clf_error *err)
{
	struct clf_run_pending *p = clf_run_find(r, lease, CLF_RUN_ATTESTING);
	const struct clf_lease *have = clf_store_find(r->store, lease);
	CLF_CLEANUP(clf_lease_destroyp) struct clf_lease *l = NULL;
	json_auto_t *fabrics = NULL;
	struct clf_error bad = { 0 };

	if (!p)
		return 0;
	if (!have || !(l = clf_lease_copy(have, err))) {
		clf_run_drop(r, p);
		return have ? -1 : 0;
	}
	fabrics = json_incref(p->evidence);
	if (!why->code) {
		if (!granted(r, l, p, evidence, &bad))
			return 0;
	} else {
		clf_run_drop(r, p);
		if (!not_opened(r, l, why, fabrics, evidence, &bad))
			return 0;
	}
	broken(r, lease, CLF_RUN_ATTESTING, &bad);
	return clf_fail(err, bad.code, "%s", bad.text);
}

bool clf_run_waits(struct clf_run *r, const char *lease, enum clf_net_op op)
{
	return op == CLF_NET_CLOSE
		       ? clf_run_find(r, lease, CLF_RUN_CLOSING) != NULL
		       : clf_run_find(r, lease, CLF_RUN_OPENING) || clf_run_find(r, lease, CLF_RUN_ATTESTING);
}

static bool any_pending(struct clf_run *r, const char *lease, bool closing)
{
	for (size_t i = 0; i < r->npending; i++)
		if (!strcmp(r->pending[i].lease, lease) && (r->pending[i].what == CLF_RUN_CLOSING) == closing &&
		    r->pending[i].what != CLF_RUN_CHECKING && r->pending[i].waiting >> 31 == 0)
			return true;
	return false;
}

int clf_run_tick(struct clf_run *r, struct clf_error *err)
{
	struct clf_strv ids = { 0 };
	const struct clf_lease *l;
	int rc = 0;

	for (size_t i = 0; !rc && (l = clf_store_next(r->store, &i));)
		if ((l->state == CLF_LEASE_REQUESTED && !any_pending(r, l->id, false)) ||
		    (l->state == CLF_LEASE_RELEASING && !any_pending(r, l->id, true)))
			rc = clf_strv_add(&ids, l->id, err);
	for (size_t i = 0; !rc && i < ids.n; i++) {
		bool done;

		rc = clf_run_finish(r, clf_store_find(r->store, ids.v[i]), "start-lost", &done, err);
	}
	clf_strv_done(&ids);
	return rc;
}

void clf_run_done(struct clf_run *r)
{
	while (r->npending)
		clf_run_drop(r, &r->pending[r->npending - 1]);
	free(r->pending);
	free(r->outbox);
	r->pending = NULL;
	r->outbox = NULL;
	r->noutbox = 0;
}
