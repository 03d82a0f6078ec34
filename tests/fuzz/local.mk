# SPDX-License-Identifier: GPL-2.0-or-later
# make check replays the corpus. Longer: tests/fuzz/fuzz_policy -r SECONDS; or, with clang, link a target with -fsanitize=fuzzer
# instead of standalone.c.
check_PROGRAMS += tests/fuzz/fuzz_policy
tests_fuzz_fuzz_policy_SOURCES = tests/fuzz/fuzz_policy.c tests/fuzz/standalone.c
tests_fuzz_fuzz_policy_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS)
tests_fuzz_fuzz_policy_LDADD = libclf_engine.la libclf_policy.la libclf_place.la libclf_topo.la libclf_base.la $(JANSSON_LIBS)
check_PROGRAMS += tests/fuzz/fuzz_ledger
tests_fuzz_fuzz_ledger_SOURCES = tests/fuzz/fuzz_ledger.c tests/fuzz/standalone.c
tests_fuzz_fuzz_ledger_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS)
tests_fuzz_fuzz_ledger_LDADD = libclf_lease.la libclf_base.la $(JANSSON_LIBS) $(CRYPTO_LIBS)
check_PROGRAMS += tests/fuzz/fuzz_record
tests_fuzz_fuzz_record_SOURCES = tests/fuzz/fuzz_record.c tests/fuzz/standalone.c
tests_fuzz_fuzz_record_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS)
tests_fuzz_fuzz_record_LDADD = libclf_audit.la libclf_record.la libclf_hash.la libclf_base.la $(JANSSON_LIBS) $(CRYPTO_LIBS)
check_PROGRAMS += tests/fuzz/fuzz_wire
tests_fuzz_fuzz_wire_SOURCES = tests/fuzz/fuzz_wire.c tests/fuzz/standalone.c
tests_fuzz_fuzz_wire_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS)
tests_fuzz_fuzz_wire_LDADD = libclf_wire.la libclf_base.la $(JANSSON_LIBS) $(CRYPTO_LIBS)
check_PROGRAMS += tests/fuzz/fuzz_tcp_frame
tests_fuzz_fuzz_tcp_frame_SOURCES = tests/fuzz/fuzz_tcp_frame.c tests/fuzz/standalone.c
tests_fuzz_fuzz_tcp_frame_CPPFLAGS = $(AM_CPPFLAGS)
tests_fuzz_fuzz_tcp_frame_LDADD = libclf_auth.la libclf_base.la $(MUNGE_LIBS) $(JANSSON_LIBS)
check_PROGRAMS += tests/fuzz/fuzz_node
tests_fuzz_fuzz_node_SOURCES = tests/fuzz/fuzz_node.c tests/fuzz/standalone.c
tests_fuzz_fuzz_node_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS)
tests_fuzz_fuzz_node_LDADD = $(libclf_node_link)
EXTRA_DIST += tests/fuzz/corpus
