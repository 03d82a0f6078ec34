# SPDX-License-Identifier: GPL-2.0-or-later
noinst_LTLIBRARIES += libclf_fabric.la
libclf_fabric_la_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS)
libclf_fabric_la_SOURCES = \
	src/fabric/driver.h src/fabric/drv_null.c src/fabric/registry.c
