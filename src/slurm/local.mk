# SPDX-License-Identifier: GPL-2.0-or-later
# Plugins carry the core in them; nodelete: a thread may outlive dlclose (site.c). Undefined names are Slurm's.
# What is seen from outside is decided by the .map files. Entry points have no prototype in a public header; SPANK takes char * literals.
CLF_PLUGIN_CFLAGS = $(AM_CFLAGS) -fvisibility=default -Wno-missing-prototypes -Wno-write-strings
# lazy: slurmd loads prep_closfold.so too, and lacks slurmctld's functions, which are never called there.
CLF_PLUGIN_LDFLAGS = $(AM_LDFLAGS) -module -avoid-version -shared -Wl,-z,nodelete -Wl,-z,lazy

if SLURM
slurmplugin_LTLIBRARIES += spank_closfold.la
spank_closfold_la_SOURCES = \
	src/slurm/spank_closfold.c src/slurm/spank_closfold.h \
	src/slurm/spank_user.c src/slurm/spank_node.c src/slurm/spank_step.c \
	src/slurm/rank_argv.c src/slurm/rank_argv.h \
	src/slurm/rank_file.c src/slurm/rank_file.h \
	src/slurm/glue_conf.c src/slurm/glue_conf.h
spank_closfold_la_CFLAGS = $(CLF_PLUGIN_CFLAGS)
spank_closfold_la_CPPFLAGS = $(AM_CPPFLAGS) $(SLURM_CPPFLAGS) $(JANSSON_CFLAGS)
spank_closfold_la_LDFLAGS = $(CLF_PLUGIN_LDFLAGS) -Wl,--version-script=$(srcdir)/src/slurm/spank_closfold.map
spank_closfold_la_LIBADD = $(CLF_SPANK_CORE) $(JANSSON_LIBS)
spank_closfold_la_DEPENDENCIES = $(CLF_SPANK_CORE) $(srcdir)/src/slurm/spank_closfold.map
CLF_SPANK_CORE = libclf_policy.la libclf_place.la libclf_topo.la libclf_base.la

pkglibexec_PROGRAMS += closfold-slurm
closfold_slurm_SOURCES = src/slurm/closfold_slurm.c
closfold_slurm_CPPFLAGS = $(AM_CPPFLAGS) $(SLURM_CPPFLAGS) $(JANSSON_CFLAGS)
closfold_slurm_LDADD = $(SLURM_LIBS) $(JANSSON_LIBS)
endif

clf_slurm_glue = \
	src/slurm/glue_conf.c src/slurm/glue_conf.h \
	src/slurm/glue_errno.c src/slurm/glue_errno.h \
	src/slurm/glue_job.c src/slurm/glue_job.h \
	src/slurm/glue_jobdesc.c src/slurm/glue_jobdesc.h \
	src/slurm/glue_log.c src/slurm/glue_log.h \
	src/slurm/glue_mem.c src/slurm/glue_mem.h \
	src/slurm/glue_modify.c src/slurm/glue_modify.h \
	src/slurm/glue_private.h \
	src/slurm/glue_record.c src/slurm/glue_record.h \
	src/slurm/glue_stamp.c src/slurm/glue_stamp.h \
	src/slurm/site.c src/slurm/site.h \
	src/slurm/site_nodes.c src/slurm/site_nodes.h \
	src/slurm/timing.c src/slurm/timing.h

if SLURM_PRIVATE
slurmplugin_LTLIBRARIES += job_submit_closfold.la prep_closfold.la
job_submit_closfold_la_SOURCES = src/slurm/job_submit_closfold.c $(clf_slurm_glue)
job_submit_closfold_la_CFLAGS = $(CLF_PLUGIN_CFLAGS)
job_submit_closfold_la_CPPFLAGS = $(AM_CPPFLAGS) $(SLURM_PRIVATE_CPPFLAGS) $(SLURM_CPPFLAGS) $(JANSSON_CFLAGS)
job_submit_closfold_la_LDFLAGS = $(CLF_PLUGIN_LDFLAGS) -Wl,--version-script=$(srcdir)/src/slurm/job_submit_closfold.map
job_submit_closfold_la_LIBADD = $(CLF_CTLD_CORE) $(JANSSON_LIBS)
job_submit_closfold_la_DEPENDENCIES = $(CLF_CTLD_CORE) $(srcdir)/src/slurm/job_submit_closfold.map
prep_closfold_la_SOURCES = src/slurm/prep_closfold.c src/slurm/prep_io.h src/slurm/prep_queue.c src/slurm/prep_queue.h $(clf_slurm_glue)
prep_closfold_la_CFLAGS = $(CLF_PLUGIN_CFLAGS)
prep_closfold_la_CPPFLAGS = $(job_submit_closfold_la_CPPFLAGS)
prep_closfold_la_LDFLAGS = $(CLF_PLUGIN_LDFLAGS) -Wl,--version-script=$(srcdir)/src/slurm/prep_closfold.map
prep_closfold_la_LIBADD = $(CLF_CTLD_CORE) $(JANSSON_LIBS)
prep_closfold_la_DEPENDENCIES = $(CLF_CTLD_CORE) $(srcdir)/src/slurm/prep_closfold.map
CLF_CTLD_CORE = libclf_engine.la libclf_record.la libclf_wire.la libclf_policy.la libclf_place.la libclf_topo.la libclf_base.la
endif

EXTRA_DIST += \
	src/slurm/spank_closfold.map src/slurm/job_submit_closfold.map src/slurm/prep_closfold.map \
	src/slurm/job_submit_closfold.c src/slurm/prep_closfold.c src/slurm/prep_io.h src/slurm/prep_queue.c src/slurm/prep_queue.h \
	$(clf_slurm_glue)
