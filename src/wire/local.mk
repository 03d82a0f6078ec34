# SPDX-License-Identifier: GPL-2.0-or-later
noinst_LTLIBRARIES += libclf_wire.la
libclf_wire_la_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS)
libclf_wire_la_SOURCES = \
	src/wire/proto.c src/wire/proto.h \
	src/wire/client.c src/wire/client.h
# Apart from libclf_wire, which plugins link: no libmunge of ours inside Slurm's daemons.
noinst_LTLIBRARIES += libclf_auth.la
libclf_auth_la_CPPFLAGS = $(AM_CPPFLAGS) $(MUNGE_CFLAGS)
libclf_auth_la_SOURCES = \
	src/wire/auth_munge.c src/wire/auth_munge.h \
	src/wire/probe_frame.c src/wire/probe_frame.h \
	src/wire/tcp_frame.c src/wire/tcp_frame.h
