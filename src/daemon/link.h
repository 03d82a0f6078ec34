/* SPDX-License-Identifier: GPL-2.0-or-later */
/* link.h - one connection between closfoldd and a node daemon: messages in, messages out, each a munge credential.
 *
 * Format: docs/formats/node-wire.md. A message is taken only from uid 0 or our own user, from the other side, of this
 * session, and with a higher number than the one before. munged is asked by the helper: what clf_link_ready() and
 * _send() begin comes back as a job with this link's id, and clf_link_done() goes on with it. Errors: CLF_E_REMOTE
 * connection or munged lost; CLF_E_DENIED, _CONFLICT, _TIMEOUT of a credential; CLF_E_PARSE and CLF_E_INSECURE of a
 * message; after any of them the link must be closed. Memory: init/close on the caller's storage; env outlives it.
 */
#ifndef CLF_DAEMON_LINK_H
#define CLF_DAEMON_LINK_H

#include "base/json.h"
#include "daemon/helper.h"
#include "wire/auth_munge.h"
#include "wire/tcp_frame.h"

#define CLF_LINK_SESSION   32             /* hex digits */
#define CLF_LINK_STRANGER  (64u << 10)    /* cap of a frame before the other side is known */
#define CLF_LINK_DECODING  8u             /* frames at the helper; more are not read */
#define CLF_LINK_ENCODING  256u           /* messages at the helper; more are CLF_E_EXHAUSTED */
#define CLF_LINK_MUNGED_MS INT64_C(10000) /* a frame that waited longer for munged is lost */

enum clf_link_side { CLF_LINK_CONTROLLER, CLF_LINK_NODE };

struct clf_link_env {
	int epoll;
	struct clf_helper *helper;
	const char *munge_socket;
	enum clf_link_side side; /* ours */
};
struct clf_link {
	const struct clf_link_env *env;
	int fd; /* -1 = closed */
	uint64_t id;
	struct clf_frames frames;
	uint32_t events; /* as epoll has them */
	uint64_t seq_in, seq_out;
	char session[CLF_LINK_SESSION + 1]; /* "" = none yet */
	unsigned decoding, encoding;
};

struct clf_link_job {
	struct clf_job job; /* first */
	uint64_t link;
	bool decode;
	char *socket, *text; /* of a decode: the credential; of an encode: the message, then its credential */
	size_t len;
	struct clf_auth_who who;
	struct clf_json_doc doc; /* decoded */
	struct clf_error error;
};

/* fd is stolen, non-blocking; id is its name in epoll and of its jobs. */
CLF_MUST_USE int clf_link_init(struct clf_link *l, const struct clf_link_env *env, int fd, uint64_t id,
			       struct clf_error *err);
void clf_link_close(struct clf_link *l);

CLF_MUST_USE int clf_link_ready(struct clf_link *l, uint32_t events, struct clf_error *err);

/* 1: *message is a new one, owned, *who its maker. 0: nothing more to do. The job stays the caller's. */
CLF_MUST_USE int clf_link_done(struct clf_link *l, struct clf_link_job *job, json_t **message, struct clf_auth_who *who,
			       struct clf_error *err);

/* message: object, borrowed; "v", "seq", "from" and "session" are put into it. *seq (may be NULL) is its number. */
CLF_MUST_USE int clf_link_send(struct clf_link *l, json_t *message, uint64_t *seq, struct clf_error *err);

/* 32 hex digits of the kernel's randomness. */
CLF_MUST_USE int clf_link_nonce(char out[CLF_LINK_SESSION + 1], struct clf_error *err);

#endif
