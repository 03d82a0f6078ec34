/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bitmap.h - sets of small ids, fixed width.
 * Shapes: nbits is fixed at creation; bits past nbits are always 0. Two operands have equal nbits (asserted by
 * returning without effect when not). Memory: create/destroy; destroy takes NULL. words is exposed for hot loops: bit i
 * is words[i / 64] >> (i % 64) & 1. */
#ifndef CLF_BASE_BITMAP_H
#define CLF_BASE_BITMAP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct clf_bitmap {
	uint32_t nbits, nwords;
	uint64_t words[];
};

struct clf_bitmap *clf_bitmap_create(uint32_t nbits, struct clf_error *err); /* all 0; NULL on failure */
struct clf_bitmap *clf_bitmap_copy(const struct clf_bitmap *b, struct clf_error *err);
void clf_bitmap_destroy(struct clf_bitmap *b);
CLF_DEFINE_CLEANUP(struct clf_bitmap, clf_bitmap_destroy)

static inline bool clf_bitmap_test(const struct clf_bitmap *b, uint32_t i)
{
	return i < b->nbits && (b->words[i / 64] >> (i % 64) & 1);
}
static inline void clf_bitmap_set(struct clf_bitmap *b, uint32_t i)
{
	if (i < b->nbits)
		b->words[i / 64] |= UINT64_C(1) << (i % 64);
}
static inline void clf_bitmap_clear(struct clf_bitmap *b, uint32_t i)
{
	if (i < b->nbits)
		b->words[i / 64] &= ~(UINT64_C(1) << (i % 64));
}
void clf_bitmap_fill(struct clf_bitmap *b);
void clf_bitmap_zero(struct clf_bitmap *b);
void clf_bitmap_and(struct clf_bitmap *dst, const struct clf_bitmap *src);
void clf_bitmap_or(struct clf_bitmap *dst, const struct clf_bitmap *src);
void clf_bitmap_andnot(struct clf_bitmap *dst, const struct clf_bitmap *src);
void clf_bitmap_invert(struct clf_bitmap *b);
uint32_t clf_bitmap_count(const struct clf_bitmap *b);
uint32_t clf_bitmap_count_range(const struct clf_bitmap *b, uint32_t first,
				uint32_t n); /* masked popcount of [first, first+n) */
bool clf_bitmap_equal(const struct clf_bitmap *a, const struct clf_bitmap *b);
bool clf_bitmap_subset(const struct clf_bitmap *a, const struct clf_bitmap *of);
bool clf_bitmap_intersects(const struct clf_bitmap *a, const struct clf_bitmap *b);
/* First set bit at or after i, or nbits. */
uint32_t clf_bitmap_next(const struct clf_bitmap *b, uint32_t i);

#endif
