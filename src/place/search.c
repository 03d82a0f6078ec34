/* SPDX-License-Identifier: GPL-2.0-or-later */
/* search.c - see search.h. Letters as in docs/adr/0004-placement.md: m pods, k leaves, V_p(theta), U(theta). */
#include "place/search.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

struct pod {
	uint32_t first, n;   /* its sorted leaves: ws->sorted[first .. first + n), most free first */
	uint32_t cap;        /* free nodes in unforced leaves */
	uint32_t forced_cap; /* free nodes in forced leaves */
	uint32_t above;      /* sorted leaves with free > theta, while theta falls */
	uint32_t value;      /* V_p(theta) */
	bool forced;
};

struct clf_search_ws {
	uint32_t leaf_cap, pod_cap, bucket_cap;
	uint32_t *sorted, *prefix, *take, *bucket, *where; /* leaf-sized, bucket by free count */
	struct pod *pods;
	uint32_t *pick, *best, *order; /* pod ids */
};

struct plan {
	uint32_t npick; /* unforced pods in ws->best; forced ones are always in */
	uint32_t extra; /* unforced leaves used */
	uint32_t bound; /* least unforced leaves any m pods need */
	bool proven;
};

struct clf_search_ws *clf_search_ws_create(struct clf_error *err)
{
	struct clf_search_ws *ws = calloc(1, sizeof(*ws));

	if (!ws)
		clf_fail(err, CLF_E_NOMEM, "out of memory");
	return ws;
}

void clf_search_ws_destroy(struct clf_search_ws *ws)
{
	if (!ws)
		return;
	free(ws->sorted);
	free(ws->prefix);
	free(ws->take);
	free(ws->where);
	free(ws->bucket);
	free(ws->pods);
	free(ws->pick);
	free(ws->best);
	free(ws->order);
	free(ws);
}

static bool is_forced(const struct clf_search *in, uint32_t l)
{
	return in->required && in->required[l];
}

static int grow(uint32_t **p, uint32_t n, struct clf_error *err)
{
	uint32_t *q = reallocarray(*p, n, sizeof(*q));

	if (!q)
		return clf_fail(err, CLF_E_NOMEM, "out of memory");
	*p = q;
	return 0;
}

static int fit(struct clf_search_ws *ws, uint32_t nleaves, uint32_t npods, uint32_t nbuckets, struct clf_error *err)
{
	if (nleaves > ws->leaf_cap) {
		if (grow(&ws->sorted, nleaves, err) || grow(&ws->prefix, nleaves, err) ||
		    grow(&ws->take, nleaves, err) || grow(&ws->where, nleaves, err))
			return -1;
		ws->leaf_cap = nleaves;
	}
	if (nbuckets > ws->bucket_cap) {
		if (grow(&ws->bucket, nbuckets, err))
			return -1;
		ws->bucket_cap = nbuckets;
	}
	if (npods > ws->pod_cap) {
		struct pod *pods = reallocarray(ws->pods, npods, sizeof(*pods));

		if (!pods)
			return clf_fail(err, CLF_E_NOMEM, "out of memory");
		ws->pods = pods;
		if (grow(&ws->pick, npods, err) || grow(&ws->best, npods, err) || grow(&ws->order, npods, err))
			return -1;
		ws->pod_cap = npods;
	}
	return 0;
}

/* Fill pods and, in each, its unforced leaves sorted by free count falling, index rising (one counting sort for all).
 */
static int prepare(struct clf_search_ws *ws, const struct clf_search *in, struct clf_error *err)
{
	uint32_t most = 0;

	for (uint32_t l = 0; l < in->nleaves; l++)
		if (in->free[l] > most)
			most = in->free[l];
	if (fit(ws, in->nleaves, in->npods, most + 2, err))
		return -1;
	memset(ws->pods, 0, in->npods * sizeof(*ws->pods));
	memset(ws->bucket, 0, (most + 2) * sizeof(*ws->bucket));
	for (uint32_t l = 0; l < in->nleaves; l++) {
		struct pod *p = &ws->pods[in->pod_of[l]];

		if (is_forced(in, l)) {
			p->forced = true;
			p->forced_cap += in->free[l];
		} else if (in->free[l]) {
			p->n++;
			p->cap += in->free[l];
			ws->bucket[most - in->free[l] + 1]++;
		}
	}
	for (uint32_t b = 1; b <= most + 1; b++)
		ws->bucket[b] += ws->bucket[b - 1];
	for (uint32_t l = 0; l < in->nleaves; l++)
		if (in->free[l] && !is_forced(in, l))
			ws->where[ws->bucket[most - in->free[l]]++] = l;

	uint32_t total = 0;

	for (uint32_t p = 0; p < in->npods; p++) {
		ws->pods[p].first = total;
		total += ws->pods[p].n;
		ws->pods[p].n = 0;
	}
	for (uint32_t i = 0; i < total; i++) {
		uint32_t l = ws->where[i];
		struct pod *p = &ws->pods[in->pod_of[l]];
		uint32_t at = p->first + p->n++;

		ws->sorted[at] = l;
		ws->prefix[at] = in->free[l] + (p->n > 1 ? ws->prefix[at - 1] : 0);
	}
	return 0;
}

/* Largest-first over the leaves of the forced pods and of pick[0..n-1]: least leaves that hold rest; UINT32_MAX when
 * they do not. A merge by buckets: cnt[f] leaves with f free. */
static uint32_t least_leaves(struct clf_search_ws *ws, const struct clf_search *in, const uint32_t *pick, uint32_t n,
			     uint32_t rest)
{
	uint32_t k = 0, most = 0;

	if (!rest)
		return 0;
	for (uint32_t i = 0; i < n + in->npods; i++) {
		const struct pod *p = &ws->pods[i < n ? pick[i] : i - n];

		if ((i < n || p->forced) && p->n && in->free[ws->sorted[p->first]] > most)
			most = in->free[ws->sorted[p->first]];
	}
	memset(ws->bucket, 0, (most + 1) * sizeof(*ws->bucket));
	for (uint32_t i = 0; i < n + in->npods; i++) {
		const struct pod *p = &ws->pods[i < n ? pick[i] : i - n];

		if (i < n || p->forced)
			for (uint32_t j = 0; j < p->n; j++)
				ws->bucket[in->free[ws->sorted[p->first + j]]]++;
	}
	for (uint32_t f = most; f > 0; f--) {
		uint64_t all = (uint64_t) ws->bucket[f] * f;

		if (all >= rest)
			return k + (rest + f - 1) / f;
		rest -= (uint32_t) all;
		k += ws->bucket[f];
	}
	return UINT32_MAX;
}

/* Move the m unforced pods with the greatest key to the front of order[0..n-1]; ties: less free nodes, then index. */
static bool before(const struct clf_search_ws *ws, uint32_t a, uint32_t b, bool by_value)
{
	const struct pod *x = &ws->pods[a], *y = &ws->pods[b];
	uint32_t kx = by_value ? x->value : x->cap, ky = by_value ? y->value : y->cap;

	if (kx != ky)
		return kx > ky;
	if (x->cap != y->cap)
		return x->cap < y->cap;
	return a < b;
}

static void select_top(struct clf_search_ws *ws, uint32_t *v, uint32_t n, uint32_t m, bool by_value)
{
	uint32_t lo = 0, hi = n;

	if (m >= n)
		return;
	while (hi - lo > 1) {
		uint32_t pivot = v[lo + (hi - lo) / 2], i = lo, j = hi - 1;

		while (i <= j) {
			while (before(ws, v[i], pivot, by_value))
				i++;
			while (before(ws, pivot, v[j], by_value))
				j--;
			if (i <= j) {
				uint32_t t = v[i];

				v[i++] = v[j];
				v[j] = t;
				if (!j--)
					break;
			}
		}
		if (j != UINT32_MAX && m <= j)
			hi = j + 1;
		else if (m >= i)
			lo = i;
		else
			break;
	}
}

static uint64_t now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t) t.tv_sec * 1000000 + (uint64_t) t.tv_nsec / 1000;
}

/* Dynamic programme: g[j][k] = most nodes from at most j of the candidate pods and k leaves, over the forced pods' own
 * leaves. Looks for less than `upper` leaves. 1 = found (ws->best, *k), 0 = none exists, -1 = out of memory, -2 = out
 * of time. */
static int programme(struct clf_search_ws *ws, const struct clf_search *in, const uint32_t *cand, uint32_t ncand,
		     uint32_t m, uint32_t rest, uint32_t upper, uint64_t deadline_us, uint32_t *found_k,
		     uint32_t *found_n)
{
	uint32_t K = upper - 1;
	size_t row = (size_t) K + 1, layer = ((size_t) m + 1) * row;
	uint32_t *g = calloc(layer, sizeof(*g));
	uint32_t *how = ncand && layer <= SIZE_MAX / sizeof(*how) / ncand ? malloc(ncand * layer * sizeof(*how)) : NULL;
	uint32_t got = 0;
	int rc = 0;

	if (!g || (ncand && !how)) {
		free(g);
		free(how);
		return -1;
	}
	/* the forced pods' leaves, merged, largest first */
	for (uint32_t p = 0; p < in->npods; p++)
		ws->pods[p].above = 0;
	for (uint32_t k = 1; k <= K; k++) {
		uint32_t top = 0, from = UINT32_MAX;

		for (uint32_t p = 0; p < in->npods; p++) {
			const struct pod *q = &ws->pods[p];

			if (q->forced && q->above < q->n && in->free[ws->sorted[q->first + q->above]] > top) {
				top = in->free[ws->sorted[q->first + q->above]];
				from = p;
			}
		}
		if (from != UINT32_MAX)
			ws->pods[from].above++;
		got += top;
		g[k] = got;
		if (!top) {
			for (; k <= K; k++)
				g[k] = got;
			break;
		}
	}
	for (uint32_t j = 1; j <= m; j++)
		memcpy(g + j * row, g, row * sizeof(*g));
	for (uint32_t c = 0; c < ncand; c++) {
		const struct pod *p = &ws->pods[cand[c]];
		uint32_t *h = how + c * layer;

		if (deadline_us && now_us() > deadline_us) {
			rc = -2;
			break;
		}
		memset(h, 0, layer * sizeof(*h));
		for (uint32_t j = m; j >= 1; j--)
			for (uint32_t k = K; k >= 1; k--) {
				uint32_t most = p->n < k ? p->n : k;

				for (uint32_t x = 1; x <= most; x++) {
					uint32_t v = g[(j - 1) * row + k - x] + ws->prefix[p->first + x - 1];

					if (v > g[j * row + k]) {
						g[j * row + k] = v;
						h[j * row + k] = x;
					}
				}
			}
	}
	for (uint32_t k = 1; rc == 0 && k <= K; k++)
		if (g[m * row + k] >= rest) {
			uint32_t j = m, left = k, n = 0;

			for (uint32_t c = ncand; c-- > 0 && j > 0;) {
				uint32_t x = how[c * layer + j * row + left];

				if (x) {
					ws->best[n++] = cand[c];
					left -= x;
					j--;
				}
			}
			*found_k = k;
			*found_n = n;
			rc = 1;
		}
	free(g);
	free(how);
	return rc;
}

/* Least unforced leaves with at most m unforced pods beside the forced ones. The pods go to ws->best. -1: out of
 * memory; 1: they do not hold it. */
static int with_pods(struct clf_search_ws *ws, const struct clf_search *in, uint32_t m, uint32_t rest,
		     uint64_t deadline_us, struct plan *plan, struct clf_error *err)
{
	uint32_t n = 0, upper = UINT32_MAX, bound = 0, last = 0, theta = 0;
	uint32_t *order = ws->order;

	for (uint32_t p = 0; p < in->npods; p++) {
		if (!ws->pods[p].forced && ws->pods[p].cap)
			order[n++] = p;
		ws->pods[p].above = ws->pods[p].n;
	}
	if (m > n)
		m = n;
	/* theta runs over the free counts that occur, rising; between two of them the bound is monotone */
	for (;;) {
		uint32_t next = UINT32_MAX;
		uint64_t u = 0;

		for (uint32_t p = 0; p < in->npods; p++) {
			struct pod *q = &ws->pods[p];

			while (q->above && in->free[ws->sorted[q->first + q->above - 1]] <= theta)
				q->above--;
			if (q->above && in->free[ws->sorted[q->first + q->above - 1]] < next)
				next = in->free[ws->sorted[q->first + q->above - 1]];
		}
		if (next == UINT32_MAX)
			break;
		theta = next;
		for (uint32_t p = 0; p < in->npods; p++) {
			struct pod *q = &ws->pods[p];

			q->value = q->above ? ws->prefix[q->first + q->above - 1] - theta * q->above : 0;
			if (q->forced)
				u += q->value;
		}
		select_top(ws, order, n, m, true);
		for (uint32_t i = 0; i < m; i++)
			u += ws->pods[order[i]].value;

		uint32_t low = u >= rest ? 0 : (uint32_t) ((rest - u + theta - 1) / theta);
		uint32_t k = least_leaves(ws, in, order, m, rest);

		if (k < upper) {
			upper = k;
			memcpy(ws->best, order, m * sizeof(*order));
			plan->npick = m;
		}
		if (low > bound)
			bound = low;
		if (upper == bound || low < last)
			break;
		last = low;
	}
	/* the m fullest pods: the set that holds most, tried too so that a feasible m is never missed */
	select_top(ws, order, n, m, false);

	uint32_t k = least_leaves(ws, in, order, m, rest);

	if (k < upper) {
		upper = k;
		memcpy(ws->best, order, m * sizeof(*order));
		plan->npick = m;
	}
	if (upper == UINT32_MAX)
		return 1;
	plan->extra = upper;
	plan->bound = bound;
	plan->proven = upper == bound;
	if (plan->proven)
		return 0;

	uint32_t found = 0, npick = 0;
	int rc = programme(ws, in, order, n, m, rest, upper, deadline_us, &found, &npick);

	if (rc == -1)
		return clf_fail(err, CLF_E_NOMEM, "out of memory in the placement search");
	if (rc == 1) {
		plan->extra = found;
		plan->npick = npick;
	}
	if (rc >= 0) {
		plan->proven = true;
		plan->bound = plan->extra;
	}
	return 0;
}

/* Least k with prefix(k) >= rest in one pod; the pod holds it. */
static uint32_t leaves_in_pod(const struct clf_search_ws *ws, const struct pod *p, uint32_t rest)
{
	uint32_t lo = 1, hi = p->n;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (ws->prefix[p->first + mid - 1] >= rest)
			hi = mid;
		else
			lo = mid + 1;
	}
	return lo;
}

/* All of rest in one pod, nothing forced: fewest leaves, then the pod with least free, then index. */
static void one_pod(struct clf_search_ws *ws, const struct clf_search *in, uint32_t rest, struct plan *plan)
{
	uint32_t best = UINT32_MAX;

	*plan = (struct plan){ .npick = 1, .extra = UINT32_MAX, .proven = true };
	for (uint32_t p = 0; p < in->npods; p++) {
		uint32_t k;

		if (ws->pods[p].cap < rest)
			continue;
		k = leaves_in_pod(ws, &ws->pods[p], rest);
		if (k < plan->extra || (k == plan->extra && ws->pods[p].cap < ws->pods[best].cap)) {
			plan->extra = k;
			best = p;
		}
	}
	plan->bound = plan->extra;
	ws->best[0] = best;
}

/* Tightest single leaf that holds all; UINT32_MAX when none does. */
static uint32_t one_leaf(const struct clf_search *in)
{
	uint32_t best = UINT32_MAX;

	for (uint32_t l = 0; l < in->nleaves; l++)
		if (in->free[l] >= in->need && (best == UINT32_MAX || in->free[l] < in->free[best]))
			best = l;
	return best;
}

/* Fill take[] from the forced leaves, then the plan's k fullest leaves, the last of them as tight as possible. */
static void fill(struct clf_search_ws *ws, const struct clf_search *in, const struct plan *plan, uint32_t rest)
{
	uint32_t n = 0, left = in->need, most = 0, k = plan->extra, f, tight = UINT32_MAX, *cand = ws->where;

	memset(ws->take, 0, in->nleaves * sizeof(*ws->take));
	for (uint32_t l = 0; in->required && l < in->nleaves; l++) {
		ws->take[l] = in->required[l];
		left -= in->required[l];
	}
	for (uint32_t l = 0; in->required && l < in->nleaves && left; l++)
		if (in->required[l]) {
			uint32_t more = in->free[l] - in->required[l] < left ? in->free[l] - in->required[l] : left;

			ws->take[l] += more;
			left -= more;
		}
	if (!k)
		return;
	for (uint32_t i = 0; i < plan->npick + in->npods; i++) {
		const struct pod *p = &ws->pods[i < plan->npick ? ws->best[i] : i - plan->npick];

		if (i < plan->npick || p->forced)
			for (uint32_t j = 0; j < p->n; j++) {
				uint32_t l = ws->sorted[p->first + j];

				cand[n++] = l;
				if (in->free[l] > most)
					most = in->free[l];
			}
	}
	memset(ws->bucket, 0, (most + 1) * sizeof(*ws->bucket));
	for (uint32_t i = 0; i < n; i++)
		ws->bucket[in->free[cand[i]]]++;
	/* the k - 1 fullest: all above f, and `at` of those with exactly f */
	uint32_t at = k - 1;

	for (f = most; f > 0 && at > ws->bucket[f]; f--)
		at -= ws->bucket[f];
	for (uint32_t i = 0; i < n; i++) {
		uint32_t l = cand[i];

		if (in->free[l] > f || (in->free[l] == f && at)) {
			at -= in->free[l] == f;
			ws->take[l] = in->free[l];
			rest -= in->free[l];
		}
	}
	for (uint32_t i = 0; i < n; i++) {
		uint32_t l = cand[i];

		if (!ws->take[l] && in->free[l] >= rest &&
		    (tight == UINT32_MAX || in->free[l] < in->free[tight] ||
		     (in->free[l] == in->free[tight] && l < tight)))
			tight = l;
	}
	if (tight != UINT32_MAX)
		ws->take[tight] = rest;
}

static uint32_t hop_cost(uint32_t pods, uint32_t leaves)
{
	return (pods >= 2 ? pods : 0) + (leaves >= 2 ? leaves : 0);
}

int clf_search(struct clf_search_ws *ws, const struct clf_search *in, struct clf_found *out, struct clf_error *err)
{
	uint32_t nforced = 0, pods_forced = 0, rest = in->need, nfree = 0, free_pods = 0;
	uint32_t limit = in->max_leaves ? in->max_leaves : UINT32_MAX;
	uint64_t deadline = in->budget_us ? now_us() + in->budget_us : 0;
	struct plan best = { .extra = UINT32_MAX };
	uint32_t best_m = 0, first_m, *winner;
	bool proven = true;

	for (uint32_t l = 0; in->required && l < in->nleaves; l++)
		nforced += in->required[l] != 0;
	if (nforced > limit)
		return clf_fail(err, CLF_E_EXHAUSTED, "the required nodes are on %u leaves, more than the limit of %u",
				nforced, limit);

	uint32_t single = nforced ? UINT32_MAX : one_leaf(in);

	*out = (struct clf_found){ .proven = true };
	if (single != UINT32_MAX) {
		if (fit(ws, in->nleaves, 1, 1, err))
			return -1;
		out->take = ws->take;
		memset(ws->take, 0, in->nleaves * sizeof(*ws->take));
		ws->take[single] = in->need;
		out->pods = out->leaves = out->bound_pods = out->bound_leaves = 1;
		out->slack = in->free[single] - in->need;
		return 0;
	}

	if (prepare(ws, in, err))
		return -1;
	out->take = ws->take;
	for (uint32_t p = 0; p < in->npods; p++) {
		const struct pod *q = &ws->pods[p];

		pods_forced += q->forced;
		rest = q->forced_cap < rest ? rest - q->forced_cap : 0;
		nfree += q->forced ? q->cap : 0;
		free_pods += !q->forced && q->cap;
	}

	/* fewest more pods that hold the rest */
	uint32_t n = 0;
	uint64_t sum = nfree;

	for (uint32_t p = 0; p < in->npods; p++)
		if (!ws->pods[p].forced && ws->pods[p].cap)
			ws->order[n++] = p;
	for (first_m = 0; sum < rest && first_m < n; first_m++) {
		/* the next fullest pod: selection keeps those before it in front */
		uint32_t top = first_m;

		for (uint32_t i = first_m + 1; i < n; i++)
			if (before(ws, ws->order[i], ws->order[top], false))
				top = i;

		uint32_t t = ws->order[top];

		ws->order[top] = ws->order[first_m];
		ws->order[first_m] = t;
		sum += ws->pods[t].cap;
	}
	if (sum < rest)
		return clf_fail(err, CLF_E_EXHAUSTED, "%u nodes are needed, %llu are free", in->need,
				(unsigned long long) (in->need - rest + sum));

	winner = ws->pick;
	for (uint32_t m = first_m; m <= free_pods || m == first_m; m++) {
		struct plan plan = { 0 };
		uint32_t pods = pods_forced + m;

		/* no number of pods needs fewer leaves than all of them together */
		if (best.extra != UINT32_MAX && in->hops) {
			uint32_t floor = nforced + least_leaves(ws, in, ws->order, free_pods, rest);

			if (hop_cost(pods, floor) >= hop_cost(pods_forced + best_m, nforced + best.extra))
				break;
		}
		if (!nforced && m == 1) {
			one_pod(ws, in, rest, &plan);
		} else {
			int rc = with_pods(ws, in, m, rest, deadline, &plan, err);

			if (rc < 0)
				return -1;
			if (rc)
				continue;
		}
		proven &= plan.proven;
		if (nforced + plan.extra > limit)
			continue;
		if (best.extra == UINT32_MAX ||
		    (in->hops && hop_cost(pods_forced + plan.npick, nforced + plan.extra) <
					 hop_cost(pods_forced + best_m, nforced + best.extra))) {
			best = plan;
			best_m = plan.npick;
			memcpy(winner, ws->best, plan.npick * sizeof(*winner));
		}
		if (!in->hops)
			break;
	}
	if (best.extra == UINT32_MAX)
		return clf_fail(err, CLF_E_EXHAUSTED, "%u nodes are free, but on more than %u leaves", in->need, limit);
	memcpy(ws->best, winner, best.npick * sizeof(*winner));
	out->pods = pods_forced + best.npick;
	out->leaves = nforced + best.extra;
	out->bound_pods = pods_forced + first_m;
	out->bound_leaves = nforced + best.bound;
	out->proven = proven;
	out->slack = nfree;
	for (uint32_t p = 0; p < in->npods; p++)
		out->slack += ws->pods[p].forced_cap;
	for (uint32_t i = 0; i < best.npick; i++)
		out->slack += ws->pods[ws->best[i]].cap;
	out->slack -= in->need;
	fill(ws, in, &best, rest);
	return 0;
}
