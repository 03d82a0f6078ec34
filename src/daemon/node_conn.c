/* SPDX-License-Identifier: GPL-2.0-or-later */
/* node_conn.c - one connection to closfoldd, made again whenever it ends. */
#include <errno.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/random.h>

#include "daemon/node_private.h"

/* Half to all of the wait, so that nodes do not come back at once. */
static int64_t jitter(int64_t ms)
{
	uint32_t r = 0;

	(void) !getrandom(&r, sizeof r, GRND_NONBLOCK);
	return ms / 2 + (int64_t) r % (ms / 2 + 1);
}

/* Say it once; then wait and try again. */
static void down(struct clf_node_loop *n, const struct clf_error *why)
{
	bool news = n->state == NODE_UP || strcmp(n->last.text, why->text) != 0;

	clf_log(n->sink, news ? CLF_LOG_WARN : CLF_LOG_DEBUG, "closfoldd at %s: %s; trying again", n->conf->controller,
		why->text);
	n->last = *why;
	clf_link_close(&n->link);
	n->state = NODE_DOWN;
	n->retry_at_ms = clf_node_now() + jitter(n->retry_ms);
	n->retry_ms = 2 * n->retry_ms < CLF_NODE_RETRY_MAX ? 2 * n->retry_ms : CLF_NODE_RETRY_MAX;
}

static void fail_errno(struct clf_node_loop *n, const char *what, int e)
{
	struct clf_error why = { 0 };

	clf_fail(&why, CLF_E_REMOTE, "%s: %s", what, strerror(e));
	down(n, &why);
}

/* ---- name, connect */

static void run_names(struct clf_job *job)
{
	struct names_job *j = (struct names_job *) job;

	(void) !clf_address_resolve(j->text, false, &j->addresses, &j->error);
}

static void free_names(struct clf_job *job)
{
	struct names_job *j = (struct names_job *) job;

	free(j->text);
	free(j);
}

/* Asked each time: the controller's address may have changed. */
void clf_node_connect(struct clf_node_loop *n)
{
	struct names_job *j = calloc(1, sizeof *j);
	struct clf_error why = { 0 };

	if (!j || !(j->text = strdup(n->conf->controller))) {
		free(j);
		clf_fail(&why, CLF_E_NOMEM, "out of memory");
	} else {
		j->job = (struct clf_job){ .run = run_names, .free_job = free_names };
		(void) !clf_helper_put(n->names, &j->job, &why);
	}
	if (why.code)
		down(n, &why);
	else
		n->state = NODE_RESOLVING;
}

static void greet(struct clf_node_loop *n)
{
	struct clf_error why = { 0 };
	int fd = n->link.fd;
	json_auto_t *m = NULL;

	n->link.fd = -1;
	epoll_ctl(n->epoll, EPOLL_CTL_DEL, fd, NULL);
	n->state = NODE_GREETING;
	if (clf_link_init(&n->link, &n->env, fd, n->next_id++, &why) || clf_link_nonce(n->nonce, &why)) {
		down(n, &why);
		return;
	}
	m = json_pack("{s:s,s:s,s:s}", "op", "hello", "node", n->name, "nonce", n->nonce);
	if (!m)
		clf_fail(&why, CLF_E_NOMEM, "out of memory");
	if (!m || clf_link_send(&n->link, m, NULL, &why))
		down(n, &why);
}

static void try_address(struct clf_node_loop *n)
{
	const struct sockaddr_storage *a = &n->addresses.v[n->address];
	struct epoll_event e = { .events = EPOLLOUT, .data.u64 = n->next_id };
	int fd = socket(a->ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), one = 1;

	if (fd < 0) {
		fail_errno(n, "cannot make a socket", errno);
		return;
	}
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
	n->state = NODE_CONNECTING;
	n->link = (struct clf_link){ .fd = fd, .id = n->next_id++ };
	if ((connect(fd, (const struct sockaddr *) a, n->addresses.len[n->address]) && errno != EINPROGRESS) ||
	    epoll_ctl(n->epoll, EPOLL_CTL_ADD, fd, &e))
		fail_errno(n, "cannot connect", errno);
}

static void connected(struct clf_node_loop *n)
{
	int e = 0;
	socklen_t len = sizeof e;

	if (getsockopt(n->link.fd, SOL_SOCKET, SO_ERROR, &e, &len))
		e = errno;
	if (!e) {
		greet(n);
		return;
	}
	if (++n->address == n->addresses.n) {
		fail_errno(n, "cannot connect", e);
		return;
	}
	clf_link_close(&n->link);
	try_address(n);
}

void clf_node_conn_names(struct clf_node_loop *n)
{
	struct clf_job *job = clf_helper_take(n->names);
	struct names_job *j = (struct names_job *) job;

	if (!job)
		return;
	if (j->error.code) {
		down(n, &j->error);
	} else {
		n->addresses = j->addresses;
		n->address = 0;
		n->since_ms = clf_node_now();
		try_address(n);
	}
	job->free_job(job);
}

/* ---- messages */

static void welcome(struct clf_node_loop *n, const json_t *m)
{
	const char *nonce = json_string_value(json_object_get(m, "nonce"));
	const char *session = json_string_value(json_object_get(m, "session"));
	struct clf_error why = { 0 };

	/* The nonce was made for this connection: this is no welcome of an earlier one. */
	if (strcmp(json_string_value(json_object_get(m, "op")), "welcome") != 0 || !nonce ||
	    strcmp(nonce, n->nonce) != 0 || !session || strlen(session) != CLF_LINK_SESSION) {
		clf_fail(&why, CLF_E_INSECURE, "no welcome to this connection");
		down(n, &why);
		return;
	}
	strcpy(n->link.session, session);
	n->state = NODE_UP;
	n->retry_ms = CLF_NODE_RETRY_MS;
	n->last = (struct clf_error){ 0 };
	clf_log(n->sink, CLF_LOG_INFO, "connected to closfoldd at %s as node '%s'", n->conf->controller, n->name);
	clf_node_up(n);
}

static void job_done(struct clf_node_loop *n, struct clf_link_job *j)
{
	json_auto_t *m = NULL;
	struct clf_auth_who who;
	struct clf_error why = { 0 };
	int rc;

	if (n->state < NODE_GREETING || j->link != n->link.id)
		return; /* of a connection that has ended */
	rc = clf_link_done(&n->link, j, &m, &who, &why);
	if (rc > 0 && !json_string_value(json_object_get(m, "op")))
		rc = clf_fail(&why, CLF_E_PARSE, "message without op");
	if (rc < 0) {
		down(n, &why);
		return;
	}
	if (!rc)
		return;
	n->heard_ms = clf_node_now();
	if (n->state == NODE_GREETING)
		welcome(n, m);
	else
		clf_node_message(n, m);
}

void clf_node_conn_jobs(struct clf_node_loop *n)
{
	struct clf_job *job;

	while ((job = clf_helper_take(n->munge))) {
		job_done(n, (struct clf_link_job *) job);
		job->free_job(job);
	}
}

void clf_node_conn_ready(struct clf_node_loop *n, uint64_t id, uint32_t events)
{
	struct clf_error why = { 0 };

	if (n->link.fd < 0 || id != n->link.id)
		return;
	if (n->state == NODE_CONNECTING)
		connected(n);
	else if (clf_link_ready(&n->link, events, &why))
		down(n, &why);
}

void clf_node_send(struct clf_node_loop *n, json_t *message)
{
	struct clf_error why = { 0 };

	if (n->state == NODE_UP && clf_link_send(&n->link, message, NULL, &why))
		down(n, &why);
}

int64_t clf_node_conn_tick(struct clf_node_loop *n, int64_t now_ms)
{
	struct clf_error why = { 0 };

	if (n->state == NODE_DOWN && now_ms >= n->retry_at_ms)
		clf_node_connect(n);
	else if (n->state > NODE_RESOLVING && n->state < NODE_UP && now_ms - n->since_ms > CLF_NODE_GREET_MS)
		clf_fail(&why, CLF_E_TIMEOUT, "no %s in %d s", n->state == NODE_GREETING ? "welcome" : "connection",
			 CLF_NODE_GREET_MS / 1000);
	else if (n->state == NODE_UP && now_ms - n->heard_ms > CLF_NODE_SILENT_MS)
		clf_fail(&why, CLF_E_TIMEOUT, "silent for %d s", CLF_NODE_SILENT_MS / 1000);
	if (why.code)
		down(n, &why);
	return n->state == NODE_DOWN ? n->retry_at_ms : now_ms + 1000;
}

void clf_node_conn_close(struct clf_node_loop *n)
{
	clf_link_close(&n->link);
	n->state = NODE_DOWN;
}
