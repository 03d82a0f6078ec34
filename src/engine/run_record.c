/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "engine/run_priv.h"

#define NODES_IN_RECORD    (16u << 10) /* a longer host expression stays in the ledger only */
#define EVIDENCE_IN_RECORD (32u << 10) /* more detail than this is left out, and the record says so */

int64_t clf_run_now(const struct clf_run *r)
{
	return r->clock->wall_ms(r->clock->arg);
}

static const struct clf_policy_grant *grant_of(const struct clf_run *r, const char *grant)
{
	uint32_t i;

	if (!r->site || !grant || !clf_strmap_find(&r->site->policy->grant_of, grant, &i))
		return NULL;
	return &r->site->policy->grants[i];
}

static int nets_detail(const struct clf_lease *l, json_t *j)
{
	json_auto_t *nets = json_array();

	for (size_t i = 0; i < l->nnets; i++)
		if (json_array_append_new(nets,
					  json_pack("{s:s,s:i,s:I}", "fabric", l->nets[i].fabric, "key",
						    (int) l->nets[i].key, "n_ports", (json_int_t) l->nets[i].ports.n)))
			return -1;
	return json_object_set(j, "nets", nets);
}

json_t *clf_run_lease_detail(const struct clf_lease *l)
{
	json_auto_t *j = json_pack("{s:s,s:I,s:I}", "lease", l->id, "n_nodes", (json_int_t) l->n_nodes, "restart",
				   (json_int_t) l->restart);
	int bad = !j;

	if (l->nodes && strlen(l->nodes) <= NODES_IN_RECORD)
		bad |= json_object_set_new(j, "nodes", json_string(l->nodes));
	if (l->array_job_id)
		bad |= json_object_set_new(j, "array_job_id", json_integer(l->array_job_id));
	if (l->het_job_id)
		bad |= json_object_set_new(j, "het_job_id", json_integer(l->het_job_id));
	if (l->nnets)
		bad |= nets_detail(l, j);
	return bad ? NULL : CLF_STEAL(j);
}

int clf_run_record(struct clf_run *r, const struct clf_lease *l, enum clf_event event, bool ok, const char *code,
		   const char *message, json_t *detail, const char *finding, struct clf_error *err)
{
	json_auto_t *own = detail;
	const struct clf_policy_grant *g = grant_of(r, l->grant);
	struct clf_record_facts f = {
		.event = event,
		.finding = finding,
		.cluster = r->cluster,
		.job_id = l->job_id,
		.submit_time_s = l->submit_time_s,
		.decision = l->decision,
		.uid = l->uid,
		.has_uid = true,
		.user = l->user,
		.account = l->account,
		.partition = l->partition,
		.process = "closfoldd",
		.producer = "closfoldd",
		.ok = ok,
		.status_code = code,
		.message = message,
		.cls = l->cls,
		.grant = l->grant,
		.policy_sha256 = r->policy_sha256 && *r->policy_sha256 ? r->policy_sha256 : NULL,
		.detail = own,
	};

	if (!own)
		return clf_fail(err, CLF_E_NOMEM, "out of memory");
	if (g) {
		f.purpose = g->purpose;
		f.fiduciary = g->fiduciary;
		f.contract = g->contract;
		f.basis = g->basis;
	}
	return r->record(r->arg, &f, err);
}

static bool too_long(const json_t *j)
{
	return json_dumpb(j, NULL, 0, JSON_COMPACT) > EVIDENCE_IN_RECORD;
}

/* Without the drivers' detail: word and text of each fabric stay. */
static json_t *shortened(const json_t *fabrics)
{
	json_auto_t *list = json_deep_copy(fabrics);
	json_t *f;
	size_t i;

	json_array_foreach(list, i, f)
	{
		if (json_object_set_new(f, "detail_left_out", json_true()))
			return NULL;
		json_object_del(f, "detail");
	}
	return CLF_STEAL(list);
}

/* Canonical bytes know whole numbers only: a fraction goes in as text. A copy; NULL when memory ends. */
static json_t *recordable(const json_t *j)
{
	json_auto_t *copy = NULL;
	const char *key;
	json_t *v;
	size_t i;

	if (json_is_real(j))
		return json_sprintf("%.3f", json_real_value(j));
	if (json_is_array(j)) {
		copy = json_array();
		json_array_foreach(j, i, v) if (json_array_append_new(copy, recordable(v))) return NULL;
		return CLF_STEAL(copy);
	}
	if (json_is_object(j)) {
		copy = json_object();
		json_object_foreach((json_t *) j, key,
				    v) if (json_object_set_new(copy, key, recordable(v))) return NULL;
		return CLF_STEAL(copy);
	}
	return json_deep_copy(j);
}

json_t *clf_run_evidence(const struct clf_lease *l, const json_t *fabrics, const json_t *nodes)
{
	json_auto_t *j = json_pack("{s:s}", "lease", l->id);

	if (!j || (fabrics && json_object_set_new(j, "fabrics", recordable(fabrics))) ||
	    (nodes && json_object_set_new(j, "nodes", recordable(nodes))))
		return NULL;
	if (too_long(j) && fabrics && json_object_set_new(j, "fabrics", shortened(json_object_get(j, "fabrics"))))
		return NULL;
	if (too_long(j) && json_object_set_new(j, "nodes", json_pack("{s:b}", "detail_left_out", true)))
		return NULL;
	return CLF_STEAL(j);
}
