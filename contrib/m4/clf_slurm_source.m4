# CLF_SLURM_SOURCE: Slurm's private headers. --with-slurm-source=DIR is a Slurm source tree in which (or beside which, see
# --with-slurm-build) ./configure has run; it must be the very version of the installed headers: private structures change with it.
AC_DEFUN([CLF_SLURM_SOURCE], [
AC_ARG_WITH([slurm-source], [AS_HELP_STRING([--with-slurm-source=DIR], [Slurm source tree, configured, for job_submit, prep and the shims])], [],
  [with_slurm_source=no])
AC_ARG_WITH([slurm-build], [AS_HELP_STRING([--with-slurm-build=DIR], [where that source was configured (default: the source tree itself)])], [],
  [with_slurm_build=$with_slurm_source])
clf_have_slurm_source=no
SLURM_PRIVATE_CPPFLAGS=
AS_IF([test "x$with_slurm_source" != xno], [
  AS_IF([test "x$clf_have_slurm" != xyes], [AC_MSG_ERROR([--with-slurm-source needs Slurm (--with-slurm)])])
  AS_IF([test ! -f "$with_slurm_source/src/slurmctld/slurmctld.h"],
    [AC_MSG_ERROR([$with_slurm_source holds no src/slurmctld/slurmctld.h: is it a Slurm source tree? contrib/get-slurm-source fetches one])])
  AS_IF([test ! -f "$with_slurm_build/config.h" || test ! -f "$with_slurm_build/slurm/slurm_version.h"],
    [AC_MSG_ERROR([$with_slurm_build is not configured: run Slurm's ./configure there (contrib/get-slurm-source does it)])])
  clf_save_cppflags=$CPPFLAGS
  CPPFLAGS="-I$with_slurm_build"
  AC_COMPUTE_INT([clf_slurm_source_number], [SLURM_VERSION_NUMBER], [[#include "slurm/slurm_version.h"]], [clf_slurm_source_number=0])
  CPPFLAGS=$clf_save_cppflags
  AS_IF([test "$clf_slurm_source_number" != "$clf_slurm_number"],
    [AC_MSG_ERROR([the Slurm source has another version than the installed Slurm ($clf_slurm_version): plugins built from it would be refused by slurmctld])])
  SLURM_PRIVATE_CPPFLAGS="-isystem $with_slurm_build -isystem $with_slurm_source"
  clf_have_slurm_source=yes
])
AC_SUBST([SLURM_PRIVATE_CPPFLAGS])
AM_CONDITIONAL([SLURM_PRIVATE], [test "x$clf_have_slurm_source" = xyes])
])
