/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pods.c - leaves in several pods of one level-3 group: bound and certificate (docs/adr/0004-placement.md). Letters as
 * there: theta, V_p(theta) = value[p], U(theta); above[p] = leaves with more than theta free. */
#include <string.h>

#include "place/search_ws.h"

struct pods {
	uint32_t a, b;  /* pods of the group */
	uint32_t nu;    /* unpaid ones with free nodes: ws->order[0..nu-1] */
	uint32_t most;  /* largest f */
	uint32_t theta; /* of value[] and above[] */
};

static bool is_paid(const struct clf_search_ws *ws, uint32_t pod)
{
	return ws->npaid[2] && ws->paid[2][pod];
}

static struct pods open_group(struct clf_search_ws *ws, uint32_t group)
{
	struct pods s = { .a = ws->tree.first[3][group], .b = ws->tree.first[3][group + 1] };

	for (uint32_t p = s.a; p < s.b; p++) {
		clf_search_histogram(ws, p);
		s.most = ws->most[p] > s.most ? ws->most[p] : s.most;
		if (!is_paid(ws, p) && ws->cap[2][p])
			ws->order[s.nu++] = p;
	}
	return s;
}

static void set_theta(struct clf_search_ws *ws, struct pods *s, uint32_t theta)
{
	for (uint32_t p = s->a; p < s->b; p++) {
		const uint32_t *h = ws->hist + ws->hist_at[p];

		ws->value[p] = ws->above[p] = 0;
		for (uint32_t f = ws->most[p]; f > theta; f--) {
			ws->above[p] += h[f];
			ws->value[p] += (f - theta) * h[f];
		}
	}
	s->theta = theta;
}

static void raise_theta(struct clf_search_ws *ws, struct pods *s)
{
	s->theta++;
	for (uint32_t p = s->a; p < s->b; p++) {
		ws->value[p] -= ws->above[p];
		if (s->theta <= ws->most[p])
			ws->above[p] -= ws->hist[ws->hist_at[p] + s->theta];
	}
}

static void lower_theta(struct clf_search_ws *ws, struct pods *s)
{
	for (uint32_t p = s->a; p < s->b; p++) {
		if (s->theta <= ws->most[p])
			ws->above[p] += ws->hist[ws->hist_at[p] + s->theta];
		ws->value[p] += ws->above[p];
	}
	s->theta--;
}

/* key[0..n-1]: the m greatest to the front. Keys are distinct. */
static void select_greatest(uint64_t *key, uint32_t n, uint32_t m)
{
	int64_t lo = 0, hi = (int64_t) n - 1;

	while (m < n && lo < hi) {
		uint64_t pivot = key[lo + (hi - lo) / 2];
		int64_t i = lo, j = hi;

		while (i <= j) {
			while (key[i] > pivot)
				i++;
			while (key[j] < pivot)
				j--;
			if (i <= j) {
				uint64_t x = key[i];

				key[i++] = key[j];
				key[j--] = x;
			}
		}
		if ((int64_t) m <= j)
			hi = j;
		else if ((int64_t) m >= i)
			lo = i;
		else
			break;
	}
}

/* By value, then by free nodes, then by index: 19 + 19 + 17 bits; topologies are capped below that (CLF_MAX_NODES). */
static uint64_t key_of(const struct clf_search_ws *ws, const struct pods *s, uint32_t pod, uint32_t value)
{
	return (uint64_t) value << 40 | (uint64_t) ws->cap[2][pod] << 20 | (0xfffff - (pod - s->a));
}

static uint32_t pod_of(const struct pods *s, uint64_t key)
{
	return s->a + 0xfffff - (uint32_t) (key & 0xfffff);
}

static uint32_t ceil_div(uint64_t a, uint32_t b)
{
	return (uint32_t) ((a + b - 1) / b);
}

/* Fewest leaves of the paid pods and of the m in key[]; CLF_ABSENT when they do not hold rest. */
static uint32_t leaves_of_keys(struct clf_search_ws *ws, const struct pods *s, uint32_t m, uint32_t rest,
			       uint32_t *last)
{
	uint32_t k = 0, most = 0;

	memset(ws->sum, 0, (s->most + 1) * sizeof(*ws->sum));
	for (uint32_t i = 0; i < m + (ws->npaid[2] ? s->b - s->a : 0); i++) {
		uint32_t p = i < m ? pod_of(s, ws->key[i]) : s->a + i - m;

		if (i >= m && !is_paid(ws, p))
			continue;
		most = ws->most[p] > most ? ws->most[p] : most;
		for (uint32_t f = 1; f <= ws->most[p]; f++)
			ws->sum[f] += ws->hist[ws->hist_at[p] + f];
	}
	for (uint32_t f = most; f > 0; f--) {
		uint64_t all = (uint64_t) ws->sum[f] * f;

		*last = f;
		if (all >= rest)
			return k + ceil_div(rest, f);
		rest -= (uint32_t) all;
		k += ws->sum[f];
	}
	return rest ? CLF_ABSENT : k;
}

static void keep_keys(struct clf_search_ws *ws, const struct pods *s, uint32_t m)
{
	ws->nset = m;
	for (uint32_t i = 0; i < m; i++)
		ws->set[i] = pod_of(s, ws->key[i]);
}

/* ws->best from the kept pods: their k fullest leaves. Returns the unpaid pods used. */
static uint32_t spread(struct clf_search_ws *ws, const struct pods *s, uint32_t k)
{
	uint32_t f = s->most, n = 0, at;

	for (uint32_t p = s->a; p < s->b; p++)
		if (is_paid(ws, p))
			ws->set[ws->nset++] = p;
	memset(ws->sum, 0, (s->most + 1) * sizeof(*ws->sum));
	for (uint32_t i = 0; i < ws->nset; i++)
		for (uint32_t x = 1; x <= ws->most[ws->set[i]]; x++)
			ws->sum[x] += ws->hist[ws->hist_at[ws->set[i]] + x];
	for (at = k; f > 0 && at > ws->sum[f]; f--)
		at -= ws->sum[f];
	memset(ws->best + s->a, 0, (s->b - s->a) * sizeof(*ws->best));
	for (uint32_t i = 0; i < ws->nset; i++) {
		uint32_t p = ws->set[i], equal = 0, *x = &ws->best[p];

		for (uint32_t y = ws->most[p]; y > f; y--)
			*x += ws->hist[ws->hist_at[p] + y];
		if (f <= ws->most[p])
			equal = ws->hist[ws->hist_at[p] + f] < at ? ws->hist[ws->hist_at[p] + f] : at;
		*x += equal;
		at -= equal;
		n += *x && !is_paid(ws, p);
	}
	return n;
}

uint32_t clf_search_least_pods(struct clf_search_ws *ws, uint32_t group, uint32_t rest)
{
	struct pods s = { .a = ws->tree.first[3][group], .b = ws->tree.first[3][group + 1] };
	uint32_t n = 0, m = 0, step = 8;

	for (uint32_t p = s.a; p < s.b; p++) {
		uint32_t cap = ws->cap[2][p];

		if (is_paid(ws, p))
			rest = cap < rest ? rest - cap : 0;
		else if (cap)
			ws->key[n++] = key_of(ws, &s, p, cap);
	}
	/* the fullest `step` more at a time: all of them need not be sorted */
	for (uint32_t from = 0; rest && from < n; from += step, step *= 2) {
		uint32_t end = step < n - from ? from + step : n;
		uint64_t sum = 0;

		select_greatest(ws->key + from, n - from, end - from);
		for (uint32_t i = from; i < end; i++)
			sum += ws->cap[2][pod_of(&s, ws->key[i])];
		if (sum < rest) {
			rest -= (uint32_t) sum;
			m = end;
			continue;
		}
		for (uint32_t i = from; rest; i++) { /* selection sort of the few that matter */
			uint32_t top = i, cap;

			for (uint32_t j = i + 1; j < end; j++)
				if (ws->key[j] > ws->key[top])
					top = j;
			uint64_t x = ws->key[top];

			ws->key[top] = ws->key[i];
			ws->key[i] = x;
			cap = ws->cap[2][pod_of(&s, x)];
			rest = cap < rest ? rest - cap : 0;
			m = i + 1;
		}
	}
	return rest ? CLF_ABSENT : m;
}

uint32_t clf_search_least_leaves(struct clf_search_ws *ws, uint32_t group, uint32_t rest)
{
	struct pods s = open_group(ws, group);
	uint32_t last;

	for (uint32_t i = 0; i < s.nu; i++)
		ws->key[i] = key_of(ws, &s, ws->order[i], 0);
	return leaves_of_keys(ws, &s, s.nu, rest, &last);
}

/* What one theta says about at most m pods, or (joint) about pods and leaves together; the set that attains it is put
 * to the front of key[], its size in *size. */
static uint32_t bound_at(struct clf_search_ws *ws, const struct pods *s, uint32_t m, bool joint, uint32_t rest,
			 uint32_t *size)
{
	uint64_t u = 0;
	uint32_t n = 0;

	for (uint32_t p = s->a; ws->npaid[2] && p < s->b; p++)
		if (is_paid(ws, p))
			u += ws->value[p];
	if (joint) {
		/* a pod costs as much as a leaf: worth it when it holds theta more than its leaves cost */
		for (uint32_t i = 0; i < s->nu; i++) {
			uint32_t p = ws->order[i];

			if (ws->value[p] > s->theta) {
				u += ws->value[p] - s->theta;
				ws->key[n++] = key_of(ws, s, p, ws->value[p]);
			}
		}
		*size = n;
	} else {
		for (uint32_t i = 0; i < s->nu; i++)
			ws->key[i] = key_of(ws, s, ws->order[i], ws->value[ws->order[i]]);
		select_greatest(ws->key, s->nu, m);
		for (uint32_t i = 0; i < m; i++)
			u += ws->key[i] >> 40;
		*size = m;
	}
	return u >= rest ? 0 : ceil_div(rest - u, s->theta);
}

struct walk {
	uint32_t bound, theta; /* best bound and where */
	uint32_t cost, leaves; /* best set: what is minimised, and its leaves */
	uint32_t pods;         /* joint: that many unpaid pods */
};

/* One theta more: false when the bound has fallen below the best, or all is settled. */
static bool walk_step(struct clf_search_ws *ws, const struct pods *s, uint32_t m, bool joint, uint32_t rest,
		      uint32_t limit, struct walk *w)
{
	uint32_t size, last, low = bound_at(ws, s, m, joint, rest, &size), k, cost;

	if (low < w->bound)
		return false;
	if (low > w->bound || !w->theta) {
		w->bound = low;
		w->theta = s->theta;
	}
	k = leaves_of_keys(ws, s, size, rest, &last);
	cost = k == CLF_ABSENT || k > limit ? CLF_ABSENT : joint ? k + size : k;
	if (cost < w->cost) {
		w->cost = cost;
		w->leaves = k;
		w->pods = size;
		keep_keys(ws, s, size);
	}
	return w->cost != w->bound;
}

/* The bound is quasi-concave in theta, so climb from a good guess, up and then down. */
static void walk(struct clf_search_ws *ws, struct pods *s, uint32_t guess, uint32_t m, bool joint, uint32_t rest,
		 uint32_t limit, struct walk *w)
{
	guess = guess ? guess : 1;
	set_theta(ws, s, guess);
	while (walk_step(ws, s, m, joint, rest, limit, w) && s->theta < s->most)
		raise_theta(ws, s);
	if (w->cost == w->bound || guess <= 1)
		return;
	set_theta(ws, s, guess);
	do
		lower_theta(ws, s);
	while (walk_step(ws, s, m, joint, rest, limit, w) && s->theta > 1);
}

static int by_key(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *) a, y = *(const uint64_t *) b;

	return x > y ? -1 : x < y;
}

bool clf_search_pods(struct clf_search_ws *ws, uint32_t group, uint32_t m, uint32_t rest, uint32_t limit,
		     struct clf_plan *plan)
{
	struct pods s = open_group(ws, group);
	struct walk w = { .cost = CLF_ABSENT };
	uint32_t k, guess = 0;

	m = m < s.nu ? m : s.nu;
	/* the fullest pods: if they do not hold it, none do; their last leaf is a good first theta */
	for (uint32_t i = 0; i < s.nu; i++)
		ws->key[i] = key_of(ws, &s, ws->order[i], ws->cap[2][ws->order[i]]);
	select_greatest(ws->key, s.nu, m);
	k = leaves_of_keys(ws, &s, m, rest, &guess);
	*plan = (struct clf_plan){ .proven = true, .bound = CLF_ABSENT };
	if (k == CLF_ABSENT)
		return false;
	if (k <= limit) {
		w.cost = k;
		keep_keys(ws, &s, m);
	}
	if (m == 0 || m == s.nu) { /* no choice of pods */
		plan->bound = k;
		if (k > limit)
			return false;
		plan->leaves = k;
		plan->pods = spread(ws, &s, k);
		return true;
	}
	walk(ws, &s, guess, m, false, rest, limit, &w);
	plan->bound = w.bound;
	if (w.bound > limit)
		return false;
	if (w.cost != w.bound) {
		uint32_t less;

		set_theta(ws, &s, w.theta);
		for (uint32_t i = 0; i < s.nu; i++)
			ws->key[i] = key_of(ws, &s, ws->order[i], ws->value[ws->order[i]]);
		qsort(ws->key, s.nu, sizeof(*ws->key), by_key);
		for (uint32_t i = 0; i < s.nu; i++)
			ws->order[i] = pod_of(&s, ws->key[i]);
		less = clf_search_programme(ws, group, s.nu, m, rest, w.theta,
					    w.cost == CLF_ABSENT ? limit : w.cost - 1, w.bound);
		plan->proven = !ws->late || less == w.bound;
		if (less != CLF_ABSENT) {
			plan->leaves = less;
			for (uint32_t p = s.a; p < s.b; p++)
				plan->pods += ws->best[p] && !is_paid(ws, p);
			plan->bound = plan->proven ? less : w.bound;
			return true;
		}
		if (plan->proven)
			plan->bound = w.cost;
		if (w.cost == CLF_ABSENT)
			return false;
	}
	plan->leaves = w.cost;
	plan->pods = spread(ws, &s, w.cost);
	return true;
}

bool clf_search_joint(struct clf_search_ws *ws, uint32_t group, uint32_t rest, uint32_t limit, uint32_t below,
		      struct clf_plan *plan)
{
	uint32_t floor = clf_search_least_leaves(ws, group, rest), first = clf_search_least_pods(ws, group, rest);
	struct pods s = open_group(ws, group);
	struct walk w = { .cost = CLF_ABSENT };
	uint32_t best = below, guess = 0;
	bool any = false;

	*plan = (struct clf_plan){ .proven = true, .bound = floor };
	if (first == CLF_ABSENT || floor > limit || (uint64_t) first + floor >= below)
		return false;
	for (uint32_t i = 0; i < s.nu; i++)
		ws->key[i] = key_of(ws, &s, ws->order[i], ws->cap[2][ws->order[i]]);
	select_greatest(ws->key, s.nu, first);
	leaves_of_keys(ws, &s, first, rest, &guess);
	walk(ws, &s, guess, 0, true, rest, limit, &w);
	if (w.bound >= below)
		return false;
	if (w.cost < best) {
		plan->leaves = w.leaves;
		plan->pods = spread(ws, &s, w.leaves);
		memcpy(ws->kept + s.a, ws->best + s.a, (s.b - s.a) * sizeof(*ws->kept));
		best = plan->leaves + plan->pods;
		any = true;
	}
	for (uint32_t m = first; m <= s.nu && best > w.bound && m + floor < best; m++) {
		uint32_t want = best - m - 1 < limit ? best - m - 1 : limit;
		struct clf_plan p;
		bool found = clf_search_pods(ws, group, m, rest, want, &p);

		plan->proven = plan->proven && p.proven;
		if (!found)
			continue;
		best = p.pods + p.leaves;
		plan->pods = p.pods;
		plan->leaves = p.leaves;
		memcpy(ws->kept + s.a, ws->best + s.a, (s.b - s.a) * sizeof(*ws->kept));
		any = true;
	}
	if (any)
		memcpy(ws->best + s.a, ws->kept + s.a, (s.b - s.a) * sizeof(*ws->best));
	if (best <= w.bound)
		plan->proven = true;
	return any;
}
