# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors

# All that is missing is told at once, so that one visit to the package manager is enough.

# SX_MISSING(LIBRARY, REMEDY): note what is missing. REMEDY begins with a Debian package.
AC_DEFUN([SX_MISSING], [AS_VAR_APPEND([sx_missing], ["
  $1: install $2"])])

# SX_STOP_IF_MISSING: after all SX_NEED, SX_PART and SX_IF_THERE.
AC_DEFUN([SX_STOP_IF_MISSING], [
  AS_IF([test -n "$sx_missing"],
    [AS_IF([test -z "$PKG_CONFIG"], [SX_MISSING([pkg-config, which finds most others], [pkg-config])])
     AC_MSG_ERROR([not found (with the names of Debian packages):$sx_missing])])
])

# SX_NEED(NAME, MODULE, HEADER, LIBRARY, FUNCTION, CONDITION, VERSION, PACKAGE)
#
# Find a library by pkg-config's MODULE, or else by HEADER and -lLIBRARY alone. It is missing
# unless the preprocessor's CONDITION holds, which says in HEADER's terms that it has VERSION or
# later. Sets NAME_CFLAGS and NAME_LIBS; for our own .pc files sx_requires_NAME or sx_libs_NAME;
# for the summary sx_version_NAME.
AC_DEFUN([SX_NEED], [
  PKG_CHECK_MODULES([$1], [$2],
    [AC_SUBST([sx_requires_$1], [$2])
     sx_version_$1=`$PKG_CONFIG --modversion $2`],
    [$1_LIBS="-l$4"
     AC_SUBST([sx_libs_$1], ["-l$4"])
     sx_version_$1="found without pkg-config"])
  sx_saved_CPPFLAGS=$CPPFLAGS
  sx_saved_LIBS=$LIBS
  CPPFLAGS="$CPPFLAGS $$1_CFLAGS"
  LIBS="$$1_LIBS $LIBS"
  AC_MSG_CHECKING([for $2 >= $7])
  AC_LINK_IFELSE(
    [AC_LANG_PROGRAM([[#include <$3>
#if !($6)
#error too old
#endif
]], [[(void)$5;]])],
    [AC_MSG_RESULT([yes])],
    [AC_MSG_RESULT([no])
     SX_MISSING([$2 >= $7], [$8])])
  CPPFLAGS=$sx_saved_CPPFLAGS
  LIBS=$sx_saved_LIBS
])

# SX_PARTS_HELP(TEXT): put TEXT before the parts in `configure --help`.
AC_DEFUN([SX_PARTS_HELP], [m4_divert_text([HELP_WITH], [[$1]])])

# SX_PART(PART, NAME, MODULE, PACKAGE, HELP)
#
# A part that is built with pkg-config's MODULE unless --without-PART. Sets with_PART to yes or no,
# NAME_CFLAGS, NAME_LIBS and the condition HAVE_PART (in capitals).
AC_DEFUN([SX_PART], [
  AC_ARG_WITH([$1], [AS_HELP_STRING([--without-$1], [$5])], [], [with_$1=yes])
  AS_IF([test "x$with_$1" != xno],
    [with_$1=yes
     PKG_CHECK_MODULES([$2], [$3], [],
       [SX_MISSING([$3], [$4, or configure --without-$1])])])
  AM_CONDITIONAL([HAVE_]m4_toupper([$1]), [test "x$with_$1" != xno])
])

# SX_IF_THERE(VARIABLE, NAME, MODULE, REMEDY)
#
# VARIABLE is yes, no or auto. Looks for pkg-config's MODULE unless it is no; makes it yes if that
# is found, and `missing` if not and it was auto.
AC_DEFUN([SX_IF_THERE], [
  AS_IF([test "x$$1" != xno],
    [PKG_CHECK_MODULES([$2], [$3],
       [$1=yes],
       [AS_IF([test "x$$1" = xauto], [$1=missing], [SX_MISSING([$3], [$4])])])])
])

# SX_ENGINE(NAME, HELP, CHECKS)
#
# A library in lib/NAME with an engine, that is built only --with-NAME, after CHECKS. Sets with_NAME to
# yes or no and the condition and the macro HAVE_NAME (in capitals).
AC_DEFUN([SX_ENGINE], [
  AC_REQUIRE([SX_NO_ENGINE])
  AC_ARG_WITH([$1], [AS_HELP_STRING([--with-$1], [$2])], [], [with_$1=no])
  AS_IF([test "x$with_$1" != xno],
    [with_$1=yes
     $3
     AS_VAR_APPEND([SX_ENGINES], [" $1"])
     AS_VAR_APPEND([sx_engine_list], [" ENGINE($1)"])
     AC_DEFINE([HAVE_]m4_toupper([$1]), [1], [Whether libsimidx-$1 is built.])])
  AM_CONDITIONAL([HAVE_]m4_toupper([$1]), [test "x$with_$1" != xno])
  AC_CONFIG_FILES([lib/$1/libsimidx-$1.pc])
])

AC_DEFUN([SX_NO_ENGINE], [
  SX_ENGINES=
  sx_engine_list=
])

# SX_LIST_ENGINES: after all SX_ENGINE. Scripts read the variable SX_ENGINES, programs the macro.
AC_DEFUN([SX_LIST_ENGINES], [
  AC_SUBST([SX_ENGINES])
  AC_DEFINE_UNQUOTED([SX_ENGINES(ENGINE)], [$sx_engine_list],
    [ENGINE(name) for each engine that is built: simidx_name_add() registers it.])
])
