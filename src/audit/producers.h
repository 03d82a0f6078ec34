/* SPDX-License-Identifier: GPL-2.0-or-later */
/* producers.h - which records of whom are in the log: a retry is seen, and so is a hole.
 *
 * A producer is (name, boot id, run). Its numbers may come in another order than they were given (threads): the last
 * CLF_PRODUCER_WINDOW are remembered. A number older than that is taken as new: better twice than lost. The first
 * number ever seen of a producer is where counting begins. At most CLF_PRODUCERS_MAX are kept, the longest silent one
 * goes. Pure: no I/O, no clock. Memory: create/destroy. Errors: CLF_E_NOMEM.
 */
#ifndef CLF_AUDIT_PRODUCERS_H
#define CLF_AUDIT_PRODUCERS_H

#include "audit/canon.h"

#define CLF_PRODUCER_WINDOW 4096u
#define CLF_PRODUCERS_MAX   1024u

struct clf_producers;
struct clf_producers *clf_producers_create(struct clf_error *err);
void clf_producers_destroy(struct clf_producers *p);
CLF_DEFINE_CLEANUP(struct clf_producers, clf_producers_destroy)

/* Note the record's producer and number; *known = it was there already. */
CLF_MUST_USE int clf_producers_note(struct clf_producers *p, const struct clf_canon *c, int64_t now_ms, bool *known,
				    struct clf_error *err);
/* Take a note back: the record did not become durable. */
void clf_producers_forget(struct clf_producers *p, const char *key, uint64_t seq);
/* "name boot run" of a record, for forget; owned. */
char *clf_producers_key(const struct clf_canon *c);

struct clf_gap {
	char name[64];
	uint64_t first, last;
};
/* The next hole that is older than grace_ms, or was pushed out of the window; it is reported once. false: none. */
bool clf_producers_gap(struct clf_producers *p, int64_t now_ms, int64_t grace_ms, struct clf_gap *out);

#endif
