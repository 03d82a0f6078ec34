/* SPDX-License-Identifier: GPL-2.0-or-later */
/* inforce.h - policy and topology as loaded from their files: whole, or a reason why not. Safe in a worker thread.
 * Memory: owned, create/destroy. */
#ifndef CLF_DAEMON_INFORCE_H
#define CLF_DAEMON_INFORCE_H

#include <sys/stat.h>

#include "base/hash.h"
#include "engine/decide.h"
#include "policy/conf.h"

/* What tells one version of a file from another without reading it. */
struct clf_stamp {
	dev_t dev;
	ino_t ino;
	off_t size;
	struct timespec mtime, ctime;
	bool there;
};
struct clf_stamp clf_stamp_of(const char *path);
bool clf_stamp_same(const struct clf_stamp *a, const struct clf_stamp *b);

struct clf_inforce {
	struct clf_stamp policy_stamp, topo_stamp;
	struct clf_error error; /* code CLF_OK: all below is good */
	struct clf_policy *policy;
	char *policy_text;
	char policy_sha256[CLF_SHA256_HEX];
	struct clf_topo *topo;            /* NULL = none configured */
	char *topo_text;                  /* closfold-topo/1 */
	char topo_sha256[CLF_SHA256_HEX]; /* "" = none */
	struct clf_strv nodes;            /* known here: those of the topology and of the zones' lists */
	struct clf_site *site;
};
/* NULL only when memory ends. */
struct clf_inforce *clf_inforce_load(const struct clf_conf *conf);
void clf_inforce_destroy(struct clf_inforce *f);
CLF_DEFINE_CLEANUP(struct clf_inforce, clf_inforce_destroy)

/* As root only files are taken that nobody else can have written: root's, in directories of root's (base/path.h). Else
 * CLF_E_INSECURE, in words. */
CLF_MUST_USE int clf_inforce_trusted(const char *path, struct clf_error *err);

#endif
