/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sign.h - Ed25519 keys, signatures, and what a node can check without asking anybody: the signed lease.
 *
 * Key files: PEM, private PKCS#8 (mode 0600), public SubjectPublicKeyInfo, as `openssl pkey` reads them.
 * Token: base64url(body) "." base64url(signature over the body's bytes), without padding.
 * Errors: CLF_E_IO, CLF_E_PARSE (no such key, no token), CLF_E_DENIED (the signature is not that of the key),
 * CLF_E_INTERNAL. Memory: create/destroy; results owned. Source: RFC 8032, RFC 4648 section 5.
 */
#ifndef CLF_AUDIT_SIGN_H
#define CLF_AUDIT_SIGN_H

#include <stddef.h>

#include "base/cleanup.h"
#include "base/err.h"

struct clf_sign_key;
/* The private key of a file; made, with its public half beside it, when there is none. */
CLF_MUST_USE int clf_sign_key_open(const char *path, const char *public_path, struct clf_sign_key **out,
				   struct clf_error *err);
CLF_MUST_USE int clf_sign_key_public(const char *pem, size_t len, struct clf_sign_key **out, struct clf_error *err);
void clf_sign_key_destroy(struct clf_sign_key *k);
CLF_DEFINE_CLEANUP(struct clf_sign_key, clf_sign_key_destroy)

CLF_MUST_USE int clf_sign_token(const struct clf_sign_key *k, const char *body, char **token, struct clf_error *err);
CLF_MUST_USE int clf_sign_check(const struct clf_sign_key *k, const char *token, char **body, struct clf_error *err);

#endif
