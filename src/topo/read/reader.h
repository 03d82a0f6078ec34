/* SPDX-License-Identifier: GPL-2.0-or-later */
/* reader.h - how a source becomes a topology.
 *
 * To add one: write read_<name>.c with its `const struct clf_reader`, list it in registry.c, add cases under
 * tests/data/<name>/, a fuzz seed, and a page in docs/formats/. The name is what `closfold topo import --from` takes.
 */
#ifndef CLF_TOPO_READ_READER_H
#define CLF_TOPO_READ_READER_H

#include "base/lex.h"
#include "topo/topo.h"

struct clf_reader {
	const char *name;  /* required: "ibnetdiscover" */
	const char *about; /* required: one line for --help */
	size_t max_bytes;  /* required: larger files are refused */
	/* required. text is borrowed for the call. CLF_E_PARSE with file, line, column and what was expected;
	 * CLF_E_NOMEM at a cap. On failure *out is untouched: nothing half-read leaves a reader. */
	int (*read)(const struct clf_text *text, struct clf_topo **out, struct clf_error *err);
	/* optional: several files that are parts of one cluster (subnets). n >= 1. The same rules. */
	int (*read_many)(const struct clf_text *const *texts, size_t n, struct clf_topo **out, struct clf_error *err);
};

const struct clf_reader *clf_reader_find(const char *name); /* NULL when absent */
const struct clf_reader *clf_reader_get(size_t i);          /* NULL past the end */

/* Several files as one topology; CLF_E_INVALID when the reader takes one file only and n > 1. paths[0..n-1], n >= 1. */
CLF_MUST_USE int clf_topo_load_many(const char *reader, const char *const *paths, size_t n, struct clf_topo **out,
				    struct clf_error *err);

/* Load a file through a reader by name; reader NULL: recognised by content (json, ibnetdiscover, topology.conf, csv).
 */
CLF_MUST_USE int clf_topo_load(const char *reader, const char *path, struct clf_topo **out, struct clf_error *err);

#endif
