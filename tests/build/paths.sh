#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
#
# Fails when a file of the repository names a place that exists on one machine only.
# Usage: paths.sh [TREE]
set -eu
cd "${1:-$SX_SRCDIR}"

if [ ! -e .git ] || ! git ls-files >/dev/null 2>&1; then
	echo 'skipped: not a git checkout'
	exit 77
fi

# The brackets keep the pattern from finding itself.
pattern='(^|[^A-Za-z0-9_.$}-])/(wor[k]|hom[e]|roo[t]|User[s])/'
if git ls-files -z --cached --others --exclude-standard | xargs -0 grep -nIE "$pattern" --; then
	echo 'absolute paths of one machine'
	exit 1
fi
