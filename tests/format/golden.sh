#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
#
# The library reads the committed golden indexes, and what it makes anew is decoded, too.
set -eu
here=$SX_BUILDDIR/tests/format
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

[ "$(getconf PAGESIZE)" = 4096 ] || { echo 'skipped: pages have not 4096 bytes here'; exit 77; }
"$here/make_golden" --check "$SX_SRCDIR/tests/format/golden"
"$here/make_golden" "$tmp"
"$here/decode" "$tmp"
