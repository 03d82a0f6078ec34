/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ibnet_parse.c - the text of ibnetdiscover, line by line.
 *
 * Dumps come out of terminals and ticket systems, so what stands around and between records is passed over: CR, log
 * lines, headings, blanks for tabs or none at all, no blank line between records. But a line that begins as a record or
 * a link must be one: a dump that was cut is an error, never a smaller fabric. Source: ibnetdiscover(8) of
 * infiniband-diags, "topology file format"; real dumps of 2006 to 2025. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "topo/read/ibnet.h"

#define MAX_RECS (CLF_MAX_SWITCHES + 8 * CLF_MAX_NODES)

struct parse {
	struct clf_ibnet *net;
	const struct clf_text *text;
	struct clf_error *err;
	const char *line, *p, *end;
	int lineno;
	uint64_t system;
	uint32_t device;
	struct clf_ibnet_rec *cur; /* the record that link lines belong to, NULL between records */
	bool seen[CLF_IBNET_MAX_PORT + 1];
	int other_format; /* line of `ibnetdiscover -p` output, 0 = none */
};

#define WRONG(s, ...)                                                                                                  \
	clf_fail_at((s)->err, CLF_E_PARSE, (s)->text->name, (s)->lineno, (int) ((s)->p - (s)->line) + 1, __VA_ARGS__)

void clf_ibnet_done(struct clf_ibnet *net)
{
	free(net->recs);
	free(net->ports);
	free(net->by_guid);
	*net = (struct clf_ibnet){ 0 };
}

static int grow(void *array, uint32_t *cap, uint32_t n, uint32_t max, size_t size, struct parse *s)
{
	if (n >= max)
		return clf_fail_at(s->err, CLF_E_NOMEM, s->text->name, s->lineno, 1, "more than %u records or links",
				   max);
	if (n < *cap)
		return 0;

	uint32_t want = *cap ? 2 * *cap : 1024;
	void *p = realloc(*(void **) array, want * size);

	if (!p)
		return clf_fail(s->err, CLF_E_NOMEM, "out of memory");
	*(void **) array = p;
	*cap = want;
	return 0;
}

static void blanks(struct parse *s)
{
	while (s->p < s->end && isspace((unsigned char) *s->p))
		s->p++;
}

static bool is_char(struct parse *s, char c)
{
	if (s->p >= s->end || *s->p != c)
		return false;
	s->p++;
	return true;
}

static bool is_word(struct parse *s, const char *word)
{
	size_t n = strlen(word);

	if ((size_t) (s->end - s->p) < n || memcmp(s->p, word, n))
		return false;
	s->p += n;
	return true;
}

/* Digits of a base, at most 16; false when there is none. */
static bool digits(struct parse *s, int base, uint64_t *out)
{
	uint64_t v = 0;
	const char *from = s->p;

	for (; s->p < s->end && s->p - from < 16; s->p++) {
		int c = tolower((unsigned char) *s->p), d = isdigit(c)             ? c - '0'
							    : c >= 'a' && c <= 'f' ? c - 'a' + 10
										   : 16;

		if (d >= base)
			break;
		v = v * base + d;
	}
	*out = v;
	return s->p > from;
}

/* "S-0002c903007b78b0" in quotes. */
static int read_id(struct parse *s, char *kind, uint64_t *guid)
{
	const char *from = s->p;

	if (is_char(s, '"') && s->p < s->end && strchr("SHR", *s->p) && (*kind = *s->p++) && is_char(s, '-') &&
	    digits(s, 16, guid) && is_char(s, '"'))
		return 0;
	s->p = from;
	return WRONG(s, "want an id like \"S-0002c903007b78b0\"");
}

static int read_port(struct parse *s, uint8_t *port)
{
	const char *from = s->p;
	uint64_t v;

	if (is_char(s, '[') && digits(s, 10, &v) && is_char(s, ']') && v >= 1 && v <= CLF_IBNET_MAX_PORT) {
		*port = v;
		return 0;
	}
	s->p = from;
	return WRONG(s, "want a port like [1], at most %d", CLF_IBNET_MAX_PORT);
}

/* "(2c903007b78b0)" if it is there. */
static void read_guid(struct parse *s, uint64_t *guid)
{
	const char *from = s->p;
	uint64_t v;

	if (is_char(s, '(') && digits(s, 16, &v) && is_char(s, ')'))
		*guid = v;
	else
		s->p = from;
}

/* A quoted text up to the last quote of the line; descriptions may hold quotes. */
static int read_desc(struct parse *s, const char **desc, uint32_t *len)
{
	const char *last = s->p < s->end ? memrchr(s->p, '"', s->end - s->p) : NULL;

	if (s->p >= s->end || *s->p != '"' || last == s->p)
		return WRONG(s, "want a description in quotes");
	if (desc) {
		*desc = s->p + 1;
		*len = last - s->p - 1;
	}
	s->p = last + 1;
	return 0;
}

/* "4xHDR" as the last word of the line; unknown names give 0. Mbit/s a lane as marketed: 4x HDR is 200000. */
static uint32_t read_speed(const struct parse *s)
{
	static const struct {
		const char *name;
		uint32_t mbps;
	} lanes[] = { { "SDR", 2500 },  { "DDR", 5000 },  { "QDR", 10000 },  { "FDR10", 10000 }, { "FDR", 14000 },
		      { "EDR", 25000 }, { "HDR", 50000 }, { "NDR", 100000 }, { "XDR", 200000 } };
	const char *end = s->end;

	while (end > s->p && isspace((unsigned char) end[-1]))
		end--;

	const char *w = end;

	while (w > s->p && isalnum((unsigned char) w[-1]))
		w--;

	const char *x = memchr(w, 'x', end - w);
	unsigned long long width = 0;

	if (!x || !clf_parse_u64(w, x - w, &width) || width > 16)
		return 0;
	for (size_t i = 0; i < sizeof lanes / sizeof *lanes; i++)
		if (strlen(lanes[i].name) == (size_t) (end - x - 1) && !strncmp(lanes[i].name, x + 1, end - x - 1))
			return (uint32_t) width * lanes[i].mbps;
	return 0;
}

/* Link line: [3](guid) "S-guid"[1](guid) # "description" lid 19 4xFDR, or # lid 4 lmc 0 "description" lid 3 4xFDR in a
 * CA's record. */
static int read_link(struct parse *s)
{
	struct clf_ibnet *net = s->net;
	struct clf_ibnet_port port = { .line = s->lineno };
	uint64_t ext;

	if (read_port(s, &port.port))
		return -1;
	if (is_word(s, "[ext ") && (!digits(s, 10, &ext) || !is_char(s, ']')))
		return WRONG(s, "want an external port like [ext 3]");
	read_guid(s, &port.guid);
	blanks(s);
	if (read_id(s, &port.remote_kind, &port.remote) || read_port(s, &port.remote_port))
		return -1;
	if (!port.guid)
		read_guid(s, &port.guid);
	blanks(s);
	if (!is_char(s, '#'))
		return WRONG(s, "want '#' and the description of the far end");
	if (s->cur->kind != 'H') {
		blanks(s);
		if (read_desc(s, NULL, NULL))
			return -1;
	} else if (memchr(s->p, '"', s->end - s->p)) {
		s->p = memchr(s->p, '"', s->end - s->p);
		if (read_desc(s, NULL, NULL))
			return -1;
	}
	blanks(s);
	port.lid_unset = is_word(s, "lid 65535");
	port.speed_mbps = read_speed(s);
	if (s->seen[port.port]) {
		s->p = s->line;
		return WRONG(s, "port %d is there twice in this record", port.port);
	}
	s->seen[port.port] = true;
	if (grow(&net->ports, &net->cap_ports, net->nports, 2 * CLF_MAX_LINKS, sizeof *net->ports, s))
		return -1;
	net->ports[net->nports++] = port;
	s->cur->nports++;
	return 0;
}

/* Record line, after its word: 36 "S-guid" # "description" ... */
static int read_record(struct parse *s, char kind)
{
	struct clf_ibnet *net = s->net;
	struct clf_ibnet_rec rec = {
		.text = s->text, .system = s->system, .device = s->device, .line = s->lineno, .first_port = net->nports
	};
	uint64_t built;

	if (!digits(s, 10, &built))
		return WRONG(s, "want the number of ports");
	blanks(s);
	if (read_id(s, &rec.kind, &rec.guid))
		return -1;
	if (rec.kind != kind) {
		s->p = s->line;
		return WRONG(s, "record of a %s with an id that begins with '%c'",
			     kind == 'S'   ? "switch"
			     : kind == 'H' ? "CA"
					   : "router",
			     rec.kind);
	}
	blanks(s);
	if (!is_char(s, '#'))
		return WRONG(s, "want '#' and a description in quotes");
	blanks(s);
	if (read_desc(s, &rec.desc, &rec.desc_len) ||
	    grow(&net->recs, &net->cap_recs, net->nrecs, MAX_RECS, sizeof *net->recs, s))
		return -1;
	net->recs[net->nrecs] = rec;
	s->cur = &net->recs[net->nrecs++];
	memset(s->seen, 0, sizeof s->seen);
	s->system = 0;
	s->device = 0;
	return 0;
}

/* A record's word, followed by its number of ports; leaves s->p at the number. */
static char record_word(struct parse *s)
{
	static const struct {
		const char *word;
		char kind;
	} words[] = { { "Switch", 'S' }, { "Ca", 'H' }, { "Rt", 'R' } };

	for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
		s->p = s->line;
		if (!is_word(s, words[i].word))
			continue;
		blanks(s);
		if (s->p < s->end && isdigit((unsigned char) *s->p))
			return words[i].kind;
	}
	s->p = s->line;
	return 0;
}

/* vendid=, devid=, sysimgguid=, switchguid=, caguid=, rtguid=: what stands before a record. */
static bool read_attribute(struct parse *s)
{
	static const char *const names[] = { "sysimgguid=", "devid=", "vendid=", "switchguid=", "caguid=", "rtguid=" };
	uint64_t v;

	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		s->p = s->line;
		if (!is_word(s, names[i]) || !is_word(s, "0x") || !digits(s, 16, &v))
			continue;
		if (s->cur || i == 2) { /* a new record begins, with or without a blank line before it */
			s->cur = NULL;
			s->system = 0;
			s->device = 0;
		}
		if (i == 0)
			s->system = v;
		if (i == 1)
			s->device = (uint32_t) v;
		return true;
	}
	s->p = s->line;
	return false;
}

/* "CA   134  1 0x7cfe9003003b4bde 4x EDR - SW ..." of ibnetdiscover -p. */
static bool is_port_report(struct parse *s)
{
	uint64_t v;
	bool yes;

	s->p = s->line;
	yes = is_word(s, "CA ") || is_word(s, "SW ") || is_word(s, "RT ");
	blanks(s);
	yes = yes && digits(s, 10, &v);
	blanks(s);
	yes = yes && digits(s, 10, &v);
	blanks(s);
	yes = yes && is_word(s, "0x");
	s->p = s->line;
	return yes;
}

/* "[3]", then a blank, a quote, a GUID or an external port; "[4711.2] kernel" is somebody's log. At the end of the text
 * anything that could have become a link is one that was cut. */
static bool is_link(struct parse *s, bool last)
{
	uint64_t v;
	bool yes;

	s->p = s->line;
	if (!is_char(s, '['))
		return false;
	yes = digits(s, 10, &v) && is_char(s, ']');
	if (!yes && last && s->p == s->end) {
		s->p = s->line;
		return true;
	}
	if (yes) {
		blanks(s);
		yes = s->p == s->end || *s->p == '"' || *s->p == '(' || *s->p == '[';
	}
	s->p = s->line;
	return yes;
}

static int read_line(struct parse *s, bool last)
{
	char kind;

	blanks(s);
	s->line = s->p;
	if (s->p == s->end) {
		s->cur = NULL;
		return 0;
	}
	if (*s->p == '#' || read_attribute(s))
		return 0;
	kind = record_word(s);
	if (kind)
		return read_record(s, kind);
	if (is_link(s, last)) {
		if (!s->cur)
			return WRONG(s, "link outside a record, want a Switch, Ca or Rt line above it");
		return read_link(s);
	}
	if (is_port_report(s) && !s->other_format)
		s->other_format = s->lineno;
	if (!s->net->noise++)
		s->net->noise_line = s->lineno;
	return 0;
}

int clf_ibnet_parse(struct clf_ibnet *net, const struct clf_text *text, struct clf_error *err)
{
	struct parse s = { .net = net, .text = text, .err = err, .lineno = 1 };
	struct clf_lines it = clf_lines_begin(text);
	uint32_t before = net->nrecs, switches = 0;
	size_t len;

	while (clf_lines_next(&it, &s.line, &len)) {
		const char *start = s.line;

		s.p = s.line;
		s.end = s.line + len;
		s.lineno = it.line;
		if (read_line(&s, it.next >= it.end)) {
			/* columns count from the start of the line, not from its first word */
			if (err && err->column)
				err->column += (int) (s.line - start);
			return -1;
		}
	}
	for (uint32_t i = before; i < net->nrecs; i++)
		switches += net->recs[i].kind == 'S';
	if (s.other_format && net->nrecs == before)
		return clf_fail_at(
			err, CLF_E_PARSE, text->name, s.other_format, 1,
			"this is the port report of 'ibnetdiscover -p'; run ibnetdiscover without -p and import that");
	if (net->nrecs == before)
		return clf_fail_at(err, CLF_E_PARSE, text->name, s.lineno, 1,
				   "no Switch, Ca or Rt record, want the output of ibnetdiscover");
	if (!switches)
		return clf_fail_at(err, CLF_E_PARSE, text->name, net->recs[net->nrecs - 1].line, 1,
				   "no Switch record, the dump was cut or shows no fabric; this record is its last");
	return 0;
}

static int by_guid(const void *a, const void *b, void *arg)
{
	const struct clf_ibnet *net = arg;
	uint32_t x = *(const uint32_t *) a, y = *(const uint32_t *) b;

	if (net->recs[x].guid != net->recs[y].guid)
		return net->recs[x].guid < net->recs[y].guid ? -1 : 1;
	return (x > y) - (x < y);
}

struct clf_ibnet_rec *clf_ibnet_find(const struct clf_ibnet *net, uint64_t guid)
{
	uint32_t lo = 0, hi = net->nrecs;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (net->recs[net->by_guid[mid]].guid < guid)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < net->nrecs && net->recs[net->by_guid[lo]].guid == guid ? &net->recs[net->by_guid[lo]] : NULL;
}

struct clf_ibnet_port *clf_ibnet_port_of(const struct clf_ibnet *net, const struct clf_ibnet_rec *rec, uint8_t port)
{
	for (uint32_t i = rec->first_port; i < rec->first_port + rec->nports; i++)
		if (net->ports[i].port == port)
			return &net->ports[i];
	return NULL;
}

int clf_ibnet_index(struct clf_ibnet *net, struct clf_error *err)
{
	net->by_guid = malloc((net->nrecs + 1) * sizeof *net->by_guid);
	if (!net->by_guid)
		return clf_fail(err, CLF_E_NOMEM, "out of memory");
	for (uint32_t i = 0; i < net->nrecs; i++)
		net->by_guid[i] = i;
	qsort_r(net->by_guid, net->nrecs, sizeof *net->by_guid, by_guid, net);
	for (uint32_t i = 1; i < net->nrecs; i++) {
		const struct clf_ibnet_rec *a = &net->recs[net->by_guid[i - 1]], *b = &net->recs[net->by_guid[i]];

		if (a->guid == b->guid)
			return clf_fail_at(err, CLF_E_PARSE, b->text->name, b->line, 1,
					   "second record of '%c-%016llx', first on line %d of '%s'; give one dump of "
					   "a fabric once",
					   b->kind, (unsigned long long) b->guid, a->line, a->text->name);
	}
	for (uint32_t i = 0; i < net->nrecs; i++)
		for (uint32_t k = net->recs[i].first_port; k < net->recs[i].first_port + net->recs[i].nports; k++) {
			const struct clf_ibnet_port *p = &net->ports[k];
			const struct clf_ibnet_rec *far = clf_ibnet_find(net, p->remote);

			if (!far || far->kind != p->remote_kind)
				return clf_fail_at(err, CLF_E_PARSE, net->recs[i].text->name, p->line, 1,
						   "'%c-%016llx' has no record of its own: the dump is not complete",
						   p->remote_kind, (unsigned long long) p->remote);
		}
	return 0;
}
