/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ovsdb_sync.c - make the switches so, and answer each task.
 *
 * read all -> refuse what cannot be -> write and confirm every switch at once -> judge from the read-back ->
 * take failed OPENs back -> let released ports go on to the ordinary network.
 * A released port goes to its quarantine first: only when no switch has the key any more it meets others again.
 */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "fabric/ovsdb_drv.h"

#define LINK_SETTLE_US 1500000

enum undo { UNDO_NONE, UNDO_WRITTEN, UNDO_FAILED };

struct run {
	struct clf_ovsdb_drv *d;
	const struct clf_want *want;
	struct clf_net_task *tasks;
	size_t n;
	int64_t read_by, work_by, all_by; /* boot_us */
	struct clf_ovsdb_goals goals;     /* ports of an OPEN that failed are taken out */
	bool *task;                       /* per port: of a task */
	bool *undo_port;                  /* per port: of an OPEN that failed */
	bool *had;                        /* per port: in its net before this call, as far as its switch said */
	struct clf_ovsdb_aim *aim;        /* per port */
	json_t **before;                  /* per port of a task */
	/* per switch */
	bool *unread; /* switches that could not even be read */
	struct clf_error *error;
	enum undo *undo;
	struct clf_error *undo_error;
};

static struct clf_ovsdb_sw *switch_of(const struct run *r, uint32_t port)
{
	return &r->d->sw[r->d->conf.port[port].sw];
}

static bool find_port(const struct run *r, const char *name, uint32_t *port)
{
	return clf_strmap_find(&r->d->conf.by_name, name, port);
}

static bool has_port_on(const struct run *r, const struct clf_net *net, uint32_t sw)
{
	uint32_t port;

	for (size_t i = 0; i < net->ports.n; i++)
		if (find_port(r, net->ports.v[i], &port) && r->d->conf.port[port].sw == sw)
			return true;
	return false;
}

/* before anything is written */

/* An OPEN that failed: from now on its ports go to rest. Those that were in its network before this call stay: it is
 * the network of a running job, looked at again, and that nobody can prove it now is no reason to cut it. */
static void drop_net(struct run *r, const struct clf_net *net)
{
	uint32_t port;

	for (size_t i = 0; i < net->ports.n; i++)
		if (find_port(r, net->ports.v[i], &port) && r->goals.net[port] == net && !r->had[port]) {
			r->goals.net[port] = NULL;
			r->undo_port[port] = true;
			r->d->held[port] = true;
		}
}

/* The net of want that a task means; the task's own when there is none. */
static const struct clf_net *net_of(const struct run *r, const struct clf_net_task *t)
{
	for (size_t i = 0; i < r->want->n; i++)
		if (&r->want->nets[i] == t->net || !strcmp(r->want->nets[i].lease, t->net->lease))
			return &r->want->nets[i];
	return t->net;
}

static int known_ports(const struct run *r, const struct clf_net *net, struct clf_error *err)
{
	uint32_t port;

	for (size_t i = 0; i < net->ports.n; i++)
		if (!find_port(r, net->ports.v[i], &port))
			return clf_fail(err, CLF_E_NOTFOUND, "port '%s' is not in fabrics.json; list it there",
					net->ports.v[i]);
	return 0;
}

/* Switches whose answer the task needs: its own, applied; of an OPEN what the others have, too. That another one
 * applies late what it was told before cannot bring this key to a port: it is given only when every switch has
 * confirmed that none carries it, and what we moved out of it unconfirmed is remembered (nobody_else()). So a switch
 * that hangs keeps off the jobs on it, and not those on all others. */
static int switches_answer(const struct run *r, const struct clf_net_task *t, struct clf_error *err)
{
	for (uint32_t i = 0; i < r->d->conf.nsw; i++)
		if (r->error[i].code && has_port_on(r, t->net, i))
			return clf_fail(err, r->error[i].code, "%s", r->error[i].text);
	for (uint32_t i = 0; t->op == CLF_NET_OPEN && i < r->d->conf.nsw; i++)
		if (r->unread[i])
			return clf_fail(err, r->error[i].code,
					"%s; so nobody can tell that none of its ports has vlan %u", r->error[i].text,
					t->net->key);
	return 0;
}

static int not_foreign(const struct run *r, const struct clf_net *net, struct clf_error *err)
{
	uint32_t port;

	for (size_t i = 0; i < net->ports.n; i++) {
		const struct clf_ovsdb_row *row =
			find_port(r, net->ports.v[i], &port) ? clf_ovsdb_row_of(r->d, port) : NULL;

		if (row && clf_ovsdb_is_foreign(&r->goals, row))
			return clf_fail(err, CLF_E_CONFLICT,
					"port '%s' belongs to '%.47s', which closfold does not know; release it there "
					"or remove the "
					"marker '" CLF_OVSDB_OWNER "'",
					net->ports.v[i], row->owner);
	}
	return 0;
}

static int may_open(const struct run *r, const struct clf_net_task *t, struct clf_error *err)
{
	const struct clf_net *net = t->net;

	if (!net->ports.n)
		return clf_fail(err, CLF_E_INVALID, "net of '%s' has no port", net->lease);
	if (net_of(r, t) == net && (!r->want->n || net < r->want->nets || net >= r->want->nets + r->want->n))
		return clf_fail(err, CLF_E_INVALID, "net of '%s' is to be opened and not wanted", net->lease);
	if (net->key < r->d->conf.key_min || net->key > r->d->conf.key_max)
		return clf_fail(err, CLF_E_DENIED, "vlan %u is outside the range of job keys", net->key);
	return known_ports(r, net, err) || switches_answer(r, t, err) || not_foreign(r, net, err) ? -1 : 0;
}

static void refuse_early(struct run *r)
{
	for (size_t i = 0; i < r->n; i++) {
		struct clf_net_task *t = &r->tasks[i];

		if (t->op == CLF_NET_OPEN && may_open(r, t, &t->error))
			drop_net(r, net_of(r, t));
	}
}

/* writing */

static bool differs(const struct run *r, uint32_t port, const struct clf_ovsdb_row *row)
{
	const struct clf_net *net = r->goals.net[port];

	return net ? !clf_ovsdb_is_access(row, net->key, net->lease) : !clf_ovsdb_is_at_rest(&r->d->conf, port, row);
}

static struct clf_ovsdb_aim aim_of(const struct run *r, uint32_t port)
{
	const struct clf_ovsdb_conf *c = &r->d->conf;
	const struct clf_ovsdb_row *row = clf_ovsdb_row_of(r->d, port);
	const struct clf_net *net = r->goals.net[port];

	if (!row || clf_ovsdb_is_foreign(&r->goals, row) || (!r->task[port] && !differs(r, port, row)))
		return (struct clf_ovsdb_aim){ 0 };
	if (net)
		return (struct clf_ovsdb_aim){ net->key, net->lease };
	/* already in the ordinary network: written again only to hear that the switch has applied it */
	if (c->rest && clf_ovsdb_is_access(row, c->rest, ""))
		return (struct clf_ovsdb_aim){ c->rest, "" };
	return (struct clf_ovsdb_aim){ c->port[port].quarantine, "" };
}

static struct clf_ovsdb_aim *aim_switch(struct run *r, uint32_t sw)
{
	const struct clf_ovsdb_switch *c = &r->d->conf.sw[sw];

	for (uint32_t i = c->first; i < c->first + c->n; i++)
		r->aim[i] = aim_of(r, i);
	return r->aim + c->first;
}

/* Ports that are not there or not ours are not written; that the switch has applied what it was told is asked for
 * all the same. */
static bool has_task(const struct run *r, uint32_t sw)
{
	const struct clf_ovsdb_switch *c = &r->d->conf.sw[sw];

	for (uint32_t i = c->first; i < c->first + c->n; i++)
		if (r->task[i])
			return true;
	return false;
}

static int write_switch(struct run *r, uint32_t sw, struct clf_error *err)
{
	struct clf_error e = { 0 };
	bool bump = has_task(r, sw);

	if (!clf_ovsdb_sw_write(&r->d->sw[sw], aim_switch(r, sw), bump, r->work_by, &e))
		return 0;
	/* somebody wrote between our read and our write: look again, once, while there is time */
	if (e.code != CLF_E_CONFLICT || clf_clock_system.boot_us(NULL) >= r->work_by ||
	    clf_ovsdb_sw_read(&r->d->sw[sw], r->work_by, NULL))
		return clf_fail(err, e.code, "%s", e.text);
	return clf_ovsdb_sw_write(&r->d->sw[sw], aim_switch(r, sw), bump, r->work_by, err);
}

static bool links_missing(const struct run *r, uint32_t sw)
{
	const struct clf_ovsdb_switch *c = &r->d->conf.sw[sw];

	for (uint32_t i = c->first; i < c->first + c->n; i++) {
		const struct clf_ovsdb_row *row = r->task[i] && r->goals.net[i] ? clf_ovsdb_row_of(r->d, i) : NULL;

		if (row && !*row->error && row->ofport >= 0 && !row->link_up)
			return true;
	}
	return false;
}

/* link_state is written by another pass of ovs-vswitchd than cur_cfg, and is empty or old for a moment after a start.
 */
static int wait_for_links(struct run *r, uint32_t sw, struct clf_error *err)
{
	const struct timespec nap = { 0, 50000000 };
	int64_t now = clf_clock_system.boot_us(NULL), half = (r->work_by - now) / 2;
	int64_t until = now + (half < LINK_SETTLE_US ? half : LINK_SETTLE_US);

	while (links_missing(r, sw) && clf_clock_system.boot_us(NULL) < until) {
		nanosleep(&nap, NULL);
		if (clf_ovsdb_sw_again(&r->d->sw[sw], r->work_by, err))
			return -1;
	}
	return 0;
}

static void work_on_switch(void *arg, uint32_t sw)
{
	struct run *r = arg;

	if (r->error[sw].code || write_switch(r, sw, &r->error[sw]))
		return;
	if (r->d->sw[sw].next_cfg)
		(void) !(clf_ovsdb_sw_confirm(&r->d->sw[sw], r->d->conf.settle_ms * 1000, r->work_by, &r->error[sw]) ||
			 wait_for_links(r, sw, &r->error[sw]));
}

/* judging */

static int port_is_open(const struct clf_ovsdb_row *row, const struct clf_net *net, const char *name,
			struct clf_error *err)
{
	char text[160];

	if (!row)
		return clf_fail(err, CLF_E_CONFLICT, "port '%s' does not exist on the switch", name);
	if (!clf_ovsdb_is_access(row, net->key, net->lease))
		return clf_fail(err, CLF_E_CONFLICT,
				"port '%s' is not what was written: %s; somebody else writes there", name,
				clf_ovsdb_row_text(row, text, sizeof text));
	if (*row->error || row->ofport <= 0)
		return clf_fail(err, CLF_E_CONFLICT,
				"port '%s' has no device: %.120s; plug it in or correct fabrics.json", name,
				*row->error ? row->error : "no ofport");
	if (!row->link_up)
		return clf_fail(err, CLF_E_CONFLICT, "port '%s' has no link; look at the cable and the node's NIC",
				name);
	return 0;
}

static int nobody_else(const struct run *r, const struct clf_net *net, struct clf_error *err)
{
	const struct clf_ovsdb_port *late;
	char text[160];

	for (uint32_t i = 0; i < r->d->conf.nsw; i++) {
		const struct clf_ovsdb_row *row = clf_ovsdb_intruder(r->d, &r->goals, i, net->key);

		late = clf_ovsdb_doubtful(r->d, &r->goals, i, net->key);
		if (late)
			return clf_fail(err, CLF_E_CONFLICT,
					"port '%s' may still carry vlan %u: its switch has not applied that it left",
					late->full, net->key);
		if (row)
			return clf_fail(
				err, CLF_E_CONFLICT, "port '%s/%s' carries vlan %u too: %s; give it a tag of its own",
				r->d->conf.sw[i].name, row->name, net->key, clf_ovsdb_row_text(row, text, sizeof text));
	}
	return 0;
}

static int judge_open(const struct run *r, const struct clf_net_task *t, struct clf_error *err)
{
	char text[200];
	uint32_t port;

	if (switches_answer(r, t, err))
		return -1;
	for (size_t i = 0; i < t->net->ports.n; i++)
		if (port_is_open(find_port(r, t->net->ports.v[i], &port) ? clf_ovsdb_row_of(r->d, port) : NULL, t->net,
				 t->net->ports.v[i], err))
			return -1;
	if (nobody_else(r, t->net, err))
		return -1;
	if (clf_ovsdb_uplink_missing(r->d, t->net, text, sizeof text))
		return clf_fail(err, CLF_E_CONFLICT, "vlan %u: %s", t->net->key, text);
	return 0;
}

/* A port that is gone may be back under another name: then no other port may have the key. */
static int port_is_out(const struct run *r, uint32_t port, const struct clf_net *net, struct clf_error *err)
{
	const struct clf_ovsdb_row *row = clf_ovsdb_row_of(r->d, port);
	const struct clf_net *has = r->goals.net[port];
	const char *name = r->d->conf.port[port].full;
	char text[160];

	if (!row)
		row = clf_ovsdb_intruder(r->d, &r->goals, r->d->conf.port[port].sw, net->key);
	else if (!clf_ovsdb_carries(row, net->key) || (has && has->key == net->key))
		row = NULL;
	return row ? clf_fail(err, CLF_E_CONFLICT, "port '%s' still carries vlan %u: '%s' has %s", name, net->key,
			      row->name, clf_ovsdb_row_text(row, text, sizeof text))
		   : 0;
}

static int judge_close(const struct run *r, const struct clf_net_task *t, struct clf_error *err)
{
	uint32_t port;

	if (known_ports(r, t->net, err) || switches_answer(r, t, err))
		return -1;
	for (size_t i = 0; i < t->net->ports.n; i++)
		if (find_port(r, t->net->ports.v[i], &port) && port_is_out(r, port, t->net, err))
			return -1;
	return 0;
}

static void hold(struct run *r, const struct clf_net *net, bool held)
{
	uint32_t port;

	for (size_t i = 0; i < net->ports.n; i++)
		if (find_port(r, net->ports.v[i], &port) && !r->goals.net[port])
			r->d->held[port] = held;
}

static void judge(struct run *r)
{
	bool *bad = calloc(r->n + 1, sizeof *bad);

	for (size_t i = 0; i < r->n; i++) {
		struct clf_net_task *t = &r->tasks[i];
		struct clf_error e = { 0 };

		if (t->error.code)
			continue;
		if (t->op == CLF_NET_CLOSE)
			hold(r, t->net, judge_close(r, t, &t->error) != 0);
		else if (judge_open(r, t, &e) || !bad)
			clf_fail(&t->error, e.code ? e.code : CLF_E_NOMEM, "%s", e.code ? e.text : "out of memory");
		if (bad)
			bad[i] = t->op == CLF_NET_OPEN && t->error.code;
	}
	/* after all are judged: taking one back must not make its ports look like intruders of another of the same key
	 */
	for (size_t i = 0; bad && i < r->n; i++)
		if (bad[i])
			drop_net(r, net_of(r, &r->tasks[i]));
	free(bad);
}

/* after judging */

/* Take a failed OPEN back, also where the switch hangs: what it finds when it wakes up is the rest. */
static void undo_on_switch(void *arg, uint32_t sw)
{
	struct run *r = arg;
	const struct clf_ovsdb_switch *c = &r->d->conf.sw[sw];
	struct clf_error *err = &r->undo_error[sw];
	bool any = false;

	for (uint32_t i = c->first; i < c->first + c->n; i++)
		any = any || r->undo_port[i];
	if (!any)
		return;
	r->undo[sw] = UNDO_FAILED;
	if (clf_ovsdb_sw_read(&r->d->sw[sw], r->all_by, err))
		return;
	for (uint32_t i = c->first; i < c->first + c->n; i++)
		r->aim[i] = r->undo_port[i] ? aim_of(r, i) : (struct clf_ovsdb_aim){ 0 };
	if (!clf_ovsdb_sw_write(&r->d->sw[sw], r->aim + c->first, false, r->all_by, err))
		r->undo[sw] = UNDO_WRITTEN;
}

/* Out of quarantine, where no release is open. Not a task's result: what stays behind is done by the next sync. */
static void rest_on_switch(void *arg, uint32_t sw)
{
	struct run *r = arg;
	const struct clf_ovsdb_conf *c = &r->d->conf;
	struct clf_error e = { 0 };

	if (r->error[sw].code || !r->d->sw[sw].seen)
		return;
	for (uint32_t i = c->sw[sw].first; i < c->sw[sw].first + c->sw[sw].n; i++) {
		const struct clf_ovsdb_row *row = clf_ovsdb_row_of(r->d, i);
		bool go = row && !r->goals.net[i] && !r->d->held[i] &&
			  clf_ovsdb_is_access(row, c->port[i].quarantine, "");

		r->aim[i] = (struct clf_ovsdb_aim){ go ? c->rest : 0, "" };
	}
	r->d->sw[sw].next_cfg = 0;
	if (!clf_ovsdb_sw_write(&r->d->sw[sw], r->aim + c->sw[sw].first, false, r->all_by, &e) && r->d->sw[sw].next_cfg)
		(void) !clf_ovsdb_sw_confirm(&r->d->sw[sw], 0, r->all_by, &e);
}

/* reports */

static const char *word_of(enum clf_code code)
{
	switch (code) {
	case CLF_OK:
		return "verified";
	case CLF_E_TIMEOUT:
		return "timeout";
	case CLF_E_REMOTE:
		return "unreachable";
	case CLF_E_CONFLICT:
		return "mismatch";
	default:
		return "refused";
	}
}

/* Whole numbers only: a record takes no others. */
static json_t *switch_json(const struct run *r, uint32_t sw)
{
	const struct clf_ovsdb_sw *s = &r->d->sw[sw];

	return json_pack("{s:I,s:I,s:I,s:I,s:I,s:s*}", "next_cfg", (json_int_t) s->next_cfg, "cur_cfg",
			 (json_int_t) s->now.cur_cfg, "read_us", (json_int_t) s->took_us.read, "write_us",
			 (json_int_t) s->took_us.write, "confirm_us", (json_int_t) s->took_us.confirm, "error",
			 r->error[sw].code ? r->error[sw].text : NULL);
}

static json_t *port_json(const struct run *r, uint32_t port)
{
	const struct clf_ovsdb_sw *sw = switch_of(r, port);
	const struct clf_ovsdb_row *row = sw->seen ? clf_ovsdb_row_of(r->d, port) : NULL;
	const struct clf_ovsdb_port *c = &r->d->conf.port[port];

	return json_pack("{s:s,s:s,s:O?,s:o?}", "node", c->node, "nic", c->nic, "before", r->before[port], "after",
			 row ? clf_ovsdb_row_json(row) : NULL);
}

/* NULL when memory ends: the answer stands without it. */
static json_t *detail_of(const struct run *r, const struct clf_net *net)
{
	json_t *switches = json_object(), *ports = json_object();
	uint32_t port;

	for (uint32_t i = 0; i < r->d->conf.nsw; i++)
		if (r->error[i].code || has_port_on(r, net, i))
			(void) !json_object_set_new(switches, r->d->conf.sw[i].name, switch_json(r, i));
	for (size_t i = 0; i < net->ports.n; i++)
		if (find_port(r, net->ports.v[i], &port))
			(void) !json_object_set_new(ports, net->ports.v[i], port_json(r, port));
	return json_pack("{s:o,s:o}", "switches", switches, "ports", ports);
}

static void report(const struct run *r, struct clf_net_task *t)
{
	struct clf_fabric_report *out = &t->report;

	for (uint32_t i = 0; i < r->d->conf.nsw; i++)
		out->programmed =
			out->programmed || (has_port_on(r, t->net, i) && (r->d->sw[i].next_cfg || !r->error[i].code));
	snprintf(out->word, sizeof out->word, "%s", word_of(t->error.code));
	if (t->error.code)
		snprintf(out->text, sizeof out->text, "ovsdb: %.190s", t->error.text);
	else if (t->op == CLF_NET_OPEN)
		snprintf(out->text, sizeof out->text,
			 "ovsdb: %zu port(s) read back in vlan %u and nothing else; no other port has it",
			 t->net->ports.n, t->net->key);
	else
		snprintf(out->text, sizeof out->text, "ovsdb: %zu port(s) read back without vlan %u", t->net->ports.n,
			 t->net->key);
	out->detail = detail_of(r, t->net);
}

static void report_undo(const struct run *r, const struct clf_net_task *t)
{
	json_t *switches = json_object_get(t->report.detail, "switches");

	for (uint32_t i = 0; i < r->d->conf.nsw; i++) {
		json_t *sw = json_object_get(switches, r->d->conf.sw[i].name);

		if (r->undo[i] != UNDO_NONE && has_port_on(r, t->net, i))
			(void) !json_object_set_new(
				sw, "undo",
				json_string(r->undo[i] == UNDO_WRITTEN ? "written" : r->undo_error[i].text));
	}
}

/* the whole */

static void note_task(struct run *r, struct clf_net_task *t, struct clf_error *err)
{
	uint32_t port;

	t->error = (struct clf_error){ 0 };
	t->report = (struct clf_fabric_report){ 0 };
	for (size_t i = 0; i < t->net->ports.n; i++)
		if (find_port(r, t->net->ports.v[i], &port))
			r->task[port] = true;
	if (clf_strmap_set(&r->goals.leases, t->net->lease, 1, err))
		clf_fail(&t->error, CLF_E_NOMEM, "out of memory");
}

static void keep_before(struct run *r)
{
	for (uint32_t i = 0; i < r->d->conf.nports; i++) {
		const struct clf_ovsdb_row *row =
			r->task[i] && !r->error[r->d->conf.port[i].sw].code ? clf_ovsdb_row_of(r->d, i) : NULL;

		r->before[i] = row ? clf_ovsdb_row_json(row) : NULL;
	}
	/* on a switch that was not read nothing is written before all is judged: what is there then was there before */
	for (uint32_t i = 0; i < r->d->conf.nports; i++) {
		const struct clf_net *net = r->goals.net[i];
		const struct clf_ovsdb_row *row = clf_ovsdb_row_of(r->d, i);

		r->had[i] = net && (r->unread[r->d->conf.port[i].sw] ||
				    (row && clf_ovsdb_is_access(row, net->key, net->lease)));
	}
}

static int run_init(struct run *r, struct clf_error *err)
{
	size_t ports = r->d->conf.nports + 1, switches = r->d->conf.nsw;

	r->task = calloc(ports, sizeof *r->task);
	r->undo_port = calloc(ports, sizeof *r->undo_port);
	r->had = calloc(ports, sizeof *r->had);
	r->aim = calloc(ports, sizeof *r->aim);
	r->before = calloc(ports, sizeof(json_t *));
	r->error = calloc(switches, sizeof *r->error);
	r->unread = calloc(switches, sizeof *r->unread);
	r->undo = calloc(switches, sizeof *r->undo);
	r->undo_error = calloc(switches, sizeof *r->undo_error);
	if (!r->task || !r->undo_port || !r->had || !r->aim || !r->before || !r->error || !r->unread || !r->undo ||
	    !r->undo_error)
		return clf_fail(err, CLF_E_NOMEM, "out of memory");
	if (clf_ovsdb_goals_init(r->d, r->want, &r->goals, err))
		return -1;
	for (size_t i = 0; i < r->n; i++)
		note_task(r, &r->tasks[i], err);
	return 0;
}

static void run_done(struct run *r)
{
	for (uint32_t i = 0; r->before && i < r->d->conf.nports; i++)
		json_decref(r->before[i]);
	clf_ovsdb_goals_done(&r->goals);
	free(r->task);
	free(r->undo_port);
	free(r->had);
	free(r->aim);
	free(r->before);
	free(r->error);
	free(r->unread);
	free(r->undo);
	free(r->undo_error);
}

static void run_all(struct run *r)
{
	clf_ovsdb_read_all(r->d, r->read_by, r->error);
	for (uint32_t i = 0; i < r->d->conf.nsw; i++)
		r->unread[i] = r->error[i].code != CLF_OK;
	keep_before(r);
	refuse_early(r);
	clf_ovsdb_each(r->d, work_on_switch, r);
	judge(r);
	for (size_t i = 0; i < r->n; i++)
		report(r, &r->tasks[i]);
	clf_ovsdb_each(r->d, undo_on_switch, r);
	for (size_t i = 0; i < r->n; i++)
		if (r->tasks[i].op == CLF_NET_OPEN && r->tasks[i].error.code)
			report_undo(r, &r->tasks[i]);
	if (r->d->conf.rest)
		clf_ovsdb_each(r->d, rest_on_switch, r);
}

int clf_ovsdb_sync(void *self, const struct clf_want *want, struct clf_net_task *tasks, size_t n, int timeout_ms,
		   struct clf_error *err)
{
	int64_t now = clf_clock_system.boot_us(NULL), us = (int64_t) timeout_ms * 1000;
	/* a switch that does not answer leaves time to release others; one that does not apply, time to take back */
	struct run r = { .d = self,
			 .want = want,
			 .tasks = tasks,
			 .n = n,
			 .read_by = now + us * 2 / 5,
			 .work_by = now + us * 17 / 20,
			 .all_by = now + us };
	int rc = run_init(&r, err);

	if (!rc)
		run_all(&r);
	run_done(&r);
	return rc;
}
