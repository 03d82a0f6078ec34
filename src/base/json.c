/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/json.h"

#include "base/buf.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* A cursor over JSON text. The text may be anything: every step checks the end, nothing recurses. */
struct scan {
	const char *p, *end;
};

static void skip_space(struct scan *s)
{
	while (s->p < s->end && (*s->p == ' ' || *s->p == '\t' || *s->p == '\n' || *s->p == '\r'))
		s->p++;
}

static bool skip_char(struct scan *s, char c)
{
	skip_space(s);
	if (s->p == s->end || *s->p != c)
		return false;
	s->p++;
	return true;
}

static bool skip_string(struct scan *s)
{
	if (!skip_char(s, '"'))
		return false;
	while (s->p < s->end && *s->p != '"')
		s->p += *s->p == '\\' && s->end - s->p > 1 ? 2 : 1;
	return skip_char(s, '"');
}

/* Past one value, whatever it contains. */
static bool skip_value(struct scan *s)
{
	size_t depth = 0;

	do {
		skip_space(s);
		if (s->p == s->end)
			return false;
		switch (*s->p) {
		case '"':
			if (!skip_string(s))
				return false;
			break;
		case '{':
		case '[':
			depth++;
			s->p++;
			break;
		case '}':
		case ']':
			if (depth == 0)
				return false;
			depth--;
			s->p++;
			break;
		default:
			s->p++;
			/* A number or word runs up to what can end it; ',' and ':' inside a container stand alone. */
			while (s->p < s->end && !strchr(" \t\r\n,:]}\"[{", *s->p))
				s->p++;
		}
	} while (depth > 0);
	return true;
}

static int hex4(const char *p, const char *end)
{
	unsigned long long v;

	return end - p >= 4 && clf_parse_hex64(p, 4, &v) ? (int) v : -1;
}

static size_t put_utf8(char out[4], unsigned cp)
{
	if (cp < 0x80) {
		out[0] = (char) cp;
		return 1;
	}
	if (cp < 0x800) {
		out[0] = (char) (0xc0 | cp >> 6);
		out[1] = (char) (0x80 | (cp & 0x3f));
		return 2;
	}
	if (cp < 0x10000) {
		out[0] = (char) (0xe0 | cp >> 12);
		out[1] = (char) (0x80 | (cp >> 6 & 0x3f));
		out[2] = (char) (0x80 | (cp & 0x3f));
		return 3;
	}
	out[0] = (char) (0xf0 | cp >> 18);
	out[1] = (char) (0x80 | (cp >> 12 & 0x3f));
	out[2] = (char) (0x80 | (cp >> 6 & 0x3f));
	out[3] = (char) (0x80 | (cp & 0x3f));
	return 4;
}

/* The next character of a JSON string as UTF-8; 0 for a broken escape. */
static size_t next_char(struct scan *s, char out[4])
{
	static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
	const char *simple;
	int hi, lo;

	if (*s->p != '\\') {
		out[0] = *s->p++;
		return 1;
	}
	if (++s->p == s->end)
		return 0;
	if (*s->p != 'u') {
		simple = *s->p ? strchr(from, *s->p) : NULL;
		if (!simple)
			return 0;
		s->p++;
		out[0] = to[simple - from];
		return 1;
	}
	hi = hex4(s->p + 1, s->end);
	if (hi < 0)
		return 0;
	s->p += 5;
	if (hi >= 0xd800 && hi < 0xdc00 && s->end - s->p >= 6 && s->p[0] == '\\' && s->p[1] == 'u') {
		lo = hex4(s->p + 2, s->end);
		if (lo >= 0xdc00 && lo < 0xe000) {
			s->p += 6;
			return put_utf8(out, 0x10000 + ((unsigned) (hi - 0xd800) << 10) + (unsigned) (lo - 0xdc00));
		}
	}
	return put_utf8(out, (unsigned) hi);
}

/* Does the JSON string at s mean the pointer token? Moves s past the string. *bad: the string is broken. */
static bool string_is(struct scan *s, const char *token, size_t len, bool *bad)
{
	struct scan string = *s;
	const char *t = token, *end = token + len;
	bool same = true;

	*bad = !skip_string(s);
	if (*bad)
		return false;
	skip_char(&string, '"');
	string.end = s->p - 1;
	while (same && string.p < string.end) {
		char c[4];
		size_t n = next_char(&string, c);

		same = n > 0;
		for (size_t i = 0; same && i < n; i++) {
			char want = t < end ? *t : '\0';

			same = t < end;
			if (same && want == '~' && t + 1 < end) {
				want = t[1] == '1' ? '/' : '~';
				t++;
			}
			t++;
			same = same && want == c[i];
		}
	}
	return same && t == end;
}

static bool find_key(struct scan *s, const char *token, size_t len, const char **key)
{
	s->p++;
	for (;;) {
		bool bad, same;

		skip_space(s);
		*key = s->p;
		same = string_is(s, token, len, &bad);
		if (bad || !skip_char(s, ':'))
			return false;
		skip_space(s);
		if (same)
			return true;
		if (!skip_value(s) || !skip_char(s, ','))
			return false;
	}
}

static bool find_index(struct scan *s, const char *token, size_t len)
{
	unsigned long long index;

	if (!clf_parse_u64(token, len, &index))
		return false;
	s->p++;
	while (index-- > 0)
		if (!skip_value(s) || !skip_char(s, ','))
			return false;
	skip_space(s);
	return s->p < s->end && *s->p != ']';
}

/* The value at an RFC 6901 pointer; *key is the key in front of it when its last step was into an object. */
static const char *find(const char *text, size_t len, const char *pointer, size_t pointer_len, const char **key)
{
	const char *t = pointer, *end = pointer + pointer_len;
	struct scan s = { text, text + len };

	*key = NULL;
	skip_space(&s);
	while (t < end) {
		const char *token = t + 1, *slash;
		bool found;

		if (*t != '/' || s.p == s.end)
			return NULL;
		slash = memchr(token, '/', end - token);
		t = slash ? slash : end;
		*key = NULL;
		if (*s.p == '{')
			found = find_key(&s, token, t - token, key);
		else
			found = *s.p == '[' && find_index(&s, token, t - token);
		if (!found)
			return NULL;
	}
	return s.p < s.end ? s.p : NULL;
}

static void place_of(const char *text, const char *at, int *line, int *column)
{
	const char *start = text;

	*line = 1;
	for (const char *nl; (nl = memchr(start, '\n', at - start)); start = nl + 1)
		++*line;
	*column = (int) (at - start) + 1;
}

bool clf_json_position(const char *text, size_t len, const char *pointer, int *line, int *column)
{
	const char *key, *at = find(text, len, pointer, strlen(pointer), &key);

	if (!at)
		return false;
	place_of(text, at, line, column);
	return true;
}

static int fail_at_value(const struct clf_json_doc *doc, const char *pointer, bool at_key, struct clf_error *err,
			 const char *message)
{
	const char *key = NULL, *at = NULL;
	size_t len = strlen(pointer);
	int line = 0, column = 0;

	if (!doc || !doc->text.data)
		return clf_fail(err, CLF_E_PARSE, "%s", message);
	for (bool whole = true;; whole = false) {
		at = find(doc->text.data, doc->text.len, pointer, len, &key);
		if (at && at_key && whole && key)
			at = key;
		if (at || len == 0)
			break;
		while (len > 0 && pointer[--len] != '/')
			;
	}
	if (at)
		place_of(doc->text.data, at, &line, &column);
	return clf_fail_at(err, CLF_E_PARSE, doc->text.name, line, column, "%s", message);
}

int clf_json_fail(const struct clf_json_doc *doc, const char *pointer, struct clf_error *err, const char *fmt, ...)
{
	char message[sizeof(err->text)];
	va_list ap;

	va_start(ap, fmt);
	if (vsnprintf(message, sizeof(message), fmt, ap) < 0)
		message[0] = '\0';
	va_end(ap);
	return fail_at_value(doc, pointer, false, err, message);
}

/* jansson recurses once a level, and closes what it opened by recursion too: refuse depth before it sees the text. */
static int check_depth(const struct clf_text *t, struct clf_error *err)
{
	struct scan s = { t->data, t->data + t->len };
	size_t depth = 0;
	int line, column;

	for (; s.p < s.end; s.p++) {
		if (*s.p == '"') {
			if (!skip_string(&s))
				return 0; /* jansson says it better */
			s.p--;
		} else if (*s.p == '{' || *s.p == '[') {
			if (++depth > CLF_JSON_DEPTH) {
				place_of(t->data, s.p, &line, &column);
				return clf_fail_at(err, CLF_E_PARSE, t->name, line, column,
						   "JSON nested deeper than %d levels", CLF_JSON_DEPTH);
			}
		} else if ((*s.p == '}' || *s.p == ']') && depth > 0) {
			depth--;
		}
	}
	return 0;
}

/* jansson reports where it stopped reading; a reader wants the start of the word it stopped at. */
static const char *token_start(const char *text, const char *at)
{
	const char *p = at;

	if (p > text && p[-1] == '"') {
		for (p--; p > text;) {
			size_t slashes = 0;

			p--;
			while (p - slashes > text && p[-1 - (ptrdiff_t) slashes] == '\\')
				slashes++;
			if (*p == '"' && slashes % 2 == 0)
				return p;
		}
		return at;
	}
	while (p > text && (unsigned char) p[-1] > ' ' && !strchr(",:[]{}\"", p[-1]))
		p--;
	if (p == at && p > text)
		p--;
	return p;
}

static int fail_jansson(const struct clf_text *t, const json_error_t *e, struct clf_error *err)
{
	const char *at = t->data;
	int line, column;

	/* where its own memory ends inside a value it says nothing, or that the syntax is wrong */
	if (json_error_code(e) == json_error_out_of_memory || !e->text[0])
		return clf_fail(err, CLF_E_NOMEM, "out of memory");
	if (e->position > 0 && (size_t) e->position <= t->len) {
		at += e->position;
		if (json_error_code(e) != json_error_premature_end_of_input)
			at = token_start(t->data, at);
	}
	place_of(t->data, at, &line, &column);
	return clf_fail_at(err, CLF_E_PARSE, t->name, line, column, "not valid JSON: %s", e->text);
}

/* Bytes of all strings and keys: as jansson has them, and as the text says. */
static size_t tree_bytes(const json_t *j)
{
	size_t n = json_string_length(j), i;
	const char *key;
	json_t *v;

	json_object_foreach((json_t *) j, key, v) n += strlen(key) + tree_bytes(v);
	json_array_foreach((json_t *) j, i, v) n += tree_bytes(v);
	return n;
}

static size_t text_bytes(const struct clf_text *t)
{
	struct scan s = { t->data, t->data + t->len };
	size_t n = 0;

	while ((s.p = memchr(s.p, '"', (size_t) (s.end - s.p)))) {
		char c[4];

		for (s.p++; s.p < s.end && *s.p != '"';)
			n += next_char(&s, c);
		if (s.p == s.end)
			break;
		s.p++;
	}
	return n;
}

int clf_json_load_text(struct clf_text *text, struct clf_json_doc *out, struct clf_error *err)
{
	struct clf_json_doc doc = { .text = *text };
	json_error_t e = { 0 };

	*text = (struct clf_text){ 0 };
	if (check_depth(&doc.text, err)) {
		clf_json_doc_done(&doc);
		return -1;
	}
	doc.root = json_loadb(doc.text.data, doc.text.len, JSON_REJECT_DUPLICATES, &e);
	if (!doc.root) {
		fail_jansson(&doc.text, &e, err);
		clf_json_doc_done(&doc);
		return -1;
	}
	/* jansson 2.14 drops a character without a word where the buffer of a long string cannot grow */
	if (tree_bytes(doc.root) != text_bytes(&doc.text)) {
		clf_json_doc_done(&doc);
		return clf_fail(err, CLF_E_NOMEM, "out of memory");
	}
	*out = doc;
	return 0;
}

int clf_json_load_file(const char *path, size_t max_bytes, struct clf_json_doc *out, struct clf_error *err)
{
	struct clf_text text;

	if (clf_text_load(path, max_bytes, &text, err))
		return -1;
	return clf_json_load_text(&text, out, err);
}

void clf_json_doc_done(struct clf_json_doc *doc)
{
	json_decref(doc->root);
	clf_text_done(&doc->text);
	doc->root = NULL;
}

static const char *type_name(json_type type)
{
	switch (type) {
	case JSON_OBJECT:
		return "an object";
	case JSON_ARRAY:
		return "an array";
	case JSON_STRING:
		return "a string";
	case JSON_INTEGER:
		return "an integer";
	case JSON_REAL:
		return "a number";
	case JSON_TRUE:
	case JSON_FALSE:
		return "true or false";
	case JSON_NULL:
		return "null";
	}
	return "unknown";
}

static bool type_fits(json_type want, const json_t *v)
{
	switch (want) {
	case JSON_NULL:
		return true;
	case JSON_TRUE:
	case JSON_FALSE:
		return json_is_boolean(v);
	case JSON_REAL:
		return json_is_number(v);
	default:
		return json_typeof(v) == want;
	}
}

/* pointer "/" key, with '~' and '/' of the key escaped. Owned; NULL when memory ends. */
static char *child_pointer(const char *pointer, const char *key)
{
	struct clf_buf b = CLF_BUF_INIT(strlen(pointer) + 2 * strlen(key) + 1);
	int rc = clf_buf_puts(&b, pointer, NULL) || clf_buf_puts(&b, "/", NULL);

	for (; !rc && *key; key++)
		rc = *key == '~'   ? clf_buf_puts(&b, "~0", NULL)
		     : *key == '/' ? clf_buf_puts(&b, "~1", NULL)
				   : clf_buf_add(&b, key, 1, NULL);
	if (rc)
		clf_buf_done(&b);
	return rc ? NULL : clf_buf_steal(&b);
}

static int fail_key(const struct clf_json_doc *doc, const char *pointer, const char *key, bool at_key,
		    struct clf_error *err, const char *message)
{
	CLF_AUTO_FREE char *child = child_pointer(pointer, key);

	return fail_at_value(doc, child ? child : pointer, at_key, err, message);
}

static int fail_unknown(const struct clf_json_doc *doc, const char *pointer, const char *key,
			const struct clf_json_key *keys, size_t n, struct clf_error *err)
{
	char message[sizeof(err->text)];
	const char *best = NULL, *names[64];
	size_t count = n < 64 ? n : 64;

	for (size_t i = 0; i < count; i++)
		names[i] = keys[i].name;
	best = clf_suggest(key, names, count);
	if (best)
		snprintf(message, sizeof(message), "unknown key '%.64s'; did you mean '%s'?", key, best);
	else
		snprintf(message, sizeof(message), "unknown key '%.64s'", key);
	return fail_key(doc, pointer, key, true, err, message);
}

int clf_json_object(const struct clf_json_doc *doc, json_t *obj, const char *pointer, const struct clf_json_key *keys,
		    size_t n, struct clf_error *err)
{
	char message[sizeof(err->text)];
	const char *name;
	json_t *value;

	if (!json_is_object(obj)) {
		snprintf(message, sizeof(message), "an object expected, not %s",
			 obj ? type_name(json_typeof(obj)) : "nothing");
		return fail_at_value(doc, pointer, false, err, message);
	}
	json_object_foreach(obj, name, value)
	{
		size_t i = 0;

		while (i < n && strcmp(keys[i].name, name) != 0)
			i++;
		if (i == n)
			return fail_unknown(doc, pointer, name, keys, n, err);
		if (!type_fits(keys[i].type, value)) {
			snprintf(message, sizeof(message), "key '%s' must be %s, not %s", name, type_name(keys[i].type),
				 type_name(json_typeof(value)));
			return fail_key(doc, pointer, name, false, err, message);
		}
	}
	for (size_t i = 0; i < n; i++)
		if (keys[i].required && !json_object_get(obj, keys[i].name)) {
			snprintf(message, sizeof(message), "key '%s' is missing", keys[i].name);
			return fail_at_value(doc, pointer, false, err, message);
		}
	for (size_t i = 0; i < n; i++)
		if (keys[i].out)
			*keys[i].out = json_object_get(obj, keys[i].name);
	return 0;
}

/* Edit distance with neighbours swapped counting as one; words longer than 63 are far from everything. */
static int distance(const char *a, const char *b)
{
	size_t la = strlen(a), lb = strlen(b);
	int d[3][64];

	if (la > 63 || lb > 63)
		return 64;
	for (size_t j = 0; j <= lb; j++)
		d[0][j] = (int) j;
	for (size_t i = 1; i <= la; i++) {
		int *row = d[i % 3], *up = d[(i + 2) % 3], *up2 = d[(i + 1) % 3];

		row[0] = (int) i;
		for (size_t j = 1; j <= lb; j++) {
			int best = up[j - 1] + (a[i - 1] != b[j - 1]);

			if (up[j] + 1 < best)
				best = up[j] + 1;
			if (row[j - 1] + 1 < best)
				best = row[j - 1] + 1;
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && up2[j - 2] + 1 < best)
				best = up2[j - 2] + 1;
			row[j] = best;
		}
	}
	return d[la % 3][lb];
}

const char *clf_suggest(const char *word, const char *const *list, size_t n)
{
	/* Two letters off in a word of three is another word. */
	int limit = strlen(word) < 4 ? 1 : 2;
	const char *best = NULL;

	for (size_t i = 0; i < n; i++) {
		int d = distance(word, list[i]);

		if (d <= limit) {
			best = list[i];
			limit = d - 1;
		}
	}
	return best;
}

/* Not json_dumps(): where its buffer cannot grow for a key, it drops the key and goes on: what it gives is no JSON. */
char *clf_json_canonical(const json_t *j)
{
	const size_t flags = JSON_COMPACT | JSON_SORT_KEYS | JSON_ENCODE_ANY;
	size_t size = 2048, n;

	for (;;) {
		CLF_AUTO_FREE char *buf = malloc(size);

		n = buf ? json_dumpb(j, buf, size - 1, flags) : 0;
		if (!n)
			return NULL;
		if (n < size) {
			buf[n] = '\0';
			return CLF_STEAL(buf);
		}
		size = n + 1;
	}
}
