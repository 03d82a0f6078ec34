/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "slurm/glue_private.h"

#include "slurm/site_nodes.h"

uint32_t clf_slurm_nodes_count(void)
{
	return (uint32_t) node_record_count;
}

time_t clf_slurm_nodes_changed(void)
{
	return last_node_update;
}

/* FNV-1a; equal tables give equal numbers, and a missed change is repaired by the next one */
static uint64_t mix(uint64_t h, const char *s)
{
	for (; *s; s++)
		h = (h ^ (unsigned char) *s) * UINT64_C(1099511628211);
	return (h ^ 0xff) * UINT64_C(1099511628211);
}

static int copy_all(struct clf_slurm_nodes *n, struct clf_error *err)
{
	n->hash = UINT64_C(14695981039346656037);
	for (int i = 0; i < node_record_count; i++) {
		const node_record_t *r = node_record_table_ptr[i];
		const char *features;

		if (!r || !r->name)
			continue;
		features = r->features_act ? r->features_act : r->features ? r->features : "";
		if (clf_strv_add(&n->names, r->name, err) || clf_strv_add(&n->features, features, err))
			return -1;
		n->hash = mix(mix(n->hash, r->name), features);
	}
	return 0;
}

int clf_slurm_nodes_copy(bool locked, struct clf_slurm_nodes *out, struct clf_error *err)
{
	struct clf_slurm_nodes n = { 0 };
	slurmctld_lock_t lock = { .node = READ_LOCK };
	int rc;

	if (!locked)
		lock_slurmctld(lock);
	rc = copy_all(&n, err);
	if (!locked)
		unlock_slurmctld(lock);
	if (rc)
		clf_slurm_nodes_done(&n);
	else
		*out = n;
	return rc;
}

void clf_slurm_nodes_done(struct clf_slurm_nodes *n)
{
	clf_strv_done(&n->names);
	clf_strv_done(&n->features);
}
