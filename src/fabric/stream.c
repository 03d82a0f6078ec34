/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/stream.h"

#include <curl/curl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"

#define CONNECT_MAX_MS 5000

struct clf_stream {
	CURL *curl;
	curl_socket_t fd;
	char remote[200];
};

static pthread_once_t once = PTHREAD_ONCE_INIT;

static void start_curl(void)
{
	curl_global_init(CURL_GLOBAL_ALL);
}

/* A TLS write to a closed peer raises SIGPIPE, and NOSIGNAL forbids curl to look after it: it is held back here, and
 * taken away unless it was there before. */
struct hush {
	sigset_t old;
	bool was_pending;
};

static void hush_begin(struct hush *h)
{
	sigset_t pipe, pending;

	sigemptyset(&pipe);
	sigaddset(&pipe, SIGPIPE);
	sigpending(&pending);
	h->was_pending = sigismember(&pending, SIGPIPE);
	pthread_sigmask(SIG_BLOCK, &pipe, &h->old);
}

static void hush_end(const struct hush *h)
{
	const struct timespec now = { 0 };
	sigset_t pipe;

	sigemptyset(&pipe);
	sigaddset(&pipe, SIGPIPE);
	if (!h->was_pending)
		sigtimedwait(&pipe, NULL, &now);
	pthread_sigmask(SIG_SETMASK, &h->old, NULL);
}

static int64_t left_ms(int64_t deadline_us)
{
	int64_t left = (deadline_us - clf_clock_system.boot_us(NULL) + 999) / 1000;

	return left > 0 ? left : 0;
}

/* curl wants a URL; only its scheme, host and port matter. */
static int make_url(const struct clf_stream_conf *c, char *url, size_t size, struct clf_error *err)
{
	int n = -1;

	if (!strncmp(c->remote, "unix:", 5))
		n = snprintf(url, size, "http://localhost/");
	else if (!strncmp(c->remote, "tcp:", 4))
		n = snprintf(url, size, "http://%s/", c->remote + 4);
	else if (!strncmp(c->remote, "ssl:", 4))
		n = snprintf(url, size, "https://%s/", c->remote + 4);
	if (n < 0 || (size_t) n >= size)
		return clf_fail(err, CLF_E_INVALID, "'%.60s' is none of unix:PATH, tcp:HOST:PORT, ssl:HOST:PORT",
				c->remote);
	return 0;
}

static CURLcode set_tls(CURL *curl, const struct clf_stream_conf *c)
{
	CURLcode rc = curl_easy_setopt(curl, CURLOPT_SSLKEY, c->key);

	if (!rc)
		rc = curl_easy_setopt(curl, CURLOPT_SSLCERT, c->cert);
	if (!rc)
		rc = curl_easy_setopt(curl, CURLOPT_CAINFO, c->ca);
	if (!rc) /* only the configured authority, not the system's */
		rc = curl_easy_setopt(curl, CURLOPT_CAPATH, NULL);
	if (!rc)
		rc = curl_easy_setopt(curl, CURLOPT_SSLVERSION, (long) CURL_SSLVERSION_TLSv1_2);
	if (!rc)
		rc = curl_easy_setopt(curl, CURLOPT_SSL_VERIFYPEER, 1L);
	if (!rc)
		rc = curl_easy_setopt(curl, CURLOPT_SSL_VERIFYHOST, 2L);
	return rc ? rc : curl_easy_setopt(curl, CURLOPT_SSL_ENABLE_ALPN, 0L);
}

static CURLcode set_options(CURL *curl, const struct clf_stream_conf *c, const char *url, long timeout_ms)
{
	CURLcode rc = curl_easy_setopt(curl, CURLOPT_URL, url);

	if (!rc)
		rc = curl_easy_setopt(curl, CURLOPT_CONNECT_ONLY, 1L);
	if (!rc)
		rc = curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, timeout_ms);
	if (!rc)
		rc = curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
	if (!rc)
		rc = curl_easy_setopt(curl, CURLOPT_PROXY, "");
	if (!rc && !strncmp(c->remote, "unix:", 5))
		rc = curl_easy_setopt(curl, CURLOPT_UNIX_SOCKET_PATH, c->remote + 5);
	if (!rc && !strncmp(c->remote, "ssl:", 4))
		rc = set_tls(curl, c);
	return rc;
}

static int not_connected(const struct clf_stream *s, CURLcode rc, const char *said, struct clf_error *err)
{
	long os = 0;

	/* of a unix socket curl would tell a host and a port */
	if (!strncmp(s->remote, "unix:", 5) && !curl_easy_getinfo(s->curl, CURLINFO_OS_ERRNO, &os) && os)
		said = strerror((int) os);
	else if (!*said)
		said = curl_easy_strerror(rc);
	return clf_fail(err, rc == CURLE_OPERATION_TIMEDOUT ? CLF_E_TIMEOUT : CLF_E_REMOTE,
			"cannot connect to %s: %s; is ovsdb-server running there", s->remote, said);
}

static int connect_now(struct clf_stream *s, const struct clf_stream_conf *c, const char *url, int64_t deadline_us,
		       struct clf_error *err)
{
	int64_t ms = left_ms(deadline_us);
	char said[CURL_ERROR_SIZE] = "";
	struct hush h;
	CURLcode rc;

	if (!ms)
		return clf_fail(err, CLF_E_TIMEOUT, "no time left to connect to %s", s->remote);
	rc = set_options(s->curl, c, url, ms < CONNECT_MAX_MS ? (long) ms : CONNECT_MAX_MS);
	curl_easy_setopt(s->curl, CURLOPT_ERRORBUFFER, said);
	hush_begin(&h);
	if (!rc)
		rc = curl_easy_perform(s->curl);
	hush_end(&h);
	curl_easy_setopt(s->curl, CURLOPT_ERRORBUFFER, NULL); /* it lives in this frame only */
	if (!rc)
		rc = curl_easy_getinfo(s->curl, CURLINFO_ACTIVESOCKET, &s->fd);
	if (!rc && s->fd == CURL_SOCKET_BAD)
		rc = CURLE_COULDNT_CONNECT;
	return rc ? not_connected(s, rc, said, err) : 0;
}

int clf_stream_open(const struct clf_stream_conf *conf, int64_t deadline_us, struct clf_stream **out,
		    struct clf_error *err)
{
	CLF_CLEANUP(clf_stream_destroyp) struct clf_stream *s = calloc(1, sizeof *s);
	char url[300];

	if (make_url(conf, url, sizeof url, err))
		return -1;
	pthread_once(&once, start_curl);
	if (!s || !(s->curl = curl_easy_init()))
		return clf_fail(err, CLF_E_NOMEM, "out of memory");
	snprintf(s->remote, sizeof s->remote, "%s", conf->remote);
	if (connect_now(s, conf, url, deadline_us, err))
		return -1;
	*out = CLF_STEAL(s);
	return 0;
}

void clf_stream_destroy(struct clf_stream *s)
{
	struct hush h;

	if (!s)
		return;
	hush_begin(&h);
	curl_easy_cleanup(s->curl);
	hush_end(&h);
	free(s);
}

static int wait_for(struct clf_stream *s, short events, int64_t deadline_us, struct clf_error *err)
{
	struct pollfd p = { .fd = s->fd, .events = events };
	int64_t ms = left_ms(deadline_us);

	if (!ms)
		return clf_fail(err, CLF_E_TIMEOUT, "no answer from %s in time", s->remote);
	poll(&p, 1, ms < 1000 ? (int) ms : 1000); /* what it says is seen by the next try */
	return 0;
}

int clf_stream_send(struct clf_stream *s, const void *data, size_t n, int64_t deadline_us, struct clf_error *err)
{
	const char *p = data;

	while (n) {
		size_t sent = 0;
		struct hush h;
		CURLcode rc;

		hush_begin(&h);
		rc = curl_easy_send(s->curl, p, n, &sent);
		hush_end(&h);
		if (rc == CURLE_AGAIN) {
			if (wait_for(s, POLLOUT, deadline_us, err))
				return -1;
		} else if (rc) {
			return clf_fail(err, CLF_E_REMOTE, "connection to %s broke: %s", s->remote,
					curl_easy_strerror(rc));
		}
		p += sent;
		n -= sent;
	}
	return 0;
}

int clf_stream_recv(struct clf_stream *s, void *data, size_t cap, int64_t deadline_us, size_t *got,
		    struct clf_error *err)
{
	for (;;) {
		size_t n = 0;
		struct hush h;
		CURLcode rc;

		hush_begin(&h);
		rc = curl_easy_recv(s->curl, data, cap, &n);
		hush_end(&h);
		if (rc == CURLE_AGAIN) {
			if (wait_for(s, POLLIN, deadline_us, err))
				return -1;
			continue;
		}
		if (rc)
			return clf_fail(err, CLF_E_REMOTE, "connection to %s broke: %s", s->remote,
					curl_easy_strerror(rc));
		if (!n)
			return clf_fail(err, CLF_E_REMOTE, "connection was closed by %s", s->remote);
		*got = n;
		return 0;
	}
}
