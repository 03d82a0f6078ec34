# CLF_WARNINGS: the warnings of the tree in CLF_CFLAGS; --enable-werror for CI.
AC_DEFUN([CLF_WARNINGS], [
AC_ARG_ENABLE([werror], [AS_HELP_STRING([--enable-werror], [warnings are errors (CI)])])
CLF_CFLAGS="-std=gnu11 -Wall -Wextra -Wno-unused-parameter -Wno-missing-field-initializers -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wwrite-strings -Wvla -Wformat=2 -Wno-format-nonliteral -fstack-protector-strong -fvisibility=hidden"
AS_IF([test "x$enable_werror" = xyes], [CLF_CFLAGS="$CLF_CFLAGS -Werror"])
CLF_LDFLAGS="-Wl,-z,relro,-z,now -Wl,--as-needed"
AC_SUBST([CLF_CFLAGS])
AC_SUBST([CLF_LDFLAGS])
])
