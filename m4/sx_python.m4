# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors

# SX_PYTHON: --with-python builds the module of the Python package, python/, for `make check`; pip builds it,
# too. Sets with_python to yes, no or missing, PYTHON and PYTHON_CFLAGS.
#
# check.sh installs these Debian packages:
# packages: python3 python3-dev python3-pytest
AC_DEFUN([SX_PYTHON], [
  AC_ARG_WITH([python],
    [AS_HELP_STRING([--with-python],
       [the module of the Python package, which make check tests, by Python 3.11 or later
        (default: if it is there)])],
    [], [with_python=auto])
  AC_ARG_VAR([PYTHON], [the Python that make check takes])
  sx_include=
  AS_IF([test "x$with_python" != xno && test "x$with_text" != xno && test $cross_compiling = no],
    [AC_MSG_CHECKING([for Python >= 3.11 and its headers])
     for sx_python in ${PYTHON:-/usr/bin/python3 python3}; do
       # Free-threaded builds have no limited API.
       sx_include=`$sx_python -c '
import os, sys, sysconfig
include = sysconfig.get_paths().get("include")
old = sys.version_info < (3, 11) or sysconfig.get_config_var("Py_GIL_DISABLED")
sys.exit(old or not os.path.exists(include + "/Python.h") or print(include))' 2>/dev/null` && break
       sx_include=
     done
     AS_IF([test -n "$sx_include"],
       [PYTHON=$sx_python
        AC_MSG_RESULT([$PYTHON])],
       [AC_MSG_RESULT([no])])])
  AS_IF([test -n "$sx_include"],
    [with_python=yes
     PYTHON_CFLAGS="-I$sx_include"],
    [test "x$with_python" = xauto], [with_python=missing],
    [test "x$with_python" != xno],
    [SX_MISSING([Python >= 3.11 with headers, and ICU], [python3-dev, or configure --without-python])])
  AC_SUBST([PYTHON_CFLAGS])
  AM_CONDITIONAL([WITH_PYTHON], [test "x$with_python" = xyes])
])
