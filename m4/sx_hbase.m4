# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors

# SX_HBASE: --with-hbase builds libsimidx-hbase and lets the tools use it. It is the only part that
# needs C++ where it runs, so it is left out unless it is asked for. Sets THRIFT (the compiler),
# THRIFT_CFLAGS, THRIFT_LIBS, OPENSSL_CFLAGS and OPENSSL_LIBS.
#
# check.sh installs these Debian packages:
# packages: g++ libthrift-dev thrift-compiler libboost-dev libssl-dev
AC_DEFUN([SX_HBASE], [
  SX_ENGINE([hbase], [build libsimidx-hbase, which needs Thrift, boost and OpenSSL (default: no)], [
     PKG_CHECK_MODULES([THRIFT], [thrift >= 0.16], [],
       [SX_MISSING([thrift >= 0.16], [libthrift-dev, or configure --without-hbase])])
     PKG_CHECK_MODULES([OPENSSL], [openssl >= 1.1.1], [],
       [SX_MISSING([openssl >= 1.1.1], [libssl-dev, or configure --without-hbase])])
     AC_PATH_PROG([THRIFT], [thrift])
     AS_IF([test -z "$THRIFT"],
       [SX_MISSING([the compiler thrift], [thrift-compiler, or configure --without-hbase])])
     AC_LANG_PUSH([C++])
     AC_CHECK_HEADER([boost/numeric/conversion/cast.hpp], [],
       [SX_MISSING([the headers of boost], [libboost-dev, or configure --without-hbase])])
     sx_saved_CXXFLAGS=$CXXFLAGS
     CXXFLAGS="$CXXFLAGS -std=c++17"
     AC_MSG_CHECKING([whether $CXX compiles C++17])
     AC_COMPILE_IFELSE(
       [AC_LANG_PROGRAM([[#include <string_view>]], [[std::string_view s("x"); (void)s;]])],
       [AC_MSG_RESULT([yes])],
       [AC_MSG_RESULT([no])
        SX_MISSING([a compiler of C++17], [g++, or configure --without-hbase])])
     CXXFLAGS=$sx_saved_CXXFLAGS
     AC_LANG_POP([C++])])
])
