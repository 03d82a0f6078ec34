# SPDX-License-Identifier: GPL-2.0-or-later
check_PROGRAMS += tests/unit/place/test_search tests/unit/place/test_place
tests_unit_place_test_search_SOURCES = tests/unit/place/test_search.c
tests_unit_place_test_search_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir)/tests/lib
tests_unit_place_test_search_LDADD = libclf_tap.la libclf_place.la libclf_topo.la libclf_base.la
tests_unit_place_test_place_SOURCES = tests/unit/place/test_place.c
tests_unit_place_test_place_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir)/tests/lib
tests_unit_place_test_place_LDADD = libclf_tap.la libclf_place.la libclf_topo.la libclf_base.la
