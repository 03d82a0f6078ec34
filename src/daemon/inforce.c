/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/inforce.h"

#include <string.h>
#include <unistd.h>

#include "base/path.h"
#include "base/hostlist.h"
#include "engine/run.h"
#include "topo/read/reader.h"
#include "topo/topo_json.h"

struct clf_stamp clf_stamp_of(const char *path)
{
	struct stat st;

	if (!*path || stat(path, &st))
		return (struct clf_stamp){ 0 };
	return (struct clf_stamp){ st.st_dev, st.st_ino, st.st_size, st.st_mtim, st.st_ctim, true };
}

static bool same_time(struct timespec a, struct timespec b)
{
	return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

bool clf_stamp_same(const struct clf_stamp *a, const struct clf_stamp *b)
{
	return a->there == b->there && a->dev == b->dev && a->ino == b->ino && a->size == b->size &&
	       same_time(a->mtime, b->mtime) && same_time(a->ctime, b->ctime);
}

int clf_inforce_trusted(const char *path, struct clf_error *err)
{
	CLF_AUTO_CLOSE int fd = -1;

	if (geteuid() != 0)
		return 0;
	fd = clf_path_open_trusted(path, 0, err);
	return fd < 0 ? -1 : 0;
}

static int load_policy(const struct clf_conf *conf, struct clf_inforce *f, struct clf_error *err)
{
	struct clf_text t = { 0 };

	if (clf_inforce_trusted(conf->policy, err) || clf_text_load(conf->policy, CLF_POLICY_MAX_BYTES, &t, err))
		return -1;
	f->policy_text = strdup(t.data);
	if (!f->policy_text || clf_hash_sha256(t.data, t.len, f->policy_sha256, err)) {
		clf_text_done(&t);
		return clf_fail(err, CLF_E_NOMEM, "out of memory");
	}
	return clf_policy_from_text(&t, &f->policy, err);
}

static int load_topo(const struct clf_conf *conf, struct clf_inforce *f, struct clf_error *err)
{
	size_t len;

	if (!*conf->topology)
		return 0;
	if (clf_inforce_trusted(conf->topology, err) || clf_topo_load(NULL, conf->topology, &f->topo, err) ||
	    clf_topo_json_dump(f->topo, &f->topo_text, &len, err))
		return -1;
	return clf_hash_sha256(f->topo_text, len, f->topo_sha256, err);
}

static int list_nodes(struct clf_inforce *f, struct clf_error *err)
{
	CLF_CLEANUP(clf_strmap_done) struct clf_strmap seen = { .copy = true };
	CLF_CLEANUP(clf_strv_done) struct clf_strv all = { 0 };
	uint32_t n = f->topo ? clf_topo_nnodes(f->topo) : 0;

	for (uint32_t i = 0; i < n; i++)
		if (clf_strv_add(&all, clf_topo_node(f->topo, i)->name, err))
			return -1;
	for (uint32_t z = 0; z < f->policy->nzones; z++)
		if (f->policy->zones[z].nodes &&
		    clf_hostlist_expand(f->policy->zones[z].nodes, CLF_MAX_NODES, &all, err))
			return -1;
	for (size_t i = 0; i < all.n; i++) {
		if (clf_strmap_find(&seen, all.v[i], &n))
			continue;
		if (clf_strmap_add(&seen, all.v[i], 0, err) || clf_strv_add(&f->nodes, all.v[i], err))
			return -1;
	}
	return 0;
}

struct clf_inforce *clf_inforce_load(const struct clf_conf *conf)
{
	CLF_CLEANUP(clf_inforce_destroyp) struct clf_inforce *f = calloc(1, sizeof *f);

	if (!f)
		return NULL;
	f->policy_stamp = clf_stamp_of(conf->policy);
	f->topo_stamp = clf_stamp_of(conf->topology);
	if (!load_policy(conf, f, &f->error) && !load_topo(conf, f, &f->error))
		if (list_nodes(f, &f->error) || clf_run_site(f->policy, f->topo, &f->nodes, &f->site, &f->error))
			f->site = NULL;
	return CLF_STEAL(f);
}

void clf_inforce_destroy(struct clf_inforce *f)
{
	if (!f)
		return;
	clf_site_destroy(f->site);
	clf_policy_destroy(f->policy);
	clf_topo_destroy(f->topo);
	clf_strv_done(&f->nodes);
	free(f->policy_text);
	free(f->topo_text);
	free(f);
}
