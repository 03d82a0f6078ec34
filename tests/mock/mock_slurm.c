/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "mock_slurm.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <slurm/slurm.h>

#define MAGIC UINT64_C(0x736c75726d616c63)

/* Like Slurm's: a head before the address that is handed out, so free() of one and xfree() of the other's both are
 * wrong. */
struct head {
	uint64_t magic;
	size_t size;
};

static size_t live, wrong;

static struct head *head_of(const void *p)
{
	return (struct head *) ((char *) (uintptr_t) p - sizeof(struct head));
}

bool mock_owns(const void *p)
{
	return p && head_of(p)->magic == MAGIC;
}

size_t mock_live(void)
{
	return live;
}

size_t mock_wrong_frees(void)
{
	return wrong;
}

void slurm_xfree(void **item)
{
	struct head *h;

	if (!*item)
		return;
	h = head_of(*item);
	if (h->magic != MAGIC) {
		wrong++;
	} else {
		h->magic = 0;
		live--;
		free(h);
	}
	*item = NULL;
}

void *slurm_xrecalloc(void **item, size_t count, size_t size, bool clear, bool try_, const char *file, int line,
		      const char *func)
{
	size_t want = count * size;
	struct head *h = calloc(1, sizeof(*h) + want);

	(void) clear;
	(void) try_;
	(void) file;
	(void) line;
	(void) func;
	if (!h)
		abort();
	h->magic = MAGIC;
	h->size = want;
	live++;
	if (*item) {
		size_t old = head_of(*item)->size;

		memcpy(h + 1, *item, old < want ? old : want);
		slurm_xfree(item);
	}
	*item = h + 1;
	return *item;
}

char *slurm_xstrdup(const char *s)
{
	void *p = NULL;

	if (!s)
		return NULL;
	slurm_xrecalloc(&p, strlen(s) + 1, 1, true, false, "", 0, "");
	return strcpy(p, s);
}

void slurm_error(const char *fmt, ...)
{
	(void) fmt;
}

int slurm_info(const char *fmt, ...)
{
	(void) fmt;
	return 0;
}

void slurm_debug(const char *fmt, ...)
{
	(void) fmt;
}

/* Enough of it: fields the glue reads have the values that mean "not given". */
void slurm_init_job_desc_msg(job_desc_msg_t *d)
{
	memset(d, 0, sizeof(*d));
	d->contiguous = d->core_spec = d->shared = d->kill_on_node_fail = d->reboot = d->requeue = NO_VAL16;
	d->het_job_offset = d->job_id = d->min_nodes = d->max_nodes = d->min_cpus = d->max_cpus = d->num_tasks = NO_VAL;
	d->priority = d->req_switch = d->wait4switch = d->time_limit = d->time_min = d->user_id = d->nice = NO_VAL;
	d->bitflags = 0;
}
