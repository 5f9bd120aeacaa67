# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors

# SX_REDIS: --with-redis builds libsimidx-redis and lets the tools use it. Sets HIREDIS_CFLAGS and
# HIREDIS_LIBS. TLS comes with hiredis 1.0, which Debian 13 and Ubuntu 24.04 have; elsewhere rediss://
# is refused. Its tests start a redis-server.
#
# check.sh installs these Debian packages:
# packages: libhiredis-dev libssl-dev redis-server python3
AC_DEFUN([SX_REDIS], [
  SX_ENGINE([redis], [build libsimidx-redis, which needs hiredis (default: no)], [
     PKG_CHECK_MODULES([HIREDIS], [hiredis >= 0.14], [],
       [SX_MISSING([hiredis >= 0.14], [libhiredis-dev, or configure --without-redis])])
     PKG_CHECK_MODULES([HIREDIS_SSL], [hiredis_ssl >= 1.0 openssl],
       [AC_DEFINE([HAVE_HIREDIS_SSL], [1], [hiredis has TLS])
        HIREDIS_CFLAGS="$HIREDIS_CFLAGS $HIREDIS_SSL_CFLAGS"
        HIREDIS_LIBS="$HIREDIS_SSL_LIBS $HIREDIS_LIBS"],
       [AC_MSG_NOTICE([hiredis has no TLS here: rediss:// will be refused])])])
])
