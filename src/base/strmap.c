/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/strmap.h"

#include <string.h>
#include <sys/random.h>
#include <time.h>

/* Open addressing, linear probing, at most three quarters full. key NULL is a free slot. */
struct clf_strmap_slot {
	const char *key;
	uint32_t len, value;
	uint64_t hash;
};

static inline uint64_t rotl(uint64_t x, int n)
{
	return x << n | x >> (64 - n);
}

static inline void sip_round(uint64_t v[4])
{
	v[0] += v[1];
	v[1] = rotl(v[1], 13) ^ v[0];
	v[0] = rotl(v[0], 32);
	v[2] += v[3];
	v[3] = rotl(v[3], 16) ^ v[2];
	v[0] += v[3];
	v[3] = rotl(v[3], 21) ^ v[0];
	v[2] += v[1];
	v[1] = rotl(v[1], 17) ^ v[2];
	v[2] = rotl(v[2], 32);
}

static uint64_t hash(uint64_t seed, const char *key, size_t len)
{
	/* The second half of the key is a constant: 64 unknown bits are enough to keep collisions out of reach. */
	uint64_t k1 = ~rotl(seed, 29);
	uint64_t v[4] = { seed ^ UINT64_C(0x736f6d6570736575), k1 ^ UINT64_C(0x646f72616e646f6d),
			  seed ^ UINT64_C(0x6c7967656e657261), k1 ^ UINT64_C(0x7465646279746573) };
	uint64_t last = (uint64_t) len << 56, m;
	size_t i = 0;

	for (; i + 8 <= len; i += 8) {
		memcpy(&m, key + i, 8);
		v[3] ^= m;
		sip_round(v);
		v[0] ^= m;
	}
	for (size_t j = 0; i + j < len; j++)
		last |= (uint64_t) (unsigned char) key[i + j] << (8 * j);
	v[3] ^= last;
	sip_round(v);
	v[0] ^= last;
	v[2] ^= 0xff;
	for (int r = 0; r < 3; r++)
		sip_round(v);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}

static uint64_t make_seed(const void *salt)
{
	uint64_t seed;

	if (getrandom(&seed, sizeof(seed), GRND_NONBLOCK) != (ssize_t) sizeof(seed)) {
		struct timespec t = { 0 };

		clock_gettime(CLOCK_MONOTONIC, &t);
		seed = (uint64_t) (uintptr_t) salt * UINT64_C(0x9e3779b97f4a7c15) ^ (uint64_t) t.tv_nsec << 20 ^
		       (uint64_t) t.tv_sec;
	}
	return seed ? seed : 1;
}

/* The slot of the key, or the free slot where it would go. The table is never full, so this ends. */
static struct clf_strmap_slot *probe(const struct clf_strmap *m, const char *key, size_t len, uint64_t h)
{
	for (size_t i = h & (m->cap - 1);; i = (i + 1) & (m->cap - 1)) {
		struct clf_strmap_slot *s = &m->slots[i];

		if (!s->key || (s->hash == h && s->len == len && memcmp(s->key, key, len) == 0))
			return s;
	}
}

static int grow(struct clf_strmap *m, struct clf_error *err)
{
	struct clf_strmap bigger = *m;

	bigger.cap = m->cap ? m->cap * 2 : 16;
	bigger.slots = calloc(bigger.cap, sizeof(*bigger.slots));
	if (!bigger.slots)
		return clf_fail(err, CLF_E_NOMEM, "out of memory");
	if (!bigger.seed)
		bigger.seed = make_seed(bigger.slots);
	for (size_t i = 0; i < m->cap; i++)
		if (m->slots[i].key)
			*probe(&bigger, m->slots[i].key, m->slots[i].len, m->slots[i].hash) = m->slots[i];
	free(m->slots);
	*m = bigger;
	return 0;
}

static int put(struct clf_strmap *m, const char *key, uint32_t value, bool replace, struct clf_error *err)
{
	size_t len = strlen(key);
	struct clf_strmap_slot *s;
	char *copy = NULL;
	uint64_t h;

	if (len > UINT32_MAX)
		return clf_fail(err, CLF_E_INVALID, "name of %zu bytes is too long", len);
	if (m->n + 1 > m->cap / 4 * 3 && grow(m, err))
		return -1;
	h = hash(m->seed, key, len);
	s = probe(m, key, len, h);
	if (s->key) {
		if (!replace)
			return clf_fail(err, CLF_E_CONFLICT, "'%s' is there twice", key);
		s->value = value;
		return 0;
	}
	if (m->copy) {
		copy = strdup(key);
		if (!copy)
			return clf_fail(err, CLF_E_NOMEM, "out of memory");
	}
	*s = (struct clf_strmap_slot){ .key = copy ? copy : key, .len = (uint32_t) len, .value = value, .hash = h };
	m->n++;
	return 0;
}

void clf_strmap_done(struct clf_strmap *m)
{
	if (m->copy)
		for (size_t i = 0; i < m->cap; i++)
			free((char *) m->slots[i].key);
	free(m->slots);
	*m = (struct clf_strmap){ .copy = m->copy };
}

int clf_strmap_add(struct clf_strmap *m, const char *key, uint32_t value, struct clf_error *err)
{
	return put(m, key, value, false, err);
}

int clf_strmap_set(struct clf_strmap *m, const char *key, uint32_t value, struct clf_error *err)
{
	return put(m, key, value, true, err);
}

bool clf_strmap_findn(const struct clf_strmap *m, const char *key, size_t len, uint32_t *value)
{
	const struct clf_strmap_slot *s;

	if (m->n == 0)
		return false;
	s = probe(m, key, len, hash(m->seed, key, len));
	if (!s->key)
		return false;
	*value = s->value;
	return true;
}

bool clf_strmap_find(const struct clf_strmap *m, const char *key, uint32_t *value)
{
	return clf_strmap_findn(m, key, strlen(key), value);
}
