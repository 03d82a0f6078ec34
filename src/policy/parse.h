/* SPDX-License-Identifier: GPL-2.0-or-later */
/* parse.h - what the readers of the policy's sections share; private to src/policy.
 *
 * A value's place in the file is a chain of struct clf_at on the stack; the JSON pointer and from it line and column
 * are made only when something is wrong. Every reader: 0, or -1 with err filled (CLF_E_PARSE at the value). Memory:
 * what goes into ctx->policy is owned by it at once, so clf_policy_destroy() frees a half-read policy.
 */
#ifndef CLF_POLICY_PARSE_H
#define CLF_POLICY_PARSE_H

#include "policy/policy.h"

struct clf_at {
	const struct clf_at *up;
	const char *key; /* NULL: index */
	size_t index;
};
#define CLF_AT_KEY(up_, key_) (&(const struct clf_at){ .up = (up_), .key = (key_) })
#define CLF_AT_INDEX(up_, i_) (&(const struct clf_at){ .up = (up_), .index = (i_) })

struct clf_parse {
	const struct clf_json_doc *doc;
	struct clf_policy *policy;
	struct clf_error *err;
};

int clf_parse_fail(const struct clf_parse *ctx, const struct clf_at *at, const char *fmt, ...) CLF_PRINTF(3, 4);
int clf_parse_object(const struct clf_parse *ctx, const struct clf_at *at, json_t *obj, const struct clf_json_key *keys,
		     size_t n);

/* Is s a word of the policy: 1..CLF_POLICY_WORD_MAX characters of [A-Za-z0-9._:/-], not '-' first. `what` is its name
 * in messages. */
int clf_parse_check_word(const struct clf_parse *ctx, const struct clf_at *at, const char *s, size_t len,
			 const char *what);
/* Copied to *out. */
int clf_parse_word(const struct clf_parse *ctx, const struct clf_at *at, const json_t *j, const char *what, char **out);
/* Text for people: valid UTF-8, 1..CLF_POLICY_TEXT_MAX bytes, nothing that moves the cursor or turns the reading
 * direction. */
int clf_parse_text(const struct clf_parse *ctx, const struct clf_at *at, const json_t *j, const char *what, char **out);
/* Array of words, j NULL = absent (leaves out empty); an empty array, or a word twice, is refused. Sorted by strcmp. */
int clf_parse_words(const struct clf_parse *ctx, const struct clf_at *at, const json_t *j, const char *what,
		    struct clf_strv *out);
/* The same; accounts, so capitals are refused: Slurm puts accounts into lower case, and so does clf_decide(). */
int clf_parse_accounts(const struct clf_parse *ctx, const struct clf_at *at, const json_t *j, struct clf_strv *out);
int clf_parse_check_account(const struct clf_parse *ctx, const struct clf_at *at, const char *account);
/* The same; user names, so a number is refused: a uid is no name. */
int clf_parse_users(const struct clf_parse *ctx, const struct clf_at *at, const json_t *j, struct clf_strv *out);
int clf_parse_u32(const struct clf_parse *ctx, const struct clf_at *at, const json_t *j, uint32_t min, uint32_t max,
		  uint32_t *out);
/* A class of policy.levels by name. */
int clf_parse_class_name(const struct clf_parse *ctx, const struct clf_at *at, const char *s, size_t len,
			 uint32_t *level);
int clf_parse_class(const struct clf_parse *ctx, const struct clf_at *at, const json_t *j, uint32_t *level);
/* id of a rule or grant: a word not yet in seen, where it is put with its index. */
int clf_parse_id(const struct clf_parse *ctx, const struct clf_at *at, const json_t *j, const char *what,
		 struct clf_strmap *seen, uint32_t index, char **out);

/* Sections, in the order they are read. */
int clf_parse_classes(const struct clf_parse *ctx, const struct clf_at *at, json_t *j);
int clf_parse_zones(const struct clf_parse *ctx, const struct clf_at *at, json_t *j);
int clf_parse_floors(const struct clf_parse *ctx, const struct clf_at *at, json_t *j);
int clf_parse_terms(const struct clf_parse *ctx, const struct clf_at *at, json_t *j);
int clf_parse_rules(const struct clf_parse *ctx, const struct clf_at *at, json_t *j);
int clf_parse_grants(const struct clf_parse *ctx, const struct clf_at *at, json_t *j);

void clf_policy_zone_done(struct clf_policy_zone *z);
void clf_policy_terms_done(struct clf_policy_terms *t);
void clf_policy_rule_done(struct clf_policy_rule *r);
void clf_policy_grant_done(struct clf_policy_grant *g);

#endif
