# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors

# SX_REDIS: --with-redis builds libsimidx-redis and lets the tools use it. Sets HIREDIS_CFLAGS and
# HIREDIS_LIBS. Its tests start a redis-server.
#
# check.sh installs these Debian packages:
# packages: libhiredis-dev redis-server python3
AC_DEFUN([SX_REDIS], [
  SX_ENGINE([redis], [build libsimidx-redis, which needs hiredis (default: no)], [
     PKG_CHECK_MODULES([HIREDIS], [hiredis >= 0.14], [],
       [SX_MISSING([hiredis >= 0.14], [libhiredis-dev, or configure --without-redis])])])
])
