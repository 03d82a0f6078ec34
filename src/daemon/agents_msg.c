/* SPDX-License-Identifier: GPL-2.0-or-later */
/* agents_msg.c - what node daemons say, and what is known of each node from it. */
#include <arpa/inet.h>
#include <string.h>

#include "base/hostlist.h"
#include "daemon/agents_private.h"
#include "daemon/node_report.h"

struct node *clf_agents_node(const struct clf_agents *a, const char *name)
{
	uint32_t i;

	return clf_strmap_find(&a->names, name, &i) ? a->nodes[i] : NULL;
}

/* Names stay until we end: as many as there are nodes. */
static struct node *node_make(struct clf_agents *a, const char *name, struct clf_error *err)
{
	struct node *n = clf_agents_node(a, name);

	if (n)
		return n;
	if (a->nnodes >= CLF_AGENTS_MAX) {
		clf_fail(err, CLF_E_EXHAUSTED, "%u node names are known already", CLF_AGENTS_MAX);
		return NULL;
	}
	if (a->nnodes == a->nodes_cap) {
		size_t cap = a->nodes_cap ? 2 * a->nodes_cap : 64;
		void *v = realloc(a->nodes, cap * sizeof *a->nodes);

		if (!v) {
			clf_fail(err, CLF_E_NOMEM, "out of memory");
			return NULL;
		}
		a->nodes = v;
		a->nodes_cap = cap;
	}
	n = calloc(1, sizeof *n);
	if (!n || !(n->name = strdup(name)) || clf_strmap_add(&a->names, n->name, (uint32_t) a->nnodes, NULL)) {
		if (n)
			free(n->name);
		free(n);
		clf_fail(err, CLF_E_NOMEM, "out of memory");
		return NULL;
	}
	return a->nodes[a->nnodes++] = n;
}

void clf_agents_nodes_free(struct clf_agents *a)
{
	for (size_t i = 0; i < a->nnodes; i++) {
		json_decref(a->nodes[i]->facts);
		json_decref(a->nodes[i]->gist);
		free(a->nodes[i]->name);
		free(a->nodes[i]);
	}
	free(a->nodes);
	clf_strmap_done(&a->names);
}

int clf_agents_store(struct clf_agents *a, struct node *n, json_t *facts, struct clf_error *err)
{
	json_t *gist;
	bool changed;

	if (clf_node_report_check(facts, n->name, err))
		return -1;
	gist = clf_node_report_gist(facts);
	changed = !gist || !n->gist || !json_equal(gist, n->gist);
	json_decref(n->facts);
	json_decref(n->gist);
	n->facts = json_incref(facts);
	n->gist = gist;
	n->facts_ms = clf_agents_now();
	if (changed && a->report)
		a->report(a->report_arg, n->name, n->facts);
	return 0;
}

void clf_agents_expire(struct clf_agents *a, int64_t now_ms)
{
	for (size_t i = 0; i < a->nnodes; i++) {
		struct node *n = a->nodes[i];

		if (!n->facts || now_ms - n->facts_ms <= CLF_AGENTS_STALE_MS)
			continue;
		json_decref(n->facts);
		json_decref(n->gist);
		n->facts = n->gist = NULL;
		clf_agents_say(a, CLF_LOG_WARN, "node '%s' has not reported for %d s: nothing is known of it", n->name,
			       CLF_AGENTS_STALE_MS / 1000);
		if (a->report)
			a->report(a->report_arg, n->name, NULL);
	}
}

static bool name_valid(const char *s)
{
	size_t n = strlen(s);

	return n && n <= CLF_HOST_MAX &&
	       strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-") == n;
}

static int hello(struct clf_agents *a, struct peer *p, const json_t *m, struct clf_error *err)
{
	const char *node = json_string_value(json_object_get(m, "node"));
	const char *nonce = json_string_value(json_object_get(m, "nonce"));
	json_auto_t *welcome = NULL;

	(void) a;
	if (!node || !name_valid(node) || !nonce || strlen(nonce) != CLF_LINK_SESSION)
		return clf_fail(err, CLF_E_PARSE, "hello without a node name or nonce");
	if (!(p->node = strdup(node)) || !(welcome = json_pack("{s:s,s:s}", "op", "welcome", "nonce", nonce)))
		return clf_fail(err, CLF_E_NOMEM, "out of memory");
	if (clf_link_nonce(p->link.session, err) || clf_link_send(&p->link, welcome, NULL, err))
		return -1;
	p->state = PEER_GREETED;
	return 0;
}

/* Whom munged says the credential is from, and where the connection comes from. Only IPv4 can be compared. */
static void compare_addresses(struct clf_agents *a, const struct peer *p, const struct clf_auth_who *who)
{
	char said[INET_ADDRSTRLEN], seen[INET6_ADDRSTRLEN];
	uint32_t v4;

	if (!IN6_IS_ADDR_V4MAPPED(&p->addr) || !who->addr4)
		return;
	memcpy(&v4, p->addr.s6_addr + 12, 4);
	if (v4 == who->addr4)
		return;
	inet_ntop(AF_INET, &who->addr4, said, sizeof said);
	inet_ntop(AF_INET, &v4, seen, sizeof seen);
	clf_agents_say(a, CLF_LOG_WARN,
		       "node '%s' comes from %s, its munged says %s: several addresses, or another host in its name",
		       p->node, seen, said);
}

/* It used its session: hello was made for this connection, not recorded from another. */
static int come_up(struct clf_agents *a, struct peer *p, const struct clf_auth_who *who, struct clf_error *err)
{
	struct node *n = node_make(a, p->node, err);
	struct clf_error why = { 0 };

	if (!n)
		return -1;
	compare_addresses(a, p, who);
	if (n->peer) {
		clf_agents_say(a, CLF_LOG_WARN,
			       "node '%s' is connected a second time: the new connection replaces the old one",
			       n->name);
		clf_fail(&why, CLF_E_REMOTE, "node '%.64s' made a new connection", n->name);
		clf_agents_drop(a, n->peer, &why);
	}
	n->peer = p;
	p->state = PEER_UP;
	p->link.frames.max_in = CLF_FRAME_MAX;
	clf_agents_known(a, p);
	return 0;
}

static int report(struct clf_agents *a, struct peer *p, const json_t *m, struct clf_error *err)
{
	json_auto_t *ack = json_pack("{s:s,s:O}", "op", "ack", "re", json_object_get(m, "seq"));
	struct node *n = clf_agents_node(a, p->node);

	if (!n || !ack)
		return clf_fail(err, CLF_E_NOMEM, "out of memory");
	if (clf_agents_store(a, n, json_object_get(m, "facts"), err))
		return -1;
	return clf_link_send(&p->link, ack, NULL, err);
}

int clf_agents_message(struct clf_agents *a, struct peer *p, json_t *m, const struct clf_auth_who *who,
		       struct clf_error *err)
{
	const char *op = json_string_value(json_object_get(m, "op"));

	if (!op)
		op = "";
	if (p->state == PEER_NEW)
		return !strcmp(op, "hello") ? hello(a, p, m, err)
					    : clf_fail(err, CLF_E_PARSE, "'%.16s' where hello is due", op);
	if (p->state == PEER_GREETED && come_up(a, p, who, err))
		return -1;
	p->heard_ms = clf_agents_now();
	if (!strcmp(op, "report"))
		return report(a, p, m, err);
	if (!strcmp(op, "answer"))
		return clf_asks_reply(a, p, (uint64_t) json_integer_value(json_object_get(m, "re")),
				      json_object_get(m, "answer"), err);
	return clf_fail(err, CLF_E_PARSE, "unknown message '%.16s'", op);
}
