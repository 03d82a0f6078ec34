# SPDX-License-Identifier: GPL-2.0-or-later
noinst_LTLIBRARIES += libclf_base.la
libclf_base_la_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS)
libclf_base_la_LIBADD = $(JANSSON_LIBS)
libclf_base_la_SOURCES = \
	src/base/bitmap.c src/base/bitmap.h \
	src/base/buf.c src/base/buf.h \
	src/base/cleanup.h \
	src/base/clock.c src/base/clock.h \
	src/base/coproc.c src/base/coproc.h \
	src/base/err.c src/base/err.h src/base/finding.h \
	src/base/hostlist.c src/base/hostlist.h \
	src/base/json.c src/base/json.h \
	src/base/lex.c src/base/lex.h \
	src/base/log.c src/base/log.h \
	src/base/path.c src/base/path.h \
	src/base/proc.c src/base/proc.h \
	src/base/strmap.c src/base/strmap.h \
	src/base/strv.c src/base/strv.h

# A library of a folder never takes in another: what is linked lists all it needs, once (plugins take whole archives).

noinst_LTLIBRARIES += libclf_hash.la
libclf_hash_la_SOURCES = src/base/hash.c src/base/hash.h
libclf_hash_la_CPPFLAGS = $(AM_CPPFLAGS) $(CRYPTO_CFLAGS)
libclf_hash_la_LIBADD = $(CRYPTO_LIBS)
