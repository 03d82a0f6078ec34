/* SPDX-License-Identifier: GPL-2.0-or-later */
/* keypool.h - which key of a fabric is next: never one that a device might still carry.
 *
 * Next-fit: the one behind the key given last, so that a key comes back as late as possible. Not given: keys of leases
 * that are open, and keys whose last release was verified less than the cool-down ago. Part of the ledger: what was
 * given and what rests survives with it (docs/formats/journal.md). A het job's components share one key.
 *
 * Units:  times in ms UTC. Keys 1 to 65535, as the fabric's configuration has them.
 * Errors: CLF_E_EXHAUSTED with how many are in use and how many rest.
 */
#ifndef CLF_LEASE_KEYPOOL_H
#define CLF_LEASE_KEYPOOL_H

#include "lease/store.h"

struct clf_keypool {
	const char *fabric; /* borrowed */
	uint16_t min, max;
	int64_t cool_down_ms;
};
struct clf_keypool_use {
	uint32_t size, in_use, resting;
};
CLF_MUST_USE int clf_keypool_next(const struct clf_store *s, const struct clf_keypool *pool, int64_t now_ms,
				  uint16_t *key, struct clf_error *err);
struct clf_keypool_use clf_keypool_use(const struct clf_store *s, const struct clf_keypool *pool, int64_t now_ms);

#endif
