/* SPDX-License-Identifier: GPL-2.0-or-later */
/* last_rungs.h - verify_nodes.h for every fabric of a lease at once; the engine hears one word.
 * Threads: the loop's. Memory: frees itself when the last fabric has answered. */
#ifndef CLF_DAEMON_LAST_RUNGS_H
#define CLF_DAEMON_LAST_RUNGS_H

#include "daemon/state.h"

/* clf_run's verify_nodes; arg is the struct clf_state. */
CLF_MUST_USE int clf_last_rungs(void *arg, const struct clf_lease *l, struct clf_error *err);

#endif
