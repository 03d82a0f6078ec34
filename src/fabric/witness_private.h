/* SPDX-License-Identifier: GPL-2.0-or-later */
/* witness_private.h - a plan, shared by witness_probe.c (makes it) and witness_verdict.c (judges it). */
#ifndef CLF_FABRIC_WITNESS_PRIVATE_H
#define CLF_FABRIC_WITNESS_PRIVATE_H

#include "base/strmap.h"
#include "base/strv.h"
#include "fabric/witness_probe.h"

#define CLF_PROBE_SKIPPED 64u /* texts kept */

struct nic {
	char *node, *nic, *mac, *leaf;
};

enum probe_kind { PROBE_RING, PROBE_LEAVES, PROBE_TO_STRANGER, PROBE_FROM_STRANGER, PROBE_EVERYBODY };

struct probe {
	enum probe_kind kind;
	const struct nic *from, *to; /* to NULL: everybody */
	size_t ask, at;              /* in which question, and where */
	size_t next;                 /* of the same question; the last one's means nothing */
	/* of the reply */
	bool sent, reached;
	const char *other, *error;
};

enum ask_kind { ASK_POSITIVE, ASK_NEGATIVE, ASK_SEEN };
struct ask {
	enum ask_kind kind;
	const char *node;
	json_t *reply;
	char *why;             /* there is none */
	size_t n, first, last; /* probes */
};

/* A stranger and the interface of the job that tries it: two probes. */
struct pair {
	size_t to, from; /* in probes */
};

struct clf_probe_plan {
	struct nic *job, *others;
	size_t njob, nothers;
	struct clf_strmap job_names;
	struct clf_strv kin;
	char positive[33], negative[33];
	struct probe *probes;
	size_t nprobes, probes_cap;
	struct ask *asks;
	size_t nasks, asks_cap;
	struct clf_strmap ask_of[ASK_SEEN + 1]; /* node to index, for each kind */
	struct pair pairs[CLF_PROBE_LEAVES];
	size_t npairs;
	json_t *skipped;
	size_t nskipped;
};

#endif
