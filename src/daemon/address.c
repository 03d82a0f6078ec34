/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/address.h"

#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>

#include "base/lex.h"

static int split(const char *text, char *host, size_t size, const char **port, struct clf_error *err)
{
	const char *colon = strrchr(text, ':');
	size_t len = colon ? (size_t) (colon - text) : 0;
	unsigned long long n;

	if (len > 2 && text[0] == '[' && text[len - 1] == ']') {
		text++;
		len -= 2;
	} else if (memchr(text, ':', len)) {
		len = 0; /* which colon is meant? */
	}
	if (!len || len >= size || !clf_parse_u64(colon + 1, strlen(colon + 1), &n) || n > 65535)
		return clf_fail(err, CLF_E_INVALID, "'%.128s' is no HOST:PORT, IPv6 as [ADDR]:PORT", text);
	memcpy(host, text, len);
	host[len] = '\0';
	*port = colon + 1;
	return 0;
}

int clf_address_resolve(const char *text, bool numeric, struct clf_addresses *out, struct clf_error *err)
{
	struct addrinfo hints = { .ai_family = AF_UNSPEC,
				  .ai_socktype = SOCK_STREAM,
				  .ai_flags = AI_NUMERICSERV | (numeric ? AI_NUMERICHOST | AI_PASSIVE : 0) };
	struct addrinfo *list = NULL;
	struct clf_addresses got = { .n = 0 };
	const char *port = "";
	char host[256];
	int rc;

	if (split(text, host, sizeof host, &port, err))
		return -1;
	rc = getaddrinfo(host, port, &hints, &list);
	if (rc)
		return clf_fail(err, rc == EAI_MEMORY ? CLF_E_NOMEM : CLF_E_NOTFOUND, "'%s': %s", host,
				rc == EAI_SYSTEM ? strerror(errno) : gai_strerror(rc));
	for (const struct addrinfo *i = list; i && got.n < CLF_ADDRESSES_MAX; i = i->ai_next) {
		if (i->ai_addrlen > sizeof got.v[0])
			continue;
		memcpy(&got.v[got.n], i->ai_addr, i->ai_addrlen);
		got.len[got.n++] = i->ai_addrlen;
	}
	freeaddrinfo(list);
	if (!got.n)
		return clf_fail(err, CLF_E_NOTFOUND, "'%s' has no address", host);
	*out = got;
	return 0;
}

int clf_address_listen(const char *text, int *port, struct clf_error *err)
{
	CLF_AUTO_CLOSE int fd = -1;
	struct clf_addresses a;
	struct sockaddr_storage bound;
	socklen_t len = sizeof bound;
	int one = 1;

	if (clf_address_resolve(text, true, &a, err))
		return -1;
	fd = socket(a.v[0].ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one) ||
	    bind(fd, (const struct sockaddr *) &a.v[0], a.len[0]) || listen(fd, 1024) ||
	    getsockname(fd, (struct sockaddr *) &bound, &len))
		return clf_fail(err, CLF_E_IO, "cannot listen at '%.128s': %s", text, strerror(errno));
	/* The port is at the same place in both. */
	*port = ntohs(((const struct sockaddr_in *) &bound)->sin_port);

	int result = fd;

	fd = -1;
	return result;
}

void clf_address_in6(const struct sockaddr_storage *s, struct in6_addr *out)
{
	*out = (struct in6_addr){ 0 };
	if (s->ss_family == AF_INET6) {
		*out = ((const struct sockaddr_in6 *) s)->sin6_addr;
	} else if (s->ss_family == AF_INET) {
		out->s6_addr[10] = out->s6_addr[11] = 0xff;
		memcpy(out->s6_addr + 12, &((const struct sockaddr_in *) s)->sin_addr, 4);
	}
}
