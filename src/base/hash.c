/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/hash.h"

#include <openssl/evp.h>
#include <pthread.h>

/* Fetched once: fetching on every call costs as much as hashing a record. */
static EVP_MD *md;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void fetch(void)
{
	md = EVP_MD_fetch(NULL, "SHA256", NULL);
}

int clf_hash_sha256(const void *data, size_t len, char hex[CLF_SHA256_HEX], struct clf_error *err)
{
	unsigned char d[32];

	pthread_once(&once, fetch);
	if (!md)
		return clf_fail(err, CLF_E_INTERNAL, "libcrypto cannot compute SHA-256");
	/* only memory can be missing */
	if (EVP_Digest(data, len, d, NULL, md, NULL) != 1)
		return clf_fail(err, CLF_E_NOMEM, "out of memory");
	for (int i = 0; i < 32; i++) {
		hex[2 * i] = "0123456789abcdef"[d[i] >> 4];
		hex[2 * i + 1] = "0123456789abcdef"[d[i] & 15];
	}
	hex[64] = '\0';
	return 0;
}
