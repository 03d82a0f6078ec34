/* SPDX-License-Identifier: GPL-2.0-or-later */
/* witness_probe.h - which frames must pass and which must not, and what the answers mean. Rungs 4a and 4b of a start.
 *
 * Plan:    positive: on each rail (interfaces of one name) a ring over the job's nodes, and one pair for each pair of
 *          leaves; negative: one sampled stranger for each leaf, both ways by its address, and one frame to everybody
 * from each interface of the job that takes part. Bounded by CLF_PROBE_LEAVES and _PAIRS; the same seed gives the same.
 * Asks:    wave 0 are the probes, all at once; wave 1, when those are answered, is what each listener saw. Questions
 * and replies: docs/formats/node-wire.md. Verdict: a positive probe that failed, a stranger that answered or saw a
 * frame of ours, or a frame of a stranger at a job node: CLF_E_CONFLICT, with nodes and the likely cause. A stranger
 * that was not listening, or cannot say so, is skipped, never good; skipped refuses where the rung is "require"
 * (CLF_E_REMOTE). Memory:  a plan copies its input. Replies and questions as said. Pure:    no I/O, no clock, no
 * randomness but the seed.
 */
#ifndef CLF_FABRIC_WITNESS_PROBE_H
#define CLF_FABRIC_WITNESS_PROBE_H

#include <stdint.h>

#include "base/json.h"
#include "fabric/conf.h"

#define CLF_PROBE_LEAVES 64u /* strangers, one a leaf */
#define CLF_PROBE_PAIRS  64u /* of leaves */

/* An interface on the fabric, with a link. */
struct clf_probe_nic {
	const char *node, *nic, *mac, *leaf;
};

struct clf_probe_plan;

/* A node that shares the job's network without being probed for it (another component of a het job): its answers are no
 * stranger's. name is copied. */
CLF_MUST_USE int clf_probe_plan_kin(struct clf_probe_plan *p, const char *node, struct clf_error *err);

/* nonces: 32 hex digits each, different. NICs of one node need not follow each other; the order decides the ring. */
CLF_MUST_USE int clf_probe_plan_make(const struct clf_probe_nic *job, size_t njob, const struct clf_probe_nic *others,
				     size_t nothers, const char *positive_nonce, const char *negative_nonce,
				     uint64_t seed, struct clf_probe_plan **out, struct clf_error *err);
void clf_probe_plan_destroy(struct clf_probe_plan *p);
CLF_DEFINE_CLEANUP(struct clf_probe_plan, clf_probe_plan_destroy)

/* Something that could not be looked at, found before the plan. */
CLF_MUST_USE int clf_probe_plan_skip(struct clf_probe_plan *p, const char *text, struct clf_error *err);

size_t clf_probe_asks(const struct clf_probe_plan *p);
const char *clf_probe_ask_node(const struct clf_probe_plan *p, size_t i);
int clf_probe_ask_wave(const struct clf_probe_plan *p, size_t i);
/* Owned; NULL when memory ends. */
json_t *clf_probe_ask_question(const struct clf_probe_plan *p, size_t i, int deadline_ms);
/* reply borrowed, or NULL with why. */
void clf_probe_ask_answered(struct clf_probe_plan *p, size_t i, const json_t *reply, const struct clf_error *why);

/* listen_ms: how long a listener must have listened, from before wave 0 until wave 1. *evidence (owned, may be set on
 * failure too): {"positive":{"done","failed"},"negative":{"done","failed"},"skipped":[TEXT]}. */
CLF_MUST_USE int clf_probe_verdict(struct clf_probe_plan *p, enum clf_rung rung, int64_t listen_ms, json_t **evidence,
				   struct clf_error *err);

#endif
