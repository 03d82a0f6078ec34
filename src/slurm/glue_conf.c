/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "slurm/glue_conf.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "policy/conf.h"

#define SLURM_CONF_USUAL "/etc/slurm/slurm.conf"

int clf_glue_conf_beside(const char *slurm_conf, const char *name, char *buf, size_t size)
{
	const char *path = slurm_conf && *slurm_conf == '/' ? slurm_conf : SLURM_CONF_USUAL;
	const char *slash = strrchr(path, '/');
	int n = snprintf(buf, size, "%.*s/%s", (int) (slash - path), path, name);

	return n >= 0 && (size_t) n < size ? 0 : -1;
}

int clf_glue_conf_path(const char *slurm_conf, char *buf, size_t size)
{
	if (!clf_glue_conf_beside(slurm_conf, "closfold.conf", buf, size) && !access(buf, F_OK))
		return 0;
	if (access(CLF_CONF_DEFAULT, F_OK) || sizeof(CLF_CONF_DEFAULT) > size)
		return -1;
	memcpy(buf, CLF_CONF_DEFAULT, sizeof(CLF_CONF_DEFAULT));
	return 0;
}
