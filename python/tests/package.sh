#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
#
# The Python package with the module of this build: pytest, the examples of docstrings, and mypy and ruff where
# they are installed. SIMIDX_LONG=1 makes 10^6 random calls.
set -eu
[ -n "${SX_PYTHON-}" ] || {
	echo 'skipped: built without Python, 3.11 or later with headers: python3-dev'
	exit 77
}
"$SX_PYTHON" -c 'import pytest' 2>/dev/null || {
	echo "skipped: $SX_PYTHON has no pytest: python3-pytest"
	exit 77
}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

# A package of its own, before any that is installed.
mkdir "$tmp/simidx"
cp "$SX_SRCDIR"/python/simidx/*.py "$SX_SRCDIR"/python/simidx/*.pyi "$SX_SRCDIR/python/simidx/py.typed" "$tmp/simidx"
cp "$SX_BUILDDIR/python/.libs/_simidx.so" "$tmp/simidx/_simidx.abi3.so"
export PYTHONPATH=$tmp PYTHONDONTWRITEBYTECODE=1 PYTHONSAFEPATH=1
cd "$tmp"
# The sanitizer of a module has to be there before Python, which leaks on purpose, and finds the exceptions of
# other modules only if what throws them is there, too.
if ${SX_NM:-nm} -D "$tmp/simidx/_simidx.abi3.so" | grep -q __asan_init; then
	LD_PRELOAD="$(${SX_CC:-cc} -print-file-name=libasan.so) $(${SX_CC:-cc} -print-file-name=libstdc++.so.6)"
	export LD_PRELOAD ASAN_OPTIONS=detect_leaks=0:${ASAN_OPTIONS-}
fi
"$SX_PYTHON" -c 'import simidx, sys; sys.exit(simidx.__file__ != sys.argv[1])' "$tmp/simidx/__init__.py" || {
	echo 'another simidx is tested than that of this build'
	exit 1
}
"$SX_PYTHON" -m pytest -q -rs -p no:cacheprovider --basetemp "$tmp/pytest" "$SX_SRCDIR/python/tests"
for module in simidx simidx._dedup simidx._evidence simidx._index; do
	"$SX_PYTHON" -c 'import doctest, importlib, importlib.util, sys
module = importlib.import_module(sys.argv[1])
if hasattr(module, "dedup") and not importlib.util.find_spec("pyarrow"):
    module.dedup.__doc__ = None
failed, tried = doctest.testmod(module)
print(sys.argv[1], tried, "examples")
sys.exit(failed > 0 or not tried)' $module
done

run_if_there() { # PROGRAM ARGUMENT...
	"$SX_PYTHON" -c "import $1" 2>/dev/null || { echo "not run: $1 is not installed" && return; }
	"$SX_PYTHON" -m "$@"
}
run_if_there mypy --config-file "$SX_SRCDIR/pyproject.toml" --cache-dir "$tmp/cache" -p simidx
cd "$SX_SRCDIR" # from where it runs, ruff tells which modules are ours
run_if_there ruff check --no-cache python setup.py
run_if_there ruff format --no-cache --check python setup.py
