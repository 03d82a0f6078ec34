/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Credentials of a munged of our own: round trip, replay, another key, garbage, expiry, no munged. */
#include "wire/auth_munge.h"

#include <munge.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "munged.h"
#include "tap.h"

static const char *sock;

static int decode(const char *socket, const char *cred, struct clf_error *err)
{
	char *payload = NULL;
	size_t len = 99;
	struct clf_auth_who who;

	*err = (struct clf_error){ 0 };
	if (!clf_auth_decode(socket, cred, &payload, &len, &who, err)) {
		free(payload);
		return 0;
	}
	if (payload || len != 99)
		diag("outputs were touched on failure");
	return payload || len != 99 ? 0 : err->code;
}

static char *encode(const char *socket, const void *p, size_t n)
{
	char *cred = NULL;
	struct clf_error err = { 0 };

	if (clf_auth_encode(socket, p, n, &cred, &err))
		diag("%s", err.text);
	return cred;
}

static void test_round_trip(void)
{
	CLF_AUTO_FREE char *cred = encode(sock, "{\"a\":1}", 7);
	CLF_AUTO_FREE char *payload = NULL;
	struct clf_auth_who who = { 0 };
	struct clf_error err = { 0 };
	size_t len = 0;

	if (!ok(cred && !strncmp(cred, "MUNGE:", 6), "a payload becomes a credential"))
		return;
	ok(!strstr(cred, "{\"a\":1}"), "which does not show it");
	if (!ok(!clf_auth_decode(sock, cred, &payload, &len, &who, &err), "and comes back: %s", err.text))
		return;
	is_str(payload, "{\"a\":1}", "the same");
	is_int((long long) len, 7, "length");
	is_int(who.uid, geteuid(), "uid of who made it");
	is_int(who.gid, getegid(), "gid");
	ok(who.addr4 != 0, "and the address of its munged");
	is_int(decode(sock, cred, &err), CLF_E_CONFLICT, "a second time it is refused: %s", err.text);
}

static void test_bad(const char *other)
{
	CLF_AUTO_FREE char *cred = encode(sock, "x", 1);
	struct clf_error err;
	char *at;

	is_int(decode(other, cred, &err), CLF_E_DENIED, "of another key: %s", err.text);
	at = cred + strlen(cred) / 2;
	*at = *at == 'A' ? 'B' : 'A';
	is_int(decode(sock, cred, &err), CLF_E_DENIED, "changed: %s", err.text);
	is_int(decode(sock, "", &err), CLF_E_DENIED, "empty: %s", err.text);
	is_int(decode(sock, "MUNGE:", &err), CLF_E_DENIED, "only a prefix: %s", err.text);
	is_int(decode(sock, "MUNGE:!!!!:", &err), CLF_E_DENIED, "no base 64: %s", err.text);
	is_int(decode(sock, "hello", &err), CLF_E_DENIED, "no credential at all: %s", err.text);
}

/* What munge(1) -c none would make: right key, right user, readable by anybody on the way. */
static void test_clear_text(void)
{
	munge_ctx_t ctx = munge_ctx_create();
	char *cred = NULL;
	struct clf_error err;

	munge_ctx_set(ctx, MUNGE_OPT_SOCKET, sock);
	munge_ctx_set(ctx, MUNGE_OPT_CIPHER_TYPE, MUNGE_CIPHER_NONE);
	if (ok(munge_encode(&cred, ctx, "x", 1) == EMUNGE_SUCCESS, "a credential without encryption"))
		is_int(decode(sock, cred, &err), CLF_E_DENIED, "is refused: %s", err.text);
	free(cred);
	munge_ctx_set(ctx, MUNGE_OPT_CIPHER_TYPE, MUNGE_CIPHER_AES256);
	munge_ctx_set(ctx, MUNGE_OPT_TTL, 1);
	cred = NULL;
	if (ok(munge_encode(&cred, ctx, "x", 1) == EMUNGE_SUCCESS, "a credential good for a second")) {
		const struct timespec t = { .tv_sec = 2, .tv_nsec = 100000000 };

		nanosleep(&t, NULL);
		is_int(decode(sock, cred, &err), CLF_E_TIMEOUT, "is too old after two: %s", err.text);
	}
	free(cred);
	munge_ctx_destroy(ctx);
}

static void test_size(void)
{
	char *big = calloc(1, CLF_AUTH_PAYLOAD_MAX + 1), *cred, *payload = NULL;
	struct clf_error err = { 0 };
	struct clf_auth_who who;
	size_t len = 0;

	if (!big)
		abort();
	memset(big, 'x', CLF_AUTH_PAYLOAD_MAX);
	cred = encode(sock, big, CLF_AUTH_PAYLOAD_MAX);
	ok(cred && strlen(cred) < 1u << 20, "the largest payload fits a frame: %zu bytes", cred ? strlen(cred) : 0);
	ok(cred && !clf_auth_decode(sock, cred, &payload, &len, &who, &err) && len == CLF_AUTH_PAYLOAD_MAX,
	   "and comes back: %s", err.text);
	free(cred);
	cred = NULL;
	ok(clf_auth_encode(sock, big, CLF_AUTH_PAYLOAD_MAX + 1, &cred, &err) && err.code == CLF_E_INVALID && !cred,
	   "one byte more is refused: %s", err.text);
	free(payload);
	payload = NULL;
	cred = encode(sock, "", 0);
	ok(cred && !clf_auth_decode(sock, cred, &payload, &len, &who, NULL) && !len && payload && !*payload,
	   "an empty payload is one");
	free(cred);
	free(payload);
	free(big);
}

static void test_away(void)
{
	CLF_AUTO_FREE char *cred = NULL;
	struct clf_error err = { 0 };

	ok(clf_auth_encode("/nonexistent/munged", "x", 1, &cred, &err) && err.code == CLF_E_REMOTE && !cred,
	   "no munged: %s", err.text);
	is_int(decode("/nonexistent/munged", "MUNGE:x:", &err), CLF_E_REMOTE, "neither for decoding: %s", err.text);
}

int main(void)
{
	const char *other;

	sock = munged_start("one");
	other = munged_start("two");
	test_away();
	if (clf_test_require("munge", sock && other, "munged cannot be started here")) {
		test_round_trip();
		test_bad(other);
		test_clear_text();
		test_size();
	}
	munged_stop("one");
	munged_stop("two");
	return done_testing();
}
