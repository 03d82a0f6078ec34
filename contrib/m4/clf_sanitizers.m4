# CLF_SANITIZERS: --enable-sanitizers=address|undefined|address,undefined for the unit and CLI tests.
AC_DEFUN([CLF_SANITIZERS], [
AC_ARG_ENABLE([sanitizers], [AS_HELP_STRING([--enable-sanitizers=LIST], [build with -fsanitize=LIST (address, undefined)])],
  [], [enable_sanitizers=no])
AS_IF([test "x$enable_sanitizers" = xyes], [enable_sanitizers=address,undefined])
AS_IF([test "x$enable_sanitizers" != xno],
  [CLF_CFLAGS="$CLF_CFLAGS -fsanitize=$enable_sanitizers -fno-sanitize-recover=all -fno-omit-frame-pointer"
   CLF_LDFLAGS="$CLF_LDFLAGS -fsanitize=$enable_sanitizers"],
  [CLF_CFLAGS="$CLF_CFLAGS -D_FORTIFY_SOURCE=2"])
AM_CONDITIONAL([SANITIZERS], [test "x$enable_sanitizers" != xno])
])
