/* SPDX-License-Identifier: GPL-2.0-or-later */
/* closfold_slurm.c - prints Slurm's jobs or nodes, one JSON object a line, for closfoldd (which itself links no Slurm).
 *
 *   closfold-slurm jobs | nodes
 *
 * Public API only. Exit: 0 the list is complete; 1 Slurm did not answer or a line could not be written: the list says
 * nothing; 2 usage. closfoldd takes an incomplete list for "unknown", never for "no such job".
 */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>

static const char *job_state(uint32_t state)
{
	static const char *const base[] = { "PENDING",   "RUNNING",   "SUSPENDED", "COMPLETED",
					    "CANCELLED", "FAILED",    "TIMEOUT",   "NODE_FAIL",
					    "PREEMPTED", "BOOT_FAIL", "DEADLINE",  "OUT_OF_MEMORY" };

	if (state & JOB_COMPLETING)
		return "COMPLETING";
	if (state & JOB_CONFIGURING)
		return "CONFIGURING";
	return (state & JOB_STATE_BASE) < sizeof(base) / sizeof(*base) ? base[state & JOB_STATE_BASE] : "UNKNOWN";
}

static const char *node_state(uint32_t state)
{
	static const char *const base[] = { "UNKNOWN", "DOWN", "IDLE", "ALLOCATED", "ERROR", "MIXED", "FUTURE" };

	if (state & NODE_STATE_DRAIN)
		return "DRAIN";
	return (state & NODE_STATE_BASE) < sizeof(base) / sizeof(*base) ? base[state & NODE_STATE_BASE] : "UNKNOWN";
}

/* A string the user chose may hold anything; what is no UTF-8 becomes '?'. */
static json_t *text(const char *s)
{
	json_t *j;
	char *copy;

	if (!s)
		return json_null();
	j = json_string(s);
	if (j)
		return j;
	copy = strdup(s);
	if (!copy)
		return NULL;
	for (char *c = copy; *c; c++)
		if ((unsigned char) *c >= 0x80)
			*c = '?';
	j = json_string(copy);
	free(copy);
	return j;
}

static int print(json_t *line)
{
	int rc = line ? json_dumpf(line, stdout, JSON_COMPACT | JSON_SORT_KEYS) : -1;

	json_decref(line);
	return rc || putchar('\n') == EOF ? -1 : 0;
}

static int number(json_t *o, const char *key, uint32_t v)
{
	return v == NO_VAL ? 0 : json_object_set_new(o, key, json_integer(v));
}

static int print_job(const job_info_t *j)
{
	json_t *o = json_object();
	int bad = !o;

	bad |= json_object_set_new(o, "job_id", json_integer(j->job_id));
	bad |= json_object_set_new(o, "submit_time", json_integer(j->submit_time));
	bad |= json_object_set_new(o, "start_time", json_integer(j->start_time));
	bad |= json_object_set_new(o, "state", json_string(job_state(j->job_state)));
	bad |= json_object_set_new(o, "nodes", text(j->nodes ? j->nodes : ""));
	bad |= json_object_set_new(o, "uid", json_integer(j->user_id));
	bad |= json_object_set_new(o, "account", text(j->account));
	bad |= json_object_set_new(o, "partition", text(j->partition));
	bad |= json_object_set_new(o, "admin_comment", text(j->admin_comment));
	bad |= json_object_set_new(o, "restart_cnt", json_integer(j->restart_cnt));
	if (j->array_job_id) {
		bad |= number(o, "array_job_id", j->array_job_id);
		bad |= number(o, "array_task_id", j->array_task_id);
	}
	if (j->het_job_id) {
		bad |= number(o, "het_job_id", j->het_job_id);
		bad |= number(o, "het_job_offset", j->het_job_offset);
	}
	if (bad) {
		json_decref(o);
		return -1;
	}
	return print(o);
}

static int print_node(const node_info_t *n)
{
	json_t *o = json_object();
	int bad = !o;

	bad |= json_object_set_new(o, "name", text(n->name));
	bad |= json_object_set_new(o, "features", text(n->features ? n->features : ""));
	bad |= json_object_set_new(o, "state", json_string(node_state(n->node_state)));
	if (bad) {
		json_decref(o);
		return -1;
	}
	return print(o);
}

static int jobs(void)
{
	job_info_msg_t *m = NULL;
	int bad = 0;

	if (slurm_load_jobs(0, &m, SHOW_ALL | SHOW_DETAIL)) {
		fprintf(stderr, "closfold-slurm: cannot read the job list: %s\n", slurm_strerror(slurm_get_errno()));
		return 1;
	}
	for (uint32_t i = 0; i < m->record_count && !bad; i++)
		bad = print_job(&m->job_array[i]);
	slurm_free_job_info_msg(m);
	return bad ? 1 : 0;
}

static int nodes(void)
{
	node_info_msg_t *m = NULL;
	int bad = 0;

	if (slurm_load_node(0, &m, SHOW_ALL)) {
		fprintf(stderr, "closfold-slurm: cannot read the node list: %s\n", slurm_strerror(slurm_get_errno()));
		return 1;
	}
	for (uint32_t i = 0; i < m->record_count && !bad; i++)
		if (m->node_array[i].name) /* a hole in the table */
			bad = print_node(&m->node_array[i]);
	slurm_free_node_info_msg(m);
	return bad ? 1 : 0;
}

int main(int argc, char **argv)
{
	int rc;

	if (argc == 2 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))) {
		puts("usage: closfold-slurm jobs|nodes\nPrints Slurm's jobs or nodes, one JSON object a line; used by "
		     "closfoldd.");
		return 0;
	}
	if (argc != 2 || (strcmp(argv[1], "jobs") && strcmp(argv[1], "nodes"))) {
		fputs("closfold-slurm: usage: closfold-slurm jobs|nodes\n", stderr);
		return 2;
	}
	slurm_init(NULL);
	rc = !strcmp(argv[1], "jobs") ? jobs() : nodes();
	if (fflush(stdout) || ferror(stdout))
		rc = 1;
	slurm_fini();
	return rc;
}
