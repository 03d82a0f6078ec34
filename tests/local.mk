# SPDX-License-Identifier: GPL-2.0-or-later
# Tests are TAP programs; tests/run.pl runs them and prints the totals.
# A folder's unit tests are listed in tests/unit/<folder>/local.mk, which adds to check_PROGRAMS.
noinst_LTLIBRARIES += libclf_tap.la
libclf_tap_la_SOURCES = tests/lib/golden.c tests/lib/golden.h tests/lib/tap.c tests/lib/tap.h
libclf_tap_la_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir)/tests/lib

include tests/unit/audit/local.mk
include tests/unit/base/local.mk
include tests/unit/daemon/local.mk
include tests/unit/engine/local.mk
include tests/unit/fabric/local.mk
include tests/unit/lease/local.mk
include tests/unit/place/local.mk
include tests/unit/policy/local.mk
include tests/unit/slurm/local.mk
include tests/unit/wire/local.mk
include tests/fuzz/local.mk
include tests/oom/local.mk
include tests/daemon/local.mk
include tests/bench/local.mk
include tests/lint/local.mk
include tests/fabric/local.mk
include tests/slurm/local.mk

# make check: no root, no network, no Slurm daemon. One program or script: tests/run.pl -v FILE.
check-local: $(check_PROGRAMS)
	$(srcdir)/tests/run.pl -j2 --builddir . $(filter tests/unit/% tests/fuzz/%,$(check_PROGRAMS)) $(wildcard $(srcdir)/tests/cli $(srcdir)/tests/daemon)

# Real slurmctld and slurmds on loopback, one cluster after the other; root.
check-slurm: all
	$(srcdir)/tests/run.pl --builddir . $(srcdir)/tests/slurm

# Each allocation fails in turn.
check-oom: all $(filter tests/oom/%,$(check_PROGRAMS))
	$(srcdir)/tests/run.pl -j2 --builddir . $(filter tests/oom/%,$(check_PROGRAMS))

# Journal and log cut at every byte; kill -9 again and again.
check-crash: all tests/unit/audit/test_log tests/unit/lease/test_store
	CLF_CRASH_ROUNDS=100 $(srcdir)/tests/run.pl -j2 --builddir . tests/unit/audit/test_log tests/unit/lease/test_store $(srcdir)/tests/daemon/t0102-crash.t

.PHONY: check-crash check-slurm check-oom
EXTRA_DIST += tests/run.pl
