/* SPDX-License-Identifier: GPL-2.0-or-later */
/* node_private.h - what the files of node.h share. */
#ifndef CLF_DAEMON_NODE_PRIVATE_H
#define CLF_DAEMON_NODE_PRIVATE_H

#include "daemon/address.h"
#include "daemon/link.h"
#include "daemon/node.h"
#include "daemon/node_probe.h"

#define CLF_NODE_ASKS      32u   /* questions for a fresh report that wait */
#define CLF_NODE_POLL_MS   5000  /* sysfs */
#define CLF_NODE_REPORT_MS 30000 /* report, with LLDP */
#define CLF_NODE_GREET_MS  10000 /* connect and welcome */
#define CLF_NODE_SILENT_MS 95000 /* no word of closfoldd, not even an acknowledgement */
#define CLF_NODE_RETRY_MS  200
#define CLF_NODE_RETRY_MAX 10000

/* Names of descriptors in epoll; the connection's ids and the probes' come after. */
enum { NODE_SIGNAL, NODE_MUNGE, NODE_FACTS, NODE_NAMES };
#define NODE_LINK_IDS  (UINT64_C(1) << 16)
#define NODE_PROBE_IDS (UINT64_C(1) << 62)

enum node_state { NODE_DOWN, NODE_RESOLVING, NODE_CONNECTING, NODE_GREETING, NODE_UP };

struct facts_job {
	struct clf_job job; /* first */
	char *node, *sysfs, *lldp_socket;
	bool with_lldp;
	json_t *lldp; /* in: of the last time; out where with_lldp */
	json_t *report;
	uint64_t tags[CLF_NODE_ASKS]; /* questions that this answers */
	size_t ntags;
	struct clf_error lldp_error, error;
};

struct names_job {
	struct clf_job job; /* first */
	char *text;
	struct clf_addresses addresses;
	struct clf_error error;
};

struct clf_node_loop {
	const struct clf_conf *conf;
	const struct clf_log *sink;
	char name[256];
	int epoll, signals;
	bool stop;
	struct clf_helper *munge, *facts, *names;
	struct clf_probes *probes;
	/* connection */
	struct clf_link_env env;
	struct clf_link link;
	enum node_state state;
	uint64_t next_id;
	char nonce[CLF_LINK_SESSION + 1];
	struct clf_addresses addresses;
	size_t address; /* being tried */
	int64_t since_ms, heard_ms, retry_at_ms, retry_ms;
	struct clf_error last; /* said once, not at each try */
	/* report */
	json_t *report, *gist, *lldp;
	int64_t polled_ms, lldp_ms;
	bool gathering, fresh, unsent; /* fresh: LLDP is to be asked, too; unsent: report differs from what was sent */
	uint64_t asks[CLF_NODE_ASKS];
	size_t nasks;
	bool lldp_told;
};

int64_t clf_node_now(void);

/* node_conn.c */
void clf_node_connect(struct clf_node_loop *n);
void clf_node_conn_ready(struct clf_node_loop *n, uint64_t id, uint32_t events);
void clf_node_conn_jobs(struct clf_node_loop *n);  /* of munge */
void clf_node_conn_names(struct clf_node_loop *n); /* of name servers */
int64_t clf_node_conn_tick(struct clf_node_loop *n, int64_t now_ms);
/* message: borrowed; lost connections are dealt with. */
void clf_node_send(struct clf_node_loop *n, json_t *message);
void clf_node_conn_close(struct clf_node_loop *n);

/* node_work.c: reports and questions */
void clf_node_up(struct clf_node_loop *n);
void clf_node_message(struct clf_node_loop *n, const json_t *m);
void clf_node_facts_done(struct clf_node_loop *n);
int64_t clf_node_work_tick(struct clf_node_loop *n, int64_t now_ms);
void clf_node_work_close(struct clf_node_loop *n);

#endif
