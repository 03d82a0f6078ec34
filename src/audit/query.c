/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "audit/query.h"

#include <string.h>

#include "audit/segment.h"
#include "base/hostlist.h"

static const json_t *at(const json_t *r, const char *a, const char *b, const char *c)
{
	const json_t *j = json_object_get(r, a);

	j = b ? json_object_get(j, b) : j;
	return c ? json_object_get(j, c) : j;
}

static bool is(const json_t *j, const char *want)
{
	const char *s = json_string_value(j);

	return s && !strcmp(s, want);
}

static bool event_is(const json_t *r, const char *want)
{
	const char *s = json_string_value(at(r, "unmapped", "closfold", "event"));
	size_t n = strlen(want);

	return s && !strncmp(s, want, n) && (!s[n] || s[n] == '.');
}

static bool user_is(const json_t *r, const char *want)
{
	return is(at(r, "actor", "user", "name"), want) || is(at(r, "actor", "user", "uid"), want);
}

static bool in_hosts(const char *expr, const char *node)
{
	struct clf_strv hosts = { 0 };
	bool found = expr && !clf_hostlist_expand(expr, 262144, &hosts, NULL) && clf_strv_has(&hosts, node);

	clf_strv_done(&hosts);
	return found;
}

/* Any "nodes" expression of the event's own object, or the host that wrote it. */
static bool node_is(const json_t *r, const char *node)
{
	const char *key;
	json_t *v;

	if (is(at(r, "device", "hostname", NULL), node))
		return true;
	json_object_foreach((json_t *) at(r, "unmapped", "closfold", NULL), key,
			    v) if (json_is_object(v) &&
				   in_hosts(json_string_value(json_object_get(v, "nodes")), node)) return true;
	return false;
}

static bool job_is(const json_t *r, uint32_t job_id, const struct clf_strmap *decisions)
{
	json_int_t job = json_integer_value(at(r, "unmapped", "closfold", "job_id"));
	const char *decision = json_string_value(at(r, "unmapped", "closfold", "decision_id"));
	uint32_t unused;

	return job == job_id || (!job && decision && decisions && clf_strmap_find(decisions, decision, &unused));
}

bool clf_query_match(const struct clf_query *q, const struct clf_strmap *decisions, const json_t *r)
{
	json_int_t time = json_integer_value(json_object_get(r, "time"));

	if (q->job_id && !job_is(r, q->job_id, decisions))
		return false;
	if (q->decision && !is(at(r, "unmapped", "closfold", "decision_id"), q->decision))
		return false;
	if ((q->event && !event_is(r, q->event)) || (q->user && !user_is(r, q->user)))
		return false;
	if (q->account && !is(json_object_get(at(r, "actor", "user", "account"), "name"), q->account))
		return false;
	if ((q->since_ms && time < q->since_ms) || (q->until_ms && time >= q->until_ms))
		return false;
	if (q->denied && json_integer_value(json_object_get(r, "status_id")) != 2)
		return false;
	return !q->node || node_is(r, q->node);
}

/* Every line of every segment; r is NULL where a line is no record. each returns 0 to go on, -1 with err filled, 1 to
 * stop. */
static int walk(const char *dir, int (*each)(void *arg, const json_t *r, const char *line, size_t len), void *arg,
		struct clf_error *err)
{
	struct clf_strv segs = { 0 };
	int rc = clf_segment_list(dir, &segs, err);

	for (size_t i = 0; !rc && i < segs.n; i++) {
		struct clf_segment s = { 0 };
		const char *line;
		size_t len;
		int kind;

		rc = clf_segment_open(dir, segs.v[i], &s, err);
		while (!rc && (kind = clf_segment_next(&s, &line, &len, err)) != CLF_LINE_END) {
			json_auto_t *r = kind > 0 ? json_loadb(line, len, JSON_REJECT_DUPLICATES, NULL) : NULL;

			rc = kind < 0 ? -1 : each(arg, r, line, len);
		}
		clf_segment_close(&s);
	}
	clf_strv_done(&segs);
	return rc;
}

struct search {
	const struct clf_query *q;
	struct clf_strmap decisions; /* of q->job_id */
	int (*each)(void *arg, const json_t *record, const char *line, size_t len);
	void *arg;
	struct clf_query_counts n;
	struct clf_error *err;
};

static int note_decision(void *arg, const json_t *r, const char *line, size_t len)
{
	struct search *s = arg;
	const char *decision = r ? json_string_value(at(r, "unmapped", "closfold", "decision_id")) : NULL;

	(void) line;
	(void) len;
	if (!decision || json_integer_value(at(r, "unmapped", "closfold", "job_id")) != s->q->job_id)
		return 0;
	return clf_strmap_set(&s->decisions, decision, 1, s->err);
}

static int answer(void *arg, const json_t *r, const char *line, size_t len)
{
	struct search *s = arg;

	s->n.records++;
	s->n.unreadable += !r;
	if (!r || !clf_query_match(s->q, &s->decisions, r))
		return 0;
	s->n.matched++;
	return s->each(s->arg, r, line, len);
}

int clf_query_log(const char *dir, const struct clf_query *q,
		  int (*each)(void *arg, const json_t *record, const char *line, size_t len), void *arg,
		  struct clf_query_counts *out, struct clf_error *err)
{
	struct search s = { .q = q, .decisions.copy = true, .each = each, .arg = arg, .err = err };
	int rc = q->job_id ? walk(dir, note_decision, &s, err) : 0;

	if (rc >= 0)
		rc = walk(dir, answer, &s, err);
	clf_strmap_done(&s.decisions);
	if (rc < 0)
		return -1;
	*out = s.n;
	return 0;
}
