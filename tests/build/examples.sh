#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
#
# Compiles examples/text_search.c and runs it beside simidx-query: both find the same.
set -eu
[ -n "${SX_TEXT-}" ] || {
	echo 'skipped: built without text support'
	exit 77
}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cd "$tmp"

# shellcheck disable=SC2086
$SX_CC $SX_CFLAGS -Wall -Wextra -Werror -I"$SX_SRCDIR/include" -c -o text_search.o \
	"$SX_SRCDIR/examples/text_search.c"
# shellcheck disable=SC2086
"$SX_BUILDDIR/libtool" --quiet --tag=CC --mode=link $SX_CC $SX_CFLAGS -o text_search \
	text_search.o "$SX_BUILDDIR/lib/text/libsimidx-text.la" "$SX_BUILDDIR/lib/libsimidx.la"

# Two texts of 300 words, each with a copy in which the first words are others.
for i in 1 2; do
	awk -v seed=$i 'BEGIN { srand(seed); while (n++ < 300) print "w" int(rand() * 5000) }' >$i.txt
	{ echo another beginning; tail -n +4 $i.txt; } >$i-copy.txt
done
"$SX_BUILDDIR/tools/simidx-load" -q index 1.txt 1-copy.txt 2.txt 2-copy.txt

./text_search index <1.txt >out
"$SX_BUILDDIR/tools/simidx-query" search --text index 1.txt | cut -f 2,5 >want
cut -f 2,3 out | diff - want
head -1 out | grep "^0	0	1.txt$"
[ "$(wc -l <out)" -eq 2 ]

status=0
./text_search index </dev/null >out || status=$?
[ $status -eq 1 ] && [ ! -s out ]
status=0
./text_search missing <1.txt 2>err || status=$?
[ $status -eq 2 ] && grep 'text_search: missing: No such file or directory' err
status=0
./text_search 2>err || status=$?
[ $status -eq 2 ] && grep usage err
