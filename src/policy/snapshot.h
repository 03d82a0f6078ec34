/* SPDX-License-Identifier: GPL-2.0-or-later */
/* snapshot.h - policy and topology in force, as closfoldd publishes them and plugins read them.
 *
 * DIR/snapshot.json   {"format":"closfold-snapshot/1","generation":N,"policy":"<sha256>","topology":"<sha256>"|null},
 * replaced by rename DIR/<sha256>.json   the policy's text as it was applied, or the topology in closfold-topo/1; never
 * changed, written before the manifest
 *
 * closfoldd is the only writer, after the apply record is durable. A reader that finds anything wrong keeps what it has
 * and says so. Trust: files are opened by clf_path_open_trusted() (root or owner).
 */
#ifndef CLF_POLICY_SNAPSHOT_H
#define CLF_POLICY_SNAPSHOT_H

#include "policy/policy.h"
#include "topo/topo.h"

struct clf_snapshot {
	uint64_t generation;
	char policy_sha256[65], topology_sha256[65]; /* topology "" = none */
	struct clf_policy *policy;                   /* owned */
	struct clf_topo *topo;                       /* owned, NULL = none */
};

/* CLF_E_NOTFOUND when there is no snapshot yet. known_generation: return 0 with *out NULL when the manifest still has
 * it (0 = load anyway). */
CLF_MUST_USE int clf_snapshot_load(const char *dir, uid_t owner, uint64_t known_generation, struct clf_snapshot **out,
				   struct clf_error *err);
void clf_snapshot_destroy(struct clf_snapshot *s);
CLF_DEFINE_CLEANUP(struct clf_snapshot, clf_snapshot_destroy)

/* Publish texts under their hashes (computed by the caller), then the manifest. topology text may be NULL. */
CLF_MUST_USE int clf_snapshot_publish(const char *dir, uint64_t generation, const char *policy_sha256,
				      const char *policy_text, const char *topology_sha256, const char *topology_text,
				      struct clf_error *err);

#endif
