/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ovsdb_fake.h - an ovsdb-server that lies on command: one client at a time on a unix socket, in a thread.
 *
 * It answers monitor, lock, and each operation of a transaction in its form; writes change nothing. `how` says what
 * goes wrong, with the transact request number `at` (1: the first) and all later ones. */
#ifndef CLF_TESTS_OVSDB_FAKE_H
#define CLF_TESTS_OVSDB_FAKE_H

#include <jansson.h>
#include <pthread.h>
#include <stdbool.h>

enum fake_how {
	FAKE_GOOD,
	FAKE_MUTE,      /* accepts and says nothing, from the start */
	FAKE_HANG,      /* no answer */
	FAKE_CLOSE,     /* hangs up instead of an answer */
	FAKE_TRUNCATED, /* half an answer, then hangs up */
	FAKE_STALLED,   /* half an answer, then silence */
	FAKE_GARBAGE,   /* no JSON */
	FAKE_HUGE,      /* an answer that never ends */
	FAKE_WRONG_ID,
	FAKE_NO_RESULT,
	FAKE_RPC_ERROR,
	FAKE_FEWER,   /* one result too few */
	FAKE_NULLS,   /* null results without an error */
	FAKE_COUNT_0, /* updates that meet no row */
	FAKE_COUNT_2,
	FAKE_WAIT_FAILS,
	FAKE_COMMIT_FAILS, /* an error after the last operation */
	FAKE_ECHO_FIRST,   /* asks for a sign of life and answers only when it got one */
	FAKE_CLOSE_ONCE,   /* hangs up instead of answer number `at`, and is good again */
	FAKE_LINK_LATE,    /* no link_state before answer number `at` */
	FAKE_NOT_LOCKED,   /* another has the lock; comes over after 200 ms when at > 0 */
};

struct fake {
	char path[108];
	int fd;
	pthread_t thread;
	enum fake_how how;
	int at;
	json_t *tables; /* {"Port":[rows],...}: what a select gives; owned */
	/* seen */
	int transacts, writes, connections;
	int last_tag; /* of the last update of a port; 0 none */
	bool echoed;
};

void fake_start(struct fake *f, const char *path, enum fake_how how, int at, const char *tables);
void fake_stop(struct fake *f);

#endif
