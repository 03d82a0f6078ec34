/* SPDX-License-Identifier: GPL-2.0-or-later */
/* glue_mem.h - the only use of Slurm's allocator.
 *
 * Every string that Slurm will free (job description, job record, *err_msg) must come from here: Slurm's allocator
 * frees an address before the one it was given, so a string of malloc() corrupts slurmctld's heap. The other way round
 * free() must never see one. These do not fail: Slurm's allocator ends the process when memory ends, as it does
 * everywhere in slurmctld. Source: src/common/xmalloc.h, xstring.h (exported by slurmctld and libslurm, declared in no
 * public header).
 */
#ifndef CLF_SLURM_GLUE_MEM_H
#define CLF_SLURM_GLUE_MEM_H

#include <stdint.h>

#include "base/cleanup.h"

char *clf_slurm_strdup(const char *s); /* for Slurm to free; NULL for NULL */
char *clf_slurm_printf(const char *fmt, ...) CLF_PRINTF(1, 2);
void clf_slurm_free(char **s); /* a string that is Slurm's; *s = NULL */
/* Replace *s by a copy of text (NULL: by nothing). */
void clf_slurm_replace(char **s, const char *text);
/* Room for n entries and a NULL behind them; new ones are NULL. */
void clf_slurm_env_grow(char ***env, uint32_t n);

#endif
