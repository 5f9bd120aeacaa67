#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
#
# Fails unless each public header compiles alone, without warnings, as C99, C11 and C++, each
# _INIT macro in it initialises the whole of its struct, and simidx.h needs none of the others but
# that of the writer, which it includes.
# Usage: headers.sh [TREE]
set -eu
src=${1:-$SX_SRCDIR}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
status=0

try() {
	header=$1
	shift
	if ! "$@" -pedantic -Wall -Wextra -Werror -I"$src/include" -fsyntax-only; then
		echo "$header does not compile with: $*"
		status=1
	fi
}

if grep -n '#include.*simidx' "$src/include/simidx.h" | grep -vE '<simidx_(error|write)\.h>$'; then
	echo 'simidx.h may include simidx_error.h and simidx_write.h, and none of the others'
	status=1
fi

# shellcheck disable=SC2086
for header in $(cd "$src/include" && ls ./*.h); do
	header=${header#./}
	{
		echo "#include <$header>"
		sed -n 's/^#define \(SIMIDX_[A-Z0-9_]*\)_INIT\>.*/\1/p' "$src/include/$header" |
			while read -r name; do
				type=$(echo "$name" | tr '[:upper:]' '[:lower:]')
				echo "extern $type ${type}_value;"
				echo "$type ${type}_value = ${name}_INIT;"
			done
	} >"$tmp/header.c"
	cp "$tmp/header.c" "$tmp/header.cc"
	try $header $SX_CC -std=c99 "$tmp/header.c"
	try $header $SX_CC -std=c11 "$tmp/header.c"
	if command -v "${SX_CXX%% *}" >/dev/null; then
		try $header $SX_CXX -std=c++11 "$tmp/header.cc"
		try $header $SX_CXX -std=c++17 "$tmp/header.cc"
	fi
done

if [ $status -eq 0 ] && ! command -v "${SX_CXX%% *}" >/dev/null; then
	echo 'there is no C++ compiler here'
	status=77
fi
exit $status
