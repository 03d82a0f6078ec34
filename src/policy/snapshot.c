/* SPDX-License-Identifier: GPL-2.0-or-later */
/* snapshot.c - what is in force: a manifest and the two files it names by their hash. */
#include "policy/snapshot.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/path.h"
#include "topo/read/reader.h"

#define FORMAT             "closfold-snapshot/1"
#define MANIFEST           "snapshot.json"
#define MANIFEST_MAX_BYTES 4096
#define GENERATION_MAX     INT64_C(9007199254740991) /* 2^53 - 1: what JSON readers keep exactly */

void clf_snapshot_destroy(struct clf_snapshot *s)
{
	if (!s)
		return;
	clf_policy_destroy(s->policy);
	clf_topo_destroy(s->topo);
	free(s);
}

static bool is_sha256(const char *s)
{
	return strlen(s) == 64 && strspn(s, "0123456789abcdef") == 64;
}

static char *join(const char *dir, const char *name, const char *suffix, struct clf_error *err)
{
	char *path;

	if (asprintf(&path, "%s/%s%s", dir, name, suffix) >= 0)
		return path;
	clf_fail(err, CLF_E_NOMEM, "out of memory");
	return NULL;
}

static int read_all(int fd, char *data, size_t len, const char *path, struct clf_error *err)
{
	for (size_t got = 0; got < len;) {
		ssize_t n = read(fd, data + got, len - got);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return clf_fail(err, CLF_E_IO, "cannot read '%s': %s", path, strerror(errno));
		if (!n)
			return clf_fail(err, CLF_E_IO, "'%s' became shorter while it was read", path);
		got += (size_t) n;
	}
	return 0;
}

/* The text of a file that only root or owner could have written. */
static int load_trusted(const char *path, uid_t owner, size_t max_bytes, struct clf_text *out, struct clf_error *err)
{
	CLF_AUTO_CLOSE int fd = clf_path_open_trusted(path, owner, err);
	CLF_AUTO_FREE char *data = NULL;
	struct stat st;

	if (fd < 0)
		return -1;
	if (fstat(fd, &st))
		return clf_fail(err, CLF_E_IO, "cannot stat '%s': %s", path, strerror(errno));
	if ((uintmax_t) st.st_size > max_bytes)
		return clf_fail(err, CLF_E_NOMEM, "'%s' is too large: %jd bytes, at most %zu", path,
				(intmax_t) st.st_size, max_bytes);
	data = malloc((size_t) st.st_size + 1);
	if (!data)
		return clf_fail(err, CLF_E_NOMEM, "out of memory");
	if (read_all(fd, data, (size_t) st.st_size, path, err))
		return -1;
	data[st.st_size] = '\0';
	if (strlen(data) != (size_t) st.st_size)
		return clf_fail_at(err, CLF_E_PARSE, path, 0, 0, "file has a NUL byte");
	out->len = (size_t) st.st_size;
	out->data = CLF_STEAL(data);
	snprintf(out->name, sizeof out->name, "%s", path);
	return 0;
}

static int read_manifest(const struct clf_json_doc *doc, struct clf_snapshot *s, struct clf_error *err)
{
	json_t *format, *generation, *policy, *topology;
	const struct clf_json_key keys[] = {
		{ "format", JSON_STRING, true, &format },
		{ "generation", JSON_INTEGER, true, &generation },
		{ "policy", JSON_STRING, true, &policy },
		{ "topology", JSON_STRING, false, &topology },
	};

	if (json_is_null(json_object_get(doc->root, "topology"))) /* null: none */
		json_object_del(doc->root, "topology");
	if (clf_json_object(doc, doc->root, "", keys, sizeof keys / sizeof *keys, err))
		return -1;
	if (strcmp(json_string_value(format), FORMAT))
		return clf_json_fail(doc, "/format", err, "format '%s' is not known: this closfold reads '%s'",
				     json_string_value(format), FORMAT);
	if (json_integer_value(generation) < 1 || json_integer_value(generation) > GENERATION_MAX)
		return clf_json_fail(doc, "/generation", err, "generation is out of range");
	if (!is_sha256(json_string_value(policy)))
		return clf_json_fail(doc, "/policy", err, "'policy' is not a SHA-256 in lower case hex");
	if (topology && !is_sha256(json_string_value(topology)))
		return clf_json_fail(doc, "/topology", err, "'topology' is not a SHA-256 in lower case hex");
	s->generation = (uint64_t) json_integer_value(generation);
	snprintf(s->policy_sha256, sizeof s->policy_sha256, "%s", json_string_value(policy));
	snprintf(s->topology_sha256, sizeof s->topology_sha256, "%s", topology ? json_string_value(topology) : "");
	return 0;
}

static int load_manifest(const char *dir, uid_t owner, struct clf_snapshot *s, struct clf_error *err)
{
	CLF_CLEANUP(clf_json_doc_done) struct clf_json_doc doc = { 0 };
	CLF_AUTO_FREE char *path = join(dir, MANIFEST, "", err);
	struct clf_text text = { 0 };

	if (!path || load_trusted(path, owner, MANIFEST_MAX_BYTES, &text, err) || clf_json_load_text(&text, &doc, err))
		return -1;
	return read_manifest(&doc, s, err);
}

static int load_policy(const char *dir, uid_t owner, struct clf_snapshot *s, struct clf_error *err)
{
	CLF_AUTO_FREE char *path = join(dir, s->policy_sha256, ".json", err);
	struct clf_text text = { 0 };

	if (!path || load_trusted(path, owner, CLF_POLICY_MAX_BYTES, &text, err))
		return -1;
	return clf_policy_from_text(&text, &s->policy, err);
}

static int load_topology(const char *dir, uid_t owner, struct clf_snapshot *s, struct clf_error *err)
{
	CLF_AUTO_FREE char *path = join(dir, s->topology_sha256, ".json", err);
	CLF_CLEANUP(clf_text_done) struct clf_text text = { 0 };
	const struct clf_reader *reader = clf_reader_find("json");

	if (!reader)
		return clf_fail(err, CLF_E_INTERNAL, "no reader for topologies in JSON");
	if (!path || load_trusted(path, owner, reader->max_bytes, &text, err))
		return -1;
	return reader->read(&text, &s->topo, err);
}

/* A file that the manifest names and that is not there is damage, not "no snapshot yet". */
static int damage(struct clf_error *err)
{
	if (err && err->code == CLF_E_NOTFOUND)
		err->code = CLF_E_IO;
	clf_error_prefix(err, "snapshot is damaged");
	return -1;
}

int clf_snapshot_load(const char *dir, uid_t owner, uint64_t known_generation, struct clf_snapshot **out,
		      struct clf_error *err)
{
	CLF_CLEANUP(clf_snapshot_destroyp) struct clf_snapshot *s = calloc(1, sizeof *s);

	if (!s)
		return clf_fail(err, CLF_E_NOMEM, "out of memory");
	if (load_manifest(dir, owner, s, err))
		return -1;
	if (known_generation && s->generation == known_generation) {
		*out = NULL;
		return 0;
	}
	if (load_policy(dir, owner, s, err) || (s->topology_sha256[0] && load_topology(dir, owner, s, err)))
		return damage(err);
	*out = CLF_STEAL(s);
	return 0;
}

/* Written even where the file is there: the same bytes replace themselves, and what a fault has damaged is whole again.
 */
static int publish_text(const char *dir, const char *sha256, const char *text, struct clf_error *err)
{
	CLF_AUTO_FREE char *path = join(dir, sha256, ".json", err);

	return path ? clf_path_write_atomic(path, 0644, text, strlen(text), err) : -1;
}

int clf_snapshot_publish(const char *dir, uint64_t generation, const char *policy_sha256, const char *policy_text,
			 const char *topology_sha256, const char *topology_text, struct clf_error *err)
{
	CLF_AUTO_FREE char *path = NULL;
	char manifest[512];
	int n;

	if (!generation || generation > (uint64_t) GENERATION_MAX)
		return clf_fail(err, CLF_E_INVALID, "generation is out of range");
	if (!is_sha256(policy_sha256) || (topology_text && !is_sha256(topology_sha256)))
		return clf_fail(err, CLF_E_INVALID, "not a SHA-256 in lower case hex");
	if (publish_text(dir, policy_sha256, policy_text, err) ||
	    (topology_text && publish_text(dir, topology_sha256, topology_text, err)))
		return -1;
	path = join(dir, MANIFEST, "", err);
	if (!path)
		return -1;
	n = snprintf(manifest, sizeof manifest,
		     "{\"format\":\"%s\",\"generation\":%llu,\"policy\":\"%s\",\"topology\":%s%s%s}\n", FORMAT,
		     (unsigned long long) generation, policy_sha256, topology_text ? "\"" : "",
		     topology_text ? topology_sha256 : "null", topology_text ? "\"" : "");
	return clf_path_write_atomic(path, 0644, manifest, (size_t) n, err);
}
