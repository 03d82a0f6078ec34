/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lease/reconcile.h"

#include <string.h>

#include "tap.h"

static int parse(const char *s, struct clf_live_jobs *out, struct clf_error *err)
{
	struct clf_text t = { 0 };
	int rc = clf_text_from_string("job list", s, &t, err) || clf_live_jobs_parse(&t, out, err);

	clf_text_done(&t);
	return rc ? -1 : 0;
}

static enum clf_orphan look(const char *jobs, uint32_t job, int64_t submit, int64_t age_ms, const char **why)
{
	struct clf_live_jobs js = { 0 };
	CLF_CLEANUP(clf_lease_destroyp) struct clf_lease *l = clf_lease_create(NULL);
	struct clf_error err = { 0 };
	enum clf_orphan o;

	if (parse(jobs, &js, &err))
		diag("%s", err.text);
	l->state = CLF_LEASE_GRANTED;
	l->job_id = job;
	l->submit_time_s = submit;
	l->requested_ms = 1000000;
	o = clf_reconcile_lease(l, &js, 1000000 + age_ms, 120000, why);
	clf_live_jobs_done(&js);
	return o;
}

int main(void)
{
	static const char jobs[] = "{\"job_id\":7,\"submit_time\":1007,\"state\":\"RUNNING\",\"nodes\":\"n1\"}\n"
				   "\n"
				   "{\"job_id\":8,\"submit_time\":1008,\"state\":\"COMPLETED\"}\n"
				   "{\"job_id\":9,\"submit_time\":1009,\"state\":\"COMPLETING\"}\n"
				   "{\"job_id\":10,\"submit_time\":1010,\"state\":\"PENDING\"}\n";
	static const char truncated[] = "{\"job_id\":7,\"submit_time\":1007,\"state\":\"RUNNING\"}\n{\"job_id\":8,";
	static const char twice[] = "{\"job_id\":7,\"submit_time\":1,\"state\":\"RUNNING\"}\n"
				    "{\"job_id\":7,\"submit_time\":1,\"state\":\"RUNNING\"}\n";
	static const char *const bad[] = {
		truncated,
		"slurm_load_jobs error: Unable to contact slurm controller\n",
		"{\"job_id\":0,\"submit_time\":1,\"state\":\"RUNNING\"}\n",
		"{\"job_id\":\"7\",\"submit_time\":1,\"state\":\"RUNNING\"}\n",
		"{\"job_id\":7,\"submit_time\":1}\n",
		twice,
	};
	const char *why = NULL;

	is_int(look(jobs, 7, 1007, 999999, &why), CLF_KEEP, "a running job keeps its lease");
	is_int(look(jobs, 9, 1009, 999999, &why), CLF_KEEP, "so does one that is completing: it holds nodes");
	is_int(look(jobs, 10, 1010, 999999, &why), CLF_KEEP, "and a requeued one: its prolog releases");
	is_int(look(jobs, 11, 1011, 999999, &why), CLF_ORPHAN_GONE, "no such job");
	is_str(why, "job-gone", "word");
	is_int(look(jobs, 7, 1006, 999999, &why), CLF_ORPHAN_REUSED, "another job of the same id");
	is_str(why, "job-id-reused", "word");
	is_int(look(jobs, 8, 1008, 999999, &why), CLF_ORPHAN_ENDED, "a job that ended");
	is_int(look(jobs, 11, 1011, 119999, &why), CLF_KEEP_YOUNG, "a young lease is left alone");
	is_int(look(jobs, 11, 1011, 120000, &why), CLF_ORPHAN_GONE, "up to the grace period");
	is_int(look(jobs, 11, 1011, -50000000, &why), CLF_KEEP_YOUNG, "a clock that was set back makes no lease old");
	is_int(look("", 7, 1007, 999999, &why), CLF_ORPHAN_GONE, "an empty list is a list");
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		struct clf_live_jobs js = { 0 };
		struct clf_error err = { 0 };

		ok(parse(bad[i], &js, &err) == -1 && !js.v, "no list: %s", err.text);
	}
	return done_testing();
}
