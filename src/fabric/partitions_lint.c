/* SPDX-License-Identifier: GPL-2.0-or-later */
/* partitions_lint.c - the one form of partitions.conf that is ever published.
 *
 *   file      = line of definition, then members, again and again; blank lines and comment lines between
 *   definition= NAME "=" "0x" 1*4HEX [",indx0"] [",ipoib"] " :"
 *   member    = ("0x" 16HEX | "ALL" | "SELF") "=" ("full" | "limited") ("," | " ;")      ALL, SELF: in Default only
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/lex.h"
#include "fabric/partitions.h"
#include "fabric/partitions_priv.h"

struct lint {
	const char *name;
	const struct clf_partitions_rules *rules;
	struct clf_partitions *p;
	struct clf_error *err;
	int line;
	bool foreign; /* inside the foreign section */
	bool foreign_only;
	bool within; /* a definition waits for its last member */
	bool all, self;
};

#define REFUSE(l, ...) clf_fail_at((l)->err, CLF_E_PARSE, (l)->name, (l)->line, 0, __VA_ARGS__)

void clf_partitions_done(struct clf_partitions *p)
{
	free(p->v);
	free(p->m);
	*p = (struct clf_partitions){ 0 };
}

static void *grow(void *v, size_t n, size_t *cap, size_t size)
{
	size_t want = *cap ? 2 * *cap : 64;
	void *more = n < *cap ? v : realloc(v, want * size);

	if (more && n >= *cap)
		*cap = want;
	return more;
}

static bool take(const char **s, const char *end, const char *word)
{
	size_t n = strlen(word);

	if ((size_t) (end - *s) < n || memcmp(*s, word, n) != 0)
		return false;
	*s += n;
	return true;
}

static int check_key(struct lint *l, const struct clf_partition *d, unsigned long long key)
{
	const struct clf_partitions_rules *r = l->rules;
	bool first = !l->p->n && !l->foreign_only;

	if (first && (strcmp(d->name, CLF_PART_DEFAULT) != 0 || key != CLF_PKEY_DEFAULT))
		return REFUSE(l, "the first partition must be " CLF_PART_DEFAULT "=0x7fff");
	if (key > 0xffff || key & CLF_PKEY_FULL)
		return REFUSE(l, "key 0x%llx has bit 15 or more set; OpenSM would cut it to 15 bits", key);
	if (!key || (!first && key == CLF_PKEY_DEFAULT))
		return REFUSE(l, "key 0x%04llx belongs to the default partition or to none", key);
	for (size_t i = 0; i < l->p->n; i++)
		if (l->p->v[i].key == key)
			return REFUSE(l, "key 0x%04llx is there already, in line %d; OpenSM would join the two", key,
				      l->p->v[i].line);
	if (l->foreign && (key == r->open_key || (key >= r->key_min && key <= r->key_max)))
		return REFUSE(l, "key 0x%04llx of partition '%s' is one of closfold's own", key, d->name);
	return 0;
}

/* Names of ours say what they are; elsewhere they do not matter. */
static int check_name(struct lint *l, const struct clf_partition *d)
{
	const struct clf_partitions_rules *r = l->rules;
	unsigned long long n;

	if (l->foreign || !l->p->n)
		return 0;
	if (!strcmp(d->name, CLF_PART_OPEN))
		return d->key == r->open_key && d->index0
			       ? 0
			       : REFUSE(l, "partition open must be 0x%04x,indx0", r->open_key);
	if (strncmp(d->name, CLF_PART_OURS, strlen(CLF_PART_OURS)) != 0)
		return REFUSE(l, "partition '%s' is none of closfold's", d->name);
	if (!clf_parse_hex64(d->name + strlen(CLF_PART_OURS), strlen(d->name) - strlen(CLF_PART_OURS), &n) ||
	    n != d->key)
		return REFUSE(l, "partition '%s' has the key 0x%04x", d->name, d->key);
	if (d->key < r->key_min || d->key > r->key_max)
		return REFUSE(l, "key 0x%04x is outside this fabric's keys 0x%04x-0x%04x", d->key, r->key_min,
			      r->key_max);
	return d->index0 ? 0 : REFUSE(l, "partition '%s' is not at index 0 (indx0)", d->name);
}

static int definition(struct lint *l, const char *s, const char *end)
{
	struct clf_partition d = { .line = l->line, .foreign = l->foreign }, *more;
	const char *eq = memchr(s, '=', (size_t) (end - s)), *p;
	unsigned long long key;
	size_t len = eq ? (size_t) (eq - s) : 0;

	if (!len || len >= sizeof d.name ||
	    strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") < len)
		return REFUSE(l, "a definition must look like name=0x0123,indx0 :");
	memcpy(d.name, s, len);
	for (p = eq + 1; p < end && !strchr(", ", *p); p++)
		;
	if (p - eq - 1 < 3 || p - eq - 1 > 10 || memcmp(eq + 1, "0x", 2) != 0 ||
	    !clf_parse_hex64(eq + 1, (size_t) (p - eq - 1), &key))
		return REFUSE(l, "partition '%s' has no key like 0x0123", d.name);
	d.index0 = take(&p, end, ",indx0");
	if (l->foreign)
		take(&p, end, ",ipoib");
	if (!take(&p, end, " :") || p != end)
		return REFUSE(l, "partition '%s' has flags other than indx0%s, or its line does not end with \" :\"",
			      d.name, l->foreign ? " and ipoib" : "");
	if (check_key(l, &d, key))
		return -1;
	d.key = (uint16_t) key;
	if (check_name(l, &d))
		return -1;
	more = grow(l->p->v, l->p->n, &l->p->cap, sizeof *more);
	if (!more)
		return clf_fail(l->err, CLF_E_NOMEM, "out of memory");
	l->p->v = more;
	l->p->v[l->p->n++] = d;
	l->within = true;
	return 0;
}

static int membership(struct lint *l, const char **s, const char *end, bool *full)
{
	bool limited = !take(s, end, "=full");

	if (limited && !take(s, end, "=limited"))
		return REFUSE(l, "a member must say =full or =limited; OpenSM would make it limited");
	if (take(s, end, " ;"))
		l->within = false;
	else if (!take(s, end, ","))
		return REFUSE(l, "a member must end with \",\" or, the last one, with \" ;\"");
	if (*s != end)
		return REFUSE(l, "one member a line");
	*full = !limited;
	return 0;
}

static int keyword(struct lint *l, const char *s, const char *end, const char *word)
{
	bool all = *word == 'A', full = false, *seen = all ? &l->all : &l->self;

	if (l->p->n != 1 || l->foreign)
		return REFUSE(l, "%s is for the default partition only", word);
	if (membership(l, &s, end, &full))
		return -1;
	if (full == all)
		return REFUSE(l, "the default partition must have ALL=limited and SELF=full; else nothing isolates");
	if (*seen)
		return REFUSE(l, "%s is there twice", word);
	*seen = true;
	return 0;
}

static int member(struct lint *l, const char *s, const char *end)
{
	struct clf_partition_member m = { .partition = (uint32_t) l->p->n - 1, .line = l->line }, *more;
	const struct clf_partition *d = &l->p->v[m.partition];

	if (end - s < 18 || !clf_guid_parse(s, 18, &m.guid))
		return REFUSE(
			l, "a member must be 0x and 16 hexadecimal digits, not 0; one bad GUID makes OpenSM drop the "
			   "whole file and open the fabric");
	s += 18;
	if (membership(l, &s, end, &m.full))
		return -1;
	if (!d->foreign && !m.full)
		return REFUSE(l, "a member of partition '%s' must be full", d->name);
	if (d->foreign && m.full && l->rules->full_foreign && !clf_guids_has(l->rules->full_foreign, m.guid))
		return REFUSE(l,
			      "0x%016" PRIx64
			      " is a full member of '%s' and in no 'others': two full members of one partition "
			      "talk past the isolation; make it limited, or name it in 'others' if it is no node's",
			      m.guid, d->name);
	more = grow(l->p->m, l->p->nm, &l->p->mcap, sizeof *more);
	if (!more)
		return clf_fail(l->err, CLF_E_NOMEM, "out of memory");
	l->p->m = more;
	l->p->m[l->p->nm++] = m;
	return 0;
}

static bool is(const char *s, size_t len, const char *word)
{
	return len == strlen(word) && !memcmp(s, word, len);
}

static int comment(struct lint *l, const char *s, size_t len)
{
	if (l->foreign_only && len >= 10 && !memcmp(s, "# closfold", 10))
		return REFUSE(l, "a comment that begins with \"# closfold\" is closfold's own");
	if (is(s, len, CLF_PART_FOREIGN_BEGIN))
		l->foreign = true;
	if (is(s, len, CLF_PART_FOREIGN_END))
		l->foreign = false;
	return 0;
}

static int one_line(struct lint *l, const char *s, size_t len)
{
	const char *end = s + len;

	if (len > CLF_PARTITIONS_LINE)
		return REFUSE(l, "a line of more than %u bytes; OpenSM splits long lines in the middle of a GUID",
			      CLF_PARTITIONS_LINE);
	if (memchr(s, '\0', len) || memchr(s, '\t', len) || memchr(s, '\r', len))
		return REFUSE(l, "a tab or another control character");
	if (!len && !l->within)
		return 0;
	if (len && *s == '#' && !l->within)
		return comment(l, s, len);
	if (!l->within)
		return definition(l, s, end);
	for (const char *const *w = (const char *const[]){ "ALL", "SELF", NULL }; *w; w++) {
		const char *rest = s;

		if (take(&rest, end, *w))
			return keyword(l, rest, end, *w);
	}
	return member(l, s, end);
}

static int by_guid(const void *a, const void *b)
{
	const struct clf_partition_member *x = a, *y = b;

	if (x->guid != y->guid)
		return x->guid < y->guid ? -1 : 1;
	return (int) x->partition - (int) y->partition;
}

/* What only the whole shows: a GUID twice in one partition, or at index 0 of two. */
static int check_members(struct lint *l)
{
	struct clf_partitions *p = l->p;
	const struct clf_partition_member *first = NULL;

	if (p->nm)
		qsort(p->m, p->nm, sizeof *p->m, by_guid);
	for (size_t i = 0; i < p->nm; i++) {
		const struct clf_partition_member *m = &p->m[i];

		l->line = m->line;
		if (i && m[-1].guid == m->guid && m[-1].partition == m->partition)
			return REFUSE(l, "0x%016" PRIx64 " is in partition '%s' twice", m->guid,
				      p->v[m->partition].name);
		if (!i || m[-1].guid != m->guid)
			first = NULL;
		if (!p->v[m->partition].index0)
			continue;
		if (first)
			return REFUSE(l, "0x%016" PRIx64 " is at index 0 of '%s' and of '%s': it would hold both keys",
				      m->guid, p->v[first->partition].name, p->v[m->partition].name);
		first = m;
	}
	return 0;
}

/* A candidate of the subnet manager stays full in the default partition and in nothing at index 0. */
static int check_candidates(struct lint *l)
{
	const struct clf_partitions *p = l->p;

	for (size_t i = 1; !l->foreign_only && i < p->nm; i++)
		if (p->m[i].guid == p->m[i - 1].guid && !p->m[i - 1].partition && p->v[p->m[i].partition].index0) {
			l->line = p->m[i].line;
			return REFUSE(l, "0x%016" PRIx64 " is full in the default partition and in '%s'", p->m[i].guid,
				      p->v[p->m[i].partition].name);
		}
	return 0;
}

static void partitionsp(struct clf_partitions *p)
{
	clf_partitions_done(p);
}

static int lint(struct lint *l, const char *text, size_t len)
{
	const char *end = text + len;

	if (len && text[len - 1] != '\n')
		return l->line = 1, REFUSE(l, "the file does not end with a newline; it may have been cut");
	for (const char *s = text, *nl; s < end; s = nl + 1) {
		nl = memchr(s, '\n', (size_t) (end - s));
		l->line++;
		if (one_line(l, s, (size_t) (nl - s)))
			return -1;
	}
	if (l->within)
		return REFUSE(l, "partition '%s' has no last member with \" ;\"; OpenSM would take what is there",
			      l->p->v[l->p->n - 1].name);
	if (!l->foreign_only && (!l->p->n || !l->all || !l->self || l->foreign))
		return REFUSE(l, "the partition " CLF_PART_DEFAULT " with ALL=limited and SELF=full, or the end of the "
				 "foreign section, is missing");
	return check_members(l) || check_candidates(l) ? -1 : 0;
}

int clf_partitions_lint(const char *name, const char *text, size_t len, const struct clf_partitions_rules *rules,
			struct clf_partitions *out, struct clf_error *err)
{
	CLF_CLEANUP(partitionsp) struct clf_partitions p = { 0 };
	struct lint l = { .name = name, .rules = rules, .p = &p, .err = err };

	if (lint(&l, text, len))
		return -1;
	if (out) {
		*out = p;
		p = (struct clf_partitions){ 0 };
	}
	return 0;
}

int clf_partitions_lint_foreign(const char *name, const char *text, size_t len,
				const struct clf_partitions_rules *rules, struct clf_error *err)
{
	CLF_CLEANUP(partitionsp) struct clf_partitions p = { 0 };
	struct lint l = { .name = name, .rules = rules, .p = &p, .err = err, .foreign = true, .foreign_only = true };

	return lint(&l, text, len);
}

size_t clf_partitions_of(const struct clf_partitions *p, uint64_t guid, size_t *first)
{
	size_t lo = 0, hi = p->nm, n = 0;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (p->m[mid].guid < guid)
			lo = mid + 1;
		else
			hi = mid;
	}
	*first = lo;
	while (lo + n < p->nm && p->m[lo + n].guid == guid)
		n++;
	return n;
}
