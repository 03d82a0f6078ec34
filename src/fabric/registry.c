/* SPDX-License-Identifier: GPL-2.0-or-later */
/* registry.c - the drivers that exist. */
#include <string.h>

#include "fabric/driver.h"

static const struct clf_driver *const drivers[] = { &clf_drv_null, &clf_drv_opensm, &clf_drv_ovsdb };

const struct clf_driver *clf_driver_find(const char *name)
{
	for (size_t i = 0; i < sizeof drivers / sizeof *drivers; i++)
		if (!strcmp(drivers[i]->name, name))
			return drivers[i];
	return NULL;
}

const char *clf_driver_names(void)
{
	return "null, opensm, ovsdb";
}
