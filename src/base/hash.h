/* SPDX-License-Identifier: GPL-2.0-or-later */
/* hash.h - SHA-256. A library of its own (libclf_hash): libclf_base runs inside slurmctld and links no libcrypto.
 * Errors: CLF_E_INTERNAL when libcrypto has no SHA-256, CLF_E_NOMEM. Source: FIPS 180-4. */
#ifndef CLF_BASE_HASH_H
#define CLF_BASE_HASH_H

#include <stddef.h>

#include "base/err.h"

#define CLF_SHA256_HEX 65 /* 64 lower-case digits and the end */

CLF_MUST_USE int clf_hash_sha256(const void *data, size_t len, char hex[CLF_SHA256_HEX], struct clf_error *err);

#endif
