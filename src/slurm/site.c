/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "slurm/site.h"

#include <pthread.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/strmap.h"
#include "slurm/glue_conf.h"
#include "slurm/glue_log.h"
#include "slurm/site_nodes.h"

#define JOIN_S 3

static struct {
	pthread_mutex_t mu;    /* view, epoch */
	pthread_mutex_t build; /* one builder at a time; nodes */
	pthread_cond_t wake;
	pthread_t thread;
	bool running;
	uint64_t epoch; /* of the thread in charge; one of another epoch ends */
	struct clf_conf *conf;
	char dir[4096]; /* of the snapshot */
	uid_t owner;
	struct clf_slurm_view *view;
	uint32_t count; /* slurmctld's nodes when view was made */
	struct clf_slurm_nodes nodes;
	time_t nodes_seen;
	bool told; /* about a snapshot that cannot be read */
} S = { .mu = PTHREAD_MUTEX_INITIALIZER, .build = PTHREAD_MUTEX_INITIALIZER, .wake = PTHREAD_COND_INITIALIZER };

static void view_free(struct clf_slurm_view *v)
{
	if (!v)
		return;
	clf_site_destroy(v->site);
	clf_snapshot_destroy(v->snapshot);
	free(v);
}

void clf_slurm_site_put(struct clf_slurm_view *v)
{
	bool last;

	if (!v)
		return;
	pthread_mutex_lock(&S.mu);
	last = --v->refs == 0;
	pthread_mutex_unlock(&S.mu);
	if (last)
		view_free(v);
}

static struct clf_slurm_view *current(void)
{
	struct clf_slurm_view *v;

	pthread_mutex_lock(&S.mu);
	v = S.view;
	if (v)
		v->refs++;
	pthread_mutex_unlock(&S.mu);
	return v;
}

static void publish(struct clf_slurm_view *v, uint32_t count)
{
	struct clf_slurm_view *old;

	pthread_mutex_lock(&S.mu);
	old = S.view;
	S.view = v;
	S.count = count;
	pthread_mutex_unlock(&S.mu);
	clf_slurm_site_put(old);
}

static const char *name_of(void *arg, uint32_t i)
{
	return ((struct clf_slurm_nodes *) arg)->names.v[i];
}

static bool has_feature(void *arg, uint32_t i, const char *feature)
{
	const char *p = ((struct clf_slurm_nodes *) arg)->features.v[i];
	size_t len = strlen(feature);

	while (*p) {
		size_t n = strcspn(p, ",");

		if (n == len && !strncmp(p, feature, n))
			return true;
		p += n + (p[n] == ',');
	}
	return false;
}

static bool names_users(const struct clf_policy *p)
{
	for (uint32_t i = 0; i < p->nrules; i++)
		if (p->rules[i].users.n)
			return true;
	for (uint32_t i = 0; i < p->ngrants; i++)
		if (p->grants[i].users.n)
			return true;
	return false;
}

/* snapshot is stolen */
static int make_view(struct clf_snapshot *snapshot, struct clf_slurm_view **out, struct clf_error *err)
{
	struct clf_slurm_view *v = calloc(1, sizeof(*v));

	if (!v) {
		clf_snapshot_destroy(snapshot);
		return clf_fail(err, CLF_E_NOMEM, "no memory for the policy");
	}
	v->snapshot = snapshot;
	v->conf = S.conf;
	v->refs = 1;
	v->names_users = names_users(snapshot->policy);
	if (clf_site_make(snapshot->policy, snapshot->topo, (uint32_t) S.nodes.names.n, name_of, has_feature, &S.nodes,
			  &v->site, err)) {
		view_free(v);
		return -1;
	}
	*out = v;
	return 0;
}

/* Copies the node table where it may have changed; *n stays empty where it has not. Slurm's node lock is taken here
 * when the caller does not hold it: never while `build` is held, whose waiters may hold that lock. */
static int copy_nodes(bool locked, struct clf_slurm_nodes *n, bool *copied, struct clf_error *err)
{
	time_t seen = clf_slurm_nodes_changed();

	*copied = false;
	if (!locked && seen == S.nodes_seen && time(NULL) > seen + 1)
		return 0;
	if (clf_slurm_nodes_copy(locked, n, err))
		return -1;
	S.nodes_seen = seen;
	*copied = true;
	return 0;
}

static void tell(const struct clf_error *err, bool have)
{
	char text[600];

	if (S.told)
		return;
	S.told = true;
	clf_log(&clf_slurm_log, CLF_LOG_ERROR, "%s: %s",
		have                          ? "new policy not taken, the old one stays in force"
		: err->code == CLF_E_NOTFOUND ? "no policy in force yet, is closfoldd running?"
					      : "no policy in force",
		clf_error_string(err, text, sizeof(text)));
}

/* One look: load what is new, build, swap. locked: the caller holds Slurm's node lock. */
static void look(bool locked)
{
	struct clf_slurm_view *have, *next = NULL;
	struct clf_snapshot *snap = NULL;
	struct clf_slurm_nodes n = { 0 };
	struct clf_error err = { 0 };
	bool copied = false, changed = false;
	int rc;

	if (copy_nodes(locked, &n, &copied, &err))
		clf_log_error(&clf_slurm_log, &err);
	err = (struct clf_error){ 0 };
	pthread_mutex_lock(&S.build);
	if (copied) {
		struct clf_slurm_nodes old = S.nodes;

		changed = n.hash != old.hash || n.names.n != old.names.n;
		S.nodes = n;
		clf_slurm_nodes_done(&old);
	}
	have = current();
	rc = clf_snapshot_load(S.dir, S.owner, have ? have->snapshot->generation : 0, &snap, &err);
	/* the node table changed and the manifest did not: read the same snapshot again */
	if (!rc && !snap && changed)
		rc = clf_snapshot_load(S.dir, S.owner, 0, &snap, &err);
	if (!rc && snap)
		rc = make_view(snap, &next, &err);
	if (rc)
		tell(&err, have != NULL);
	else
		S.told = false;
	if (next) {
		if (S.nodes.names.n) /* at the first look slurmctld has no nodes yet */
			clf_log(&clf_slurm_log, CLF_LOG_INFO,
				"policy '%s' version %u in force (generation %llu, %zu nodes)",
				next->snapshot->policy->id, next->snapshot->policy->version,
				(unsigned long long) next->snapshot->generation, S.nodes.names.n);
		publish(next, (uint32_t) S.nodes.names.n);
	}
	pthread_mutex_unlock(&S.build);
	clf_slurm_site_put(have);
}

struct clf_slurm_view *clf_slurm_site_get(void)
{
	bool stale;

	pthread_mutex_lock(&S.mu);
	stale = !S.view || S.count != clf_slurm_nodes_count();
	pthread_mutex_unlock(&S.mu);
	if (stale)
		look(true);
	return current();
}

const struct clf_conf *clf_slurm_site_conf(void)
{
	return S.conf;
}

static void *watch(void *arg)
{
	uint64_t mine = (uintptr_t) arg;

	pthread_mutex_lock(&S.mu);
	while (S.epoch == mine) {
		struct timespec t;

		clock_gettime(CLOCK_REALTIME, &t);
		t.tv_sec++;
		pthread_cond_timedwait(&S.wake, &S.mu, &t);
		if (S.epoch != mine)
			break;
		pthread_mutex_unlock(&S.mu);
		look(false);
		pthread_mutex_lock(&S.mu);
	}
	pthread_mutex_unlock(&S.mu);
	return NULL;
}

static int load_conf(const char *slurm_conf, struct clf_error *err)
{
	char path[4096], text[600];
	struct clf_error why = { 0 };
	struct passwd pw, *found = NULL;
	char buf[4096];

	if (clf_glue_conf_path(slurm_conf, path, sizeof(path)))
		clf_log(&clf_slurm_log, CLF_LOG_ERROR, "no closfold.conf beside '%s' nor in /etc/closfold: defaults",
			slurm_conf ? slurm_conf : "slurm.conf");
	else if (clf_conf_load(path, &S.conf, &why))
		clf_log(&clf_slurm_log, CLF_LOG_ERROR, "%s: defaults are used",
			clf_error_string(&why, text, sizeof(text)));
	if (!S.conf)
		S.conf = clf_conf_default(err);
	if (!S.conf)
		return -1;
	if (snprintf(S.dir, sizeof(S.dir), "%s/snapshot", S.conf->state_dir) >= (int) sizeof(S.dir))
		return clf_fail(err, CLF_E_INVALID, "state_dir too long");
	if (!getpwnam_r(S.conf->slurm_user, &pw, buf, sizeof(buf), &found) && found)
		S.owner = found->pw_uid;
	return 0;
}

int clf_slurm_site_init(const char *slurm_conf, struct clf_error *err)
{
	uint64_t mine;

	if (S.running)
		return 0;
	/* a thread that was left behind still uses what is there: it stays */
	if (!S.conf) {
		S.owner = 0;
		S.told = false;
		S.nodes_seen = 0;
		if (load_conf(slurm_conf, err))
			return -1;
	}
	look(false);
	pthread_mutex_lock(&S.mu);
	mine = ++S.epoch;
	pthread_mutex_unlock(&S.mu);
	if (pthread_create(&S.thread, NULL, watch, (void *) (uintptr_t) mine))
		return clf_fail(err, CLF_E_INTERNAL, "cannot start a thread");
	S.running = true;
	return 0;
}

/* The thread may wait for a lock that our caller holds (slurmctld reconfigures under its locks): after a while it is
 * left to end by itself, with everything it uses. The plugin is linked so that its code stays (-z nodelete). */
void clf_slurm_site_done(void)
{
	struct timespec t;

	if (!S.running)
		return;
	pthread_mutex_lock(&S.mu);
	S.epoch++;
	S.running = false;
	pthread_cond_broadcast(&S.wake);
	pthread_mutex_unlock(&S.mu);
	clock_gettime(CLOCK_REALTIME, &t);
	t.tv_sec += JOIN_S;
	if (pthread_timedjoin_np(S.thread, NULL, &t)) {
		pthread_detach(S.thread);
		return;
	}
	publish(NULL, 0);
	clf_slurm_nodes_done(&S.nodes);
	S.nodes = (struct clf_slurm_nodes){ 0 };
	clf_conf_destroy(S.conf);
	S.conf = NULL;
}
