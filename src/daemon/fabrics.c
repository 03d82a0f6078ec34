/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/fabrics.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/hostlist.h"
#include "daemon/inforce.h"
#include "lease/keypool.h"

#define CHECK_EVERY_MS    300000
#define AUDIT_EVERY_MS    30000 /* infiniband.md: of a running job's network */
#define AUDIT_MS          20000
#define FINDINGS_RECORDED 500u /* of one audit; a fabric in ruins has thousands, and the first say what is wrong */
#define PATIENCE          4    /* periods that check and audit wait for tasks */

void clf_fab_call_destroy(struct clf_fab_call *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < c->n; i++)
		clf_net_done(&c->nets[i]);
	for (size_t i = 0; i < c->ntasks; i++) {
		clf_net_done(&c->task_nets[i]);
		clf_net_task_done(&c->answers[i]);
	}
	free(c->nets);
	free(c->task_nets);
	free(c->tasks);
	free(c->answers);
	clf_strv_done(&c->known);
	json_decref(c->out);
	free(c);
}
CLF_DEFINE_CLEANUP(struct clf_fab_call, clf_fab_call_destroy)

void clf_fab_call_run(struct clf_fab_call *c)
{
	const struct clf_want want = { .nets = c->nets, .n = c->n, .known = &c->known };
	const struct clf_driver *d = c->driver;
	int64_t began = clf_clock_system.boot_us(clf_clock_system.arg);
	int rc = -1;

	switch (c->what) {
	case CLF_FAB_SYNC:
		rc = d->sync(c->self, &want, c->answers, c->ntasks, c->timeout_ms, &c->error);
		break;
	case CLF_FAB_AUDIT:
		rc = d->audit(c->self, &want, c->timeout_ms, &c->out, &c->error);
		break;
	case CLF_FAB_CHECK:
		rc = d->check(c->self, &want, c->timeout_ms, &c->out, &c->error);
		break;
	case CLF_FAB_READ:
		rc = d->read(c->self, &want, c->timeout_ms, &c->out, &c->error);
		break;
	case CLF_FAB_PLAN:
		rc = d->plan(c->self, &want, c->timeout_ms, &c->out, &c->error);
		break;
	}
	if (rc && !c->error.code)
		clf_fail(&c->error, CLF_E_INTERNAL, "the driver says neither what it did nor why not");
	c->took_ms = (clf_clock_system.boot_us(clf_clock_system.arg) - began) / 1000;
}

/* ---- open */

static int add_host(void *arg, const char *name, size_t len, struct clf_error *err)
{
	char host[CLF_HOST_MAX + 1];

	snprintf(host, sizeof host, "%.*s", (int) len, name);
	return clf_strmap_set(arg, host, 0, err);
}

static int open_one(struct clf_fab *f, size_t i, struct clf_error *err)
{
	struct clf_run_fabric *r = &f->run[i];

	r->conf = &f->set->v[i];
	r->nodes.copy = true;
	if (r->conf->nodes && clf_hostlist_each(r->conf->nodes, CLF_FABRIC_NODES_MAX, add_host, &r->nodes, err))
		return -1;
	r->driver = clf_driver_find(r->conf->driver);
	if (r->driver->open(r->conf, f->sink, &r->self, err)) {
		r->driver = NULL;
		return -1;
	}
	return 0;
}

int clf_fab_open(struct clf_fab *f, const struct clf_conf *conf, const struct clf_log *sink, struct clf_error *err)
{
	*f = (struct clf_fab){ .sink = sink };
	if (!*conf->fabrics)
		return 0;
	if (clf_inforce_trusted(conf->fabrics, err) || clf_fabrics_load(conf->fabrics, &f->set, err) ||
	    clf_known_open(&f->known, conf->state_dir, err))
		return -1;
	f->run = calloc(f->set->n, sizeof *f->run);
	f->one = calloc(f->set->n, sizeof *f->one);
	if (!f->run || !f->one)
		return clf_fail(err, CLF_E_NOMEM, "out of memory");
	for (; f->n < f->set->n; f->n++) {
		if (open_one(f, f->n, err))
			return -1;
		f->one[f->n].repair = true; /* whatever was left behind is put right once */
	}
	return 0;
}

void clf_fab_close(struct clf_fab *f)
{
	bool busy = false;

	for (size_t i = 0; f->run && i < f->set->n; i++) {
		if (f->run[i].driver && !f->one[i].busy)
			f->run[i].driver->close(f->run[i].self);
		busy |= f->one[i].busy;
		clf_strmap_done(&f->run[i].nodes);
		json_decref(f->one[i].findings);
	}
	free(f->run);
	free(f->one);
	clf_known_done(&f->known);
	if (!busy) /* a driver that is at work goes by its configuration */
		clf_fabrics_destroy(f->set);
	*f = (struct clf_fab){ 0 };
}

size_t clf_fab_find(const struct clf_fab *f, const char *name)
{
	size_t i = 0;

	while (i < f->n && strcmp(f->run[i].conf->name, name) != 0)
		i++;
	return i;
}

/* ---- ports */

static void learn_on(struct clf_fab *f, size_t i, const char *node, const json_t *facts)
{
	CLF_CLEANUP(clf_strv_done) struct clf_strv ports = { 0 };
	const struct clf_run_fabric *r = &f->run[i];
	struct clf_error why = { 0 };
	uint64_t had;
	bool fixed = !r->driver->ports(r->self, node, NULL, &ports, NULL);

	if (!fixed && (!facts || r->driver->ports(r->self, node, facts, &ports, &why))) {
		if (facts)
			clf_log(f->sink, CLF_LOG_WARN, "fabric %s: %s", r->conf->name, why.text);
		return;
	}
	had = f->known.changes;
	if (clf_known_learn(&f->known, r->conf->name, node, &ports, fixed, &why))
		clf_log_error(f->sink, &why);
	f->one[i].learned |= f->known.changes != had;
}

void clf_fab_tick(struct clf_fab *f)
{
	for (size_t i = 0; i < f->n; i++) {
		f->one[i].repair |= f->one[i].learned;
		f->one[i].learned = false;
	}
}

void clf_fab_learn(struct clf_fab *f, const char *node, const json_t *facts)
{
	for (size_t i = 0; i < f->n; i++)
		if (clf_run_fabric_has(&f->run[i], node))
			learn_on(f, i, node, facts);
}

/* ---- calls */

int clf_fab_ask(struct clf_fab *f, size_t fabric, const struct clf_fab_ask *ask, struct clf_error *err)
{
	struct clf_fab_one *o = &f->one[fabric];

	if (o->nasks == CLF_FAB_ASKS)
		return clf_fail(err, CLF_E_EXHAUSTED, "too many questions wait for fabric '%s'",
				f->run[fabric].conf->name);
	o->asks[o->nasks++] = *ask;
	return 0;
}

static struct clf_fab_call *new_call(struct clf_fab *f, size_t fabric, enum clf_fab_what what, struct clf_run *run,
				     struct clf_error *err)
{
	CLF_CLEANUP(clf_fab_call_destroyp) struct clf_fab_call *c = calloc(1, sizeof *c);
	const struct clf_run_fabric *r = &f->run[fabric];

	if (!c)
		return clf_fail(err, CLF_E_NOMEM, "out of memory"), NULL;
	c->fabric = fabric;
	c->what = what;
	c->driver = r->driver;
	c->self = r->self;
	c->timeout_ms = what == CLF_FAB_SYNC ? (int) r->conf->timeout_ms : AUDIT_MS;
	if (clf_run_nets(run, fabric, &c->nets, &c->n, err) ||
	    clf_known_ports(&f->known, r->conf->name, &c->known, err))
		return NULL;
	return CLF_STEAL(c);
}

static int add_task(struct clf_fab_call *c, const struct clf_run_task *t, const struct clf_run *run,
		    struct clf_error *err)
{
	const char *fabric = run->fabrics[t->fabric].conf->name;
	size_t n = c->ntasks;
	void *tasks = realloc(c->tasks, (n + 1) * sizeof *c->tasks);
	void *nets = realloc(c->task_nets, (n + 1) * sizeof *c->task_nets);
	void *answers = realloc(c->answers, (n + 1) * sizeof *c->answers);
	const struct clf_lease *l = clf_store_find(run->store, t->lease);

	c->tasks = tasks ? tasks : c->tasks;
	c->task_nets = nets ? nets : c->task_nets;
	c->answers = answers ? answers : c->answers;
	if (!tasks || !nets || !answers)
		return clf_fail(err, CLF_E_NOMEM, "out of memory");
	if (!l || clf_run_net_of(l, fabric, &c->task_nets[n], err))
		return -1;
	c->tasks[n] = *t;
	c->answers[n] = (struct clf_net_task){ .op = t->op };
	c->ntasks++;
	return 0;
}

/* A task that cannot be handed over is answered: whoever waits is told. */
static void undoable(struct clf_run *run, const struct clf_run_task *t, const struct clf_error *why)
{
	const struct clf_net_task answer = { .op = t->op, .error = *why };

	(void) !clf_run_answered(run, t, &answer, NULL);
}

static struct clf_fab_call *next_sync(struct clf_fab *f, size_t fabric, struct clf_run *run, struct clf_error *err)
{
	struct clf_fab_call *c = NULL;
	struct clf_run_task t;
	bool any = clf_run_take(run, fabric, &t);

	if (!any && !f->one[fabric].repair)
		return NULL;
	c = new_call(f, fabric, CLF_FAB_SYNC, run, err);
	for (; any; any = clf_run_take(run, fabric, &t)) {
		struct clf_error why = { 0 };

		if (!c || add_task(c, &t, run, &why))
			undoable(run, &t, c ? &why : err);
	}
	for (size_t i = 0; c && i < c->ntasks; i++) /* now that the array moves no more */
		c->answers[i].net = &c->task_nets[i];
	if (c)
		f->one[fabric].repair = false;
	return c;
}

/* One that is unfit is looked at again sooner: whoever puts it right waits for it. So is one that could not be looked
 * at. */
static bool check_due(const struct clf_fab_one *o, int64_t boot_ms)
{
	return !o->checked_ms ||
	       boot_ms - o->checked_ms >= (*o->unfit || o->unchecked ? AUDIT_EVERY_MS : CHECK_EVERY_MS);
}

/* What goes before tasks: that isolation is no illusion has to be known before the first of them, and where they never
 * end, check and audit must have their turn all the same. */
static bool check_first(const struct clf_fab_one *o, int64_t boot_ms)
{
	return !o->checked_ms || boot_ms - o->checked_ms >= PATIENCE * CHECK_EVERY_MS;
}

static bool audit_first(const struct clf_fab_one *o, int64_t boot_ms)
{
	return o->audited_ms && boot_ms - o->audited_ms >= PATIENCE * AUDIT_EVERY_MS;
}

struct clf_fab_call *clf_fab_next(struct clf_fab *f, size_t fabric, struct clf_run *run, int64_t boot_ms,
				  struct clf_error *err)
{
	struct clf_fab_one *o = &f->one[fabric];
	struct clf_fab_call *c;

	if (o->busy)
		return NULL;
	c = check_first(o, boot_ms) || audit_first(o, boot_ms) ? NULL : next_sync(f, fabric, run, err);
	if (!c && err->code)
		return NULL;
	if (!c && o->nasks && !check_first(o, boot_ms) && !audit_first(o, boot_ms)) {
		c = new_call(f, fabric, o->asks[0].what, run, err);
		if (c) {
			c->group = o->asks[0].group;
			c->peer = o->asks[0].peer;
			c->seq = o->asks[0].seq;
			memmove(o->asks, o->asks + 1, --o->nasks * sizeof *o->asks);
		}
	} else if (!c && check_due(o, boot_ms)) {
		c = new_call(f, fabric, CLF_FAB_CHECK, run, err);
		o->checked_ms = c ? boot_ms : o->checked_ms;
	} else if (!c && (!o->audited_ms || boot_ms - o->audited_ms >= AUDIT_EVERY_MS)) {
		c = new_call(f, fabric, CLF_FAB_AUDIT, run, err);
		o->audited_ms = c ? boot_ms : o->audited_ms;
	}
	o->busy = c != NULL;
	return c;
}

/* ---- answers */

static bool same_finding(const json_t *a, const json_t *b)
{
	return json_equal(json_object_get(a, "code"), json_object_get(b, "code")) &&
	       json_equal(json_object_get(a, "subject"), json_object_get(b, "subject"));
}

static bool had(const json_t *list, const json_t *finding)
{
	for (size_t i = 0; i < json_array_size(list) && i < FINDINGS_RECORDED; i++)
		if (same_finding(json_array_get(list, i), finding))
			return true;
	return false;
}

static int record_finding(struct clf_run *run, const char *fabric, const json_t *finding, struct clf_error *err)
{
	json_auto_t *detail = json_pack("{s:s,s:O}", "fabric", fabric, "finding", finding);
	const char *text = json_string_value(json_object_get(finding, "text"));
	const char *code = json_string_value(json_object_get(finding, "code"));
	struct clf_record_facts f = { .event = CLF_EV_FINDING,
				      .finding = "finding.fabric",
				      .cluster = run->cluster,
				      .process = "closfoldd",
				      .producer = "closfoldd",
				      .status_code = code,
				      .message = text,
				      .detail = detail };

	if (!detail || !text || !code)
		return clf_fail(err, CLF_E_NOMEM, "out of memory");
	return run->record(run->arg, &f, err);
}

/* What is new is recorded; what is wrong is put right and looked at again. */
static int audited(struct clf_fab *f, struct clf_fab_call *c, struct clf_run *run, struct clf_error *err)
{
	struct clf_fab_one *o = &f->one[c->fabric];
	bool wrong = false;

	for (size_t i = 0; i < json_array_size(c->out); i++) {
		const json_t *x = json_array_get(c->out, i);
		const char *level = json_string_value(json_object_get(x, "level"));

		if (!level || !strcmp(level, "info"))
			continue;
		wrong |= !strcmp(level, "error");
		if (i < FINDINGS_RECORDED && !had(o->findings, x) &&
		    record_finding(run, f->run[c->fabric].conf->name, x, err))
			return -1;
	}
	json_decref(o->findings);
	o->findings = json_incref(c->out);
	if (!wrong)
		return 0;
	o->repair = true;
	return clf_run_recheck(run, c->fabric, err);
}

static bool is_illusion(const struct clf_driver *d, const char *code)
{
	for (size_t i = 0; d->illusions && d->illusions[i]; i++)
		if (code && !strcmp(d->illusions[i], code))
			return true;
	return false;
}

/* May flagged jobs run here? Its change is recorded. */
static int checked(struct clf_fab *f, struct clf_fab_call *c, struct clf_run *run, struct clf_error *err)
{
	struct clf_fab_one *o = &f->one[c->fabric];
	const json_t *worst = NULL;
	bool was = *o->unfit;

	for (size_t i = 0; !worst && i < json_array_size(c->out); i++) {
		const json_t *x = json_array_get(c->out, i);

		if (is_illusion(c->driver, json_string_value(json_object_get(x, "code"))))
			worst = x;
	}
	*o->unfit = '\0';
	if (worst)
		snprintf(o->unfit, sizeof o->unfit, "%s", json_string_value(json_object_get(worst, "text")));
	if (was || !worst)
		return 0;
	clf_log(f->sink, CLF_LOG_ERROR, "no flagged job starts on fabric %s: %s", f->run[c->fabric].conf->name,
		o->unfit);
	return record_finding(run, f->run[c->fabric].conf->name, worst, err);
}

int clf_fab_fit(const struct clf_fab *f, size_t fabric, struct clf_error *err)
{
	if (!*f->one[fabric].unfit)
		return 0;
	return clf_fail(err, CLF_E_DENIED, "isolation on fabric '%s' would be an illusion: %s",
			f->run[fabric].conf->name, f->one[fabric].unfit);
}

/* A start that was asked for before it was known that the fabric is not fit. A running job's is what it is. */
static void still_fit(const struct clf_fab *f, struct clf_fab_call *c, const struct clf_run *run, size_t i)
{
	const struct clf_lease *l = clf_store_find(run->store, c->tasks[i].lease);

	if (c->tasks[i].op != CLF_NET_OPEN || c->answers[i].error.code || !l || l->state != CLF_LEASE_REQUESTED)
		return;
	if (f->one[c->fabric].looked)
		(void) !clf_fab_fit(f, c->fabric, &c->answers[i].error);
	else /* the first check went before the first task, and could not be made: unknown is no yes */
		clf_fail(&c->answers[i].error, CLF_E_REMOTE,
			 "whether isolation holds on fabric '%s' could not be checked; see 'closfold fabric check'",
			 f->run[c->fabric].conf->name);
}

static int synced(struct clf_fab *f, struct clf_fab_call *c, struct clf_run *run, struct clf_error *err)
{
	struct clf_error first = { 0 };

	f->one[c->fabric].syncs++;
	f->one[c->fabric].tasks += c->ntasks;
	f->one[c->fabric].last_sync_ms = c->took_ms;
	if (*f->one[c->fabric].unfit) /* it may be what put it right: the next look is now */
		f->one[c->fabric].checked_ms = 0;
	for (size_t i = 0; i < c->ntasks; i++) {
		struct clf_error why = { 0 };

		if (c->error.code)
			c->answers[i].error = c->error;
		still_fit(f, c, run, i);
		if (clf_run_answered(run, &c->tasks[i], &c->answers[i], &why) && !first.code)
			first = why;
	}
	return first.code ? clf_fail(err, first.code, "%s", first.text) : 0;
}

int clf_fab_done(struct clf_fab *f, struct clf_fab_call *c, struct clf_run *run, struct clf_error *err)
{
	struct clf_fab_one *o = &f->one[c->fabric];

	o->busy = false;
	if (c->error.code && (o->last_error.code != c->error.code || strcmp(o->last_error.text, c->error.text) != 0))
		clf_log(f->sink, CLF_LOG_WARN, "fabric %s: %s", f->run[c->fabric].conf->name, c->error.text);
	o->last_error = c->error;
	if (c->what == CLF_FAB_CHECK) {
		o->unchecked = c->error.code != CLF_OK;
		o->looked |= !o->unchecked;
	}
	if (c->what == CLF_FAB_SYNC)
		return synced(f, c, run, err);
	if (c->what == CLF_FAB_CHECK && !c->error.code)
		return checked(f, c, run, err);
	return c->what == CLF_FAB_AUDIT && !c->error.code ? audited(f, c, run, err) : 0;
}

static json_int_t count_level(const json_t *findings, const char *level)
{
	json_int_t n = 0;

	for (size_t i = 0; i < json_array_size(findings); i++) {
		const char *l = json_string_value(json_object_get(json_array_get(findings, i), "level"));

		n += l && !strcmp(l, level);
	}
	return n;
}

json_t *clf_fab_status(const struct clf_fab *f, const struct clf_run *run)
{
	json_auto_t *list = json_array();

	for (size_t i = 0; i < f->n; i++) {
		const struct clf_fabric_conf *c = f->run[i].conf;
		const struct clf_fab_one *o = &f->one[i];
		const struct clf_keypool pool = { c->name, c->key_min, c->key_max, c->cool_down_s * INT64_C(1000) };
		struct clf_keypool_use use = clf_keypool_use(run->store, &pool, run->clock->wall_ms(run->clock->arg));

		if (json_array_append_new(
			    list,
			    json_pack("{s:s,s:s,s:b,s:{s:I,s:I,s:I},s:I,s:I,s:I,s:b,s:I,s:I,s:s}", "name", c->name,
				      "driver", c->driver, "programs_wires", f->run[i].driver->touches_devices, "keys",
				      "size", (json_int_t) use.size, "in_use", (json_int_t) use.in_use, "resting",
				      (json_int_t) use.resting, "syncs", (json_int_t) o->syncs, "tasks",
				      (json_int_t) o->tasks, "last_sync_ms", (json_int_t) o->last_sync_ms, "audited",
				      o->findings != NULL, "errors", count_level(o->findings, "error"), "warnings",
				      count_level(o->findings, "warn"), "last_error",
				      *o->unfit ? o->unfit : o->last_error.text)))
			return NULL;
	}
	return CLF_STEAL(list);
}
