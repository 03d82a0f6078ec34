# SPDX-License-Identifier: GPL-2.0-or-later
# What closfoldd is made of is a library, so that tests and fuzzers link it without main.c.
noinst_LTLIBRARIES += libclf_run.la libclf_daemon.la libclf_node.la
libclf_run_la_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS)
libclf_run_la_SOURCES = \
	src/engine/run.c src/engine/run.h src/engine/run_net.c src/engine/run_priv.h src/engine/run_record.c
libclf_daemon_la_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS)
libclf_daemon_la_SOURCES = \
	src/daemon/fabrics.c src/daemon/fabrics.h \
	src/daemon/inforce.c src/daemon/inforce.h \
	src/daemon/known.c src/daemon/known.h \
	src/daemon/last_rungs.c src/daemon/last_rungs.h \
	src/daemon/lease_check.c src/daemon/lease_check.h \
	src/daemon/listen_unix.c src/daemon/listen_unix.h \
	src/daemon/loop.c src/daemon/loop.h \
	src/daemon/serve.c src/daemon/serve.h \
	src/daemon/state.c src/daemon/state.h \
	src/daemon/worker.c src/daemon/worker.h
# Node daemons, seen from both ends: apart, so that neither end's tests need the other parts of closfoldd.
libclf_node_la_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS)
libclf_node_la_SOURCES = \
	src/daemon/address.c src/daemon/address.h \
	src/daemon/agents.c src/daemon/agents.h src/daemon/agents_private.h \
	src/daemon/agents_ask.c src/daemon/agents_msg.c \
	src/daemon/helper.c src/daemon/helper.h \
	src/daemon/link.c src/daemon/link.h \
	src/daemon/node.c src/daemon/node.h src/daemon/node_private.h \
	src/daemon/node_conn.c src/daemon/node_work.c \
	src/daemon/node_facts.c src/daemon/node_facts.h src/daemon/node_lldp.c \
	src/daemon/node_probe.c src/daemon/node_probe.h \
	src/daemon/node_report.c src/daemon/node_report.h \
	src/daemon/verify_nics.c src/daemon/verify_nodes.c src/daemon/verify_nodes.h src/daemon/verify_private.h
libclf_node_link = libclf_node.la libclf_fabric.la libclf_policy.la libclf_topo.la libclf_wire.la libclf_auth.la libclf_hash.la libclf_base.la \
	$(JANSSON_LIBS) $(MUNGE_LIBS) -lpthread

sbin_PROGRAMS += closfoldd
closfoldd_SOURCES = src/daemon/main.c
closfoldd_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS)
closfoldd_LDADD = libclf_daemon.la libclf_node.la libclf_run.la libclf_engine.la libclf_policy.la libclf_place.la libclf_topo.la \
	libclf_fabric.la libclf_lease.la libclf_audit.la libclf_record.la libclf_wire.la libclf_auth.la libclf_hash.la libclf_base.la \
	$(JANSSON_LIBS) $(CRYPTO_LIBS) $(MUNGE_LIBS) -lpthread
# In a node's prolog; a program of its own.
pkglibexec_PROGRAMS += closfold-node
closfold_node_SOURCES = src/daemon/node_check_main.c
closfold_node_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS)
closfold_node_LDADD = $(closfoldd_LDADD)

EXTRA_DIST += etc/closfoldd.service etc/closfoldd-node.service
