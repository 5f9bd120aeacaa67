#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
#
# Tests the Python package with the module of this build: pytest, the examples of docstrings, and mypy and ruff
# where they are installed.
set -eu
[ -e "$SX_BUILDDIR/python/_simidx.la" ] || { echo 'skipped: built without Python' && exit 77; }
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cp -r "$SX_SRCDIR/python/simidx" "$tmp/"
rm -f "$tmp"/simidx/*.so
cp "$SX_BUILDDIR/python/.libs/_simidx.so" "$tmp/simidx/_simidx.abi3.so"
export PYTHONPATH=$tmp PYTHONDONTWRITEBYTECODE=1
cd "$tmp"
"$SX_PYTHON" -c 'import pytest' || { echo 'skipped: pytest is not installed' && exit 77; }
timeout 600 "$SX_PYTHON" -m pytest -q -rs -p no:cacheprovider "$SX_SRCDIR/python/tests"
"$SX_PYTHON" - <<'END'
import doctest
import sys

import simidx
from simidx import _dedup, _index

failed = sum(doctest.testmod(module).failed for module in (simidx, _index, _dedup))
sys.exit(failed > 0)
END
for program in mypy ruff; do
	"$SX_PYTHON" -c "import $program" 2>/dev/null || { echo "not run: $program is not installed" && continue; }
	case $program in
	mypy) "$SX_PYTHON" -m mypy --config-file "$SX_SRCDIR/python/pyproject.toml" --cache-dir "$tmp/cache" -p simidx ;;
	ruff) "$SX_PYTHON" -m ruff check --no-cache --config "$SX_SRCDIR/python/pyproject.toml" "$SX_SRCDIR/python" ;;
	esac
done
