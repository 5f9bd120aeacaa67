#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
#
# Fails unless the functions that the public headers declare, those that the version scripts
# export and those that the shared libraries show are the same.
# Usage: exports.sh [TREE]
set -eu
src=${1:-$SX_SRCDIR}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
status=0

# A name directly before a parenthesis is a function, once comments and macros are gone. Before "(*" stands
# what a pointer to a function returns.
declared() {
	for header; do
		$SX_CC -E -P -I"$src/include" "$src/include/$header"
	done | grep -Eo 'simidx_[a-z0-9_]*[[:space:]]*\(([^*]|$)' |
		sed 's/[[:space:]]*(.*//' | sort -u
}

in_map() {
	sed -n 's/^[[:space:]]*\([a-z_][a-z0-9_]*\);$/\1/p' "$src/$1" | sort
}

exported() {
	$SX_NM -D --defined-only "$1" | awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' | sort
}

compare() {
	if ! diff -u "$tmp/$1" "$tmp/$2"; then
		echo "$1 and $2 differ"
		status=1
	fi
}

# Those of libsimidx: all but simidx_text.h and simidx_hbase.h.
# shellcheck disable=SC2046
declared $(cd "$src/include" && echo simidx.h simidx_[!th]*.h) >"$tmp/headers"
in_map lib/libsimidx.map >"$tmp/libsimidx.map"
compare headers libsimidx.map

declared simidx_text.h | comm -23 - "$tmp/headers" >"$tmp/simidx_text.h"
in_map lib/text/libsimidx-text.map >"$tmp/libsimidx-text.map"
compare simidx_text.h libsimidx-text.map

declared simidx_hbase.h | comm -23 - "$tmp/headers" >"$tmp/simidx_hbase.h"
in_map lib/hbase/libsimidx-hbase.map >"$tmp/libsimidx-hbase.map"
compare simidx_hbase.h libsimidx-hbase.map

so=$SX_BUILDDIR/lib/.libs/libsimidx.so
if [ ! -e "$so" ]; then
	echo "no shared library was built: $so"
	[ $status -eq 0 ] && status=77
	exit $status
fi
exported "$so" >"$tmp/libsimidx.so"
compare headers libsimidx.so
if [ -n "${SX_TEXT-}" ]; then
	exported "$SX_BUILDDIR/lib/text/.libs/libsimidx-text.so" >"$tmp/libsimidx-text.so"
	compare simidx_text.h libsimidx-text.so
fi
if [ -n "${SX_HBASE-}" ]; then
	exported "$SX_BUILDDIR/lib/hbase/.libs/libsimidx-hbase.so" >"$tmp/libsimidx-hbase.so"
	compare simidx_hbase.h libsimidx-hbase.so
fi
exit $status
