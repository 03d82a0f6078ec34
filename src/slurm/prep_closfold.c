/* SPDX-License-Identifier: GPL-2.0-or-later */
/* prep_closfold.c - at allocation a flagged job waits here until closfoldd has given its lease; at the end the lease is
 * given back.
 *
 * Slurm starts a job whose prolog "fails" with anything but the wait status 0x100, and one whose plugin returns an
 * error without having gone asynchronous (docs/adr/0007-private-headers-and-prep.md). So: a flagged job is always
 * answered asynchronously, by clf_prep_answer_start(), with 0 or 0x100. Other jobs never wait.
 */
#include "slurm/glue_private.h"

#include "src/slurmctld/srun_comm.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>

#include "slurm/glue_job.h"
#include "slurm/glue_jobdesc.h"
#include "slurm/glue_log.h"
#include "slurm/glue_mem.h"
#include "slurm/glue_record.h"
#include "slurm/prep_io.h"
#include "slurm/prep_queue.h"
#include "slurm/site.h"
#include "wire/client.h"

const char plugin_name[] = "closfold start and end of jobs";
const char plugin_type[] = "prep/closfold";
const uint32_t plugin_version = SLURM_VERSION_NUMBER;

#define FAILED_STATUS 0x100 /* "exited with 1": the only failure Slurm understands */
#define JOIN_S        3
#define SPANK_PREFIX  "SPANK_"

static struct {
	prep_callbacks_t call;
	pthread_t thread;
	pthread_mutex_t turn; /* held by the worker that serves the queue: one that was left behind ends first */
	bool active;
	uint64_t epoch; /* of the worker in charge; one of another epoch ends */
	int wake;       /* eventfd */
	struct clf_prep_queue *queue;
	struct clf_client *client;
} P = { .turn = PTHREAD_MUTEX_INITIALIZER, .wake = -1 };

int64_t clf_prep_now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t) t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* The one place that makes a status. */
void clf_prep_answer_start(uint32_t job_id, bool ok)
{
	P.call.prolog_slurmctld(ok ? 0 : FAILED_STATUS, job_id, false);
}

void clf_prep_answer_end(uint32_t job_id)
{
	P.call.epilog_slurmctld(0, job_id, false);
}

static void set_comment(job_record_t *j, const char *lease, const char *note)
{
	char *comment = clf_comment_note(j->admin_comment, lease, note);

	clf_slurm_free(&j->admin_comment);
	j->admin_comment = comment;
	last_job_update = time(NULL);
}

void clf_prep_stamp(uint32_t job_id, const char *lease, const char *token)
{
	slurmctld_lock_t lock = { .job = WRITE_LOCK };
	job_record_t *j;

	lock_slurmctld(lock);
	j = find_job_record(job_id);
	if (j) {
		clf_env_remove(j->spank_job_env, &j->spank_job_env_size, CLF_STAMP_LEASE);
		clf_env_add(&j->spank_job_env, &j->spank_job_env_size, SPANK_PREFIX, CLF_STAMP_LEASE, lease);
		clf_env_remove(j->spank_job_env, &j->spank_job_env_size, CLF_STAMP_TOKEN);
		clf_env_add(&j->spank_job_env, &j->spank_job_env_size, SPANK_PREFIX, CLF_STAMP_TOKEN, token);
		set_comment(j, lease, NULL);
	}
	unlock_slurmctld(lock);
	clf_log(&clf_slurm_log, CLF_LOG_INFO, "job %u starts with lease %s", job_id, lease);
}

void clf_prep_note(uint32_t job_id, const char *reason, bool hold)
{
	slurmctld_lock_t lock = { .job = WRITE_LOCK };
	job_record_t *j;

	lock_slurmctld(lock);
	j = find_job_record(job_id);
	if (j) {
		set_comment(j, NULL, reason);
		clf_slurm_free(&j->state_desc);
		j->state_desc = clf_slurm_printf("closfold: %s", reason);
		if (!j->batch_flag)
			srun_user_message(j, j->state_desc);
		if (hold) { /* survives the requeue; only an operator releases it */
			j->priority = 0;
			j->state_reason = WAIT_HELD;
			/* squeue shows state_desc in place of the reason: that it is held must be seen, why is in the
			 * comment */
			clf_slurm_free(&j->state_desc);
		}
	}
	unlock_slurmctld(lock);
	clf_log(&clf_slurm_log, CLF_LOG_ERROR, "job %u does not start%s: %s", job_id, hold ? " and is held" : "",
		reason);
}

static void *worker(void *arg)
{
	uint64_t mine = (uintptr_t) arg;

	pthread_mutex_lock(&P.turn);
	while (__atomic_load_n(&P.epoch, __ATOMIC_ACQUIRE) == mine) {
		int wait = clf_prep_queue_step(P.queue, P.client);
		struct pollfd fds[2] = { { .fd = P.wake, .events = POLLIN },
					 { .fd = clf_client_fd(P.client), .events = POLLIN } };
		uint64_t count;

		if (poll(fds, fds[1].fd >= 0 ? 2 : 1, wait) > 0 && (fds[0].revents & POLLIN) &&
		    read(P.wake, &count, sizeof(count)) < 0 && errno != EAGAIN)
			break;
	}
	pthread_mutex_unlock(&P.turn);
	return NULL;
}

static void wake(void)
{
	uint64_t one = 1;

	while (write(P.wake, &one, sizeof(one)) < 0 && errno == EINTR)
		;
}

static int begin(struct clf_error *err)
{
	char path[4096];
	const struct clf_conf *settings;
	uint64_t mine;

	if (clf_slurm_site_init(slurm_conf.slurm_conf, err))
		return -1;
	settings = clf_slurm_site_conf();
	if (clf_slurm_record_init("prep", settings->runtime_dir, err))
		return -1;
	if (snprintf(path, sizeof(path), "%s/closfoldd.sock", settings->runtime_dir) >= (int) sizeof(path))
		return clf_fail(err, CLF_E_INVALID, "runtime_dir too long");
	/* what a worker that was left behind uses stays, with the starts that wait in it */
	if (!P.client)
		P.client = clf_client_create(path, err);
	if (!P.queue)
		P.queue = clf_prep_queue_create(settings->start_timeout_ms, settings->start_failures, err);
	if (P.wake < 0)
		P.wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (!P.client || !P.queue)
		return -1;
	mine = __atomic_add_fetch(&P.epoch, 1, __ATOMIC_ACQ_REL);
	if (P.wake < 0 || pthread_create(&P.thread, NULL, worker, (void *) (uintptr_t) mine))
		return clf_fail(err, CLF_E_INTERNAL, "cannot start a thread");
	P.active = true;
	return 0;
}

extern int init(void)
{
	struct clf_error err = { 0 };

	if (!running_in_slurmctld() || P.active)
		return SLURM_SUCCESS;
	if (begin(&err)) {
		clf_log_error(&clf_slurm_log, &err);
		return SLURM_ERROR;
	}
	return SLURM_SUCCESS;
}

/* Unanswered starts are asked again by the next slurmctld. The worker may wait for a lock of our caller's: then it is
 * left to end. */
static void end(void)
{
	struct timespec t;

	if (!P.active)
		return;
	__atomic_add_fetch(&P.epoch, 1, __ATOMIC_ACQ_REL);
	P.active = false;
	wake();
	clock_gettime(CLOCK_REALTIME, &t);
	t.tv_sec += JOIN_S;
	if (pthread_timedjoin_np(P.thread, NULL, &t)) {
		pthread_detach(P.thread);
		return;
	}
	clf_prep_queue_destroy(P.queue);
	clf_client_destroy(P.client);
	close(P.wake);
	P.queue = NULL;
	P.client = NULL;
	P.wake = -1;
	clf_slurm_record_done();
	clf_slurm_site_done();
}

#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(25, 11, 0)
extern void fini(void)
{
	end();
}
#else
extern int fini(void)
{
	end();
	return SLURM_SUCCESS;
}
#endif

extern void prep_p_register_callbacks(prep_callbacks_t *callbacks)
{
	P.call = *callbacks;
}

/* On nodes the SPANK plugin looks. */
extern int prep_p_prolog(job_env_t *job_env, slurm_cred_t *cred)
{
	(void) job_env;
	(void) cred;
	return SLURM_SUCCESS;
}

extern int prep_p_epilog(job_env_t *job_env, slurm_cred_t *cred)
{
	(void) job_env;
	(void) cred;
	return SLURM_SUCCESS;
}

extern void prep_p_required(prep_call_type_t type, bool *required)
{
	*required = P.active && (type == PREP_PROLOG_SLURMCTLD || type == PREP_EPILOG_SLURMCTLD);
}

static int64_t submit_time(const job_record_t *j)
{
	return j->details ? (int64_t) j->details->submit_time : 0;
}

static json_t *string_or_empty(const char *s)
{
	json_t *j = json_string(s ? s : "");

	return j ? j : json_string("?");
}

/* The question for a lease; NULL when memory ends. */
static json_t *ask_open(const job_record_t *j, const struct clf_stamp *stamp, const struct clf_decision *dec)
{
	json_t *o = json_object();
	int bad = !o;

	bad |= json_object_set_new(o, "op", json_string("lease.open"));
	bad |= json_object_set_new(o, "job_id", json_integer(j->job_id));
	bad |= json_object_set_new(o, "submit_time", json_integer(submit_time(j)));
	bad |= json_object_set_new(o, "restart", json_integer(j->restart_cnt));
	bad |= json_object_set_new(o, "uid", json_integer(j->user_id));
	bad |= json_object_set_new(o, "account", string_or_empty(j->account));
	bad |= json_object_set_new(o, "partition", string_or_empty(j->part_ptr ? j->part_ptr->name : j->partition));
	bad |= json_object_set_new(o, "class", string_or_empty(dec->cls));
	bad |= json_object_set_new(o, "grant", string_or_empty(dec->grant));
	bad |= json_object_set_new(o, "decision", string_or_empty(stamp->decision));
	bad |= json_object_set_new(o, "nodes", string_or_empty(j->nodes));
	bad |= json_object_set_new(o, "n_nodes", json_integer(j->node_cnt));
	if (j->array_job_id) {
		bad |= json_object_set_new(o, "array_job_id", json_integer(j->array_job_id));
		bad |= json_object_set_new(o, "array_task_id", json_integer(j->array_task_id));
	}
	if (j->het_job_id) {
		bad |= json_object_set_new(o, "het_job_id", json_integer(j->het_job_id));
		bad |= json_object_set_new(o, "het_offset", json_integer(j->het_job_offset));
	}
	if (bad) {
		json_decref(o);
		return NULL;
	}
	return o;
}

/* Why the job may not start although the policy allows it; NULL = it may ask for a lease. */
static const char *breaks_terms(const job_record_t *j, const struct clf_stamp *stamp, const struct clf_decision *dec)
{
	const char *why;

	if (!stamp->authentic)
		return "the job did not pass closfold's job_submit (JobSubmitPlugins), submit it again";
	why = clf_slurm_nodes_shared(j);
	if (why)
		return why;
	if (dec->terms.licence && (j->het_job_id == 0 || j->het_job_offset == 0) &&
	    !clf_licences_have(j->licenses, dec->terms.licence))
		return "the job does not hold the network key's licence";
	return NULL;
}

static void record_start(const job_record_t *j, const struct clf_slurm_view *v, const struct clf_decision *dec,
			 const struct clf_stamp *stamp, const char *why)
{
	struct clf_error err = { 0 };
	json_t *detail = json_pack("{s:s}", "nodes", j->nodes ? j->nodes : "");
	struct clf_record_facts f = {
		.event = why ? CLF_EV_JOB_REFUSE : CLF_EV_JOB_ALLOCATE,
		.job_id = j->job_id,
		.submit_time_s = submit_time(j),
		.decision = stamp->present ? stamp->decision : NULL,
		.uid = j->user_id,
		.has_uid = true,
		.account = j->account,
		.partition = j->partition,
		.ok = !why,
		.status_code = why ? "start-refused" : "started",
		.message = why ? why : "started",
		.detail = detail,
	};

	if (clf_slurm_record(&f, v, dec, false, &err))
		clf_log(&clf_slurm_log, CLF_LOG_DEBUG, "start of job %u not recorded: %s", j->job_id, err.text);
	json_decref(detail);
}

/* Everything that a start is judged by, made under slurmctld's locks. refuse: why not, in *buf. Returns whether the job
 * is flagged. */
static bool judge_start(const job_record_t *j, const struct clf_stamp *stamp, const struct clf_slurm_view *v,
			struct clf_decision **dec, const char **refuse, char *buf, size_t size)
{
	struct clf_error err = { 0 };
	char user[256];
	struct clf_job job;

	*refuse = NULL;
	if (!v) {
		if (stamp->authentic ? stamp->flagged : clf_slurm_site_conf()->reject_on_error)
			*refuse = "no data policy is in force";
		return *refuse != NULL;
	}
	job = clf_slurm_job(j, stamp, clf_slurm_user(v, j->user_id, user, sizeof(user)),
			    clf_clock_system.wall_ms(clf_clock_system.arg));
	/* the partition it got, not those it could have had: its floor is what counts now, the others were judged at
	 * submit */
	job.nodes = j->nodes;
	job.min_nodes = job.max_nodes = j->node_cnt;
	if (clf_decide(v->site, &job, dec, &err)) {
		*refuse = "the policy could not be evaluated";
		return true;
	}
	if (!(*dec)->flagged && !(stamp->authentic && stamp->flagged) && (*dec)->allow)
		return false;
	if (!(*dec)->allow) {
		/* a job of a known, unflagged class: the rule was for its submission, its start is not held up */
		if (!(*dec)->flagged && !stamp->flagged && v->snapshot->policy &&
		    clf_strmap_find(&v->snapshot->policy->level_of, (*dec)->cls, &(uint32_t){ 0 }))
			return false;
		snprintf(buf, size, "rule %s: %s", (*dec)->rule, (*dec)->reason);
		*refuse = buf;
		return true;
	}
	*refuse = breaks_terms(j, stamp, *dec);
	return true;
}

/* The queue could not take it: only memory can have ended. The job is answered by nobody and does not start;
 * slurmctld's restart asks again. Better than letting it run. */
static void cannot_queue(uint32_t job_id)
{
	clf_log(&clf_slurm_log, CLF_LOG_ERROR, "job %u waits for ever: no memory or too many starts; restart slurmctld",
		job_id);
}

extern int prep_p_prolog_slurmctld(job_record_t *j, bool *async)
{
	CLF_CLEANUP(clf_slurm_site_putp) struct clf_slurm_view *v = NULL;
	CLF_CLEANUP(clf_decision_destroyp) struct clf_decision *dec = NULL;
	struct clf_stamp stamp = clf_stamp_read(j->spank_job_env, j->spank_job_env_size, j->admin_comment);
	struct clf_prep_job start = { .job_id = j->job_id, .submit_time_s = submit_time(j) };
	char buf[700];

	*async = false;
	/* a lease of an earlier run is no lease of this one */
	clf_env_remove(j->spank_job_env, &j->spank_job_env_size, CLF_STAMP_LEASE);
	clf_env_remove(j->spank_job_env, &j->spank_job_env_size, CLF_STAMP_TOKEN);
	v = clf_slurm_site_get();
	if (!judge_start(j, &stamp, v, &dec, &start.refuse, buf, sizeof(buf))) {
		record_start(j, v, dec, &stamp, NULL);
		return SLURM_SUCCESS;
	}
	*async = true;
	/* the node's own look goes by this stamp: a job that is flagged by now carries it, whoever made its environment
	 */
	clf_env_remove(j->spank_job_env, &j->spank_job_env_size, CLF_STAMP_FLAGGED);
	clf_env_add(&j->spank_job_env, &j->spank_job_env_size, SPANK_PREFIX, CLF_STAMP_FLAGGED, "1");
	if (!start.refuse) {
		start.ask = ask_open(j, &stamp, dec);
		if (!start.ask)
			start.refuse = "no memory for the request";
	} else {
		record_start(j, v, dec, &stamp, start.refuse);
	}
	if (clf_prep_queue_start(P.queue, &start))
		cannot_queue(j->job_id);
	wake();
	return SLURM_SUCCESS;
}

extern int prep_p_epilog_slurmctld(job_record_t *j, bool *async)
{
	struct clf_stamp stamp = clf_stamp_read(j->spank_job_env, j->spank_job_env_size, j->admin_comment);
	struct clf_prep_job stop = { .job_id = j->job_id, .submit_time_s = submit_time(j) };

	*async = false;
	if (!stamp.flagged)
		return SLURM_SUCCESS;
	clf_env_remove(j->spank_job_env, &j->spank_job_env_size, CLF_STAMP_LEASE);
	clf_env_remove(j->spank_job_env, &j->spank_job_env_size, CLF_STAMP_TOKEN);
	stop.ask = json_pack("{s:s, s:I, s:I, s:s}", "op", "lease.close", "job_id", (json_int_t) j->job_id,
			     "submit_time", (json_int_t) stop.submit_time_s, "reason", "end");
	*async = !clf_prep_queue_end(P.queue, &stop);
	if (!*async)
		clf_log(&clf_slurm_log, CLF_LOG_ERROR, "end of job %u not told: its lease is left to reconcile",
			j->job_id);
	wake();
	return SLURM_SUCCESS;
}
