/* SPDX-License-Identifier: GPL-2.0-or-later */
/* conf.h - closfold.conf: "key = value" lines, checked against one table of keys (type, unit, default, range);
 * etc/closfold.conf.example and closfold.conf(5) say the same and a test compares them. Unknown or duplicate keys, bad
 * values: CLF_E_PARSE with line and column.
 *
 * Where: plugins in Slurm's daemons read closfold.conf beside slurm.conf where it exists, else
 * /etc/closfold/closfold.conf (docs/adr/0005); closfoldd takes -f FILE; the command takes --conf FILE or CLOSFOLD_CONF.
 * Root never takes its path from the environment in a daemon.
 */
#ifndef CLF_POLICY_CONF_H
#define CLF_POLICY_CONF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/cleanup.h"

#define CLF_CONF_DEFAULT "/etc/closfold/closfold.conf"

struct clf_conf {
	char *cluster;     /* name in records; default "cluster" */
	char *policy;      /* /etc/closfold/policy.json */
	char *topology;    /* /etc/closfold/topology.json; "" = none; any format closfold can import */
	char *state_dir;   /* /var/lib/closfold: ledger, log, snapshot/ */
	char *runtime_dir; /* /run/closfold: closfoldd.sock, closfoldd.pid */
	char *fabrics;     /* "" = no network is closed; else /etc/closfold/fabrics.json or the like */
	char *slurm_query; /* program that prints Slurm's jobs; default LIBEXECDIR/closfold/closfold-slurm */
	char *node_check; /* program that checks a signed lease in a node's prolog; LIBEXECDIR/closfold/closfold-node */
	char *lease_key; /* lease_public_key: /etc/closfold/lease.pub, a copy of the controller's STATE_DIR/lease.pub */
	char *slurm_conf;     /* SLURM_CONF for that program; "" = its default */
	char *slurm_user;     /* may write records and leases besides root; default "slurm" */
	bool reject_on_error; /* on_error = reject | accept: what job_submit answers when it cannot tell (no policy in
				 force) */
	uint32_t submit_timeout_ms; /* 50; on the audit socket, flagged jobs only; 1..50 */
	uint32_t start_timeout_ms;  /* 30000: prep's wait for a lease */
	uint32_t start_failures;    /* 3: then the job is held */
	uint32_t reconcile_s;       /* 60 */
	uint32_t lease_grace_s;     /* 120: a lease younger than this is never taken for orphaned */
	char *listen;               /* ADDR:PORT for node daemons; "" = none are heard */
	char *munge_socket;         /* "" = munged's default */
	/* closfoldd --role node */
	char *controller;  /* HOST:PORT of closfoldd */
	char *node_name;   /* as Slurm has it; "" = the short host name */
	char *sysfs;       /* /sys */
	char *lldp_socket; /* of lldpd; "" = its default */
	char *probe_nics;  /* names with blanks between; "" = all with a link */
};

/* One line of the table of keys, for documents and their tests. */
struct clf_conf_key_info {
	const char *name, *type, *range, *default_text; /* range "" = any */
};
bool clf_conf_key_get(size_t i, struct clf_conf_key_info *out); /* false past the end */

CLF_MUST_USE int clf_conf_load(const char *path, struct clf_conf **out, struct clf_error *err);
/* All defaults; for tests and for commands without a file. */
struct clf_conf *clf_conf_default(struct clf_error *err);
void clf_conf_destroy(struct clf_conf *c);
CLF_DEFINE_CLEANUP(struct clf_conf, clf_conf_destroy)

#endif
