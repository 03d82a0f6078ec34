/* SPDX-License-Identifier: GPL-2.0-or-later */
/* builtin.h - ids of the rules that every policy has, whatever its file says. A policy may not use them for its own
 * rules. What each means, and what the user reads: docs/formats/policy.md. To add one: a line here, a case in
 * tests/policy/decide/. */
#ifndef CLF_POLICY_BUILTIN_H
#define CLF_POLICY_BUILTIN_H

/* clang-format off */
#define CLF_BUILTIN_RULES(X)                       \
	X(DEFAULT, "default")                      \
	X(NO_POLICY, "no-policy")                  \
	X(JOB_INVALID, "job-invalid")              \
	X(CLASS_UNKNOWN, "class-unknown")          \
	X(LABEL_REQUIRED, "label-required")        \
	X(ACCOUNT_UNKNOWN, "account-unknown")      \
	X(USER_UNKNOWN, "user-unknown")            \
	X(PARTITION_UNKNOWN, "partition-unknown")  \
	X(GRANT_MISSING, "grant-missing")          \
	X(GRANT_UNKNOWN, "grant-unknown")          \
	X(GRANT_USER, "grant-user")                \
	X(GRANT_SCOPE, "grant-scope")              \
	X(GRANT_REVOKED, "grant-revoked")          \
	X(GRANT_NOT_YET, "grant-not-yet")          \
	X(GRANT_EXPIRED, "grant-expired")          \
	X(ZONE_EMPTY, "zone-empty")                \
	X(ZONE_SIZE, "zone-size")                  \
	X(ZONE_NODES, "zone-nodes")                \
	X(ZONE_EXCLUDED, "zone-excluded")
/* clang-format on */

enum clf_builtin {
#define CLF_BUILTIN_ENUM(name, id) CLF_RULE_##name,
	CLF_BUILTIN_RULES(CLF_BUILTIN_ENUM)
#undef CLF_BUILTIN_ENUM
		CLF_N_BUILTIN
};

const char *clf_builtin_id(enum clf_builtin rule); /* "grant-missing" */

#endif
