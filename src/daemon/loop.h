/* SPDX-License-Identifier: GPL-2.0-or-later */
/* loop.h - one thread: drain what is ready, do it, one commit, then answer.
 * Returns 0 after SIGTERM or SIGINT with everything flushed; -1 when it cannot go on (the state directory was taken
 * over). */
#ifndef CLF_DAEMON_LOOP_H
#define CLF_DAEMON_LOOP_H

#include "daemon/state.h"

CLF_MUST_USE int clf_loop_run(struct clf_state *st, struct clf_error *err);

#endif
