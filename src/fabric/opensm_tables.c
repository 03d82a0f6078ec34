/* SPDX-License-Identifier: GPL-2.0-or-later */
/* opensm_tables.c - what a port's P_Key table should hold: exactly its partitions, the one at index 0 at index 0. */
#include <stdio.h>
#include <string.h>

#include "fabric/opensm.h"

void osm_table_text(const uint16_t *keys, size_t n, char *out, size_t size)
{
	size_t len = 0;

	snprintf(out, size, "%s", n ? "" : "empty");
	for (size_t i = 0; i < n && len + 6 < size; i++)
		len += (size_t) snprintf(out + len, size - len, "%s%04x", i ? "," : "", keys[i]);
}

/* Value of the i-th wanted entry: 0 is the default partition, then the port's members. */
static uint16_t wanted(const struct clf_partitions *p, size_t first, size_t i, bool sm)
{
	const struct clf_partition_member *m = &p->m[first + i];

	return (uint16_t) (p->v[m->partition].key | (m->full || (sm && !m->partition) ? CLF_PKEY_FULL : 0));
}

static bool has_value(const uint16_t *keys, size_t n, uint16_t value)
{
	for (size_t i = 0; i < n; i++)
		if (keys[i] == value)
			return true;
	return false;
}

bool osm_table_right(const struct osm_view *view, const struct osm_port *port, const struct clf_partitions *p,
		     uint64_t sm, char *text, size_t size)
{
	const uint16_t *keys = view->keys + port->key;
	size_t first, n = clf_partitions_of(p, port->guid, &first), used = 0, expect = n;
	uint16_t at0 = 0, base = port->guid == sm ? 0xffff : CLF_PKEY_DEFAULT;
	char have[60], want[60];
	uint16_t list[64];
	size_t k = 0;
	bool named = false, right = true;

	for (size_t i = 0; i < n; i++) {
		uint16_t v = wanted(p, first, i, port->guid == sm);

		named |= !p->m[first + i].partition;
		if (p->v[p->m[first + i].partition].index0)
			at0 = v;
		right &= has_value(keys, port->nkeys, v);
		if (k < sizeof list / sizeof *list)
			list[k++] = v;
		if (at0 == v && k && list[0] != v) { /* told first */
			list[k - 1] = list[0];
			list[0] = v;
		}
	}
	if (!named) {
		expect++;
		right &= has_value(keys, port->nkeys, base);
		if (k < sizeof list / sizeof *list)
			list[k++] = base;
	}
	for (size_t i = 0; i < port->nkeys; i++)
		used += keys[i] != 0;
	right &= used == expect && (!at0 || (port->nkeys && keys[0] == at0));
	if (right || !text)
		return right;
	osm_table_text(keys, port->nkeys, have, sizeof have);
	osm_table_text(list, k, want, sizeof want);
	snprintf(text, size, "holds %s, should hold %s%s", have, want, at0 ? ", the first one at index 0" : "");
	return false;
}

bool osm_table_has(const struct osm_view *view, const struct osm_port *port, uint16_t key)
{
	for (size_t i = 0; i < port->nkeys; i++)
		if ((view->keys[port->key + i] & CLF_PKEY_DEFAULT) == key)
			return true;
	return false;
}

bool osm_table_default_full(const struct osm_view *view, const struct osm_port *port)
{
	return has_value(view->keys + port->key, port->nkeys, 0xffff);
}

bool osm_member(const struct clf_partitions *p, uint64_t guid, uint16_t key)
{
	size_t first, n = clf_partitions_of(p, guid, &first);

	for (size_t i = 0; i < n; i++)
		if (p->v[p->m[first + i].partition].key == key)
			return true;
	return false;
}
