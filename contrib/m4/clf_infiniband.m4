# CLF_INFINIBAND: libibumad, libibmad, libibnetdisc, optional: reading P_Key tables and live discovery.
AC_DEFUN([CLF_INFINIBAND], [
AC_ARG_WITH([infiniband], [AS_HELP_STRING([--without-infiniband], [do not use libibumad, libibmad, libibnetdisc])], [],
  [with_infiniband=auto])
clf_have_ib=no
AS_IF([test "x$with_infiniband" != xno], [
  PKG_CHECK_MODULES([IB], [libibumad libibmad libibnetdisc], [clf_have_ib=yes],
    [AS_IF([test "x$with_infiniband" = xyes],
      [AC_MSG_ERROR([--with-infiniband asked for, but libibumad, libibmad or libibnetdisc is missing (Debian: libibumad-dev libibmad-dev libibnetdisc-dev)])])])
])
AS_IF([test "x$clf_have_ib" = xyes], [AC_DEFINE([HAVE_INFINIBAND], [1], [libibumad, libibmad and libibnetdisc are there])])
AM_CONDITIONAL([INFINIBAND], [test "x$clf_have_ib" = xyes])
])
