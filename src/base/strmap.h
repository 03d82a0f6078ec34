/* SPDX-License-Identifier: GPL-2.0-or-later */
/* strmap.h - string to uint32 map; SipHash-1-3 with a key from the kernel, so hostile keys do not degrade it.
 * Source: Aumasson and Bernstein, "SipHash: a fast short-input PRF", 2012.
 * Memory: init/done on the caller's storage; keys are borrowed unless the map was made with copy = true. */
#ifndef CLF_BASE_STRMAP_H
#define CLF_BASE_STRMAP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct clf_strmap_slot;
struct clf_strmap {
	struct clf_strmap_slot *slots;
	size_t n, cap;
	uint64_t seed;
	bool copy;
};

void clf_strmap_done(struct clf_strmap *m);
/* CLF_E_CONFLICT when the key is there already (value untouched). */
CLF_MUST_USE int clf_strmap_add(struct clf_strmap *m, const char *key, uint32_t value, struct clf_error *err);
CLF_MUST_USE int clf_strmap_set(struct clf_strmap *m, const char *key, uint32_t value, struct clf_error *err);
/* true and *value when present; *value untouched otherwise. key needs no NUL with _findn. */
bool clf_strmap_find(const struct clf_strmap *m, const char *key, uint32_t *value);
bool clf_strmap_findn(const struct clf_strmap *m, const char *key, size_t len, uint32_t *value);

#endif
