# SPDX-License-Identifier: GPL-2.0-or-later
# make check replays the corpus. Longer: tests/fuzz/fuzz_policy -r SECONDS; or, with clang, link a target with -fsanitize=fuzzer
# instead of standalone.c.
check_PROGRAMS += tests/fuzz/fuzz_policy
tests_fuzz_fuzz_policy_SOURCES = tests/fuzz/fuzz_policy.c tests/fuzz/standalone.c
tests_fuzz_fuzz_policy_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS)
tests_fuzz_fuzz_policy_LDADD = libclf_engine.la libclf_policy.la libclf_place.la libclf_topo.la libclf_base.la $(JANSSON_LIBS)
EXTRA_DIST += tests/fuzz/corpus
