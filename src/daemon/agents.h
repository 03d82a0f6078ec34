/* SPDX-License-Identifier: GPL-2.0-or-later */
/* agents.h - the node daemons, as closfoldd sees them: who is there, what each last said, and questions to them.
 *
 * Wire:    docs/formats/node-wire.md; reports: docs/formats/node-report.md.
 * Trust:   a frame is a munge credential of uid 0 or of closfoldd's own user, of this connection (session) and newer
 *          than the one before; anything else ends the connection with one log line, and floods are counted, not
 * logged. Root of any node may take any node's name: an address that differs is logged, no more. Time:    reports come
 * every 30 s and at each change; older than CLF_AGENTS_STALE_MS they are no knowledge. They are not kept over a
 * restart: nodes come back within seconds. Threads: all calls in the loop's thread, nothing here blocks. munged is
 * asked on one helper thread; when it hangs, frames wait, and asks end by their timeouts. Calls:   the callbacks come
 * from ready(), tick() and close(), never from ask(). They may call ask() and facts(), not close(). Memory: open/close;
 * facts are borrowed until the next ready(), tick() or close() (json_incref to keep).
 */
#ifndef CLF_DAEMON_AGENTS_H
#define CLF_DAEMON_AGENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/json.h"
#include "base/log.h"
#include "policy/conf.h"

#define CLF_AGENTS_MAX      16384u /* nodes connected */
#define CLF_AGENTS_STALE_MS 95000  /* three reports missed */

struct clf_agents;

/* Listens at conf->listen; "" listens nowhere, and every ask() is then answered with CLF_E_NOTFOUND. All ids in epoll
 * are id_base plus something below 2^63: id_base has the top bit and no other. conf and sink outlive it.
 * CLF_E_INVALID: no address; CLF_E_IO: cannot listen there. */
CLF_MUST_USE int clf_agents_open(struct clf_agents **out, const struct clf_conf *conf, const struct clf_log *sink,
				 int epoll, uint64_t id_base, struct clf_error *err);
/* Every ask that waits is answered (CLF_E_REMOTE) before it returns. */
void clf_agents_close(struct clf_agents *a);
CLF_DEFINE_CLEANUP(struct clf_agents, clf_agents_close)
bool clf_agents_closing(const struct clf_agents *a); /* are we in close()? */

void clf_agents_ready(struct clf_agents *a, uint64_t id, uint32_t events);
/* Each second or so, now_ms of CLOCK_BOOTTIME. Timeouts of asks do not wait for it. */
void clf_agents_tick(struct clf_agents *a, int64_t now_ms);

/* The node's latest report (closfold-node/1, checked), NULL: none, or too old. *age_ms (may be NULL) is only set with a
 * report. */
const json_t *clf_agents_facts(const struct clf_agents *a, const char *node, int64_t *age_ms);
/* Names of the nodes with a report that is not too old, in no order: for (size_t i = 0; (name = next(a, &i));). */
const char *clf_agents_next(const struct clf_agents *a, size_t *i);

/* Called when a node's report differs from the one before in anything but time, ages and clock, and with facts NULL
 * when its last one became too old. fn NULL: nobody. */
typedef void clf_agents_report_f(void *arg, const char *node, const json_t *facts);
void clf_agents_on_report(struct clf_agents *a, clf_agents_report_f *fn, void *arg);

/* Ask a node; question: {"op":"report"|"probe"|"probe_seen",...}, stolen. 0: answer() will be called exactly once; -1:
 * out of memory (or more than 64 wait for this node: CLF_E_EXHAUSTED), it will not. reply: the node's {"ok":true,...},
 * borrowed for the call; or NULL and why: CLF_E_NOTFOUND not connected, CLF_E_TIMEOUT, CLF_E_REMOTE connection lost, or
 * the node's own code and words. A reply to "report" is also the node's new report. */
typedef void clf_agents_answer_f(void *arg, const char *node, const json_t *reply, const struct clf_error *why);
CLF_MUST_USE int clf_agents_ask(struct clf_agents *a, const char *node, json_t *question, int timeout_ms,
				clf_agents_answer_f *answer, void *arg, struct clf_error *err);

/* Call fn once, at_ms from now or a little later: for who waits between two questions. As answers are, it is called
 * with reply NULL and why CLF_E_TIMEOUT; why CLF_E_REMOTE when it comes from close(). */
CLF_MUST_USE int clf_agents_after(struct clf_agents *a, int ms, clf_agents_answer_f *fn, void *arg,
				  struct clf_error *err);

/* For status: {"listen","port","connected","fresh","refused","munge":{"ok","text"?,"waiting"}}; owned, NULL when memory
 * ends. */
json_t *clf_agents_status(const struct clf_agents *a);

#endif
