/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lease/reconcile.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void clf_live_jobs_done(struct clf_live_jobs *j)
{
	free(j->v);
	clf_strmap_done(&j->of_id);
	memset(j, 0, sizeof *j);
}

/* Base states of squeue(1) in which a job holds no node any more. COMPLETING is no base state and holds nodes. */
static bool has_ended(const char *state)
{
	static const char *const ended[] = { "COMPLETED",     "CANCELLED", "FAILED",    "TIMEOUT",
					     "NODE_FAIL",     "PREEMPTED", "BOOT_FAIL", "DEADLINE",
					     "OUT_OF_MEMORY", "REVOKED",   NULL };

	for (int i = 0; ended[i]; i++)
		if (!strcmp(state, ended[i]))
			return true;
	return false;
}

static int parse_job(const char *line, size_t len, struct clf_live_job *out, const char **what)
{
	json_error_t je;
	json_auto_t *j = json_loadb(line, len, JSON_REJECT_DUPLICATES, &je);
	const json_t *id = json_object_get(j, "job_id"), *submit = json_object_get(j, "submit_time"),
		     *state = json_object_get(j, "state");
	const char *s = json_string_value(state);

	*what = "line is not a job: want {\"job_id\":N,\"submit_time\":N,\"state\":\"...\"}";
	if (!json_is_integer(id) || json_integer_value(id) <= 0 || json_integer_value(id) > UINT32_MAX ||
	    !json_is_integer(submit) || json_integer_value(submit) < 0 || !s || !*s || strlen(s) >= sizeof out->state)
		return -1;
	*out = (struct clf_live_job){ .job_id = (uint32_t) json_integer_value(id),
				      .submit_time_s = json_integer_value(submit),
				      .ended = has_ended(s) };
	strcpy(out->state, s);
	return 0;
}

static int add_job(struct clf_live_jobs *js, const struct clf_live_job *job, struct clf_error *err)
{
	char key[16];

	if (js->n == js->cap) {
		size_t cap = js->cap ? 2 * js->cap : 256;
		void *v = cap <= CLF_JOBS_MAX ? realloc(js->v, cap * sizeof *js->v) : NULL;

		if (!v)
			return clf_fail(err, CLF_E_NOMEM, "list of jobs is too long or memory ends");
		js->v = v;
		js->cap = cap;
	}
	snprintf(key, sizeof key, "%" PRIu32, job->job_id);
	if (clf_strmap_add(&js->of_id, key, (uint32_t) js->n, err))
		return -1;
	js->v[js->n++] = *job;
	return 0;
}

int clf_live_jobs_parse(const struct clf_text *text, struct clf_live_jobs *out, struct clf_error *err)
{
	struct clf_live_jobs js = { .of_id = { .copy = true } };
	struct clf_lines it = clf_lines_begin(text);
	const char *line, *what;
	size_t len;

	while (clf_lines_next(&it, &line, &len)) {
		struct clf_live_job job;
		struct clf_error why = { 0 };

		if (!len)
			continue;
		if (!parse_job(line, len, &job, &what) && !add_job(&js, &job, &why))
			continue;
		clf_live_jobs_done(&js);
		return clf_fail_at(err, why.code ? why.code : CLF_E_PARSE, text->name, it.line, 0, "%s",
				   why.code ? why.text : what);
	}
	*out = js;
	return 0;
}

enum clf_orphan clf_reconcile_lease(const struct clf_lease *l, const struct clf_live_jobs *jobs, int64_t now_ms,
				    int64_t grace_ms, const char **why)
{
	char key[16];
	uint32_t i;
	enum clf_orphan found = CLF_KEEP;
	const char *word = NULL;

	if (!clf_lease_open(l))
		return CLF_KEEP;
	snprintf(key, sizeof key, "%" PRIu32, l->job_id);
	if (!clf_strmap_find(&jobs->of_id, key, &i)) {
		found = CLF_ORPHAN_GONE;
		word = "job-gone";
	} else if (jobs->v[i].submit_time_s != l->submit_time_s) {
		found = CLF_ORPHAN_REUSED;
		word = "job-id-reused";
	} else if (jobs->v[i].ended) {
		found = CLF_ORPHAN_ENDED;
		word = "job-ended";
	}
	/* When the clock was set back a lease is young, however long that lasts. */
	if (found != CLF_KEEP && now_ms - l->requested_ms < grace_ms)
		return CLF_KEEP_YOUNG;
	if (why)
		*why = word;
	return found;
}
