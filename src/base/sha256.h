/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sha256.h - SHA-256 for "is this file the one that was written", where libcrypto is not linked. Not for secrets.
 * Source: FIPS 180-4, section 6.2. Pure. */
#ifndef CLF_BASE_SHA256_H
#define CLF_BASE_SHA256_H

#include <stddef.h>

/* 64 lower-case digits and the end. */
void clf_sha256_hex(const void *data, size_t len, char hex[65]);

#endif
