/* SPDX-License-Identifier: GPL-2.0-or-later */
/* topo.h - immutable model of a fabric, and the questions asked of it.
 *
 * Two views of one fabric:
 * - the tree that placement walks: nodes (hosts) at level 0, groups above. A level-1 group is a *leaf*: one leaf
 * switch, or on a rail-optimised fabric the set of R leaf switches that one scalable unit hangs on. Level 2 groups are
 * *pods*, 3 and up *core*. Each tree is a component; components share no group, and no job spans two. Every node that
 * could be placed is in exactly one leaf; a node that could not is kept, with leaf == CLF_NONE, and a finding says why:
 * nothing is dropped silently.
 * - the switches and links as read, for facts (speed, rails, dead links). Sources without them (CSV, topology.conf)
 * make one switch a group.
 *
 * Shapes: nodes are numbered depth-first along the tree (leaf = one run of ids), placed nodes first, unplaced last;
 * groups are numbered level by level from the leaves, within a level in depth-first order, so siblings are neighbours;
 * their children (groups of the level below, or nodes) are the run [first, first + n). Units:  link speed in Mbit/s
 * (200000 = HDR 4x), 0 = unknown. Memory: a topo is owned by who loaded it (clf_topo_destroy); every pointer got from
 * it is borrowed while it lives. Threads: immutable after clf_topo_builder_finish(); any number of readers. Source:
 * docs/adr/0003-topology-model.md; shapes of real dumps in docs/formats/.
 */
#ifndef CLF_TOPO_TOPO_H
#define CLF_TOPO_TOPO_H

#include <stdbool.h>
#include <stdint.h>

#include "base/finding.h"
#include "base/bitmap.h"
#include "base/err.h"
#include "base/strv.h"

#define CLF_NONE         UINT32_MAX
#define CLF_MAX_LEVELS   20     /* topology/tree refuses more */
#define CLF_MAX_NODES    262144 /* caps of every reader */
#define CLF_MAX_SWITCHES 65536
#define CLF_MAX_LINKS    2097152
#define CLF_MAX_RAILS    32
#define CLF_NAME_MAX     128

struct clf_topo;

enum clf_switch_kind { CLF_SWITCH, CLF_SWITCH_CHASSIS_CHIP, CLF_ROUTER };

struct clf_topo_node {
	const char *name;
	uint32_t leaf;      /* level-1 group, CLF_NONE when not placed */
	uint32_t component; /* CLF_NONE when not placed */
	uint32_t domain;    /* NVLink domain, CLF_NONE when unknown or none */
	uint32_t rails;     /* bit r: has a live link on rail r; 0 when the source has no rails */
};

struct clf_topo_group {
	const char *name;             /* stable: unchanged when a cable is repaired */
	uint32_t level;               /* 1 = leaf */
	uint32_t parent;              /* CLF_NONE for a component's root */
	uint32_t first, n;            /* children: nodes when level == 1, else groups of level - 1 */
	uint32_t first_node, n_nodes; /* nodes below, one run */
	uint32_t component;
	uint32_t first_switch, n_switches; /* run in clf_topo_group_switch(): the switches that form this group */
};

struct clf_topo_switch {
	const char *name;
	uint64_t guid;   /* 0 = unknown */
	uint64_t system; /* system image GUID, 0 = unknown; shared by the chips of a chassis */
	uint32_t group;  /* CLF_NONE when it is in no tree */
	uint32_t rail;   /* rail of a leaf switch, CLF_NONE */
	enum clf_switch_kind kind;
};

/* One cable. a is a switch; b is a switch, or a node when node_end. */
struct clf_topo_link {
	uint32_t a, b;
	uint16_t a_port, b_port; /* 0 = unknown */
	bool node_end;
	uint32_t speed_mbps;
	uint64_t b_guid; /* port GUID at a node end, 0 = unknown */
};

/* What a reader or the checker has to say about one object. */
struct clf_finding {
	enum clf_finding_level level;
	const char *code;    /* stable word, "node-unplaced" */
	const char *subject; /* name of node, switch, link */
	const char *text;
};

struct clf_topo_counts {
	uint32_t nodes, switches, leaves, pods, components, rails, links, levels; /* levels: highest group level */
	uint32_t unplaced; /* nodes with leaf == CLF_NONE, counted in nodes too */
};

void clf_topo_destroy(struct clf_topo *t);
CLF_DEFINE_CLEANUP(struct clf_topo, clf_topo_destroy)

struct clf_topo_counts clf_topo_counts(const struct clf_topo *t);
const char *clf_topo_source(const struct clf_topo *t); /* "ibnetdiscover", "slurm", "synth", "json", "csv" */

uint32_t clf_topo_nnodes(const struct clf_topo *t); /* placed and unplaced */
uint32_t clf_topo_nplaced(const struct clf_topo *t);
const struct clf_topo_node *clf_topo_node(const struct clf_topo *t, uint32_t i);
uint32_t clf_topo_node_find(const struct clf_topo *t, const char *name); /* CLF_NONE when absent */

/* Groups of a level: ids first .. first + n - 1. Leaves are level 1 and always ids 0 .. nleaves - 1. */
uint32_t clf_topo_ngroups(const struct clf_topo *t);
uint32_t clf_topo_level_groups(const struct clf_topo *t, uint32_t level, uint32_t *first);
const struct clf_topo_group *clf_topo_group(const struct clf_topo *t, uint32_t g);
uint32_t clf_topo_group_switch(const struct clf_topo *t, uint32_t k); /* k in a group's run; returns a switch id */
/* Level of the lowest common group of two placed nodes: 0 the same node, 1 same leaf ...; CLF_NONE in different
 * components. */
uint32_t clf_topo_lca_level(const struct clf_topo *t, uint32_t node_a, uint32_t node_b);
/* Ancestor of a node at a level (its leaf at 1); CLF_NONE when its tree is lower or it is not placed. */
uint32_t clf_topo_ancestor(const struct clf_topo *t, uint32_t node, uint32_t level);

uint32_t clf_topo_nswitches(const struct clf_topo *t);
const struct clf_topo_switch *clf_topo_switch(const struct clf_topo *t, uint32_t s);
uint32_t clf_topo_nlinks(const struct clf_topo *t);
const struct clf_topo_link *clf_topo_link(const struct clf_topo *t, uint32_t l);

/* NVLink domains by id, as in struct clf_topo_node. */
uint32_t clf_topo_ndomains(const struct clf_topo *t);
const char *clf_topo_domain(const struct clf_topo *t, uint32_t d);

uint32_t clf_topo_nfindings(const struct clf_topo *t);
const struct clf_finding *clf_topo_finding(const struct clf_topo *t, uint32_t i);

const char *clf_finding_level_name(enum clf_finding_level level); /* "info", "warn", "error" */
const char *clf_switch_kind_name(enum clf_switch_kind kind);      /* "switch", "chip", "router" */

/* Set of node ids for a host expression or list. Unknown hosts: CLF_E_NOTFOUND naming the first (nothing returned),
 * unless `unknown` is not NULL: then they are appended there and skipped. Result owned, clf_topo_nnodes(t) bits. */
CLF_MUST_USE int clf_topo_nodeset(const struct clf_topo *t, const char *hosts, struct clf_strv *unknown,
				  struct clf_bitmap **out, struct clf_error *err);

#endif
