/* SPDX-License-Identifier: GPL-2.0-or-later */
/* record.c - facts to canonical OCSF bytes. */
#include "audit/record.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/timex.h>
#include <time.h>
#include <unistd.h>

#include "audit/canon.h"
#include "config.h"
#include "wire/proto.h"

#define FACT_MAX          1024 /* bytes of one fact; longer ones are cut */
#define DETAIL_STRING_MAX (32u << 10)

static const struct event {
	const char *name;
	uint32_t class_uid, activity;
	const char *activity_name; /* activity 99 only */
	int severity_ok, severity_bad;
	int state_ok, state_bad; /* job.run_state_id */
	bool action;             /* says allowed or denied */
} events[] = {
	[CLF_EV_JOB_DECISION] = { "job.decision", 1006, 1, NULL, 1, 3, 2, 4, true },
	[CLF_EV_JOB_MODIFY] = { "job.modify", 1006, 2, NULL, 1, 3, 2, 2, true },
	[CLF_EV_JOB_HOLD] = { "job.hold", 1006, 5, NULL, 3, 3, 4, 4, false },
	[CLF_EV_JOB_ALLOCATE] = { "job.allocate", 1006, 6, NULL, 1, 3, 3, 2, true },
	[CLF_EV_JOB_REFUSE] = { "job.refuse", 1006, 6, NULL, 3, 3, 2, 2, true },
	[CLF_EV_JOB_END] = { "job.end", 1006, 99, "End", 1, 3, 4, 4, false },
	[CLF_EV_NET_PROGRAM] = { "net.program", 5019, 1, NULL, 1, 4, 0, 0, false },
	[CLF_EV_NET_VERIFY] = { "net.verify", 5019, 1, NULL, 1, 4, 0, 0, false },
	[CLF_EV_NET_RELEASE] = { "net.release", 5019, 1, NULL, 1, 4, 0, 0, false },
	[CLF_EV_POLICY_APPLY] = { "policy.apply", 3004, 3, NULL, 3, 4, 0, 0, false },
	[CLF_EV_POLICY_REJECT] = { "policy.reject", 3004, 3, NULL, 4, 4, 0, 0, false },
	[CLF_EV_LOG_START] = { "log.start", 1008, 6, NULL, 1, 3, 0, 0, false },
	[CLF_EV_LOG_STOP] = { "log.stop", 1008, 7, NULL, 1, 3, 0, 0, false },
	[CLF_EV_LOG_TORN] = { "log.torn", 1008, 99, "Torn", 3, 3, 0, 0, false },
	[CLF_EV_LOG_GAP] = { "log.gap", 1008, 99, "Gap", 4, 4, 0, 0, false },
	[CLF_EV_FINDING] = { "finding.", 2003, 1, NULL, 3, 4, 0, 0, false },
	[CLF_EV_AUDIT_READ] = { "audit.read", 6003, 2, NULL, 1, 3, 0, 0, false },
};

/* Text of unknown origin as a JSON string: what is not canonical becomes '?', what is too long is cut between
 * characters. */
static json_t *safe(const char *s, size_t max)
{
	CLF_AUTO_FREE char *out = malloc(max + 4);
	size_t n = 0;

	if (!out)
		return NULL;
	for (const unsigned char *p = (const unsigned char *) s, *end = p + strlen(s); p < end && n < max;) {
		size_t k = clf_canon_char(p, end);

		if (!k) {
			out[n++] = '?';
			p++;
			continue;
		}
		if (n + k > max)
			break;
		memcpy(out + n, p, k);
		n += k;
		p += k;
	}
	return json_stringn(out, n);
}

/* Absent facts are no members; stolen values that are NULL mean that memory ended. */
static int set(json_t *o, const char *key, json_t *v)
{
	return json_object_set_new(o, key, v);
}

static int set_text(json_t *o, const char *key, const char *s)
{
	return s && *s ? set(o, key, safe(s, FACT_MAX)) : 0;
}

static int key_ok(const char *k)
{
	for (const char *p = k; *p; p++)
		if (*p < 0x20 || *p > 0x7E || *p == '"' || *p == '\\')
			return 0;
	return *k != '\0';
}

/* A copy of the caller's detail that is sure to be canonical. */
static json_t *safe_copy(const json_t *j, int depth, struct clf_error *err)
{
	json_auto_t *out = NULL;
	const char *key;
	json_t *v;
	size_t i;

	if (depth > 16) {
		clf_fail(err, CLF_E_INVALID, "detail of a record is nested too deep");
		return NULL;
	}
	switch (json_typeof(j)) {
	case JSON_STRING:
		return safe(json_string_value(j), DETAIL_STRING_MAX);
	case JSON_INTEGER:
		if (json_integer_value(j) > CLF_CANON_INT_MAX || json_integer_value(j) < -CLF_CANON_INT_MAX) {
			clf_fail(err, CLF_E_INVALID, "detail of a record holds an integer of 2^53 or more");
			return NULL;
		}
		return json_integer(json_integer_value(j));
	case JSON_REAL:
		clf_fail(err, CLF_E_INVALID, "detail of a record holds a number that is no integer");
		return NULL;
	case JSON_ARRAY:
		out = json_array();
		json_array_foreach(j, i, v) if (json_array_append_new(out, safe_copy(v, depth + 1, err))) return NULL;
		return CLF_STEAL(out);
	case JSON_OBJECT:
		out = json_object();
		json_object_foreach((json_t *) j, key, v)
		{
			if (!key_ok(key)) {
				clf_fail(err, CLF_E_INVALID, "detail of a record has a key that is not plain ASCII");
				return NULL;
			}
			if (set(out, key, safe_copy(v, depth + 1, err)))
				return NULL;
		}
		return CLF_STEAL(out);
	default:
		return json_incref((json_t *) j); /* true, false, null */
	}
}

static int random_hex(char *hex, size_t bytes, struct clf_error *err)
{
	unsigned char b[16];

	if (getrandom(b, bytes, 0) != (ssize_t) bytes)
		return clf_fail(err, CLF_E_IO, "no random bytes: %s", strerror(errno));
	for (size_t i = 0; i < bytes; i++)
		sprintf(hex + 2 * i, "%02x", b[i]);
	return 0;
}

/* The machine's boot, and this process's run in it: sequence numbers start again with each run. */
static struct {
	pthread_mutex_t lock;
	pid_t pid;
	char boot_id[33], run[17];
} self = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void read_boot_id(void)
{
	FILE *f = fopen("/proc/sys/kernel/random/boot_id", "re");
	char line[64] = "";
	size_t n = 0;

	if (f) {
		if (!fgets(line, sizeof line, f))
			line[0] = '\0';
		fclose(f);
	}
	for (const char *p = line; *p && n < 32; p++)
		if ((*p >= '0' && *p <= '9') || (*p >= 'a' && *p <= 'f'))
			self.boot_id[n++] = *p;
	if (!n)
		self.boot_id[n++] = '0';
	self.boot_id[n] = '\0';
}

static int identify(char boot_id[33], char run[17], struct clf_error *err)
{
	int rc = 0;

	pthread_mutex_lock(&self.lock);
	if (self.pid != getpid()) {
		read_boot_id();
		rc = random_hex(self.run, 8, err);
		self.pid = rc ? 0 : getpid();
	}
	memcpy(boot_id, self.boot_id, sizeof self.boot_id);
	memcpy(run, self.run, sizeof self.run);
	pthread_mutex_unlock(&self.lock);
	return rc;
}

/* What the kernel knows of its clock; nobody here can vouch for more. */
static json_t *clock_object(const struct clf_clock *clock)
{
	struct timex t = { .modes = 0 };
	int state = adjtimex(&t);
	bool sync = state >= 0 && state != TIME_ERROR;

	return json_pack("{s:I,s:I,s:s,s:b}", "boot_us", (json_int_t) clock->boot_us(clock->arg), "est_error_us",
			 (json_int_t) (state >= 0 ? t.esterror : 0), "source", "kernel", "sync", sync);
}

static json_t *metadata(const struct clf_record_facts *f, const struct event *e, bool truncated, struct clf_error *err)
{
	char uid[33];
	json_auto_t *profiles = json_array();
	int bad = 0;

	if (random_hex(uid, 16, err))
		return NULL;
	if (f->cls)
		bad |= json_array_append_new(profiles, json_string("data_classification"));
	bad |= json_array_append_new(profiles, json_string("host"));
	if (e->class_uid == 1006)
		bad |= json_array_append_new(profiles, json_string("security_control"));

	json_auto_t *m =
		json_pack("{s:s,s:s,s:{s:s,s:s,s:s},s:O}", "version", "1.8.0", "uid", uid, "product", "name",
			  "closfold", "vendor_name", "closfold", "version", PACKAGE_VERSION, "profiles", profiles);

	if (bad || !m)
		return NULL;
	bad |= set_text(m, "tenant_uid", f->fiduciary);
	if (truncated)
		bad |= set(m, "is_truncated", json_true());
	if (f->job_id || f->decision) {
		char corr[400];

		if (f->job_id)
			snprintf(corr, sizeof corr, "%s/%" PRIu32 "/%" PRId64, f->cluster ? f->cluster : "cluster",
				 f->job_id, f->submit_time_s);
		else
			snprintf(corr, sizeof corr, "%s/none/%s", f->cluster ? f->cluster : "cluster", f->decision);
		bad |= set_text(m, "correlation_uid", corr);
	}
	if (f->cls) {
		json_t *c = json_pack("{s:i,s:o}", "confidentiality_id", 99, "confidentiality", safe(f->cls, FACT_MAX));

		if (c && !strncmp(f->cls, "personal", 8)) {
			bad |= set(c, "category_id", json_integer(1));
			bad |= set(c, "category", json_string("Personal"));
		}
		bad |= set(m, "data_classifications", json_pack("[o]", c));
	}
	return bad ? NULL : CLF_STEAL(m);
}

static json_t *actor(const struct clf_record_facts *f)
{
	json_auto_t *a = json_pack("{s:{s:i}}", "process", "pid", (int) getpid());
	json_auto_t *u = json_object();
	int bad = !a || !u;

	if (bad)
		return NULL;
	bad |= set_text(json_object_get(a, "process"), "name", f->process ? f->process : f->producer);
	if (f->has_uid)
		bad |= set(u, "uid", json_sprintf("%" PRIu32, f->uid));
	bad |= set_text(u, "name", f->user);
	if (f->account && *f->account)
		bad |= set(u, "account", json_pack("{s:o}", "name", safe(f->account, FACT_MAX)));
	if (json_object_size(u))
		bad |= json_object_set(a, "user", u);
	return bad ? NULL : CLF_STEAL(a);
}

static json_t *dpdp(const struct clf_record_facts *f)
{
	json_auto_t *d = json_object();
	int bad = !d;

	bad |= set_text(d, "class", f->cls);
	bad |= set_text(d, "grant_id", f->grant);
	bad |= set_text(d, "purpose", f->purpose);
	bad |= set_text(d, "fiduciary_id", f->fiduciary);
	bad |= set_text(d, "contract_ref", f->contract);
	bad |= set_text(d, "basis", f->basis);
	return bad ? NULL : CLF_STEAL(d);
}

static json_t *closfold(const struct clf_record_facts *f, const char *event, const struct clf_clock *clock,
			bool truncated, struct clf_error *err)
{
	char boot_id[33], run[17], part[32];

	if (identify(boot_id, run, err))
		return NULL;
	if (f->producer_seq > CLF_CANON_INT_MAX) {
		clf_fail(err, CLF_E_INVALID, "producer's sequence is 2^53 or more");
		return NULL;
	}
	json_auto_t *c = json_pack("{s:s,s:s,s:o,s:{s:s,s:s,s:I}}", "schema", "closfold-event/1", "event", event,
				   "clock", clock_object(clock), "producer", "boot_id", boot_id, "run", run, "seq",
				   (json_int_t) f->producer_seq);
	int bad = !c;

	bad |= set_text(json_object_get(c, "producer"), "name", f->producer ? f->producer : "unknown");
	if (f->job_id)
		bad |= set(c, "job_id", json_integer(f->job_id));
	bad |= set_text(c, "decision_id", f->decision);
	bad |= set_text(c, "partition", f->partition);
	bad |= set_text(c, "policy_sha256", f->policy_sha256);
	snprintf(part, sizeof part, "%.*s", (int) strcspn(event, "."), event);
	if (truncated)
		bad |= set(c, part, json_pack("{s:b}", "truncated", true));
	else if (f->detail)
		bad |= set(c, part, safe_copy(f->detail, 0, err));
	return bad ? NULL : CLF_STEAL(c);
}

/* Members that belong to the class of the event. */
static int add_class(json_t *r, const struct clf_record_facts *f, const struct event *e, const char *event,
		     const char *host)
{
	int bad = 0;
	char name[FACT_MAX];
	json_t *j;

	switch (e->class_uid) {
	case 1006:
		if (f->job_id)
			snprintf(name, sizeof name, "%s/%" PRIu32, f->cluster ? f->cluster : "cluster", f->job_id);
		else
			snprintf(name, sizeof name, "%s/none", f->cluster ? f->cluster : "cluster");
		j = json_pack("{s:o,s:i}", "name", safe(name, FACT_MAX), "run_state_id",
			      f->ok ? e->state_ok : e->state_bad);
		if (f->submit_time_s > 0)
			bad |= set(j, "created_time", json_integer(f->submit_time_s * 1000));
		bad |= set(r, "job", j);
		if (e->action) {
			bad |= set(r, "action_id", json_integer(f->ok ? 1 : 2));
			bad |= set(r, "disposition_id", json_integer(f->ok ? 1 : 2));
		}
		if (f->policy_sha256)
			bad |= set(r, "policy",
				   json_pack("{s:o,s:b}", "uid", json_sprintf("sha256:%.64s", f->policy_sha256),
					     "is_applied", true));
		break;
	case 1008:
		bad |= set(r, "log_provider", json_string("closfoldd"));
		break;
	case 2003:
		bad |= set(r, "finding_info", json_pack("{s:s,s:s}", "uid", event, "title", event));
		bad |= set(r, "compliance", json_pack("{s:s,s:i}", "control", event, "status_id", f->ok ? 1 : 3));
		break;
	case 3004:
		j = json_pack("{s:s,s:b}", "name", "policy", "is_applied", f->ok);
		if (f->policy_sha256)
			bad |= set(j, "uid", json_sprintf("sha256:%.64s", f->policy_sha256));
		bad |= set(r, "entity", json_pack("{s:i,s:s,s:o}", "type_id", 5, "type", "Policy", "policy", j));
		break;
	case 6003:
		bad |= set(r, "api", json_pack("{s:s}", "operation", event));
		bad |= set(r, "src_endpoint", json_pack("{s:s}", "hostname", host));
		break;
	default:
		break;
	}
	return bad;
}

static json_t *build(const struct clf_record_facts *f, const struct event *e, const char *event,
		     const struct clf_clock *clock, bool truncated, struct clf_error *err)
{
	int64_t now = clock->wall_ms(clock->arg);
	time_t now_s = (time_t) (now / 1000);
	struct tm tm = { 0 };
	char host[256] = "localhost";
	bool net = e->class_uid == 5019;

	localtime_r(&now_s, &tm);
	if (gethostname(host, sizeof host - 1) || !host[0])
		strcpy(host, "localhost");
	json_auto_t *r = json_pack("{s:i,s:i,s:i,s:I,s:i,s:I,s:i,s:i,s:{s:s,s:i}}", "category_uid",
				   (int) (e->class_uid / 1000), "class_uid", (int) e->class_uid, "activity_id",
				   (int) e->activity, "type_uid", (json_int_t) e->class_uid * 100 + e->activity,
				   "severity_id", f->ok ? e->severity_ok : e->severity_bad, "time", (json_int_t) now,
				   "timezone_offset", (int) (tm.tm_gmtoff / 60), "status_id", f->ok ? 1 : 2, "device",
				   "hostname", host, "type_id", net ? 10 : 1);
	int bad = !r;

	bad |= set(r, "metadata", metadata(f, e, truncated, err));
	bad |= set(r, "actor", actor(f));
	bad |= set_text(r, "message", f->message);
	bad |= set_text(r, "status_code", f->status_code);
	if (e->activity_name)
		bad |= set(r, "activity_name", json_string(e->activity_name));
	bad |= add_class(r, f, e, event, host);

	json_t *un = json_pack("{s:o}", "closfold", closfold(f, event, clock, truncated, err));

	if (f->cls || f->grant || f->purpose)
		bad |= set(un, "dpdp", dpdp(f));
	bad |= set(r, "unmapped", un);
	return bad ? NULL : CLF_STEAL(r);
}

static const char *event_name(const struct clf_record_facts *f, struct clf_error *err)
{
	if (f->event != CLF_EV_FINDING)
		return events[f->event].name;
	if (!f->finding || strncmp(f->finding, "finding.", 8) != 0 || strlen(f->finding) > 64 ||
	    strspn(f->finding, "abcdefghijklmnopqrstuvwxyz.-") != strlen(f->finding)) {
		clf_fail(err, CLF_E_INVALID, "a finding's name is 'finding.' and small letters");
		return NULL;
	}
	return f->finding;
}

int clf_record_make(const struct clf_record_facts *f, const struct clf_clock *clock, char **out, size_t *len,
		    struct clf_error *err)
{
	if ((unsigned) f->event >= sizeof events / sizeof *events)
		return clf_fail(err, CLF_E_INVALID, "no such event");

	const char *event = event_name(f, err);

	if (!event)
		return -1;
	/* A detail that makes the record too long is left out and said to be. */
	for (int truncated = 0; truncated < 2; truncated++) {
		struct clf_error why = { 0 };
		json_auto_t *r = build(f, &events[f->event], event, clock, truncated, &why);

		if (!r)
			return clf_fail(err, why.code ? why.code : CLF_E_NOMEM, "%s",
					why.code ? why.text : "out of memory");

		CLF_AUTO_FREE char *text = clf_json_canonical(r);

		if (!text)
			return clf_fail(err, CLF_E_NOMEM, "out of memory");

		size_t n = strlen(text);

		if (n <= CLF_RECORD_MAX) {
			*out = CLF_STEAL(text);
			*len = n;
			return 0;
		}
	}
	return clf_fail(err, CLF_E_INVALID, "record is longer than %u bytes", CLF_RECORD_MAX);
}
