/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ibwitness_mad.c - many SMPs at a time through one umad port. */
#include <errno.h>
#include <infiniband/umad.h>
#include <infiniband/umad_sm.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fabric/ibwitness.h"

#define TRIES       2
#define PARK_MS     20 /* an answer this late gives its place in the window to another; it is still waited for */
#define FLIGHT_MAX  2048
#define CLASS_LID   0x01
#define CLASS_DIR   0x81
#define METHOD_GET  0x01
#define METHOD_RESP 0x81
#define LID_DIRECT  0xffff

struct flight {
	struct wit_query *q;
	uint32_t tid;
	int64_t since;
};

int64_t wit_now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t) t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

int wit_mad_open(struct wit_mad *m, const struct wit_conf *conf, struct clf_error *err)
{
	*m = (struct wit_mad){ .conf = conf, .fd = -1, .agent_lid = -1, .agent_directed = -1 };
	m->umad = calloc(1, umad_size() + sizeof(struct umad_smp));
	if (!m->umad)
		return clf_fail(err, CLF_E_NOMEM, "out of memory");
	m->fd = umad_open_port((char *) conf->ca, conf->port);
	if (m->fd < 0) {
		wit_mad_close(m);
		return clf_fail(
			err, CLF_E_IO,
			"cannot open an InfiniBand management port; is /dev/infiniband/umad* there and readable "
			"for this user?");
	}
	m->agent_lid = umad_register(m->fd, CLASS_LID, 1, 0, NULL);
	m->agent_directed = umad_register(m->fd, CLASS_DIR, 1, 0, NULL);
	if (m->agent_lid < 0 || m->agent_directed < 0) {
		wit_mad_close(m);
		return clf_fail(err, CLF_E_IO, "cannot register for subnet management at the InfiniBand port");
	}
	return 0;
}

void wit_mad_close(struct wit_mad *m)
{
	if (m->agent_lid >= 0 && m->fd >= 0)
		umad_unregister(m->fd, m->agent_lid);
	if (m->agent_directed >= 0 && m->fd >= 0)
		umad_unregister(m->fd, m->agent_directed);
	if (m->fd >= 0)
		umad_close_port(m->fd);
	free(m->umad);
	*m = (struct wit_mad){ .conf = m->conf, .fd = -1, .agent_lid = -1, .agent_directed = -1 };
}

static int send_one(struct wit_mad *m, const struct wit_query *q, uint32_t tid, struct clf_error *err)
{
	struct umad_smp *s = umad_get_mad(m->umad);

	memset(m->umad, 0, umad_size() + sizeof *s);
	s->base_version = 1;
	s->mgmt_class = q->directed ? CLASS_DIR : CLASS_LID;
	s->class_version = 1;
	s->method = METHOD_GET;
	s->tid = htobe64(tid);
	s->attr_id = htobe16(q->attr);
	s->attr_mod = htobe32(q->mod);
	if (q->directed) {
		s->hop_cnt = q->path->hops;
		s->dr_slid = s->dr_dlid = htobe16(LID_DIRECT);
		memcpy(s->initial_path, q->path->out, sizeof s->initial_path);
	}
	umad_set_addr(m->umad, q->directed ? LID_DIRECT : q->path->lid, 0, 0, 0);
	m->sent++;
	if (umad_send(m->fd, q->directed ? m->agent_directed : m->agent_lid, m->umad, sizeof *s, m->conf->timeout_ms,
		      0))
		return clf_fail(err, CLF_E_IO, "cannot send an SMP: %s", strerror(errno));
	return 0;
}

struct air {
	struct flight v[FLIGHT_MAX];
	size_t n;
};

static void land(struct air *a, size_t i)
{
	a->v[i] = a->v[--a->n];
}

/* Send again what had no answer, or give it up. */
static int expire(struct wit_mad *m, struct air *a, int64_t now, int64_t deadline, struct clf_error *err)
{
	for (size_t i = 0; i < a->n;) {
		struct flight *f = &a->v[i];

		if (now < deadline && now - f->since < m->conf->timeout_ms) {
			i++;
			continue;
		}
		if (now >= deadline || f->q->tries >= TRIES) {
			f->q->answer = WIT_SILENT;
			land(a, i);
			continue;
		}
		f->q->tries++;
		f->tid = ++m->tid;
		f->since = now;
		if (send_one(m, f->q, f->tid, err))
			return -1;
		i++;
	}
	return 0;
}

static size_t fresh(const struct air *a, int64_t now)
{
	size_t n = 0;

	for (size_t i = 0; i < a->n; i++)
		n += now - a->v[i].since < PARK_MS;
	return n;
}

static void take(struct wit_mad *m, struct air *a)
{
	const struct umad_smp *s = umad_get_mad(m->umad);
	uint32_t tid = (uint32_t) be64toh(s->tid);

	for (size_t i = 0; i < a->n; i++) {
		struct wit_query *q = a->v[i].q;

		if (a->v[i].tid != tid)
			continue;
		if (umad_status(m->umad)) { /* the kernel's own timeout: expire() decides */
			a->v[i].since -= m->conf->timeout_ms;
			return;
		}
		if (be16toh(s->attr_id) != q->attr || be32toh(s->attr_mod) != q->mod)
			return;
		/* The top bit of a directed SMP's status is the direction. */
		q->answer = (be16toh(s->status) & 0x7fff) || s->method != METHOD_RESP ? WIT_REFUSED : WIT_OK;
		memcpy(q->data, s->data, sizeof q->data);
		land(a, i);
		return;
	}
}

/* One answer, or a pause of at most wait_ms. */
static int receive(struct wit_mad *m, struct air *a, int wait_ms, struct clf_error *err)
{
	int len = sizeof(struct umad_smp);
	int rc = umad_recv(m->fd, m->umad, &len, wait_ms);

	if (rc >= 0) {
		take(m, a);
		return 0;
	}
	if (rc == -ETIMEDOUT || rc == -EWOULDBLOCK || rc == -EINTR || errno == EINTR || errno == EAGAIN)
		return 0;
	return clf_fail(err, CLF_E_IO, "cannot receive an SMP: %s", strerror(-rc));
}

int wit_mad_run(struct wit_mad *m, struct wit_query *q, size_t n, int64_t deadline_ms, struct clf_error *err)
{
	struct air air = { .n = 0 };
	size_t next = 0;

	while (next < n || air.n) {
		int64_t now = wit_now_ms();
		size_t flying = fresh(&air, now);

		if (now >= deadline_ms)
			for (; next < n; next++)
				q[next].answer = WIT_SILENT;
		for (; next < n && flying < (size_t) m->conf->window && air.n < FLIGHT_MAX; next++, flying++) {
			air.v[air.n++] = (struct flight){ &q[next], ++m->tid, now };
			q[next].tries = 1;
			if (send_one(m, &q[next], m->tid, err))
				return -1;
		}
		if (air.n && receive(m, &air, flying < (size_t) m->conf->window ? 2 : 5, err))
			return -1;
		if (expire(m, &air, wit_now_ms(), deadline_ms, err))
			return -1;
	}
	return 0;
}
