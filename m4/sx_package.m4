# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors

# SX_CHECK_PACKAGE(NAME, MODULE, HEADER, LIBRARY, FUNCTION, CONDITION, VERSION, PACKAGE)
#
# Find a library by pkg-config's MODULE, or else by HEADER and -lLIBRARY alone, and stop unless
# the preprocessor's CONDITION holds, which says in HEADER's terms that it has VERSION or later.
# Sets NAME_CFLAGS and NAME_LIBS; for our own .pc files sx_requires_NAME or sx_libs_NAME; for the
# summary sx_version_NAME.
AC_DEFUN([SX_CHECK_PACKAGE], [
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
     AC_MSG_ERROR([$2 >= $7 not found: install $8])])
  CPPFLAGS=$sx_saved_CPPFLAGS
  LIBS=$sx_saved_LIBS
])
