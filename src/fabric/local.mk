# SPDX-License-Identifier: GPL-2.0-or-later
noinst_LTLIBRARIES += libclf_fabric.la
libclf_fabric_la_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS)
libclf_fabric_la_SOURCES = \
	src/fabric/conf.c src/fabric/conf.h \
	src/fabric/driver.h src/fabric/drv_null.c src/fabric/net.c src/fabric/registry.c \
	src/fabric/witness_probe.c src/fabric/witness_probe.h src/fabric/witness_private.h src/fabric/witness_verdict.c
include src/fabric/opensm.mk
include src/fabric/ovsdb.mk
