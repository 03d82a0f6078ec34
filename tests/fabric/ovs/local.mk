# SPDX-License-Identifier: GPL-2.0-or-later
ovs_tools = tests/fabric/ovs/gate tests/fabric/ovs/hop tests/fabric/ovs/leak tests/fabric/ovs/lldp
check_PROGRAMS += $(ovs_tools)
tests_fabric_ovs_gate_SOURCES = tests/fabric/ovs/gate.c
tests_fabric_ovs_gate_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS)
tests_fabric_ovs_gate_LDADD = libclf_fabric.la libclf_hash.la libclf_base.la $(JANSSON_LIBS)
tests_fabric_ovs_hop_SOURCES = tests/fabric/ovs/hop.c tests/fabric/ovs/netns.h
tests_fabric_ovs_leak_SOURCES = tests/fabric/ovs/leak.c tests/fabric/ovs/netns.h
tests_fabric_ovs_leak_LDADD = -lpthread
tests_fabric_ovs_lldp_SOURCES = tests/fabric/ovs/lldp.c tests/fabric/ovs/netns.h
EXTRA_DIST += tests/fabric/ovs/lib.sh tests/fabric/ovs/test.sh \
	tests/fabric/ovs/t0301-open-close.t tests/fabric/ovs/t0302-hopping.t tests/fabric/ovs/t0303-faults.t \
	tests/fabric/ovs/t0304-conflicts.t tests/fabric/ovs/t0305-tcp-tls.t tests/fabric/ovs/t0306-lldp.t \
	tests/fabric/ovs/t0307-leak.t tests/fabric/ovs/t0308-check.t tests/fabric/ovs/t0309-rest.t
