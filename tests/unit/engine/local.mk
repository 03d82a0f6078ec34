# SPDX-License-Identifier: GPL-2.0-or-later
check_PROGRAMS += tests/unit/engine/test_decide tests/unit/engine/test_oom tests/unit/engine/test_random
engine_test_cppflags = $(AM_CPPFLAGS) $(JANSSON_CFLAGS) -I$(srcdir)/tests/lib
engine_test_ldadd = libclf_tap.la libclf_engine.la libclf_policy.la libclf_place.la libclf_topo.la libclf_base.la $(JANSSON_LIBS)
tests_unit_engine_test_decide_SOURCES = tests/unit/engine/test_decide.c
tests_unit_engine_test_decide_CPPFLAGS = $(engine_test_cppflags)
tests_unit_engine_test_decide_LDADD = $(engine_test_ldadd)
tests_unit_engine_test_oom_SOURCES = tests/unit/engine/test_oom.c tests/lib/oom.c tests/lib/oom.h
tests_unit_engine_test_oom_CPPFLAGS = $(engine_test_cppflags)
tests_unit_engine_test_oom_LDADD = $(engine_test_ldadd)
tests_unit_engine_test_random_SOURCES = tests/unit/engine/test_random.c
tests_unit_engine_test_random_CPPFLAGS = $(engine_test_cppflags)
tests_unit_engine_test_random_LDADD = $(engine_test_ldadd)
EXTRA_DIST += tests/unit/engine/oracle.pl
check_PROGRAMS += tests/unit/engine/test_run
tests_unit_engine_test_run_SOURCES = tests/unit/engine/test_run.c
tests_unit_engine_test_run_CPPFLAGS = $(engine_test_cppflags)
tests_unit_engine_test_run_LDADD = libclf_tap.la libclf_run.la libclf_engine.la libclf_policy.la libclf_place.la libclf_topo.la \
	libclf_lease.la libclf_fabric.la libclf_record.la libclf_hash.la libclf_base.la $(JANSSON_LIBS)
