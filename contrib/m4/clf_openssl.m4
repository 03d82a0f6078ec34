# CLF_OPENSSL: libcrypto 3.0 or newer, required: SHA-256 now, Ed25519 with the signed lease and log.
AC_DEFUN([CLF_OPENSSL], [
PKG_CHECK_MODULES([CRYPTO], [libcrypto >= 3.0], [],
  [AC_MSG_ERROR([OpenSSL libcrypto 3.0 or newer is required (Debian: libssl-dev)])])
])
