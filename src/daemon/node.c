/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/node.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>

#include "base/clock.h"
#include "daemon/node_private.h"

int64_t clf_node_now(void)
{
	return clf_clock_system.boot_us(NULL) / 1000;
}

static int add(struct clf_node_loop *n, int fd, uint64_t id)
{
	struct epoll_event e = { .events = EPOLLIN, .data.u64 = id };

	return epoll_ctl(n->epoll, EPOLL_CTL_ADD, fd, &e);
}

static int name_self(struct clf_node_loop *n, struct clf_error *err)
{
	if (*n->conf->node_name) {
		snprintf(n->name, sizeof n->name, "%s", n->conf->node_name);
		return 0;
	}
	if (gethostname(n->name, sizeof n->name - 1))
		return clf_fail(err, CLF_E_IO, "no host name: %s; set node_name in closfold.conf", strerror(errno));
	n->name[strcspn(n->name, ".")] = '\0';
	return *n->name ? 0 : clf_fail(err, CLF_E_INVALID, "the host name is empty: set node_name in closfold.conf");
}

static int set_up(struct clf_node_loop *n, struct clf_error *err)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, NULL);
	n->epoll = epoll_create1(EPOLL_CLOEXEC);
	n->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (n->epoll < 0 || n->signals < 0 || add(n, n->signals, NODE_SIGNAL))
		return clf_fail(err, CLF_E_IO, "cannot set up the loop: %s", strerror(errno));
	if (clf_helper_open(&n->munge, 1024, err) || clf_helper_open(&n->facts, 4, err) ||
	    clf_helper_open(&n->names, 4, err))
		return -1;
	if (add(n, clf_helper_fd(n->munge), NODE_MUNGE) || add(n, clf_helper_fd(n->facts), NODE_FACTS) ||
	    add(n, clf_helper_fd(n->names), NODE_NAMES))
		return clf_fail(err, CLF_E_IO, "epoll: %s", strerror(errno));
	n->env = (struct clf_link_env){ n->epoll, n->munge, n->conf->munge_socket, CLF_LINK_NODE };
	return clf_probes_open(&n->probes, n->name, n->conf->probe_nics, n->epoll, NODE_PROBE_IDS, n->sink, err);
}

static void on_signal(struct clf_node_loop *n)
{
	struct signalfd_siginfo s;

	while (read(n->signals, &s, sizeof s) == (ssize_t) sizeof s) {
		if (s.ssi_signo == SIGHUP)
			n->fresh = n->unsent = true;
		else
			n->stop = true;
	}
}

static void dispatch(struct clf_node_loop *n, const struct epoll_event *e)
{
	switch (e->data.u64) {
	case NODE_SIGNAL:
		on_signal(n);
		break;
	case NODE_MUNGE:
		clf_node_conn_jobs(n);
		break;
	case NODE_FACTS:
		clf_node_facts_done(n);
		break;
	case NODE_NAMES:
		clf_node_conn_names(n);
		break;
	default:
		if (e->data.u64 >= NODE_PROBE_IDS)
			clf_probes_ready(n->probes, e->data.u64);
		else
			clf_node_conn_ready(n, e->data.u64, e->events);
	}
}

static void turn(struct clf_node_loop *n)
{
	struct epoll_event ev[64];
	int64_t now = clf_node_now(), a = clf_node_conn_tick(n, now), b = clf_node_work_tick(n, now);
	int64_t wait = (a < b ? a : b) - now;
	int got = epoll_wait(n->epoll, ev, 64, wait < 0 ? 0 : wait > 1000 ? 1000 : (int) wait);

	for (int i = 0; i < got; i++)
		dispatch(n, &ev[i]);
}

static void tear_down(struct clf_node_loop *n)
{
	clf_node_conn_close(n);
	clf_probes_close(n->probes);
	clf_helper_close(n->munge);
	clf_helper_close(n->facts);
	clf_helper_close(n->names);
	clf_node_work_close(n);
	clf_closep(&n->signals);
	clf_closep(&n->epoll);
}

int clf_node_run(const struct clf_conf *conf, const struct clf_log *sink, struct clf_error *err)
{
	CLF_AUTO_FREE struct clf_node_loop *n = calloc(1, sizeof *n);
	int rc;

	if (!n)
		return clf_fail(err, CLF_E_NOMEM, "out of memory");
	*n = (struct clf_node_loop){ .conf = conf,
				     .sink = sink,
				     .epoll = -1,
				     .signals = -1,
				     .link.fd = -1,
				     .next_id = NODE_LINK_IDS,
				     .retry_ms = CLF_NODE_RETRY_MS,
				     .fresh = true };
	if (!*conf->controller)
		return clf_fail(err, CLF_E_INVALID,
				"closfold.conf has no 'controller': set it to closfoldd's HOST:PORT");
	rc = name_self(n, err) || set_up(n, err) ? -1 : 0;
	if (!rc)
		clf_log(sink, CLF_LOG_INFO, "node '%s' looks for closfoldd at %s", n->name, conf->controller);
	while (!rc && !n->stop)
		turn(n);
	tear_down(n);
	return rc;
}
