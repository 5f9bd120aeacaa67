#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
#
# Compiles and runs every complete program of README.md: each ```c block with a main().
set -eu
readme=$SX_SRCDIR/README.md
if [ ! -e "$readme" ]; then
	echo 'skipped: no README.md'
	exit 77
fi
if grep -n '@[A-Z_]*@' "$readme"; then
	echo 'README.md has a place that was not filled in'
	exit 1
fi
# What it links to is there, also in a tarball.
for link in $(grep -o '](\([^)#:]*\))' "$readme" | tr -d ']()'); do
	[ -e "$SX_SRCDIR/$link" ] || {
		echo "README.md links to $link, which is not there"
		exit 1
	}
done
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

awk -v dir="$tmp" '
/^```c$/ { inside = 1; code = ""; next }
/^```/ && inside {
	inside = 0
	if (code ~ /(^|\n)int main\(/)
		printf "%s", code > (dir "/example" ++n ".c")
	next
}
inside { code = code $0 "\n" }
' "$readme"

set -- "$tmp"/example*.c
if [ ! -e "$1" ]; then
	echo 'README.md has no complete program'
	exit 1
fi
for source; do
	program=${source%.c}
	libraries=$SX_BUILDDIR/lib/libsimidx.la
	if grep -q 'simidx_text\.h' "$source"; then
		if [ -z "${SX_TEXT-}" ]; then
			echo "skipped: $source needs libsimidx-text"
			exit 77
		fi
		libraries="$SX_BUILDDIR/lib/text/libsimidx-text.la $libraries"
	fi
	# shellcheck disable=SC2086
	$SX_CC $SX_CFLAGS -Wall -Wextra -Werror -I"$SX_SRCDIR/include" -c -o "$program.o" "$source"
	# shellcheck disable=SC2086
	"$SX_BUILDDIR/libtool" --quiet --tag=CC --mode=link \
		$SX_CC $SX_CFLAGS -o "$program" "$program.o" $libraries
	mkdir "$program.dir"
	(cd "$program.dir" && "$program") || {
		echo "a program of README.md: exit $?"
		exit 1
	}
done
