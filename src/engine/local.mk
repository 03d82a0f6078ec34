# SPDX-License-Identifier: GPL-2.0-or-later
noinst_LTLIBRARIES += libclf_engine.la
libclf_engine_la_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS)
libclf_engine_la_SOURCES = \
	src/engine/class.c \
	src/engine/decide.c src/engine/decide.h \
	src/engine/decision.c \
	src/engine/grant.c \
	src/engine/rules.c \
	src/engine/site.c \
	src/engine/subject.h \
	src/engine/zone.c
