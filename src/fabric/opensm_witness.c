/* SPDX-License-Identifier: GPL-2.0-or-later */
/* opensm_witness.c - closfold-ibwitness as this driver asks it. Format: docs/formats/ibwitness.md. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "fabric/opensm.h"

#define HELLO     "closfold-ibwitness/1 ready"
#define MARGIN_MS 300
#define LEAST_MS  100
#define PORTS_MAX 200000
#define KEYS_MAX  4096

const char *osm_state_text(enum osm_state s)
{
	static const char *const texts[] = { "answers",
					     "its link is down",
					     "it does not answer",
					     "another port answers in its place",
					     "two ports have this GUID",
					     "it is not on the fabric" };

	return texts[s];
}

void osm_view_done(struct osm_view *v)
{
	free(v->v);
	free(v->keys);
	*v = (struct osm_view){ 0 };
}

static int by_guid(const void *a, const void *b)
{
	const struct osm_port *x = a, *y = b;

	return x->guid < y->guid ? -1 : x->guid > y->guid;
}

const struct osm_port *osm_view_find(const struct osm_view *v, uint64_t guid)
{
	struct osm_port key = { .guid = guid };

	return v->n ? bsearch(&key, v->v, v->n, sizeof *v->v, by_guid) : NULL;
}

static int bad_line(struct clf_error *err, const char *what)
{
	return clf_fail(err, CLF_E_REMOTE, "the witness sent a line that cannot be read: %s", what);
}

static int read_keys(struct osm_view *v, const char *s, size_t *first, size_t *n, struct clf_error *err)
{
	*first = v->nkeys;
	if (!strcmp(s, "-"))
		return 0;
	for (size_t len = strlen(s); len >= 4; s += 5, len -= len > 4 ? 5 : 4) {
		unsigned long long key;

		if (!clf_parse_hex64(s, 4, &key) || (len > 4 && s[4] != ',') || *n >= KEYS_MAX)
			return bad_line(err, "a table");
		if (v->nkeys == v->capkeys) {
			size_t cap = v->capkeys ? 2 * v->capkeys : 1024;
			uint16_t *more = realloc(v->keys, cap * sizeof *more);

			if (!more)
				return clf_fail(err, CLF_E_NOMEM, "out of memory");
			v->keys = more;
			v->capkeys = cap;
		}
		v->keys[v->nkeys++] = (uint16_t) key;
		++*n;
		if (len == 4)
			return 0;
	}
	return bad_line(err, "a table");
}

static bool number(const char *s, unsigned long long max, unsigned *out)
{
	unsigned long long v;

	if (!(s[0] == '0' && s[1] == 'x' ? clf_parse_hex64(s, strlen(s), &v) : clf_parse_u64(s, strlen(s), &v)) ||
	    v > max)
		return false;
	*out = (unsigned) v;
	return true;
}

static int read_switch(struct osm_port *p, char *s, struct clf_error *err)
{
	char *colon = strchr(s, ':');

	if (!colon || !clf_guid_parse(s, (size_t) (colon - s), &p->switch_guid) ||
	    !number(colon + 1, 255, &p->switch_port))
		return bad_line(err, "a switch port");
	return 0;
}

/* NAME=VALUE of a port line; unknown names are for later versions. */
static int read_member(struct osm_view *v, struct osm_port *p, const char *name, char *s, struct clf_error *err)
{
	bool good = true;
	unsigned n = 0;

	if (!strcmp(name, "table"))
		return read_keys(v, s, &p->key, &p->nkeys, err);
	if (!strcmp(name, "swtable")) {
		p->switch_read = true;
		return read_keys(v, s, &p->switch_key, &p->nswitch, err);
	}
	if (!strcmp(name, "switch"))
		return read_switch(p, s, err);
	if (!strcmp(name, "link"))
		good = number(s, 15, &p->link);
	else if (!strcmp(name, "cap"))
		good = number(s, 65535, &p->cap);
	else if (!strcmp(name, "swcap"))
		good = number(s, 65535, &p->switch_cap);
	else if (!strcmp(name, "dev"))
		good = number(s, 65535, &p->device);
	else if (!strcmp(name, "mkey"))
		good = number(s, 1, &n), p->mkey = n;
	else if (!strcmp(name, "via"))
		p->route = !strcmp(s, "route");
	return good ? 0 : bad_line(err, name);
}

/* port GUID STATE NAME=VALUE... desc=THE REST */
static int read_port(struct osm_view *v, char *line, struct clf_error *err)
{
	static const char *const words[] = { "ok", "down", "silent", "moved", "twice", "absent" };
	struct osm_port p = { 0 };
	char *guid = strsep(&line, " "), *state = line ? strsep(&line, " ") : NULL, *word;
	size_t s = 0;

	while (state && s < sizeof words / sizeof *words && strcmp(words[s], state) != 0)
		s++;
	if (!state || s == sizeof words / sizeof *words || !clf_guid_parse(guid, strlen(guid), &p.guid))
		return bad_line(err, "a port");
	p.state = (enum osm_state) s;
	while (line && *line) {
		if (!strncmp(line, "desc=", 5)) {
			snprintf(p.desc, sizeof p.desc, "%s", line + 5);
			break;
		}
		word = strsep(&line, " ");
		char *eq = strchr(word, '=');

		if (!eq)
			return bad_line(err, "a port");
		*eq = '\0';
		if (read_member(v, &p, word, eq + 1, err))
			return -1;
	}
	if (v->n == PORTS_MAX)
		return bad_line(err, "too many ports");
	if (v->n == v->cap) {
		size_t cap = v->cap ? 2 * v->cap : 256;
		struct osm_port *more = realloc(v->v, cap * sizeof *more);

		if (!more)
			return clf_fail(err, CLF_E_NOMEM, "out of memory");
		v->v = more;
		v->cap = cap;
	}
	v->v[v->n++] = p;
	return 0;
}

static int read_sm(struct osm_sm *sm, char *line, struct clf_error *err)
{
	int fields = sscanf(line, "ok lid=%u guid=0x%" SCNx64 " priority=%u state=%u activity=%u", &sm->lid, &sm->guid,
			    &sm->priority, &sm->state, &sm->activity);

	sm->answers = fields == 5;
	return fields == 5 || !strncmp(line, "silent", 6) ? 0 : bad_line(err, "sm");
}

static int start(struct osm *o, int64_t deadline, struct clf_error *err)
{
	char *line;

	if (o->co.pid)
		return 0;
	o->discovered_ms = clf_coproc_now_ms(); /* with its first request */
	if (clf_coproc_start(&o->co, o->witness, NULL, err) || clf_coproc_line(&o->co, &line, deadline, err))
		return -1;
	if (strcmp(line, HELLO) != 0)
		return clf_fail(err, CLF_E_REMOTE, "'%s' is no witness of this version: it said '%.40s'", o->witness[0],
				line);
	return 0;
}

/* Lines up to "end". An "error" line leaves the witness alive, but for one about its own port. */
static int answer(struct osm *o, const char *verb, struct osm_view *v, struct osm_sm *sm, int64_t deadline, bool *alive,
		  struct clf_error *err)
{
	char *line, *save;

	for (;;) {
		if (clf_coproc_line(&o->co, &line, deadline, err))
			return -1;
		save = line;
		char *word = strsep(&save, " ");

		if (!strcmp(word, "port") && save && v) {
			if (read_port(v, save, err))
				return -1;
		} else if (!strcmp(word, "sm") && save && sm) {
			if (read_sm(sm, save, err))
				return -1;
		} else if (!strcmp(word, "end") && save && !strncmp(save, verb, strlen(verb))) {
			const char *mads = strstr(save, "mads=");

			if (v && mads)
				v->mads += strtoul(mads + 5, NULL, 10);
			return 0;
		} else if (!strcmp(word, "error")) {
			*alive = !save || strncmp(save, "io ", 3) != 0;
			return clf_fail(err, CLF_E_REMOTE, "the witness cannot read the fabric: %s",
					save ? save : "no reason");
		} else {
			return bad_line(err, word);
		}
	}
}

static int ask_once(struct osm *o, const char *verb, const struct clf_buf *request, struct osm_view *v,
		    struct osm_sm *sm, int64_t deadline, bool *alive, struct clf_error *err)
{
	if (start(o, deadline, err) || clf_coproc_send(&o->co, request->data, request->len, deadline, err))
		return -1;
	return answer(o, verb, v, sm, deadline, alive, err);
}

/* A witness that ran before and fails now is started anew once: its port may have been taken away meanwhile. */
static int ask(struct osm *o, const char *verb, const struct clf_buf *request, struct osm_view *v, struct osm_sm *sm,
	       int64_t deadline, struct clf_error *err)
{
	bool old = o->co.pid, alive = false;
	struct clf_error why = { 0 };
	int rc = ask_once(o, verb, request, v, sm, deadline, &alive, &why);

	if (rc && old && !alive && why.code != CLF_E_TIMEOUT) {
		clf_coproc_stop(&o->co);
		if (v)
			osm_view_done(v);
		why = (struct clf_error){ 0 };
		rc = ask_once(o, verb, request, v, sm, deadline, &alive, &why);
	}
	if (!rc) {
		clf_coproc_worked(&o->co);
		if (v && v->n)
			qsort(v->v, v->n, sizeof *v->v, by_guid);
		return 0;
	}
	if (!alive)
		clf_coproc_failed(&o->co);
	return clf_fail(err, why.code == CLF_E_IO ? CLF_E_REMOTE : why.code, "witness of fabric '%s': %.300s",
			o->conf->name, why.text);
}

static void bufp(struct clf_buf *b)
{
	clf_buf_done(b);
}

static void viewp(struct osm_view *v)
{
	osm_view_done(v);
}

/* What the witness may take; it is waited for a little longer, so that a call near its deadline still has an answer and
 * not a witness that has to be killed. */
static int64_t budget(int64_t deadline)
{
	int64_t left = deadline - clf_coproc_now_ms();

	return left > LEAST_MS ? left : LEAST_MS;
}

static int request(struct osm *o, const char *verb, const char *suffix, const struct clf_guids *ports, int64_t deadline,
		   struct osm_view *out, struct osm_sm *sm, struct clf_error *err)
{
	CLF_CLEANUP(bufp) struct clf_buf b = CLF_BUF_INIT(4u << 20);
	CLF_CLEANUP(viewp) struct osm_view v = { 0 };

	int64_t ms = budget(deadline);

	deadline = clf_coproc_now_ms() + ms + MARGIN_MS;
	if (clf_buf_printf(&b, err, "%s%s %lld", verb, suffix, (long long) ms))
		return -1;
	for (size_t i = 0; ports && i < ports->n; i++)
		if (clf_buf_printf(&b, err, " 0x%016" PRIx64, ports->v[i]))
			return -1;
	if (clf_buf_puts(&b, "\n", err) || ask(o, verb, &b, &v, sm, deadline, err))
		return -1;
	if (out) {
		osm_view_done(out);
		*out = v;
		v = (struct osm_view){ 0 };
	}
	return 0;
}

int osm_discover(struct osm *o, int64_t deadline, struct clf_error *err)
{
	if (request(o, "discover", "", NULL, deadline, NULL, NULL, err))
		return -1;
	o->discovered_ms = clf_coproc_now_ms();
	return 0;
}

int osm_read(struct osm *o, const struct clf_guids *ports, bool switches, int64_t deadline, struct osm_view *out,
	     struct clf_error *err)
{
	if (!ports->n) {
		osm_view_done(out);
		return 0;
	}
	return request(o, "read", switches ? "+switch" : "", ports, deadline, out, NULL, err);
}

int osm_read_all(struct osm *o, bool switches, int64_t deadline, struct osm_view *out, struct clf_error *err)
{
	return request(o, "all", switches ? "+switch" : "", NULL, deadline, out, NULL, err);
}

int osm_ask_sm(struct osm *o, int64_t deadline, struct osm_sm *out, struct clf_error *err)
{
	struct osm_sm sm = { 0 };

	if (request(o, "sm", "", NULL, deadline, NULL, &sm, err))
		return -1;
	*out = sm;
	return 0;
}
