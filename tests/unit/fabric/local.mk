# SPDX-License-Identifier: GPL-2.0-or-later
check_PROGRAMS += tests/unit/fabric/test_fabric
tests_unit_fabric_test_fabric_SOURCES = tests/unit/fabric/test_fabric.c
tests_unit_fabric_test_fabric_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir)/tests/lib $(JANSSON_CFLAGS)
tests_unit_fabric_test_fabric_LDADD = libclf_tap.la libclf_fabric.la libclf_base.la $(JANSSON_LIBS)
