# SPDX-License-Identifier: GPL-2.0-or-later
check_PROGRAMS += \
	tests/unit/place/test_cases \
	tests/unit/place/test_certificate \
	tests/unit/place/test_deep \
	tests/unit/place/test_explain \
	tests/unit/place/test_order \
	tests/unit/place/test_pick \
	tests/unit/place/test_place \
	tests/unit/place/test_search

PLACE_TEST_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir)/tests/lib
PLACE_TEST_LIBS = libclf_tap.la libclf_place.la libclf_topo.la libclf_base.la
tests_unit_place_test_cases_SOURCES = tests/unit/place/test_cases.c
tests_unit_place_test_cases_CPPFLAGS = $(PLACE_TEST_CPPFLAGS) $(JANSSON_CFLAGS)
tests_unit_place_test_cases_LDADD = $(PLACE_TEST_LIBS) $(JANSSON_LIBS)
tests_unit_place_test_certificate_SOURCES = tests/unit/place/test_certificate.c tests/unit/place/rnd.h
tests_unit_place_test_certificate_CPPFLAGS = $(PLACE_TEST_CPPFLAGS)
tests_unit_place_test_certificate_LDADD = $(PLACE_TEST_LIBS)
tests_unit_place_test_deep_SOURCES = tests/unit/place/test_deep.c tests/unit/place/rnd.h
tests_unit_place_test_deep_CPPFLAGS = $(PLACE_TEST_CPPFLAGS)
tests_unit_place_test_deep_LDADD = $(PLACE_TEST_LIBS)
tests_unit_place_test_explain_SOURCES = tests/unit/place/test_explain.c
tests_unit_place_test_explain_CPPFLAGS = $(PLACE_TEST_CPPFLAGS)
tests_unit_place_test_explain_LDADD = $(PLACE_TEST_LIBS)
tests_unit_place_test_order_SOURCES = tests/unit/place/test_order.c tests/unit/place/rnd.h
tests_unit_place_test_order_CPPFLAGS = $(PLACE_TEST_CPPFLAGS)
tests_unit_place_test_order_LDADD = $(PLACE_TEST_LIBS)
tests_unit_place_test_pick_SOURCES = tests/unit/place/test_pick.c tests/unit/place/rnd.h
tests_unit_place_test_pick_CPPFLAGS = $(PLACE_TEST_CPPFLAGS)
tests_unit_place_test_pick_LDADD = $(PLACE_TEST_LIBS)
tests_unit_place_test_place_SOURCES = tests/unit/place/test_place.c tests/unit/place/rnd.h
tests_unit_place_test_place_CPPFLAGS = $(PLACE_TEST_CPPFLAGS)
tests_unit_place_test_place_LDADD = $(PLACE_TEST_LIBS)
tests_unit_place_test_search_SOURCES = tests/unit/place/test_search.c tests/unit/place/rnd.h
tests_unit_place_test_search_CPPFLAGS = $(PLACE_TEST_CPPFLAGS)
tests_unit_place_test_search_LDADD = $(PLACE_TEST_LIBS)
EXTRA_DIST += tests/place
