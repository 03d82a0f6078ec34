# SPDX-License-Identifier: GPL-2.0-or-later
# The glue with stand-ins in place of Slurm: no slurmctld is needed.
if SLURM_PRIVATE
check_PROGRAMS += tests/unit/slurm/test_jobdesc tests/unit/slurm/test_prep_queue tests/unit/slurm/test_rank tests/unit/slurm/test_stamp
tests_unit_slurm_test_jobdesc_SOURCES = tests/unit/slurm/test_jobdesc.c tests/mock/mock_slurm.c tests/mock/mock_slurm.h \
	src/slurm/glue_jobdesc.c src/slurm/glue_mem.c src/slurm/glue_modify.c src/slurm/glue_stamp.c
tests_unit_slurm_test_jobdesc_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir)/tests/lib -I$(srcdir)/tests/mock $(SLURM_PRIVATE_CPPFLAGS) $(SLURM_CPPFLAGS) $(JANSSON_CFLAGS) \
	-DCLF_SLURM_HEADER='"$(patsubst -I%,%,$(lastword $(SLURM_PRIVATE_CPPFLAGS)))/slurm/slurm.h"'
tests_unit_slurm_test_jobdesc_CFLAGS = $(CLF_PLUGIN_CFLAGS)
tests_unit_slurm_test_jobdesc_LDADD = libclf_tap.la $(CLF_CTLD_CORE) $(JANSSON_LIBS)
tests_unit_slurm_test_prep_queue_SOURCES = tests/unit/slurm/test_prep_queue.c src/slurm/prep_queue.c
tests_unit_slurm_test_prep_queue_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir)/tests/lib $(JANSSON_CFLAGS)
tests_unit_slurm_test_prep_queue_CFLAGS = $(AM_CFLAGS)
tests_unit_slurm_test_prep_queue_LDADD = libclf_tap.la libclf_base.la $(JANSSON_LIBS) -lpthread
tests_unit_slurm_test_rank_SOURCES = tests/unit/slurm/test_rank.c src/slurm/glue_conf.c src/slurm/rank_argv.c src/slurm/rank_file.c
tests_unit_slurm_test_rank_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir)/tests/lib $(JANSSON_CFLAGS)
tests_unit_slurm_test_rank_CFLAGS = $(AM_CFLAGS)
tests_unit_slurm_test_rank_LDADD = libclf_tap.la $(CLF_SPANK_CORE) $(JANSSON_LIBS)
tests_unit_slurm_test_stamp_SOURCES = tests/unit/slurm/test_stamp.c tests/mock/mock_slurm.c tests/mock/mock_slurm.h \
	src/slurm/glue_mem.c src/slurm/glue_stamp.c
tests_unit_slurm_test_stamp_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir)/tests/lib -I$(srcdir)/tests/mock $(SLURM_CPPFLAGS)
tests_unit_slurm_test_stamp_CFLAGS = $(CLF_PLUGIN_CFLAGS)
tests_unit_slurm_test_stamp_LDADD = libclf_tap.la
endif
EXTRA_DIST += tests/mock/mock_slurm.c tests/mock/mock_slurm.h
