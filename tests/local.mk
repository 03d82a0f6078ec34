# SPDX-License-Identifier: GPL-2.0-or-later
# Tests are TAP programs; tests/run.pl runs them and prints the totals.
# A folder's unit tests are listed in tests/unit/<folder>/local.mk, which adds to check_PROGRAMS.
noinst_LTLIBRARIES += libclf_tap.la
libclf_tap_la_SOURCES = tests/lib/golden.c tests/lib/golden.h tests/lib/tap.c tests/lib/tap.h
libclf_tap_la_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir)/tests/lib

include tests/unit/base/local.mk
include tests/unit/engine/local.mk
include tests/unit/place/local.mk
include tests/unit/policy/local.mk
include tests/bench/local.mk
