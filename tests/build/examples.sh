#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
#
# Compiles the examples. text_search finds what simidx-query finds; of several pages that are nearly
# the same, one is new to two processes of `seen` together.
set -eu
[ -n "${SX_TEXT-}" ] || {
	echo 'skipped: built without text support'
	exit 77
}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cd "$tmp"

for example in text_search seen; do
	# shellcheck disable=SC2086
	$SX_CC $SX_CFLAGS -Wall -Wextra -Werror -I"$SX_SRCDIR/include" -c -o $example.o \
		"$SX_SRCDIR/examples/$example.c"
	# shellcheck disable=SC2086
	"$SX_BUILDDIR/libtool" --quiet --tag=CC --mode=link $SX_CC $SX_CFLAGS -o $example \
		$example.o "$SX_BUILDDIR/lib/text/libsimidx-text.la" "$SX_BUILDDIR/lib/libsimidx.la"
done

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

# Two processes, asked in turns. The first one makes the index.
tab=$(printf '\t')
page() { printf '%s\t%s\n' "$1" "$(tr '\n' ' ' <"$2")"; }
answer() { # FILE-DESCRIPTOR WANTED: the next answer of a process
	read -r said <&"$1"
	[ "$said" = "$2" ] || {
		echo "'$said' instead of '$2'"
		exit 1
	}
}
mkfifo in1 in2 out1 out2
./seen urls <in1 >out1 &
first=$!
./seen urls <in2 >out2 &
second=$!
exec 3>in1 4>in2 5<out1 6<out2
page /1 1.txt >&3
answer 5 "new$tab/1"
page /2 2.txt >&4
answer 6 "new$tab/2"
page /3 2.txt >&3
answer 5 "seen$tab/3$tab/2${tab}0"
page /4 1.txt >&4
answer 6 "seen$tab/4$tab/1${tab}0"
page /1 1-copy.txt >&4 # the same URL with other words
answer 6 "again$tab/1"
page /4 1-copy.txt >&3
answer 5 "seen$tab/4$tab/1${tab}0"
printf '/1\n' >&3
answer 5 "gone$tab/1"
page /4 1-copy.txt >&4
answer 6 "new$tab/4"
exec 3>&- 4>&- 5>&- 6>&-
wait $first
wait $second
"$SX_BUILDDIR/tools/simidx-query" dump urls | cut -f 3- | grep -c . | grep '^2$'

# Both at once: 60 pages, each with two copies, come to both in another order.
awk 'BEGIN {
	srand(3)
	for (i = 0; i < 180; i++) {
		if (i % 3 == 0) {
			page = ""
			for (j = 0; j < 300; j++)
				page = page " w" int(rand() * 5000)
		}
		print "/" i "\t" page (i % 3 == 1 ? " end" : "")
	}
}' >pages
awk 'NR % 2' pages >odd
awk 'NR % 2 == 0' pages | sort >even
./seen many <odd >odd.out &
first=$!
./seen many <even >even.out
wait $first
[ "$(sort -u odd.out even.out | cut -f 2 | sort -u | wc -l)" -eq 180 ]
[ "$(grep -c '^new' odd.out even.out | awk -F : '{ n += $2 } END { print n }')" -eq 60 ]
# The new ones are of 60 pages, and what was seen is of the same page as what it is like.
awk -F '\t' '{ page = int(substr($2, 2) / 3) } $1 == "new" && n[page]++ { exit 1 }
	$1 == "seen" && int(substr($3, 2) / 3) != page { exit 1 }' odd.out even.out
"$SX_BUILDDIR/tools/simidx-query" verify many >/dev/null
[ "$("$SX_BUILDDIR/tools/simidx-query" dump many | wc -l)" -eq 60 ]

printf '/1\tsome words\n' | ./seen nowhere/index 2>err || status=$?
[ $status -eq 2 ] && grep '^seen: ' err
