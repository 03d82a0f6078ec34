/* SPDX-License-Identifier: GPL-2.0-or-later */
/* agents_private.h - what the files of agents.h share: connections, nodes, asks. */
#ifndef CLF_DAEMON_AGENTS_PRIVATE_H
#define CLF_DAEMON_AGENTS_PRIVATE_H

#include <netinet/in.h>

#include "base/strmap.h"
#include "daemon/agents.h"
#include "daemon/link.h"

#define CLF_UNKNOWN_MAX      256u /* connections that have not shown who they are */
#define CLF_UNKNOWN_ADDRESS  16u  /* of them, from one address */
#define CLF_UNKNOWN_MS       10000
#define CLF_ASKS_A_NODE      64u
#define CLF_LOG_LINES_MINUTE 20u

/* NEW: waits for hello. GREETED: has its session, must use it. UP: did, and is its node's connection. */
enum peer_state { PEER_NEW, PEER_GREETED, PEER_UP };

struct peer {
	struct clf_link link;
	enum peer_state state;
	uint32_t slot;
	int64_t since_ms, heard_ms;
	struct in6_addr addr; /* IPv4 as mapped */
	char *node;           /* as it says; NULL while NEW */
};

struct node {
	char *name;
	struct peer *peer; /* NULL: not connected */
	json_t *facts, *gist;
	int64_t facts_ms;
	struct ask *first;
	unsigned asks;
};

struct ask {
	struct ask *next, **at; /* all of them */
	struct ask *next_of_node;
	struct node *node; /* NULL: never heard of */
	char *name;
	uint64_t link, seq; /* link 0: answered with `why` as soon as may be */
	int64_t deadline_ms;
	bool report;
	struct clf_error why;
	clf_agents_answer_f *answer;
	void *arg;
};

struct clf_agents {
	const struct clf_conf *conf;
	const struct clf_log *sink;
	struct clf_link_env env;
	uint64_t id_base, generation;
	int listener, timer, port;
	bool deaf, closing;  /* deaf: no descriptors left, the listener rests until the next tick */
	struct peer **peers; /* by slot, holes are NULL */
	size_t npeers, nused;
	struct peer *unknown[CLF_UNKNOWN_MAX];
	size_t nunknown;
	struct node **nodes;
	size_t nnodes, nodes_cap;
	struct clf_strmap names; /* to index in nodes */
	struct ask *asks;
	int64_t armed_ms; /* the timer; 0 = not armed */
	clf_agents_report_f *report;
	void *report_arg;
	uint64_t refused;
	int64_t minute_ms;
	unsigned lines, kept_back; /* of this minute's log */
	struct clf_error munged;   /* of its last answer */
};

int64_t clf_agents_now(void);

/* One line about a peer; past CLF_LOG_LINES_MINUTE they are only counted. */
void clf_agents_say(struct clf_agents *a, enum clf_log_level level, const char *fmt, ...) CLF_PRINTF(3, 4);

struct node *clf_agents_node(const struct clf_agents *a, const char *name);

/* Ends the connection; its asks are answered with `why`. */
void clf_agents_drop(struct clf_agents *a, struct peer *p, const struct clf_error *why);
void clf_agents_known(struct clf_agents *a, struct peer *p); /* no longer one of the unknown */

/* A message of p. -1: p is to be dropped. */
CLF_MUST_USE int clf_agents_message(struct clf_agents *a, struct peer *p, json_t *m, const struct clf_auth_who *who,
				    struct clf_error *err);
void clf_agents_expire(struct clf_agents *a, int64_t now_ms);
void clf_agents_nodes_free(struct clf_agents *a);
/* 0 or CLF_E_PARSE. */
CLF_MUST_USE int clf_agents_store(struct clf_agents *a, struct node *n, json_t *facts, struct clf_error *err);

void clf_asks_due(struct clf_agents *a, int64_t now_ms);
void clf_asks_lost(struct node *n, const struct clf_error *why); /* those that were sent */
void clf_asks_close(struct clf_agents *a, const struct clf_error *why);
/* The node's word to message `re`; -1: it broke the protocol. */
CLF_MUST_USE int clf_asks_reply(struct clf_agents *a, struct peer *p, uint64_t re, const json_t *reply,
				struct clf_error *err);

#endif
