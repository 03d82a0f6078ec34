/* SPDX-License-Identifier: GPL-2.0-or-later */
/* verbs.h - the verbs that exist, one line each; main.c makes its table from it. */
#define CLF_VERBS                                                                                                      \
	VERB(topo, "read a fabric, check, compare and export it")                                                      \
	VERB(place, "choose nodes and rank order for a job, on paper")                                                 \
	VERB(policy, "check a policy, explain a decision")                                                             \
	VERB(fabric, "what the devices say, and whether it is what the leases want")                                   \
	VERB(lease, "what each job's network right is; release, repair")                                               \
	VERB(audit, "ask the audit log, verify it")                                                                    \
	VERB(status, "daemon, policy, log, leases at a glance")
