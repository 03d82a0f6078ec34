/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/ovsdb_sw.h"

#include <string.h>
#include <time.h>

#include "base/clock.h"

void clf_ovsdb_sw_init(struct clf_ovsdb_sw *sw, const struct clf_ovsdb_switch *conf, const struct clf_ovsdb_port *ports)
{
	*sw = (struct clf_ovsdb_sw){ .conf = conf, .ports = ports };
	pthread_mutex_init(&sw->mutex, NULL);
}

void clf_ovsdb_sw_done(struct clf_ovsdb_sw *sw)
{
	clf_ovsdb_close(sw->db);
	clf_ovsdb_image_done(&sw->now);
	pthread_mutex_destroy(&sw->mutex);
}

static void hang_up(struct clf_ovsdb_sw *sw)
{
	clf_ovsdb_close(sw->db);
	sw->db = NULL;
}

static int64_t since_us(int64_t began_us)
{
	return clf_clock_system.boot_us(NULL) - began_us;
}

/* reading */

static int read_once(struct clf_ovsdb_sw *sw, int64_t deadline_us, struct clf_error *err)
{
	json_t *res = NULL;

	if (!sw->db && clf_ovsdb_open(&sw->conf->remote, deadline_us, &sw->db, err))
		return -1;
	if (clf_ovsdb_transact(sw->db, clf_ovsdb_image_ops(), false, deadline_us, &res, err))
		return -1;
	clf_ovsdb_image_done(&sw->now);
	return clf_ovsdb_image_load(res, sw->conf, sw->ports, &sw->now, err);
}

static int read_image(struct clf_ovsdb_sw *sw, int64_t deadline_us, struct clf_error *err)
{
	struct clf_error e = { 0 };
	bool old = sw->db != NULL;

	sw->seen = false;
	if (!read_once(sw, deadline_us, &e)) {
		sw->seen = true;
		sw->locked = clf_ovsdb_locked(sw->db);
		return 0;
	}
	if (!sw->db || !clf_ovsdb_broken(sw->db))
		return clf_fail(err, e.code, "%s", e.text);
	hang_up(sw);
	if (old && e.code == CLF_E_REMOTE) /* an idle connection the server had closed: nothing was asked yet */
		return read_image(sw, deadline_us, err);
	return clf_fail(err, e.code, "%s", e.text);
}

static int named(const struct clf_ovsdb_sw *sw, int rc, struct clf_error *err)
{
	if (rc && err)
		clf_error_prefix(err, "switch '%s'", sw->conf->name);
	return rc;
}

int clf_ovsdb_sw_read(struct clf_ovsdb_sw *sw, int64_t deadline_us, struct clf_error *err)
{
	int64_t began = clf_clock_system.boot_us(NULL);
	int rc;

	pthread_mutex_lock(&sw->mutex);
	rc = read_image(sw, deadline_us, err);
	sw->next_cfg = 0;
	sw->took_us.read = since_us(began);
	sw->took_us.write = sw->took_us.confirm = 0;
	pthread_mutex_unlock(&sw->mutex);
	return named(sw, rc, err);
}

/* writing */

/* The port must still be what was read, with the owner that was read. */
static json_t *wait_op(const struct clf_ovsdb_row *r)
{
	const json_t *p = r->port;

	return json_pack("{s:s,s:s,s:i,s:[[s,s,O]],s:[s,s,s,s],s:s,s:[{s:O,s:O,s:O,s:O}]}", "op", "wait", "table",
			 "Port", "timeout", 0, "where", "_uuid", "==", r->uuid, "columns", "tag", "vlan_mode", "trunks",
			 "external_ids", "until", "==", "rows", "tag", json_object_get(p, "tag"), "vlan_mode",
			 json_object_get(p, "vlan_mode"), "trunks", json_object_get(p, "trunks"), "external_ids",
			 json_object_get(p, "external_ids"));
}

static json_t *update_op(const struct clf_ovsdb_row *r, const struct clf_ovsdb_aim *aim)
{
	return json_pack("{s:s,s:s,s:[[s,s,O]],s:{s:i,s:s,s:[s,[]]}}", "op", "update", "table", "Port", "where",
			 "_uuid", "==", r->uuid, "row", "tag", aim->vlan, "vlan_mode", "access", "trunks", "set");
}

/* A key of a map must be deleted before it can get another value. */
static json_t *owner_op(const struct clf_ovsdb_row *r, const struct clf_ovsdb_aim *aim)
{
	json_t *todo = json_pack("[[s,s,[s,[s]]]]", "external_ids", "delete", "set", CLF_OVSDB_OWNER);

	if (*aim->owner && json_array_append_new(todo, json_pack("[s,s,[s,[[s,s]]]]", "external_ids", "insert", "map",
								 CLF_OVSDB_OWNER, aim->owner))) {
		json_decref(todo);
		return NULL;
	}
	return json_pack("{s:s,s:s,s:[[s,s,O]],s:o}", "op", "mutate", "table", "Port", "where", "_uuid", "==", r->uuid,
			 "mutations", todo);
}

static int add_port_ops(json_t *ops, const struct clf_ovsdb_row *r, const struct clf_ovsdb_aim *aim)
{
	return json_array_append_new(ops, wait_op(r)) || json_array_append_new(ops, update_op(r, aim)) ||
	       json_array_append_new(ops, owner_op(r, aim));
}

/* Last of the operations: the select of next_cfg. Past cur_cfg in any case: a database from a backup may have one that
 * is ahead, and waiting for less would prove nothing. */
static int add_cfg_ops(const struct clf_ovsdb_image *im, json_t *ops)
{
	json_int_t step = im->cur_cfg > im->next_cfg ? im->cur_cfg - im->next_cfg + 1 : 1;

	return json_array_append_new(ops, json_pack("{s:s,s:s}", "op", "comment", "comment", "closfold")) ||
	       json_array_append_new(ops, json_pack("{s:s,s:s,s:[],s:[[s,s,I]]}", "op", "mutate", "table",
						    "Open_vSwitch", "where", "mutations", "next_cfg", "+=", step)) ||
	       json_array_append_new(ops, json_pack("{s:s,s:s,s:[],s:[s]}", "op", "select", "table", "Open_vSwitch",
						    "where", "columns", "next_cfg"));
}

static int make_ops(const struct clf_ovsdb_sw *sw, const struct clf_ovsdb_aim *aim, bool any, json_t **out,
		    struct clf_error *err)
{
	json_auto_t *ops = json_array();

	for (uint32_t i = 0; i < sw->conf->n; i++) {
		const struct clf_ovsdb_row *r = aim[i].vlan ? clf_ovsdb_row_find(&sw->now, sw->ports[i].name) : NULL;

		if (!r)
			continue;
		any = true;
		if (!ops || add_port_ops(ops, r, &aim[i]))
			return clf_fail(err, CLF_E_NOMEM, "out of memory");
	}
	if (any && add_cfg_ops(&sw->now, ops))
		return clf_fail(err, CLF_E_NOMEM, "out of memory");
	*out = any ? CLF_STEAL(ops) : NULL;
	return 0;
}

/* What a port leaves it has until the switch says that it applied the change. */
static void doubt(struct clf_ovsdb_sw *sw, const struct clf_ovsdb_aim *aim)
{
	for (uint32_t i = 0; i < sw->conf->n; i++) {
		const struct clf_ovsdb_row *r = aim[i].vlan ? clf_ovsdb_row_find(&sw->now, sw->ports[i].name) : NULL;

		if (r && !sw->doubt[i] && !clf_ovsdb_is_access(r, aim[i].vlan, r->owner))
			sw->doubt[i] = strcmp(r->mode, "access") || r->tag < 1 ? -1 : r->tag;
	}
}

static int write_aims(struct clf_ovsdb_sw *sw, const struct clf_ovsdb_aim *aim, bool bump, int64_t deadline_us,
		      struct clf_error *err)
{
	json_auto_t *res = NULL;
	json_t *ops = NULL, *cfg;

	if (!sw->db || !sw->seen)
		return clf_fail(err, CLF_E_REMOTE, "not read yet");
	if (make_ops(sw, aim, bump, &ops, err))
		return -1;
	if (!ops)
		return 0;
	if (clf_ovsdb_wait_lock(sw->db, deadline_us, err)) {
		json_decref(ops);
		return -1;
	}
	doubt(sw, aim);
	if (clf_ovsdb_transact(sw->db, ops, true, deadline_us, &res, err))
		return -1;
	cfg = json_object_get(json_array_get(res, json_array_size(res) - 1), "rows");
	cfg = json_object_get(json_array_get(cfg, 0), "next_cfg");
	if (!json_is_integer(cfg))
		return clf_fail(err, CLF_E_REMOTE, "transaction did not tell its configuration number");
	sw->next_cfg = json_integer_value(cfg);
	return 0;
}

int clf_ovsdb_sw_write(struct clf_ovsdb_sw *sw, const struct clf_ovsdb_aim *aim, bool bump, int64_t deadline_us,
		       struct clf_error *err)
{
	int64_t began = clf_clock_system.boot_us(NULL);
	int rc;

	pthread_mutex_lock(&sw->mutex);
	rc = write_aims(sw, aim, bump, deadline_us, err);
	if (sw->db && clf_ovsdb_broken(sw->db))
		hang_up(sw);
	sw->took_us.write = since_us(began);
	pthread_mutex_unlock(&sw->mutex);
	return named(sw, rc, err);
}

static void nap(int64_t us)
{
	const struct timespec t = { us / 1000000, us % 1000000 * 1000 };

	nanosleep(&t, NULL);
}

static int confirm(struct clf_ovsdb_sw *sw, int64_t settle_us, int64_t deadline_us, struct clf_error *err)
{
	int64_t cfg = sw->next_cfg ? sw->next_cfg : sw->now.next_cfg;

	if (!sw->db)
		return clf_fail(err, CLF_E_REMOTE, "connection is gone");
	/* What somebody else had written before is waited for too: a switch that lags may still forward otherwise. */
	if (clf_ovsdb_wait_cfg(sw->db, cfg, deadline_us, err))
		return -1;
	memset(sw->doubt, 0, sw->conf->n * sizeof *sw->doubt);
	/* cur_cfg says that the tables are made; flows cached by the data path go a moment later */
	if (sw->next_cfg && settle_us)
		nap(settle_us);
	return read_image(sw, deadline_us, err);
}

int clf_ovsdb_sw_confirm(struct clf_ovsdb_sw *sw, int64_t settle_us, int64_t deadline_us, struct clf_error *err)
{
	int64_t began = clf_clock_system.boot_us(NULL);
	int rc;

	pthread_mutex_lock(&sw->mutex);
	rc = confirm(sw, settle_us, deadline_us, err);
	if (sw->db && clf_ovsdb_broken(sw->db))
		hang_up(sw);
	sw->took_us.confirm = since_us(began);
	pthread_mutex_unlock(&sw->mutex);
	return named(sw, rc, err);
}

int clf_ovsdb_sw_again(struct clf_ovsdb_sw *sw, int64_t deadline_us, struct clf_error *err)
{
	int rc;

	pthread_mutex_lock(&sw->mutex);
	rc = read_image(sw, deadline_us, err);
	pthread_mutex_unlock(&sw->mutex);
	return named(sw, rc, err);
}

void clf_ovsdb_sw_pump(struct clf_ovsdb_sw *sw)
{
	if (pthread_mutex_trylock(&sw->mutex))
		return;
	if (sw->db && clf_ovsdb_pump(sw->db, NULL))
		hang_up(sw); /* the next read opens it again */
	pthread_mutex_unlock(&sw->mutex);
}
