/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/bitmap.h"

#include <string.h>

struct clf_bitmap *clf_bitmap_create(uint32_t nbits, struct clf_error *err)
{
	uint32_t nwords = nbits / 64 + (nbits % 64 != 0);
	struct clf_bitmap *b = calloc(1, sizeof(*b) + (size_t) nwords * sizeof(b->words[0]));

	if (!b) {
		clf_fail(err, CLF_E_NOMEM, "out of memory");
		return NULL;
	}
	b->nbits = nbits;
	b->nwords = nwords;
	return b;
}

struct clf_bitmap *clf_bitmap_copy(const struct clf_bitmap *b, struct clf_error *err)
{
	struct clf_bitmap *c = clf_bitmap_create(b->nbits, err);

	if (c)
		memcpy(c->words, b->words, (size_t) b->nwords * sizeof(b->words[0]));
	return c;
}

void clf_bitmap_destroy(struct clf_bitmap *b)
{
	free(b);
}

/* Keep the promise that bits past nbits are 0. */
static void trim(struct clf_bitmap *b)
{
	if (b->nbits % 64)
		b->words[b->nwords - 1] &= (UINT64_C(1) << (b->nbits % 64)) - 1;
}

void clf_bitmap_fill(struct clf_bitmap *b)
{
	memset(b->words, 0xff, (size_t) b->nwords * sizeof(b->words[0]));
	trim(b);
}

void clf_bitmap_zero(struct clf_bitmap *b)
{
	memset(b->words, 0, (size_t) b->nwords * sizeof(b->words[0]));
}

void clf_bitmap_and(struct clf_bitmap *dst, const struct clf_bitmap *src)
{
	if (dst->nbits == src->nbits)
		for (uint32_t i = 0; i < dst->nwords; i++)
			dst->words[i] &= src->words[i];
}

void clf_bitmap_or(struct clf_bitmap *dst, const struct clf_bitmap *src)
{
	if (dst->nbits == src->nbits)
		for (uint32_t i = 0; i < dst->nwords; i++)
			dst->words[i] |= src->words[i];
}

void clf_bitmap_andnot(struct clf_bitmap *dst, const struct clf_bitmap *src)
{
	if (dst->nbits == src->nbits)
		for (uint32_t i = 0; i < dst->nwords; i++)
			dst->words[i] &= ~src->words[i];
}

void clf_bitmap_invert(struct clf_bitmap *b)
{
	for (uint32_t i = 0; i < b->nwords; i++)
		b->words[i] = ~b->words[i];
	trim(b);
}

uint32_t clf_bitmap_count(const struct clf_bitmap *b)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < b->nwords; i++)
		n += (uint32_t) __builtin_popcountll(b->words[i]);
	return n;
}

uint32_t clf_bitmap_count_range(const struct clf_bitmap *b, uint32_t first, uint32_t n)
{
	uint32_t end = n > UINT32_MAX - first ? UINT32_MAX : first + n, count = 0;

	if (end > b->nbits)
		end = b->nbits;
	if (first >= end)
		return 0;
	for (uint32_t w = first / 64; w <= (end - 1) / 64; w++) {
		uint64_t bits = b->words[w];

		if (w == first / 64)
			bits &= ~UINT64_C(0) << (first % 64);
		if (w == (end - 1) / 64)
			bits &= ~UINT64_C(0) >> (63 - (end - 1) % 64);
		count += (uint32_t) __builtin_popcountll(bits);
	}
	return count;
}

bool clf_bitmap_equal(const struct clf_bitmap *a, const struct clf_bitmap *b)
{
	return a->nbits == b->nbits && memcmp(a->words, b->words, (size_t) a->nwords * sizeof(a->words[0])) == 0;
}

bool clf_bitmap_subset(const struct clf_bitmap *a, const struct clf_bitmap *of)
{
	if (a->nbits != of->nbits)
		return false;
	for (uint32_t i = 0; i < a->nwords; i++)
		if (a->words[i] & ~of->words[i])
			return false;
	return true;
}

bool clf_bitmap_intersects(const struct clf_bitmap *a, const struct clf_bitmap *b)
{
	if (a->nbits == b->nbits)
		for (uint32_t i = 0; i < a->nwords; i++)
			if (a->words[i] & b->words[i])
				return true;
	return false;
}

uint32_t clf_bitmap_next(const struct clf_bitmap *b, uint32_t i)
{
	uint64_t bits;
	uint32_t w;

	if (i >= b->nbits)
		return b->nbits;
	w = i / 64;
	bits = b->words[w] & ~UINT64_C(0) << (i % 64);
	while (!bits) {
		if (++w == b->nwords)
			return b->nbits;
		bits = b->words[w];
	}
	return w * 64 + (uint32_t) __builtin_ctzll(bits);
}
