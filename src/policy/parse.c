/* SPDX-License-Identifier: GPL-2.0-or-later */
/* parse.c - places, words, lists and numbers of a policy file. */
#include "policy/parse.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define POINTER_MAX 512

/* RFC 6901; where it does not fit, it ends early and the place is that of an object further out. */
static size_t put_pointer(const struct clf_at *at, char *buf)
{
	size_t len = at->up ? put_pointer(at->up, buf) : 0;
	char part[2 * CLF_POLICY_WORD_MAX + 2];
	size_t n = 0;

	if (!at->up)
		return len; /* the root */
	if (!at->key) {
		n = (size_t) snprintf(part, sizeof part, "%zu", at->index);
	} else {
		for (const char *k = at->key; *k && n < sizeof part - 2; k++) {
			if (*k == '~' || *k == '/') {
				part[n++] = '~';
				part[n++] = *k == '~' ? '0' : '1';
			} else {
				part[n++] = *k;
			}
		}
	}
	if (len + 1 + n >= POINTER_MAX)
		return len;
	buf[len++] = '/';
	memcpy(buf + len, part, n);
	buf[len + n] = '\0';
	return len + n;
}

int clf_parse_fail(const struct clf_parse *ctx, const struct clf_at *at, const char *fmt, ...)
{
	char pointer[POINTER_MAX] = "", text[sizeof ctx->err->text];
	va_list ap;

	put_pointer(at, pointer);
	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	return clf_json_fail(ctx->doc, pointer, ctx->err, "%s", text);
}

int clf_parse_object(const struct clf_parse *ctx, const struct clf_at *at, json_t *obj, const struct clf_json_key *keys,
		     size_t n)
{
	char pointer[POINTER_MAX] = "";

	put_pointer(at, pointer);
	return clf_json_object(ctx->doc, obj, pointer, keys, n, ctx->err);
}

static bool word_char(unsigned char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || (c && strchr("._:/-", c));
}

int clf_parse_check_word(const struct clf_parse *ctx, const struct clf_at *at, const char *s, size_t len,
			 const char *what)
{
	if (!len)
		return clf_parse_fail(ctx, at, "empty %s", what);
	if (len > CLF_POLICY_WORD_MAX)
		return clf_parse_fail(ctx, at, "%s is too long: %zu characters, at most %d", what, len,
				      CLF_POLICY_WORD_MAX);
	for (size_t i = 0; i < len; i++)
		if (!word_char((unsigned char) s[i]) || (!i && s[i] == '-'))
			return clf_parse_fail(ctx, at,
					      "%s '%s' has a character that is not allowed at position %zu: use A-Z "
					      "a-z 0-9 . _ : / -",
					      what, s, i + 1);
	return 0;
}

static int copy(const struct clf_parse *ctx, const char *s, char **out)
{
	char *p = strdup(s);

	if (!p)
		return clf_fail(ctx->err, CLF_E_NOMEM, "out of memory");
	*out = p;
	return 0;
}

static int check_string(const struct clf_parse *ctx, const struct clf_at *at, const json_t *j, const char *what)
{
	return json_is_string(j) ? 0 : clf_parse_fail(ctx, at, "%s is not a string", what);
}

int clf_parse_word(const struct clf_parse *ctx, const struct clf_at *at, const json_t *j, const char *what, char **out)
{
	if (check_string(ctx, at, j, what) ||
	    clf_parse_check_word(ctx, at, json_string_value(j), json_string_length(j), what))
		return -1;
	return copy(ctx, json_string_value(j), out);
}

/* Code points that move the cursor, hide, or turn the direction: C0, C1, zero width, bidirectional marks, line
 * separators. */
static bool unsafe_point(uint32_t c)
{
	return c < 0x20 || (c >= 0x7F && c < 0xA0) || (c >= 0x200B && c <= 0x200F) || (c >= 0x2028 && c <= 0x202E) ||
	       (c >= 0x2060 && c <= 0x206F) || c == 0xFEFF || c == 0xAD || c == 0x61C || (c >= 0xFFF0 && c <= 0xFFFB) ||
	       c >= 0xE0000;
}

/* jansson has checked the encoding. */
static uint32_t next_point(const unsigned char **p)
{
	uint32_t c = *(*p)++;
	int more = c >= 0xF0 ? 3 : c >= 0xE0 ? 2 : c >= 0xC0 ? 1 : 0;

	if (more)
		c &= 0x3Fu >> more;
	while (more--)
		c = c << 6 | (*(*p)++ & 0x3F);
	return c;
}

int clf_parse_text(const struct clf_parse *ctx, const struct clf_at *at, const json_t *j, const char *what, char **out)
{
	const unsigned char *p = (const unsigned char *) json_string_value(j);

	if (check_string(ctx, at, j, what))
		return -1;
	if (!*p)
		return clf_parse_fail(ctx, at, "empty %s", what);
	if (json_string_length(j) > CLF_POLICY_TEXT_MAX)
		return clf_parse_fail(ctx, at, "%s is too long: %zu bytes, at most %d", what, json_string_length(j),
				      CLF_POLICY_TEXT_MAX);
	while (*p) {
		uint32_t c = next_point(&p);

		if (unsafe_point(c))
			return clf_parse_fail(ctx, at, "%s has the control or invisible character U+%04X", what, c);
	}
	return copy(ctx, json_string_value(j), out);
}

static int compare(const void *a, const void *b)
{
	return strcmp(*(char *const *) a, *(char *const *) b);
}

bool clf_policy_has(const struct clf_strv *sorted, const char *word)
{
	return word && sorted->n && bsearch(&word, sorted->v, sorted->n, sizeof *sorted->v, compare);
}

int clf_parse_words(const struct clf_parse *ctx, const struct clf_at *at, const json_t *j, const char *what,
		    struct clf_strv *out)
{
	CLF_CLEANUP(clf_strmap_done) struct clf_strmap seen = { 0 };
	size_t n = json_array_size(j);

	if (!j)
		return 0;
	if (!json_is_array(j))
		return clf_parse_fail(ctx, at, "not a list of words");
	if (!n)
		return clf_parse_fail(ctx, at, "empty list: name at least one %s", what);
	if (n > CLF_POLICY_MAX_LIST)
		return clf_parse_fail(ctx, at, "%zu words in one list, at most %d", n, CLF_POLICY_MAX_LIST);
	for (size_t i = 0; i < n; i++) {
		const json_t *e = json_array_get(j, i);
		const struct clf_at *here = CLF_AT_INDEX(at, i);
		const char *s = json_string_value(e);
		uint32_t first;

		if (check_string(ctx, here, e, what) || clf_parse_check_word(ctx, here, s, json_string_length(e), what))
			return -1;
		if (clf_strmap_find(&seen, s, &first))
			return clf_parse_fail(ctx, here, "%s '%s' is in the list twice", what, s);
		if (clf_strmap_add(&seen, s, (uint32_t) i, ctx->err) || clf_strv_add(out, s, ctx->err))
			return -1;
	}
	qsort(out->v, out->n, sizeof *out->v, compare);
	return 0;
}

int clf_parse_check_account(const struct clf_parse *ctx, const struct clf_at *at, const char *account)
{
	if (account[strcspn(account, "ABCDEFGHIJKLMNOPQRSTUVWXYZ")])
		return clf_parse_fail(ctx, at, "account '%s' has capitals: Slurm keeps accounts in lower case",
				      account);
	return 0;
}

int clf_parse_accounts(const struct clf_parse *ctx, const struct clf_at *at, const json_t *j, struct clf_strv *out)
{
	size_t i;
	json_t *e;

	json_array_foreach((json_t *) j, i,
			   e) if (json_is_string(e) &&
				  clf_parse_check_account(ctx, CLF_AT_INDEX(at, i), json_string_value(e))) return -1;
	return clf_parse_words(ctx, at, j, "account", out);
}

int clf_parse_users(const struct clf_parse *ctx, const struct clf_at *at, const json_t *j, struct clf_strv *out)
{
	size_t i;
	json_t *e;

	json_array_foreach((json_t *) j, i, e)
	{
		const char *s = json_string_value(e);

		if (s && *s && strspn(s, "0123456789") == strlen(s))
			return clf_parse_fail(ctx, CLF_AT_INDEX(at, i),
					      "user '%.20s' is a number: give the user's name", s);
	}
	return clf_parse_words(ctx, at, j, "user", out);
}

int clf_parse_u32(const struct clf_parse *ctx, const struct clf_at *at, const json_t *j, uint32_t min, uint32_t max,
		  uint32_t *out)
{
	json_int_t v = json_integer_value(j);

	if (!json_is_integer(j))
		return clf_parse_fail(ctx, at, "not a whole number");
	if (v < (json_int_t) min || v > (json_int_t) max)
		return clf_parse_fail(ctx, at, "%lld is out of range: %u to %u", (long long) v, min, max);
	*out = (uint32_t) v;
	return 0;
}

int clf_parse_class_name(const struct clf_parse *ctx, const struct clf_at *at, const char *s, size_t len,
			 uint32_t *level)
{
	const struct clf_strv *levels = &ctx->policy->levels;
	const char *near;

	if (clf_parse_check_word(ctx, at, s, len, "class"))
		return -1;
	if (clf_strmap_find(&ctx->policy->level_of, s, level))
		return 0;
	near = clf_suggest(s, (const char *const *) levels->v, levels->n);
	if (near)
		return clf_parse_fail(ctx, at, "unknown class '%s'; did you mean '%s'?", s, near);
	return clf_parse_fail(ctx, at, "unknown class '%s': not in classes.levels", s);
}

int clf_parse_class(const struct clf_parse *ctx, const struct clf_at *at, const json_t *j, uint32_t *level)
{
	if (check_string(ctx, at, j, "class"))
		return -1;
	return clf_parse_class_name(ctx, at, json_string_value(j), json_string_length(j), level);
}

int clf_parse_id(const struct clf_parse *ctx, const struct clf_at *at, const json_t *j, const char *what,
		 struct clf_strmap *seen, uint32_t index, char **out)
{
	uint32_t first;

	if (clf_parse_word(ctx, at, j, what, out))
		return -1;
	if (clf_strmap_find(seen, *out, &first))
		return clf_parse_fail(ctx, at, "duplicate %s '%s': also number %u of the list", what, *out, first + 1);
	return clf_strmap_add(seen, *out, index, ctx->err);
}
