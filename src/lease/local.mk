# SPDX-License-Identifier: GPL-2.0-or-later
noinst_LTLIBRARIES += libclf_lease.la
libclf_lease_la_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS)
libclf_lease_la_SOURCES = \
	src/lease/frame.c src/lease/frame.h \
	src/lease/keypool.c src/lease/keypool.h \
	src/lease/lease.c src/lease/lease.h \
	src/lease/ledger.c src/lease/ledger.h \
	src/lease/reconcile.c src/lease/reconcile.h \
	src/lease/store.c src/lease/store.h
