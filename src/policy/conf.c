/* SPDX-License-Identifier: GPL-2.0-or-later */
/* conf.c - closfold.conf by its table of keys. */
#include "policy/conf.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/lex.h"

#define CONF_MAX_BYTES (64u << 10)
#define VALUE_MAX      1024
#define OUR_PROGRAMS   "LIBEXECDIR/closfold" /* as documents say it */

enum type { T_WORD, T_WORD_OR_NONE, T_WORDS, T_ADDRESS, T_PATH, T_PATH_OR_NONE, T_CHOICE, T_NUMBER };

static const struct key {
	const char *name;
	enum type type;
	size_t offset;
	const char *preset;     /* as the file would say it */
	const char *choices[3]; /* T_CHOICE; the value of a bool is "is it the first" */
	uint32_t min, max;      /* T_NUMBER */
} keys[] = {
#define FIELD(f) offsetof(struct clf_conf, f)
	{ .name = "cluster", T_WORD, FIELD(cluster), "cluster" },
	{ .name = "policy", T_PATH, FIELD(policy), "/etc/closfold/policy.json" },
	{ .name = "topology", T_PATH_OR_NONE, FIELD(topology), "/etc/closfold/topology.json" },
	{ .name = "state_dir", T_PATH, FIELD(state_dir), "/var/lib/closfold" },
	{ .name = "runtime_dir", T_PATH, FIELD(runtime_dir), "/run/closfold" },
	{ .name = "fabrics", T_PATH_OR_NONE, FIELD(fabrics), "" },
	{ .name = "slurm_query", T_PATH, FIELD(slurm_query), "LIBEXECDIR/closfold/closfold-slurm" },
	{ .name = "node_check", T_PATH, FIELD(node_check), "LIBEXECDIR/closfold/closfold-node" },
	{ .name = "lease_public_key", T_PATH, FIELD(lease_key), "/etc/closfold/lease.pub" },
	{ .name = "slurm_conf", T_PATH_OR_NONE, FIELD(slurm_conf), "" },
	{ .name = "slurm_user", T_WORD, FIELD(slurm_user), "slurm" },
	{ .name = "on_error", T_CHOICE, FIELD(reject_on_error), "reject", { "reject", "accept" } },
	{ .name = "submit_timeout_ms", T_NUMBER, FIELD(submit_timeout_ms), "50", .min = 1, .max = 50 },
	{ .name = "start_timeout_ms", T_NUMBER, FIELD(start_timeout_ms), "30000", .min = 100, .max = 600000 },
	{ .name = "start_failures", T_NUMBER, FIELD(start_failures), "3", .min = 1, .max = 100 },
	{ .name = "reconcile_s", T_NUMBER, FIELD(reconcile_s), "60", .min = 1, .max = 86400 },
	{ .name = "lease_grace_s", T_NUMBER, FIELD(lease_grace_s), "120", .min = 1, .max = 86400 },
	{ .name = "listen", T_ADDRESS, FIELD(listen), "" },
	{ .name = "munge_socket", T_PATH_OR_NONE, FIELD(munge_socket), "" },
	{ .name = "controller", T_ADDRESS, FIELD(controller), "" },
	{ .name = "node_name", T_WORD_OR_NONE, FIELD(node_name), "" },
	{ .name = "sysfs", T_PATH, FIELD(sysfs), "/sys" },
	{ .name = "lldp_socket", T_PATH_OR_NONE, FIELD(lldp_socket), "" },
	{ .name = "probe_nics", T_WORDS, FIELD(probe_nics), "" },
#undef FIELD
};
#define NKEYS (sizeof keys / sizeof *keys)

bool clf_conf_key_get(size_t i, struct clf_conf_key_info *out)
{
	static const char *const types[] = { "word", "word or empty", "words or empty", "address or empty",
					     "path", "path or empty", "choice",         "number" };
	static char ranges[NKEYS][32];

	if (i >= NKEYS)
		return false;
	if (keys[i].type == T_NUMBER)
		snprintf(ranges[i], sizeof ranges[i], "%u to %u", keys[i].min, keys[i].max);
	else if (keys[i].type == T_CHOICE)
		snprintf(ranges[i], sizeof ranges[i], "%s%s%s", keys[i].choices[0], keys[i].choices[1] ? ", " : "",
			 keys[i].choices[1] ? keys[i].choices[1] : "");
	*out = (struct clf_conf_key_info){ keys[i].name, types[keys[i].type], ranges[i], keys[i].preset };
	return true;
}

/* Where in the file: for messages. */
struct place {
	const char *name;
	int line, column;
};

static int bad(const struct place *at, struct clf_error *err, const char *fmt, ...) CLF_PRINTF(3, 4);
static int bad(const struct place *at, struct clf_error *err, const char *fmt, ...)
{
	char text[300];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	return clf_fail_at(err, CLF_E_PARSE, at->name, at->line, at->column, "%s", text);
}

static int set_string(struct clf_conf *c, const struct key *k, const char *value, struct clf_error *err)
{
	char **field = (char **) ((char *) c + k->offset);
	char *copy = strdup(value);

	if (!copy)
		return clf_fail(err, CLF_E_NOMEM, "out of memory");
	free(*field);
	*field = copy;
	return 0;
}

static int set_choice(struct clf_conf *c, const struct key *k, const char *value, const struct place *at,
		      struct clf_error *err)
{
	const char *near = clf_suggest(value, k->choices, k->choices[1] ? 2 : 1);

	if (strcmp(value, k->choices[0]) && (!k->choices[1] || strcmp(value, k->choices[1]))) {
		if (near)
			return bad(at, err, "bad value '%s' for '%s'; did you mean '%s'?", value, k->name, near);
		return bad(at, err, "bad value '%s' for '%s': use %s%s%s", value, k->name, k->choices[0],
			   k->choices[1] ? " or " : "", k->choices[1] ? k->choices[1] : "");
	}
	if (!k->choices[1])
		return set_string(c, k, value, err);
	*(bool *) ((char *) c + k->offset) = !strcmp(value, k->choices[0]);
	return 0;
}

static int set_number(struct clf_conf *c, const struct key *k, const char *value, const struct place *at,
		      struct clf_error *err)
{
	unsigned long long v;

	if (!clf_parse_u64(value, strlen(value), &v))
		return bad(at, err, "bad value '%s' for '%s': not a whole number", value, k->name);
	if (v < k->min || v > k->max)
		return bad(at, err, "bad value '%s' for '%s': %u to %u", value, k->name, k->min, k->max);
	*(uint32_t *) ((char *) c + k->offset) = (uint32_t) v;
	return 0;
}

#define WORD_CHARS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-"
static const char *const word_chars = WORD_CHARS;

/* HOST:PORT or [ADDR]:PORT; what it stands for is found out where it is used. */
static bool address_valid(const char *value)
{
	const char *colon = strrchr(value, ':');
	size_t host = colon ? (size_t) (colon - value) : 0;
	unsigned long long port;

	if (!host || host > 255 || !clf_parse_u64(colon + 1, strlen(colon + 1), &port) || port > 65535)
		return false;
	if (value[0] == '[')
		return host > 2 && value[host - 1] == ']' && strspn(value + 1, "0123456789abcdefABCDEF:.") == host - 2;
	return strspn(value, word_chars) == host;
}

static int set(struct clf_conf *c, const struct key *k, const char *value, const struct place *at,
	       struct clf_error *err)
{
	switch (k->type) {
	case T_CHOICE:
		return set_choice(c, k, value, at, err);
	case T_NUMBER:
		return set_number(c, k, value, at, err);
	case T_ADDRESS:
		if (*value && !address_valid(value))
			return bad(at, err, "bad value '%s' for '%s': HOST:PORT, IPv6 as [ADDR]:PORT", value, k->name);
		break;
	case T_WORDS:
		if (value[strspn(value, WORD_CHARS " ")])
			return bad(at, err, "bad value '%s' for '%s': words of A-Z a-z 0-9 . _ -, with blanks between",
				   value, k->name);
		break;
	case T_WORD_OR_NONE:
		if (!*value)
			break;
		/* fall through */
	case T_WORD:
		if (!*value || value[strspn(value, word_chars)] || strlen(value) > 64)
			return bad(at, err,
				   "bad value '%s' for '%s': a word of A-Z a-z 0-9 . _ -, at most 64 characters", value,
				   k->name);
		break;
	case T_PATH_OR_NONE:
	case T_PATH:
		if ((*value || k->type == T_PATH) && *value != '/')
			return bad(at, err, "bad value '%s' for '%s': a path that begins with '/'", value, k->name);
		break;
	}
	return set_string(c, k, value, err);
}

/* Presets are trusted text; one of them names an installation directory. */
static int set_presets(struct clf_conf *c, struct clf_error *err)
{
	const struct place nowhere = { "preset", 0, 0 };

	for (size_t i = 0; i < NKEYS; i++) {
		const char *value = keys[i].preset;
		char program[PATH_MAX];

		if (!strncmp(value, OUR_PROGRAMS, strlen(OUR_PROGRAMS))) {
			snprintf(program, sizeof program, "%s%s", CLF_PKGLIBEXECDIR, value + strlen(OUR_PROGRAMS));
			value = program;
		}
		if (set(c, &keys[i], value, &nowhere, err))
			return -1;
	}
	return 0;
}

struct clf_conf *clf_conf_default(struct clf_error *err)
{
	CLF_CLEANUP(clf_conf_destroyp) struct clf_conf *c = calloc(1, sizeof *c);

	if (!c)
		clf_fail(err, CLF_E_NOMEM, "out of memory");
	else if (!set_presets(c, err))
		return CLF_STEAL(c);
	return NULL;
}

void clf_conf_destroy(struct clf_conf *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < NKEYS; i++)
		if (keys[i].type <= T_PATH_OR_NONE || (keys[i].type == T_CHOICE && !keys[i].choices[1]))
			free(*(char **) ((char *) c + keys[i].offset));
	free(c);
}

static bool blank(char ch)
{
	return ch == ' ' || ch == '\t';
}

/* The line without its comment ('#' first or after a blank) and blanks around. Returns the offset of what is left. */
static size_t strip(const char *line, size_t *len)
{
	size_t from = 0, to = 0;

	while (to < *len && !(line[to] == '#' && (!to || blank(line[to - 1]))))
		to++;
	while (to && blank(line[to - 1]))
		to--;
	while (from < to && blank(line[from]))
		from++;
	*len = to - from;
	return from;
}

static const struct key *find_key(const char *name, const struct place *at, struct clf_error *err)
{
	const char *names[NKEYS], *near;

	for (size_t i = 0; i < NKEYS; i++) {
		if (!strcmp(name, keys[i].name))
			return &keys[i];
		names[i] = keys[i].name;
	}
	near = clf_suggest(name, names, NKEYS);
	if (near)
		bad(at, err, "unknown key '%s'; did you mean '%s'?", name, near);
	else
		bad(at, err, "unknown key '%.64s'", name);
	return NULL;
}

static int read_pair(struct clf_conf *c, char *text, struct place *at, int *seen, struct clf_error *err)
{
	char *eq = strchr(text, '='), *name_end = eq, *value;
	const struct key *k;

	for (const char *p = text; *p; p++)
		if ((unsigned char) *p < 0x20 && *p != '\t') {
			at->column += (int) (p - text);
			return bad(at, err, "control character 0x%02X", (unsigned char) *p);
		}
	if (!eq)
		return bad(at, err, "no '=' in the line: write 'key = value'");
	while (name_end > text && blank(name_end[-1]))
		name_end--;
	for (value = eq + 1; blank(*value); value++)
		;
	*name_end = '\0';
	k = find_key(text, at, err);
	if (!k)
		return -1;
	if (seen[k - keys])
		return bad(at, err, "key '%s' was given in line %d already", k->name, seen[k - keys]);
	seen[k - keys] = at->line;
	at->column += (int) (value - text);
	if (*value == '"' || *value == '\'')
		return bad(at, err, "quotes are not needed: write the value bare, to the end of the line");
	return set(c, k, value, at, err);
}

int clf_conf_load(const char *path, struct clf_conf **out, struct clf_error *err)
{
	CLF_CLEANUP(clf_conf_destroyp) struct clf_conf *c = clf_conf_default(err);
	CLF_CLEANUP(clf_text_done) struct clf_text text = { 0 };
	int seen[NKEYS] = { 0 };
	struct clf_lines it;
	const char *line;
	size_t len;

	if (!c || clf_text_load(path, CONF_MAX_BYTES, &text, err))
		return -1;
	it = clf_lines_begin(&text);
	while (clf_lines_next(&it, &line, &len)) {
		char pair[VALUE_MAX];
		size_t from = strip(line, &len);
		struct place at = { text.name, it.line, (int) from + 1 };

		if (!len)
			continue;
		if (len >= sizeof pair)
			return bad(&at, err, "line is too long: %zu characters, at most %d", len, VALUE_MAX - 1);
		memcpy(pair, line + from, len);
		pair[len] = '\0';
		if (read_pair(c, pair, &at, seen, err))
			return -1;
	}
	*out = CLF_STEAL(c);
	return 0;
}
