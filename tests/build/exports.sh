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

# The libraries beside libsimidx, each with a folder, a version script and a header of its name.
others=$(cd "$src/lib" && printf '%s\n' */libsimidx-*.map | sed 's|/.*||')

# Whether one of them was built.
built() {
	case " ${SX_TEXT:+text} ${SX_ENGINES-} " in
	*" $1 "*) return ;;
	*) return 1 ;;
	esac
}

# Headers of libsimidx.
ours() {
	(cd "$src/include" && ls) | grep -vxF "$(printf 'simidx_%s.h\n' $others)"
}

# shellcheck disable=SC2046
declared $(ours) >"$tmp/headers"
in_map lib/libsimidx.map >"$tmp/libsimidx.map"
compare headers libsimidx.map
for other in $others; do
	declared "simidx_$other.h" | comm -23 - "$tmp/headers" >"$tmp/simidx_$other.h"
	in_map "lib/$other/libsimidx-$other.map" >"$tmp/libsimidx-$other.map"
	compare "simidx_$other.h" "libsimidx-$other.map"
done

so=$SX_BUILDDIR/lib/.libs/libsimidx.so
if [ ! -e "$so" ]; then
	echo "no shared library was built: $so"
	[ $status -eq 0 ] && status=77
	exit $status
fi
exported "$so" >"$tmp/libsimidx.so"
compare headers libsimidx.so
for other in $others; do
	built "$other" || continue
	exported "$SX_BUILDDIR/lib/$other/.libs/libsimidx-$other.so" >"$tmp/libsimidx-$other.so"
	compare "simidx_$other.h" "libsimidx-$other.so"
done
exit $status
