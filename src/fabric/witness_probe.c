/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/witness_probe.h"

#include <string.h>

#include "fabric/witness_private.h"

static int nomem(struct clf_error *err)
{
	return clf_fail(err, CLF_E_NOMEM, "out of memory");
}

/* splitmix64: Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014. */
static uint64_t next_random(uint64_t *s)
{
	uint64_t z = *s += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

/* ---- memory */

static void nics_free(struct nic *v, size_t n)
{
	for (size_t i = 0; v && i < n; i++) {
		free(v[i].node);
		free(v[i].nic);
		free(v[i].mac);
		free(v[i].leaf);
	}
	free(v);
}

static int nics_copy(const struct clf_probe_nic *in, size_t n, struct nic **out, size_t *count, struct clf_error *err)
{
	*out = calloc(n + 1, sizeof **out);
	if (!*out)
		return nomem(err);
	*count = n;
	for (size_t i = 0; i < n; i++) {
		(*out)[i] =
			(struct nic){ strdup(in[i].node), strdup(in[i].nic), strdup(in[i].mac), strdup(in[i].leaf) };
		if (!(*out)[i].node || !(*out)[i].nic || !(*out)[i].mac || !(*out)[i].leaf)
			return nomem(err);
	}
	return 0;
}

void clf_probe_plan_destroy(struct clf_probe_plan *p)
{
	if (!p)
		return;
	nics_free(p->job, p->njob);
	nics_free(p->others, p->nothers);
	clf_strmap_done(&p->job_names);
	clf_strv_done(&p->kin);
	for (size_t i = 0; i < sizeof p->ask_of / sizeof *p->ask_of; i++)
		clf_strmap_done(&p->ask_of[i]);
	for (size_t i = 0; i < p->nasks; i++) {
		json_decref(p->asks[i].reply);
		free(p->asks[i].why);
	}
	free(p->asks);
	free(p->probes);
	json_decref(p->skipped);
	free(p);
}

static int grow(void **v, size_t n, size_t *cap, size_t size, struct clf_error *err)
{
	size_t more = *cap ? 2 * *cap : 64;
	void *p;

	if (n < *cap)
		return 0;
	p = realloc(*v, more * size);
	if (!p)
		return nomem(err);
	*v = p;
	*cap = more;
	return 0;
}

int clf_probe_plan_skip(struct clf_probe_plan *p, const char *text, struct clf_error *err)
{
	p->nskipped++;
	if (json_array_size(p->skipped) >= CLF_PROBE_SKIPPED)
		return 0;
	return json_array_append_new(p->skipped, json_string(text)) ? nomem(err) : 0;
}

/* ---- questions */

/* The question of this kind for this node, made where there is none. */
static int ask_of(struct clf_probe_plan *p, const char *node, enum ask_kind kind, size_t *out, struct clf_error *err)
{
	uint32_t i;

	if (clf_strmap_find(&p->ask_of[kind], node, &i)) {
		*out = i;
		return 0;
	}
	if (grow((void **) &p->asks, p->nasks, &p->asks_cap, sizeof *p->asks, err) ||
	    clf_strmap_add(&p->ask_of[kind], node, (uint32_t) p->nasks, err))
		return -1;
	p->asks[p->nasks] = (struct ask){ .kind = kind, .node = node };
	*out = p->nasks++;
	return 0;
}

static bool is_negative(enum probe_kind kind)
{
	return kind >= PROBE_TO_STRANGER;
}

static int add_probe(struct clf_probe_plan *p, enum probe_kind kind, const struct nic *from, const struct nic *to,
		     struct clf_error *err)
{
	struct ask *a;
	size_t ask;

	if (grow((void **) &p->probes, p->nprobes, &p->probes_cap, sizeof *p->probes, err) ||
	    ask_of(p, from->node, is_negative(kind) ? ASK_NEGATIVE : ASK_POSITIVE, &ask, err))
		return -1;
	a = &p->asks[ask];
	if (a->n)
		p->probes[a->last].next = p->nprobes;
	else
		a->first = p->nprobes;
	a->last = p->nprobes;
	p->probes[p->nprobes++] = (struct probe){ .kind = kind, .from = from, .to = to, .ask = ask, .at = a->n++ };
	return 0;
}

/* ---- positive */

static bool is_planned(const struct clf_probe_plan *p, const struct nic *a, const struct nic *b)
{
	for (size_t i = 0; i < p->nprobes; i++)
		if ((p->probes[i].from == a && p->probes[i].to == b) ||
		    (p->probes[i].from == b && p->probes[i].to == a))
			return true;
	return false;
}

/* Another node's interface: the next of the same name; where this rail has only one node, any. */
static const struct nic *neighbour(const struct clf_probe_plan *p, size_t i)
{
	const struct nic *any = NULL;

	for (size_t k = 1; k < p->njob; k++) {
		const struct nic *n = &p->job[(i + k) % p->njob];

		if (!strcmp(n->node, p->job[i].node))
			continue;
		if (!strcmp(n->nic, p->job[i].nic))
			return n;
		if (!any)
			any = n;
	}
	return any;
}

static int plan_rings(struct clf_probe_plan *p, struct clf_error *err)
{
	for (size_t i = 0; i < p->njob; i++) {
		const struct nic *to = neighbour(p, i);

		/* Of two nodes, one asks and the other answers. A pair is only looked up where a ring can be that
		 * short. */
		if (to && !(neighbour(p, (size_t) (to - p->job)) == &p->job[i] && to < &p->job[i]) &&
		    add_probe(p, PROBE_RING, &p->job[i], to, err))
			return -1;
	}
	return 0;
}

/* Leaves of a list of interfaces, each once, in order of appearance, with how many interfaces are there. */
struct leaves {
	const char **name;
	size_t *count, n;
	struct clf_strmap index;
};

static void leaves_done(struct leaves *l)
{
	free(l->name);
	free(l->count);
	clf_strmap_done(&l->index);
}

static int leaves_find(const struct nic *v, size_t n, struct leaves *l, struct clf_error *err)
{
	l->name = calloc(n + 1, sizeof *l->name);
	l->count = calloc(n + 1, sizeof *l->count);
	if (!l->name || !l->count)
		return nomem(err);
	for (size_t i = 0; i < n; i++) {
		uint32_t k = (uint32_t) l->n;

		if (!clf_strmap_find(&l->index, v[i].leaf, &k)) {
			if (clf_strmap_add(&l->index, v[i].leaf, k, err))
				return -1;
			l->name[l->n++] = v[i].leaf;
		}
		l->count[k]++;
	}
	return 0;
}

/* The k-th interface on a leaf. */
static const struct nic *on_leaf(const struct nic *v, size_t n, const char *leaf, size_t k)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(v[i].leaf, leaf) && !k--)
			return &v[i];
	return NULL;
}

static int plan_leaf_pair(struct clf_probe_plan *p, const struct leaves *l, size_t a, size_t b, uint64_t *seed,
			  struct clf_error *err)
{
	const struct nic *x = on_leaf(p->job, p->njob, l->name[a], next_random(seed) % l->count[a]), *y = NULL;

	for (size_t k = 0; x && k < l->count[b]; k++) {
		y = on_leaf(p->job, p->njob, l->name[b], k);
		if (y && strcmp(y->node, x->node) != 0)
			break;
		y = NULL; /* a node does not reach itself over the wire in a way that says anything */
	}
	return !x || !y || is_planned(p, x, y) ? 0 : add_probe(p, PROBE_LEAVES, x, y, err);
}

static int plan_leaves(struct clf_probe_plan *p, uint64_t *seed, struct clf_error *err)
{
	CLF_CLEANUP(leaves_done) struct leaves l = { 0 };
	size_t pairs = 0;

	if (leaves_find(p->job, p->njob, &l, err))
		return -1;
	/* Next ones first, so that with more leaves than pairs each is in some. */
	for (size_t d = 1; d < l.n && pairs < CLF_PROBE_PAIRS; d++)
		for (size_t i = 0; i + d < l.n && pairs < CLF_PROBE_PAIRS; i++, pairs++)
			if (plan_leaf_pair(p, &l, i, i + d, seed, err))
				return -1;
	return 0;
}

/* ---- negative */

/* The interface of the job that tries a stranger: of its leaf where there is one. */
static const struct nic *tries(const struct clf_probe_plan *p, const struct leaves *job, const struct nic *stranger,
			       uint64_t *seed)
{
	uint32_t k;

	if (clf_strmap_find(&job->index, stranger->leaf, &k))
		return on_leaf(p->job, p->njob, stranger->leaf, next_random(seed) % job->count[k]);
	return &p->job[next_random(seed) % p->njob];
}

static int plan_stranger(struct clf_probe_plan *p, const struct nic *mine, const struct nic *stranger,
			 struct clf_error *err)
{
	bool everybody = false;
	size_t ask;

	for (size_t i = 0; i < p->nprobes; i++)
		everybody |= p->probes[i].kind == PROBE_EVERYBODY && p->probes[i].from == mine;
	if (!everybody && add_probe(p, PROBE_EVERYBODY, mine, NULL, err))
		return -1;
	if (add_probe(p, PROBE_TO_STRANGER, mine, stranger, err) ||
	    add_probe(p, PROBE_FROM_STRANGER, stranger, mine, err) || ask_of(p, mine->node, ASK_SEEN, &ask, err) ||
	    ask_of(p, stranger->node, ASK_SEEN, &ask, err))
		return -1;
	p->pairs[p->npairs++] = (struct pair){ p->nprobes - 2, p->nprobes - 1 };
	return 0;
}

static int plan_strangers(struct clf_probe_plan *p, uint64_t *seed, struct clf_error *err)
{
	CLF_CLEANUP(leaves_done) struct leaves job = { 0 }, others = { 0 };

	if (!p->njob)
		return 0;
	if (leaves_find(p->job, p->njob, &job, err) || leaves_find(p->others, p->nothers, &others, err))
		return -1;
	/* The job's own leaves first: there a mistake is nearest. */
	for (int own = 1; own >= 0; own--)
		for (size_t i = 0; i < others.n && p->npairs < CLF_PROBE_LEAVES; i++) {
			uint32_t k;
			const struct nic *s;

			if (clf_strmap_find(&job.index, others.name[i], &k) != (own == 1))
				continue;
			s = on_leaf(p->others, p->nothers, others.name[i], next_random(seed) % others.count[i]);
			if (plan_stranger(p, tries(p, &job, s, seed), s, err))
				return -1;
		}
	if (!p->npairs)
		return clf_probe_plan_skip(p, "negative: no node outside the job reports an interface on this fabric",
					   err);
	return 0;
}

/* ---- */

static int fill(struct clf_probe_plan *p, uint64_t seed, struct clf_error *err)
{
	for (size_t i = 0; i < p->njob; i++)
		if (clf_strmap_set(&p->job_names, p->job[i].node, 1, err))
			return -1;
	return plan_rings(p, err) || plan_leaves(p, &seed, err) || plan_strangers(p, &seed, err) ? -1 : 0;
}

int clf_probe_plan_make(const struct clf_probe_nic *job, size_t njob, const struct clf_probe_nic *others,
			size_t nothers, const char *positive_nonce, const char *negative_nonce, uint64_t seed,
			struct clf_probe_plan **out, struct clf_error *err)
{
	CLF_CLEANUP(clf_probe_plan_destroyp) struct clf_probe_plan *p = calloc(1, sizeof *p);

	if (strlen(positive_nonce) != 32 || strlen(negative_nonce) != 32 || !strcmp(positive_nonce, negative_nonce))
		return clf_fail(err, CLF_E_INVALID, "nonces are two different ones of 32 digits");
	if (!p || !(p->skipped = json_array()))
		return nomem(err);
	strcpy(p->positive, positive_nonce);
	strcpy(p->negative, negative_nonce);
	if (nics_copy(job, njob, &p->job, &p->njob, err) || nics_copy(others, nothers, &p->others, &p->nothers, err) ||
	    fill(p, seed, err))
		return -1;
	*out = CLF_STEAL(p);
	return 0;
}

size_t clf_probe_asks(const struct clf_probe_plan *p)
{
	return p->nasks;
}

const char *clf_probe_ask_node(const struct clf_probe_plan *p, size_t i)
{
	return p->asks[i].node;
}

int clf_probe_ask_wave(const struct clf_probe_plan *p, size_t i)
{
	return p->asks[i].kind == ASK_SEEN;
}

static json_t *probe_json(const struct probe *x)
{
	if (!x->to)
		return json_pack("{s:s,s:s}", "nic", x->from->nic, "mac", "ff:ff:ff:ff:ff:ff");
	return json_pack("{s:s,s:s,s:s}", "nic", x->from->nic, "mac", x->to->mac, "node", x->to->node);
}

json_t *clf_probe_ask_question(const struct clf_probe_plan *p, size_t i, int deadline_ms)
{
	const struct ask *a = &p->asks[i];
	json_auto_t *list = NULL;

	if (a->kind == ASK_SEEN)
		return json_pack("{s:s,s:s}", "op", "probe_seen", "nonce", p->negative);
	list = json_array();
	for (size_t k = a->first, n = 0; n < a->n; k = p->probes[k].next, n++)
		if (json_array_append_new(list, probe_json(&p->probes[k])))
			return NULL;
	return json_pack("{s:s,s:s,s:i,s:b,s:O}", "op", "probe", "nonce",
			 a->kind == ASK_POSITIVE ? p->positive : p->negative, "deadline_ms", deadline_ms, "wait",
			 a->kind == ASK_NEGATIVE, "probes", list);
}

void clf_probe_ask_answered(struct clf_probe_plan *p, size_t i, const json_t *reply, const struct clf_error *why)
{
	struct ask *a = &p->asks[i];

	if (reply)
		a->reply = json_incref((json_t *) reply);
	else
		a->why = strdup(why && *why->text ? why->text : "no answer");
}

int clf_probe_plan_kin(struct clf_probe_plan *p, const char *node, struct clf_error *err)
{
	/* the map borrows its keys */
	return clf_strv_add(&p->kin, node, err) || clf_strmap_set(&p->job_names, p->kin.v[p->kin.n - 1], 1, err) ? -1
														 : 0;
}
