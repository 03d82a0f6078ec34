# SPDX-License-Identifier: GPL-2.0-or-later
check_PROGRAMS += tests/unit/daemon/test_known
tests_unit_daemon_test_known_SOURCES = tests/unit/daemon/test_known.c
tests_unit_daemon_test_known_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir)/tests/lib $(JANSSON_CFLAGS)
tests_unit_daemon_test_known_LDADD = libclf_tap.la libclf_daemon.la libclf_base.la $(JANSSON_LIBS)
check_PROGRAMS += tests/unit/daemon/test_lease_check
tests_unit_daemon_test_lease_check_SOURCES = tests/unit/daemon/test_lease_check.c
tests_unit_daemon_test_lease_check_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir)/tests/lib $(JANSSON_CFLAGS)
tests_unit_daemon_test_lease_check_LDADD = libclf_tap.la libclf_daemon.la libclf_base.la $(JANSSON_LIBS)
check_PROGRAMS += tests/unit/daemon/test_node_facts
tests_unit_daemon_test_node_facts_SOURCES = tests/unit/daemon/test_node_facts.c
tests_unit_daemon_test_node_facts_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir)/tests/lib $(JANSSON_CFLAGS)
tests_unit_daemon_test_node_facts_LDADD = libclf_tap.la $(libclf_node_link)
check_PROGRAMS += tests/unit/daemon/test_helper
tests_unit_daemon_test_helper_SOURCES = tests/unit/daemon/test_helper.c
tests_unit_daemon_test_helper_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir)/tests/lib $(JANSSON_CFLAGS)
tests_unit_daemon_test_helper_LDADD = libclf_tap.la $(libclf_node_link)
