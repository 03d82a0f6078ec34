# SPDX-License-Identifier: GPL-2.0-or-later
# A verb adds its files and the libraries it needs.
bin_PROGRAMS += closfold
closfold_SOURCES = \
	src/cmd/main.c src/cmd/verbs.h \
	src/cmd/cmd.c src/cmd/cmd.h
closfold_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS)
closfold_LDADD = libclf_base.la $(JANSSON_LIBS)
