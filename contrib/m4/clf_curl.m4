# CLF_CURL: libcurl, required: devices with a REST interface are driven through it, in one file.
AC_DEFUN([CLF_CURL], [
PKG_CHECK_MODULES([CURL], [libcurl], [],
  [AC_MSG_ERROR([libcurl is required (Debian: libcurl4-openssl-dev)])])
])
