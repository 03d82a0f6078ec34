/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/loop.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>

#include "daemon/last_rungs.h"
#include "daemon/listen_unix.h"
#include "daemon/serve.h"
#include "daemon/worker.h"
#include "base/path.h"

#define PACKETS_A_PEER 64u /* in one turn, so that a flood of one is not the others' wait */
#define BATCH_BYTES    (8u << 20)
#define RELEASE_MS     3000u /* releases that were not verified are tried again */
#define RETRY_MS       10000 /* a broken policy is tried again, though its file is the same: the fault may lie elsewhere */

/* Names of descriptors in epoll; peers' ids come after (listen_unix.c). */
enum { FD_LISTENER, FD_SIGNAL, FD_TIMER, FD_WORK };
#define AGENTS (UINT64_C(1) << 63)

struct answer {
	uint64_t peer, seq;
	char *text;
	bool commit, hangup;
};
struct waiting {
	uint64_t peer, seq;
	bool dry_run, policy;
};
/* Who waits for the verdict on a lease. */
struct lease_wait {
	uint64_t peer, seq;
	char lease[CLF_LEASE_ID];
	enum clf_serve_wait wait;
};
/* One question to one or all fabrics. */
struct fabric_group {
	uint64_t id, peer, seq;
	size_t left;
	json_t *answers;
	char op[16];
};

struct loop {
	struct clf_state *st;
	struct clf_peers peers;
	int epoll, signals, timer, work[2];
	struct answer *answers;
	size_t nanswers, answers_cap;
	struct waiting waiting[CLF_PEERS_MAX];
	size_t nwaiting;
	struct lease_wait *leases;
	size_t nleases, leases_cap;
	struct fabric_group groups[32];
	size_t ngroups;
	uint64_t next_group;
	int64_t ticked_ms;
	bool asking_jobs, loading, stop, reload;
	bool own_reconcile; /* the list being asked for is also the loop's own */
	int64_t reconciled_ms, loaded_ms;
	uint64_t failed_before; /* failed_commits at the start of the turn */
	struct clf_stamp policy_stamp, topo_stamp;
	struct clf_buf packet;
	char in[CLF_WIRE_MAX];
};

static int64_t boot_ms(void)
{
	return clf_clock_system.boot_us(clf_clock_system.arg) / 1000;
}

/* ---- answers */

/* text is stolen; without room for it the peer hears nothing and is hung up on. */
static void answer(struct loop *lo, uint64_t peer, uint64_t seq, char *text, bool commit, bool hangup)
{
	struct clf_peer *p;

	if (lo->nanswers == lo->answers_cap) {
		size_t cap = lo->answers_cap ? 2 * lo->answers_cap : 256;
		void *v = realloc(lo->answers, cap * sizeof *lo->answers);

		if (!v) {
			free(text);
			if ((p = clf_peers_find(&lo->peers, peer)))
				clf_peer_close(&lo->peers, p);
			return;
		}
		lo->answers = v;
		lo->answers_cap = cap;
	}
	lo->answers[lo->nanswers++] = (struct answer){ peer, seq, text, commit, hangup };
}

static void send_answer(struct loop *lo, const struct answer *a, const char *text)
{
	struct clf_peer *p = clf_peers_find(&lo->peers, a->peer);
	struct clf_error why = { 0 };

	if (!p)
		return;
	clf_buf_reset(&lo->packet);
	if (!text || clf_msg_encode(CLF_MSG_REPLY, a->seq, text, strlen(text), &lo->packet, &why)) {
		clf_log(lo->st->sink, CLF_LOG_WARN, "a reply cannot be sent: %s", why.text);
		clf_peer_close(&lo->peers, p);
		return;
	}
	clf_peer_send(&lo->peers, p, lo->packet.data, lo->packet.len);
	if (a->hangup)
		clf_peer_close(&lo->peers, p);
}

/* ---- who waits for a lease */

static void wait_for_lease(struct loop *lo, uint64_t peer, const struct clf_served_reply *r)
{
	struct clf_error full = { .code = CLF_E_NOMEM, .text = "out of memory" };

	if (lo->nleases == lo->leases_cap) {
		size_t cap = lo->leases_cap ? 2 * lo->leases_cap : 64;
		void *v = realloc(lo->leases, cap * sizeof *lo->leases);

		if (!v) {
			answer(lo, peer, r->seq, clf_serve_error(&full, NULL), false, false);
			return;
		}
		lo->leases = v;
		lo->leases_cap = cap;
	}
	lo->leases[lo->nleases] = (struct lease_wait){ .peer = peer, .seq = r->seq, .wait = r->wait };
	memcpy(lo->leases[lo->nleases++].lease, r->lease, sizeof r->lease);
}

static enum clf_net_op op_of(enum clf_serve_wait w)
{
	return w == CLF_WAIT_START ? CLF_NET_OPEN : CLF_NET_CLOSE;
}

/* The engine's word on a lease goes to all who wait for it. */
static void verdict(void *arg, const char *lease, enum clf_net_op op, const struct clf_run_result *res)
{
	struct loop *lo = ((struct clf_state *) arg)->loop;
	size_t keep = 0;

	for (size_t i = 0; i < lo->nleases; i++) {
		struct lease_wait *w = &lo->leases[i];

		if (op_of(w->wait) == op && !strcmp(w->lease, lease))
			answer(lo, w->peer, w->seq, clf_serve_lease(lo->st, lease, w->wait, res), true, false);
		else
			lo->leases[keep++] = *w;
	}
	lo->nleases = keep;
}

/* Nobody is left without an answer: what the engine does not follow any more was not promised. */
static void answer_forgotten(struct loop *lo, const struct clf_error *why)
{
	struct clf_error lost = { .code = CLF_E_IO, .text = "closfoldd lost sight of this lease; ask again" };
	size_t keep = 0;

	for (size_t i = 0; i < lo->nleases; i++) {
		struct lease_wait *w = &lo->leases[i];

		if (clf_run_waits(&lo->st->run, w->lease, op_of(w->wait)))
			lo->leases[keep++] = *w;
		else
			answer(lo, w->peer, w->seq, clf_serve_error(why ? why : &lost, "nothing was granted"), false,
			       false);
	}
	lo->nleases = keep;
}

/* The one place where replies leave: after the commit, or with its failure in their stead. Returns whether all is
 * durable. */
static bool commit_and_answer(struct loop *lo)
{
	struct clf_error why = { 0 };
	bool need = clf_auditlog_pending(lo->st->log) || clf_store_dirty(lo->st->store);
	bool failed = need && clf_state_commit(lo->st, &why);

	/* A commit inside the turn (tick, new policy) may have failed and taken these records with it. */
	if (!failed && lo->st->failed_commits != lo->failed_before) {
		clf_fail(&why, CLF_E_IO, "%.380s", lo->st->log_error);
		failed = true;
	}
	lo->failed_before = lo->st->failed_commits;

	CLF_AUTO_FREE char *error = failed ? clf_serve_error(&why, "nothing was granted or recorded") : NULL;

	if (failed) {
		clf_log(lo->st->sink, CLF_LOG_ERROR, "%s: %zu requests are refused", why.text, lo->nanswers);
		clf_run_forget(&lo->st->run);
	}
	answer_forgotten(lo, failed ? &why : NULL);
	for (size_t i = 0; i < lo->nanswers; i++) {
		struct answer *a = &lo->answers[i];

		if (!lo->st->fenced || !a->commit)
			send_answer(lo, a, failed && a->commit ? error : a->text);
		free(a->text);
	}
	lo->nanswers = 0;
	if (lo->st->fenced)
		lo->stop = true;
	return !failed;
}

/* ---- work beside the loop */

static void ask_jobs(struct loop *lo, bool own)
{
	struct clf_error why = { 0 };

	lo->own_reconcile |= own;
	if (lo->asking_jobs)
		return;
	lo->reconciled_ms = boot_ms();
	if (clf_work_start(CLF_WORK_JOBS, lo->st->conf, NULL, lo->work[1], &why))
		clf_log_error(lo->st->sink, &why);
	else
		lo->asking_jobs = true;
}

static void load(struct loop *lo)
{
	struct clf_error why = { 0 };

	lo->reload = true;
	if (lo->loading)
		return;
	lo->loaded_ms = boot_ms();
	if (clf_work_start(CLF_WORK_INFORCE, lo->st->conf, NULL, lo->work[1], &why)) {
		clf_log_error(lo->st->sink, &why);
		return;
	}
	lo->loading = true;
	lo->reload = false;
}

static void check_files(struct loop *lo)
{
	struct clf_stamp p = clf_stamp_of(lo->st->conf->policy), t = clf_stamp_of(lo->st->conf->topology);

	if (lo->reload || !clf_stamp_same(&p, &lo->policy_stamp) || !clf_stamp_same(&t, &lo->topo_stamp) ||
	    (*lo->st->inforce_error && boot_ms() - lo->loaded_ms >= RETRY_MS))
		load(lo);
}

/* Everybody who waits for this kind of work, with what text_for makes for them. */
static void answer_waiting(struct loop *lo, bool policy,
			   char *(*text_for)(struct loop *lo, const struct waiting *w, void *arg), void *arg)
{
	size_t keep = 0;

	for (size_t i = 0; i < lo->nwaiting; i++) {
		if (lo->waiting[i].policy == policy)
			answer(lo, lo->waiting[i].peer, lo->waiting[i].seq, text_for(lo, &lo->waiting[i], arg), true,
			       false);
		else
			lo->waiting[keep++] = lo->waiting[i];
	}
	lo->nwaiting = keep;
}

static char *reconcile_text(struct loop *lo, const struct waiting *w, void *arg)
{
	const struct clf_work *done = arg;

	return clf_serve_reconcile(lo->st, &done->out, &done->error, boot_ms() - lo->reconciled_ms, w->dry_run);
}

static char *reload_text(struct loop *lo, const struct waiting *w, void *arg)
{
	struct clf_error e = { .code = CLF_E_PARSE };
	const struct clf_state *st = lo->st;
	char *s;

	if (*st->inforce_error) {
		snprintf(e.text, sizeof e.text, "%.380s", st->inforce_error);
		return clf_serve_error(&e, st->inforce ? "the old policy stays in force" : "no policy is in force");
	}
	return asprintf(&s, "{\"ok\":true,\"policy_sha256\":\"%s\"}", st->inforce ? st->inforce->policy_sha256 : "") < 0
		       ? NULL
		       : s;
}

static void jobs_known(struct loop *lo, struct clf_work *w)
{
	lo->asking_jobs = false;
	answer_waiting(lo, false, reconcile_text, w);
	if (lo->own_reconcile)
		free(clf_serve_reconcile(lo->st, &w->out, &w->error, boot_ms() - lo->reconciled_ms, false));
	lo->own_reconcile = false;
}

static void loaded(struct loop *lo, struct clf_work *w)
{
	lo->loading = false;
	if (!w->inforce) {
		clf_log_error(lo->st->sink, &w->error);
		return;
	}
	lo->policy_stamp = w->inforce->policy_stamp;
	lo->topo_stamp = w->inforce->topo_stamp;
	clf_state_take_inforce(lo->st, CLF_STEAL(w->inforce));
	if (!lo->reload)
		answer_waiting(lo, true, reload_text, NULL);
}

/* ---- fabrics */

static struct fabric_group *group_of(struct loop *lo, uint64_t id)
{
	for (size_t i = 0; i < lo->ngroups; i++)
		if (lo->groups[i].id == id)
			return &lo->groups[i];
	return NULL;
}

/* What does not fit into a packet lies in a file that only root and our own user read. */
static char *group_text(struct loop *lo, const struct fabric_group *g)
{
	char *text = clf_serve_fabrics(g->answers), path[PATH_MAX];
	struct clf_error why = { 0 };

	if (!text || strlen(text) < CLF_WIRE_MAX - 1024)
		return text;
	snprintf(path, sizeof path, "%s/%s.json", lo->st->conf->runtime_dir, g->op);
	if (clf_path_write_atomic(path, 0600, text, strlen(text), &why)) {
		free(text);
		return clf_serve_error(&why, NULL);
	}
	free(text);
	return asprintf(&text, "{\"ok\":true,\"file\":\"%s\"}", path) < 0 ? NULL : text;
}

static void group_answer(struct loop *lo, uint64_t id, json_t *one /* stolen */)
{
	struct fabric_group *g = group_of(lo, id);

	if (!g || json_array_append_new(g->answers, one) || --g->left)
		return;
	answer(lo, g->peer, g->seq, group_text(lo, g), false, false);
	json_decref(g->answers);
	*g = lo->groups[--lo->ngroups];
}

static json_t *fabric_answer(const struct clf_run_fabric *f, const struct clf_error *e, json_t *out)
{
	return json_pack("{s:s,s:s,s:b,s:s,s:s,s:O*}", "fabric", f->conf->name, "driver", f->conf->driver, "ok",
			 !e->code, "code", clf_code_name(e->code), "text", e->text, "out", out);
}

static enum clf_fab_what what_of(const char *op)
{
	return !strcmp(op, "fabric.read")    ? CLF_FAB_READ
	       : !strcmp(op, "fabric.check") ? CLF_FAB_CHECK
	       : !strcmp(op, "fabric.plan")  ? CLF_FAB_PLAN
					     : CLF_FAB_AUDIT;
}

static void ask_fabrics(struct loop *lo, const struct clf_peer *p, const struct clf_served_reply *r)
{
	struct clf_fab *f = &lo->st->fab;
	size_t one = clf_fab_find(f, r->lease), n = *r->lease ? 1 : f->n;
	struct fabric_group *g = &lo->groups[lo->ngroups];
	struct clf_error why = { 0 };

	if (!f->n)
		clf_fail(&why, CLF_E_NOTFOUND,
			 "no fabric is configured ('fabrics' in closfold.conf): no network is closed");
	else if (*r->lease && one == f->n)
		clf_fail(&why, CLF_E_NOTFOUND, "no fabric '%s'", r->lease);
	else if (lo->ngroups == sizeof lo->groups / sizeof *lo->groups)
		clf_fail(&why, CLF_E_EXHAUSTED, "too many such requests wait already");
	if (why.code) {
		answer(lo, p->id, r->seq, clf_serve_error(&why, NULL), false, false);
		return;
	}
	lo->ngroups++;
	*g = (struct fabric_group){
		.id = ++lo->next_group, .peer = p->id, .seq = r->seq, .left = n, .answers = json_array()
	};
	memcpy(g->op, r->later_op, sizeof g->op);
	for (size_t i = *r->lease ? one : 0; n--; i++) {
		struct clf_fab_ask ask = { what_of(r->later_op), lo->next_group, p->id, r->seq };
		struct clf_error full = { 0 };

		if (clf_fab_ask(f, i, &ask, &full))
			group_answer(lo, ask.group, fabric_answer(&f->run[i], &full, NULL));
	}
}

static void fabric_done(struct loop *lo, struct clf_fab_call *c)
{
	struct clf_error why = { 0 };

	if (clf_fab_done(&lo->st->fab, c, &lo->st->run, &why))
		clf_log_error(lo->st->sink, &why);
	if (c->group)
		group_answer(lo, c->group, fabric_answer(&lo->st->fab.run[c->fabric], &c->error, c->out));
}

/* Hand over what is durable now. */
static void pump_fabrics(struct loop *lo)
{
	struct clf_state *st = lo->st;

	for (size_t i = 0; i < st->fab.n && !st->fenced; i++) {
		struct clf_error why = { 0 };
		struct clf_fab_call *c = clf_fab_next(&st->fab, i, &st->run, boot_ms(), &why);

		if (c && clf_work_start(CLF_WORK_FABRIC, st->conf, c, lo->work[1], &why)) {
			c->error = why;
			fabric_done(lo, c);
			clf_fab_call_destroy(c);
		}
		if (why.code)
			clf_log_error(st->sink, &why);
	}
}

static void work_done(struct loop *lo)
{
	struct clf_work *w;

	while (read(lo->work[0], &w, sizeof w) == (ssize_t) sizeof w) {
		if (w->kind == CLF_WORK_JOBS)
			jobs_known(lo, w);
		else if (w->kind == CLF_WORK_FABRIC)
			fabric_done(lo, w->fabric);
		else
			loaded(lo, w);
		clf_work_destroy(w);
	}
}

/* ---- peers */

static void later(struct loop *lo, const struct clf_peer *p, const struct clf_served_reply *r)
{
	bool policy = !strcmp(r->later_op, "policy.reload");
	struct clf_error busy = { .code = CLF_E_EXHAUSTED, .text = "too many such requests wait already" };

	if (lo->nwaiting == sizeof lo->waiting / sizeof *lo->waiting) {
		answer(lo, p->id, r->seq, clf_serve_error(&busy, NULL), false, false);
		return;
	}
	lo->waiting[lo->nwaiting++] = (struct waiting){ p->id, r->seq, r->dry_run, policy };
	if (policy)
		load(lo);
	else
		ask_jobs(lo, false);
}

static void drain(struct loop *lo, struct clf_peer *p)
{
	for (unsigned i = 0; i < PACKETS_A_PEER && p->fd >= 0 && clf_auditlog_pending(lo->st->log) < BATCH_BYTES; i++) {
		struct clf_served_reply r;
		ssize_t n = clf_peer_receive(p, lo->in, sizeof lo->in);

		if (n == 0)
			return;
		if (n < 0) {
			clf_peer_close(&lo->peers, p);
			return;
		}
		clf_serve(lo->st, p, lo->in, (size_t) n, &r);
		if (r.how == CLF_SERVED_LATER)
			later(lo, p, &r);
		else if (r.how == CLF_SERVED_FABRIC)
			ask_fabrics(lo, p, &r);
		else if (r.how == CLF_SERVED_LEASE)
			wait_for_lease(lo, p->id, &r), free(r.text);
		else if (r.how != CLF_SERVED_NOTHING)
			answer(lo, p->id, r.seq, r.text, r.how == CLF_SERVED_COMMIT, r.how == CLF_SERVED_HANGUP);
		if (r.how == CLF_SERVED_HANGUP)
			return;
	}
}

static void peer_ready(struct loop *lo, uint64_t id, uint32_t events)
{
	struct clf_peer *p = clf_peers_find(&lo->peers, id);

	if (p && events & EPOLLOUT)
		clf_peer_flush(&lo->peers, p);
	if (p && p->fd >= 0 && events & EPOLLIN)
		drain(lo, p);
	if (p && p->fd >= 0 && events & (EPOLLHUP | EPOLLERR) && !(events & EPOLLIN))
		clf_peer_close(&lo->peers, p);
}

/* ---- time and signals */

static void tick(struct loop *lo)
{
	uint64_t ticks;

	if (read(lo->timer, &ticks, sizeof ticks) < 0)
		return;
	clf_agents_tick(lo->st->agents, boot_ms());
	clf_fab_tick(&lo->st->fab);
	clf_state_tick(lo->st);
	check_files(lo);
	if (boot_ms() - lo->ticked_ms >= RELEASE_MS) {
		struct clf_error why = { 0 };

		lo->ticked_ms = boot_ms();
		if (clf_run_tick(&lo->st->run, &why))
			clf_log_error(lo->st->sink, &why);
	}
	if (lo->st->run.hurry || boot_ms() - lo->reconciled_ms >= lo->st->conf->reconcile_s * INT64_C(1000))
		ask_jobs(lo, true);
	lo->st->run.hurry = false;
}

static void on_signal(struct loop *lo)
{
	struct signalfd_siginfo s;

	while (read(lo->signals, &s, sizeof s) == (ssize_t) sizeof s) {
		if (s.ssi_signo == SIGHUP)
			load(lo);
		else
			lo->stop = true;
	}
}

static int add(struct loop *lo, int fd, uint64_t id)
{
	struct epoll_event e = { .events = EPOLLIN, .data.u64 = id };

	return epoll_ctl(lo->epoll, EPOLL_CTL_ADD, fd, &e);
}

/* A node's ports as it sees them itself. */
static void report(void *arg, const char *node, const json_t *facts)
{
	struct clf_state *st = arg;

	if (facts)
		clf_fab_learn(&st->fab, node, facts);
}

static int set_up(struct loop *lo, struct clf_error *err)
{
	const struct itimerspec second = { .it_interval = { .tv_sec = 1 }, .it_value = { .tv_sec = 1 } };
	char path[PATH_MAX];
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, NULL);
	lo->epoll = epoll_create1(EPOLL_CLOEXEC);
	lo->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	lo->timer = timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK);
	if (lo->epoll < 0 || lo->signals < 0 || lo->timer < 0 || pipe2(lo->work, O_CLOEXEC) ||
	    fcntl(lo->work[0], F_SETFL, O_NONBLOCK) || timerfd_settime(lo->timer, 0, &second, NULL) ||
	    add(lo, lo->signals, FD_SIGNAL) || add(lo, lo->timer, FD_TIMER) || add(lo, lo->work[0], FD_WORK))
		return clf_fail(err, CLF_E_IO, "cannot set up the loop: %s", strerror(errno));
	if (snprintf(path, sizeof path, "%s/closfoldd.sock", lo->st->conf->runtime_dir) >= (int) sizeof path)
		return clf_fail(err, CLF_E_INVALID, "path of the socket is too long");
	if (clf_agents_open(&lo->st->agents, lo->st->conf, lo->st->sink, lo->epoll, AGENTS, err))
		return -1;
	clf_agents_on_report(lo->st->agents, report, lo->st);
	if (*lo->st->conf->listen)
		lo->st->run.verify_nodes = clf_last_rungs;
	return clf_peers_open(&lo->peers, path, lo->st->slurm_uid, lo->epoll, err);
}

static void turn(struct loop *lo)
{
	struct epoll_event ev[128];
	int n = epoll_wait(lo->epoll, ev, 128, -1);

	for (int i = 0; i < n; i++) {
		if (ev[i].data.u64 & AGENTS) {
			clf_agents_ready(lo->st->agents, ev[i].data.u64, ev[i].events);
			continue;
		}
		switch (ev[i].data.u64) {
		case FD_LISTENER:
			clf_peers_accept(&lo->peers, lo->st->sink);
			break;
		case FD_SIGNAL:
			on_signal(lo);
			break;
		case FD_TIMER:
			tick(lo);
			break;
		case FD_WORK:
			work_done(lo);
			break;
		default:
			peer_ready(lo, ev[i].data.u64, ev[i].events);
		}
	}
	if (commit_and_answer(lo))
		pump_fabrics(lo);
	clf_peers_sweep(&lo->peers);
}

/* What peers had sent before we stopped listening is served: one turn of everybody, then no more. */
static void last_turn(struct loop *lo)
{
	for (size_t i = 0; i < lo->peers.n; i++)
		if (lo->peers.v[i]->fd >= 0)
			drain(lo, lo->peers.v[i]);
	(void) commit_and_answer(lo);
}

static void tear_down(struct loop *lo)
{
	clf_agents_close(lo->st->agents);
	lo->st->agents = NULL;
	clf_peers_close(&lo->peers);
	free(lo->answers);
	free(lo->leases);
	while (lo->ngroups)
		json_decref(lo->groups[--lo->ngroups].answers);
	clf_buf_done(&lo->packet);
	clf_closep(&lo->epoll);
	clf_closep(&lo->signals);
	clf_closep(&lo->timer);
	/* A thread may still be at work: its end of the pipe stays until the process ends. */
	clf_closep(&lo->work[0]);
}

int clf_loop_run(struct clf_state *st, struct clf_error *err)
{
	CLF_AUTO_FREE struct loop *lo = calloc(1, sizeof *lo);
	struct clf_inforce *first;
	int rc;

	if (!lo)
		return clf_fail(err, CLF_E_NOMEM, "out of memory");
	*lo = (struct loop){
		.st = st, .epoll = -1, .signals = -1, .timer = -1, .work = { -1, -1 }, .packet.max = CLF_WIRE_MAX + 1
	};
	lo->peers.listener = -1;
	st->loop = lo;
	st->run.verdict = verdict;
	/* The policy is in force before the first question comes. */
	first = clf_inforce_load(st->conf);
	if (first) {
		lo->policy_stamp = first->policy_stamp;
		lo->topo_stamp = first->topo_stamp;
		clf_state_take_inforce(st, first);
	}
	rc = set_up(lo, err);
	lo->failed_before = st->failed_commits;
	if (!rc) {
		clf_log(st->sink, CLF_LOG_INFO, "ready at %s/closfoldd.sock", st->conf->runtime_dir);
		ask_jobs(lo, true);
		/* what an earlier closfoldd had in hand: finished, or proven again */
		rc = clf_run_tick(&st->run, err);
		for (size_t i = 0; !rc && i < st->fab.n; i++)
			rc = clf_run_recheck(&st->run, i, err);
	}
	while (!rc && !lo->stop)
		turn(lo);
	if (!rc && !st->fenced)
		last_turn(lo);
	tear_down(lo);
	if (!rc && st->fenced)
		rc = clf_fail(err, CLF_E_CONFLICT, "another closfoldd has taken over '%s': ended without writing",
			      st->conf->state_dir);
	return rc;
}
