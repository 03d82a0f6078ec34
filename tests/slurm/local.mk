# SPDX-License-Identifier: GPL-2.0-or-later
# Real slurmctld and slurmds on loopback, one test after the other; needs root.
EXTRA_DIST += tests/slurm/cluster.sh tests/slurm/lib.sh tests/slurm/policy.json tests/slurm/forge.c $(clf_slurm_tests)
clf_slurm_tests = \
	tests/slurm/t0101-options.t \
	tests/slurm/t0102-terms.t \
	tests/slurm/t0103-bypass-submit.t \
	tests/slurm/t0104-bypass-modify.t \
	tests/slurm/t0105-no-job-submit.t \
	tests/slurm/t0106-reload.t \
	tests/slurm/t0107-daemon-away.t \
	tests/slurm/t0108-start-end.t \
	tests/slurm/t0109-ranks.t \
	tests/slurm/t0110-query.t

if SLURM
noinst_PROGRAMS += tests/slurm/forge
tests_slurm_forge_SOURCES = tests/slurm/forge.c
tests_slurm_forge_CPPFLAGS = $(SLURM_CPPFLAGS)
tests_slurm_forge_CFLAGS = $(CLF_PLUGIN_CFLAGS)
tests_slurm_forge_LDADD = $(SLURM_LIBS)
endif

