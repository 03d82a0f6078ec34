/* SPDX-License-Identifier: GPL-2.0-or-later */
/* client.h - talk to closfoldd over its local socket, never longer than asked.
 *
 * Time: every call has a deadline in milliseconds that covers connecting, sending and the reply.
 * Errors: CLF_E_REMOTE closfoldd cannot be reached or hung up; CLF_E_TIMEOUT no answer: whether it acted is unknown;
 * and the code of a
 *         {"ok":false} reply, its text and advice in err->text.
 * Memory: clf_client open/close; replies are owned json objects.
 * Threads: one thread a client. Safe in slurmctld: no signal (MSG_NOSIGNAL), no global state, descriptors are
 * close-on-exec.
 */
#ifndef CLF_WIRE_CLIENT_H
#define CLF_WIRE_CLIENT_H

#include "wire/proto.h"

struct clf_client;

/* Connects without blocking; the connection is made when first used and again after a failure. */
struct clf_client *clf_client_create(const char *socket_path, struct clf_error *err);
void clf_client_destroy(struct clf_client *c);
CLF_DEFINE_CLEANUP(struct clf_client, clf_client_destroy)

/* request is borrowed ({"op":...}). *reply is owned, NULL allowed. */
CLF_MUST_USE int clf_client_call(struct clf_client *c, json_t *request, int timeout_ms, json_t **reply,
				 struct clf_error *err);
/* A record's canonical bytes: 0 only when closfoldd says it is durable. */
CLF_MUST_USE int clf_client_record(struct clf_client *c, const char *record, size_t len, int timeout_ms,
				   struct clf_error *err);
/* The same without waiting for anything; a full socket or no daemon is CLF_E_REMOTE at once (the caller counts the
 * loss). */
CLF_MUST_USE int clf_client_record_async(struct clf_client *c, const char *record, size_t len, struct clf_error *err);

/* Pipelining, for prep: send now, poll the descriptor, take replies as they come. */
CLF_MUST_USE int clf_client_send(struct clf_client *c, json_t *request, uint64_t *seq, struct clf_error *err);
int clf_client_fd(const struct clf_client *c); /* -1 when not connected */
/* 1 = a reply (owned), 0 = none waiting, -1 = connection lost (all outstanding requests are unknown). */
int clf_client_receive(struct clf_client *c, uint64_t *seq, json_t **reply, struct clf_error *err);

/* Turn an {"ok":false} reply into err (returns -1), or return 0. */
CLF_MUST_USE int clf_reply_check(const json_t *reply, struct clf_error *err);

#endif
