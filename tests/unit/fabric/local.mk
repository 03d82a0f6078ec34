# SPDX-License-Identifier: GPL-2.0-or-later
check_PROGRAMS += tests/unit/fabric/test_fabric
tests_unit_fabric_test_fabric_SOURCES = tests/unit/fabric/test_fabric.c
tests_unit_fabric_test_fabric_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir)/tests/lib $(JANSSON_CFLAGS)
tests_unit_fabric_test_fabric_LDADD = libclf_tap.la libclf_fabric.la libclf_hash.la libclf_base.la $(JANSSON_LIBS)
check_PROGRAMS += tests/unit/fabric/test_ovsdb
tests_unit_fabric_test_ovsdb_SOURCES = tests/unit/fabric/test_ovsdb.c tests/unit/fabric/ovsdb_fake.c tests/unit/fabric/ovsdb_fake.h
tests_unit_fabric_test_ovsdb_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir)/tests/lib -I$(srcdir)/tests/unit/fabric $(JANSSON_CFLAGS)
tests_unit_fabric_test_ovsdb_LDADD = libclf_tap.la libclf_fabric.la libclf_hash.la libclf_base.la $(JANSSON_LIBS) -lpthread
check_PROGRAMS += tests/unit/fabric/test_witness
tests_unit_fabric_test_witness_SOURCES = tests/unit/fabric/test_witness.c
tests_unit_fabric_test_witness_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir)/tests/lib $(JANSSON_CFLAGS)
tests_unit_fabric_test_witness_LDADD = libclf_tap.la libclf_fabric.la libclf_hash.la libclf_base.la $(JANSSON_LIBS)

check_PROGRAMS += tests/unit/fabric/test_partitions
tests_unit_fabric_test_partitions_SOURCES = tests/unit/fabric/test_partitions.c tests/lib/oom.c
tests_unit_fabric_test_partitions_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir)/tests/lib $(JANSSON_CFLAGS)
tests_unit_fabric_test_partitions_LDADD = libclf_tap.la libclf_fabric.la libclf_hash.la libclf_base.la $(JANSSON_LIBS)

