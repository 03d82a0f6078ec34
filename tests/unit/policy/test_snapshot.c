/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Publish and load a snapshot; everything that can be wrong with one leaves the reader with nothing new. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/path.h"
#include "golden.h"
#include "policy/snapshot.h"
#include "tap.h"
#include "topo/topo_json.h"
#include "topo/topo_synth.h"

#define A "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define B "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
#define T "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static char dir[512];
static char *policy_text, *topo_text;

static void put(const char *name, const char *text)
{
	char path[1024];
	FILE *f;

	snprintf(path, sizeof path, "%s/%s", dir, name);
	f = fopen(path, "w");
	if (!f || fputs(text, f) < 0 || fclose(f))
		perror(path);
}

static int load(uint64_t known, struct clf_snapshot **s, struct clf_error *err)
{
	*err = (struct clf_error){ 0 };
	return clf_snapshot_load(dir, geteuid(), known, s, err);
}

static void test_good(void)
{
	struct clf_snapshot *s = NULL;
	struct clf_error err = { 0 };

	ok(load(0, &s, &err) && err.code == CLF_E_NOTFOUND, "no snapshot yet: %s", err.text);
	if (!ok(!clf_snapshot_publish(dir, 1, A, policy_text, NULL, NULL, &err), "published: %s", err.text) ||
	    !ok(!load(0, &s, &err) && s, "loaded: %s", err.text))
		return;
	is_int((long long) s->generation, 1, "generation");
	is_str(s->policy_sha256, A, "hash of the policy");
	is_str(s->topology_sha256, "", "no topology");
	is_str(s->policy->id, "cases", "the policy itself");
	ok(!s->topo, "no topology loaded");
	clf_snapshot_destroy(s);
	s = (struct clf_snapshot *) dir;
	ok(!load(1, &s, &err) && !s, "nothing new for who has it");
	ok(!clf_snapshot_publish(dir, 2, B, policy_text, T, topo_text, &err), "the next: %s", err.text);
	if (!ok(!load(1, &s, &err) && s, "is seen: %s", err.text))
		return;
	is_int((long long) s->generation, 2, "its generation");
	is_str(s->topology_sha256, T, "hash of the topology");
	is_int(s->topo ? clf_topo_nnodes(s->topo) : 0, 8, "topology loaded");
	clf_snapshot_destroy(s);
	s = NULL;
	put(A ".json", "damaged");
	ok(!clf_snapshot_publish(dir, 3, A, policy_text, NULL, NULL, &err) && !load(0, &s, &err) && s,
	   "publishing repairs a damaged file");
	clf_snapshot_destroy(s);
}

static void refused(const char *what, enum clf_code code)
{
	struct clf_snapshot *s = NULL;
	struct clf_error err;

	ok(load(0, &s, &err) == -1 && !s, "%s: refused: %s", what, err.text);
	is_str(clf_code_name(err.code), clf_code_name(code), "%s: code", what);
}

static void manifest(const char *what, const char *text)
{
	put("snapshot.json", text);
	refused(what, CLF_E_PARSE);
}

#define HEAD "{\"format\":\"closfold-snapshot/1\","

static void test_manifest(void)
{
	manifest("empty", "");
	manifest("cut", HEAD "\"generation\":1");
	manifest("a list", "[]");
	manifest("other format",
		 "{\"format\":\"closfold-snapshot/2\",\"generation\":1,\"policy\":\"" A "\",\"topology\":null}");
	manifest("generation 0", HEAD "\"generation\":0,\"policy\":\"" A "\",\"topology\":null}");
	manifest("generation below 0", HEAD "\"generation\":-1,\"policy\":\"" A "\",\"topology\":null}");
	manifest("generation past 2^53",
		 HEAD "\"generation\":9007199254740993,\"policy\":\"" A "\",\"topology\":null}");
	manifest("path for a hash",
		 HEAD "\"generation\":1,\"policy\":\"../../../../../etc/passwd\",\"topology\":null}");
	manifest("path after a hash", HEAD "\"generation\":1,\"policy\":\"" A "/../x\",\"topology\":null}");
	manifest("short hash", HEAD "\"generation\":1,\"policy\":\"aaaa\",\"topology\":null}");
	manifest("capitals in the hash",
		 HEAD "\"generation\":1,\"policy\":"
		      "\"Aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\",\"topology\":null}");
	manifest("path for the topology", HEAD "\"generation\":1,\"policy\":\"" A "\",\"topology\":\"../x\"}");
	manifest("topology of another type", HEAD "\"generation\":1,\"policy\":\"" A "\",\"topology\":5}");
	manifest("unknown key", HEAD "\"generation\":1,\"policy\":\"" A "\",\"topology\":null,\"x\":1}");
	put("snapshot.json", HEAD "\"generation\":1,\"policy\":\"" T "\",\"topology\":null}");
	char path[1024];

	snprintf(path, sizeof path, "%s/%s.json", dir, T);
	unlink(path);
	refused("a policy that is not there", CLF_E_IO);
	put(T ".json", "{}");
	refused("a policy that is wrong", CLF_E_PARSE);
	put("snapshot.json", HEAD "\"generation\":1,\"policy\":\"" A "\",\"topology\":\"" T "\"}");
	refused("a topology that is wrong", CLF_E_PARSE);

	char *big = malloc(10000);

	memset(big, ' ', 9999);
	big[9999] = '\0';
	put("snapshot.json", big);
	refused("a huge manifest", CLF_E_NOMEM);
	free(big);
}

static void test_trust(void)
{
	struct clf_error err = { 0 };
	char path[1024];

	ok(!clf_snapshot_publish(dir, 9, A, policy_text, NULL, NULL, &err), "good again");
	snprintf(path, sizeof path, "%s/%s.json", dir, A);
	chmod(path, 0666);
	refused("a policy that all may write", CLF_E_INSECURE);
	chmod(path, 0644);
	snprintf(path, sizeof path, "%s/snapshot.json", dir);
	chmod(path, 0664);
	refused("a manifest that the group may write", CLF_E_INSECURE);
	chmod(path, 0644);
	chmod(dir, 0777);
	refused("a directory that all may write", CLF_E_INSECURE);
	chmod(dir, 0755);
}

static void test_publish(void)
{
	struct clf_error err = { 0 };
	struct clf_snapshot *s = NULL;

	ok(clf_snapshot_publish(dir, 0, A, policy_text, NULL, NULL, &err) && err.code == CLF_E_INVALID,
	   "generation 0 is not published");
	err = (struct clf_error){ 0 };
	ok(clf_snapshot_publish(dir, 1, "../x", policy_text, NULL, NULL, &err) && err.code == CLF_E_INVALID,
	   "nor a path for a hash");
	err = (struct clf_error){ 0 };
	ok(clf_snapshot_publish(dir, 1, A, policy_text, "x", topo_text, &err) && err.code == CLF_E_INVALID,
	   "nor for the topology");
	err = (struct clf_error){ 0 };
	ok(clf_snapshot_publish("/nonexistent", 1, A, policy_text, NULL, NULL, &err), "nor into no directory: %s",
	   err.text);
	ok(!load(0, &s, &err) && s && s->generation == 9, "what was in force still is");
	clf_snapshot_destroy(s);
}

/* A directory whose every parent only root or we can write: not /tmp. */
static bool trusted_dir(void)
{
	const char *home = getenv("HOME");
	const char *const bases[] = { clf_test_dir(), ".", home ? home : "." };

	for (size_t i = 0; i < sizeof bases / sizeof *bases; i++) {
		CLF_AUTO_FREE char *real = realpath(bases[i], NULL);
		char probe[600];
		int fd;

		if (!real)
			continue;
		snprintf(dir, sizeof dir, "%.400s/closfold-test-%d", real, (int) getpid());
		if (mkdir(dir, 0755))
			continue;
		put("probe", "x");
		snprintf(probe, sizeof probe, "%s/probe", dir);
		fd = clf_path_open_trusted(probe, geteuid(), NULL);
		unlink(probe);
		if (fd >= 0) {
			close(fd);
			return true;
		}
		rmdir(dir);
	}
	return false;
}

static void remove_dir(void)
{
	const char *const names[] = { "snapshot.json", A ".json", B ".json", T ".json" };
	char path[1024];

	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		snprintf(path, sizeof path, "%s/%s", dir, names[i]);
		unlink(path);
	}
	is_int(rmdir(dir), 0, "no temporary file is left");
}

int main(void)
{
	CLF_CLEANUP(clf_topo_destroyp) struct clf_topo *topo = NULL;
	char path[512];
	size_t len;

	if (!clf_test_require("trusted-dir", trusted_dir(),
			      "no directory that only we can write: all are below one like /tmp"))
		return done_testing();
	snprintf(path, sizeof path, "%s/tests/policy/policy.json", clf_test_srcdir());
	policy_text = golden_read(path);
	if (!ok(policy_text && !clf_topo_synth("leaf:2 node:4", &topo, NULL) &&
			!clf_topo_json_dump(topo, &topo_text, &len, NULL),
		"set up"))
		return done_testing();
	test_good();
	test_manifest();
	test_trust();
	test_publish();
	remove_dir();
	free(policy_text);
	free(topo_text);
	return done_testing();
}
