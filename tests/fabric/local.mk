# SPDX-License-Identifier: GPL-2.0-or-later
# Real fabrics: OpenSM on ibsim, Open vSwitch in network namespaces; one test after the other, root.
check_PROGRAMS += tests/fabric/drive
tests_fabric_drive_SOURCES = tests/fabric/drive.c
tests_fabric_drive_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS)
tests_fabric_drive_LDADD = libclf_fabric.la libclf_hash.la libclf_base.la $(JANSSON_LIBS)

include tests/fabric/opensm/local.mk
include tests/fabric/ovs/local.mk

check-fabric: all $(filter tests/fabric/%,$(check_PROGRAMS))
	$(srcdir)/tests/run.pl --builddir . $(srcdir)/tests/fabric/opensm $(srcdir)/tests/fabric/ovs $(srcdir)/tests/fabric/slurm

EXTRA_DIST += $(wildcard $(srcdir)/tests/fabric/slurm/*.t) tests/fabric/slurm/lib.sh tests/fabric/slurm/iblib.sh

.PHONY: check-fabric
