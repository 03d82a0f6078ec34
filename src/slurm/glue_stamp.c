/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "slurm/glue_stamp.h"

#include <stdio.h>
#include <string.h>

#include "slurm/glue_mem.h"

#define SPANK "SPANK_"
#define OURS  "CLOSFOLD_"

static const char *bare(const char *entry)
{
	while (!strncmp(entry, SPANK, sizeof(SPANK) - 1))
		entry += sizeof(SPANK) - 1;
	return entry;
}

static bool is_named(const char *entry, const char *name)
{
	size_t len = strlen(name);

	entry = bare(entry);
	return !strncmp(entry, name, len) && (entry[len] == '=' || !entry[len]);
}

const char *clf_env_get(char *const *env, uint32_t n, const char *name)
{
	for (uint32_t i = 0; i < n; i++)
		if (env[i] && is_named(env[i], name)) {
			const char *eq = strchr(env[i], '=');

			return eq && eq[1] ? eq + 1 : NULL;
		}
	return NULL;
}

static uint32_t drop(char **env, uint32_t *n, bool (*match)(const char *entry, const char *name), const char *name)
{
	uint32_t kept = 0, dropped = 0;

	for (uint32_t i = 0; i < *n; i++)
		if (env[i] && match(env[i], name)) {
			clf_slurm_free(&env[i]);
			dropped++;
		} else {
			env[kept++] = env[i];
		}
	for (uint32_t i = kept; i < *n; i++)
		env[i] = NULL;
	*n = kept;
	return dropped;
}

static bool is_ours(const char *entry, const char *name)
{
	return !strncmp(bare(entry), name, strlen(name));
}

uint32_t clf_env_strip(char **env, uint32_t *n)
{
	return drop(env, n, is_ours, OURS);
}

uint32_t clf_env_remove(char **env, uint32_t *n, const char *name)
{
	return drop(env, n, is_named, name);
}

void clf_env_add(char ***env, uint32_t *n, const char *prefix, const char *name, const char *value)
{
	clf_slurm_env_grow(env, *n + 1);
	(*env)[(*n)++] = clf_slurm_printf("%s%s=%s", prefix, name, value);
}

static void copy(char *to, size_t size, const char *from, size_t len)
{
	if (len >= size)
		len = 0; /* nothing of ours is that long */
	memcpy(to, from, len);
	to[len] = '\0';
}

static void copy_env(char *to, size_t size, char *const *env, uint32_t n, const char *name)
{
	const char *v = clf_env_get(env, n, name);

	copy(to, size, v ? v : "", v ? strlen(v) : 0);
}

uint32_t clf_comment_ours(const char *comment)
{
	const char *end;

	if (!comment || strncmp(comment, "closfold decision=", 18))
		return 0;
	end = strstr(comment, "; ");
	return (uint32_t) (end ? (size_t) (end - comment) : strlen(comment));
}

/* A word " key=value" of our part; *len is its length. */
static const char *word(const char *comment, const char *key, size_t *len)
{
	const char *end = comment + clf_comment_ours(comment);
	size_t klen = strlen(key);

	for (const char *p = comment; (p = memchr(p, ' ', (size_t) (end - p))) != NULL; p++)
		if ((size_t) (end - p) > klen + 2 && !strncmp(p + 1, key, klen) && p[1 + klen] == '=') {
			const char *v = p + klen + 2;
			const char *stop = memchr(v, ' ', (size_t) (end - v));

			*len = (size_t) ((stop ? stop : end) - v);
			return v;
		}
	*len = 0;
	return NULL;
}

static bool word_is(const char *comment, const char *key, const char *value)
{
	size_t len;
	const char *w = word(comment, key, &len);

	return w && len == strlen(value) && !strncmp(w, value, len);
}

struct clf_stamp clf_stamp_read(char *const *env, uint32_t n, const char *admin_comment)
{
	struct clf_stamp s = { 0 };
	const char *flagged = clf_env_get(env, n, CLF_STAMP_FLAGGED);

	copy_env(s.decision, sizeof(s.decision), env, n, CLF_STAMP_DECISION);
	copy_env(s.cls, sizeof(s.cls), env, n, CLF_STAMP_CLASS);
	copy_env(s.grant, sizeof(s.grant), env, n, CLF_STAMP_GRANT);
	copy_env(s.zone, sizeof(s.zone), env, n, CLF_STAMP_ZONE);
	s.flagged = flagged && !strcmp(flagged, "1");
	s.present = s.decision[0] && s.cls[0];
	s.authentic = s.present && clf_comment_ours(admin_comment) && word_is(admin_comment, "decision", s.decision) &&
		      word_is(admin_comment, "class", s.cls);
	return s;
}

char *clf_comment_make(const struct clf_comment *c, const char *old)
{
	uint32_t ours = clf_comment_ours(old);
	const char *rest = old ? old + ours : "";

	if (!strncmp(rest, "; ", 2))
		rest += 2;
	return clf_slurm_printf("closfold decision=%s class=%s grant=%s rule=%s%s%s%s%s%s%s", c->decision, c->cls,
				c->grant ? c->grant : "-", c->rule ? c->rule : "-", c->lease ? " lease=" : "",
				c->lease ? c->lease : "", c->note ? " note=" : "", c->note ? c->note : "",
				*rest ? "; " : "", rest);
}

char *clf_comment_note(const char *old, const char *lease, const char *note)
{
	static const char *const keys[] = { "decision", "class", "grant", "rule" };
	char words[4][129];
	char safe[512] = "";
	struct clf_comment c;

	for (int i = 0; i < 4; i++) {
		size_t len = 0;
		const char *w = clf_comment_ours(old) ? word(old, keys[i], &len) : NULL;

		copy(words[i], sizeof(words[i]), w ? w : "none", w ? len : 4);
	}
	if (note) {
		snprintf(safe, sizeof(safe), "%s", note);
		for (char *p = safe; *p; p++)
			if (*p == ';' || *p == '\n' || *p == '=')
				*p = ',';
	}
	c = (struct clf_comment){ words[0], words[1], words[2], words[3], lease, note ? safe : NULL };
	return clf_comment_make(&c, old);
}
