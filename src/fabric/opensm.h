/* SPDX-License-Identifier: GPL-2.0-or-later */
/* opensm.h - the parts of the OpenSM driver: its section of fabrics.json, the witness, the partitions file, tables.
 *
 * Shapes: GUIDs are numbers inside and "0x" + 16 digits at the edges; a view is sorted by GUID.
 * Units:  deadlines are CLOCK_MONOTONIC milliseconds (clf_coproc_now_ms), spans _ms.
 * Memory: init/done on the caller's storage.
 * Source: docs/drivers/opensm.md, docs/formats/ibwitness.md.
 */
#ifndef CLF_FABRIC_OPENSM_H
#define CLF_FABRIC_OPENSM_H

#include "base/coproc.h"
#include "base/lex.h"
#include "fabric/driver.h"
#include "fabric/partitions.h"

/* Another host that may become subnet manager. */
struct osm_copy {
	const char *name;
	const char **publish; /* argv */
	char confirmed[65];   /* hash it last confirmed; "" none */
};

struct osm {
	const struct clf_fabric_conf *conf;
	const struct clf_log *log;
	/* configuration; strings are borrowed from conf */
	const char *partitions, *pid_file, *process, *include;
	struct clf_guids sm_ports, others, full_foreign; /* full_foreign: both of them */
	struct clf_partitions_rules rules;
	json_t *ports; /* borrowed: node -> [GUID], or NULL */
	const char **witness;
	struct osm_copy *copies;
	size_t ncopies;
	unsigned table_max; /* 0: what the ports say */
	/* state */
	struct clf_coproc co;
	uint64_t sm_guid;      /* the last audit's; 0 none yet */
	int64_t discovered_ms; /* when; 0 never by this witness */
	int64_t slowest_ms;    /* of a sweep seen from signal to last table */
};

int osm_conf_read(struct osm *o, struct clf_error *err);
void osm_conf_done(struct osm *o);

/* --- the witness --- */
enum osm_state { OSM_OK, OSM_DOWN, OSM_SILENT, OSM_MOVED, OSM_TWICE, OSM_ABSENT };
const char *osm_state_text(enum osm_state s); /* "its link is down" */
struct osm_port {
	uint64_t guid;
	enum osm_state state;
	bool route, mkey, switch_read;
	unsigned link, cap, switch_cap, device; /* link: PortState, 4 is active */
	uint64_t switch_guid;
	unsigned switch_port;
	size_t key, nkeys, switch_key, nswitch; /* in view.keys */
	char desc[65];
};
struct osm_view {
	struct osm_port *v;
	size_t n, cap;
	uint16_t *keys;
	size_t nkeys, capkeys;
	unsigned long mads;
};
struct osm_sm {
	bool answers;
	uint64_t guid;
	unsigned priority, state, activity, lid;
};
#define OSM_MASTER 3 /* SMInfo.SMState */
void osm_view_done(struct osm_view *v);
const struct osm_port *osm_view_find(const struct osm_view *v, uint64_t guid);
/* All of these may restart the witness. CLF_E_REMOTE, CLF_E_TIMEOUT: it does not answer. */
CLF_MUST_USE int osm_discover(struct osm *o, int64_t deadline, struct clf_error *err);
CLF_MUST_USE int osm_read(struct osm *o, const struct clf_guids *ports, bool switches, int64_t deadline,
			  struct osm_view *out, struct clf_error *err);
CLF_MUST_USE int osm_read_all(struct osm *o, bool switches, int64_t deadline, struct osm_view *out,
			      struct clf_error *err);
CLF_MUST_USE int osm_ask_sm(struct osm *o, int64_t deadline, struct osm_sm *out, struct clf_error *err);

/* --- what a table should be --- */
/* Does the table of this port agree with the partitions? text says what is wrong. sm: GUID of the ruling SM's port. */
bool osm_table_right(const struct osm_view *view, const struct osm_port *port, const struct clf_partitions *p,
		     uint64_t sm, char *text, size_t size);
bool osm_table_has(const struct osm_view *view, const struct osm_port *port, uint16_t key);
/* Full in the default partition, or nothing. */
bool osm_table_default_full(const struct osm_view *view, const struct osm_port *port);
bool osm_member(const struct clf_partitions *p, uint64_t guid, uint16_t key);
void osm_table_text(const uint16_t *keys, size_t n, char *out, size_t size); /* "8101,7fff" */

/* --- the file --- */
struct osm_file {
	enum clf_partitions_file whose;
	bool missing;
	struct clf_text text;
	int64_t age_ms; /* since its last change */
};
void osm_file_done(struct osm_file *f);
CLF_MUST_USE int osm_file_load(const struct osm *o, struct osm_file *out, struct clf_error *err);
/* What the file should hold: rendered, linted. skip: nets of want left out, or NULL. */
CLF_MUST_USE int osm_render(const struct osm *o, const struct clf_want *want, const bool *skip, struct clf_buf *text,
			    struct clf_partitions *parts, struct clf_error *err);
/* Write, read again, compare. */
CLF_MUST_USE int osm_publish(const struct osm *o, const struct clf_buf *text, struct clf_error *err);
/* Keep what is there as FILE.saved-HASH; saved says where. */
CLF_MUST_USE int osm_save_aside(const struct osm *o, const struct osm_file *f, char *saved, size_t size,
				struct clf_error *err);
/* Push to the copies that have not confirmed this text (all: to each); the first that does not confirm is the error. */
CLF_MUST_USE int osm_push_copies(struct osm *o, const struct clf_buf *text, bool all, int64_t deadline,
				 struct clf_error *err);
bool osm_copies_confirmed(const struct osm *o, const char *hash, const char **who);
/* SIGHUP to OpenSM on this host; *pid is it. CLF_E_NOTFOUND: none runs, or it is not the one. */
CLF_MUST_USE int osm_find_process(const struct osm *o, pid_t *pid, struct clf_error *err);
CLF_MUST_USE int osm_signal(const struct osm *o, pid_t *pid, struct clf_error *err);
/* Unified diff, owned; NULL when memory ends. */
char *osm_diff(const char *name, const char *old, const char *new);

/* --- the driver's calls, a file each --- */
int osm_sync(void *self, const struct clf_want *want, struct clf_net_task *tasks, size_t n, int timeout_ms,
	     struct clf_error *err);
int osm_audit(void *self, const struct clf_want *want, int timeout_ms, json_t **findings, struct clf_error *err);
int osm_check(void *self, const struct clf_want *want, int timeout_ms, json_t **findings, struct clf_error *err);
int osm_show(void *self, const struct clf_want *want, int timeout_ms, json_t **out, struct clf_error *err);
int osm_plan(void *self, const struct clf_want *want, int timeout_ms, json_t **out, struct clf_error *err);

CLF_MUST_USE int osm_net_guids(const struct clf_net *net, struct clf_guids *out, struct clf_error *err);

#endif
