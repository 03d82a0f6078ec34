/* SPDX-License-Identifier: GPL-2.0-or-later */
/* auth_munge.h - a payload as a munge credential, and back: who made it, and that nobody has seen or used it before.
 *
 * Form:   encrypted (AES-256) and signed (SHA-256), good for CLF_AUTH_TTL_S seconds and for one decode at each munged.
 *         A credential that was encoded without encryption is refused.
 * Time:   as long as munged takes; libmunge gives up on one that hangs after some tens of seconds. Not for a loop.
 * Errors: CLF_E_REMOTE munged cannot be reached or failed; CLF_E_CONFLICT replayed; CLF_E_TIMEOUT expired, or made in
 * the future (clocks differ); CLF_E_DENIED bad: forged, of another key, not encrypted; CLF_E_INVALID over the cap.
 * Memory: *cred and *payload are owned; payload has a NUL behind its len bytes.
 * Source: munge(3), munge_ctx(3). The only user of libmunge.
 */
#ifndef CLF_WIRE_AUTH_MUNGE_H
#define CLF_WIRE_AUTH_MUNGE_H

#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"

#define CLF_AUTH_TTL_S       60
#define CLF_AUTH_PAYLOAD_MAX (512u << 10) /* its credential fits a frame and munged's own cap of 1 MiB */

struct clf_auth_who {
	uid_t uid;
	gid_t gid;
	uint32_t addr4; /* of the encoder's munged, network order; 0 = unknown */
};
/* socket "": munged's default. */
CLF_MUST_USE int clf_auth_encode(const char *socket, const void *payload, size_t len, char **cred,
				 struct clf_error *err);
CLF_MUST_USE int clf_auth_decode(const char *socket, const char *cred, char **payload, size_t *len,
				 struct clf_auth_who *who, struct clf_error *err);

#endif
