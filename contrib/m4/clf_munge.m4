# CLF_MUNGE: libmunge, required: peers on other hosts are authenticated by it.
AC_DEFUN([CLF_MUNGE], [
PKG_CHECK_MODULES([MUNGE], [munge], [],
  [AC_MSG_ERROR([libmunge is required (Debian: libmunge-dev)])])
])
