/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "wire/auth_munge.h"

#include <munge.h>
#include <netinet/in.h>
#include <string.h>

static void ctx_free(munge_ctx_t *ctx)
{
	munge_ctx_destroy(*ctx);
}

static munge_ctx_t ctx_make(const char *socket, struct clf_error *err)
{
	munge_ctx_t ctx = munge_ctx_create();

	if (ctx && (!*socket || munge_ctx_set(ctx, MUNGE_OPT_SOCKET, socket) == EMUNGE_SUCCESS))
		return ctx;
	munge_ctx_destroy(ctx);
	clf_fail(err, CLF_E_NOMEM, "out of memory");
	return NULL;
}

static int fail(munge_ctx_t ctx, munge_err_t e, struct clf_error *err)
{
	const char *says = munge_ctx_strerror(ctx);

	if (!says)
		says = munge_strerror(e);
	switch (e) {
	case EMUNGE_NO_MEMORY:
		return clf_fail(err, CLF_E_NOMEM, "out of memory");
	case EMUNGE_SNAFU:
	case EMUNGE_SOCKET:
	case EMUNGE_TIMEOUT:
		return clf_fail(err, CLF_E_REMOTE, "munged cannot be reached: %s; is it running?", says);
	case EMUNGE_CRED_REPLAYED:
		return clf_fail(err, CLF_E_CONFLICT, "credential was used before");
	case EMUNGE_CRED_EXPIRED:
	case EMUNGE_CRED_REWOUND:
		return clf_fail(err, CLF_E_TIMEOUT, "credential is %s: compare the clocks of both hosts",
				e == EMUNGE_CRED_EXPIRED ? "too old" : "from the future");
	case EMUNGE_BAD_LENGTH:
		return clf_fail(err, CLF_E_INVALID, "payload is too long for munged");
	default:
		return clf_fail(err, CLF_E_DENIED, "bad credential: %s; do both hosts have the same munge key?", says);
	}
}

int clf_auth_encode(const char *socket, const void *payload, size_t len, char **cred, struct clf_error *err)
{
	CLF_CLEANUP(ctx_free) munge_ctx_t ctx = NULL;
	munge_err_t e;

	if (len > CLF_AUTH_PAYLOAD_MAX)
		return clf_fail(err, CLF_E_INVALID, "message of %zu bytes, at most %u can be sent", len,
				CLF_AUTH_PAYLOAD_MAX);
	ctx = ctx_make(socket, err);
	if (!ctx)
		return -1;
	if ((e = munge_ctx_set(ctx, MUNGE_OPT_CIPHER_TYPE, MUNGE_CIPHER_AES256)) ||
	    (e = munge_ctx_set(ctx, MUNGE_OPT_MAC_TYPE, MUNGE_MAC_SHA256)) ||
	    (e = munge_ctx_set(ctx, MUNGE_OPT_ZIP_TYPE, MUNGE_ZIP_NONE)) ||
	    (e = munge_ctx_set(ctx, MUNGE_OPT_TTL, CLF_AUTH_TTL_S)) ||
	    (e = munge_encode(cred, ctx, payload, (int) len)))
		return fail(ctx, e, err);
	return 0;
}

/* What came with the credential, and whether we take it. */
static int judge(munge_ctx_t ctx, int len, struct clf_auth_who *who, struct clf_error *err)
{
	struct in_addr a = { 0 };
	int cipher = MUNGE_CIPHER_NONE;

	if (munge_ctx_get(ctx, MUNGE_OPT_CIPHER_TYPE, &cipher) || cipher == MUNGE_CIPHER_NONE)
		return clf_fail(err, CLF_E_DENIED, "bad credential: it is not encrypted");
	if (len < 0 || (unsigned) len > CLF_AUTH_PAYLOAD_MAX)
		return clf_fail(err, CLF_E_INVALID, "payload of %d bytes, at most %u are taken", len,
				CLF_AUTH_PAYLOAD_MAX);
	if (munge_ctx_get(ctx, MUNGE_OPT_ADDR4, &a) == EMUNGE_SUCCESS)
		who->addr4 = a.s_addr;
	return 0;
}

int clf_auth_decode(const char *socket, const char *cred, char **payload, size_t *len, struct clf_auth_who *who,
		    struct clf_error *err)
{
	CLF_CLEANUP(ctx_free) munge_ctx_t ctx = ctx_make(socket, err);
	CLF_AUTO_FREE void *data = NULL;
	struct clf_auth_who w = { 0 };
	char *copy;
	int n = 0;

	if (!ctx)
		return -1;

	/* Of an expired or replayed credential it gives the payload all the same. */
	munge_err_t e = munge_decode(cred, ctx, &data, &n, &w.uid, &w.gid);

	if (e)
		return fail(ctx, e, err);
	if (judge(ctx, n, &w, err))
		return -1;
	copy = malloc((size_t) n + 1);
	if (!copy)
		return clf_fail(err, CLF_E_NOMEM, "out of memory");
	if (n)
		memcpy(copy, data, (size_t) n);
	copy[n] = '\0';
	*payload = copy;
	*len = (size_t) n;
	*who = w;
	return 0;
}
