#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
#
# Reports the longest files and functions, and fails when one is too long.
# Usage: sizes.sh [TREE]
set -eu
cd "${1:-${SX_SRCDIR:-.}}"
max_file=600
max_function=80

files=$(find lib tools tests bench python -name '*.c' -o -name '*.cc' 2>/dev/null | sort)
[ -n "$files" ]
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

# A function's body lies between braces in the first column; the line before the first one, or
# the last line there that begins a declaration, has its name.
# shellcheck disable=SC2086
awk '
FNR == 1 { open = 0; head = "" }
/^[A-Za-z_].*\(/ { head = $0 }
/^\{/ { open = FNR }
/^\}/ && open && head != "" {
	name = head
	sub(/^START_TEST\(/, "", name)
	sub(/[()].*/, "", name)
	sub(/.*[ *]/, "", name)
	print FNR - open - 1, FILENAME ":" name
	open = 0
	head = ""
}' $files | sort -rn >"$tmp/functions"
# shellcheck disable=SC2086
wc -l $files | awk '$2 != "total"' | sort -rn >"$tmp/files"

echo "longest of $(wc -l <"$tmp/files") files:"
head -n 5 "$tmp/files"
echo "longest of $(wc -l <"$tmp/functions") functions:"
head -n 5 "$tmp/functions"

too_long=$({
	awk -v max=$max_file '$1 > max { print "file of " $1 " lines: " $2 }' "$tmp/files"
	awk -v max=$max_function '$1 > max { print "function of " $1 " lines: " $2 }' "$tmp/functions"
})
[ -z "$too_long" ] || {
	echo "$too_long"
	exit 1
}
