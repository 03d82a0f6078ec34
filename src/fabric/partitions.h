/* SPDX-License-Identifier: GPL-2.0-or-later */
/* partitions.h - OpenSM's partitions.conf: written whole from desired state, and a lint for exactly what is written
 * here.
 *
 * The reader of OpenSM forgives much and says little: a malformed GUID makes every port a full member of the default
 * partition, a file cut after a comma is taken, two partitions of one key become one. So nothing is published that the
 * lint has not passed, and the lint's result, not the wish, is what tables are compared with.
 * Shape:   a marker line with length and SHA-256 of the rest; partition Default (all limited, the subnet manager's
 *          candidates full); `open` for ordinary ports; closfold_<key> for each key; then a foreign section, byte for
 *          byte. One GUID a line, the same input gives the same bytes.
 * Errors:  CLF_E_PARSE with file and line; CLF_E_INVALID a wish that can never be right; CLF_E_NOMEM.
 * Memory:  done() on the caller's storage. Pure.
 * Source:  opensm(8), PARTITION CONFIGURATION, and what opensm 3.3.23 does with it (docs/drivers/opensm.md).
 */
#ifndef CLF_FABRIC_PARTITIONS_H
#define CLF_FABRIC_PARTITIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/strv.h"
#include "fabric/driver.h"

#define CLF_PARTITIONS_MAX_BYTES (64u << 20)
#define CLF_PARTITIONS_LINE      1000u /* OpenSM splits a line of 4,096 bytes in the middle of a GUID */
#define CLF_PARTITIONS_NAME      32
#define CLF_PKEY_DEFAULT         0x7fff
#define CLF_PKEY_FULL            0x8000

/* "0x" and 16 hexadecimal digits, not 0. */
bool clf_guid_parse(const char *s, size_t len, uint64_t *out);
/* Sorted set of numbers. */
struct clf_guids {
	uint64_t *v;
	size_t n, cap;
};
void clf_guids_done(struct clf_guids *g);
CLF_MUST_USE int clf_guids_add(struct clf_guids *g, uint64_t guid, struct clf_error *err);
void clf_guids_sort(struct clf_guids *g); /* and drop what is there twice */
bool clf_guids_has(const struct clf_guids *g, uint64_t guid);

/* What is allowed. */
struct clf_partitions_rules {
	uint16_t key_min, key_max, open_key;
	const struct clf_guids *full_foreign; /* only these may be full members of a foreign partition */
};

struct clf_partitions_want {
	struct clf_partitions_rules rules;
	const struct clf_guids *sm;
	const struct clf_guids *known;
	const struct clf_net *const *nets;
	size_t n;
	const char *foreign; /* "" for none; ends with a newline */
	size_t foreign_len;
};
/* CLF_E_INVALID: a port that is no GUID, is in two nets or is a candidate of the subnet manager; a key out of range. */
CLF_MUST_USE int clf_partitions_render(const struct clf_partitions_want *w, struct clf_buf *out, struct clf_error *err);

struct clf_partition {
	char name[CLF_PARTITIONS_NAME];
	uint16_t key;
	bool index0, foreign;
	int line;
};
struct clf_partition_member {
	uint64_t guid;
	uint32_t partition;
	bool full;
	int line;
};
struct clf_partitions {
	struct clf_partition *v;        /* v[0] is Default */
	struct clf_partition_member *m; /* by GUID, then partition */
	size_t n, nm, cap, mcap;
};
void clf_partitions_done(struct clf_partitions *p);
CLF_MUST_USE int clf_partitions_lint(const char *name, const char *text, size_t len,
				     const struct clf_partitions_rules *rules, struct clf_partitions *out,
				     struct clf_error *err);
/* A foreign section alone. */
CLF_MUST_USE int clf_partitions_lint_foreign(const char *name, const char *text, size_t len,
					     const struct clf_partitions_rules *rules, struct clf_error *err);

/* The members of one GUID: p->m[*first .. *first + n - 1]; returns n. */
size_t clf_partitions_of(const struct clf_partitions *p, uint64_t guid, size_t *first);

/* Whose file is it, and is it as it was written? */
enum clf_partitions_file {
	CLF_PARTFILE_OURS,
	CLF_PARTFILE_EMPTY,
	CLF_PARTFILE_CUT,     /* ours, shorter than written */
	CLF_PARTFILE_EDITED,  /* ours, other bytes than written */
	CLF_PARTFILE_FOREIGN, /* no marker */
};
enum clf_partitions_file clf_partitions_whose(const char *text, size_t len);

#endif
