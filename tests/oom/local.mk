# SPDX-License-Identifier: GPL-2.0-or-later
check_PROGRAMS += tests/oom/oom_ledger
tests_oom_oom_ledger_SOURCES = tests/oom/oom_ledger.c tests/lib/oom.c tests/lib/oom.h
tests_oom_oom_ledger_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS) -I$(srcdir)/tests/lib
tests_oom_oom_ledger_LDADD = libclf_tap.la libclf_lease.la libclf_audit.la libclf_record.la libclf_hash.la libclf_base.la $(JANSSON_LIBS) $(CRYPTO_LIBS)
