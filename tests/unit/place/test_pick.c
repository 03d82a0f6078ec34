/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Nodes inside a leaf: fewest NVLink domains against every set of domains, and which ones among equals. */
#include <string.h>

#include "place/pick.h"
#include "rnd.h"
#include "tap.h"

static uint32_t fill(struct clf_candidate *v, uint32_t ndomains, uint32_t most, bool required)
{
	uint32_t nv = 0;

	for (uint32_t d = 0; d < ndomains; d++)
		for (uint32_t k = 1 + rnd(most); k > 0; k--) {
			/* domains interleave: a domain need not be a run of names */
			uint32_t at = rnd(nv + 1);

			v[nv] = v[at];
			v[at] = (struct clf_candidate){ .domain = rnd(8) ? d : CLF_NONE };
			nv++;
		}
	for (uint32_t i = 0; i < nv; i++) {
		v[i].id = 100 + i;
		v[i].place = i;
		v[i].required = required && !rnd(6);
	}
	return nv;
}

/* Domains of the chosen nodes as bits; a node without one is a domain by itself, bits 16 and up. */
static uint64_t domains_of(const struct clf_candidate *v, uint32_t nv, uint64_t nodes)
{
	uint64_t d = 0;

	for (uint32_t i = 0; i < nv; i++)
		if (nodes >> i & 1)
			d |= UINT64_C(1) << (v[i].domain == CLF_NONE ? 16 + i : v[i].domain);
	return d;
}

static uint32_t least_domains(const struct clf_candidate *v, uint32_t nv, uint32_t n)
{
	uint32_t best = UINT32_MAX;

	for (uint64_t set = 0; set < UINT64_C(1) << nv; set++) {
		bool good = (uint32_t) __builtin_popcountll(set) == n;
		uint32_t k;

		for (uint32_t i = 0; good && i < nv; i++)
			good = !v[i].required || set >> i & 1;
		if (!good)
			continue;
		k = (uint32_t) __builtin_popcountll(domains_of(v, nv, set));
		best = k < best ? k : best;
	}
	return best;
}

static void against_brute(bool required)
{
	uint32_t wrong = 0, unlike = 0, torn = 0, cases = 0;

	for (uint32_t i = 0; i < 400; i++) {
		struct clf_candidate v[32], kept[32];
		uint32_t out[32], nv = fill(v, 1 + rnd(4), 4, required), n, must = 0;
		uint64_t set = 0, closed = 0;
		uint32_t last = CLF_NONE;

		if (nv > 13)
			continue;
		for (uint32_t k = 0; k < nv; k++)
			must += v[k].required;
		n = 1 + rnd(nv);
		n = n < must ? must : n;
		memcpy(kept, v, sizeof(kept));
		clf_pick_domains(v, nv, n, out);
		cases++;
		for (uint32_t k = 0; k < n; k++) {
			uint32_t d = kept[out[k] - 100].domain;
			uint64_t bit = UINT64_C(1) << (d == CLF_NONE ? 16 + out[k] - 100 : d);

			set |= UINT64_C(1) << (out[k] - 100);
			/* a domain that was left does not come again */
			torn += (d != last || d == CLF_NONE) && (closed & bit) != 0;
			closed |= bit;
			last = d;
		}
		for (uint32_t k = 0; k < nv; k++)
			unlike += kept[k].required && !(set >> k & 1);
		unlike += (uint32_t) __builtin_popcountll(set) != n;
		wrong += (uint32_t) __builtin_popcountll(domains_of(kept, nv, set)) != least_domains(kept, nv, n);
	}
	ok(!wrong, "%s: fewest domains in %u cases, %u differ", required ? "with required nodes" : "free choice", cases,
	   wrong);
	is_int(unlike, 0, "as many as asked for, each once, the required ones in");
	is_int(torn, 0, "each domain in one run");
}

static void choose(const char *domains, uint32_t n, const char *want, const char *why)
{
	struct clf_candidate v[32];
	uint32_t nv = (uint32_t) strlen(domains), out[32];
	char got[33] = { 0 };

	for (uint32_t i = 0; i < nv; i++)
		v[i] = (struct clf_candidate){ .id = i,
					       .place = i,
					       .domain = domains[i] == '-' ? CLF_NONE : (uint32_t) domains[i] };
	clf_pick_domains(v, nv, n, out);
	for (uint32_t i = 0; i < n; i++)
		got[i] = (char) ('a' + out[i]);
	is_str(got, want, "%s", why);
}

int main(void)
{
	against_brute(false);
	against_brute(true);
	choose("XXXXYYZZZ", 2, "ef", "the domain that fits exactly, not a part of a larger one");
	choose("XXXXYYZZZ", 3, "ghi", "the tightest again");
	choose("XXXXYYZZZ", 6, "abcdef", "the fullest whole, then the tightest for the rest");
	choose("XXYYZZ", 2, "ab", "among equals the first");
	choose("XYXYXY", 3, "ace", "a domain whose nodes are not neighbours");
	choose("---XX", 2, "de", "nodes without a domain count one each");
	return done_testing();
}
