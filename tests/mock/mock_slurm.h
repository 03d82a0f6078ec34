/* SPDX-License-Identifier: GPL-2.0-or-later */
/* mock_slurm.h - stand-ins, at link time, for the calls src/slurm makes into Slurm; the allocator knows its own. */
#ifndef CLF_TESTS_MOCK_SLURM_H
#define CLF_TESTS_MOCK_SLURM_H

#include <stdbool.h>
#include <stddef.h>

bool mock_owns(const void *p); /* from Slurm's allocator and not freed */
size_t mock_live(void);        /* blocks not freed */
size_t mock_wrong_frees(void); /* of what was not Slurm's */

#endif
