# CLF_SLURM: Slurm's public headers and libslurm. --with-slurm=DIR is an install prefix; default: the system's.
# --without-slurm builds the core, closfoldd and the command only.
AC_DEFUN([CLF_SLURM], [
AC_ARG_WITH([slurm], [AS_HELP_STRING([--with-slurm=DIR], [Slurm's install prefix (default: where the compiler finds it)])], [],
  [with_slurm=yes])
clf_have_slurm=no
SLURM_CPPFLAGS=
SLURM_LIBS=
clf_slurm_version=none
AS_IF([test "x$with_slurm" != xno], [
  AS_IF([test "x$with_slurm" != xyes], [
    SLURM_CPPFLAGS="-I$with_slurm/include"
    SLURM_LIBS="-L$with_slurm/lib"
  ])
  clf_save_cppflags=$CPPFLAGS
  CPPFLAGS="$CPPFLAGS $SLURM_CPPFLAGS"
  AC_CHECK_HEADER([slurm/slurm.h], [clf_have_slurm=yes],
    [AC_MSG_ERROR([slurm/slurm.h not found: give --with-slurm=DIR, install libslurm-dev, or build --without-slurm])])
  AC_COMPUTE_INT([clf_slurm_number], [SLURM_VERSION_NUMBER], [[#include <slurm/slurm_version.h>]],
    [AC_MSG_ERROR([cannot read SLURM_VERSION_NUMBER from slurm/slurm_version.h])])
  clf_slurm_version=$((clf_slurm_number >> 16)).$((clf_slurm_number >> 8 & 255)).$((clf_slurm_number & 255))
  CPPFLAGS=$clf_save_cppflags
  SLURM_LIBS="$SLURM_LIBS -lslurm"
])
AC_DEFINE_UNQUOTED([CLF_SLURM_VERSION], ["$clf_slurm_version"], [Slurm the plugins are built for, or "none"])
AC_SUBST([SLURM_CPPFLAGS])
AC_SUBST([SLURM_LIBS])
AM_CONDITIONAL([SLURM], [test "x$clf_have_slurm" = xyes])
slurmplugindir='$(libdir)/slurm'
AC_ARG_WITH([slurm-plugindir], [AS_HELP_STRING([--with-slurm-plugindir=DIR], [where Slurm looks for plugins (default: LIBDIR/slurm)])],
  [slurmplugindir=$withval])
AC_SUBST([slurmplugindir])
])
