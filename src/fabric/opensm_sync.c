/* SPDX-License-Identifier: GPL-2.0-or-later */
/* opensm_sync.c - one file, one signal, and every table read, for all tasks that wait.
 *
 * Order: look (file, subnet manager, the tasks' ports), refuse what cannot become right, write, push, signal, poll the
 * tables until each is right, then read the whole fabric for strangers. OpenSM tells nobody which file it has read, so
 * a table counts only when it was seen to change after the write, or SETTLE_MS later: before that an older sweep may be
 * under way and undo it.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/hash.h"
#include "fabric/opensm.h"

#define SETTLE_MS    2000
#define AGAIN_MS     5000  /* without progress: one more signal */
#define FRESH_MS     35000 /* older than this the fabric is discovered anew before strangers are looked for */
#define STRANGERS_MS 1500  /* other ports are programmed in the same sweep, a little later */
#define POLL_MIN_US  2000
#define POLL_MAX_US  50000
#define TABLES_SHOWN 1024

/* How a task stands. */
struct look {
	struct clf_guids ports;
	bool refused, answered;   /* answered: task->error is filled or it is verified */
	bool needs_settle, moved; /* moved: a port was seen wrong, then right */
	size_t right, dead;
	uint64_t first_wrong, first_dead;
	enum osm_state dead_state;
	char why[160];
	bool *was_wrong; /* a port each */
};

struct run {
	struct osm *o;
	const struct clf_want *want;
	struct clf_net_task *tasks;
	struct look *looks;
	size_t n;
	int64_t began, deadline;
	struct osm_file file;
	struct clf_partitions old, parts; /* of the file as it was; wanted */
	bool has_old;
	struct clf_buf text;
	struct osm_sm sm;
	struct osm_view view;
	bool *skip; /* nets of want that are not written */
	bool changed, rediscovered;
	int64_t signalled_ms;
	unsigned reads, signals;
	struct clf_error copies; /* not confirmed */
	struct clf_error broken; /* the file could not be put right */
	struct clf_error blind;  /* the witness does not answer */
	json_t *rungs;
};

int osm_net_guids(const struct clf_net *net, struct clf_guids *out, struct clf_error *err)
{
	for (size_t i = 0; i < net->ports.n; i++) {
		uint64_t guid;

		if (!clf_guid_parse(net->ports.v[i], strlen(net->ports.v[i]), &guid))
			return clf_fail(err, CLF_E_INVALID, "port '%.40s' is no GUID like 0x0002c9030000abcd",
					net->ports.v[i]);
		if (clf_guids_add(out, guid, err))
			return -1;
	}
	clf_guids_sort(out);
	return 0;
}

static int elapsed(const struct run *r)
{
	return (int) (clf_coproc_now_ms() - r->began);
}

/* A rung is {"rung":NAME,"ms":since the call began,...}; a lost one is no reason to fail. */
static void rung(struct run *r, const char *name, json_t *facts)
{
	json_t *j = json_pack("{s:s,s:i}", "rung", name, "ms", elapsed(r));

	if (j && facts)
		json_object_update(j, facts);
	json_decref(facts);
	if (j)
		json_array_append_new(r->rungs, j);
}

static void fail_task(struct run *r, size_t i, enum clf_code code, const char *word, const char *fmt, ...)
	CLF_PRINTF(5, 6);

static void fail_task(struct run *r, size_t i, enum clf_code code, const char *word, const char *fmt, ...)
{
	struct clf_net_task *t = &r->tasks[i];
	char text[400];
	va_list ap;

	if (r->looks[i].answered)
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	r->looks[i].answered = true;
	clf_fail(&t->error, code, "%s", text);
	snprintf(t->report.word, sizeof t->report.word, "%s", word);
	snprintf(t->report.text, sizeof t->report.text, "opensm: %.180s", text);
}

static void fail_all(struct run *r, enum clf_code code, const char *word, const char *text)
{
	for (size_t i = 0; i < r->n; i++)
		fail_task(r, i, code, word, "%s", text);
}

/* Of a witness that does not answer. */
static enum clf_code unknown_code(const struct clf_error *e)
{
	return e->code == CLF_E_TIMEOUT ? CLF_E_TIMEOUT : CLF_E_REMOTE;
}

static bool is_open(const struct run *r, size_t i)
{
	return r->tasks[i].op == CLF_NET_OPEN;
}

/* --- what is there --- */

static bool net_in(const struct clf_partitions *p, const struct look *l, uint16_t key)
{
	for (size_t i = 0; i < l->ports.n; i++)
		if (!osm_member(p, l->ports.v[i], key))
			return false;
	return l->ports.n > 0;
}

static bool key_in(const struct clf_partitions *p, uint16_t key)
{
	for (size_t i = 0; i < p->n; i++)
		if (p->v[i].key == key)
			return true;
	return false;
}

/* A port of a closed net is right without its key, or with it when another net of that key has it now. */
static bool port_right(const struct run *r, size_t i, const struct osm_port *p, char *why, size_t size)
{
	uint16_t key = r->tasks[i].net->key;

	if (is_open(r, i)) {
		if (p->link != 4) {
			snprintf(why, size, "its link is not active yet");
			return false;
		}
		return osm_table_right(&r->view, p, &r->parts, r->sm.guid, why, size);
	}
	if (!osm_table_has(&r->view, p, key) || osm_member(&r->parts, p->guid, key))
		return true;
	snprintf(why, size, "still holds the key 0x%04x", key);
	return false;
}

static void look_at(struct run *r, size_t i)
{
	struct look *l = &r->looks[i];

	l->right = l->dead = 0;
	l->first_wrong = l->first_dead = 0;
	for (size_t k = 0; k < l->ports.n; k++) {
		const struct osm_port *p = osm_view_find(&r->view, l->ports.v[k]);
		char why[sizeof l->why];

		if (!p || p->state != OSM_OK) {
			if (!l->dead++) {
				l->first_dead = l->ports.v[k];
				l->dead_state = p ? p->state : OSM_ABSENT;
			}
		} else if (port_right(r, i, p, why, sizeof why)) {
			l->moved |= l->was_wrong[k];
			l->right++;
		} else {
			l->was_wrong[k] = true;
			if (!l->first_wrong) {
				l->first_wrong = l->ports.v[k];
				snprintf(l->why, sizeof l->why, "%s", why);
			}
		}
	}
}

/* The ports of all tasks without an answer. */
static int to_read(const struct run *r, struct clf_guids *out, struct clf_error *err)
{
	for (size_t i = 0; i < r->n; i++)
		for (size_t k = 0; !r->looks[i].answered && k < r->looks[i].ports.n; k++)
			if (clf_guids_add(out, r->looks[i].ports.v[k], err))
				return -1;
	clf_guids_sort(out);
	return 0;
}

static void guidsp(struct clf_guids *g)
{
	clf_guids_done(g);
}

static bool any_dead(const struct osm_view *v)
{
	for (size_t i = 0; i < v->n; i++)
		if (v->v[i].state != OSM_OK)
			return true;
	return false;
}

/* Ports that do not answer may have moved since the fabric was discovered: look once more, once a call. Without tasks
 * the whole fabric is read. */
static int read_ports(struct run *r, struct clf_error *err)
{
	CLF_CLEANUP(guidsp) struct clf_guids ports = { 0 };

	if (!r->n) {
		r->reads++;
		return osm_read_all(r->o, false, r->deadline, &r->view, err);
	}
	if (to_read(r, &ports, err) || osm_read(r->o, &ports, false, r->deadline, &r->view, err))
		return -1;
	r->reads++;
	if (!any_dead(&r->view) || r->rediscovered)
		return 0;
	r->rediscovered = true;
	if (osm_discover(r->o, r->deadline, err))
		return -1;
	return osm_read(r->o, &ports, false, r->deadline, &r->view, err);
}

static int load(struct run *r, struct clf_error *err)
{
	struct osm_file *f = &r->file;

	if (osm_file_load(r->o, f, err))
		return -1;
	r->has_old = f->whose == CLF_PARTFILE_OURS &&
		     !clf_partitions_lint(r->o->partitions, f->text.data, f->text.len, &r->o->rules, &r->old, NULL);
	return 0;
}

static int make_looks(struct run *r, struct clf_error *err)
{
	r->looks = calloc(r->n + 1, sizeof *r->looks);
	r->skip = calloc(r->want->n + 1, sizeof *r->skip);
	r->rungs = json_array();
	if (!r->looks || !r->skip || !r->rungs)
		return clf_fail(err, CLF_E_NOMEM, "out of memory");
	for (size_t i = 0; i < r->n; i++) {
		struct look *l = &r->looks[i];
		struct clf_error why = { 0 };

		r->tasks[i].error = (struct clf_error){ 0 };
		r->tasks[i].report = (struct clf_fabric_report){ 0 };
		l->was_wrong = calloc(r->tasks[i].net->ports.n + 1, sizeof *l->was_wrong);
		if (!l->was_wrong)
			return clf_fail(err, CLF_E_NOMEM, "out of memory");
		if (osm_net_guids(r->tasks[i].net, &l->ports, &why)) {
			l->refused = is_open(r, i);
			fail_task(r, i, why.code, "invalid", "%s", why.text);
		} else if (!l->ports.n && is_open(r, i)) {
			l->refused = true;
			fail_task(r, i, CLF_E_INVALID, "invalid", "the net of lease '%s' has no port",
				  r->tasks[i].net->lease);
		}
	}
	return 0;
}

/* --- what cannot become right --- */

static void refuse(struct run *r, size_t i, enum clf_code code, const char *word, const char *text)
{
	r->looks[i].refused = true;
	fail_task(r, i, code, word, "%s", text);
}

static void refuse_opens(struct run *r, enum clf_code code, const char *word, const char *text)
{
	for (size_t i = 0; i < r->n; i++)
		if (is_open(r, i))
			refuse(r, i, code, word, text);
}

static void refuse_dead(struct run *r, size_t i)
{
	const struct look *l = &r->looks[i];
	char text[200];

	snprintf(text, sizeof text, "port 0x%016" PRIx64 "%s cannot be closed in: %s", l->first_dead,
		 l->dead > 1 ? " and others" : "", osm_state_text(l->dead_state));
	refuse(r, i, CLF_E_REMOTE, "unreachable", text);
}

/* More partitions than entries: OpenSM would leave the last ones out and say so nowhere. */
static void refuse_full(struct run *r, size_t i)
{
	struct clf_guids *ports = &r->looks[i].ports;

	for (size_t k = 0; k < ports->n; k++) {
		const struct osm_port *p = osm_view_find(&r->view, ports->v[k]);
		size_t first, n = clf_partitions_of(&r->parts, ports->v[k], &first) + 1;
		unsigned cap = p && p->cap ? p->cap : UINT32_MAX;
		char text[200];

		if (r->o->table_max && r->o->table_max < cap)
			cap = r->o->table_max;
		if (n <= cap)
			continue;
		snprintf(text, sizeof text,
			 "port 0x%016" PRIx64 " would be in %zu partitions, its table has %u entries", ports->v[k], n,
			 cap);
		refuse(r, i, CLF_E_EXHAUSTED, "mismatch", text);
	}
}

static void check_sm(struct run *r)
{
	char text[200];

	if (!r->sm.answers) {
		refuse_opens(r, CLF_E_REMOTE, "unreachable",
			     "no subnet manager answers; flagged jobs wait until OpenSM runs again");
	} else if (r->sm.state != OSM_MASTER || !clf_guids_has(&r->o->sm_ports, r->sm.guid)) {
		snprintf(text, sizeof text,
			 "the subnet manager in force, 0x%016" PRIx64
			 " (state %u), is none of sm_ports; add it there, with a "
			 "copy of the file, or stop it",
			 r->sm.guid, r->sm.state);
		refuse_opens(r, CLF_E_CONFLICT, "mismatch", text);
	}
	rung(r, "sm",
	     json_pack("{s:b,s:o,s:i,s:i}", "answers", r->sm.answers, "guid", json_sprintf("0x%016" PRIx64, r->sm.guid),
		       "priority", (int) r->sm.priority, "state", (int) r->sm.state));
}

/* Refused nets stay out of the file, unless they are in it already: then their ports keep what they have. */
static void skip_refused(struct run *r)
{
	for (size_t i = 0; i < r->n; i++)
		for (size_t k = 0; r->looks[i].refused && k < r->want->n; k++)
			if (!strcmp(r->want->nets[k].lease, r->tasks[i].net->lease) &&
			    r->want->nets[k].key == r->tasks[i].net->key &&
			    !(r->has_old && net_in(&r->old, &r->looks[i], r->tasks[i].net->key)))
				r->skip[k] = true;
}

static int render(struct run *r, struct clf_error *err)
{
	skip_refused(r);
	clf_partitions_done(&r->parts);
	return osm_render(r->o, r->want, r->skip, &r->text, &r->parts, err);
}

/* What can be seen before anything is written. A witness that does not answer refuses every OPEN; a CLOSE is still
 * written. */
static int first_look(struct run *r, struct clf_error *err)
{
	struct clf_error *blind = &r->blind;

	if (osm_ask_sm(r->o, r->deadline, &r->sm, blind) || read_ports(r, blind)) {
		if (blind->code == CLF_E_NOMEM)
			return clf_fail(err, blind->code, "%s", blind->text);
		refuse_opens(r, unknown_code(blind), "unreachable", blind->text);
		rung(r, "witness", json_pack("{s:s}", "error", blind->text));
		return render(r, err);
	}
	check_sm(r);
	if (render(r, err))
		return -1;
	for (size_t i = 0; i < r->n; i++) {
		look_at(r, i);
		if (is_open(r, i) && r->looks[i].dead)
			refuse_dead(r, i);
		else if (is_open(r, i))
			refuse_full(r, i);
	}
	for (size_t i = 0; i < r->n; i++)
		if (r->looks[i].refused)
			return render(r, err);
	return 0;
}

/* --- the file --- */

static bool opens_now(const struct run *r, const struct clf_net *net)
{
	for (size_t i = 0; i < r->n; i++)
		if (is_open(r, i) && r->tasks[i].net->key == net->key && !strcmp(r->tasks[i].net->lease, net->lease))
			return true;
	return false;
}

/* An edit by somebody else is not overwritten, unless the fabric shows that isolation is broken now: a port of a
 * running net with another table than its own, or ordinary ports full in the default partition. */
static bool isolation_broken(struct run *r)
{
	struct osm_view all = { 0 };
	bool broken = false;

	if (osm_read_all(r->o, false, r->deadline, &all, NULL))
		return false;
	for (size_t i = 0; i < all.n && !broken; i++)
		broken = all.v[i].state == OSM_OK && osm_table_default_full(&all, &all.v[i]) &&
			 !clf_guids_has(&r->o->sm_ports, all.v[i].guid);
	for (size_t i = 0; i < r->want->n && !broken; i++)
		for (size_t k = 0; !opens_now(r, &r->want->nets[i]) && k < r->want->nets[i].ports.n && !broken; k++) {
			const struct clf_net *net = &r->want->nets[i];
			const struct osm_port *p;
			uint64_t guid;

			if (!clf_guid_parse(net->ports.v[k], strlen(net->ports.v[k]), &guid))
				continue;
			p = osm_view_find(&all, guid);
			broken = p && p->state == OSM_OK && !osm_table_right(&all, p, &r->parts, r->sm.guid, NULL, 0);
		}
	osm_view_done(&all);
	return broken;
}

static int replace(struct run *r)
{
	char saved[4200];

	if (r->file.whose == CLF_PARTFILE_EDITED && !isolation_broken(r))
		return clf_fail(&r->broken, CLF_E_CONFLICT,
				"'%s' was edited by somebody else; move the edit into the fabric's include file and "
				"remove '%s'",
				r->o->partitions, r->o->partitions);
	if (osm_save_aside(r->o, &r->file, saved, sizeof saved, &r->broken))
		return -1;
	clf_log(r->o->log, CLF_LOG_ERROR, "fabric '%s': '%s' was %s; it is kept as '%s' and written anew",
		r->o->conf->name, r->o->partitions,
		r->file.whose == CLF_PARTFILE_CUT ? "cut short" : "edited and has broken the isolation", saved);
	rung(r, "saved", json_pack("{s:s}", "file", saved));
	return 0;
}

/* Write the file if it has to change. Failures are kept in r->broken. */
static void write_file(struct run *r)
{
	char hash[65];

	if (clf_hash_sha256(r->text.data, r->text.len, hash, &r->broken))
		return;
	if (r->file.whose == CLF_PARTFILE_FOREIGN) {
		clf_fail(&r->broken, CLF_E_CONFLICT,
			 "'%s' is not closfold's; move what is yours into the fabric's include file and remove '%s'",
			 r->o->partitions, r->o->partitions);
		return;
	}
	if (r->file.whose == CLF_PARTFILE_OURS && r->file.text.len == r->text.len &&
	    !memcmp(r->file.text.data, r->text.data, r->text.len))
		return;
	if ((r->file.whose == CLF_PARTFILE_EDITED || r->file.whose == CLF_PARTFILE_CUT) && replace(r))
		return;
	if (osm_publish(r->o, &r->text, &r->broken))
		return;
	r->changed = true;
	rung(r, "published", json_pack("{s:s,s:i}", "sha256", hash, "bytes", (int) r->text.len));
}

static void push_copies(struct run *r, bool all)
{
	if (!r->o->ncopies || r->broken.code)
		return;
	r->copies = (struct clf_error){ 0 };
	if (osm_push_copies(r->o, &r->text, all, r->deadline, &r->copies))
		refuse_opens(r, CLF_E_REMOTE, "unreachable", r->copies.text);
	rung(r, "copies", json_pack("{s:i,s:b}", "hosts", (int) r->o->ncopies, "confirmed", !r->copies.code));
}

/* On a host whose OpenSM is down the ruling one may be a copy's: its program has signalled it. */
static void signal_sm(struct run *r)
{
	struct clf_error why = { 0 };
	pid_t pid = 0;

	r->signals++;
	r->signalled_ms = clf_coproc_now_ms();
	if (!osm_signal(r->o, &pid, &why)) {
		rung(r, "signalled", json_pack("{s:i}", "pid", (int) pid));
		return;
	}
	rung(r, "signalled", json_pack("{s:s}", "error", why.text));
	if (!r->o->ncopies)
		clf_fail(&r->broken, CLF_E_REMOTE, "the file is written, but OpenSM cannot be told: %s", why.text);
}

/* --- the tables --- */

/* How long an older sweep may last: twice the slowest that was seen, and never more than most of this call. */
static int64_t settle_ms(const struct run *r)
{
	int64_t ms = 2 * r->o->slowest_ms > SETTLE_MS ? 2 * r->o->slowest_ms : SETTLE_MS,
		most = (r->deadline - r->began) * 3 / 4;

	return ms < most || most < SETTLE_MS ? ms : most;
}

/* Could a sweep that read an older file still be under way? Not once a port was seen to change after this call's write,
 * nor some time after its signal, if OpenSM lives. Where nothing may be signalled the age of the file has to do. */
static bool settled(const struct run *r, const struct look *l)
{
	if (!l->needs_settle || l->moved)
		return true;
	if (r->signals)
		return r->sm.answers && clf_coproc_now_ms() - r->signalled_ms >= settle_ms(r);
	return r->broken.code && r->file.age_ms + elapsed(r) >= settle_ms(r);
}

static bool task_right(const struct run *r, size_t i)
{
	const struct look *l = &r->looks[i];

	return l->right == l->ports.n && settled(r, l);
}

/* Nothing more will come for it: right, or only ports are left that cannot answer. */
static bool task_over(const struct run *r, size_t i)
{
	const struct look *l = &r->looks[i];

	if (l->answered || task_right(r, i))
		return true;
	if (is_open(r, i) && l->dead)
		return true;
	return l->dead && l->right + l->dead == l->ports.n && settled(r, l);
}

static size_t all_right(const struct run *r)
{
	size_t n = 0;

	for (size_t i = 0; i < r->n; i++)
		n += r->looks[i].right;
	return n;
}

static bool all_over(const struct run *r)
{
	for (size_t i = 0; i < r->n; i++)
		if (!task_over(r, i))
			return false;
	return true;
}

/* Without tasks: are the ports that the file names as they should be? */
static bool nets_right(const struct run *r)
{
	size_t first;

	for (size_t i = 0; i < r->view.n; i++)
		if (r->view.v[i].state == OSM_OK && clf_partitions_of(&r->parts, r->view.v[i].guid, &first) &&
		    !osm_table_right(&r->view, &r->view.v[i], &r->parts, r->sm.guid, NULL, 0))
			return false;
	return true;
}

static void need_settle(struct run *r)
{
	for (size_t i = 0; i < r->n; i++) {
		struct look *l = &r->looks[i];
		uint16_t key = r->tasks[i].net->key;

		l->needs_settle =
			!r->changed || !r->has_old || (is_open(r, i) ? !net_in(&r->old, l, key) : key_in(&r->old, key));
	}
}

static void pause_us(long us)
{
	struct timespec t = { .tv_nsec = us * 1000 };

	nanosleep(&t, NULL);
}

/* Did this call see OpenSM at work from its signal to the last port? */
static bool all_moved(const struct run *r)
{
	for (size_t i = 0; i < r->n; i++)
		if (!r->looks[i].moved || r->looks[i].right != r->looks[i].ports.n)
			return false;
	return r->n && r->signals == 1;
}

/* Between two readings: a twelfth of the time it has taken so far, but not less than the last reading took, for that is
 * time the fabric needs to be programmed in. */
static long pause_for(int64_t took_ms, int64_t since_ms)
{
	long us = 1000 * (long) (since_ms / 12);

	us = us < POLL_MIN_US ? POLL_MIN_US : us;
	us = us < 1000 * (long) took_ms ? 1000 * (long) took_ms : us;
	return us > POLL_MAX_US ? POLL_MAX_US : us;
}

/* Read until every task is over or the time is up. */
static void poll_tables(struct run *r)
{
	int64_t start_ms = clf_coproc_now_ms(), progress_ms = start_ms, took_ms = 0;
	size_t best = all_right(r);

	while (!(r->n ? all_over(r) : nets_right(r)) && clf_coproc_now_ms() < r->deadline) {
		int64_t began = clf_coproc_now_ms();

		pause_us(pause_for(took_ms, began - start_ms));
		began = clf_coproc_now_ms();
		if (read_ports(r, &r->blind))
			break;
		took_ms = clf_coproc_now_ms() - began;
		for (size_t i = 0; i < r->n; i++)
			if (!r->looks[i].answered)
				look_at(r, i);
		if (all_right(r) > best) {
			best = all_right(r);
			progress_ms = clf_coproc_now_ms();
		}
		if (r->signals == 1 && clf_coproc_now_ms() - progress_ms >= AGAIN_MS)
			signal_sm(r);
	}
	if (r->blind.code)
		fail_all(r, unknown_code(&r->blind), "unreachable", r->blind.text);
	else if (all_moved(r) && clf_coproc_now_ms() - start_ms > r->o->slowest_ms)
		r->o->slowest_ms = clf_coproc_now_ms() - start_ms;
	rung(r, "tables",
	     json_pack("{s:i,s:i,s:i}", "reads", (int) r->reads, "ports_right", (int) all_right(r), "ports_read",
		       (int) r->view.n));
}

static void judge(struct run *r, size_t i)
{
	struct look *l = &r->looks[i];

	if (l->answered || task_right(r, i))
		return;
	if (is_open(r, i) && l->dead) {
		refuse_dead(r, i);
	} else if (l->dead && l->right + l->dead == l->ports.n) {
		fail_task(r, i, CLF_E_REMOTE, "unreachable",
			  "port 0x%016" PRIx64 "%s was not seen without the key 0x%04x: %s; the key rests until it is",
			  l->first_dead, l->dead > 1 ? " and others" : "", r->tasks[i].net->key,
			  osm_state_text(l->dead_state));
	} else if (r->broken.code) {
		fail_task(r, i, r->broken.code, r->broken.code == CLF_E_CONFLICT ? "mismatch" : "unreachable", "%s",
			  r->broken.text);
	} else if (r->blind.code) {
		fail_task(r, i, unknown_code(&r->blind), "unreachable", "%s", r->blind.text);
	} else if (!r->sm.answers) {
		fail_task(r, i, CLF_E_REMOTE, "unreachable",
			  "no subnet manager answers; the file is written and the key rests until OpenSM runs again");
	} else if (l->first_wrong) {
		fail_task(r, i, CLF_E_TIMEOUT, "mismatch",
			  "%zu of %zu ports are not right after %d ms; 0x%016" PRIx64 " %s", l->ports.n - l->right,
			  l->ports.n, elapsed(r), l->first_wrong, l->why);
	} else {
		fail_task(r, i, CLF_E_TIMEOUT, "mismatch",
			  "the tables are right, but OpenSM was not seen to have read the file; try again");
	}
}

/* --- strangers --- */

struct strangers {
	size_t members, full, unread;
	uint64_t member, full_port, unread_port;
	uint16_t key;
	enum osm_state unread_state;
};

static bool concerns(const struct run *r, uint16_t key)
{
	for (size_t i = 0; i < r->n; i++)
		if (is_open(r, i) && !r->looks[i].answered && r->tasks[i].net->key == key)
			return true;
	return false;
}

static void judge_port(struct run *r, const struct osm_port *p, struct strangers *s)
{
	if (p->state == OSM_SILENT || p->state == OSM_TWICE || p->state == OSM_MOVED) {
		if (!s->unread++) {
			s->unread_port = p->guid;
			s->unread_state = p->state;
		}
		return;
	}
	if (p->state != OSM_OK)
		return;
	if (osm_table_default_full(&r->view, p) && !clf_guids_has(&r->o->sm_ports, p->guid) && !s->full++)
		s->full_port = p->guid;
	for (size_t k = 0; k < p->nkeys; k++) {
		uint16_t key = r->view.keys[p->key + k] & CLF_PKEY_DEFAULT;

		if (key && key != CLF_PKEY_DEFAULT && concerns(r, key) && !osm_member(&r->parts, p->guid, key) &&
		    !s->members++) {
			s->member = p->guid;
			s->key = key;
		}
	}
}

static int look_for_strangers(struct run *r, struct strangers *s, struct clf_error *err)
{
	int64_t until = clf_coproc_now_ms() + STRANGERS_MS;

	if (clf_coproc_now_ms() - r->o->discovered_ms > FRESH_MS && osm_discover(r->o, r->deadline, err))
		return -1;
	until = until < r->deadline ? until : r->deadline;
	do {
		*s = (struct strangers){ 0 };
		if (osm_read_all(r->o, false, r->deadline, &r->view, err))
			return -1;
		for (size_t i = 0; i < r->view.n; i++)
			judge_port(r, &r->view.v[i], s);
		if (!s->members && !s->full && !s->unread)
			return 0;
		pause_us(POLL_MAX_US);
	} while (clf_coproc_now_ms() < until);
	return 0;
}

static void judge_strangers(struct run *r, size_t i, const struct strangers *s)
{
	if (s->members)
		fail_task(r, i, CLF_E_CONFLICT, "mismatch",
			  "%zu other ports hold a key of these jobs; 0x%016" PRIx64
			  " holds 0x%04x, and OpenSM was not told so",
			  s->members, s->member, s->key);
	else if (s->full)
		fail_task(r, i, CLF_E_CONFLICT, "mismatch",
			  "%zu ports are full members of the default partition and reach every port; 0x%016" PRIx64
			  " is one and is no sm_port",
			  s->full, s->full_port);
	else if (s->unread)
		fail_task(r, i, CLF_E_REMOTE, "unreachable",
			  "%zu ports cannot be read, so nobody knows whether they hold the key; 0x%016" PRIx64 ": %s",
			  s->unread, s->unread_port, osm_state_text(s->unread_state));
}

/* The fabric as a whole, and the tasks' ports once more in the same reading. */
static void audit_opens(struct run *r)
{
	struct strangers s = { 0 };
	struct clf_error why = { 0 };
	bool any = false;

	for (size_t i = 0; i < r->n; i++)
		any |= is_open(r, i) && !r->looks[i].answered;
	if (!any)
		return;
	if (look_for_strangers(r, &s, &why)) {
		refuse_opens(r, unknown_code(&why), "unreachable", why.text);
		return;
	}
	rung(r, "fabric",
	     json_pack("{s:i,s:i,s:i,s:i,s:i}", "ports_read", (int) r->view.n, "foreign_members", (int) s.members,
		       "default_full", (int) s.full, "unreadable", (int) s.unread, "discovery_age_ms",
		       (int) (clf_coproc_now_ms() - r->o->discovered_ms)));
	for (size_t i = 0; i < r->n; i++) {
		if (!is_open(r, i) || r->looks[i].answered)
			continue;
		look_at(r, i);
		judge(r, i);
		judge_strangers(r, i, &s);
	}
}

/* --- the answers --- */

static json_t *tables_of(const struct run *r, const struct look *l)
{
	json_t *ports = json_object();

	for (size_t k = 0; ports && k < l->ports.n && k < TABLES_SHOWN; k++) {
		const struct osm_port *p = osm_view_find(&r->view, l->ports.v[k]);
		char guid[20], text[100] = "";

		snprintf(guid, sizeof guid, "0x%016" PRIx64, l->ports.v[k]);
		if (p && p->state == OSM_OK)
			osm_table_text(r->view.keys + p->key, p->nkeys, text, sizeof text);
		else
			snprintf(text, sizeof text, "%s", osm_state_text(p ? p->state : OSM_ABSENT));
		json_object_set_new(ports, guid, json_string(text));
	}
	return ports;
}

static void answer(struct run *r, size_t i)
{
	struct clf_net_task *t = &r->tasks[i];
	struct look *l = &r->looks[i];

	t->report.programmed = r->changed || r->reads > 0;
	t->report.detail = json_pack("{s:O,s:o}", "rungs", r->rungs, "tables", tables_of(r, l));
	if (l->answered)
		return;
	snprintf(t->report.word, sizeof t->report.word, "verified");
	if (is_open(r, i))
		snprintf(t->report.text, sizeof t->report.text,
			 "opensm: the tables of %zu ports hold 0x%04x at index 0 and no other port does, after %d ms",
			 l->ports.n, t->net->key | CLF_PKEY_FULL, elapsed(r));
	else
		snprintf(t->report.text, sizeof t->report.text,
			 "opensm: %zu ports were seen without 0x%04x after %d ms", l->ports.n, t->net->key, elapsed(r));
}

static void run_done(struct run *r)
{
	for (size_t i = 0; r->looks && i < r->n; i++) {
		clf_guids_done(&r->looks[i].ports);
		free(r->looks[i].was_wrong);
	}
	free(r->looks);
	free(r->skip);
	json_decref(r->rungs);
	osm_file_done(&r->file);
	osm_view_done(&r->view);
	clf_partitions_done(&r->old);
	clf_partitions_done(&r->parts);
	clf_buf_done(&r->text);
}

static void make_so(struct run *r)
{
	write_file(r);
	if (r->broken.code)
		refuse_opens(r, r->broken.code, "mismatch", r->broken.text);
	need_settle(r);
	/* Tables that are wrong though the file is right: the subnet manager in force has another one, or was killed.
	 */
	bool wrong = r->n ? !all_over(r) : !nets_right(r);

	push_copies(r, wrong && !r->changed);
	if (!r->broken.code && (r->changed || wrong))
		signal_sm(r);
	if (r->sm.answers)
		poll_tables(r);
}

/* Without a task nobody else hears of it. */
static void tell_log(const struct run *r, const struct clf_error *why)
{
	const struct clf_error *e = why->code ? why : r->broken.code ? &r->broken : &r->blind;

	if (!r->n && e->code)
		clf_log(r->o->log, CLF_LOG_ERROR, "fabric '%s': %s", r->o->conf->name, e->text);
}

int osm_sync(void *self, const struct clf_want *want, struct clf_net_task *tasks, size_t n, int timeout_ms,
	     struct clf_error *err)
{
	CLF_CLEANUP(run_done)
	struct run r = {
		.o = self, .want = want, .tasks = tasks, .n = n, .text = CLF_BUF_INIT(CLF_PARTITIONS_MAX_BYTES)
	};
	struct clf_error why = { 0 };
	char text[600];

	r.began = clf_coproc_now_ms();
	r.deadline = r.began + timeout_ms;
	if (make_looks(&r, err))
		return -1;
	if (load(&r, &why) || first_look(&r, &why)) {
		if (why.code == CLF_E_NOMEM)
			return clf_fail(err, why.code, "%s", why.text);
		fail_all(&r, why.code, "invalid", clf_error_string(&why, text, sizeof text));
	} else {
		make_so(&r);
	}
	for (size_t i = 0; i < n; i++)
		judge(&r, i);
	audit_opens(&r);
	for (size_t i = 0; i < n; i++)
		answer(&r, i);
	tell_log(&r, &why);
	return 0;
}
