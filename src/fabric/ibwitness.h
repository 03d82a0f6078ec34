/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ibwitness.h - the parts of closfold-ibwitness: SMPs in a window, the ports of a fabric, and what their tables hold.
 *
 * One program, one umad port: libibnetdisc opens its own during discovery, so ours is closed meanwhile (a simulator has
 * one port a process).
 * Errors: struct clf_error; a port that cannot be read is no error but a state of that port.
 * Memory: init/done on the caller's storage.
 * Source: InfiniBand Architecture Specification volume 1, chapter 14 (subnet management); umad(7), libibnetdisc.
 */
#ifndef CLF_FABRIC_IBWITNESS_H
#define CLF_FABRIC_IBWITNESS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

#define WIT_BLOCK    32 /* P_Key entries of one SMP */
#define WIT_DATA     64
#define WIT_HOPS     64
#define WIT_KEYS_MAX 4096 /* entries of one table that are read; a table may have 65,535 */

struct wit_conf {
	const char *ca; /* NULL: the first */
	int port;       /* 0: the first that is up */
	int window;     /* SMPs on their way at once */
	int timeout_ms; /* of one SMP, sent at most twice */
};

/* Where an SMP goes: by LID, or by the way out of each hop. */
struct wit_path {
	uint16_t lid;
	uint8_t hops;
	uint8_t out[WIT_HOPS]; /* out[1..hops] */
};

enum wit_answer { WIT_WAITING, WIT_OK, WIT_SILENT, WIT_REFUSED };
struct wit_query {
	const struct wit_path *path;
	bool directed;
	uint16_t attr;
	uint32_t mod;
	enum wit_answer answer;
	uint8_t tries;
	uint8_t data[WIT_DATA];
};

struct wit_mad {
	const struct wit_conf *conf;
	int fd, agent_lid, agent_directed;
	uint32_t tid;
	unsigned long sent;
	void *umad;
};
CLF_MUST_USE int wit_mad_open(struct wit_mad *m, const struct wit_conf *conf, struct clf_error *err);
void wit_mad_close(struct wit_mad *m);
/* Ask all, wait until each has its answer or the deadline (monotonic ms) comes: then the rest is WIT_SILENT. -1: the
 * umad port is broken. */
CLF_MUST_USE int wit_mad_run(struct wit_mad *m, struct wit_query *q, size_t n, int64_t deadline_ms,
			     struct clf_error *err);
int64_t wit_now_ms(void);

enum wit_state {
	WIT_PORT_OK,     /* table read, and it is this port that answered */
	WIT_PORT_DOWN,   /* its switch says that the link is down */
	WIT_PORT_SILENT, /* no answer, though nothing says that the link is down */
	WIT_PORT_MOVED,  /* somebody else answers at its place */
	WIT_PORT_TWICE,  /* two ports of the fabric claim this GUID */
};
struct wit_port {
	/* from the discovery */
	uint64_t guid, node_guid;
	struct wit_path path;
	uint8_t num;
	uint32_t device;
	char desc[65];
	bool twice;
	bool has_switch;
	uint64_t switch_guid;
	struct wit_path switch_path;
	uint8_t switch_port;
	uint16_t switch_cap;
	/* from the last reading */
	enum wit_state state;
	bool directed; /* the LID was of no use */
	uint8_t link;  /* PortInfo.PortState; 4 is active */
	bool has_mkey;
	uint16_t cap, nkeys, nswitch;
	uint16_t *keys, *switch_keys; /* owned; up to the last entry that is not 0 */
	bool switch_read;
};
struct wit_fabric {
	struct wit_port *v; /* by GUID */
	size_t n;
	unsigned switches;
};
CLF_MUST_USE int wit_discover(const struct wit_conf *conf, struct wit_fabric *out, struct clf_error *err);
void wit_fabric_done(struct wit_fabric *f);
/* NULL: not on the fabric when it was discovered. */
struct wit_port *wit_find(const struct wit_fabric *f, uint64_t guid);

/* Read the tables of these ports, with those of the switch ports they hang on if asked. */
CLF_MUST_USE int wit_read(struct wit_mad *m, struct wit_port **ports, size_t n, bool switches, int64_t deadline_ms,
			  struct clf_error *err);

#endif
