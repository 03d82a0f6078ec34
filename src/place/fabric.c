/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fabric.c - see fabric.h. */
#include "place/fabric.h"

#include <stdlib.h>

static int by_name(const void *a, const void *b, void *arg)
{
	const struct clf_topo *t = arg;
	uint32_t x = *(const uint32_t *) a, y = *(const uint32_t *) b;
	int order = clf_strnatcmp(clf_topo_group(t, x)->name, clf_topo_group(t, y)->name);

	return order ? order : x < y ? -1 : x > y;
}

static void sort(const struct clf_topo *t, uint32_t *v, uint32_t n)
{
	for (uint32_t i = 1; i < n; i++)
		if (by_name(&v[i - 1], &v[i], (void *) t) > 0) {
			qsort_r(v, n, sizeof(*v), by_name, (void *) t);
			return;
		}
}

/* Start the next group of a level; its children follow. */
static uint32_t open_group(struct clf_search_tree *tree, uint32_t level, uint32_t parent)
{
	uint32_t g = tree->n[level]++;

	if (level < tree->levels)
		tree->parent[level][g] = parent;
	if (level > 1)
		tree->first[level][g] = tree->n[level - 1];
	return g;
}

/* A group and what is below it. scratch: room for the sorted children of the groups on one path. */
static void add_group(struct clf_fabric *f, uint32_t id, uint32_t parent, uint32_t *scratch)
{
	const struct clf_topo_group *x = clf_topo_group(f->topo, id);
	uint32_t g = open_group(&f->tree, x->level, parent);

	if (x->level == 1) {
		f->leaf[g] = id;
		f->first_node[g] = x->first_node;
		f->size[g] = x->n_nodes;
		f->largest = x->n_nodes > f->largest ? x->n_nodes : f->largest;
		return;
	}
	for (uint32_t i = 0; i < x->n; i++)
		scratch[i] = x->first + i;
	sort(f->topo, scratch, x->n);
	for (uint32_t i = 0; i < x->n; i++)
		add_group(f, scratch[i], g, scratch + x->n);
}

/* Groups of each level, padded ones too: a root of level k has one group above it on each level that is missing. */
static size_t count_groups(const struct clf_topo *t, struct clf_search_tree *tree)
{
	size_t all = 0;

	for (uint32_t g = 0; g < clf_topo_ngroups(t); g++) {
		const struct clf_topo_group *x = clf_topo_group(t, g);

		tree->n[x->level]++;
		for (uint32_t l = x->level + 1; x->parent == CLF_NONE && l <= tree->levels; l++)
			tree->n[l]++;
	}
	for (uint32_t l = 1; l <= tree->levels; l++)
		all += tree->n[l];
	return all;
}

static uint32_t *cut(uint32_t **block, size_t n)
{
	uint32_t *p = *block;

	*block += n;
	return p;
}

int clf_fabric_init(struct clf_fabric *f, const struct clf_topo *t, struct clf_error *err)
{
	uint32_t levels = clf_topo_counts(t).levels, ngroups = clf_topo_ngroups(t), nroots = 0;
	CLF_AUTO_FREE uint32_t *scratch = calloc(2 * (size_t) ngroups + 2, sizeof(*scratch));
	struct clf_search_tree *tree = &f->tree;
	uint32_t *block, *roots = scratch;
	size_t all;

	*f = (struct clf_fabric){ .topo = t, .tree.levels = levels > 3 ? levels : 3 };
	if (levels > CLF_SEARCH_LEVELS)
		return clf_fail(err, CLF_E_INVALID, "a fabric of %u levels; at most %d can be placed on", levels,
				CLF_SEARCH_LEVELS);
	all = count_groups(t, tree);
	f->memory = calloc(2 * all + 3 * (size_t) tree->n[1] + CLF_SEARCH_LEVELS + 1, sizeof(*f->memory));
	if (!f->memory || !scratch)
		return clf_fail(err, CLF_E_NOMEM, "out of memory");
	block = f->memory;
	f->leaf = cut(&block, tree->n[1]);
	f->first_node = cut(&block, tree->n[1]);
	f->size = cut(&block, tree->n[1]);
	for (uint32_t l = 1; l <= tree->levels; l++) {
		tree->parent[l] = cut(&block, tree->n[l]);
		tree->first[l] = cut(&block, tree->n[l] + 1);
		tree->n[l] = 0;
	}
	tree->size = f->size;
	for (uint32_t g = 0; g < ngroups; g++)
		if (clf_topo_group(t, g)->parent == CLF_NONE)
			roots[nroots++] = g;
	sort(t, roots, nroots);
	for (uint32_t i = 0; i < nroots; i++) {
		uint32_t parent = CLF_NONE;

		for (uint32_t l = tree->levels; l > clf_topo_group(t, roots[i])->level; l--)
			parent = open_group(tree, l, parent);
		add_group(f, roots[i], parent, scratch + nroots);
	}
	for (uint32_t l = 2; l <= tree->levels; l++)
		tree->first[l][tree->n[l]] = tree->n[l - 1];
	f->domains = clf_topo_ndomains(t) > 0;
	return 0;
}

void clf_fabric_done(struct clf_fabric *f)
{
	free(f->memory);
	*f = (struct clf_fabric){ 0 };
}

/* Set bits of [first, first + n), n in 1..64: without the call, and the library's table, of a population count. */
static inline uint32_t count_word(const uint64_t *words, uint32_t first, uint32_t n)
{
	uint32_t w = first / 64, shift = first % 64;
	uint64_t x = words[w] >> shift;

	if (shift + n > 64)
		x |= words[w + 1] << (64 - shift);
	x &= ~UINT64_C(0) >> (64 - n);
	x -= x >> 1 & UINT64_C(0x5555555555555555);
	x = (x & UINT64_C(0x3333333333333333)) + (x >> 2 & UINT64_C(0x3333333333333333));
	x = (x + (x >> 4)) & UINT64_C(0x0F0F0F0F0F0F0F0F);
	return (uint32_t) (x * UINT64_C(0x0101010101010101) >> 56);
}

void clf_fabric_count(const struct clf_fabric *f, const struct clf_bitmap *set, uint32_t *count)
{
	for (uint32_t l = 0; l < f->tree.n[1]; l++) {
		uint32_t n = f->size[l];

		count[l] = n - 1 < 64 ? count_word(set->words, f->first_node[l], n)
				      : clf_bitmap_count_range(set, f->first_node[l], n);
	}
}
