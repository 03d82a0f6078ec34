# SPDX-License-Identifier: GPL-2.0-or-later
check_PROGRAMS += tests/unit/lease/test_lease
tests_unit_lease_test_lease_SOURCES = tests/unit/lease/test_lease.c
tests_unit_lease_test_lease_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir)/tests/lib $(JANSSON_CFLAGS)
tests_unit_lease_test_lease_LDADD = libclf_tap.la libclf_lease.la libclf_base.la $(JANSSON_LIBS) -lpthread
check_PROGRAMS += tests/unit/lease/test_reconcile
tests_unit_lease_test_reconcile_SOURCES = tests/unit/lease/test_reconcile.c
tests_unit_lease_test_reconcile_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir)/tests/lib $(JANSSON_CFLAGS)
tests_unit_lease_test_reconcile_LDADD = libclf_tap.la libclf_lease.la libclf_base.la $(JANSSON_LIBS) -lpthread
check_PROGRAMS += tests/unit/lease/test_store
tests_unit_lease_test_store_SOURCES = tests/unit/lease/test_store.c
tests_unit_lease_test_store_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir)/tests/lib $(JANSSON_CFLAGS)
tests_unit_lease_test_store_LDADD = libclf_tap.la libclf_lease.la libclf_base.la $(JANSSON_LIBS) -lpthread
check_PROGRAMS += tests/unit/lease/test_keypool
tests_unit_lease_test_keypool_SOURCES = tests/unit/lease/test_keypool.c
tests_unit_lease_test_keypool_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir)/tests/lib $(JANSSON_CFLAGS)
tests_unit_lease_test_keypool_LDADD = libclf_tap.la libclf_lease.la libclf_base.la $(JANSSON_LIBS) -lpthread
