/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stream.h - a byte stream to a device: unix socket, TCP, or TLS with certificates on both sides. The only user of
 * curl.
 *
 * Remotes: "unix:PATH", "tcp:HOST:PORT", "ssl:HOST:PORT" ([v6] in brackets); ssl proves the host's name against `ca`
 * and shows `cert` with `key`. No proxy, no signals, TLS 1.2 or newer. Units:   deadlines are points of
 * clf_clock_system.boot_us; no call waits past its deadline. Errors:  CLF_E_TIMEOUT at the deadline; CLF_E_REMOTE
 * refused, broken or closed; the text names the remote. Threads: one thread at a time uses a stream; different streams
 * are independent. Memory:  open/destroy; destroy takes NULL. The strings of the configuration are copied or used in
 * open() only. Source:  libcurl, CURLOPT_CONNECT_ONLY(3), curl_easy_recv(3).
 */
#ifndef CLF_FABRIC_STREAM_H
#define CLF_FABRIC_STREAM_H

#include <stdint.h>

#include "base/err.h"

struct clf_stream_conf {
	const char *remote;
	const char *key, *cert, *ca; /* PEM files; ssl only */
};

struct clf_stream;

CLF_MUST_USE int clf_stream_open(const struct clf_stream_conf *conf, int64_t deadline_us, struct clf_stream **out,
				 struct clf_error *err);
void clf_stream_destroy(struct clf_stream *s);
CLF_DEFINE_CLEANUP(struct clf_stream, clf_stream_destroy)

/* All of it. On failure any part may have been sent. */
CLF_MUST_USE int clf_stream_send(struct clf_stream *s, const void *data, size_t n, int64_t deadline_us,
				 struct clf_error *err);
/* What is there, at least one byte; waits until the deadline for it. */
CLF_MUST_USE int clf_stream_recv(struct clf_stream *s, void *data, size_t cap, int64_t deadline_us, size_t *got,
				 struct clf_error *err);

#endif
