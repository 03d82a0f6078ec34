/* SPDX-License-Identifier: GPL-2.0-or-later */
/* registry.c - the readers there are, and which of them a file is for. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "topo/read/reader.h"

extern const struct clf_reader clf_reader_ibnet, clf_reader_slurm, clf_reader_csv, clf_reader_synth, clf_reader_json;

static const struct clf_reader *const readers[] = {
	&clf_reader_ibnet, &clf_reader_slurm, &clf_reader_csv, &clf_reader_synth, &clf_reader_json,
};
#define NREADERS (sizeof readers / sizeof *readers)

const struct clf_reader *clf_reader_get(size_t i)
{
	return i < NREADERS ? readers[i] : NULL;
}

const struct clf_reader *clf_reader_find(const char *name)
{
	for (size_t i = 0; i < NREADERS; i++)
		if (!strcmp(readers[i]->name, name))
			return readers[i];
	return NULL;
}

static bool starts(const char *line, size_t len, const char *word)
{
	return len >= strlen(word) && !strncasecmp(line, word, strlen(word));
}

/* By the first line that only one format can hold. */
static const struct clf_reader *recognise(const struct clf_text *text)
{
	struct clf_lines it = clf_lines_begin(text);
	const struct clf_reader *table = NULL;
	const char *line;
	size_t len;

	while (clf_lines_next(&it, &line, &len)) {
		while (len && isspace((unsigned char) *line)) {
			line++;
			len--;
		}
		if (!len || *line == '#')
			continue;
		if (*line == '{')
			return &clf_reader_json;
		if (starts(line, len, "vendid=") || starts(line, len, "switchguid=") || starts(line, len, "caguid=") ||
		    starts(line, len, "CA ") || starts(line, len, "SW ") || starts(line, len, "Switch\t") ||
		    starts(line, len, "Switch "))
			return &clf_reader_ibnet;
		if (starts(line, len, "SwitchName") || starts(line, len, "BlockName"))
			return &clf_reader_slurm;
		if (starts(line, len, "dragonfly ") || starts(line, len, "pod:") || starts(line, len, "leaf:") ||
		    starts(line, len, "core:"))
			return &clf_reader_synth;
		if (!table && memchr(line, ',', len))
			table = &clf_reader_csv;
	}
	return table;
}

/* Load a file; *r is found by its content when NULL. */
static int load_text(const struct clf_reader **r, const char *path, struct clf_text *text, struct clf_error *err)
{
	size_t max_bytes = *r ? (*r)->max_bytes : 0;

	for (size_t i = 0; !*r && i < NREADERS; i++)
		if (readers[i]->max_bytes > max_bytes)
			max_bytes = readers[i]->max_bytes;
	if (clf_text_load(path, max_bytes, text, err))
		return -1;
	if (!*r && !(*r = recognise(text)))
		return clf_fail_at(err, CLF_E_PARSE, text->name, 1, 1,
				   "not a topology: want closfold's JSON, ibnetdiscover text, topology.conf, a table "
				   "or a synth description");
	if (text->len > (*r)->max_bytes)
		return clf_fail_at(err, CLF_E_NOMEM, text->name, 0, 0, "%zu bytes, a file for '%s' may have %zu",
				   text->len, (*r)->name, (*r)->max_bytes);
	return 0;
}

static int load_all(const struct clf_reader *r, const char *const *paths, size_t n, struct clf_text *texts,
		    const struct clf_text **list, struct clf_topo **out, struct clf_error *err)
{
	for (size_t i = 0; i < n; i++) {
		list[i] = &texts[i];
		if (load_text(&r, paths[i], &texts[i], err))
			return -1;
		if (n > 1 && !r->read_many)
			return clf_fail(err, CLF_E_INVALID, "%zu files for '%s', which takes one", n, r->name);
	}
	return n == 1 ? r->read(&texts[0], out, err) : r->read_many(list, n, out, err);
}

int clf_topo_load_many(const char *reader, const char *const *paths, size_t n, struct clf_topo **out,
		       struct clf_error *err)
{
	const struct clf_reader *r = NULL;
	CLF_AUTO_FREE struct clf_text *texts = calloc(n, sizeof *texts);
	CLF_AUTO_FREE const struct clf_text **list = calloc(n, sizeof *list);
	int rc;

	if (reader && !(r = clf_reader_find(reader)))
		return clf_fail(err, CLF_E_NOTFOUND, "no reader '%s'", reader);
	if (!texts || !list)
		return clf_fail(err, CLF_E_NOMEM, "out of memory");
	if (r == &clf_reader_synth && n == 1)
		return r->read(&(struct clf_text){ (char *) paths[0], strlen(paths[0]), "description" }, out, err);
	rc = load_all(r, paths, n, texts, list, out, err);
	for (size_t i = 0; i < n; i++)
		clf_text_done(&texts[i]);
	return rc;
}

int clf_topo_load(const char *reader, const char *path, struct clf_topo **out, struct clf_error *err)
{
	return clf_topo_load_many(reader, &path, 1, out, err);
}
