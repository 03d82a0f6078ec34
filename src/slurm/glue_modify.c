/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "slurm/glue_modify.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/hostlist.h"
#include "base/strmap.h"
#include "slurm/glue_jobdesc.h"

#define F(field, rule)                                                                                                 \
	{                                                                                                              \
#field, offsetof(job_desc_msg_t, field), sizeof(((job_desc_msg_t *) 0)->field), CLF_MODIFY_##rule      \
	}
const struct clf_modify_field clf_modify_fields[] = {
	F(account, CHECK), /* floors, grants */
	F(acctg_freq, NONE),
	F(admin_comment, CHECK), /* operators only; our part is kept */
	F(alloc_node, NONE),
	F(alloc_resp_port, NONE),
	F(alloc_sid, NONE),
	F(argc, NONE),
	F(argv, NONE),
	F(array_inx, FREE), /* how many tasks run at once */
	F(array_bitmap, NONE),
	F(batch_features, REFUSE),
	F(begin_time, FREE),
	F(bitflags, NONE), /* set by every client; size and dependency flags, the terms bind whatever they choose */
	F(burst_buffer, REFUSE),
	F(clusters, REFUSE),
	F(cluster_features, REFUSE),
	F(comment, FREE),
	F(contiguous, FREE),
	F(container, REFUSE),
	F(core_spec, REFUSE),
	F(cpu_bind, NONE),
	F(cpu_bind_type, NONE),
	F(cpu_freq_min, NONE),
	F(cpu_freq_max, NONE),
	F(cpu_freq_gov, NONE),
	F(cpus_per_tres, FREE), /* sizes inside whole nodes */
	F(crontab_entry, REFUSE),
	F(deadline, FREE),
	F(delay_boot, FREE),
	F(dependency, CHECK), /* expand: moves nodes between jobs */
	F(end_time, FREE),
	F(environment, NONE),
	F(env_hash, NONE),
	F(env_size, NONE),
	F(extra, FREE),
	F(exc_nodes, CHECK),
	F(features, REFUSE),
	F(fed_siblings_active, REFUSE),
	F(fed_siblings_viable, REFUSE),
	F(group_id, NONE),
	F(het_job_offset, NONE),
	F(immediate, NONE),
	F(job_id, NONE),
	F(job_id_str, NONE),
	F(kill_on_node_fail, NONE),
	F(licenses, CHECK),
	F(mail_type, FREE),
	F(mail_user, FREE),
	F(mcs_label, REFUSE),
	F(mem_bind, NONE),
	F(mem_bind_type, NONE),
	F(mem_per_tres, FREE),
	F(name, FREE),
	F(network, REFUSE),
	F(nice, FREE),
	F(num_tasks, FREE),
	F(open_mode, NONE),
	F(origin_cluster, REFUSE),
	F(other_port, NONE),
	F(overcommit, NONE),
	F(partition, CHECK),
	F(plane_size, NONE),
	F(power_flags, NONE),
	F(prefer, FREE),
	F(priority, FREE), /* hold, release, top: Slurm's own rules */
	F(profile, NONE),
	F(qos, CHECK),
	F(reboot, REFUSE),
	F(resp_host, NONE),
	F(restart_cnt, NONE),
	F(req_nodes, CHECK),
	F(requeue, FREE),
	F(reservation, REFUSE),
	F(script, NONE),
	F(script_buf, NONE),
	F(script_hash, NONE),
	F(shared, REFUSE),
	F(site_factor, NONE),
	F(spank_job_env, REFUSE),
	F(spank_job_env_size, REFUSE),
	F(submit_line, NONE),
	F(task_dist, NONE),
	F(time_limit, FREE),
	F(time_min, FREE),
	F(tres_bind, FREE),
	F(tres_freq, FREE),
	F(tres_per_job, FREE),
	F(tres_per_node, FREE),
	F(tres_per_socket, FREE),
	F(tres_per_task, FREE),
	F(user_id, NONE),
	F(wait_all_nodes, NONE),
	F(warn_flags, NONE),
	F(warn_signal, NONE),
	F(warn_time, NONE),
	F(work_dir, FREE),
	F(cpus_per_task, FREE),
	F(min_cpus, FREE),
	F(max_cpus, FREE),
	F(min_nodes, CHECK),
	F(max_nodes, CHECK),
	F(boards_per_node, NONE),
	F(sockets_per_board, NONE),
	F(sockets_per_node, FREE),
	F(cores_per_socket, FREE),
	F(threads_per_core, FREE),
	F(ntasks_per_node, FREE),
	F(ntasks_per_socket, FREE),
	F(ntasks_per_core, FREE),
	F(ntasks_per_board, NONE),
	F(ntasks_per_tres, FREE),
	F(pn_min_cpus, FREE),
	F(pn_min_memory, FREE),
	F(pn_min_tmp_disk, FREE),
	F(req_context, REFUSE),
	F(req_switch, CHECK),
	F(select_jobinfo, NONE),
	F(selinux_context, NONE),
	F(std_err, NONE),
	F(std_in, NONE),
	F(std_out, FREE),
	F(tres_req_cnt, NONE),
	F(wait4switch, CHECK),
	F(wckey, FREE),
	F(x11, NONE),
	F(x11_magic_cookie, NONE),
	F(x11_target, NONE),
	F(x11_target_port, NONE),
};
const size_t clf_modify_nfields = sizeof(clf_modify_fields) / sizeof(*clf_modify_fields);

static bool changed(const job_desc_msg_t *d, const job_desc_msg_t *unchanged, const struct clf_modify_field *f)
{
	return memcmp((const char *) d + f->offset, (const char *) unchanged + f->offset, f->size) != 0;
}

/* A running job's lease names its nodes: its size cannot change under it. */
static bool resizes(const char *field)
{
	return !strcmp(field, "req_nodes") || !strcmp(field, "min_nodes") || !strcmp(field, "max_nodes");
}

const char *clf_modify_forbidden(const job_desc_msg_t *d, bool pending, char *list, size_t size)
{
	job_desc_msg_t unchanged;
	const char *first = NULL;
	size_t used = 0;

	slurm_init_job_desc_msg(&unchanged);
	list[0] = '\0';
	for (size_t i = 0; i < clf_modify_nfields; i++) {
		const struct clf_modify_field *f = &clf_modify_fields[i];
		int n;

		if (f->rule == CLF_MODIFY_NONE || !changed(d, &unchanged, f))
			continue;
		n = snprintf(list + used, size - used, "%s%s", used ? "," : "", f->name);
		if (n > 0 && (size_t) n < size - used)
			used += (size_t) n;
		else
			list[used] = '\0';
		if (!first && (f->rule == CLF_MODIFY_REFUSE || (!pending && resizes(f->name))))
			first = f->name;
	}
	return first;
}

static const char *over(const char *new, const char *old)
{
	return new ? (*new ? new : NULL) : old;
}

static uint32_t over_count(uint32_t new, uint32_t old)
{
	return new == NO_VAL ? old : new == INFINITE ? 0 : new;
}

void clf_modify_merge(const job_desc_msg_t *d, struct clf_job *job)
{
	job->account = over(d->account, job->account);
	if (d->account && !*d->account)
		job->accountless = false; /* Slurm will fill in the default, which is not known here */
	job->partition = over(d->partition, job->partition);
	job->qos = over(d->qos, job->qos);
	job->req_nodes = over(d->req_nodes, job->req_nodes);
	job->exc_nodes = over(d->exc_nodes, job->exc_nodes);
	job->min_nodes = over_count(d->min_nodes, job->min_nodes);
	job->max_nodes = over_count(d->max_nodes, job->max_nodes);
	job->req_switch = over_count(d->req_switch, job->req_switch);
}

/* Are all hosts of `part` in `whole`? Doubt is no. */
static bool contains(const char *whole, const char *part)
{
	CLF_CLEANUP(clf_strv_done) struct clf_strv w = { 0 };
	CLF_CLEANUP(clf_strv_done) struct clf_strv p = { 0 };
	CLF_CLEANUP(clf_strmap_done) struct clf_strmap m = { 0 };
	uint32_t unused;

	if (!part || !*part)
		return true;
	if (!whole || !strcmp(whole, part))
		return whole != NULL;
	if (clf_hostlist_expand(whole, CLF_MAX_NODES, &w, NULL) || clf_hostlist_expand(part, CLF_MAX_NODES, &p, NULL))
		return false;
	for (size_t i = 0; i < w.n; i++)
		if (clf_strmap_set(&m, w.v[i], 1, NULL))
			return false;
	for (size_t i = 0; i < p.n; i++)
		if (!clf_strmap_find(&m, p.v[i], &unused))
			return false;
	return true;
}

const char *clf_modify_breaks(const job_desc_msg_t *d, const struct clf_modify_now *now, const struct clf_terms *terms)
{
	uint32_t req_switch = over_count(d->req_switch, now->req_switch);
	uint32_t wait = d->wait4switch == NO_VAL ? now->wait4switch : d->wait4switch;

	if (!contains(over(d->exc_nodes, now->exc_nodes), terms->exclude))
		return "nodes outside the zone would no longer be excluded";
	if (terms->exclusive && (!now->exclusive || (d->shared != NO_VAL16 && d->shared != JOB_SHARED_NONE)))
		return "the job would share its nodes";
	if (terms->licence && now->licence_holder &&
	    !clf_licences_have(over(d->licenses, now->licences), terms->licence))
		return "the network key's licence would be missing";
	if (terms->req_switch && (d->req_switch != NO_VAL || d->wait4switch != NO_VAL) &&
	    (!req_switch || req_switch > terms->req_switch ||
	     (req_switch == terms->req_switch && wait < terms->switch_wait_s)))
		return "the limit of switches would be wider than the policy's";
	return NULL;
}
