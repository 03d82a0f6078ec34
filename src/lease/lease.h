/* SPDX-License-Identifier: GPL-2.0-or-later */
/* lease.h - one job's right to its nodes' network, from asking to the last device's confirmation.
 *
 * A lease has an id of its own: Slurm gives a job id twice (lost state, requeue), so job id and submit time are
 * attributes.
 *
 *   requested --> granted --> releasing --> closed
 *       |             \______________________^   (nothing to undo)
 *       |--> refused
 *       `--> releasing        (a device may have acted before we lost sight of it)
 *
 * Units:  times in ms UTC, submit time in seconds as Slurm has it; 0 = not yet.
 * Memory: owned by who made or loaded it; strings owned by the lease, NULL = not given.
 * Errors: from_json: CLF_E_PARSE; move: CLF_E_CONFLICT for a step that the picture does not have.
 */
#ifndef CLF_LEASE_LEASE_H
#define CLF_LEASE_LEASE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/json.h"
#include "base/strv.h"

enum clf_lease_state {
	CLF_LEASE_REQUESTED,
	CLF_LEASE_GRANTED,
	CLF_LEASE_RELEASING,
	CLF_LEASE_CLOSED,
	CLF_LEASE_REFUSED
};
#define CLF_LEASE_ID   48
#define CLF_LEASE_NONE UINT32_MAX /* no array task */

/* The lease's network on one fabric: its key, and the ports that were, or may have been, put into it. */
struct clf_lease_net {
	char *fabric;
	uint16_t key;
	struct clf_strv ports;
};

struct clf_lease {
	char id[CLF_LEASE_ID]; /* "L<epoch>-<number>", never given twice */
	enum clf_lease_state state;
	uint32_t job_id;
	int64_t submit_time_s;
	uint32_t array_job_id, array_task_id, het_job_id, het_offset, restart;
	uint32_t uid, min_nodes, n_nodes;
	char *user, *account, *partition, *cls, *grant, *decision, *nodes, *reason, *fabric;
	int64_t requested_ms, granted_ms, closed_ms;
	struct clf_lease_net *nets;
	size_t nnets;
};

struct clf_lease *clf_lease_create(struct clf_error *err);
struct clf_lease *clf_lease_copy(const struct clf_lease *l, struct clf_error *err);
void clf_lease_destroy(struct clf_lease *l);
CLF_DEFINE_CLEANUP(struct clf_lease, clf_lease_destroy)

/* Copy a string into a member; NULL or "" clears it. */
CLF_MUST_USE int clf_lease_set(char **member, const char *value, struct clf_error *err);
/* One more network; ports are copied. */
CLF_MUST_USE int clf_lease_add_net(struct clf_lease *l, const char *fabric, uint16_t key, const struct clf_strv *ports,
				   struct clf_error *err);
const struct clf_lease_net *clf_lease_net(const struct clf_lease *l, const char *fabric); /* NULL: none */
CLF_MUST_USE int clf_lease_move(struct clf_lease *l, enum clf_lease_state to, int64_t now_ms, const char *reason,
				struct clf_error *err);
bool clf_lease_open(const struct clf_lease *l); /* neither closed nor refused */
const char *clf_lease_state_name(enum clf_lease_state s);

json_t *clf_lease_to_json(const struct clf_lease *l); /* new reference; NULL when memory ends */
CLF_MUST_USE int clf_lease_from_json(const json_t *j, struct clf_lease **out, struct clf_error *err);

/* Leases in one place of the tree: a job's key is "<job id>/<submit time>". */
void clf_lease_job_key(uint32_t job_id, int64_t submit_time_s, char key[40]);

#endif
