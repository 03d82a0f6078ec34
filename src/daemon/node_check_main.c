/* SPDX-License-Identifier: GPL-2.0-or-later */
/* node_check_main.c - closfold-node: what a flagged job's prolog and epilog do on its node. Run by the SPANK plugin.
 *
 *   closfold-node prolog CONF JOB NODE    CLOSFOLD_TOKEN in the environment; 0: the job may start, and what its steps
 * are told is in RUNTIME_DIR/jobs/JOB; 1: the reason on standard error closfold-node epilog CONF JOB NODE
 *
 * Files it goes by are root's alone (base/path.h); sysfs is the one of closfold.conf.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "audit/sign.h"
#include "base/clock.h"
#include "base/lex.h"
#include "base/path.h"
#include "daemon/inforce.h"
#include "daemon/lease_check.h"
#include "daemon/node_facts.h"

static int job_file(const struct clf_conf *conf, const char *job, char path[PATH_MAX], struct clf_error *err)
{
	if (snprintf(path, PATH_MAX, "%s/jobs", conf->runtime_dir) >= PATH_MAX || clf_path_mkdirs(path, 0755, err))
		return clf_fail(err, CLF_E_IO, "no directory for job files");
	if (snprintf(path, PATH_MAX, "%s/jobs/%s", conf->runtime_dir, job) >= PATH_MAX)
		return clf_fail(err, CLF_E_INVALID, "path of the job's file is too long");
	return 0;
}

static int public_key(const struct clf_conf *conf, struct clf_sign_key **out, struct clf_error *err)
{
	struct clf_text t = { 0 };
	struct clf_error why = { 0 };
	int rc;

	if (clf_inforce_trusted(conf->lease_key, &why) || clf_text_load(conf->lease_key, 4096, &t, &why))
		return clf_fail(err, why.code,
				"public key of leases: %s; copy the controller's lease.pub there, owned by root",
				why.text);
	rc = clf_sign_key_public(t.data, t.len, out, err);
	clf_text_done(&t);
	return rc;
}

static int prolog(const struct clf_conf *conf, const char *job, const char *node, struct clf_error *err)
{
	CLF_CLEANUP(clf_sign_key_destroyp) struct clf_sign_key *key = NULL;
	CLF_AUTO_FREE char *body = NULL, *env = NULL;
	const char *token = getenv("CLOSFOLD_TOKEN");
	json_auto_t *facts = NULL;
	char path[PATH_MAX];
	unsigned long long id;
	struct clf_lease_check c = { .cluster = conf->cluster,
				     .node = node,
				     .now_ms = clf_clock_system.wall_ms(clf_clock_system.arg) };

	if (!clf_parse_u64(job, strlen(job), &id) || !id || id > UINT32_MAX)
		return clf_fail(err, CLF_E_INVALID, "'%.20s' is no job id", job);
	c.job_id = (uint32_t) id;
	if (!token || !*token)
		return clf_fail(err, CLF_E_DENIED,
				"the job brings no signed lease; is prep/closfold first in PrEpPlugins?");
	if (public_key(conf, &key, err) || clf_sign_check(key, token, &body, err))
		return -1;
	facts = clf_node_facts(node, conf->sysfs, NULL, err);
	if (!facts || clf_lease_check(&c, body, facts, &env, err) || job_file(conf, job, path, err))
		return -1;
	return clf_path_write_atomic(path, 0644, env, strlen(env), err);
}

static int epilog(const struct clf_conf *conf, const char *job, struct clf_error *err)
{
	char path[PATH_MAX];

	if (job_file(conf, job, path, err))
		return -1;
	return unlink(path) && errno != ENOENT ? clf_fail(err, CLF_E_IO, "'%s': %s", path, strerror(errno)) : 0;
}

int main(int argc, char **argv)
{
	CLF_CLEANUP(clf_conf_destroyp) struct clf_conf *conf = NULL;
	struct clf_error err = { 0 };
	char line[400];
	int rc = -1;

	if (argc != 5 || strspn(argv[3], "0123456789") != strlen(argv[3]) || strlen(argv[3]) > 10) {
		fputs("usage: closfold-node prolog|epilog CONF JOB NODE\n", stderr);
		return 2;
	}
	if (!clf_inforce_trusted(argv[2], &err) && !clf_conf_load(argv[2], &conf, &err)) {
		if (!strcmp(argv[1], "prolog"))
			rc = prolog(conf, argv[3], argv[4], &err);
		else if (!strcmp(argv[1], "epilog"))
			rc = epilog(conf, argv[3], &err);
		else
			clf_fail(&err, CLF_E_INVALID, "no such verb");
	}
	if (rc)
		fprintf(stderr, "%s\n", clf_error_string(&err, line, sizeof line));
	return rc ? 1 : 0;
}
