#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
#
# Compiles the examples. text_search finds what simidx-query finds; of several pages that are nearly
# the same, one is new to two processes of `seen` together. `seen` goes on after bad lines, and fails
# when its answers cannot be written or the index was replaced. wide counts all 128 bits.
set -eu
[ -n "${SX_TEXT-}" ] || {
	echo 'skipped: built without text support'
	exit 77
}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cd "$tmp"
# Some programs called awk cannot repeat their rand().
random='function rnd() { return (state = state * 16807 % 2147483647) / 2147483647 }'

for example in text_search seen wide; do
	# shellcheck disable=SC2086
	$SX_CC $SX_CFLAGS -Wall -Wextra -Werror -I"$SX_SRCDIR/include" -c -o $example.o \
		"$SX_SRCDIR/examples/$example.c"
	# shellcheck disable=SC2086
	"$SX_BUILDDIR/libtool" --quiet --tag=CC --mode=link $SX_CC $SX_CFLAGS -o $example \
		$example.o "$SX_BUILDDIR/lib/text/libsimidx-text.la" "$SX_BUILDDIR/lib/libsimidx.la"
done

# Two texts of 300 words, each with a copy in which the first words are others.
for i in 1 2; do
	awk -v seed=$i "$random"'
	BEGIN { state = 7919 * seed + 1; while (n++ < 300) print "w" int(rnd() * 5000) }' >$i.txt
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
[ $status -eq 2 ] && grep 'text_search: missing: no index: No such file or directory' err
status=0
./text_search 2>err || status=$?
[ $status -eq 2 ] && grep usage err

# 128 bits. By hand: lines 0 to 6 differ from the query in 0, 1, 4, 12, 5, 5 and 6 bits.
cat >wide.txt <<END
0123456789abcdeffedcba9876543210
0123456789abcdeefedcba9876543210
0123456789abcdecfedcba9876543213
1123456789abcdff1edcba98765432ff
0123456789abcdeffedcba987654320f
f123456789abcdeffedcba9876543214
3123456789abcdeffedcba987654321f
END
wide() { ./wide "$@" | cut -f 1,2 | tr '\t\n' ': '; }
query=0123456789abcdeffedcba9876543210
[ "$(wide wide.index 5 $query <wide.txt)" = '0:0 1:1 4:2 5:4 5:5 ' ]
[ "$(wide wide.index 4 $query </dev/null)" = '0:0 1:1 4:2 ' ]
[ "$(wide wide.index 6 $query </dev/null)" = '0:0 1:1 4:2 5:4 5:5 6:6 ' ]
[ "$(wide wide.index 0 $query 0123456789abcdeefedcba9876543210 </dev/null)" = '0:0 0:1 ' ]
[ "$(wide wide.index 128 $query </dev/null)" = '0:0 1:1 4:2 5:4 5:5 6:6 12:3 ' ]
status=0
./wide wide.index 3 ffffffffffffffffffffffffffffffff </dev/null >out || status=$?
[ $status -eq 1 ] && [ ! -s out ]
for bad in 0123 "${query}0" "x${query#?}"; do
	status=0
	echo "$bad" | ./wide wide.index 3 2>err || status=$?
	[ $status -eq 2 ] && grep "^wide: not 32 hexadecimal digits: $bad$" err
done
[ "$(wide wide.index 0 $query </dev/null)" = '0:0 ' ]
status=0
./wide 2>err || status=$?
[ $status -eq 2 ] && grep '^usage: wide' err

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
awk "$random"'
	BEGIN {
	state = 7919 * 3 + 1
	for (i = 0; i < 180; i++) {
		if (i % 3 == 0) {
			page = ""
			for (j = 0; j < 300; j++)
				page = page " w" int(rnd() * 5000)
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

# An index that was replaced ends it; started again, it knows what was stored.
mkfifo in3 out3
./seen urls <in3 >out3 2>err &
first=$!
exec 3>in3 5<out3
page /5 2.txt >&3
answer 5 "seen$tab/5$tab/2${tab}0"
"$SX_BUILDDIR/tools/simidx-query" compact urls >/dev/null
page /6 2.txt >&3
status=0
wait $first || status=$?
exec 3>&- 5>&-
[ $status -eq 2 ]
grep '^seen: .*was replaced or moved away; open it again' err
page /6 2.txt | ./seen urls | grep "^seen$tab/6$tab/2${tab}0$"

# Lines that cannot be stored are answered, and the next line, too. 65535 bytes are the longest URL.
long=$(printf '%065535d' 0)
{
	printf '\tsome words\n\n'
	printf '%s\tsome words\n' "${long}0" "$long"
	printf '/blanks\t  \t \n/unknown\n/last\tother text\n'
} | ./seen bad >out
{
	printf 'bad\t\nbad\t\n'
	printf '%s\t%s\n' bad "${long}0" new "$long"
	printf 'gone\t/blanks\ngone\t/unknown\nnew\t/last\n'
} | cmp - out
[ "$("$SX_BUILDDIR/tools/simidx-query" dump bad | wc -l)" -eq 2 ]
# Blanks in the place of words delete, too.
printf '/last\t  \n' | ./seen bad | grep "^gone$tab/last$"
[ "$("$SX_BUILDDIR/tools/simidx-query" dump bad | wc -l)" -eq 1 ]

# An answer that cannot be written ends it: no page after that is stored.
if [ -w /dev/full ]; then
	status=0
	printf '/1\tsome words\n/2\tother text\n' | ./seen full 2>err >/dev/full || status=$?
	[ $status -eq 2 ]
	grep '^seen: cannot write the answers$' err
	[ "$("$SX_BUILDDIR/tools/simidx-query" dump full | wc -l)" -eq 1 ]
fi

status=0
printf '/1\tsome words\n' | ./seen nowhere/index 2>err || status=$?
[ $status -eq 2 ]
grep '^seen: ' err
