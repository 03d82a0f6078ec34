# SPDX-License-Identifier: GPL-2.0-or-later
base_tests = tests/unit/base/test_hostlist tests/unit/base/test_json tests/unit/base/test_path tests/unit/base/test_small
check_PROGRAMS += $(base_tests)
base_test_cppflags = $(AM_CPPFLAGS) -I$(srcdir)/tests/lib $(JANSSON_CFLAGS)
base_test_ldadd = libclf_tap.la libclf_base.la $(JANSSON_LIBS)
tests_unit_base_test_hostlist_SOURCES = tests/unit/base/test_hostlist.c
tests_unit_base_test_hostlist_CPPFLAGS = $(base_test_cppflags)
tests_unit_base_test_hostlist_LDADD = $(base_test_ldadd)
tests_unit_base_test_json_SOURCES = tests/unit/base/test_json.c
tests_unit_base_test_json_CPPFLAGS = $(base_test_cppflags)
tests_unit_base_test_json_LDADD = $(base_test_ldadd)
tests_unit_base_test_path_SOURCES = tests/unit/base/test_path.c
tests_unit_base_test_path_CPPFLAGS = $(base_test_cppflags)
tests_unit_base_test_path_LDADD = $(base_test_ldadd)
tests_unit_base_test_small_SOURCES = tests/unit/base/test_small.c
tests_unit_base_test_small_CPPFLAGS = $(base_test_cppflags)
tests_unit_base_test_small_LDADD = $(base_test_ldadd)
