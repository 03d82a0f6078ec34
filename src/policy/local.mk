# SPDX-License-Identifier: GPL-2.0-or-later
noinst_LTLIBRARIES += libclf_policy.la
libclf_policy_la_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS) -DCLF_PKGLIBEXECDIR='"$(pkglibexecdir)"'
libclf_policy_la_SOURCES = \
	src/policy/builtin.h \
	src/policy/conf.c src/policy/conf.h \
	src/policy/parse.c src/policy/parse.h \
	src/policy/policy.c src/policy/policy.h \
	src/policy/policy_class.c src/policy/policy_grant.c src/policy/policy_rule.c \
	src/policy/policy_terms.c src/policy/policy_zone.c \
	src/policy/snapshot.c src/policy/snapshot.h
