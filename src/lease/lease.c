/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lease/lease.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

static const char *const state_names[] = { "requested", "granted", "releasing", "closed", "refused" };

/* One table for copy, JSON both ways and destroy, so that no member is forgotten in one of them. */
static const struct {
	const char *name;
	size_t offset;
} texts[] = {
#define TEXT(key, member)                                                                                              \
	{                                                                                                              \
		key, offsetof(struct clf_lease, member)                                                                \
	}
	TEXT("user", user),   TEXT("account", account), TEXT("partition", partition),
	TEXT("class", cls),   TEXT("grant", grant),     TEXT("decision", decision),
	TEXT("nodes", nodes), TEXT("reason", reason),   TEXT("fabric", fabric),
#undef TEXT
};
static const struct {
	const char *name;
	size_t offset;
	bool wide;
} numbers[] = {
#define N32(member)                                                                                                    \
	{                                                                                                              \
#member, offsetof(struct clf_lease, member), false                                                     \
	}
#define N64(key, member)                                                                                               \
	{                                                                                                              \
		key, offsetof(struct clf_lease, member), true                                                          \
	}
	N32(job_id),
	N64("submit_time", submit_time_s),
	N32(array_job_id),
	N32(array_task_id),
	N32(het_job_id),
	N32(het_offset),
	N32(restart),
	N32(uid),
	N32(min_nodes),
	N32(n_nodes),
	N64("requested_ms", requested_ms),
	N64("granted_ms", granted_ms),
	N64("closed_ms", closed_ms),
#undef N32
#undef N64
};
#define NTEXTS   (sizeof texts / sizeof *texts)
#define NNUMBERS (sizeof numbers / sizeof *numbers)

static char **text_at(const struct clf_lease *l, size_t i)
{
	return (char **) ((char *) l + texts[i].offset);
}

struct clf_lease *clf_lease_create(struct clf_error *err)
{
	struct clf_lease *l = calloc(1, sizeof *l);

	if (!l)
		clf_fail(err, CLF_E_NOMEM, "out of memory");
	else
		l->array_task_id = CLF_LEASE_NONE;
	return l;
}

void clf_lease_destroy(struct clf_lease *l)
{
	if (!l)
		return;
	for (size_t i = 0; i < NTEXTS; i++)
		free(*text_at(l, i));
	for (size_t i = 0; i < l->nnets; i++) {
		free(l->nets[i].fabric);
		clf_strv_done(&l->nets[i].ports);
	}
	free(l->nets);
	free(l);
}

int clf_lease_add_net(struct clf_lease *l, const char *fabric, uint16_t key, const struct clf_strv *ports,
		      struct clf_error *err)
{
	struct clf_lease_net *v = realloc(l->nets, (l->nnets + 1) * sizeof *v), *n;

	if (!v)
		return clf_fail(err, CLF_E_NOMEM, "out of memory");
	l->nets = v;
	n = &v[l->nnets];
	*n = (struct clf_lease_net){ .fabric = strdup(fabric), .key = key };
	if (!n->fabric)
		return clf_fail(err, CLF_E_NOMEM, "out of memory");
	l->nnets++;
	for (size_t i = 0; i < ports->n; i++)
		if (clf_strv_add(&n->ports, ports->v[i], err))
			return -1;
	return 0;
}

const struct clf_lease_net *clf_lease_net(const struct clf_lease *l, const char *fabric)
{
	for (size_t i = 0; i < l->nnets; i++)
		if (!strcmp(l->nets[i].fabric, fabric))
			return &l->nets[i];
	return NULL;
}

int clf_lease_set(char **member, const char *value, struct clf_error *err)
{
	char *copy = NULL;

	if (value && *value && !(copy = strdup(value)))
		return clf_fail(err, CLF_E_NOMEM, "out of memory");
	free(*member);
	*member = copy;
	return 0;
}

struct clf_lease *clf_lease_copy(const struct clf_lease *l, struct clf_error *err)
{
	CLF_CLEANUP(clf_lease_destroyp) struct clf_lease *c = clf_lease_create(err);

	if (!c)
		return NULL;
	*c = *l;
	for (size_t i = 0; i < NTEXTS; i++)
		*text_at(c, i) = NULL;
	c->nets = NULL;
	c->nnets = 0;
	for (size_t i = 0; i < NTEXTS; i++)
		if (clf_lease_set(text_at(c, i), *text_at(l, i), err))
			return NULL;
	for (size_t i = 0; i < l->nnets; i++)
		if (clf_lease_add_net(c, l->nets[i].fabric, l->nets[i].key, &l->nets[i].ports, err))
			return NULL;
	return CLF_STEAL(c);
}

bool clf_lease_open(const struct clf_lease *l)
{
	return l->state != CLF_LEASE_CLOSED && l->state != CLF_LEASE_REFUSED;
}

const char *clf_lease_state_name(enum clf_lease_state s)
{
	return state_names[s];
}

int clf_lease_move(struct clf_lease *l, enum clf_lease_state to, int64_t now_ms, const char *reason,
		   struct clf_error *err)
{
	static const unsigned may[] = {
		[CLF_LEASE_REQUESTED] = 1u << CLF_LEASE_GRANTED | 1u << CLF_LEASE_REFUSED | 1u << CLF_LEASE_RELEASING,
		[CLF_LEASE_GRANTED] = 1u << CLF_LEASE_RELEASING | 1u << CLF_LEASE_CLOSED,
		[CLF_LEASE_RELEASING] = 1u << CLF_LEASE_CLOSED,
		[CLF_LEASE_CLOSED] = 0,
		[CLF_LEASE_REFUSED] = 0,
	};

	if (!(may[l->state] >> to & 1))
		return clf_fail(err, CLF_E_CONFLICT, "lease '%s' is %s and cannot become %s", l->id,
				state_names[l->state], state_names[to]);
	if (reason && clf_lease_set(&l->reason, reason, err))
		return -1;
	l->state = to;
	if (to == CLF_LEASE_GRANTED)
		l->granted_ms = now_ms;
	if (!clf_lease_open(l))
		l->closed_ms = now_ms;
	return 0;
}

static json_t *net_to_json(const struct clf_lease_net *n)
{
	json_auto_t *ports = json_array();

	for (size_t i = 0; i < n->ports.n; i++)
		if (json_array_append_new(ports, json_string(n->ports.v[i])))
			return NULL;
	return json_pack("{s:s,s:i,s:O}", "fabric", n->fabric, "key", (int) n->key, "ports", ports);
}

static int nets_to_json(const struct clf_lease *l, json_t *j)
{
	json_auto_t *nets = json_array();

	for (size_t i = 0; i < l->nnets; i++)
		if (json_array_append_new(nets, net_to_json(&l->nets[i])))
			return -1;
	return json_object_set(j, "nets", nets);
}

json_t *clf_lease_to_json(const struct clf_lease *l)
{
	json_auto_t *j = json_pack("{s:s,s:s}", "id", l->id, "state", state_names[l->state]);
	int bad = !j;

	for (size_t i = 0; i < NNUMBERS; i++) {
		const char *at = (const char *) l + numbers[i].offset;
		int64_t v = numbers[i].wide ? *(const int64_t *) at : *(const uint32_t *) at;

		bad |= json_object_set_new(j, numbers[i].name, json_integer(v));
	}
	if (l->array_task_id == CLF_LEASE_NONE)
		bad |= json_object_set_new(j, "array_task_id", json_null());
	for (size_t i = 0; i < NTEXTS; i++)
		if (*text_at(l, i))
			bad |= json_object_set_new(j, texts[i].name, json_string(*text_at(l, i)));
	if (l->nnets)
		bad |= nets_to_json(l, j);
	return bad ? NULL : CLF_STEAL(j);
}

static int number_from(const json_t *v, const char *name, bool wide, void *at, struct clf_error *err)
{
	json_int_t n = json_integer_value(v);

	if (!json_is_integer(v) || n < 0 || (!wide && n > UINT32_MAX) || n >= INT64_C(1) << 53)
		return clf_fail(err, CLF_E_PARSE, "lease: '%s' is not a number in range", name);
	if (wide)
		*(int64_t *) at = n;
	else
		*(uint32_t *) at = (uint32_t) n;
	return 0;
}

static int net_from(struct clf_lease *l, const json_t *j, struct clf_error *err)
{
	CLF_CLEANUP(clf_strv_done) struct clf_strv ports = { 0 };
	const char *fabric = json_string_value(json_object_get(j, "fabric"));
	json_int_t key = json_integer_value(json_object_get(j, "key"));
	const json_t *list = json_object_get(j, "ports");

	if (!fabric || !*fabric || key < 1 || key > UINT16_MAX || !json_is_array(list))
		return clf_fail(err, CLF_E_PARSE, "lease: a net is wrong");
	for (size_t i = 0; i < json_array_size(list); i++) {
		const char *port = json_string_value(json_array_get(list, i));

		if (!port || !*port)
			return clf_fail(err, CLF_E_PARSE, "lease: a port is no string");
		if (clf_strv_add(&ports, port, err))
			return -1;
	}
	return clf_lease_add_net(l, fabric, (uint16_t) key, &ports, err);
}

int clf_lease_from_json(const json_t *j, struct clf_lease **out, struct clf_error *err)
{
	CLF_CLEANUP(clf_lease_destroyp) struct clf_lease *l = clf_lease_create(err);
	const char *id = json_string_value(json_object_get(j, "id"));
	const char *state = json_string_value(json_object_get(j, "state"));
	int known = -1;

	if (!l)
		return -1;
	for (size_t i = 0; state && i < sizeof state_names / sizeof *state_names; i++)
		if (!strcmp(state, state_names[i]))
			known = (int) i;
	if (!id || !*id || strlen(id) >= sizeof l->id || known < 0)
		return clf_fail(err, CLF_E_PARSE, "lease: 'id' or 'state' is wrong");
	strcpy(l->id, id);
	l->state = (enum clf_lease_state) known;
	for (size_t i = 0; i < NNUMBERS; i++) {
		const json_t *v = json_object_get(j, numbers[i].name);

		if (v && !json_is_null(v) &&
		    number_from(v, numbers[i].name, numbers[i].wide, (char *) l + numbers[i].offset, err))
			return -1;
	}
	for (size_t i = 0; i < NTEXTS; i++) {
		const json_t *v = json_object_get(j, texts[i].name);

		if (v && !json_is_string(v))
			return clf_fail(err, CLF_E_PARSE, "lease: '%s' is not a string", texts[i].name);
		if (v && clf_lease_set(text_at(l, i), json_string_value(v), err))
			return -1;
	}
	for (size_t i = 0; i < json_array_size(json_object_get(j, "nets")); i++)
		if (net_from(l, json_array_get(json_object_get(j, "nets"), i), err))
			return -1;
	*out = CLF_STEAL(l);
	return 0;
}

void clf_lease_job_key(uint32_t job_id, int64_t submit_time_s, char key[40])
{
	snprintf(key, 40, "%" PRIu32 "/%" PRId64, job_id, submit_time_s);
}
