/* SPDX-License-Identifier: GPL-2.0-or-later */
/* log_private.h - what log.c and log_recover.c share. */
#ifndef CLF_AUDIT_LOG_PRIVATE_H
#define CLF_AUDIT_LOG_PRIVATE_H

#include <limits.h>

#include "audit/log.h"
#include "audit/segment.h"
#include "base/buf.h"

#define CLF_UNCOMMITTED_MAX 65536u

struct clf_uncommitted {
	char *key;
	uint64_t seq;
};

struct clf_auditlog {
	char dir[PATH_MAX];
	char origin[CLF_AUDITLOG_ORIGIN_MAX + 1];
	const struct clf_clock *clock;
	uint64_t segment_bytes;
	int fd;        /* segment being written, -1 = none */
	uint64_t size; /* its durable bytes */
	bool failed;   /* a write or sync of it failed */
	struct clf_auditlog_head durable, next;
	struct clf_buf pending;
	struct clf_producers *producers;
	struct clf_uncommitted *uncommitted; /* producers' numbers in pending */
	size_t nuncommitted;
};

/* Fills origin, durable, fd and size from the files. */
CLF_MUST_USE int clf_auditlog_recover(struct clf_auditlog *l, const struct clf_auditlog_options *o,
				      struct clf_auditlog_torn *torn, struct clf_error *err);

/* What is wrong with a line that should be record n with this prev; NULL = nothing. *c is filled as far as it goes. */
const char *clf_auditlog_check_line(const char *line, size_t len, uint64_t n, const char *prev, const char *origin,
				    struct clf_canon *c);

#endif
