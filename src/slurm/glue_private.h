/* SPDX-License-Identifier: GPL-2.0-or-later */
/* glue_private.h - Slurm's private headers, in the order they need; for job_submit and prep only, built for one micro
 * version. */
#ifndef CLF_SLURM_GLUE_PRIVATE_H
#define CLF_SLURM_GLUE_PRIVATE_H

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
#pragma GCC diagnostic ignored "-Wsign-compare"
#pragma GCC diagnostic ignored "-Wredundant-decls"
#include "slurm/slurm.h"
#include "slurm/slurm_errno.h"
#include "src/common/slurm_xlator.h"
#include "src/common/assoc_mgr.h"
#include "src/common/bitstring.h"
#include "src/common/xstring.h"
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(23, 2, 0)
#include "src/interfaces/prep.h"
#else
#include "src/common/prep.h"
#endif
#include "src/slurmctld/locks.h"
#include "src/slurmctld/slurmctld.h"
#pragma GCC diagnostic pop

/* prep is loaded by slurmd too, which lacks slurmctld's variables (functions are bound when first called, variables at
 * once) */
#pragma weak last_job_update
#pragma weak last_node_update
#pragma weak acct_db_conn
#pragma weak accounting_enforce
#pragma weak default_part_name
#pragma weak node_record_count
#pragma weak node_record_table_ptr
#pragma weak slurm_conf

#endif
