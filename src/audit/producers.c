/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "audit/producers.h"

#include <stdio.h>
#include <string.h>

#define WORDS (CLF_PRODUCER_WINDOW / 64)

struct producer {
	char *key;
	uint64_t base;            /* everything up to here is settled */
	uint64_t highest;         /* seen */
	uint64_t seen[WORDS];     /* number base + 1 + i at bit (base + 1 + i) % window */
	int64_t last_ms, hole_ms; /* hole_ms: since when base + 1 is missing, 0 = it is not */
	struct clf_gap pushed;    /* a hole that left the window unreported; first 0 = none */
};

struct clf_producers {
	struct producer *v[CLF_PRODUCERS_MAX];
	size_t n;
};

struct clf_producers *clf_producers_create(struct clf_error *err)
{
	struct clf_producers *p = calloc(1, sizeof *p);

	if (!p)
		clf_fail(err, CLF_E_NOMEM, "out of memory");
	return p;
}

static void producer_destroy(struct producer *q)
{
	if (!q)
		return;
	free(q->key);
	free(q);
}

void clf_producers_destroy(struct clf_producers *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < p->n; i++)
		producer_destroy(p->v[i]);
	free(p);
}

char *clf_producers_key(const struct clf_canon *c)
{
	char *key = NULL;

	if (asprintf(&key, "%.*s %.*s %.*s", (int) c->producer.len, c->producer.p, (int) c->boot_id.len, c->boot_id.p,
		     (int) c->run.len, c->run.p) < 0)
		return NULL;
	return key;
}

static bool bit(const struct producer *q, uint64_t seq)
{
	return q->seen[seq % CLF_PRODUCER_WINDOW / 64] >> (seq % 64) & 1;
}

static void bit_set(struct producer *q, uint64_t seq, bool on)
{
	uint64_t m = UINT64_C(1) << (seq % 64), *w = &q->seen[seq % CLF_PRODUCER_WINDOW / 64];

	*w = on ? *w | m : *w & ~m;
}

/* base moves over what is there; what hole begins after it is as old as now. */
static void settle(struct producer *q, int64_t now_ms)
{
	uint64_t before = q->base;

	while (q->base < q->highest && bit(q, q->base + 1))
		bit_set(q, ++q->base, false);
	if (q->base == q->highest)
		q->hole_ms = 0;
	else if (q->base != before || !q->hole_ms)
		q->hole_ms = now_ms ? now_ms : 1;
}

static void push_out(struct producer *q, uint64_t first, uint64_t last)
{
	if (!q->pushed.first)
		q->pushed.first = first;
	q->pushed.last = last;
}

/* Make room so that seq is inside the window. */
static void advance(struct producer *q, uint64_t seq)
{
	if (seq - q->base > 2ull * CLF_PRODUCER_WINDOW) { /* nothing of the old window stays */
		push_out(q, q->base + 1, seq - CLF_PRODUCER_WINDOW);
		memset(q->seen, 0, sizeof q->seen);
		q->base = seq - CLF_PRODUCER_WINDOW;
	}
	while (seq > q->base + CLF_PRODUCER_WINDOW) {
		q->base++;
		if (!bit(q, q->base))
			push_out(q, q->base, q->base);
		bit_set(q, q->base, false);
	}
}

static struct producer *find(struct clf_producers *p, const char *key)
{
	for (size_t i = 0; i < p->n; i++)
		if (!strcmp(p->v[i]->key, key))
			return p->v[i];
	return NULL;
}

static struct producer *add(struct clf_producers *p, char *key /* stolen */, uint64_t first, struct clf_error *err)
{
	struct producer *q = calloc(1, sizeof *q);
	size_t at = p->n;

	if (!q) {
		free(key);
		clf_fail(err, CLF_E_NOMEM, "out of memory");
		return NULL;
	}
	q->key = key;
	q->base = q->highest = first - 1;
	if (p->n < CLF_PRODUCERS_MAX) {
		p->n++;
	} else {
		at = 0;
		for (size_t i = 1; i < p->n; i++)
			if (p->v[i]->last_ms < p->v[at]->last_ms)
				at = i;
		producer_destroy(p->v[at]);
	}
	p->v[at] = q;
	return q;
}

int clf_producers_note(struct clf_producers *p, const struct clf_canon *c, int64_t now_ms, bool *known,
		       struct clf_error *err)
{
	CLF_AUTO_FREE char *key = clf_producers_key(c);
	uint64_t seq = (uint64_t) c->producer_seq;

	if (!key)
		return clf_fail(err, CLF_E_NOMEM, "out of memory");
	if (!seq)
		return clf_fail(err, CLF_E_PARSE, "producer's numbers begin with 1");

	struct producer *q = find(p, key);

	if (!q)
		q = add(p, CLF_STEAL(key), seq, err);
	if (!q)
		return -1;
	q->last_ms = now_ms;
	if (seq <= q->base) {
		/* settled: seen, unless it is so old that nobody can tell */
		*known = seq + CLF_PRODUCER_WINDOW > q->base;
		return 0;
	}
	if (seq <= q->highest && bit(q, seq)) {
		*known = true;
		return 0;
	}
	advance(q, seq);
	if (seq > q->highest)
		q->highest = seq;
	bit_set(q, seq, true);
	settle(q, now_ms);
	*known = false;
	return 0;
}

void clf_producers_forget(struct clf_producers *p, const char *key, uint64_t seq)
{
	struct producer *q = find(p, key);

	if (!q || !seq)
		return;
	if (seq > q->base) {
		bit_set(q, seq, false);
		return;
	}
	/* Open the window again down to it; the numbers above it up to the old base were seen. */
	if (q->base - seq >= CLF_PRODUCER_WINDOW || q->highest - seq >= CLF_PRODUCER_WINDOW)
		return;
	for (uint64_t s = seq + 1; s <= q->base; s++)
		bit_set(q, s, true);
	bit_set(q, seq, false);
	q->base = seq - 1;
}

static bool take_gap(struct producer *q, uint64_t first, uint64_t last, struct clf_gap *out)
{
	snprintf(out->name, sizeof out->name, "%.*s", (int) strcspn(q->key, " "), q->key);
	out->first = first;
	out->last = last;
	return true;
}

bool clf_producers_gap(struct clf_producers *p, int64_t now_ms, int64_t grace_ms, struct clf_gap *out)
{
	for (size_t i = 0; i < p->n; i++) {
		struct producer *q = p->v[i];

		if (q->pushed.first) {
			take_gap(q, q->pushed.first, q->pushed.last, out);
			q->pushed.first = 0;
			return true;
		}
		if (!q->hole_ms || now_ms - q->hole_ms < grace_ms)
			continue;

		uint64_t first = q->base + 1, last = first;

		while (last < q->highest && !bit(q, last + 1))
			last++;
		q->base = last;
		q->hole_ms = 0;
		settle(q, now_ms);
		return take_gap(q, first, last, out);
	}
	return false;
}
