# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors

# SX_WARNINGS: the warnings that this compiler knows go into SX_CFLAGS; with --enable-werror
# they are errors. Each is probed with -Werror, because clang only warns about unknown ones.
AC_DEFUN([SX_WARNINGS], [
  sx_saved_CFLAGS=$CFLAGS
  m4_foreach_w([sx_flag], [
    -Wall
    -Wextra
    -Wshadow
    -Wstrict-prototypes
    -Wmissing-prototypes
    -Wold-style-definition
    -Wpointer-arith
    -Wwrite-strings
    -Wformat=2
    -Wvla
  ], [
    AC_MSG_CHECKING([whether $CC knows sx_flag])
    CFLAGS="$sx_saved_CFLAGS -Werror sx_flag"
    AC_COMPILE_IFELSE([AC_LANG_PROGRAM()],
      [AC_MSG_RESULT([yes])
       SX_CFLAGS="$SX_CFLAGS sx_flag"],
      [AC_MSG_RESULT([no])])
  ])
  CFLAGS=$sx_saved_CFLAGS
  AS_IF([test "x$enable_werror" != xno], [SX_CFLAGS="$SX_CFLAGS -Werror"])
])
