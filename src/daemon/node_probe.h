/* SPDX-License-Identifier: GPL-2.0-or-later */
/* node_probe.h - a node's end of the probes: sends frames, answers those of others, remembers what it saw.
 *
 * Format:  wire/probe_frame.h; questions and replies: docs/formats/node-wire.md.
 * Bounded: CLF_PROBE_RUNS runs at a time of CLF_PROBE_ITEMS probes and CLF_PROBE_MS each; CLF_PROBE_SEEN nonces
 *          remembered for CLF_PROBE_KEEP_MS: where one had to go sooner, or the kernel dropped frames, seen() says that
 * it is not complete. Answers to others: CLF_PROBE_ANSWERS a second. Needs:   CAP_NET_RAW. Without it there are no
 * probes (a word in the log), and all else works. Time:    never blocks. tick() by its own word. Memory:  open/close.
 * Replies handed to done() are stolen by it.
 */
#ifndef CLF_DAEMON_NODE_PROBE_H
#define CLF_DAEMON_NODE_PROBE_H

#include <stdint.h>

#include "base/json.h"
#include "base/log.h"

#define CLF_PROBE_RUNS    16u
#define CLF_PROBE_ITEMS   512u
#define CLF_PROBE_MS      10000
#define CLF_PROBE_SEEN    1024u
#define CLF_PROBE_KEEP_MS 60000
#define CLF_PROBE_ANSWERS 2000u
#define CLF_PROBE_NICS    64u

struct clf_probes;

/* nics: names with blanks between, "" = all Ethernet interfaces with a link. Its ids in epoll are id_base + 0..63. */
CLF_MUST_USE int clf_probes_open(struct clf_probes **out, const char *node, const char *nics, int epoll,
				 uint64_t id_base, const struct clf_log *sink, struct clf_error *err);
void clf_probes_close(struct clf_probes *p); /* runs end without done() */
CLF_DEFINE_CLEANUP(struct clf_probes, clf_probes_close)

/* Listen on what the report's "net" has, with a link. */
void clf_probes_update(struct clf_probes *p, const json_t *report);
void clf_probes_ready(struct clf_probes *p, uint64_t id);
/* What is due at now_us (CLOCK_BOOTTIME); returns when it wants to be called again, INT64_MAX: not at all. */
int64_t clf_probes_tick(struct clf_probes *p, int64_t now_us);

/* {"op":"probe","nonce","deadline_ms","wait"?,"probes":[{"nic","mac","node"?}]}. 0: done() comes from ready() or
 * tick(). */
typedef void clf_probes_done_f(void *arg, uint64_t tag, json_t *reply);
CLF_MUST_USE int clf_probes_run(struct clf_probes *p, const json_t *question, clf_probes_done_f *done, void *arg,
				uint64_t tag, struct clf_error *err);

/* Reply to {"op":"probe_seen","nonce"}; owned, NULL on failure. */
json_t *clf_probes_seen(struct clf_probes *p, const json_t *question, struct clf_error *err);

#endif
