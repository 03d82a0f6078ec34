/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "daemon/verify_private.h"

void clf_verify_nics_done(struct clf_verify_nics *l)
{
	free(l->v);
	clf_strv_done(&l->ports);
	*l = (struct clf_verify_nics){ 0 };
}

/* The port that the interface's neighbour says it is; NULL: none, or several, which is a hub, a spoof or a leftover. */
static const char *neighbour_port(const json_t *nic)
{
	const json_t *list = json_object_get(nic, "lldp");

	return json_array_size(list) == 1 ? json_string_value(json_object_get(json_array_get(list, 0), "port")) : NULL;
}

static bool usable(const json_t *nic)
{
	return json_is_true(json_object_get(nic, "link")) && json_is_string(json_object_get(nic, "mac"));
}

/* The interface that the configuration names. */
static const json_t *named(const json_t *facts, const char *name)
{
	const json_t *list = json_object_get(facts, "net"), *nic;
	size_t i;

	json_array_foreach((json_t *) list, i, nic)
	{
		const char *is = json_string_value(json_object_get(nic, "name"));

		if (is && !strcmp(is, name))
			return usable(nic) ? nic : NULL;
	}
	return NULL;
}

/* The one interface that is on this port; NULL: none, or more than one. */
static const json_t *match(const json_t *facts, const char *port, bool only_port)
{
	const json_t *list = json_object_get(facts, "net"), *found = NULL, *nic;
	size_t i, hits = 0, links = 0;
	const json_t *linked = NULL;

	json_array_foreach((json_t *) list, i, nic)
	{
		const char *said = neighbour_port(nic);

		if (!usable(nic))
			continue;
		links++;
		linked = nic;
		if (said && !strcmp(said, port)) {
			hits++;
			found = nic;
		}
	}
	if (hits)
		return hits == 1 ? found : NULL;
	return only_port && links == 1 && !neighbour_port(linked) ? linked : NULL;
}

static int add(struct clf_verify_nics *l, const char *node, const json_t *nic, const char *leaf, size_t len,
	       struct clf_error *err)
{
	if (l->n == l->cap) {
		size_t cap = l->cap ? 2 * l->cap : 16;
		void *v = realloc(l->v, cap * sizeof *l->v);

		if (!v)
			return clf_fail(err, CLF_E_NOMEM, "out of memory");
		l->v = v;
		l->cap = cap;
	}
	if (clf_strv_addn(&l->ports, leaf, len, err))
		return -1;
	l->v[l->n++] =
		(struct clf_probe_nic){ node, json_string_value(json_object_get(nic, "name")),
					json_string_value(json_object_get(nic, "mac")), l->ports.v[l->ports.n - 1] };
	return 0;
}

int clf_verify_nics_add(struct clf_verify_nics *l, const struct clf_driver *driver, void *self, const char *node,
			const json_t *facts, char **unknown, struct clf_error *err)
{
	CLF_CLEANUP(clf_strv_done) struct clf_strv ports = { 0 };
	struct clf_buf none = CLF_BUF_INIT(300);

	if (driver->ports(self, node, facts, &ports, err))
		return -1;
	for (size_t i = 0; i < ports.n; i++) {
		const char *slash = strchr(ports.v[i], '/');
		const char *name = driver->nic ? driver->nic(self, ports.v[i]) : NULL;
		const json_t *nic = name ? named(facts, name) : slash ? match(facts, slash + 1, ports.n == 1) : NULL;

		if (nic && slash && add(l, node, nic, ports.v[i], (size_t) (slash - ports.v[i]), err))
			return -1;
		if (!nic)
			(void) !clf_buf_printf(&none, NULL, "%s%s", none.len ? ", " : "", ports.v[i]);
	}
	*unknown = clf_buf_steal(&none);
	return *unknown ? 0 : clf_fail(err, CLF_E_NOMEM, "out of memory");
}
