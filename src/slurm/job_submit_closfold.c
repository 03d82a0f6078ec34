/* SPDX-License-Identifier: GPL-2.0-or-later */
/* job_submit_closfold.c - the two entry points of slurmctld: a job is submitted, a job is changed.
 *
 * Called with Slurm's configuration, job, node and partition locks held: nothing here waits but for one record of a
 * flagged job, at most submit_timeout_ms (docs/adr/0007-private-headers-and-prep.md).
 */
#include "slurm/glue_private.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "slurm/glue_errno.h"
#include "slurm/glue_job.h"
#include "slurm/glue_jobdesc.h"
#include "slurm/glue_log.h"
#include "slurm/glue_mem.h"
#include "slurm/glue_modify.h"
#include "slurm/glue_record.h"
#include "slurm/glue_stamp.h"
#include "slurm/site.h"
#include "slurm/timing.h"

const char plugin_name[] = "closfold job submission";
const char plugin_type[] = "job_submit/closfold";
const uint32_t plugin_version = SLURM_VERSION_NUMBER;

extern int init(void)
{
	struct clf_error err = { 0 };

	if (clf_slurm_site_init(slurm_conf.slurm_conf, &err) ||
	    clf_slurm_record_init("job_submit", clf_slurm_site_conf()->runtime_dir, &err)) {
		clf_log_error(&clf_slurm_log, &err);
		return SLURM_ERROR; /* slurmctld does not start: better than one that lets every job pass */
	}
	return SLURM_SUCCESS;
}

#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(25, 11, 0)
extern void fini(void)
{
	clf_slurm_site_done();
	clf_slurm_record_done();
}
#else
extern int fini(void)
{
	clf_slurm_site_done();
	clf_slurm_record_done();
	return SLURM_SUCCESS;
}
#endif

static int64_t now_ms(void)
{
	return clf_clock_system.wall_ms(clf_clock_system.arg);
}

/* Turn an allowed decision into a refusal for what only Slurm knows. */
static void refuse(struct clf_decision *d, const char *rule, const char *reason, const char *advice)
{
	char *r = strdup(rule), *why = strdup(reason), *what = strdup(advice);

	d->allow = false;
	if (!r || !why || !what) {
		free(r);
		free(why);
		free(what);
		return;
	}
	free(d->rule);
	free(d->reason);
	free(d->advice);
	d->rule = r;
	d->reason = why;
	d->advice = what;
}

static void check_slurm_side(const job_desc_msg_t *d, const struct clf_job *job, struct clf_decision *dec)
{
	const char *why;

	if (!dec->allow || !dec->flagged)
		return;
	why = clf_slurm_partitions_share(job->partition);
	if (why)
		refuse(dec, "partition-shares", why, "choose a partition without forced sharing");
	else if (clf_slurm_expands(d->dependency))
		refuse(dec, "expand", "a job of this class cannot lend its nodes to another job",
		       "submit without an expand dependency");
}

static void tell_user(char **err_msg, const struct clf_decision *dec)
{
	CLF_AUTO_FREE char *text = clf_decision_text(dec);

	clf_slurm_replace(err_msg, text ? text : "closfold: refused");
}

/* Nothing is in force: what closfold.conf says, but never a job that asks for protection. */
static int without_policy(job_desc_msg_t *d, char **err_msg)
{
	bool asks = clf_env_get(d->spank_job_env, d->spank_job_env_size, CLF_OPTION_CLASS) ||
		    clf_env_get(d->spank_job_env, d->spank_job_env_size, CLF_OPTION_GRANT);

	clf_env_strip(d->spank_job_env, &d->spank_job_env_size);
	if (!asks && !clf_slurm_site_conf()->reject_on_error)
		return SLURM_SUCCESS;
	clf_slurm_replace(err_msg, "closfold: refused by no-policy: no data policy is in force on this cluster\n"
				   "tell the administrator that closfoldd has published none; retry is safe");
	return clf_slurm_errno(CLF_E_DENIED);
}

static int record_submit(const job_desc_msg_t *d, const struct clf_job *job, const struct clf_slurm_view *v,
			 const struct clf_decision *dec, uint32_t forged, bool wait, struct clf_error *err)
{
	json_t *detail = json_pack("{s:s, s:b, s:b, s:I, s:I, s:I}", "effect", dec->allow ? "permit" : "deny",
				   "flagged", dec->flagged, "exclusive", dec->terms.exclusive, "req_switch",
				   (json_int_t) dec->terms.req_switch, "min_nodes", (json_int_t) job->min_nodes,
				   "forged_stamps", (json_int_t) forged);
	struct clf_record_facts f = {
		.event = CLF_EV_JOB_DECISION,
		.uid = d->user_id,
		.has_uid = true,
		.user = job->user,
		.account = job->account,
		.partition = job->partition,
		.ok = dec->allow,
		.detail = detail,
	};
	int rc;

	if (detail && dec->terms.zone)
		json_object_set_new(detail, "zone", json_string(dec->terms.zone));
	if (detail && d->het_job_offset != NO_VAL)
		json_object_set_new(detail, "het_component", json_integer(d->het_job_offset));
	rc = clf_slurm_record(&f, v, dec, wait, err);
	json_decref(detail);
	return rc;
}

extern int job_submit(job_desc_msg_t *d, uint32_t submit_uid, char **err_msg)
{
	CLF_CLEANUP(clf_slurm_site_putp) struct clf_slurm_view *v = NULL;
	CLF_CLEANUP(clf_decision_destroyp) struct clf_decision *dec = NULL;
	struct clf_error err = { 0 };
	char user[256], text[600];
	uint64_t t0 = clf_timing_now();
	struct clf_job job;
	uint32_t forged = 0;

	(void) submit_uid;
	v = clf_slurm_site_get();
	if (!v)
		return without_policy(d, err_msg);
	job = clf_jobdesc_job(d, d->account && *d->account ? NULL : clf_slurm_default_account(d->user_id),
			      clf_slurm_default_partition(), clf_slurm_user(v, d->user_id, user, sizeof(user)),
			      now_ms());
	if (clf_decide(v->site, &job, &dec, &err) || clf_decision_new_id(dec->id, &err)) {
		clf_log_error(&clf_slurm_log, &err);
		clf_slurm_replace(err_msg, "closfold: refused: the policy could not be evaluated, retry is safe");
		return clf_slurm_errno(CLF_E_NOMEM);
	}
	check_slurm_side(d, &job, dec);
	if (dec->allow) {
		if (dec->flagged)
			clf_jobdesc_restrict(d, &dec->terms);
		forged = clf_jobdesc_stamp(d, dec);
	}
	clf_timing_add(t0, &clf_slurm_log);
	if (record_submit(d, &job, v, dec, forged, dec->allow && dec->flagged, &err) && dec->allow && dec->flagged) {
		clf_log(&clf_slurm_log, CLF_LOG_ERROR, "submission of uid %u refused, its record is not durable: %s",
			d->user_id, clf_error_string(&err, text, sizeof(text)));
		clf_slurm_replace(err_msg,
				  "closfold: refused by audit-unavailable: audit log unavailable, retry is safe\n"
				  "jobs of this class need a durable record; tell the administrator if it lasts");
		return clf_slurm_errno(CLF_E_REMOTE);
	}
	if (dec->allow)
		return SLURM_SUCCESS;
	tell_user(err_msg, dec);
	clf_log(&clf_slurm_log, CLF_LOG_INFO, "submission of uid %u refused, rule %s: %s", d->user_id, dec->rule,
		dec->reason);
	return clf_slurm_errno(CLF_E_DENIED);
}

static void record_modify(const job_record_t *j, const struct clf_slurm_view *v, const struct clf_decision *dec,
			  const struct clf_stamp *stamp, uint32_t uid, const char *fields, const char *result,
			  const char *why)
{
	json_t *detail = json_pack("{s:s, s:s, s:I}", "fields", fields, "result", result, "by_uid", (json_int_t) uid);
	struct clf_error err = { 0 };
	struct clf_record_facts f = {
		.event = CLF_EV_JOB_MODIFY,
		.job_id = j->job_id,
		.submit_time_s = j->details ? (int64_t) j->details->submit_time : 0,
		.decision = stamp->authentic ? stamp->decision : NULL,
		.uid = uid,
		.has_uid = true,
		.account = j->account,
		.partition = j->partition,
		.ok = !why || !strcmp(result, "override"),
		.status_code = result,
		.message = why ? why : "changed",
		.detail = detail,
	};

	if (clf_slurm_record(&f, v, dec, false, &err))
		clf_log_error(&clf_slurm_log, &err);
	json_decref(detail);
}

/* Our part of admin_comment stays; an operator's text goes behind it. */
static void keep_comment(job_desc_msg_t *d, const job_record_t *j)
{
	uint32_t ours = clf_comment_ours(j->admin_comment);
	char *kept;

	if (!d->admin_comment || !ours ||
	    (clf_comment_ours(d->admin_comment) == ours && !strncmp(d->admin_comment, j->admin_comment, ours)))
		return;
	kept = clf_slurm_printf("%.*s%s%s", (int) ours, j->admin_comment, *d->admin_comment ? "; " : "",
				d->admin_comment);
	clf_slurm_free(&d->admin_comment);
	d->admin_comment = kept;
}

/* NULL, or why this change of a job that is, or would be, flagged is not allowed. */
static const char *judge(const job_desc_msg_t *d, const job_record_t *j, const struct clf_decision *dec,
			 const char *field, const char *partition, char *buf, size_t size)
{
	struct clf_modify_now now = clf_slurm_job_now(j);
	const char *why;

	if (field) {
		snprintf(buf, size, "'%s' cannot be changed on a job of class %s", field, dec->cls);
		return buf;
	}
	if (!dec->allow) {
		snprintf(buf, size, "rule %s: %s", dec->rule, dec->reason);
		return buf;
	}
	if (clf_slurm_expands(d->dependency))
		return "a job of this class cannot lend its nodes to another job";
	why = clf_slurm_partitions_share(partition);
	if (why)
		return why;
	return now.pending ? clf_modify_breaks(d, &now, &dec->terms) : NULL;
}

static int modify(job_desc_msg_t *d, job_record_t *j, uint32_t uid)
{
	CLF_CLEANUP(clf_slurm_site_putp) struct clf_slurm_view *v = clf_slurm_site_get();
	CLF_CLEANUP(clf_decision_destroyp) struct clf_decision *dec = NULL;
	struct clf_stamp stamp = clf_stamp_read(j->spank_job_env, j->spank_job_env_size, j->admin_comment);
	struct clf_error err = { 0 };
	char user[256], fields[1024], buf[700];
	const char *field = clf_modify_forbidden(d, IS_JOB_PENDING(j), fields, sizeof(fields));
	const char *why = NULL;
	struct clf_job job = clf_slurm_job(j, &stamp, clf_slurm_user(v, j->user_id, user, sizeof(user)), now_ms());
	bool flagged, operator= validate_operator((uid_t) uid);

	keep_comment(d, j);
	clf_modify_merge(d, &job);
	if (!v) {
		flagged = stamp.flagged || clf_slurm_site_conf()->reject_on_error;
		why = flagged ? "no data policy is in force" : NULL;
	} else if (clf_decide(v->site, &job, &dec, &err)) {
		clf_log_error(&clf_slurm_log, &err);
		why = "the policy could not be evaluated";
	} else {
		flagged = dec->flagged || (stamp.authentic && stamp.flagged);
		if (flagged)
			why = judge(d, j, dec, operator? NULL : field, job.partition, buf, sizeof(buf));
		else if (!dec->allow)
			why = judge(d, j, dec, NULL, NULL, buf, sizeof(buf));
	}
	record_modify(j, v, dec, &stamp, uid, fields, !why ? "allowed" : operator? "override" : "refused", why);
	if (!why)
		return SLURM_SUCCESS;
	clf_log(&clf_slurm_log, CLF_LOG_INFO, "change of job %u (%s) by uid %u %s: %s", j->job_id, fields,
		uid, operator? "outside the terms, an operator's override" : "refused", why);
	if (operator) /* recorded; the start looks again and refuses what breaks the terms */
		return SLURM_SUCCESS;
	/* 22.05 gives job_modify no message for the user: `scontrol show job` shows this one */
	clf_slurm_free(&j->system_comment);
	j->system_comment = clf_slurm_printf("closfold: change refused: %s", why);
	last_job_update = time(NULL);
	return clf_slurm_errno(CLF_E_DENIED);
}

#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(23, 2, 0)
extern int job_modify(job_desc_msg_t *d, job_record_t *j, uint32_t uid, char **err_msg)
{
	int rc = modify(d, j, uid);

	if (rc)
		clf_slurm_replace(err_msg, j->system_comment);
	return rc;
}
#else
extern int job_modify(job_desc_msg_t *d, job_record_t *j, uint32_t uid)
{
	return modify(d, j, uid);
}
#endif
