/* SPDX-License-Identifier: GPL-2.0-or-later */
/* verbs.h - the verbs that exist, one line each; main.c makes its table from it. */
#define CLF_VERBS                                                      \
	VERB(lease, "what each job's network right is; release, repair") \
	VERB(audit, "ask the audit log, verify it")                    \
	VERB(status, "daemon, policy, log, leases at a glance")
