# SPDX-License-Identifier: GPL-2.0-or-later
# Benchmarks print JSON lines; nothing in them passes or fails. Built by `make bench` only.
BENCHES = tests/bench/bench_audit tests/bench/bench_decide tests/bench/bench_place tests/bench/bench_topo
EXTRA_PROGRAMS += $(BENCHES)
CLEANFILES += $(BENCHES)
tests_bench_bench_audit_SOURCES = tests/bench/bench_audit.c
tests_bench_bench_audit_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS)
tests_bench_bench_audit_LDADD = libclf_audit.la libclf_record.la libclf_wire.la libclf_hash.la libclf_base.la $(JANSSON_LIBS) $(CRYPTO_LIBS) -lpthread
tests_bench_bench_decide_SOURCES = tests/bench/bench_decide.c
tests_bench_bench_decide_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS)
tests_bench_bench_decide_LDADD = libclf_engine.la libclf_policy.la libclf_place.la libclf_topo.la libclf_base.la $(JANSSON_LIBS)
tests_bench_bench_place_SOURCES = tests/bench/bench_place.c tests/bench/bench.h
tests_bench_bench_place_LDADD = libclf_place.la libclf_topo.la libclf_base.la

tests_bench_bench_topo_SOURCES = tests/bench/bench_topo.c tests/bench/bench.h
tests_bench_bench_topo_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS)
tests_bench_bench_topo_LDADD = libclf_topo.la libclf_base.la $(JANSSON_LIBS)

# Need root and a slurmctld, so they are run by hand.
EXTRA_DIST += tests/bench/bench_slurm.sh tests/bench/bench_unflagged.sh
# Real fabrics: root, Open vSwitch, OpenSM and ibsim; left out, with a word, where those are not.
fabric_benches = tests/bench/bench_ovs.sh tests/bench/bench_opensm.sh
EXTRA_DIST += $(fabric_benches) tests/bench/bench_start.pl

# Dumps for bench_topo: a generated one of about 2,300 adapters, and the real director dump where it lies beside the tree.
bench: all $(BENCHES) tests/fabric/drive
	$(srcdir)/tests/lib/gen-ibnet --pods 4 --leaves 36 --hosts 8 --rails 8 --spines 8 >bench-fabric.txt
	./tests/bench/bench_topo bench-fabric.txt $(wildcard $(srcdir)/../shared/data/fabrics/ufm_sdk/ibnetdiscover_director.txt $(CLF_SHARED)/data/fabrics/ufm_sdk/ibnetdiscover_director.txt)
	@for b in $(filter-out %/bench_topo,$(BENCHES)); do ./$$b || exit 1; done
	@if [ "$$(id -u)" != 0 ]; then echo "fabrics: left out, needs root"; else \
		for b in $(fabric_benches); do CLF_BUILDDIR=. bash $(srcdir)/$$b || echo "$$b: left out or failed"; done; \
		$(srcdir)/tests/bench/bench_start.pl . || echo "bench_start: left out or failed"; fi
CLEANFILES += bench-fabric.txt
.PHONY: bench
