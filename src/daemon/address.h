/* SPDX-License-Identifier: GPL-2.0-or-later */
/* address.h - "ADDR:PORT" and "HOST:PORT" as sockets. IPv6 in brackets: "[::1]:7321".
 * Errors: CLF_E_INVALID of the text; CLF_E_NOTFOUND no such host; CLF_E_IO. */
#ifndef CLF_DAEMON_ADDRESS_H
#define CLF_DAEMON_ADDRESS_H

#include <netinet/in.h>
#include <stdbool.h>
#include <sys/socket.h>

#include "base/err.h"

#define CLF_ADDRESSES_MAX 8u

struct clf_addresses {
	struct sockaddr_storage v[CLF_ADDRESSES_MAX];
	socklen_t len[CLF_ADDRESSES_MAX];
	size_t n;
};
/* numeric: no name server is asked. Else it blocks as long as name servers do. */
CLF_MUST_USE int clf_address_resolve(const char *text, bool numeric, struct clf_addresses *out, struct clf_error *err);

/* A listening, non-blocking socket, owned; -1. *port as bound. */
int clf_address_listen(const char *text, int *port, struct clf_error *err);

/* IPv4 as mapped; all 0 for another family. */
void clf_address_in6(const struct sockaddr_storage *s, struct in6_addr *out);

#endif
