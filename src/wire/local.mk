# SPDX-License-Identifier: GPL-2.0-or-later
noinst_LTLIBRARIES += libclf_wire.la
libclf_wire_la_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS)
libclf_wire_la_SOURCES = \
	src/wire/proto.c src/wire/proto.h \
	src/wire/client.c src/wire/client.h
