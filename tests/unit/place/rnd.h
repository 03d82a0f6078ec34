/* SPDX-License-Identifier: GPL-2.0-or-later */
/* rnd.h - a fixed random sequence a program, and random fabrics. */
#ifndef CLF_TESTS_PLACE_RND_H
#define CLF_TESTS_PLACE_RND_H

#include <stdint.h>

static uint64_t rnd_seed = 88172645463325252u;

static inline uint32_t rnd(uint32_t n)
{
	rnd_seed ^= rnd_seed << 13;
	rnd_seed ^= rnd_seed >> 7;
	rnd_seed ^= rnd_seed << 17;
	return (uint32_t) (rnd_seed >> 11) % n;
}

#endif
