/* SPDX-License-Identifier: GPL-2.0-or-later */
/* spank_node.c - the node's own look before a job's first process: a flagged job without a lease does not start here.
 *
 * Both values come from slurmctld (they were put into the job by job_submit and prep). Plain getenv: in this context
 * spank_job_control_getenv() crashes slurmd's child (Slurm 22.05 to 26.05).
 */
#include <stdlib.h>
#include <string.h>

#include "slurm/spank_closfold.h"

int clf_spank_node_prolog(spank_t sp)
{
	const char *flagged = getenv("SPANK_CLOSFOLD_FLAGGED"), *lease = getenv("SPANK_CLOSFOLD_LEASE");
	uint32_t job = 0;

	if (!flagged || strcmp(flagged, "1") || (lease && *lease))
		return 0;
	(void) spank_get_item(sp, S_JOB_ID, &job);
	slurm_error("closfold: job %u is flagged and has no lease: refused on this node. Is prep/closfold first in "
		    "PrEpPlugins?",
		    job);
	return -1;
}
