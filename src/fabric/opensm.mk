# SPDX-License-Identifier: GPL-2.0-or-later
libclf_fabric_la_CPPFLAGS += -DCLF_PKGLIBEXECDIR='"$(pkglibexecdir)"'
libclf_fabric_la_SOURCES += \
	src/fabric/drv_opensm.c src/fabric/opensm.h \
	src/fabric/opensm_check.c src/fabric/opensm_conf.c src/fabric/opensm_diff.c src/fabric/opensm_file.c \
	src/fabric/opensm_sync.c src/fabric/opensm_tables.c src/fabric/opensm_witness.c \
	src/fabric/partitions.c src/fabric/partitions.h src/fabric/partitions_lint.c src/fabric/partitions_priv.h
if INFINIBAND
pkglibexec_PROGRAMS += closfold-ibwitness
closfold_ibwitness_SOURCES = \
	src/fabric/ibwitness.h src/fabric/ibwitness_fabric.c src/fabric/ibwitness_mad.c src/fabric/ibwitness_main.c
closfold_ibwitness_CPPFLAGS = $(AM_CPPFLAGS) $(IB_CFLAGS)
closfold_ibwitness_LDADD = libclf_base.la $(IB_LIBS)
endif
