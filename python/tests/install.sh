#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
#
# In make check-long: what pip installs from the source tree, and from an sdist, works in an environment that has
# nothing else. pip gets setuptools from where it gets packages.
set -eu
[ -n "${SIMIDX_LONG-}" ] || { echo 'skipped: part of make check-long' && exit 77; }
[ -n "${SX_PYTHON-}" ] || { echo 'skipped: built without Python' && exit 77; }
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cd "$tmp"
"$SX_PYTHON" -m venv tools || { echo 'skipped: no module venv: python3-venv' && exit 77; }
tools/bin/pip -q install build || { echo 'skipped: pip gets no packages here' && exit 77; }

# A tree as it is in git, or in a tarball: nothing that was built in it.
mkdir tree
if git -C "$SX_SRCDIR" ls-files >files 2>/dev/null; then
	tar -C "$SX_SRCDIR" -cf - -T files | tar -C tree -xf -
else
	(cd "$SX_SRCDIR" && find . -path './build*' -prune -o -type f -print) | tar -C "$SX_SRCDIR" -cf - -T - |
		tar -C tree -xf -
fi

try() { # ENVIRONMENT WHAT
	"$SX_PYTHON" -m venv "$1"
	"$1/bin/pip" -q install "$2"
	"$1/bin/python" - <<'EOF'
import tempfile
import simidx
with tempfile.TemporaryDirectory() as where, simidx.Index(where + "/i", create=True, texts=True) as index:
    index.add(["The old bridge is closed for two years of repair."], labels=["/1"])
    (match,) = index.search("The old bridge is closed for two years of repairs.")
    assert index.get(id=match.id).label == "/1"
print(simidx.__version__, simidx.__file__)
EOF
	"$1/bin/pip" -q check
	"$1/bin/pip" -q uninstall -y simidx
	! "$1/bin/python" -c 'import simidx' 2>/dev/null
}

tools/bin/python -m build -q --sdist -o dist tree
[ -z "$(find tree/build-python -name config.status)" ] || { echo 'the module was built for an sdist' && exit 1; }
mkdir unpacked
tar -C unpacked --strip-components 1 -xf dist/simidx-*.tar.gz
[ -x unpacked/configure ]
# All that git has is in it.
if [ -s files ]; then
	(cd unpacked && find . -type f | sed 's|^\./||') | sort >in_sdist
	grep -v '^\.git' files | sort | comm -23 - in_sdist >forgotten
	[ ! -s forgotten ] || { echo 'not in the sdist:' && cat forgotten && exit 1; }
fi
try of_sdist dist/simidx-*.tar.gz
try of_tree ./tree
