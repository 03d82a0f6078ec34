# SPDX-License-Identifier: GPL-2.0-or-later
check_PROGRAMS += tests/unit/policy/test_conf tests/unit/policy/test_policy tests/unit/policy/test_snapshot
policy_test_cppflags = $(AM_CPPFLAGS) $(JANSSON_CFLAGS) -I$(srcdir)/tests/lib -DCLF_PKGLIBEXECDIR='"$(pkglibexecdir)"'
policy_test_ldadd = libclf_tap.la libclf_policy.la libclf_topo.la libclf_base.la $(JANSSON_LIBS)
tests_unit_policy_test_conf_SOURCES = tests/unit/policy/test_conf.c
tests_unit_policy_test_conf_CPPFLAGS = $(policy_test_cppflags)
tests_unit_policy_test_conf_LDADD = $(policy_test_ldadd)
tests_unit_policy_test_policy_SOURCES = tests/unit/policy/test_policy.c
tests_unit_policy_test_policy_CPPFLAGS = $(policy_test_cppflags)
tests_unit_policy_test_policy_LDADD = $(policy_test_ldadd)
tests_unit_policy_test_snapshot_SOURCES = tests/unit/policy/test_snapshot.c
tests_unit_policy_test_snapshot_CPPFLAGS = $(policy_test_cppflags)
tests_unit_policy_test_snapshot_LDADD = $(policy_test_ldadd)
EXTRA_DIST += tests/conf tests/policy etc/closfold.conf.example etc/policy.json.example
