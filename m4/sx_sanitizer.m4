# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors

# SX_SANITIZER: --with-sanitizer=LIST puts -fsanitize=LIST into SX_CFLAGS and SX_LDFLAGS, or
# stops when the compiler cannot link with it.
AC_DEFUN([SX_SANITIZER], [
  AC_ARG_WITH([sanitizer],
    [AS_HELP_STRING([--with-sanitizer=LIST],
       [build with -fsanitize=LIST, such as address,undefined])],
    [], [with_sanitizer=no])
  AS_CASE([$with_sanitizer],
    [no], [],
    [yes], [AC_MSG_ERROR([--with-sanitizer needs a list, such as address,undefined])],
    [sx_sanitizer="-fsanitize=$with_sanitizer"
     sx_saved_CFLAGS=$CFLAGS
     CFLAGS="$CFLAGS $sx_sanitizer"
     AC_MSG_CHECKING([whether $CC links with $sx_sanitizer])
     AC_LINK_IFELSE([AC_LANG_PROGRAM()],
       [AC_MSG_RESULT([yes])],
       [AC_MSG_RESULT([no])
        AC_MSG_ERROR([$CC does not support $sx_sanitizer])])
     CFLAGS=$sx_saved_CFLAGS
     SX_CFLAGS="$SX_CFLAGS $sx_sanitizer -fno-omit-frame-pointer -fno-sanitize-recover=all"
     SX_LDFLAGS="$SX_LDFLAGS $sx_sanitizer"])
])
