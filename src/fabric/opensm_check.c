/* SPDX-License-Identifier: GPL-2.0-or-later */
/* opensm_check.c - the fabric against what is wanted, and whether isolation on it would be an illusion. Nothing is
 * changed here. Ports with the same fault are one finding: a fabric that failed open has thousands. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "fabric/opensm.h"

#define AN_DEVICE 0xcf09 /* Aggregation Node of a Quantum switch */
#define EXAMPLES  5

struct survey {
	struct osm *o;
	const struct clf_want *want;
	struct osm_file file;
	struct clf_buf text;
	struct clf_partitions parts;
	struct osm_sm sm, before; /* before: only the GUID, of the last call */
	struct osm_view view;
	struct clf_guids known;
	json_t *list;
};

/* Ports with one fault: the first few, and how many. */
struct group {
	size_t n;
	char first[EXAMPLES * 20], why[160];
};

static void survey_done(struct survey *s)
{
	osm_file_done(&s->file);
	clf_buf_done(&s->text);
	clf_partitions_done(&s->parts);
	osm_view_done(&s->view);
	clf_guids_done(&s->known);
	json_decref(s->list);
}

static void put(struct group *g, uint64_t guid, const char *why)
{
	size_t len = strlen(g->first);

	if (g->n < EXAMPLES)
		snprintf(g->first + len, sizeof g->first - len, "%s0x%016" PRIx64, len ? " " : "", guid);
	if (!g->n++)
		snprintf(g->why, sizeof g->why, "%s", why);
}

static int tell(struct survey *s, const struct group *g, enum clf_finding_level level, const char *code,
		const char *advice, struct clf_error *err)
{
	char subject[24];

	if (!g->n)
		return 0;
	snprintf(subject, sizeof subject, "%.18s", g->first);
	return clf_finding_add(s->list, level, code, subject, advice, err, "%zu port%s: %s (%s%s)", g->n,
			       g->n == 1 ? "" : "s", g->why, g->first, g->n > EXAMPLES ? " ..." : "");
}

static int known_guids(struct survey *s, struct clf_error *err)
{
	for (size_t i = 0; s->want->known && i < s->want->known->n; i++) {
		uint64_t guid;

		if (clf_guid_parse(s->want->known->v[i], strlen(s->want->known->v[i]), &guid) &&
		    clf_guids_add(&s->known, guid, err))
			return -1;
	}
	for (size_t i = 0; i < s->want->n; i++)
		if (osm_net_guids(&s->want->nets[i], &s->known, err))
			return -1;
	clf_guids_sort(&s->known);
	return 0;
}

static int look(struct survey *s, int timeout_ms, struct clf_error *err)
{
	int64_t deadline = clf_coproc_now_ms() + timeout_ms;

	s->list = json_array();
	s->text = (struct clf_buf) CLF_BUF_INIT(CLF_PARTITIONS_MAX_BYTES);
	s->before.guid = s->o->sm_guid;
	if (!s->list)
		return clf_fail(err, CLF_E_NOMEM, "out of memory");
	if (osm_file_load(s->o, &s->file, err) || osm_render(s->o, s->want, NULL, &s->text, &s->parts, err) ||
	    known_guids(s, err) || osm_discover(s->o, deadline, err) || osm_ask_sm(s->o, deadline, &s->sm, err) ||
	    osm_read_all(s->o, true, deadline, &s->view, err))
		return -1;
	return 0;
}

static int file_finding(struct survey *s, struct clf_error *err)
{
	const char *path = s->o->partitions;

	switch (s->file.whose) {
	case CLF_PARTFILE_EMPTY:
		return clf_finding_add(s->list, CLF_FINDING_ERROR,
				       s->file.missing ? "partitions-missing" : "partitions-empty", path,
				       "closfold writes it with the next change; until then OpenSM opens the fabric",
				       err, "the partitions file is %s", s->file.missing ? "missing" : "empty");
	case CLF_PARTFILE_CUT:
		return clf_finding_add(s->list, CLF_FINDING_ERROR, "partitions-cut", path,
				       "closfold writes it anew with the next change; look for a full disk", err,
				       "the partitions file is shorter than it was written");
	case CLF_PARTFILE_EDITED:
		return clf_finding_add(s->list, CLF_FINDING_ERROR, "partitions-edited", path,
				       "move the edit into the fabric's include file and remove the partitions file",
				       err, "the partitions file was edited by somebody else");
	case CLF_PARTFILE_FOREIGN:
		return clf_finding_add(
			s->list, CLF_FINDING_ERROR, "partitions-foreign", path,
			"move what is yours into the fabric's include file and remove the partitions file", err,
			"the partitions file is not closfold's");
	case CLF_PARTFILE_OURS:
		break;
	}
	if (s->file.text.len == s->text.len && !memcmp(s->file.text.data, s->text.data, s->text.len))
		return 0;
	return clf_finding_add(s->list, CLF_FINDING_WARN, "partitions-old", path,
			       "closfold writes it with the next change; `fabric plan` shows the difference", err,
			       "the partitions file is an older one of closfold's");
}

static int sm_finding(struct survey *s, struct clf_error *err)
{
	char guid[20], before[20];

	snprintf(guid, sizeof guid, "0x%016" PRIx64, s->sm.guid);
	snprintf(before, sizeof before, "0x%016" PRIx64, s->before.guid);
	if (!s->sm.answers)
		return clf_finding_add(s->list, CLF_FINDING_ERROR, "sm-silent", s->o->conf->name,
				       "start OpenSM; tables stay as they are meanwhile", err,
				       "no subnet manager answers");
	if (s->before.guid && s->before.guid != s->sm.guid &&
	    clf_finding_add(s->list, CLF_FINDING_WARN, "sm-changed", guid, "see why the old one ended", err,
			    "the subnet manager changed from %s to %s", before, guid))
		return -1;
	if (clf_guids_has(&s->o->sm_ports, s->sm.guid))
		return 0;
	return clf_finding_add(s->list, CLF_FINDING_ERROR, "sm-unlisted", guid,
			       "add its port to sm_ports and a copy of the file, or stop it", err,
			       "the subnet manager in force is none of sm_ports");
}

static bool in_net(const struct survey *s, uint64_t guid)
{
	size_t first, n = clf_partitions_of(&s->parts, guid, &first);

	for (size_t i = 0; i < n; i++) {
		const struct clf_partition *p = &s->parts.v[s->parts.m[first + i].partition];

		if (!p->foreign && p->key >= s->o->rules.key_min && p->key <= s->o->rules.key_max)
			return true;
	}
	return false;
}

static bool in_want(const struct survey *s, uint16_t key)
{
	for (size_t i = 0; i < s->want->n; i++)
		if (s->want->nets[i].key == key)
			return true;
	return false;
}

/* A key of closfold's range on a port that has no business with it. */
static void find_foreign(const struct survey *s, const struct osm_port *p, struct group *foreign, struct group *left)
{
	for (size_t k = 0; k < p->nkeys; k++) {
		uint16_t key = s->view.keys[p->key + k] & CLF_PKEY_DEFAULT;
		char why[80];

		if (key < s->o->rules.key_min || key > s->o->rules.key_max || osm_member(&s->parts, p->guid, key))
			continue;
		snprintf(why, sizeof why, "holds the key 0x%04x, %s", key,
			 in_want(s, key) ? "of a job on other ports" : "of no job");
		put(in_want(s, key) ? foreign : left, p->guid, why);
	}
}

/* The switch filters with the same set; a port that it lets nothing through is a job without network. */
static bool switch_agrees(const struct osm_view *v, const struct osm_port *p)
{
	if (!p->switch_read || !p->nswitch)
		return true;
	for (size_t i = 0; i < p->nkeys; i++) {
		uint16_t key = v->keys[p->key + i];
		bool found = !key;

		for (size_t k = 0; k < p->nswitch && !found; k++)
			found = (v->keys[p->switch_key + k] & CLF_PKEY_DEFAULT) == (key & CLF_PKEY_DEFAULT);
		if (!found)
			return false;
	}
	return true;
}

struct faults {
	struct group key, unread, full, open, foreign, left, sw, sm;
};

static void judge_port(const struct survey *s, const struct osm_port *p, struct faults *f)
{
	bool net = in_net(s, p->guid), sm = clf_guids_has(&s->o->sm_ports, p->guid);
	char why[160];

	if (p->state != OSM_OK) {
		if (net || p->state != OSM_DOWN)
			put(&f->unread, p->guid, osm_state_text(p->state));
		return;
	}
	if (net && p->link != 4)
		put(&f->unread, p->guid, "its link is not active yet");
	if (!sm && osm_table_default_full(&s->view, p))
		put(&f->full, p->guid, "a full member of the default partition, which reaches every port");
	else if (sm && !osm_table_default_full(&s->view, p))
		put(&f->sm, p->guid,
		    "in sm_ports, but no full member of the default partition: its answers reach no node");
	else if (!osm_table_right(&s->view, p, &s->parts, s->sm.guid, why, sizeof why))
		put(net ? &f->key : &f->open, p->guid, why);
	if (net && osm_table_default_full(&s->view, p) &&
	    !osm_table_right(&s->view, p, &s->parts, s->sm.guid, why, sizeof why))
		put(&f->key, p->guid, why);
	find_foreign(s, p, &f->foreign, &f->left);
	if (net && !switch_agrees(&s->view, p))
		put(&f->sw, p->guid, "its switch port holds another set of keys");
}

static void find_missing(const struct survey *s, struct group *net, struct group *ordinary)
{
	for (size_t i = 0; i < s->known.n; i++)
		if (!osm_view_find(&s->view, s->known.v[i]))
			put(in_net(s, s->known.v[i]) ? net : ordinary, s->known.v[i], osm_state_text(OSM_ABSENT));
}

static int tell_faults(struct survey *s, struct faults *f, struct clf_error *err)
{
	const char *soon = "closfold puts it right with the next change; if it stays, see OpenSM's log";

	if (tell(s, &f->key, CLF_FINDING_ERROR, "net-wrong", soon, err) ||
	    tell(s, &f->full, CLF_FINDING_ERROR, "default-full", "see whether OpenSM read the partitions file", err) ||
	    tell(s, &f->foreign, CLF_FINDING_ERROR, "foreign-member", soon, err) ||
	    tell(s, &f->left, CLF_FINDING_WARN, "leftover-key", soon, err) ||
	    tell(s, &f->sm, CLF_FINDING_ERROR, "sm-limited", "see whether OpenSM read the partitions file", err) ||
	    tell(s, &f->unread, CLF_FINDING_WARN, "port-unread", "see the port and its cable", err) ||
	    tell(s, &f->open, CLF_FINDING_WARN, "open-wrong", soon, err) ||
	    tell(s, &f->sw, CLF_FINDING_WARN, "switch-differs", "see OpenSM's log for ERR 0507", err))
		return -1;
	return 0;
}

int osm_audit(void *self, const struct clf_want *want, int timeout_ms, json_t **findings, struct clf_error *err)
{
	CLF_CLEANUP(survey_done) struct survey s = { .o = self, .want = want };
	struct faults f = { 0 };
	struct group none = { 0 };

	if (look(&s, timeout_ms, err) || file_finding(&s, err) || sm_finding(&s, err))
		return -1;
	if (s.sm.answers)
		s.o->sm_guid = s.sm.guid;
	for (size_t i = 0; i < s.view.n; i++)
		judge_port(&s, &s.view.v[i], &f);
	find_missing(&s, &f.unread, &none);
	if (tell_faults(&s, &f, err))
		return -1;
	*findings = CLF_STEAL(s.list);
	return 0;
}

struct risks {
	struct group full, sm, an, unknown, mkey, small, table, claimed;
};

static bool is_an(const struct osm_port *p)
{
	return p->device == AN_DEVICE || strstr(p->desc, "Aggregation Node");
}

static void weigh(const struct survey *s, const struct osm_port *p, struct risks *k)
{
	bool sm = clf_guids_has(&s->o->sm_ports, p->guid), known = clf_guids_has(&s->known, p->guid);
	size_t first, n = clf_partitions_of(&s->parts, p->guid, &first) + 1;

	if (is_an(p))
		put(&k->an, p->guid, "Aggregation Node of a switch (SHARP); it is no member of a job's network");
	else if (!sm && !known && !clf_guids_has(&s->o->others, p->guid))
		put(&k->unknown, p->guid, "belongs to no known node and is not in others");
	if (known && clf_guids_has(&s->o->others, p->guid))
		put(&k->claimed, p->guid, "is a node's and in others");
	if (p->state == OSM_TWICE)
		put(&k->claimed, p->guid, osm_state_text(OSM_TWICE));
	if (p->state != OSM_OK)
		return;
	if (!sm && osm_table_default_full(&s->view, p))
		put(&k->full, p->guid, "a full member of the default partition, which reaches every port");
	if (sm && !osm_table_default_full(&s->view, p))
		put(&k->sm, p->guid, "in sm_ports, but no full member of the default partition");
	if (!p->mkey)
		put(&k->mkey, p->guid, "no M_Key: root of any node could write tables");
	if (p->switch_cap < p->cap)
		put(&k->small, p->guid,
		    "its switch port holds fewer keys than the port; past them the switch stops filtering");
	if (n > p->cap || (s->o->table_max && n > s->o->table_max))
		put(&k->table, p->guid, "would be in more partitions than its table has entries");
}

static int tell_risks(struct survey *s, struct risks *k, struct clf_error *err)
{
	struct group missing = { 0 };

	find_missing(s, &missing, &missing);
	if (tell(s, &k->full, CLF_FINDING_ERROR, "default-full",
		 "let closfold write the partitions file, and see whether OpenSM reads it (-P, partition_config_file)",
		 err) ||
	    tell(s, &k->sm, CLF_FINDING_ERROR, "sm-limited", "see whether OpenSM read the partitions file", err) ||
	    tell(s, &k->claimed, CLF_FINDING_ERROR, "port-claimed", "give each port one owner", err) ||
	    tell(s, &k->table, CLF_FINDING_ERROR, "table-full", "take partitions out of the include file", err) ||
	    tell(s, &k->unknown, CLF_FINDING_WARN, "unknown-ca",
		 "start closfoldd on its node, or name it in others; until then it is in no network", err) ||
	    tell(s, &missing, CLF_FINDING_WARN, "port-missing",
		 "see the port and its cable; flagged jobs are refused there", err) ||
	    tell(s, &k->an, CLF_FINDING_INFO, "sharp-node", "switch SHARP off for flagged jobs", err) ||
	    tell(s, &k->small, CLF_FINDING_WARN, "switch-table-small", "keep a port in fewer partitions than that",
		 err) ||
	    tell(s, &k->mkey, CLF_FINDING_WARN, "mkey-zero",
		 "set m_key, m_key_per_port and m_key_protection_level in OpenSM", err))
		return -1;
	return 0;
}

static int host_findings(struct survey *s, struct clf_error *err)
{
	struct clf_error why = { 0 };
	const char *who = NULL;
	char hash[65];
	pid_t pid;

	if (osm_find_process(s->o, &pid, &why) &&
	    clf_finding_add(s->list, s->o->ncopies ? CLF_FINDING_WARN : CLF_FINDING_ERROR, "sm-process",
			    s->o->conf->name, "start OpenSM, or correct pid_file or process", err, "%s", why.text))
		return -1;
	if (clf_hash_sha256(s->file.text.data, s->file.text.len, hash, err))
		return -1;
	if (!osm_copies_confirmed(s->o, hash, &who) &&
	    clf_finding_add(s->list, CLF_FINDING_WARN, "copy-unconfirmed", who,
			    "see its publish program; no flagged job starts until it confirms", err,
			    "the host has not confirmed the partitions file that is here"))
		return -1;
	return 0;
}

int osm_check(void *self, const struct clf_want *want, int timeout_ms, json_t **findings, struct clf_error *err)
{
	CLF_CLEANUP(survey_done) struct survey s = { .o = self, .want = want };
	struct risks k = { 0 };

	if (look(&s, timeout_ms, err) || file_finding(&s, err) || sm_finding(&s, err) || host_findings(&s, err))
		return -1;
	for (size_t i = 0; i < s.view.n; i++)
		weigh(&s, &s.view.v[i], &k);
	if (tell_risks(&s, &k, err))
		return -1;
	*findings = CLF_STEAL(s.list);
	return 0;
}

static json_t *port_json(const struct osm_view *v, const struct osm_port *p)
{
	static const char *const states[] = { "ok", "down", "silent", "moved", "twice", "absent" };
	json_t *j = json_pack("{s:o,s:s,s:s,s:o,s:o}", "port", json_sprintf("0x%016" PRIx64, p->guid), "state",
			      states[p->state], "description", p->desc, "table", json_array(), "switch",
			      p->switch_guid ? json_sprintf("0x%016" PRIx64 "/%u", p->switch_guid, p->switch_port)
					     : json_null());

	for (size_t i = 0; j && i < p->nkeys; i++)
		json_array_append_new(json_object_get(j, "table"), json_sprintf("0x%04x", v->keys[p->key + i]));
	if (j && p->switch_read) {
		json_object_set_new(j, "switch_table", json_array());
		for (size_t i = 0; i < p->nswitch; i++)
			json_array_append_new(json_object_get(j, "switch_table"),
					      json_sprintf("0x%04x", v->keys[p->switch_key + i]));
	}
	return j;
}

int osm_show(void *self, const struct clf_want *want, int timeout_ms, json_t **out, struct clf_error *err)
{
	CLF_CLEANUP(survey_done) struct survey s = { .o = self, .want = want };
	int64_t deadline = clf_coproc_now_ms() + timeout_ms;
	json_auto_t *ports = json_array();
	json_t *j;

	if (!ports)
		return clf_fail(err, CLF_E_NOMEM, "out of memory");
	if (osm_discover(s.o, deadline, err) || osm_ask_sm(s.o, deadline, &s.sm, err) ||
	    osm_read_all(s.o, true, deadline, &s.view, err))
		return -1;
	for (size_t i = 0; i < s.view.n; i++)
		if (json_array_append_new(ports, port_json(&s.view, &s.view.v[i])))
			return clf_fail(err, CLF_E_NOMEM, "out of memory");
	j = json_pack("{s:O,s:{s:b,s:o,s:i,s:i}}", "ports", ports, "sm", "answers", s.sm.answers, "guid",
		      json_sprintf("0x%016" PRIx64, s.sm.guid), "priority", (int) s.sm.priority, "state",
		      (int) s.sm.state);
	if (!j)
		return clf_fail(err, CLF_E_NOMEM, "out of memory");
	*out = j;
	return 0;
}

int osm_plan(void *self, const struct clf_want *want, int timeout_ms, json_t **out, struct clf_error *err)
{
	CLF_CLEANUP(survey_done)
	struct survey s = { .o = self, .want = want, .text = CLF_BUF_INIT(CLF_PARTITIONS_MAX_BYTES) };
	CLF_AUTO_FREE char *diff = NULL;
	json_auto_t *steps = json_array();
	const char *path = s.o->partitions;

	if (osm_file_load(s.o, &s.file, err) || osm_render(s.o, want, NULL, &s.text, &s.parts, err))
		return -1;
	diff = osm_diff(path, s.file.text.data ? s.file.text.data : "", s.text.data);
	if (!steps || !diff)
		return clf_fail(err, CLF_E_NOMEM, "out of memory");
	if (*diff && (s.file.whose == CLF_PARTFILE_FOREIGN || s.file.whose == CLF_PARTFILE_EDITED))
		json_array_append_new(steps, json_sprintf("nothing: '%s' holds what is not closfold's", path));
	else if (*diff) {
		json_array_append_new(steps, json_sprintf("write '%s'", path));
		for (size_t i = 0; i < s.o->ncopies; i++)
			json_array_append_new(steps, json_sprintf("write the copy on '%s'", s.o->copies[i].name));
		json_array_append_new(steps, json_string("tell OpenSM to read it"));
	}
	*out = json_pack("{s:O,s:s}", "steps", steps, "diff", diff);
	return *out ? 0 : clf_fail(err, CLF_E_NOMEM, "out of memory");
}
