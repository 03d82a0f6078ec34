/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "slurm/glue_jobdesc.h"

#include <string.h>

#include "slurm/glue_mem.h"
#include "slurm/glue_stamp.h"

static const char *given(const char *s)
{
	return s && *s ? s : NULL;
}

static uint32_t count(uint32_t v)
{
	return v == NO_VAL || v == INFINITE ? 0 : v;
}

struct clf_job clf_jobdesc_job(const job_desc_msg_t *d, const char *account, const char *partition, const char *user,
			       int64_t now_ms)
{
	return (struct clf_job){
		.uid = d->user_id,
		.user = user,
		.account = given(d->account) ? d->account : account,
		.accountless = true, /* the default is filled in: where it is NULL there is none */
		.partition = given(d->partition) ? d->partition : partition,
		.qos = given(d->qos),
		.claim_class = clf_env_get(d->spank_job_env, d->spank_job_env_size, CLF_OPTION_CLASS),
		.claim_grant = clf_env_get(d->spank_job_env, d->spank_job_env_size, CLF_OPTION_GRANT),
		.min_nodes = count(d->min_nodes),
		.max_nodes = count(d->max_nodes),
		.req_nodes = given(d->req_nodes),
		.exc_nodes = given(d->exc_nodes),
		.req_switch = count(d->req_switch),
		.het_component = d->het_job_offset != NO_VAL,
		.het_leader = d->het_job_offset == 0,
		.array = given(d->array_inx) != NULL,
		.interactive = !d->script && !d->script_buf,
		.now_ms = now_ms,
	};
}

/* Next entry of a licence list: separators are ',' and ';' */
static const char *next_licence(const char *p, size_t *len)
{
	p += strspn(p, ",; ");
	*len = strcspn(p, ",;");
	return *len ? p : NULL;
}

static bool same_name(const char *entry, size_t len, const char *licence)
{
	size_t n = strcspn(licence, ":"), m = strcspn(entry, ":=*@,; ");

	if (m > len)
		m = len;
	return n == m && !strncmp(entry, licence, n);
}

bool clf_licences_have(const char *list, const char *licence)
{
	size_t len;

	for (const char *p = list ? list : ""; (p = next_licence(p, &len)) != NULL; p += len)
		if (same_name(p, len, licence) &&
		    (len == strcspn(licence, ":") || (len == strlen(licence) && !strncmp(p, licence, len))))
			return true;
	return false;
}

char *clf_licences_with(const char *list, const char *licence)
{
	char *out = clf_slurm_strdup(licence);
	size_t len;

	for (const char *p = list ? list : ""; (p = next_licence(p, &len)) != NULL; p += len)
		if (!same_name(p, len, licence)) {
			char *longer = clf_slurm_printf("%s,%.*s", out, (int) len, p);

			clf_slurm_free(&out);
			out = longer;
		}
	return out;
}

void clf_jobdesc_restrict(job_desc_msg_t *d, const struct clf_terms *terms)
{
	char *s;

	if (given(terms->exclude)) {
		s = given(d->exc_nodes) ? clf_slurm_printf("%s,%s", terms->exclude, d->exc_nodes)
					: clf_slurm_strdup(terms->exclude);
		clf_slurm_free(&d->exc_nodes);
		d->exc_nodes = s;
	}
	if (terms->max_nodes && !count(d->max_nodes))
		d->max_nodes = terms->max_nodes;
	if (terms->exclusive)
		d->shared = JOB_SHARED_NONE;
	/* a heterogeneous job holds licences on its leader only */
	if (terms->licence && (d->het_job_offset == NO_VAL || d->het_job_offset == 0)) {
		s = clf_licences_with(d->licenses, terms->licence);
		clf_slurm_free(&d->licenses);
		d->licenses = s;
	}
	if (terms->req_switch && (!count(d->req_switch) || d->req_switch > terms->req_switch)) {
		d->req_switch = terms->req_switch;
		d->wait4switch = terms->switch_wait_s;
	}
}

uint32_t clf_jobdesc_stamp(job_desc_msg_t *d, const struct clf_decision *dec)
{
	uint32_t forged = clf_env_strip(d->spank_job_env, &d->spank_job_env_size);
	struct clf_comment c = { dec->id, dec->cls, dec->grant, dec->rule, NULL, NULL };
	const struct {
		const char *name, *value;
	} stamps[] = {
		{ CLF_STAMP_DECISION, dec->id },
		{ CLF_STAMP_CLASS, dec->cls },
		{ CLF_STAMP_GRANT, dec->grant ? dec->grant : "" },
		{ CLF_STAMP_FLAGGED, dec->flagged ? "1" : "0" },
		{ CLF_STAMP_ZONE, dec->terms.zone ? dec->terms.zone : "" },
	};
	char *comment;

	for (size_t i = 0; i < sizeof(stamps) / sizeof(*stamps); i++)
		clf_env_add(&d->spank_job_env, &d->spank_job_env_size, "", stamps[i].name, stamps[i].value);
	comment = clf_comment_make(&c, d->admin_comment);
	clf_slurm_free(&d->admin_comment);
	d->admin_comment = comment;
	return forged;
}
