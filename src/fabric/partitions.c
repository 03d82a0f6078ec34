/* SPDX-License-Identifier: GPL-2.0-or-later */
/* partitions.c - partitions.conf from desired state, and whose file one is. The lint is in partitions_lint.c. */
#include "fabric/partitions.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/lex.h"
#include "base/hash.h"
#include "fabric/partitions_priv.h"

bool clf_guid_parse(const char *s, size_t len, uint64_t *out)
{
	unsigned long long v;

	if (len != 18 || s[0] != '0' || s[1] != 'x' || strspn(s + 2, "0123456789abcdefABCDEF") < 16 ||
	    !clf_parse_hex64(s, len, &v) || !v)
		return false;
	*out = v;
	return true;
}

void clf_guids_done(struct clf_guids *g)
{
	free(g->v);
	*g = (struct clf_guids){ 0 };
}

int clf_guids_add(struct clf_guids *g, uint64_t guid, struct clf_error *err)
{
	if (g->n == g->cap) {
		size_t cap = g->cap ? 2 * g->cap : 64;
		uint64_t *v = realloc(g->v, cap * sizeof *v);

		if (!v)
			return clf_fail(err, CLF_E_NOMEM, "out of memory");
		g->v = v;
		g->cap = cap;
	}
	g->v[g->n++] = guid;
	return 0;
}

static int by_number(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *) a, y = *(const uint64_t *) b;

	return x < y ? -1 : x > y;
}

void clf_guids_sort(struct clf_guids *g)
{
	size_t k = 0;

	if (!g->n)
		return;
	qsort(g->v, g->n, sizeof *g->v, by_number);
	for (size_t i = 0; i < g->n; i++)
		if (!k || g->v[k - 1] != g->v[i])
			g->v[k++] = g->v[i];
	g->n = k;
}

bool clf_guids_has(const struct clf_guids *g, uint64_t guid)
{
	return g && g->n && bsearch(&guid, g->v, g->n, sizeof *g->v, by_number);
}

/* A port of a net, to be sorted by key and GUID. */
struct owned {
	uint64_t guid;
	uint16_t key;
	const struct clf_net *net;
};

static int by_guid(const void *a, const void *b)
{
	const struct owned *x = a, *y = b;

	return x->guid < y->guid ? -1 : x->guid > y->guid;
}

static int by_key(const void *a, const void *b)
{
	const struct owned *x = a, *y = b;

	return x->key != y->key ? (int) x->key - (int) y->key : by_guid(a, b);
}

static int collect_net(const struct clf_partitions_want *w, const struct clf_net *net, struct owned *v, size_t *n,
		       struct clf_error *err)
{
	if (net->key < w->rules.key_min || net->key > w->rules.key_max)
		return clf_fail(err, CLF_E_INVALID,
				"key 0x%04x of lease '%s' is outside this fabric's keys 0x%04x-0x%04x", net->key,
				net->lease, w->rules.key_min, w->rules.key_max);
	for (size_t i = 0; i < net->ports.n; i++) {
		const char *s = net->ports.v[i];
		uint64_t guid;

		if (!clf_guid_parse(s, strlen(s), &guid))
			return clf_fail(err, CLF_E_INVALID,
					"port '%.40s' of lease '%s' is no GUID like 0x0002c9030000abcd", s, net->lease);
		if (clf_guids_has(w->sm, guid))
			return clf_fail(err, CLF_E_INVALID,
					"port 0x%016" PRIx64
					" of lease '%s' is in sm_ports: the subnet manager's own port "
					"cannot leave the default partition",
					guid, net->lease);
		v[(*n)++] = (struct owned){ guid, net->key, net };
	}
	return 0;
}

static int collect(const struct clf_partitions_want *w, struct owned **out, size_t *n, struct clf_error *err)
{
	size_t total = 0;

	for (size_t i = 0; i < w->n; i++)
		total += w->nets[i]->ports.n;

	CLF_AUTO_FREE struct owned *v = calloc(total + 1, sizeof *v);

	if (!v)
		return clf_fail(err, CLF_E_NOMEM, "out of memory");
	*n = 0;
	for (size_t i = 0; i < w->n; i++)
		if (collect_net(w, w->nets[i], v, n, err))
			return -1;
	qsort(v, *n, sizeof *v, by_guid);
	for (size_t i = 1; i < *n; i++)
		if (v[i].guid == v[i - 1].guid)
			return clf_fail(err, CLF_E_INVALID, "port 0x%016" PRIx64 " is in the leases '%s' and '%s'",
					v[i].guid, v[i - 1].net->lease, v[i].net->lease);
	*out = CLF_STEAL(v);
	return 0;
}

/* ";" goes behind the last GUID: alone on a line OpenSM takes it for a broken definition and drops the whole file. */
static int add_member(struct clf_buf *b, uint64_t guid, bool last, struct clf_error *err)
{
	return clf_buf_printf(b, err, "0x%016" PRIx64 "=full%s\n", guid, last ? " ;" : ",");
}

static int add_default(const struct clf_partitions_want *w, struct clf_buf *b, struct clf_error *err)
{
	size_t n = w->sm ? w->sm->n : 0;

	if (clf_buf_printf(b, err, CLF_PART_DEFAULT "=0x7fff :\nALL=limited,\nSELF=full%s\n", n ? "," : " ;"))
		return -1;
	for (size_t i = 0; i < n; i++)
		if (add_member(b, w->sm->v[i], i + 1 == n, err))
			return -1;
	return 0;
}

static bool is_owned(const struct owned *v, size_t n, uint64_t guid)
{
	struct owned key = { .guid = guid };

	return n && bsearch(&key, v, n, sizeof *v, by_guid);
}

/* Everybody who is in no net. None: no partition, for OpenSM cannot read one that ends without a member. */
static int add_open(const struct clf_partitions_want *w, const struct owned *v, size_t n, struct clf_buf *b,
		    struct clf_error *err)
{
	size_t last = SIZE_MAX;

	for (size_t i = 0; i < w->known->n; i++)
		if (!is_owned(v, n, w->known->v[i]) && !clf_guids_has(w->sm, w->known->v[i]))
			last = i;
	if (last == SIZE_MAX)
		return 0;
	if (clf_buf_printf(b, err, CLF_PART_OPEN "=0x%04x,indx0 :\n", w->rules.open_key))
		return -1;
	for (size_t i = 0; i <= last; i++)
		if (!is_owned(v, n, w->known->v[i]) && !clf_guids_has(w->sm, w->known->v[i]) &&
		    add_member(b, w->known->v[i], i == last, err))
			return -1;
	return 0;
}

static int add_nets(const struct owned *v, size_t n, struct clf_buf *b, struct clf_error *err)
{
	for (size_t i = 0; i < n; i++) {
		bool first = !i || v[i - 1].key != v[i].key, last = i + 1 == n || v[i + 1].key != v[i].key;

		if (first && clf_buf_printf(b, err, CLF_PART_OURS "%04x=0x%04x,indx0 :\n", v[i].key, v[i].key))
			return -1;
		if (add_member(b, v[i].guid, last, err))
			return -1;
	}
	return 0;
}

static int add_foreign(const struct clf_partitions_want *w, struct clf_buf *b, struct clf_error *err)
{
	if (!w->foreign_len)
		return 0;
	return clf_buf_puts(b, CLF_PART_FOREIGN_BEGIN "\n", err) || clf_buf_add(b, w->foreign, w->foreign_len, err) ||
			       clf_buf_puts(b, CLF_PART_FOREIGN_END "\n", err)
		       ? -1
		       : 0;
}

static void bufp(struct clf_buf *b)
{
	clf_buf_done(b);
}

int clf_partitions_render(const struct clf_partitions_want *w, struct clf_buf *out, struct clf_error *err)
{
	CLF_CLEANUP(bufp) struct clf_buf body = CLF_BUF_INIT(CLF_PARTITIONS_MAX_BYTES);
	CLF_AUTO_FREE struct owned *v = NULL;
	char hex[65];
	size_t n = 0;

	if (collect(w, &v, &n, err))
		return -1;
	if (clf_buf_puts(&body, CLF_PART_COMMENT, err) || add_default(w, &body, err) || add_open(w, v, n, &body, err))
		return -1;
	qsort(v, n, sizeof *v, by_key);
	if (add_nets(v, n, &body, err) || add_foreign(w, &body, err) || clf_buf_puts(&body, CLF_PART_END, err))
		return -1;
	if (clf_hash_sha256(body.data, body.len, hex, err) ||
	    clf_buf_printf(out, err, CLF_PART_MARKER "bytes=%zu sha256=%s\n", body.len, hex))
		return -1;
	return clf_buf_add(out, body.data, body.len, err);
}

/* "bytes=N sha256=HEX" behind the marker; false when it has another form. */
static bool read_marker(const char *text, size_t len, size_t *body, size_t *bytes, char hex[65])
{
	const char *nl = len ? memchr(text, '\n', len) : NULL, *p = text + strlen(CLF_PART_MARKER), *space;
	unsigned long long n;

	if (!nl || (size_t) (nl - text) < strlen(CLF_PART_MARKER) + strlen("bytes=0 sha256=") + 64 ||
	    memcmp(text, CLF_PART_MARKER "bytes=", strlen(CLF_PART_MARKER "bytes=")) != 0)
		return false;
	p += strlen("bytes=");
	space = memchr(p, ' ', (size_t) (nl - p));
	if (!space || !clf_parse_u64(p, (size_t) (space - p), &n) || nl - space != 72 ||
	    memcmp(space, " sha256=", 8) != 0)
		return false;
	*bytes = (size_t) n;
	*body = (size_t) (nl + 1 - text);
	memcpy(hex, space + 8, 64);
	hex[64] = '\0';
	return true;
}

static bool ends_with(const char *text, size_t len, const char *end)
{
	size_t n = strlen(end);

	return len >= n && !memcmp(text + len - n, end, n);
}

enum clf_partitions_file clf_partitions_whose(const char *text, size_t len)
{
	size_t body, bytes, blank = 0;
	char said[65], hex[65];

	while (blank < len && strchr(" \t\r\n", text[blank]))
		blank++;
	if (blank == len)
		return CLF_PARTFILE_EMPTY;
	if (!read_marker(text, len, &body, &bytes, said)) {
		/* A file cut within its own first line is still ours. */
		size_t k = strlen(CLF_PART_MARKER);

		return !memchr(text, '\n', len) && memcmp(text, CLF_PART_MARKER, len < k ? len : k) == 0
			       ? CLF_PARTFILE_CUT
		       : len >= k && !memcmp(text, CLF_PART_MARKER, k) ? CLF_PARTFILE_EDITED
								       : CLF_PARTFILE_FOREIGN;
	}
	/* one that cannot be checked is not ours: it is looked at, not written over */
	if (clf_hash_sha256(text + body, len - body, hex, NULL))
		return CLF_PARTFILE_EDITED;
	if (len - body == bytes && !strcmp(hex, said))
		return CLF_PARTFILE_OURS;
	return len - body < bytes && !ends_with(text, len, CLF_PART_END) ? CLF_PARTFILE_CUT : CLF_PARTFILE_EDITED;
}
