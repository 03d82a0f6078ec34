/* SPDX-License-Identifier: GPL-2.0-or-later */
/* spank_node.c - the node's own look before a job's first process: a flagged job without a lease that is signed, its
 * own and seen on this node's ports does not start here.
 *
 * The values come from slurmctld (they were put into the job by job_submit and prep). Plain getenv: in this context
 * spank_job_control_getenv() crashes slurmd's child (Slurm 22.05 to 26.05). The check itself is a program of its own
 * (closfold-node): no cryptography and no sysfs in Slurm's processes. A refusal fails the prolog, so Slurm drains the
 * node.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/proc.h"
#include "policy/conf.h"
#include "slurm/glue_conf.h"
#include "slurm/spank_closfold.h"

#define CHECK_MS 15000

static int run(const char *verb, uint32_t job, struct clf_error *err)
{
	CLF_CLEANUP(clf_conf_destroyp) struct clf_conf *conf = NULL;
	const char *token = getenv("SPANK_CLOSFOLD_TOKEN"), *node = getenv("SLURMD_NODENAME");
	CLF_AUTO_FREE char *entry = NULL;
	char path[4096], id[16];
	struct clf_buf said = CLF_BUF_INIT(4096);
	struct clf_proc_result res = { 0 };
	int rc;

	if (clf_glue_conf_path(getenv("SLURM_CONF"), path, sizeof(path)))
		return clf_fail(err, CLF_E_NOTFOUND, "this node has no closfold.conf");
	if (clf_conf_load(path, &conf, err))
		return -1;
	if (!node || !*node)
		return clf_fail(err, CLF_E_INTERNAL, "the node's name is not in the prolog's environment");
	if (asprintf(&entry, "CLOSFOLD_TOKEN=%s", token ? token : "") < 0)
		return clf_fail(err, CLF_E_NOMEM, "out of memory");
	snprintf(id, sizeof(id), "%u", job);

	const char *argv[] = { conf->node_check, verb, path, id, node, NULL },
		   *env[] = { "PATH=/usr/sbin:/usr/bin:/sbin:/bin", entry, NULL };

	rc = clf_proc_run(argv, env, CHECK_MS, NULL, &said, &res, err);
	if (!rc && res.status)
		rc = clf_fail(err, CLF_E_DENIED, "%.*s", said.data ? (int) strcspn(said.data, "\n") : 0,
			      said.data ? said.data : "");
	clf_buf_done(&said);
	return rc;
}

static bool flagged(void)
{
	const char *f = getenv("SPANK_CLOSFOLD_FLAGGED");

	return f && !strcmp(f, "1");
}

int clf_spank_node_prolog(spank_t sp)
{
	const char *lease = getenv("SPANK_CLOSFOLD_LEASE");
	struct clf_error err = { 0 };
	uint32_t job = 0;

	if (!flagged())
		return 0;
	(void) spank_get_item(sp, S_JOB_ID, &job);
	if (!lease || !*lease)
		clf_fail(&err, CLF_E_DENIED, "it has no lease. Is prep/closfold first in PrEpPlugins?");
	else if (!run("prolog", job, &err))
		return 0;
	slurm_error("closfold: job %u is flagged and is refused on this node: %s", job, err.text);
	return -1;
}

/* What steps were told goes with the job. */
void clf_spank_node_epilog(spank_t sp)
{
	struct clf_error err = { 0 };
	uint32_t job = 0;

	if (!flagged())
		return;
	(void) spank_get_item(sp, S_JOB_ID, &job);
	if (run("epilog", job, &err))
		slurm_info("closfold: job %u: its file is left: %s", job, err.text);
}
