/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "slurm/glue_job.h"

#include <pwd.h>
#include <stdio.h>
#include <string.h>

const char *clf_slurm_user(const struct clf_slurm_view *v, uint32_t uid, char *buf, size_t size)
{
	struct passwd pw, *found = NULL;
	char scratch[4096];

	if (!v || !v->names_users || getpwuid_r((uid_t) uid, &pw, scratch, sizeof(scratch), &found) || !found)
		return NULL;
	if (snprintf(buf, size, "%s", found->pw_name) >= (int) size)
		return NULL;
	return buf;
}

const char *clf_slurm_default_account(uint32_t uid)
{
	slurmdb_user_rec_t user = { .uid = uid };

	if (assoc_mgr_fill_in_user(acct_db_conn, &user, accounting_enforce, NULL, false) != SLURM_SUCCESS)
		return NULL;
	return user.default_acct;
}

const char *clf_slurm_default_partition(void)
{
	return default_part_name;
}

static uint32_t count(uint32_t v)
{
	return v == NO_VAL || v == INFINITE ? 0 : v;
}

static const char *given(const char *s)
{
	return s && *s ? s : NULL;
}

struct clf_job clf_slurm_job(const job_record_t *j, const struct clf_stamp *stamp, const char *user, int64_t now_ms)
{
	const struct job_details *d = j->details;

	return (struct clf_job){
		.uid = j->user_id,
		.user = user,
		.account = given(j->account),
		.accountless = true, /* Slurm has filled in the default */
		.partition = given(j->partition),
		.claim_class = clf_env_get(j->spank_job_env, j->spank_job_env_size, CLF_OPTION_CLASS),
		.claim_grant = clf_env_get(j->spank_job_env, j->spank_job_env_size, CLF_OPTION_GRANT),
		/* forged stamps count too: a class can only go up by them */
		.had_class = given(stamp->cls),
		.had_grant = given(stamp->grant),
		.min_nodes = d ? count(d->min_nodes) : 0,
		.max_nodes = d ? count(d->max_nodes) : 0,
		.req_nodes = d ? given(d->req_nodes) : NULL,
		.exc_nodes = d ? given(d->exc_nodes) : NULL,
		.req_switch = count(j->req_switch),
		.het_component = j->het_job_id != 0,
		.het_leader = j->het_job_id != 0 && j->het_job_offset == 0,
		.array = j->array_job_id != 0,
		.interactive = !j->batch_flag,
		.now_ms = now_ms,
	};
}

struct clf_modify_now clf_slurm_job_now(const job_record_t *j)
{
	const struct job_details *d = j->details;

	return (struct clf_modify_now){
		.pending = IS_JOB_PENDING(j),
		.exclusive =
			d && (d->whole_node == 1 || (j->part_ptr && j->part_ptr->max_share == 0)) && d->share_res != 1,
		.licence_holder = j->het_job_id == 0 || j->het_job_offset == 0,
		.exc_nodes = d ? given(d->exc_nodes) : NULL,
		.licences = given(j->licenses),
		.req_switch = count(j->req_switch),
		.wait4switch = j->wait4switch,
	};
}

const char *clf_slurm_partitions_share(const char *partitions)
{
	char name[256];

	for (const char *p = partitions ? partitions : ""; *p;) {
		size_t len = strcspn(p, ",");
		part_record_t *part;

		if (len && len < sizeof(name)) {
			memcpy(name, p, len);
			name[len] = '\0';
			part = find_part_record(name);
			if (part && (part->max_share & SHARED_FORCE) &&
			    (part->max_share & (uint16_t) ~SHARED_FORCE) > 1)
				return "the partition makes jobs share nodes (OverSubscribe=FORCE)";
		}
		p += len + (p[len] == ',');
	}
	return NULL;
}

const char *clf_slurm_nodes_shared(const job_record_t *j)
{
	const char *why = j->part_ptr ? clf_slurm_partitions_share(j->part_ptr->name) : NULL;
	struct clf_modify_now now = clf_slurm_job_now(j);

	if (why)
		return why;
	if (!now.exclusive)
		return "the job does not have its nodes to itself";
	for (int i = 0; j->node_bitmap && i < node_record_count; i++) {
		const node_record_t *n = node_record_table_ptr[i];

		if (n && bit_test(j->node_bitmap, i) && n->run_job_cnt + n->sus_job_cnt > 1)
			return "another job is on its nodes";
	}
	return NULL;
}

bool clf_slurm_expands(const char *dependency)
{
	return dependency && strcasestr(dependency, "expand") != NULL;
}
