/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lease/keypool.h"

#include <string.h>

#define WORDS ((UINT16_MAX + 1) / 64)

struct map {
	uint64_t used[WORDS], rests[WORDS];
};

static void mark(uint64_t *set, uint16_t key)
{
	set[key / 64] |= UINT64_C(1) << key % 64;
}

static bool has(const uint64_t *set, uint16_t key)
{
	return set[key / 64] >> key % 64 & 1;
}

static void look(const struct clf_store *s, const struct clf_keypool *pool, int64_t now_ms, struct map *m)
{
	const struct clf_lease *l;
	struct clf_key_rest rest;

	memset(m, 0, sizeof *m);
	for (size_t i = 0; (l = clf_store_next(s, &i));) {
		const struct clf_lease_net *n = clf_lease_open(l) ? clf_lease_net(l, pool->fabric) : NULL;

		if (n)
			mark(m->used, n->key);
	}
	for (size_t i = 0; clf_store_key_rest(s, i, &rest); i++)
		/* a clock that was set back ends no rest early: what was closed in the future rests still */
		if (!strcmp(rest.fabric, pool->fabric) && now_ms - rest.closed_ms < pool->cool_down_ms)
			mark(m->rests, rest.key);
}

int clf_keypool_next(const struct clf_store *s, const struct clf_keypool *pool, int64_t now_ms, uint16_t *key,
		     struct clf_error *err)
{
	uint32_t size = (uint32_t) (pool->max - pool->min) + 1, last = clf_store_key_last(s, pool->fabric);
	uint32_t first = last >= pool->min && last <= pool->max ? last - pool->min + 1 : 0;
	struct clf_keypool_use use;
	struct map m;

	look(s, pool, now_ms, &m);
	for (uint32_t i = 0; i < size; i++) {
		uint16_t k = (uint16_t) (pool->min + (first + i) % size);

		if (!has(m.used, k) && !has(m.rests, k)) {
			*key = k;
			return 0;
		}
	}
	use = clf_keypool_use(s, pool, now_ms);
	return clf_fail(err, CLF_E_EXHAUSTED,
			"no key of fabric '%s' is free: %u of %u in use, %u rest after release; the job waits",
			pool->fabric, use.in_use, use.size, use.resting);
}

struct clf_keypool_use clf_keypool_use(const struct clf_store *s, const struct clf_keypool *pool, int64_t now_ms)
{
	struct clf_keypool_use u = { .size = (uint32_t) (pool->max - pool->min) + 1 };
	struct map m;

	look(s, pool, now_ms, &m);
	for (uint32_t k = pool->min; k <= pool->max; k++) {
		u.in_use += has(m.used, (uint16_t) k);
		u.resting += has(m.rests, (uint16_t) k) && !has(m.used, (uint16_t) k);
	}
	return u;
}
