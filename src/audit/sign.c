/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "audit/sign.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/lex.h"
#include "base/path.h"

#define PEM_MAX   4096
#define BODY_MAX  (90u << 10) /* one environment entry holds 128 KiB */
#define TOKEN_MAX (128u << 10)
#define SIG_LEN   64

struct clf_sign_key {
	EVP_PKEY *pkey;
};

static int broken(struct clf_error *err)
{
	return clf_fail(err, CLF_E_INTERNAL, "libcrypto cannot do Ed25519");
}

void clf_sign_key_destroy(struct clf_sign_key *k)
{
	if (!k)
		return;
	EVP_PKEY_free(k->pkey);
	free(k);
}

/* pkey is stolen. */
static int wrap(EVP_PKEY *pkey, const char *name, struct clf_sign_key **out, struct clf_error *err)
{
	struct clf_sign_key *k;

	if (!pkey || EVP_PKEY_get_id(pkey) != EVP_PKEY_ED25519) {
		EVP_PKEY_free(pkey);
		return clf_fail(err, CLF_E_PARSE, "%s is no Ed25519 key in PEM", name);
	}
	k = calloc(1, sizeof *k);
	if (!k) {
		EVP_PKEY_free(pkey);
		return clf_fail(err, CLF_E_NOMEM, "out of memory");
	}
	k->pkey = pkey;
	*out = k;
	return 0;
}

/* Text of a key, written whole or not at all. */
static int write_pem(EVP_PKEY *pkey, bool private, const char *path, struct clf_error *err)
{
	BIO *b = BIO_new(BIO_s_mem());
	char *data = NULL;
	long len;
	int rc;

	if (!b ||
	    !(private ? PEM_write_bio_PrivateKey(b, pkey, NULL, NULL, 0, NULL, NULL) : PEM_write_bio_PUBKEY(b, pkey))) {
		BIO_free(b);
		return broken(err);
	}
	len = BIO_get_mem_data(b, &data);
	rc = clf_path_write_atomic(path, private ? 0600 : 0644, data, (size_t) len, err);
	if (private)
		memset(data, 0, (size_t) len);
	BIO_free(b);
	return rc;
}

static int make(const char *path, const char *public_path, struct clf_error *err)
{
	EVP_PKEY *pkey = EVP_PKEY_Q_keygen(NULL, NULL, "ED25519");
	int rc;

	if (!pkey)
		return broken(err);
	/* the public half first: a private one without it would never be told to nodes */
	rc = write_pem(pkey, false, public_path, err) || write_pem(pkey, true, path, err) ? -1 : 0;
	EVP_PKEY_free(pkey);
	return rc;
}

int clf_sign_key_open(const char *path, const char *public_path, struct clf_sign_key **out, struct clf_error *err)
{
	struct clf_text t = { 0 };
	struct clf_error why = { 0 };
	BIO *b;
	int rc;

	if (clf_text_load(path, PEM_MAX, &t, &why)) {
		if (why.code != CLF_E_NOTFOUND)
			return clf_fail(err, why.code, "key of leases: %s", why.text);
		if (make(path, public_path, err) || clf_text_load(path, PEM_MAX, &t, err))
			return -1;
	}
	b = BIO_new_mem_buf(t.data, (int) t.len);
	rc = b ? wrap(PEM_read_bio_PrivateKey(b, NULL, NULL, NULL), path, out, err) : broken(err);
	BIO_free(b);
	memset(t.data, 0, t.len);
	clf_text_done(&t);
	return rc;
}

int clf_sign_key_public(const char *pem, size_t len, struct clf_sign_key **out, struct clf_error *err)
{
	BIO *b = len <= PEM_MAX ? BIO_new_mem_buf(pem, (int) len) : NULL;
	int rc = b ? wrap(PEM_read_bio_PUBKEY(b, NULL, NULL, NULL), "public key", out, err) : broken(err);

	BIO_free(b);
	return rc;
}

/* ---- base64url */

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

static size_t encode(const unsigned char *in, size_t len, char *out)
{
	size_t n = 0;
	uint32_t v = 0;
	int bits = 0;

	for (size_t i = 0; i < len; i++) {
		v = v << 8 | in[i];
		for (bits += 8; bits >= 6; bits -= 6)
			out[n++] = digits[v >> (bits - 6) & 63];
	}
	if (bits)
		out[n++] = digits[v << (6 - bits) & 63];
	return n;
}

/* Bytes, or SIZE_MAX when the text is not what encode() makes. */
static size_t decode(const char *in, size_t len, unsigned char *out)
{
	size_t n = 0;
	uint32_t v = 0;
	int bits = 0;

	if (len % 4 == 1)
		return SIZE_MAX;
	for (size_t i = 0; i < len; i++) {
		const char *d = in[i] ? strchr(digits, in[i]) : NULL;

		if (!d)
			return SIZE_MAX;
		v = v << 6 | (uint32_t) (d - digits);
		bits += 6;
		if (bits >= 8) {
			bits -= 8;
			out[n++] = (unsigned char) (v >> bits);
		}
	}
	return v & ((1u << bits) - 1) ? SIZE_MAX : n;
}

/* ---- tokens */

static int sign(EVP_PKEY *pkey, const char *body, size_t len, unsigned char sig[SIG_LEN], struct clf_error *err)
{
	EVP_MD_CTX *c = EVP_MD_CTX_new();
	size_t n = SIG_LEN;
	bool good = c && EVP_DigestSignInit(c, NULL, NULL, NULL, pkey) == 1 &&
		    EVP_DigestSign(c, sig, &n, (const unsigned char *) body, len) == 1 && n == SIG_LEN;

	EVP_MD_CTX_free(c);
	return good ? 0 : broken(err);
}

int clf_sign_token(const struct clf_sign_key *k, const char *body, char **token, struct clf_error *err)
{
	unsigned char sig[SIG_LEN];
	size_t len = strlen(body), n;
	char *t;

	if (len > BODY_MAX)
		return clf_fail(err, CLF_E_INVALID, "too long to be signed");
	if (sign(k->pkey, body, len, sig, err))
		return -1;
	t = malloc((len + SIG_LEN) / 3 * 4 + 16);
	if (!t)
		return clf_fail(err, CLF_E_NOMEM, "out of memory");
	n = encode((const unsigned char *) body, len, t);
	t[n++] = '.';
	n += encode(sig, SIG_LEN, t + n);
	t[n] = '\0';
	*token = t;
	return 0;
}

static bool verify(EVP_PKEY *pkey, const unsigned char *body, size_t len, const unsigned char sig[SIG_LEN])
{
	EVP_MD_CTX *c = EVP_MD_CTX_new();
	bool good = c && EVP_DigestVerifyInit(c, NULL, NULL, NULL, pkey) == 1 &&
		    EVP_DigestVerify(c, sig, SIG_LEN, body, len) == 1;

	EVP_MD_CTX_free(c);
	return good;
}

int clf_sign_check(const struct clf_sign_key *k, const char *token, char **body, struct clf_error *err)
{
	const char *dot = strchr(token, '.');
	size_t len = strlen(token), n;
	unsigned char sig[SIG_LEN + 4];
	CLF_AUTO_FREE unsigned char *b = NULL;

	if (!dot || len > TOKEN_MAX || strlen(dot + 1) > (SIG_LEN + 2) / 3 * 4)
		return clf_fail(err, CLF_E_PARSE, "no signed lease");
	b = malloc(len + 1);
	if (!b)
		return clf_fail(err, CLF_E_NOMEM, "out of memory");
	n = decode(token, (size_t) (dot - token), b);
	if (n == SIZE_MAX || decode(dot + 1, strlen(dot + 1), sig) != SIG_LEN || memchr(b, 0, n))
		return clf_fail(err, CLF_E_PARSE, "no signed lease");
	if (!verify(k->pkey, b, n, sig))
		return clf_fail(err, CLF_E_DENIED, "the signature is not that of this cluster's key");
	b[n] = '\0';
	*body = (char *) CLF_STEAL(b);
	return 0;
}
