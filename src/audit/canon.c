/* SPDX-License-Identifier: GPL-2.0-or-later */
/* canon.c - a scanner for one canonical record. It knows four objects by name: the record, metadata, unmapped.closfold
 * and unmapped.closfold.producer. */
#include "audit/canon.h"

#include <string.h>

#include "base/json.h"

enum place { IN_OTHER, IN_RECORD, IN_METADATA, IN_UNMAPPED, IN_CLOSFOLD, IN_PRODUCER };

struct scan {
	const char *text;
	const unsigned char *p, *end;
	int depth;
	struct clf_canon *out;
	struct clf_error *err;
};

static int bad(struct scan *s, const char *what)
{
	return clf_fail_at(s->err, CLF_E_PARSE, "record", 1, (int) ((const char *) s->p - s->text) + 1, "%s", what);
}

size_t clf_canon_char(const unsigned char *p, const unsigned char *end)
{
	if (p == end || p[0] < 0x20 || p[0] == 0x7F)
		return 0;
	if (p[0] < 0x80)
		return 1;

	size_t n = p[0] >= 0xC2 && p[0] <= 0xDF ? 2 : (p[0] & 0xF0) == 0xE0 ? 3 : p[0] >= 0xF0 && p[0] <= 0xF4 ? 4 : 0;

	if (!n || (size_t) (end - p) < n)
		return 0;
	for (size_t i = 1; i < n; i++)
		if ((p[i] & 0xC0) != 0x80)
			return 0;
	if ((p[0] == 0xE0 && p[1] < 0xA0) || (p[0] == 0xED && p[1] > 0x9F) || (p[0] == 0xF0 && p[1] < 0x90) ||
	    (p[0] == 0xF4 && p[1] > 0x8F))
		return 0;
	return n;
}

static int string(struct scan *s, struct clf_span *out)
{
	if (s->p == s->end || *s->p != '"')
		return bad(s, "want a string");

	const unsigned char *start = ++s->p;

	for (;;) {
		while (s->p < s->end && *s->p >= 0x20 && *s->p < 0x7F && *s->p != '"' && *s->p != '\\')
			s->p++;
		if (s->p == s->end)
			return bad(s, "string does not end");
		if (*s->p == '"')
			break;
		if (*s->p == '\\') {
			if (s->end - s->p < 2 || (s->p[1] != '"' && s->p[1] != '\\'))
				return bad(s, "escape is not canonical");
			s->p += 2;
			continue;
		}

		size_t n = clf_canon_char(s->p, s->end);

		if (!n)
			return bad(s, "control character or bad UTF-8 in a string");
		s->p += n;
	}
	*out = (struct clf_span){ (const char *) start, (size_t) (s->p - start) };
	s->p++;
	return 0;
}

static int integer(struct scan *s, int64_t *out)
{
	bool neg = *s->p == '-';
	const unsigned char *digits = s->p += neg;
	int64_t v = 0;

	while (s->p < s->end && *s->p >= '0' && *s->p <= '9') {
		v = v * 10 + (*s->p++ - '0');
		if (v > CLF_CANON_INT_MAX)
			return bad(s, "integer of 2^53 or more");
	}
	if (s->p == digits || (*digits == '0' && (s->p - digits > 1 || neg)))
		return bad(s, "want an integer without leading zeros");
	if (s->p < s->end && (*s->p == '.' || *s->p == 'e' || *s->p == 'E'))
		return bad(s, "numbers are integers here");
	*out = neg ? -v : v;
	return 0;
}

static bool is(struct clf_span k, const char *name)
{
	return k.len == strlen(name) && !memcmp(k.p, name, k.len);
}

static int key_cmp(struct clf_span a, struct clf_span b)
{
	int c = memcmp(a.p, b.p, a.len < b.len ? a.len : b.len);

	return c ? c : (a.len > b.len) - (a.len < b.len);
}

static bool after(struct clf_span k, const char *name)
{
	return key_cmp(k, (struct clf_span){ name, strlen(name) }) > 0;
}

static enum place place_below(enum place in, struct clf_span key)
{
	if (in == IN_RECORD)
		return is(key, "metadata") ? IN_METADATA : is(key, "unmapped") ? IN_UNMAPPED : IN_OTHER;
	if (in == IN_UNMAPPED)
		return is(key, "closfold") ? IN_CLOSFOLD : IN_OTHER;
	if (in == IN_CLOSFOLD)
		return is(key, "producer") ? IN_PRODUCER : IN_OTHER;
	return IN_OTHER;
}

/* The place a wanted string or number goes to; NULL when nobody asks for this member. */
static struct clf_span *string_member(struct clf_canon *o, enum place in, struct clf_span k)
{
	if (in == IN_METADATA)
		return is(k, "uid")        ? &o->uid
		       : is(k, "version")  ? &o->version
		       : is(k, "log_name") ? &o->log_name
					   : NULL;
	if (in == IN_CLOSFOLD)
		return is(k, "event") ? &o->event : is(k, "schema") ? &o->schema : is(k, "prev") ? &o->prev : NULL;
	if (in == IN_PRODUCER)
		return is(k, "name") ? &o->producer : is(k, "boot_id") ? &o->boot_id : is(k, "run") ? &o->run : NULL;
	return NULL;
}

static int64_t *int_member(struct clf_canon *o, enum place in, struct clf_span k)
{
	if (in == IN_METADATA)
		return is(k, "sequence") ? &o->sequence : is(k, "logged_time") ? &o->logged_time : NULL;
	if (in == IN_PRODUCER)
		return is(k, "seq") ? &o->producer_seq : NULL;
	return in == IN_RECORD && is(k, "time") ? &o->time : NULL;
}

static void note_splice(struct scan *s, enum place in, struct clf_span k)
{
	struct clf_canon *o = s->out;
	size_t at = (size_t) (k.p - 1 - s->text); /* never 0: the record's own brace is there */

	if (in == IN_METADATA && !o->at_logged && after(k, "log_name"))
		o->at_logged = at;
	if (in == IN_METADATA && !o->at_sequence && after(k, "sequence"))
		o->at_sequence = at;
	if (in == IN_CLOSFOLD && !o->at_prev && after(k, "prev"))
		o->at_prev = at;
}

static int value(struct scan *s, enum place below, enum place in, struct clf_span key);

static int object(struct scan *s, enum place in)
{
	struct clf_span last = { 0 };

	if (s->p < s->end && *s->p == '}') {
		s->p++;
		return 0;
	}
	for (;;) {
		struct clf_span key;

		if (string(s, &key))
			return -1;
		for (size_t i = 0; i < key.len; i++)
			if (key.p[i] == '\\' || (unsigned char) key.p[i] >= 0x80)
				return bad(s, "key is not plain ASCII");
		if (last.p && key_cmp(last, key) >= 0)
			return bad(s, "keys are not in rising order");
		last = key;
		note_splice(s, in, key);
		if (s->p == s->end || *s->p++ != ':')
			return bad(s, "want ':' after a key");
		if (value(s, place_below(in, key), in, key))
			return -1;
		if (s->p == s->end)
			return bad(s, "object does not end");
		if (*s->p == '}') {
			s->p++;
			return 0;
		}
		if (*s->p++ != ',')
			return bad(s, "want ',' or '}'");
	}
}

static int array(struct scan *s)
{
	if (s->p < s->end && *s->p == ']') {
		s->p++;
		return 0;
	}
	for (;;) {
		if (value(s, IN_OTHER, IN_OTHER, (struct clf_span){ "", 0 }))
			return -1;
		if (s->p == s->end)
			return bad(s, "array does not end");
		if (*s->p == ']') {
			s->p++;
			return 0;
		}
		if (*s->p++ != ',')
			return bad(s, "want ',' or ']'");
	}
}

static bool literal(struct scan *s, const char *word)
{
	size_t n = strlen(word);

	if ((size_t) (s->end - s->p) < n || memcmp(s->p, word, n) != 0)
		return false;
	s->p += n;
	return true;
}

static int value(struct scan *s, enum place below, enum place in, struct clf_span key)
{
	struct clf_span str = { 0 }, *sm = string_member(s->out, in, key);
	int64_t v = 0, *im = int_member(s->out, in, key);
	int rc;

	if (s->p == s->end)
		return bad(s, "want a value");
	if (sm && *s->p != '"')
		return bad(s, "want a string here");
	if (im && (*s->p < '0' || *s->p > '9'))
		return bad(s, "want a number here");
	switch (*s->p) {
	case '"':
		if (string(s, &str))
			return -1;
		if (sm)
			*sm = str;
		return 0;
	case '{':
	case '[':
		if (++s->depth > CLF_JSON_DEPTH)
			return bad(s, "nested too deep");
		rc = *s->p++ == '{' ? object(s, below) : array(s);
		s->depth--;
		return rc;
	case 't':
		return literal(s, "true") ? 0 : bad(s, "want a value");
	case 'f':
		return literal(s, "false") ? 0 : bad(s, "want a value");
	case 'n':
		return literal(s, "null") ? 0 : bad(s, "want a value");
	default:
		if (integer(s, &v))
			return -1;
		if (im)
			*im = v;
		return 0;
	}
}

int clf_canon_scan(const char *text, size_t len, struct clf_canon *out, struct clf_error *err)
{
	struct clf_canon c = { .producer_seq = -1, .time = -1, .sequence = -1, .logged_time = -1 };
	struct scan s = { .text = text,
			  .p = (const unsigned char *) text,
			  .end = (const unsigned char *) text + len,
			  .out = &c,
			  .err = err };

	if (!len || *text != '{')
		return bad(&s, "want an object");
	if (value(&s, IN_RECORD, IN_OTHER, (struct clf_span){ "", 0 }))
		return -1;
	if (s.p != s.end)
		return bad(&s, "bytes after the object");
	if (!c.event.p || !c.schema.p || !is(c.schema, "closfold-event/1") || !c.uid.p || !c.version.p ||
	    !c.producer.p || !c.boot_id.p || !c.run.p || c.producer_seq < 0 || c.time < 0)
		return bad(&s, "a member that every record has is missing");
	if (!c.at_logged || !c.at_sequence || !c.at_prev)
		return bad(&s, "metadata or unmapped.closfold is not whole");
	*out = c;
	return 0;
}
