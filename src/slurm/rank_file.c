/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "slurm/rank_file.h"

#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/lex.h"
#include "place/order.h"
#include "policy/conf.h"
#include "slurm/glue_conf.h"
#include "topo/read/reader.h"

int clf_rank_counts(const char *tasks_per_node, size_t n, uint32_t *counts, struct clf_error *err)
{
	const char *p = tasks_per_node;
	size_t k = 0;

	while (*p) {
		size_t len = strcspn(p, "(,");
		unsigned long long tasks, times = 1;

		if (!clf_parse_u64(p, len, &tasks) || tasks == 0 || tasks > CLF_RANK_MAX_TASKS)
			return clf_fail(err, CLF_E_INVALID, "tasks per node '%s' not understood", tasks_per_node);
		p += len;
		if (p[0] == '(') {
			len = p[1] == 'x' ? strcspn(p + 2, ")") : 0;
			if (!len || p[2 + len] != ')' || !clf_parse_u64(p + 2, len, &times))
				return clf_fail(err, CLF_E_INVALID, "tasks per node '%s' not understood",
						tasks_per_node);
			p += len + 3;
		}
		if (*p && *p != ',')
			return clf_fail(err, CLF_E_INVALID, "tasks per node '%s' not understood", tasks_per_node);
		if (*p == ',' && !*++p)
			return clf_fail(err, CLF_E_INVALID, "tasks per node '%s' not understood", tasks_per_node);
		if (times > n - k)
			return clf_fail(err, CLF_E_INVALID, "tasks per node '%s' is for more than %zu nodes",
					tasks_per_node, n);
		while (times-- > 0)
			counts[k++] = (uint32_t) tasks;
	}
	if (k != n)
		return clf_fail(err, CLF_E_INVALID, "tasks per node '%s' is for %zu of %zu nodes", tasks_per_node, k,
				n);
	return 0;
}

/* Node ids of the known hosts to positions in hosts; unknown hosts are counted and stay in order behind. */
int clf_rank_order(const struct clf_topo *topo, const struct clf_strv *hosts, uint32_t *perm, bool *same,
		   struct clf_error *err)
{
	uint32_t nnodes = clf_topo_nnodes(topo), known = 0, last = 0, first = CLF_NONE;
	CLF_AUTO_FREE uint32_t *ids = calloc(hosts->n + 1, sizeof(*ids));
	CLF_AUTO_FREE uint32_t *pos = malloc((nnodes + 1) * sizeof(*pos));
	bool identical = true;

	if (!ids || !pos)
		return clf_fail(err, CLF_E_NOMEM, "no memory for a rank order");
	for (uint32_t i = 0; i < nnodes; i++)
		pos[i] = CLF_NONE;
	for (size_t i = 0; i < hosts->n; i++) {
		uint32_t id = clf_topo_node_find(topo, hosts->v[i]);

		if (id == CLF_NONE)
			continue;
		if (pos[id] != CLF_NONE)
			return clf_fail(err, CLF_E_INVALID, "host '%s' named twice", hosts->v[i]);
		pos[id] = (uint32_t) i;
		ids[known++] = id;
		if (i == 0)
			first = id;
	}
	if (known && clf_order(topo, ids, known, first, CLF_PATTERN_RING, err))
		return -1;
	for (uint32_t i = 0; i < known; i++)
		perm[last++] = pos[ids[i]];
	for (size_t i = 0; i < hosts->n; i++)
		if (clf_topo_node_find(topo, hosts->v[i]) == CLF_NONE)
			perm[last++] = (uint32_t) i;
	for (uint32_t i = 0; i < last; i++)
		identical = identical && perm[i] == i;
	*same = identical;
	return 0;
}

char *clf_rank_text(const struct clf_strv *hosts, const uint32_t *perm, const uint32_t *counts, struct clf_error *err)
{
	CLF_CLEANUP(clf_buf_done) struct clf_buf b = CLF_BUF_INIT(64u << 20);

	for (size_t i = 0; i < hosts->n; i++)
		for (uint32_t k = 0; k < (counts ? counts[perm[i]] : 1); k++)
			if (clf_buf_printf(&b, err, "%s\n", hosts->v[perm[i]]))
				return NULL;
	return clf_buf_steal(&b);
}

int clf_rank_topology(const char *file, const char *slurm_conf, struct clf_topo **out, struct clf_error *err)
{
	char beside[4096];

	if (file)
		return clf_topo_load(NULL, file, out, err);
	if (!clf_glue_conf_path(slurm_conf, beside, sizeof(beside))) {
		CLF_CLEANUP(clf_conf_destroyp) struct clf_conf *conf = NULL;

		if (!clf_conf_load(beside, &conf, NULL) && conf->topology && *conf->topology &&
		    !clf_topo_load(NULL, conf->topology, out, NULL))
			return 0;
	}
	if (clf_glue_conf_beside(slurm_conf, "topology.conf", beside, sizeof(beside)))
		return clf_fail(err, CLF_E_NOTFOUND, "no topology: neither closfold.conf nor slurm.conf is known here");
	return clf_topo_load("slurm", beside, out, err);
}
