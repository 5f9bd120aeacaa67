# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors

# SX_PYTHON: --with-python builds the module of the Python package, python/, and tests it. Sets
# PYTHON and PYTHON_CFLAGS.
#
# check.sh installs these Debian packages:
# packages: python3 python3-dev python3-pytest
AC_DEFUN([SX_PYTHON], [
  AC_ARG_WITH([python],
    [AS_HELP_STRING([--with-python],
       [build the module of the Python package, for Python 3.11 and later (default: no)])],
    [], [with_python=no])
  AS_IF([test "x$with_python" != xno],
    [AS_IF([test "x$with_text" = xno],
       [SX_MISSING([libsimidx-text], [ICU, or configure --without-python])])
     AC_PATH_PROG([PYTHON], [python3], [python3], [/usr/bin:$PATH])
     # Its own headers, and not those of another one that pkg-config may know.
     sx_include=`$PYTHON -c 'import sysconfig; print(sysconfig.get_paths()[["include"]])'`
     AS_IF([test -e "$sx_include/Python.h"],
       [PYTHON_CFLAGS="-I$sx_include"],
       [SX_MISSING([the headers of Python 3.11], [python3-dev, or configure --without-python])])])
  AC_SUBST([PYTHON_CFLAGS])
  AM_CONDITIONAL([WITH_PYTHON], [test "x$with_python" != xno])
])
