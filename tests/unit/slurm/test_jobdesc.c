/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What job_submit writes into a job description, and who owns it: linked with a stand-in for Slurm's allocator. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include <slurm/slurm.h>

#include "mock_slurm.h"
#include "slurm/glue_jobdesc.h"
#include "slurm/glue_mem.h"
#include "slurm/glue_modify.h"
#include "slurm/glue_stamp.h"
#include "tap.h"

static void put(job_desc_msg_t *d, const char *entry)
{
	clf_slurm_env_grow(&d->spank_job_env, d->spank_job_env_size + 1);
	d->spank_job_env[d->spank_job_env_size++] = clf_slurm_strdup(entry);
}

static bool has(const job_desc_msg_t *d, const char *entry)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < d->spank_job_env_size; i++)
		n += !strcmp(d->spank_job_env[i], entry);
	return n == 1;
}

/* What slurm_free_job_desc_msg() would free of what the glue wrote. */
static void done(job_desc_msg_t *d)
{
	for (uint32_t i = 0; i < d->spank_job_env_size; i++)
		clf_slurm_free(&d->spank_job_env[i]);
	clf_slurm_free((char **) &d->spank_job_env);
	clf_slurm_free(&d->admin_comment);
	clf_slurm_free(&d->exc_nodes);
	clf_slurm_free(&d->licenses);
}

static void stamps(void)
{
	job_desc_msg_t d;
	char rule[] = "with-grant", grant[] = "G-17";
	struct clf_decision dec = {
		.allow = true, .flagged = true, .cls = "personal", .grant = grant, .rule = rule, .terms.zone = "vault"
	};
	struct clf_stamp s;
	bool slurms = true;
	uint32_t ours = 0;

	strcpy(dec.id, "0123456789abcdef0123456789abcdef");
	slurm_init_job_desc_msg(&d);
	put(&d, "CLOSFOLD_CLASS=public");
	put(&d, "SPANK_CLOSFOLD_CLASS=public");
	put(&d, "SPANK_SPANK_CLOSFOLD_FLAGGED=0");
	put(&d, "CLOSFOLD_LEASE=L1-1");
	put(&d, "CLOSFOLD_ANYTHING=1");
	put(&d, CLF_OPTION_CLASS "=personal");
	put(&d, "OTHER=kept");
	d.admin_comment = clf_slurm_strdup("an operator's words");
	is_int(clf_jobdesc_stamp(&d, &dec), 5, "forged stamps are counted");
	ok(has(&d, "CLOSFOLD_CLASS=personal") && has(&d, "CLOSFOLD_FLAGGED=1") && has(&d, "CLOSFOLD_GRANT=G-17") &&
		   has(&d, "CLOSFOLD_ZONE=vault") && has(&d, "CLOSFOLD_DECISION=0123456789abcdef0123456789abcdef"),
	   "each stamp is there once");
	ok(has(&d, "OTHER=kept") && has(&d, CLF_OPTION_CLASS "=personal"), "what is not ours stays");
	for (uint32_t i = 0; i < d.spank_job_env_size; i++) {
		slurms = slurms && mock_owns(d.spank_job_env[i]);
		ours += strstr(d.spank_job_env[i], "CLOSFOLD_") != NULL;
	}
	is_int(ours, 5, "and none but those five");
	ok(slurms && mock_owns(d.admin_comment), "every string is from Slurm's allocator");
	is_str(d.admin_comment,
	       "closfold decision=0123456789abcdef0123456789abcdef class=personal grant=G-17 rule=with-grant; an "
	       "operator's words",
	       "the comment says it in front of the operator's text");
	s = clf_stamp_read(d.spank_job_env, d.spank_job_env_size, d.admin_comment);
	ok(s.present && s.authentic && s.flagged && !strcmp(s.cls, "personal"), "stamps are read back");
	s = clf_stamp_read(d.spank_job_env, d.spank_job_env_size,
			   "closfold decision=ffffffffffffffffffffffffffffffff class=personal");
	ok(s.present && !s.authentic, "stamps that the comment does not confirm are not authentic");
	s = clf_stamp_read(d.spank_job_env, d.spank_job_env_size, NULL);
	ok(!s.authentic, "nor without a comment");
	done(&d);
	is_int(mock_wrong_frees(), 0, "nothing else was freed with Slurm's free");
	is_int(mock_live(), 0, "and nothing was left");
}

static void restricts(void)
{
	job_desc_msg_t d;
	struct clf_terms t = { .exclusive = true,
			       .exclude = "n[9-16]",
			       .licence = "key:1",
			       .req_switch = 2,
			       .switch_wait_s = 60,
			       .max_nodes = 4 };

	slurm_init_job_desc_msg(&d);
	d.exc_nodes = clf_slurm_strdup("n1");
	d.licenses = clf_slurm_strdup("matlab:2,key:0");
	d.shared = JOB_SHARED_OK;
	d.req_switch = 5;
	clf_jobdesc_restrict(&d, &t);
	is_str(d.exc_nodes, "n[9-16],n1", "nodes outside the zone are excluded, the user's own too");
	is_int(d.shared, JOB_SHARED_NONE, "whole nodes");
	ok(clf_licences_have(d.licenses, "key:1") && strstr(d.licenses, "matlab:2"),
	   "the key's licence, one, beside the user's: %s", d.licenses);
	is_int(d.req_switch, 2, "a wider limit of switches is narrowed");
	is_int(d.wait4switch, 60, "with the policy's wait");
	is_int(d.max_nodes, 4, "the grant's node limit where the job has none");
	ok(mock_owns(d.exc_nodes) && mock_owns(d.licenses), "from Slurm's allocator");
	d.req_switch = 1;
	d.wait4switch = 5;
	clf_jobdesc_restrict(&d, &t);
	is_int(d.req_switch, 1, "a stricter limit is the user's");
	done(&d);
	is_int(mock_live(), 0, "replaced strings were freed");
	slurm_init_job_desc_msg(&d);
	d.het_job_offset = 1;
	clf_jobdesc_restrict(&d, &t);
	ok(!d.licenses, "a licence stands on the leader of a heterogeneous job only");
	done(&d);
}

static const char *forbidden(void (*change)(job_desc_msg_t *), bool pending)
{
	static char list[256];
	job_desc_msg_t d;

	slurm_init_job_desc_msg(&d);
	change(&d);
	return clf_modify_forbidden(&d, pending, list, sizeof(list));
}

static void set_features(job_desc_msg_t *d)
{
	d->features = (char *) (uintptr_t) "big";
}

static void set_reservation(job_desc_msg_t *d)
{
	d->reservation = (char *) (uintptr_t) "r";
}

static void set_shared(job_desc_msg_t *d)
{
	d->shared = JOB_SHARED_OK;
}

static void set_nodes(job_desc_msg_t *d)
{
	d->min_nodes = 2;
}

static void set_name(job_desc_msg_t *d)
{
	d->name = (char *) (uintptr_t) "x";
}

static void nothing(job_desc_msg_t *d)
{
	(void) d;
}

static void modify_fields(void)
{
	is_str(forbidden(set_features, true), "features", "features of a flagged job");
	is_str(forbidden(set_reservation, true), "reservation", "reservation");
	is_str(forbidden(set_shared, true), "shared", "sharing");
	ok(!forbidden(set_nodes, true), "a pending job's size is judged, not forbidden");
	is_str(forbidden(set_nodes, false), "min_nodes", "a running job's size is forbidden");
	ok(!forbidden(set_name, true), "its name is free");
	ok(!forbidden(nothing, true), "no change");
	for (size_t i = 0; i < clf_modify_nfields; i++)
		for (size_t k = i + 1; k < clf_modify_nfields; k++)
			if (clf_modify_fields[i].offset == clf_modify_fields[k].offset)
				ok(false, "field %s is there twice", clf_modify_fields[i].name);
}

/* The whole list: a field that leaves it must leave it here too. */
static void modify_refuses(void)
{
	static const char *const names[] = { "batch_features",      "burst_buffer", "clusters",
					     "cluster_features",    "container",    "core_spec",
					     "crontab_entry",       "features",     "fed_siblings_active",
					     "fed_siblings_viable", "mcs_label",    "network",
					     "origin_cluster",      "reboot",       "req_context",
					     "reservation",         "shared",       "spank_job_env",
					     "spank_job_env_size" };
	char list[256];
	job_desc_msg_t d;

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		for (size_t k = 0; k < clf_modify_nfields; k++)
			if (!strcmp(clf_modify_fields[k].name, names[i])) {
				slurm_init_job_desc_msg(&d);
				memset((char *) &d + clf_modify_fields[k].offset, 1, clf_modify_fields[k].size);
				is_str(clf_modify_forbidden(&d, true, list, sizeof(list)), names[i],
				       "'%s' cannot be touched", names[i]);
			}
}

static bool in_table(const char *name)
{
	for (size_t i = 0; i < clf_modify_nfields; i++)
		if (!strcmp(clf_modify_fields[i].name, name))
			return true;
	return false;
}

/* The name a line of the structure declares, in place; NULL for a comment, a blank, the structure's own lines. */
static const char *declared(char *line, bool *comment)
{
	char *semi = strchr(line, ';'), *text = line + strspn(line, "\t "), *name;

	if (*comment || *text == '*') {
		*comment = !strstr(line, "*/");
		return NULL;
	}
	*comment = strstr(line, "/*") && !strstr(line, "*/");
	if (!semi || text == line)
		return NULL;
	*semi = '\0';
	for (name = semi; name > line && (isalnum((unsigned char) name[-1]) || name[-1] == '_'); name--)
		;
	return name;
}

/* The header the plugins are built with is read: a field that a newer Slurm adds must be judged before it is let
 * through. */
static void modify_knows_all_fields(void)
{
	FILE *f = fopen(CLF_SLURM_HEADER, "r");
	bool inside = false, comment = false;
	size_t fields = 0, unknown = 0;
	char line[512];

	ok(f != NULL, "slurm.h is there");
	while (f && fgets(line, sizeof(line), f) && !(inside && strstr(line, "} job_desc_msg_t;"))) {
		const char *name;

		if (!inside) {
			inside = strstr(line, "typedef struct job_descriptor {") != NULL;
			comment = inside && !strstr(line, "*/");
			continue;
		}
		name = declared(line, &comment);
		fields += name != NULL;
		if (name && !in_table(name)) {
			unknown++;
			diag("job_desc_msg_t has '%s', the table has not", name);
		}
	}
	if (f)
		fclose(f);
	is_int((long long) unknown, 0, "every field of job_desc_msg_t is in the table");
	is_int((long long) fields, (long long) clf_modify_nfields, "and nothing else");
}

static const char *breaks(job_desc_msg_t *d, const struct clf_modify_now *now)
{
	struct clf_terms t = {
		.exclusive = true, .exclude = "n[9-16]", .licence = "key:1", .req_switch = 2, .switch_wait_s = 60
	};

	return clf_modify_breaks(d, now, &t);
}

static void modify_terms(void)
{
	struct clf_modify_now now = { .pending = true,
				      .exclusive = true,
				      .licence_holder = true,
				      .exc_nodes = "n[9-16]",
				      .licences = "key:1",
				      .req_switch = 2,
				      .wait4switch = 60 };
	struct clf_modify_now shared = now;
	job_desc_msg_t d;

#define CHANGE(field, value) (slurm_init_job_desc_msg(&d), d.field = (value), breaks(&d, &now))
#define TEXT(s)              ((char *) (uintptr_t) (s))
	slurm_init_job_desc_msg(&d);
	ok(!breaks(&d, &now), "an unchanged job keeps its terms");
	ok(CHANGE(exc_nodes, TEXT("")), "ExcNodeList= is refused");
	ok(CHANGE(exc_nodes, TEXT("n[9-15]")), "one node less is refused");
	ok(!CHANGE(exc_nodes, TEXT("n[1,9-16]")), "more is allowed");
	ok(!CHANGE(exc_nodes, TEXT("n[9-12],n13,n14,n15,n16")), "the same in other words is allowed");
	ok(CHANGE(exc_nodes, TEXT("n[9-")), "what cannot be read is refused");
	ok(CHANGE(licenses, TEXT("")), "Licenses= is refused");
	ok(CHANGE(licenses, TEXT("key:0")), "none of the key is refused");
	ok(!CHANGE(licenses, TEXT("matlab,key:1")), "another licence beside it is allowed");
	ok(CHANGE(shared, JOB_SHARED_OK), "sharing is refused");
	ok(CHANGE(req_switch, 3), "more switches are refused");
	ok(CHANGE(req_switch, 0), "no limit of switches is refused");
	ok(!CHANGE(req_switch, 1), "fewer are allowed");
	ok(CHANGE(wait4switch, 1), "a shorter wait for the policy's limit is refused");
	shared.exclusive = false;
	slurm_init_job_desc_msg(&d);
	ok(breaks(&d, &shared), "a job that lost its whole nodes by other hands does not pass");
}

int main(void)
{
	stamps();
	restricts();
	modify_fields();
	modify_refuses();
	modify_knows_all_fields();
	modify_terms();
	return done_testing();
}
