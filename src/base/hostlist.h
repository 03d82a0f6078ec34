/* SPDX-License-Identifier: GPL-2.0-or-later */
/* hostlist.h - Slurm's host expressions both ways, capped.
 *
 * Form:   "n[1-4,7],rack[01-02]gpu[1-8],login"; several bracket groups in a name are expanded as a product;
 *         zero padding is kept ("n[008-011]"). Blanks around commas are allowed. Empty expression: no hosts.
 * Errors: CLF_E_PARSE with column set (1-based, in the expression); CLF_E_NOMEM past max_hosts (with a column; without
 * one, memory ended). Host names longer than CLF_HOST_MAX or with characters outside [A-Za-z0-9._-] are CLF_E_PARSE.
 * Source: slurm.conf(5) NodeName expressions; tested against scontrol show hostnames.
 */
#ifndef CLF_BASE_HOSTLIST_H
#define CLF_BASE_HOSTLIST_H

#include "base/strv.h"

#define CLF_HOST_MAX 255

/* Append the hosts of expr to out, in order, duplicates kept. On failure out is as before. */
CLF_MUST_USE int clf_hostlist_expand(const char *expr, size_t max_hosts, struct clf_strv *out, struct clf_error *err);

/* Call each() for every host of expr, in order, without keeping them; name is borrowed for the call. What each()
 * returns ends it. */
typedef int clf_hostlist_f(void *arg, const char *name, size_t len, struct clf_error *err);
CLF_MUST_USE int clf_hostlist_each(const char *expr, size_t max_hosts, clf_hostlist_f *each, void *arg,
				   struct clf_error *err);

/* Shortest usual expression for the set: sorted naturally, duplicates dropped. Owned string, "" for none; NULL on
 * failure. */
char *clf_hostlist_compress(const char *const *names, size_t n, struct clf_error *err);

/* Expression that expands to exactly this sequence, order and duplicates kept. Owned; NULL on failure. */
char *clf_hostlist_compress_ordered(const char *const *names, size_t n, struct clf_error *err);

#endif
