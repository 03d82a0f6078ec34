/* SPDX-License-Identifier: GPL-2.0-or-later */
/* partitions.conf: what is written, what is refused, and whose a file is; the difference of two files. */
#include "fabric/partitions.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "fabric/opensm.h"
#include "oom.h"
#include "tap.h"

static struct clf_guids sm, known, others;
static const struct clf_partitions_rules rules = {
	.key_min = 0x100, .key_max = 0x1ff, .open_key = 1, .full_foreign = &others
};

static void guid_text(uint64_t g, char out[20])
{
	snprintf(out, 20, "0x%016" PRIx64, g);
}

static struct clf_net net(const char *lease, uint16_t key, const uint64_t *v, size_t n)
{
	struct clf_net t = { .key = key };
	char text[20];

	snprintf(t.lease, sizeof t.lease, "%s", lease);
	for (size_t i = 0; i < n; i++) {
		guid_text(v[i], text);
		if (clf_strv_add(&t.ports, text, NULL))
			abort();
	}
	return t;
}

static void fill(void)
{
	for (uint64_t g = 0x10; g < 0x18; g++)
		if (clf_guids_add(&known, g, NULL))
			abort();
	if (clf_guids_add(&sm, 0x10, NULL) || clf_guids_add(&others, 0x99, NULL))
		abort();
}

static int render(const struct clf_net *const *nets, size_t n, const char *foreign, struct clf_buf *out,
		  struct clf_error *err)
{
	struct clf_partitions_want w = { .rules = rules,
					 .sm = &sm,
					 .known = &known,
					 .nets = nets,
					 .n = n,
					 .foreign = foreign,
					 .foreign_len = strlen(foreign) };

	return clf_partitions_render(&w, out, err);
}

#define HEAD "Default=0x7fff :\nALL=limited,\nSELF=full,\n0x0000000000000010=full ;\n"
#define G(x) "0x00000000000000" x

static void test_render(void)
{
	struct clf_net a = net("a", 0x101, (const uint64_t[]){ 0x12, 0x11 }, 2),
		       b = net("b", 0x100, (const uint64_t[]){ 0x13 }, 1),
		       c = net("c", 0x101, (const uint64_t[]){ 0x14 }, 1), e = net("e", 0x102, NULL, 0);
	const struct clf_net *one[] = { &a, &b, &c, &e }, *two[] = { &e, &c, &b, &a };
	struct clf_buf x = CLF_BUF_INIT(1 << 20), y = CLF_BUF_INIT(1 << 20);
	struct clf_partitions p = { 0 };
	struct clf_error err = { 0 };
	const char *body;

	ok(!render(one, 4, "", &x, &err), "render: %s", err.text);
	ok(!render(two, 4, "", &y, NULL) && x.len == y.len && !memcmp(x.data, y.data, x.len),
	   "another order of nets, the same bytes");
	body = strchr(strchr(x.data, '\n') + 1, '\n') + 1;
	is_str(body,
	       HEAD "open=0x0001,indx0 :\n" G("15") "=full,\n" G("16") "=full,\n" G(
		       "17") "=full ;\n"
			     "closfold_0100=0x0100,indx0 :\n" G(
				     "13") "=full ;\n"
					   "closfold_0101=0x0101,indx0 :\n" G("11") "=full,\n" G("12") "=full,\n" G(
						   "14") "=full ;\n# closfold: end\n",
	       "the layout: nets of one key are one partition, the subnet manager's port in no open, no empty "
	       "partition");
	ok(!clf_partitions_lint("x", x.data, x.len, &rules, &p, &err), "and its own lint takes it: %s", err.text);
	is_int((long long) p.n, 4, "four partitions");
	size_t first;
	is_int((long long) clf_partitions_of(&p, 0x12, &first), 1, "one of them has 0x12");
	is_int(p.v[p.m[first].partition].key, 0x101, "the right one");
	is_int((long long) clf_partitions_of(&p, 0x77, &first), 0, "none has 0x77");
	clf_partitions_done(&p);
	clf_buf_done(&x);
	clf_buf_done(&y);
	for (size_t i = 0; i < 4; i++)
		clf_net_done((struct clf_net *) one[i]);
}

static void test_empty(void)
{
	struct clf_guids none = { 0 };
	struct clf_partitions_want w = { .rules = rules, .sm = &sm, .known = &none, .foreign = "" };
	struct clf_buf x = CLF_BUF_INIT(1 << 20);

	ok(!clf_partitions_render(&w, &x, NULL) && !strstr(x.data, "open"),
	   "nobody known: no partition without a member");
	ok(!clf_partitions_lint("x", x.data, x.len, &rules, NULL, NULL), "and it passes");
	w.sm = &none;
	clf_buf_reset(&x);
	ok(!clf_partitions_render(&w, &x, NULL) && strstr(x.data, "SELF=full ;\n") &&
		   !clf_partitions_lint("x", x.data, x.len, &rules, NULL, NULL),
	   "no candidate of the subnet manager");
	clf_buf_done(&x);
}

static void refuse_net(struct clf_net a, struct clf_net b, const char *says)
{
	const struct clf_net *nets[] = { &a, &b };
	struct clf_buf x = CLF_BUF_INIT(1 << 20);
	struct clf_error err = { 0 };

	ok(render(nets, 2, "", &x, &err) && err.code == CLF_E_INVALID && strstr(err.text, says) && !x.len,
	   "not written: %s (%s)", says, err.text);
	clf_net_done(&a);
	clf_net_done(&b);
	clf_buf_done(&x);
}

static void test_refused_wishes(void)
{
	struct clf_net bad = net("b", 0x102, NULL, 0);

	if (clf_strv_add(&bad.ports, "0xZZ", NULL))
		abort();
	refuse_net(net("a", 0x101, (const uint64_t[]){ 0x12 }, 1), net("b", 0x102, (const uint64_t[]){ 0x12 }, 1),
		   "is in the leases 'a' and 'b'");
	refuse_net(net("a", 0x101, (const uint64_t[]){ 0x10 }, 1), net("b", 0x102, NULL, 0), "is in sm_ports");
	refuse_net(net("a", 0x200, (const uint64_t[]){ 0x12 }, 1), net("b", 0x102, NULL, 0),
		   "outside this fabric's keys");
	refuse_net(net("a", 0x8101, (const uint64_t[]){ 0x12 }, 1), net("b", 0x102, NULL, 0),
		   "outside this fabric's keys");
	refuse_net(net("a", 0x7fff, (const uint64_t[]){ 0x12 }, 1), net("b", 0x102, NULL, 0),
		   "outside this fabric's keys");
	refuse_net(net("a", 0x101, (const uint64_t[]){ 0x12 }, 1), bad, "'0xZZ' of lease 'b' is no GUID");
}

/* Of the failure table: what OpenSM takes without a word, or drops the whole file for. */
static const struct {
	const char *text, *says;
} bad[] = {
	{ "", "is missing" },
	{ HEAD "open=0x0001,indx0 :\n0xZZ=full ;\n", "16 hexadecimal digits" },
	{ HEAD "open=0x0001,indx0 :\n0x0c42a1030000=full ;\n", "16 hexadecimal digits" },
	{ HEAD "open=0x0001,indx0 :\n0x0000000000000000=full ;\n", "16 hexadecimal digits" },
	{ HEAD "open=0x0001,indx0 :\n" G("11") "=full,\n", "no last member" },
	{ HEAD "open=0x0001,indx0 :\n" G("11") "=full,\n0x00000000", "newline" },
	{ HEAD "open=0x0001,indx0 :\n" G("11") "=full,\n;\n", "16 hexadecimal digits" },
	{ HEAD ";\n", "must look like" },
	{ HEAD "open=0x0001,indx0 :\n" G("11") " ;\n", "=full or =limited" },
	{ HEAD "open=0x0001,indx0 :\n" G("11") "=f ;\n", "=full or =limited" },
	{ HEAD "open=0x0001,indx0 :\n" G("11") "=both ;\n", "=full or =limited" },
	{ HEAD "open=0x0001,indx0 :\n" G("11") "=limited ;\n", "must be full" },
	{ HEAD "open=0x0001,indx0 :\n" G("11") "=full;\n", "must end with" },
	{ HEAD "open=0x0001,indx0 :\n" G("11") "=full, " G("12") "=full ;\n", "must end with|one member" },
	{ HEAD "open=0x0001,indx0 :\nA=full ;\n", "16 hexadecimal digits" },
	{ HEAD "open=0x0001,indx0 :\nALL=full ;\n", "default partition only" },
	{ HEAD "open=0x0001,indx0 :\nSELF=full ;\n", "default partition only" },
	{ HEAD "open=0x0001 :\n" G("11") "=full ;\n", "must be 0x0001,indx0" },
	{ HEAD "open=0x0003,indx0 :\n" G("11") "=full ;\n", "must be 0x0001,indx0" },
	{ HEAD "open=0x0001,indx0,defmember=full :\n" G("11") "=full ;\n", "flags other" },
	{ HEAD "open=0x0001,indx0:\n" G("11") "=full ;\n", "flags other" },
	{ HEAD "open=1,indx0 :\n" G("11") "=full ;\n", "no key like" },
	{ HEAD "open,indx0 :\n" G("11") "=full ;\n", "must look like" },
	{ HEAD "closfold_0101=0x0101 :\n" G("11") "=full ;\n", "not at index 0" },
	{ HEAD "closfold_0101=0x0102,indx0 :\n" G("11") "=full ;\n", "has the key 0x0102" },
	{ HEAD "closfold_0200=0x0200,indx0 :\n" G("11") "=full ;\n", "outside this fabric's keys" },
	{ HEAD "closfold_8101=0x8101,indx0 :\n" G("11") "=full ;\n", "bit 15" },
	{ HEAD "closfold_1ffff=0x1ffff,indx0 :\n" G("11") "=full ;\n", "bit 15" },
	{ HEAD "closfold_7fff=0x7fff,indx0 :\n" G("11") "=full ;\n", "default partition or to none" },
	{ HEAD "closfold_0000=0x0000,indx0 :\n" G("11") "=full ;\n", "default partition or to none" },
	{ HEAD "closfold_0101=0x0101,indx0 :\n" G("11") "=full ;\nclosfold_101=0x0101,indx0 :\n" G("12") "=full ;\n",
	  "there already, in line 5" },
	{ HEAD "mine=0x0300 :\n" G("11") "=full ;\n", "none of closfold's" },
	{ HEAD "open=0x0001,indx0 :\n" G("11") "=full ;\nclosfold_0101=0x0101,indx0 :\n" G("11") "=full ;\n",
	  "at index 0 of 'open' and of 'closfold_0101'" },
	{ HEAD "open=0x0001,indx0 :\n" G("11") "=full,\n" G("11") "=full ;\n", "in partition 'open' twice" },
	{ HEAD "open=0x0001,indx0 :\n" G("10") "=full ;\n", "full in the default partition and in 'open'" },
	{ HEAD "open=0x0001,indx0 :\n# between\n" G("11") "=full ;\n", "16 hexadecimal digits" },
	{ HEAD "\topen=0x0001,indx0 :\n" G("11") "=full ;\n", "control character" },
	{ "Default=0x7fff :\nALL=full,\nSELF=full ;\n", "nothing isolates" },
	{ "Default=0x7fff :\nALL=limited,\nSELF=limited ;\n", "nothing isolates" },
	{ "Default=0x7fff :\nALL=limited ;\n", "is missing" },
	{ "Default=0x7fff :\nALL=limited,\nALL=limited,\nSELF=full ;\n", "twice" },
	{ "open=0x0001,indx0 :\n" G("11") "=full ;\n", "first partition must be" },
	{ "Default=0x7ffe :\nALL=limited,\nSELF=full ;\n", "first partition must be" },
	{ HEAD "# closfold: foreign section begins\n", "is missing" },
};

static bool says_one(const char *text, const char *alternatives)
{
	char copy[200], *save = NULL;

	snprintf(copy, sizeof copy, "%s", alternatives);
	for (char *w = strtok_r(copy, "|", &save); w; w = strtok_r(NULL, "|", &save))
		if (strstr(text, w))
			return true;
	return false;
}

static void test_lint(void)
{
	static char longer[5000];

	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		struct clf_partitions p = { 0 };
		struct clf_error err = { 0 };
		int rc = clf_partitions_lint("f", bad[i].text, strlen(bad[i].text), &rules, &p, &err);

		ok(rc && err.code == CLF_E_PARSE && says_one(err.text, bad[i].says) && !p.v, "refused: %s (%s)",
		   bad[i].says, err.text);
	}
	strcpy(longer, HEAD "# ");
	memset(longer + strlen(longer), 'x', 1200);
	strcat(longer, "\n");
	struct clf_error err = { 0 };
	ok(clf_partitions_lint("f", longer, strlen(longer), &rules, NULL, &err) &&
		   strstr(err.text, "more than 1000 bytes") && err.line == 5,
	   "a long line, with its number: %d", err.line);
}

static const struct {
	const char *text, *says; /* says NULL: taken */
} foreign[] = {
	{ "", NULL },
	{ "# storage\n\nstorage=0x0500,ipoib :\n" G("99") "=full,\n" G("11") "=limited ;\n", NULL },
	{ "storage=0x0500,indx0 :\n" G("99") "=full ;\n", NULL },
	{ "storage=0x0500 :\n" G("11") "=full ;\n", "is a full member of 'storage'" },
	{ "storage=0x0101 :\n" G("11") "=limited ;\n", "one of closfold's own" },
	{ "storage=0x0001 :\n" G("11") "=limited ;\n", "one of closfold's own" },
	{ "storage=0x7fff :\n" G("99") "=full ;\n", "default partition or to none" },
	{ "storage=0x0500 :\nALL=limited ;\n", "default partition only" },
	{ "storage=0x0500 :\n" G("99") "=full", "newline" },
	{ "# closfold: foreign section ends\n", "closfold's own" },
};

static void test_foreign(void)
{
	struct clf_buf x = CLF_BUF_INIT(1 << 20);
	struct clf_partitions p = { 0 };
	size_t first;

	for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++) {
		struct clf_error err = { 0 };
		int rc = clf_partitions_lint_foreign("inc", foreign[i].text, strlen(foreign[i].text), &rules, &err);

		ok(foreign[i].says ? rc && strstr(err.text, foreign[i].says) : !rc, "include: %s (%s)",
		   foreign[i].says ? foreign[i].says : "taken", err.text);
	}
	ok(!render(NULL, 0, foreign[1].text, &x, NULL) && strstr(x.data, foreign[1].text),
	   "the foreign section is kept byte for byte");
	ok(!clf_partitions_lint("x", x.data, x.len, &rules, &p, NULL), "and passes");
	is_int((long long) clf_partitions_of(&p, 0x11, &first), 2, "0x11 is in open and in storage");
	ok(p.v[p.m[first + 1].partition].foreign && !p.m[first + 1].full, "there limited");
	clf_partitions_done(&p);
	clf_buf_done(&x);
}

static void test_whose(void)
{
	struct clf_buf x = CLF_BUF_INIT(1 << 20);
	char hex[65];

	if (render(NULL, 0, "", &x, NULL))
		abort();
	is_int(clf_partitions_whose(x.data, x.len), CLF_PARTFILE_OURS, "ours");
	ok(!clf_hash_sha256(strchr(x.data, '\n') + 1, strlen(strchr(x.data, '\n') + 1), hex, NULL), "hash");
	ok(strstr(x.data, hex), "with the hash of what follows");
	size_t cut = 0;
	for (size_t n = 1; n < x.len; n++)
		cut += clf_partitions_whose(x.data, n) == CLF_PARTFILE_CUT;
	is_int((long long) cut, (long long) x.len - 1, "cut at any byte it is known as cut");
	for (size_t n = 0; n < x.len; n++) {
		char keep = x.data[n];

		x.data[n] ^= 1;
		if (clf_partitions_whose(x.data, x.len) == CLF_PARTFILE_OURS)
			ok(false, "byte %zu changed and still ours", n);
		x.data[n] = keep;
	}
	ok(true, "no changed byte passes");
	is_int(clf_partitions_whose("", 0), CLF_PARTFILE_EMPTY, "empty");
	is_int(clf_partitions_whose(" \n\n", 3), CLF_PARTFILE_EMPTY, "blank");
	is_int(clf_partitions_whose("Default=0x7fff : ALL=full ;\n", 28), CLF_PARTFILE_FOREIGN, "somebody else's");
	if (clf_buf_puts(&x, "more\n", NULL))
		abort();
	is_int(clf_partitions_whose(x.data, x.len), CLF_PARTFILE_EDITED, "added to");
	clf_buf_done(&x);
}

static uint64_t rnd(void)
{
	static uint64_t s = 88172645463325252ull;

	s ^= s << 13;
	s ^= s >> 7;
	s ^= s << 17;
	return s;
}

/* Each port that was wished for comes back out of the lint in its partition, and nothing else does. */
static bool round_trip(void)
{
	enum { PORTS = 200, NETS = 12 };
	uint16_t key_of[PORTS] = { 0 };
	struct clf_net nets[NETS];
	const struct clf_net *list[NETS];
	struct clf_guids all = { 0 };
	struct clf_partitions p = { 0 };
	struct clf_buf x = CLF_BUF_INIT(1 << 20);
	bool good = true;

	for (size_t i = 0; i < NETS; i++) {
		nets[i] = net("n", (uint16_t) (0x100 + rnd() % 8), NULL, 0);
		list[i] = &nets[i];
	}
	for (size_t i = 0; i < PORTS; i++) {
		size_t n = rnd() % (2 * NETS);
		char text[20];

		if (rnd() % 8 && clf_guids_add(&all, 0x1000 + i, NULL))
			abort();
		guid_text(0x1000 + i, text);
		if (n < NETS && clf_strv_add(&nets[n].ports, text, NULL))
			abort();
		key_of[i] = n < NETS ? nets[n].key : 0;
	}
	clf_guids_sort(&all);
	struct clf_partitions_want w = {
		.rules = rules, .sm = &sm, .known = &all, .nets = list, .n = NETS, .foreign = ""
	};
	good = !clf_partitions_render(&w, &x, NULL) && !clf_partitions_lint("x", x.data, x.len, &rules, &p, NULL);
	for (size_t i = 0; good && i < PORTS; i++) {
		size_t first, n = clf_partitions_of(&p, 0x1000 + i, &first);
		uint16_t want = key_of[i] ? key_of[i] : clf_guids_has(&all, 0x1000 + i) ? 1 : 0;

		good = n == (want != 0) && (!n || p.v[p.m[first].partition].key == want);
	}
	clf_partitions_done(&p);
	clf_guids_done(&all);
	clf_buf_done(&x);
	for (size_t i = 0; i < NETS; i++)
		clf_net_done(&nets[i]);
	return good;
}

/* Apply a unified diff; NULL when it does not fit. */
static char *patch(const char *old, const char *diff)
{
	struct clf_buf out = CLF_BUF_INIT(1 << 22);
	size_t line = 0;
	const char *d = diff;

	if (!*d)
		return strdup(old);
	d = strchr(strchr(d, '\n') + 1, '\n') + 1;
	while (*d) {
		size_t from, na, to, nb;

		if (sscanf(d, "@@ -%zu,%zu +%zu,%zu @@", &from, &na, &to, &nb) != 4)
			return NULL;
		d = strchr(d, '\n') + 1;
		for (size_t until = na ? from - 1 : from; line < until; line++) {
			size_t n = strcspn(old, "\n") + 1;

			if (clf_buf_add(&out, old, n, NULL))
				abort();
			old += n;
		}
		for (; *d == ' ' || *d == '+' || *d == '-'; d = strchr(d, '\n') + 1) {
			size_t n = strcspn(d + 1, "\n") + 1;

			if (*d != '+' && strncmp(old, d + 1, n) != 0)
				return NULL;
			if (*d != '-' && clf_buf_add(&out, d + 1, n, NULL))
				abort();
			old += *d != '+' ? n : 0;
			line += *d != '+';
		}
	}
	if (clf_buf_puts(&out, old, NULL))
		abort();
	return clf_buf_steal(&out);
}

static void random_text(char *out, size_t lines, unsigned words)
{
	*out = '\0';
	for (size_t i = 0; i < lines; i++)
		sprintf(out + strlen(out), "line %u\n", (unsigned) (rnd() % words));
}

static void test_diff(void)
{
	static char a[60000], b[60000];
	unsigned good = 0;

	for (unsigned i = 0; i < 400; i++) {
		random_text(a, rnd() % 60, 1 + rnd() % 30);
		random_text(b, rnd() % 60, 1 + rnd() % 30);
		char *diff = osm_diff("f", a, b), *back = diff ? patch(a, diff) : NULL;

		good += back && !strcmp(back, b);
		free(back);
		free(diff);
	}
	is_int(good, 400, "differences lead from the old file to the new one");
	random_text(a, 3000, 1000000);
	random_text(b, 3000, 1000000);
	char *diff = osm_diff("f", a, b), *back = diff ? patch(a, diff) : NULL;
	ok(back && !strcmp(back, b), "also when everything differs");
	free(back);
	free(diff);
	diff = osm_diff("f", "a\nb\nc\n", "a\nX\nc\n");
	is_str(diff, "--- f\n+++ f (wanted)\n@@ -1,3 +1,3 @@\n a\n-b\n+X\n c\n", "as a person reads it");
	free(diff);
}

static void test_sha256(void)
{
	static char million[1000001];
	char hex[65];

	ok(!clf_hash_sha256("", 0, hex, NULL), "hash");
	is_str(hex, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", "SHA-256 of nothing");
	ok(!clf_hash_sha256("abc", 3, hex, NULL), "hash");
	is_str(hex, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad", "of abc");
	ok(!clf_hash_sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 56, hex, NULL), "hash");
	is_str(hex, "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1", "of 56 bytes");
	memset(million, 'a', 1000000);
	ok(!clf_hash_sha256(million, 1000000, hex, NULL), "hash");
	is_str(hex, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0", "of a million");
}

static bool once(void *arg, bool failed)
{
	struct clf_net a = { .key = 0x101, .lease = "a" };
	const struct clf_net *nets[] = { &a };
	struct clf_buf x = CLF_BUF_INIT(1 << 20);
	struct clf_partitions p = { 0 };
	struct clf_error err = { 0 };
	int rc;

	(void) arg;
	rc = clf_strv_add(&a.ports, "0x0000000000000012", &err) || render(nets, 1, foreign[1].text, &x, &err) ||
	     clf_partitions_lint("x", x.data, x.len, &rules, &p, &err);
	clf_net_done(&a);
	clf_buf_done(&x);
	clf_partitions_done(&p);
	return failed ? rc && err.code == CLF_E_NOMEM : !rc;
}

/* A report decides nothing about others: a port that is there twice would make the whole file unwritable. */
static void port_twice(void)
{
	struct osm o = { 0 };
	struct clf_strv out = { 0 };
	struct clf_error err = { 0 };
	json_t *facts = json_pack("{s:[{s:s,s:s,s:s},{s:s,s:s,s:s}]}", "ib", "device", "a", "link_layer", "InfiniBand",
				  "port_guid", "0x0002c90300000001", "device", "b", "link_layer", "InfiniBand",
				  "port_guid", "0x0002C90300000001");

	ok(clf_drv_opensm.ports(&o, "n1", facts, &out, &err) && err.code == CLF_E_DENIED && !out.n,
	   "a report with a port twice makes the node ineligible: %s", err.text);
	clf_strv_done(&out);
	json_decref(facts);
}

int main(void)
{
	unsigned good = 0;

	fill();
	test_render();
	test_empty();
	test_refused_wishes();
	test_lint();
	test_foreign();
	test_whose();
	for (unsigned i = 0; i < 200; i++)
		good += round_trip();
	is_int(good, 200, "random wishes come back out of the lint");
	test_diff();
	test_sha256();
	if (oom_available())
		oom_each("render and lint", once, NULL);
	clf_guids_done(&sm);
	clf_guids_done(&known);
	clf_guids_done(&others);
	port_twice();
	return done_testing();
}
