/* SPDX-License-Identifier: GPL-2.0-or-later */
/* read_synth.c - a description of topo_synth.h in a file: one line, '#' begins a comment line. */
#include <string.h>

#include "topo/read/reader.h"
#include "topo/topo_synth.h"

#define MAX_BYTES 65536

static int read_synth(const struct clf_text *text, struct clf_topo **out, struct clf_error *err)
{
	struct clf_lines it = clf_lines_begin(text);
	CLF_AUTO_FREE char *description = NULL;
	const char *line;
	size_t len;
	int at = 1;

	while (clf_lines_next(&it, &line, &len)) {
		if (strspn(line, " \t") >= len || *line == '#')
			continue;
		if (description)
			return clf_fail_at(err, CLF_E_PARSE, text->name, it.line, 1,
					   "second line, a description is one line");
		description = strndup(line, len);
		if (!description)
			return clf_fail(err, CLF_E_NOMEM, "out of memory");
		at = it.line;
	}
	return clf_topo_synth_text(text->name, at, 1, description ? description : "", out, err);
}

const struct clf_reader clf_reader_synth = {
	.name = "synth",
	.about = "a description like 'pod:4 leaf:8 node:16' (given in place of the file)",
	.max_bytes = MAX_BYTES,
	.read = read_synth,
};
