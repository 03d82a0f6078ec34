/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/agents.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/timerfd.h>

#include "base/clock.h"
#include "daemon/address.h"
#include "daemon/agents_private.h"

#define ACCEPT_A_TURN 64
#define JOBS_A_TURN   256
#define SLOT_BITS     20

/* Low bits of ids; slots of peers come after. */
enum { ID_LISTENER, ID_HELPER, ID_TIMER, ID_PEERS };

int64_t clf_agents_now(void)
{
	return clf_clock_system.boot_us(NULL) / 1000;
}

void clf_agents_say(struct clf_agents *a, enum clf_log_level level, const char *fmt, ...)
{
	char text[600];
	va_list ap;

	if (a->lines >= CLF_LOG_LINES_MINUTE) {
		a->kept_back++;
		return;
	}
	a->lines++;
	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	clf_log(a->sink, level, "%s", text);
}

static int watch(struct clf_agents *a, int op, int fd, uint64_t id, uint32_t events)
{
	struct epoll_event e = { .events = events, .data.u64 = a->id_base | id };

	return epoll_ctl(a->env.epoll, op, fd, &e);
}

/* ---- connections */

void clf_agents_known(struct clf_agents *a, struct peer *p)
{
	for (size_t i = 0; i < a->nunknown; i++)
		if (a->unknown[i] == p) {
			a->unknown[i] = a->unknown[--a->nunknown];
			return;
		}
}

static void address_text(const struct peer *p, char text[INET6_ADDRSTRLEN])
{
	if (IN6_IS_ADDR_V4MAPPED(&p->addr))
		inet_ntop(AF_INET, p->addr.s6_addr + 12, text, INET6_ADDRSTRLEN);
	else
		inet_ntop(AF_INET6, &p->addr, text, INET6_ADDRSTRLEN);
}

void clf_agents_drop(struct clf_agents *a, struct peer *p, const struct clf_error *why)
{
	struct node *n = p->state == PEER_UP ? clf_agents_node(a, p->node) : NULL;

	if (n && n->peer == p)
		n->peer = NULL;
	clf_agents_known(a, p);
	a->peers[p->slot] = NULL;
	a->nused--;
	clf_link_close(&p->link);
	free(p->node);
	free(p);
	if (n)
		clf_asks_lost(n, why);
}

/* Dropped for what it did, with a word in the log. A plain end of a connection is no news but for a node. */
static void refuse(struct clf_agents *a, struct peer *p, const struct clf_error *why)
{
	char from[INET6_ADDRSTRLEN];
	bool hung_up = why->code == CLF_E_REMOTE;

	address_text(p, from);
	a->refused += !hung_up;
	if (p->state == PEER_UP)
		clf_agents_say(a, hung_up ? CLF_LOG_INFO : CLF_LOG_WARN, "node '%s' at %s: %s", p->node, from,
			       why->text);
	else
		clf_agents_say(a, hung_up ? CLF_LOG_DEBUG : CLF_LOG_WARN, "refused %s%s%s: %s", from,
			       p->node ? " as node " : "", p->node ? p->node : "", why->text);
	clf_agents_drop(a, p, why);
}

static int slot_make(struct clf_agents *a, uint32_t *slot)
{
	/* A free slot behind the last one given, so that a search is short. */
	for (size_t i = 0; i < a->npeers && a->nused < a->npeers; i++) {
		size_t k = (a->generation + i) % a->npeers;

		if (!a->peers[k]) {
			*slot = (uint32_t) k;
			return 0;
		}
	}
	if (a->npeers >= CLF_AGENTS_MAX + CLF_UNKNOWN_MAX)
		return -1;

	size_t n = a->npeers ? 2 * a->npeers : 64;
	void *v = realloc(a->peers, n * sizeof *a->peers);

	if (!v)
		return -1;
	a->peers = v;
	memset(a->peers + a->npeers, 0, (n - a->npeers) * sizeof *a->peers);
	*slot = (uint32_t) a->npeers;
	a->npeers = n;
	return 0;
}

static bool admit(const struct clf_agents *a, const struct in6_addr *from)
{
	size_t same = 0;

	for (size_t i = 0; i < a->nunknown; i++)
		same += IN6_ARE_ADDR_EQUAL(&a->unknown[i]->addr, from);
	return a->nunknown < CLF_UNKNOWN_MAX && same < CLF_UNKNOWN_ADDRESS &&
	       a->nused < CLF_AGENTS_MAX + CLF_UNKNOWN_MAX;
}

/* fd is stolen. */
static void take_in(struct clf_agents *a, int fd, const struct in6_addr *from)
{
	struct peer *p = NULL;
	uint32_t slot;
	int one = 1;

	if (!admit(a, from) || slot_make(a, &slot) || !(p = calloc(1, sizeof *p))) {
		a->refused++;
		close(fd);
		return;
	}
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
	p->slot = slot;
	p->addr = *from;
	p->since_ms = p->heard_ms = clf_agents_now();
	if (clf_link_init(&p->link, &a->env, fd,
			  a->id_base | ++a->generation << SLOT_BITS | (slot + (unsigned) ID_PEERS), NULL)) {
		free(p);
		return;
	}
	a->peers[slot] = p;
	a->nused++;
	a->unknown[a->nunknown++] = p;
}

static void accept_some(struct clf_agents *a)
{
	for (int i = 0; i < ACCEPT_A_TURN; i++) {
		struct sockaddr_storage s;
		socklen_t len = sizeof s;
		struct in6_addr from;
		int fd = accept4(a->listener, (struct sockaddr *) &s, &len, SOCK_CLOEXEC | SOCK_NONBLOCK);

		if (fd >= 0) {
			clf_address_in6(&s, &from);
			take_in(a, fd, &from);
			continue;
		}
		if (errno == EINTR || errno == ECONNABORTED)
			continue;
		if (errno == EAGAIN || errno == EWOULDBLOCK)
			return;
		/* Out of descriptors: a listener that stays ready would spin the loop. */
		clf_agents_say(a, CLF_LOG_WARN, "cannot accept a node daemon: %s", strerror(errno));
		a->deaf = !watch(a, EPOLL_CTL_MOD, a->listener, ID_LISTENER, 0);
		return;
	}
}

static struct peer *find(const struct clf_agents *a, uint64_t id)
{
	uint64_t k = (id & ((UINT64_C(1) << SLOT_BITS) - 1)) - ID_PEERS;
	struct peer *p = k < a->npeers ? a->peers[k] : NULL;

	return p && p->link.id == id ? p : NULL;
}

/* ---- events */

static void job_done(struct clf_agents *a, struct clf_link_job *j)
{
	struct peer *p = find(a, j->link);
	json_auto_t *m = NULL;
	struct clf_auth_who who;
	struct clf_error why = { 0 };
	int rc;

	a->munged = (struct clf_error){ 0 };
	if (j->job.late || j->error.code == CLF_E_REMOTE)
		clf_fail(&a->munged, CLF_E_REMOTE, "%s", j->job.late ? "munged does not answer" : j->error.text);
	if (!p)
		return;
	rc = clf_link_done(&p->link, j, &m, &who, &why);
	if (rc > 0)
		rc = clf_agents_message(a, p, m, &who, &why);
	if (rc < 0)
		refuse(a, p, &why);
}

static void jobs_done(struct clf_agents *a)
{
	struct clf_job *job;

	for (int i = 0; i < JOBS_A_TURN && (job = clf_helper_take(a->env.helper)); i++) {
		job_done(a, (struct clf_link_job *) job);
		job->free_job(job);
	}
}

static void timer(struct clf_agents *a)
{
	uint64_t n;

	if (read(a->timer, &n, sizeof n) == (ssize_t) sizeof n)
		clf_asks_due(a, clf_agents_now());
}

void clf_agents_ready(struct clf_agents *a, uint64_t id, uint32_t events)
{
	struct clf_error why = { 0 };
	struct peer *p;

	switch (id ^ a->id_base) {
	case ID_LISTENER:
		accept_some(a);
		return;
	case ID_HELPER:
		jobs_done(a);
		return;
	case ID_TIMER:
		timer(a);
		return;
	}
	p = find(a, id);
	if (p && clf_link_ready(&p->link, events, &why))
		refuse(a, p, &why);
}

static void check_times(struct clf_agents *a, struct peer *p, int64_t now_ms)
{
	struct clf_error why = { 0 };

	if (p->state != PEER_UP && now_ms - p->since_ms > CLF_UNKNOWN_MS)
		clf_fail(&why, CLF_E_TIMEOUT, "has not shown who it is in %d s", CLF_UNKNOWN_MS / 1000);
	else if (now_ms - p->heard_ms > CLF_AGENTS_STALE_MS)
		clf_fail(&why, CLF_E_TIMEOUT, "silent for %d s", CLF_AGENTS_STALE_MS / 1000);
	if (why.code)
		refuse(a, p, &why);
}

void clf_agents_tick(struct clf_agents *a, int64_t now_ms)
{
	for (size_t i = 0; i < a->npeers; i++)
		if (a->peers[i])
			check_times(a, a->peers[i], now_ms);
	clf_agents_expire(a, now_ms);
	if (a->deaf)
		a->deaf = watch(a, EPOLL_CTL_MOD, a->listener, ID_LISTENER, EPOLLIN) != 0;
	if (now_ms - a->minute_ms < 60000)
		return;
	if (a->kept_back)
		clf_log(a->sink, CLF_LOG_WARN, "node daemons: %u more messages in the last minute", a->kept_back);
	a->minute_ms = now_ms;
	a->lines = a->kept_back = 0;
}

/* ---- knowledge */

const json_t *clf_agents_facts(const struct clf_agents *a, const char *node, int64_t *age_ms)
{
	const struct node *n = clf_agents_node(a, node);
	int64_t age = n ? clf_agents_now() - n->facts_ms : 0;

	if (!n || !n->facts || age > CLF_AGENTS_STALE_MS)
		return NULL;
	if (age_ms)
		*age_ms = age;
	return n->facts;
}

const char *clf_agents_next(const struct clf_agents *a, size_t *i)
{
	while (*i < a->nnodes) {
		const struct node *n = a->nodes[(*i)++];

		if (clf_agents_facts(a, n->name, NULL))
			return n->name;
	}
	return NULL;
}

void clf_agents_on_report(struct clf_agents *a, clf_agents_report_f *fn, void *arg)
{
	a->report = fn;
	a->report_arg = arg;
}

json_t *clf_agents_status(const struct clf_agents *a)
{
	size_t fresh = 0, connected = 0, waiting = clf_helper_waiting(a->env.helper);
	json_t *munge, *out;

	for (size_t i = 0; i < a->nnodes; i++) {
		connected += a->nodes[i]->peer != NULL;
		fresh += clf_agents_facts(a, a->nodes[i]->name, NULL) != NULL;
	}
	munge = json_pack("{s:b,s:I}", "ok", !a->munged.code, "waiting", (json_int_t) waiting);
	if (munge && a->munged.code)
		json_object_set_new(munge, "text", json_string(a->munged.text));
	out = json_pack("{s:s,s:i,s:I,s:I,s:I,s:o}", "listen", a->conf->listen, "port", a->port, "connected",
			(json_int_t) connected, "fresh", (json_int_t) fresh, "refused", (json_int_t) a->refused,
			"munge", munge);
	return out;
}

/* ---- life */

static int set_up(struct clf_agents *a, struct clf_error *err)
{
	a->timer = timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK);
	if (a->timer < 0 || watch(a, EPOLL_CTL_ADD, a->timer, ID_TIMER, EPOLLIN))
		return clf_fail(err, CLF_E_IO, "cannot set up a timer: %s", strerror(errno));
	if (clf_helper_open(&a->env.helper, 4 * CLF_AGENTS_MAX, err))
		return -1;
	if (watch(a, EPOLL_CTL_ADD, clf_helper_fd(a->env.helper), ID_HELPER, EPOLLIN))
		return clf_fail(err, CLF_E_IO, "epoll: %s", strerror(errno));
	if (!*a->conf->listen)
		return 0;
	a->listener = clf_address_listen(a->conf->listen, &a->port, err);
	if (a->listener < 0)
		return -1;
	if (watch(a, EPOLL_CTL_ADD, a->listener, ID_LISTENER, EPOLLIN))
		return clf_fail(err, CLF_E_IO, "epoll: %s", strerror(errno));
	clf_log(a->sink, CLF_LOG_INFO, "node daemons are heard at %s", a->conf->listen);
	return 0;
}

int clf_agents_open(struct clf_agents **out, const struct clf_conf *conf, const struct clf_log *sink, int epoll,
		    uint64_t id_base, struct clf_error *err)
{
	CLF_CLEANUP(clf_agents_closep) struct clf_agents *a = calloc(1, sizeof *a);

	if (!a)
		return clf_fail(err, CLF_E_NOMEM, "out of memory");
	*a = (struct clf_agents){ .conf = conf, .sink = sink, .id_base = id_base, .listener = -1, .timer = -1 };
	a->env = (struct clf_link_env){ .epoll = epoll,
					.munge_socket = conf->munge_socket,
					.side = CLF_LINK_CONTROLLER };
	if (set_up(a, err))
		return -1;
	*out = CLF_STEAL(a);
	return 0;
}

bool clf_agents_closing(const struct clf_agents *a)
{
	return a->closing;
}

void clf_agents_close(struct clf_agents *a)
{
	struct clf_error why = { 0 };

	if (!a)
		return;
	a->closing = true;
	clf_fail(&why, CLF_E_REMOTE, "closfoldd is ending");
	clf_asks_close(a, &why);
	for (size_t i = 0; i < a->npeers; i++)
		if (a->peers[i])
			clf_agents_drop(a, a->peers[i], &why);
	clf_agents_nodes_free(a);
	free(a->peers);
	clf_closep(&a->listener);
	clf_closep(&a->timer);
	if (a->env.helper && clf_helper_fd(a->env.helper) >= 0)
		epoll_ctl(a->env.epoll, EPOLL_CTL_DEL, clf_helper_fd(a->env.helper), NULL);
	clf_helper_close(a->env.helper);
	free(a);
}
