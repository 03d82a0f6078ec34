# SPDX-License-Identifier: GPL-2.0-or-later
check_PROGRAMS += tests/unit/wire/test_client
tests_unit_wire_test_client_SOURCES = tests/unit/wire/test_client.c
tests_unit_wire_test_client_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir)/tests/lib $(JANSSON_CFLAGS)
tests_unit_wire_test_client_LDADD = libclf_tap.la libclf_wire.la libclf_base.la $(JANSSON_LIBS) -lpthread
check_PROGRAMS += tests/unit/wire/test_proto
tests_unit_wire_test_proto_SOURCES = tests/unit/wire/test_proto.c
tests_unit_wire_test_proto_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir)/tests/lib $(JANSSON_CFLAGS)
tests_unit_wire_test_proto_LDADD = libclf_tap.la libclf_wire.la libclf_base.la $(JANSSON_LIBS) -lpthread
