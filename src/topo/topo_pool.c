/* SPDX-License-Identifier: GPL-2.0-or-later */
/* topo_pool.c - strings of a topology in a few large blocks, and zeroed arrays. */
#include <stdlib.h>
#include <string.h>

#include "topo/topo_priv.h"

#define BLOCK_BYTES 65536

struct clf_pool_block {
	struct clf_pool_block *next;
	size_t used, size;
	char data[];
};

const char *clf_pool_add(struct clf_pool *p, const char *s, size_t len, struct clf_error *err)
{
	struct clf_pool_block *b = p->head;

	if (!b || b->size - b->used <= len) {
		size_t size = len + 1 > BLOCK_BYTES ? len + 1 : BLOCK_BYTES;

		b = malloc(sizeof *b + size);
		if (!b) {
			clf_fail(err, CLF_E_NOMEM, "out of memory");
			return NULL;
		}
		*b = (struct clf_pool_block){ .next = p->head, .size = size };
		p->head = b;
	}

	char *d = b->data + b->used;

	memcpy(d, s, len);
	d[len] = '\0';
	b->used += len + 1;
	return d;
}

void clf_pool_done(struct clf_pool *p)
{
	while (p->head) {
		struct clf_pool_block *b = p->head;

		p->head = b->next;
		free(b);
	}
}

void *clf_topo_alloc(size_t n, size_t size, struct clf_error *err)
{
	void *p = calloc(n ? n : 1, size);

	if (!p)
		clf_fail(err, CLF_E_NOMEM, "out of memory");
	return p;
}
