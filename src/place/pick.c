/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pick.c - see pick.h. */
#include "place/pick.h"

#include <stdlib.h>

static int by_domain(const void *a, const void *b)
{
	const struct clf_candidate *x = a, *y = b;

	if (x->domain != y->domain)
		return x->domain < y->domain ? -1 : 1;
	return x->place < y->place ? -1 : x->place > y->place;
}

static int by_run(const void *a, const void *b)
{
	const struct clf_candidate *x = a, *y = b;

	if (x->run != y->run)
		return x->run < y->run ? -1 : 1;
	return x->place < y->place ? -1 : x->place > y->place;
}

static int fullest_first(const void *a, const void *b)
{
	const struct clf_candidate *x = a, *y = b;

	if (x->size != y->size)
		return x->size > y->size ? -1 : 1;
	return by_run(a, b);
}

/* Take n of the untaken in v[i..j). Returns how many it took. */
static uint32_t take(struct clf_candidate *v, uint32_t i, uint32_t j, uint32_t n)
{
	uint32_t done = 0;

	for (; i < j && done < n; i++)
		if (!v[i].taken) {
			v[i].taken = true;
			done++;
		}
	return done;
}

/* Required nodes, and what their domains hold of n; sets run and size. Returns what is left to take. */
static uint32_t take_required(struct clf_candidate *v, uint32_t nv, uint32_t n)
{
	for (uint32_t i = 0; i < nv; i++) {
		v[i].taken = v[i].required;
		n -= v[i].required;
	}
	for (uint32_t i = 0, j; i < nv; i = j) {
		bool open = v[i].required;

		for (j = i + 1; v[i].domain != CLF_NONE && j < nv && v[j].domain == v[i].domain; j++)
			open |= v[j].required;
		if (open)
			n -= take(v, i, j, n);
		for (uint32_t k = i; k < j; k++) {
			v[k].run = v[i].place;
			v[k].size = open ? 0 : j - i;
		}
	}
	return n;
}

void clf_pick_domains(struct clf_candidate *v, uint32_t nv, uint32_t n, uint32_t *out)
{
	uint32_t left, done = 0;

	qsort(v, nv, sizeof(*v), by_domain);
	left = take_required(v, nv, n);
	qsort(v, nv, sizeof(*v), fullest_first);
	for (uint32_t i = 0; left && i < nv; i += v[i].size) {
		uint32_t tight = i;

		/* the last domain: the tightest that holds what is left */
		for (uint32_t j = i; v[i].size >= left && j < nv && v[j].size >= left; j += v[j].size)
			if (v[j].size < v[tight].size)
				tight = j;
		left -= take(v, tight, tight + v[tight].size, left);
	}
	qsort(v, nv, sizeof(*v), by_run);
	for (uint32_t i = 0; i < nv; i++)
		if (v[i].taken)
			out[done++] = v[i].id;
}
