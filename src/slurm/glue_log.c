/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "slurm/glue_log.h"

/* exported by slurmctld and libslurm */
extern void slurm_error(const char *fmt, ...) CLF_PRINTF(1, 2);
extern void slurm_info(const char *fmt, ...) CLF_PRINTF(1, 2);
extern void slurm_debug(const char *fmt, ...) CLF_PRINTF(1, 2);

static void emit(void *arg, enum clf_log_level level, const char *text)
{
	(void) arg;
	switch (level) {
	case CLF_LOG_ERROR:
	case CLF_LOG_WARN:
		slurm_error("closfold: %s", text);
		break;
	case CLF_LOG_INFO:
		slurm_info("closfold: %s", text);
		break;
	case CLF_LOG_DEBUG:
		slurm_debug("closfold: %s", text);
		break;
	}
}

const struct clf_log clf_slurm_log = { emit, NULL, CLF_LOG_DEBUG };
