/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "slurm/glue_errno.h"

#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>

int clf_slurm_errno(enum clf_code code)
{
	switch (code) {
	case CLF_OK:
		return SLURM_SUCCESS;
	case CLF_E_REMOTE:
	case CLF_E_TIMEOUT:
	case CLF_E_EXHAUSTED:
		return ESLURM_DISABLED;
	default:
		return ESLURM_ACCESS_DENIED;
	}
}
