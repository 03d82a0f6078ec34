# CLF_JANSSON: jansson 2.14 or newer, required. Older ones do not version their symbols, and Slurm may load json-c,
# which has functions of the same names, into the same process.
AC_DEFUN([CLF_JANSSON], [
PKG_CHECK_MODULES([JANSSON], [jansson >= 2.14], [],
  [AC_MSG_ERROR([jansson 2.14 or newer is required (Debian: libjansson-dev)])])
])
