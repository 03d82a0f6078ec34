/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/node_probe.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "daemon/node_report.h"
#include "wire/probe_frame.h"

#define SENDINGS      16u
#define FRAMES_A_TURN 256
#define HEARD_MAX     512u

struct nic {
	int fd; /* -1: free place */
	int ifindex;
	char name[IF_NAMESIZE];
	uint8_t mac[6];
	int64_t since_us;
};

struct item {
	int nic; /* index, -1: not here or no link */
	uint8_t mac[6];
	char *node; /* who must answer; NULL: anybody */
	unsigned sendings;
	int64_t sent_us[SENDINGS];
	bool reached;
	int64_t rtt_us;
	char *other; /* who answered instead */
};

struct run {
	uint8_t nonce[CLF_PROBE_NONCE];
	struct item *items;
	size_t n, reached;
	bool wait; /* to the deadline, though all were reached */
	int64_t next_us, step_us, end_us;
	json_t *heard;
	bool more; /* than were kept */
	clf_probes_done_f *done;
	void *arg;
	uint64_t tag;
};

struct seen {
	uint8_t nonce[CLF_PROBE_NONCE];
	char nic[IF_NAMESIZE], from[64];
	unsigned count;
	int64_t last_us; /* 0: free */
};

struct clf_probes {
	char *node, *wanted;
	const struct clf_log *sink;
	int epoll;
	uint64_t id_base;
	bool told; /* why there are no probes */
	struct nic nics[CLF_PROBE_NICS];
	struct run *runs[CLF_PROBE_RUNS];
	struct seen seen[CLF_PROBE_SEEN];
	size_t next_seen;
	int64_t lost_us;   /* something that should be remembered was not */
	int64_t second_us; /* of the count of answers */
	unsigned answers;
};

static int64_t now_us(void)
{
	return clf_clock_system.boot_us(NULL);
}

static bool parse_mac(const char *s, uint8_t out[6])
{
	unsigned b[6];

	if (!s || !clf_mac_valid(s) ||
	    sscanf(s, "%2x:%2x:%2x:%2x:%2x:%2x", &b[0], &b[1], &b[2], &b[3], &b[4], &b[5]) != 6)
		return false;
	for (int i = 0; i < 6; i++)
		out[i] = (uint8_t) b[i];
	return true;
}

static bool parse_nonce(const json_t *question, uint8_t out[CLF_PROBE_NONCE])
{
	const char *s = json_string_value(json_object_get(question, "nonce"));
	unsigned b;

	if (!s || strlen(s) != 2 * CLF_PROBE_NONCE || strspn(s, "0123456789abcdef") != 2 * CLF_PROBE_NONCE)
		return false;
	for (int i = 0; i < CLF_PROBE_NONCE; i++) {
		sscanf(s + 2 * i, "%2x", &b);
		out[i] = (uint8_t) b;
	}
	return true;
}

/* ---- interfaces */

static void nic_close(struct nic *n)
{
	clf_closep(&n->fd);
	n->fd = -1;
}

static struct nic *nic_find(struct clf_probes *p, const char *name)
{
	for (size_t i = 0; name && i < CLF_PROBE_NICS; i++)
		if (p->nics[i].fd >= 0 && !strcmp(p->nics[i].name, name))
			return &p->nics[i];
	return NULL;
}

static int nic_socket(struct clf_probes *p, struct nic *n)
{
	struct sockaddr_ll a = { .sll_family = AF_PACKET,
				 .sll_protocol = htons(CLF_PROBE_TYPE),
				 .sll_ifindex = n->ifindex };
	struct epoll_event e = { .events = EPOLLIN, .data.u64 = p->id_base + (uint64_t) (n - p->nics) };
	int big = 1 << 20;

	/* Protocol 0 until it is bound: nothing of another interface gets in. */
	n->fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (n->fd < 0)
		return -1;
	setsockopt(n->fd, SOL_SOCKET, SO_RCVBUF, &big, sizeof big);
	if (!bind(n->fd, (struct sockaddr *) &a, sizeof a) && !epoll_ctl(p->epoll, EPOLL_CTL_ADD, n->fd, &e))
		return 0;
	nic_close(n);
	return -1;
}

static void nic_open(struct clf_probes *p, const char *name, const uint8_t mac[6])
{
	size_t i = 0;

	while (i < CLF_PROBE_NICS && p->nics[i].fd >= 0)
		i++;
	if (i == CLF_PROBE_NICS || strlen(name) >= sizeof p->nics[i].name)
		return;

	struct nic *n = &p->nics[i];

	n->ifindex = (int) if_nametoindex(name);
	if (!n->ifindex)
		return;
	strcpy(n->name, name);
	memcpy(n->mac, mac, 6);
	n->since_us = now_us();
	if (!nic_socket(p, n)) {
		clf_log(p->sink, CLF_LOG_DEBUG, "probes are heard on '%s'", name);
		return;
	}
	if (!p->told)
		clf_log(p->sink, CLF_LOG_WARN, "no probes on '%s': %s; is CAP_NET_RAW there?", name, strerror(errno));
	p->told = true;
}

static bool is_wanted(const struct clf_probes *p, const char *name)
{
	size_t len = strlen(name);

	if (!p->wanted[strspn(p->wanted, " ")])
		return true;
	for (const char *w = p->wanted; *(w += strspn(w, " ")); w += strcspn(w, " "))
		if (strcspn(w, " ") == len && !strncmp(w, name, len))
			return true;
	return false;
}

void clf_probes_update(struct clf_probes *p, const json_t *report)
{
	const json_t *list = json_object_get(report, "net"), *e;
	bool keep[CLF_PROBE_NICS] = { false };
	size_t i;

	json_array_foreach((json_t *) list, i, e)
	{
		const char *name = json_string_value(json_object_get(e, "name"));
		struct nic *n = nic_find(p, name);
		uint8_t mac[6];

		if (!name || !is_wanted(p, name) || !json_is_true(json_object_get(e, "link")) ||
		    !parse_mac(json_string_value(json_object_get(e, "mac")), mac))
			continue;
		/* Taken away and made again, or another address: a socket of the old one hears nothing. */
		if (n && (memcmp(n->mac, mac, 6) != 0 || n->ifindex != (int) if_nametoindex(name)))
			nic_close(n);
		if (!n || n->fd < 0)
			nic_open(p, name, mac);
		if ((n = nic_find(p, name)))
			keep[n - p->nics] = true;
	}
	for (i = 0; i < CLF_PROBE_NICS; i++)
		if (!keep[i])
			nic_close(&p->nics[i]);
}

/* ---- what others send */

static void remember(struct clf_probes *p, const struct nic *n, const struct clf_probe_frame *f)
{
	int64_t now = now_us();
	struct seen *s;

	for (size_t i = 0; i < CLF_PROBE_SEEN; i++) {
		s = &p->seen[i];
		if (s->last_us && !memcmp(s->nonce, f->nonce, sizeof s->nonce) && !strcmp(s->nic, n->name) &&
		    !strncmp(s->from, f->name, sizeof s->from - 1)) {
			s->count++;
			s->last_us = now;
			return;
		}
	}
	s = &p->seen[p->next_seen++ % CLF_PROBE_SEEN];
	if (s->last_us && now - s->last_us < CLF_PROBE_KEEP_MS * INT64_C(1000))
		p->lost_us = now;
	*s = (struct seen){ .count = 1, .last_us = now };
	memcpy(s->nonce, f->nonce, sizeof s->nonce);
	strcpy(s->nic, n->name);
	snprintf(s->from, sizeof s->from, "%.*s", (int) sizeof s->from - 1, f->name);
}

static void answer(struct clf_probes *p, struct nic *n, const struct clf_probe_frame *f)
{
	struct clf_probe_frame a = *f;
	uint8_t out[CLF_PROBE_FRAME_MAX];
	int64_t now = now_us();

	if (now - p->second_us >= 1000000) {
		p->second_us = now;
		p->answers = 0;
	}
	if (p->answers++ >= CLF_PROBE_ANSWERS)
		return;
	memcpy(a.to, f->from, 6);
	memcpy(a.from, n->mac, 6);
	a.kind = CLF_PROBE_ANSWER;
	snprintf(a.name, sizeof a.name, "%s", p->node);
	(void) !send(n->fd, out, clf_probe_encode(&a, out), MSG_DONTWAIT);
}

/* ---- runs */

static void run_free(struct run *r)
{
	for (size_t i = 0; i < r->n; i++) {
		free(r->items[i].node);
		free(r->items[i].other);
	}
	free(r->items);
	json_decref(r->heard);
	free(r);
}

static json_t *item_reply(const struct item *it)
{
	json_t *o = json_pack("{s:b}", "reached", it->reached);

	if (it->reached)
		json_object_set_new(o, "rtt_us", json_integer((json_int_t) it->rtt_us));
	if (it->other)
		json_object_set_new(o, "other", json_string(it->other));
	if (it->nic < 0)
		json_object_set_new(o, "error", json_string("no such interface with a link"));
	else if (!it->sendings)
		json_object_set_new(o, "error", json_string("nothing could be sent"));
	return o;
}

static void finish(struct clf_probes *p, size_t k)
{
	struct run *r = CLF_STEAL(p->runs[k]);
	json_t *list = json_array();

	for (size_t i = 0; i < r->n; i++)
		json_array_append_new(list, item_reply(&r->items[i]));
	r->done(r->arg, r->tag,
		json_pack("{s:b,s:o,s:O,s:b}", "ok", 1, "probes", list, "heard", r->heard, "more", r->more));
	run_free(r);
}

static void hear(struct run *r, const struct nic *n, const char *name)
{
	size_t i;
	json_t *h;

	json_array_foreach(r->heard, i, h) if (!strcmp(json_string_value(json_object_get(h, "nic")), n->name) &&
					       !strcmp(json_string_value(json_object_get(h, "node")), name)) return;
	if (json_array_size(r->heard) >= HEARD_MAX ||
	    json_array_append_new(r->heard, json_pack("{s:s,s:s}", "nic", n->name, "node", name)))
		r->more = true;
}

static void take_answer(struct clf_probes *p, const struct nic *n, const struct clf_probe_frame *f)
{
	size_t k = 0;
	struct item *it;
	struct run *r;

	while (k < CLF_PROBE_RUNS && (!p->runs[k] || memcmp(p->runs[k]->nonce, f->nonce, sizeof f->nonce) != 0))
		k++;
	if (k == CLF_PROBE_RUNS || f->number >= p->runs[k]->n)
		return;
	r = p->runs[k];
	it = &r->items[f->number];
	hear(r, n, f->name);
	if (it->reached || it->nic != n - p->nics || f->sending >= it->sendings)
		return;
	if (it->node && strcmp(it->node, f->name) != 0) {
		if (!it->other)
			it->other = strdup(f->name);
		return;
	}
	it->reached = true;
	it->rtt_us = now_us() - it->sent_us[f->sending];
	if (++r->reached == r->n && !r->wait)
		finish(p, k);
}

static void take_frame(struct clf_probes *p, struct nic *n, const uint8_t *frame, size_t len, unsigned char type)
{
	struct clf_probe_frame f;

	if (type == PACKET_OUTGOING || clf_probe_decode(frame, len, &f, NULL))
		return;
	if (f.kind == CLF_PROBE_ANSWER) {
		take_answer(p, n, &f);
		return;
	}
	remember(p, n, &f);
	/* One for somebody else was flooded to us: it was seen, but it is not ours to answer. */
	if (type != PACKET_OTHERHOST && strcmp(f.name, p->node) != 0)
		answer(p, n, &f);
}

void clf_probes_ready(struct clf_probes *p, uint64_t id)
{
	struct nic *n = &p->nics[(id - p->id_base) % CLF_PROBE_NICS];

	for (int i = 0; i < FRAMES_A_TURN && n->fd >= 0; i++) {
		uint8_t frame[2048];
		struct sockaddr_ll from = { 0 };
		socklen_t size = sizeof from;
		ssize_t len = recvfrom(n->fd, frame, sizeof frame, MSG_DONTWAIT, (struct sockaddr *) &from, &size);

		if (len > 0)
			take_frame(p, n, frame, (size_t) len, from.sll_pkttype);
		else if (len < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
			return;
		else if (len < 0 && errno != EINTR && errno != ENETDOWN)
			nic_close(n); /* gone; the next report finds it again where it is back */
	}
}

static void send_item(struct clf_probes *p, const struct run *r, size_t number)
{
	struct item *it = &r->items[number];
	struct clf_probe_frame f = { .kind = CLF_PROBE_REQUEST, .number = (uint16_t) number };
	uint8_t out[CLF_PROBE_FRAME_MAX];

	if (it->reached || it->nic < 0 || p->nics[it->nic].fd < 0 || it->sendings == SENDINGS)
		return;
	f.sending = (uint16_t) it->sendings;
	memcpy(f.to, it->mac, 6);
	memcpy(f.from, p->nics[it->nic].mac, 6);
	memcpy(f.nonce, r->nonce, sizeof f.nonce);
	snprintf(f.name, sizeof f.name, "%s", p->node);
	it->sent_us[it->sendings] = now_us();
	if (send(p->nics[it->nic].fd, out, clf_probe_encode(&f, out), MSG_DONTWAIT) > 0)
		it->sendings++;
}

int64_t clf_probes_tick(struct clf_probes *p, int64_t now)
{
	int64_t next = INT64_MAX;

	for (size_t k = 0; k < CLF_PROBE_RUNS; k++) {
		struct run *r = p->runs[k];

		if (r && now >= r->end_us) {
			finish(p, k);
			continue;
		}
		if (r && now >= r->next_us) {
			for (size_t i = 0; i < r->n; i++)
				send_item(p, r, i);
			r->next_us += r->step_us;
		}
		if (r && r->end_us < next)
			next = r->end_us;
		if (r && r->next_us < next)
			next = r->next_us;
	}
	return next;
}

static int read_item(struct clf_probes *p, const json_t *o, struct item *it, struct clf_error *err)
{
	const char *nic = json_string_value(json_object_get(o, "nic"));
	const char *node = json_string_value(json_object_get(o, "node"));
	const struct nic *n = nic_find(p, nic);

	if (!nic || !parse_mac(json_string_value(json_object_get(o, "mac")), it->mac) ||
	    (json_object_get(o, "node") && !node))
		return clf_fail(err, CLF_E_INVALID, "probe without nic or mac, or with a node that is no name");
	it->nic = n ? (int) (n - p->nics) : -1;
	if (node && !(it->node = strdup(node)))
		return clf_fail(err, CLF_E_NOMEM, "out of memory");
	return 0;
}

static int read_run(struct clf_probes *p, const json_t *q, struct run *r, struct clf_error *err)
{
	const json_t *list = json_object_get(q, "probes"), *o;
	json_int_t ms = json_integer_value(json_object_get(q, "deadline_ms"));
	size_t i, n = json_array_size(list);

	if (!parse_nonce(q, r->nonce) || ms < 1 || ms > CLF_PROBE_MS || !n || n > CLF_PROBE_ITEMS)
		return clf_fail(err, CLF_E_INVALID,
				"probe wants a nonce of 32 hex digits, deadline_ms from 1 to %d and 1 to %u probes",
				CLF_PROBE_MS, CLF_PROBE_ITEMS);
	r->items = calloc(n, sizeof *r->items);
	r->heard = json_array();
	if (!r->items || !r->heard)
		return clf_fail(err, CLF_E_NOMEM, "out of memory");
	r->n = n;
	r->wait = json_is_true(json_object_get(q, "wait"));
	json_array_foreach((json_t *) list, i, o) if (read_item(p, o, &r->items[i], err)) return -1;
	/* Lost frames are sent again; a flood is none's gain: at most one in 20 ms. */
	r->step_us = ms * 1000 / 8 > 20000 ? ms * 1000 / 8 : 20000;
	r->next_us = now_us();
	r->end_us = r->next_us + ms * 1000;
	return 0;
}

int clf_probes_run(struct clf_probes *p, const json_t *question, clf_probes_done_f *done, void *arg, uint64_t tag,
		   struct clf_error *err)
{
	struct run *r;
	size_t k = 0;

	while (k < CLF_PROBE_RUNS && p->runs[k])
		k++;
	if (k == CLF_PROBE_RUNS)
		return clf_fail(err, CLF_E_EXHAUSTED, "%u probes run here already", CLF_PROBE_RUNS);
	r = calloc(1, sizeof *r);
	if (!r)
		return clf_fail(err, CLF_E_NOMEM, "out of memory");
	r->done = done;
	r->arg = arg;
	r->tag = tag;
	if (read_run(p, question, r, err)) {
		run_free(r);
		return -1;
	}
	p->runs[k] = r;
	return 0;
}

/* ---- what was seen */

/* The kernel counts what a full socket lost; reading sets the count back. */
static void count_drops(struct clf_probes *p)
{
	for (size_t i = 0; i < CLF_PROBE_NICS; i++) {
		struct tpacket_stats st = { 0 };
		socklen_t size = sizeof st;

		if (p->nics[i].fd >= 0 && !getsockopt(p->nics[i].fd, SOL_PACKET, PACKET_STATISTICS, &st, &size) &&
		    st.tp_drops)
			p->lost_us = now_us();
	}
}

json_t *clf_probes_seen(struct clf_probes *p, const json_t *question, struct clf_error *err)
{
	json_auto_t *nics = json_array(), *seen = json_array();
	uint8_t nonce[CLF_PROBE_NONCE];
	int64_t now = now_us();
	json_t *reply;

	if (!parse_nonce(question, nonce)) {
		clf_fail(err, CLF_E_INVALID, "probe_seen wants a nonce of 32 hex digits");
		return NULL;
	}
	for (size_t i = 0; i < CLF_PROBE_NICS; i++)
		if (p->nics[i].fd >= 0) {
			for (int k = 0; k < 16; k++) /* what waits in the socket was seen, too */
				clf_probes_ready(p, p->id_base + i);
			json_array_append_new(nics, json_pack("{s:s,s:I}", "nic", p->nics[i].name, "for_ms",
							      (json_int_t) (now - p->nics[i].since_us) / 1000));
		}
	count_drops(p);
	for (size_t i = 0; i < CLF_PROBE_SEEN; i++)
		if (p->seen[i].last_us && !memcmp(p->seen[i].nonce, nonce, sizeof nonce))
			json_array_append_new(seen, json_pack("{s:s,s:s,s:i}", "nic", p->seen[i].nic, "from",
							      p->seen[i].from, "count", (int) p->seen[i].count));
	reply = json_pack("{s:b,s:b,s:O,s:O}", "ok", 1, "complete",
			  !p->lost_us || now - p->lost_us >= CLF_PROBE_KEEP_MS * INT64_C(1000), "nics", nics, "seen",
			  seen);
	if (!reply)
		clf_fail(err, CLF_E_NOMEM, "out of memory");
	return reply;
}

/* ---- life */

int clf_probes_open(struct clf_probes **out, const char *node, const char *nics, int epoll, uint64_t id_base,
		    const struct clf_log *sink, struct clf_error *err)
{
	CLF_CLEANUP(clf_probes_closep) struct clf_probes *p = calloc(1, sizeof *p);

	if (!p)
		return clf_fail(err, CLF_E_NOMEM, "out of memory");
	for (size_t i = 0; i < CLF_PROBE_NICS; i++)
		p->nics[i].fd = -1;
	p->epoll = epoll;
	p->id_base = id_base;
	p->sink = sink;
	p->node = strdup(node);
	p->wanted = strdup(nics);
	if (!p->node || !p->wanted)
		return clf_fail(err, CLF_E_NOMEM, "out of memory");
	*out = CLF_STEAL(p);
	return 0;
}

void clf_probes_close(struct clf_probes *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < CLF_PROBE_NICS; i++)
		nic_close(&p->nics[i]);
	for (size_t i = 0; i < CLF_PROBE_RUNS; i++)
		if (p->runs[i])
			run_free(p->runs[i]);
	free(p->node);
	free(p->wanted);
	free(p);
}
