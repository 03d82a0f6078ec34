# SPDX-License-Identifier: GPL-2.0-or-later
noinst_LTLIBRARIES += libclf_topo.la
libclf_topo_la_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS)
libclf_topo_la_SOURCES = \
	src/topo/topo.c src/topo/topo.h src/topo/topo_priv.h \
	src/topo/topo_builder.c src/topo/topo_builder.h \
	src/topo/topo_check.c src/topo/topo_check.h \
	src/topo/topo_derive.c src/topo/topo_health.c \
	src/topo/topo_diff.c src/topo/topo_diff.h \
	src/topo/topo_export.c src/topo/topo_export.h \
	src/topo/topo_json.c src/topo/topo_json.h \
	src/topo/topo_number.c src/topo/topo_pool.c src/topo/topo_rows.c \
	src/topo/topo_synth.c src/topo/topo_synth.h \
	src/topo/read/ibnet.h src/topo/read/ibnet_parse.c src/topo/read/reader.h src/topo/read/registry.c \
	src/topo/read/read_csv.c src/topo/read/read_ibnet.c src/topo/read/read_json.c \
	src/topo/read/read_slurm_conf.c src/topo/read/read_synth.c
