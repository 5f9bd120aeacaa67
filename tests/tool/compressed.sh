#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
#
# gzip and zstd: every format by name and on standard input, several streams in one file, and
# streams that are damaged or cut short.
. "$SX_SRCDIR/tests/tool/tool_lib.sh"
good=00000000000000aa

# Without the packages a compressed input is refused, not read as something else.
if [ -z "${SX_ZLIB-}" ]; then
	printf '\x1f\x8b\x08\x00 and more' >fake.tsv.gz
	run 2 "$load" a fake.tsv.gz
	says 'fake.tsv.gz: compressed by gzip, and this program was built without zlib'
	run 2 "$load" a -F lines - <fake.tsv.gz
	says 'simidx-load: -: compressed by gzip, and this program was built without zlib'
	[ ! -e a ] || fail 'an index was made'
fi
if [ -z "${SX_ZSTD-}" ]; then
	printf '\x28\xb5\x2f\xfd and more' >fake.tsv.zst
	run 2 "$load" a fake.tsv.zst
	says 'fake.tsv.zst: compressed by zstd, and this program was built without libzstd'
	run 2 "$load" a -F lines - <fake.tsv.zst
	says 'simidx-load: -: compressed by zstd, and this program was built without libzstd'
	[ ! -e a ] || fail 'an index was made'
fi

packers=
[ -z "${SX_ZLIB-}" ] || ! command -v gzip >/dev/null || packers=gz
[ -z "${SX_ZSTD-}" ] || ! command -v zstd >/dev/null || packers="$packers zst"
if [ -z "$packers" ]; then
	[ -n "${SX_ZLIB-}" ] && [ -n "${SX_ZSTD-}" ] || finish
	skip 'neither gzip nor zstd to test with'
fi

# pack SUFFIX: standard input to standard output.
pack() {
	case $1 in
	gz) gzip -c ;;
	zst) zstd -q -c ;;
	esac
}

# More than every buffer, and hard to compress.
"$helpers/linear_scan" documents 40000 3 >rows.tsv
run 0 "$load" -q plain rows.tsv
run 0 "$query" dump plain
cp out rows.dump
awk -F '\t' '{ gsub(/"/, "\"\"", $3); print $1 "," $2 ",\"" $3 "\"" }' rows.tsv >rows.csv
cut -f 2 rows.tsv >rows.lines
run 0 "$load" -q lines -F lines rows.lines
run 0 "$query" dump lines
cp out lines.dump

# The index that a load makes must hold the rows.
n=0
check() {
	local expected=$1
	shift
	n=$((n + 1))
	run 0 "$load" -q "$@"
	run 0 "$query" dump "index$n"
	same out "$expected"
	rm -rf "index$n"
}
fresh() {
	echo "index$((n + 1))"
}

for suffix in $packers; do
	pack $suffix <rows.tsv >rows.tsv.$suffix
	pack $suffix <rows.csv >rows.csv.$suffix
	pack $suffix <rows.lines >rows.packed
	check rows.dump "$(fresh)" rows.tsv.$suffix
	check rows.dump "$(fresh)" rows.csv.$suffix
	check rows.dump "$(fresh)" -F dump - <rows.tsv.$suffix
	# The bytes decide, whatever the name.
	check lines.dump "$(fresh)" -F lines rows.packed
	cp rows.tsv misnamed.tsv.$suffix
	check rows.dump "$(fresh)" misnamed.tsv.$suffix
	cp rows.tsv.$suffix misnamed.tsv
	check rows.dump "$(fresh)" misnamed.tsv
	# A pipe that brings a few bytes at a time.
	pack $suffix <rows.tsv | { dd bs=1 count=7 status=none; cat; } >trickle &
	wait $!
	{
		head -c 1 trickle
		sleep 0.05
		tail -c +2 trickle | head -c 2
		sleep 0.05
		tail -c +4 trickle
	} | check rows.dump "$(fresh)" -F tsv -

	# Several streams in one file, an empty one and one of one byte among them.
	{
		head -n 100 rows.tsv | pack $suffix
		: | pack $suffix
		tail -n +101 rows.tsv | head -c 1 | pack $suffix
		tail -n +101 rows.tsv | tail -c +2 | pack $suffix
	} >joined.tsv.$suffix
	check rows.dump "$(fresh)" joined.tsv.$suffix
	: | pack $suffix >empty.tsv.$suffix
	run 0 "$load" -q --create truncate empty empty.tsv.$suffix
	run 0 "$query" dump empty
	output </dev/null

	# One reader for files of all kinds in turn.
	head -n 1000 rows.tsv >part1.tsv
	sed -n 1001,2000p rows.tsv | pack $suffix >part2.tsv.$suffix
	tail -n +2001 rows.csv | pack $suffix >part3.csv.$suffix
	check rows.dump "$(fresh)" part1.tsv part2.tsv.$suffix part3.csv.$suffix
	run 0 "$query" search plain -k 0 -F tsv part2.tsv.$suffix
	[ "$(cut -f 1 out | sort -u | wc -l)" -ge 1000 ] || fail 'search of a compressed file'

	# Names of files in a compressed list.
	printf '%s\n' part1.tsv part2.tsv.$suffix | pack $suffix >list.$suffix
	head -n 2000 rows.tsv | sort -n >part.dump
	check part.dump "$(fresh)" -F tsv --files-from list.$suffix

	# Cut short anywhere: the byte is named, and the index stays as it was.
	size=$(wc -c <rows.tsv.$suffix)
	run 0 "$load" -q --create truncate kept -F tsv - <<<"5	$good"
	for cut in 5 12 $((size / 2)) $((size - 1)); do
		head -c "$cut" rows.tsv.$suffix >cut.tsv.$suffix
		run 2 "$load" kept cut.tsv.$suffix
		says "cut.tsv.$suffix"
		says "data end too early, at byte $cut of the file"
		"$query" dump kept | diff - <(printf '5\t%s\t\n' $good) || fail 'kept is another index'
	done
	# Damaged in the middle, at the end (a checksum), or followed by something else.
	{ head -c $((size / 2)) rows.tsv.$suffix; printf '\0\0\0\0\0\0\0\0'; tail -c +$((size / 2 + 9)) rows.tsv.$suffix; } >bad.tsv.$suffix
	run 2 "$load" kept bad.tsv.$suffix
	says 'of the file: '
	{ cat rows.tsv.$suffix; printf 'rubbish at the end'; } >bad.tsv.$suffix
	run 2 "$load" kept bad.tsv.$suffix
	says ': damaged '
	printf '5\t%s' $good | pack $suffix >sum.tsv.$suffix
	head -c -6 sum.tsv.$suffix >bad.tsv.$suffix
	printf '\1\2\3\4\5\6' >>bad.tsv.$suffix
	run 2 "$load" kept bad.tsv.$suffix
	says ': damaged '
	run 0 "$query" dump kept
	output <<<"5	$good	"

	# A bare 16-byte record is not taken for a stream because of a byte or two.
	printf '\x1f\x8b\x07\x00\0\0\0\0\1\0\0\0\0\0\0\0\x28\xb5\x2f\xfc\0\0\0\0\2\0\0\0\0\0\0\0' >two.bin
	run 0 "$load" -q --create truncate two -F bin two.bin
	run 0 "$query" dump two
	output <<<$'1\t0000000000078b1f\t\n2\t00000000fc2fb528\t'

	[ -n "${SX_JSON-}" ] || continue
	run 0 "$query" dump plain --format jsonl
	pack $suffix <out >rows.jsonl.$suffix
	check rows.dump "$(fresh)" rows.jsonl.$suffix
done

# Two kinds in one file are not one stream.
if [ -e rows.tsv.gz ] && [ -e rows.tsv.zst ]; then
	cat rows.tsv.gz rows.tsv.zst >both.tsv.gz
	run 2 "$load" both both.tsv.gz
	says ': damaged gzip data'
fi
# Short inputs that begin like a stream.
for start in '\x1f' '\x1f\x8b' '\x1f\x8b\x08' '\x28\xb5' '\x28\xb5\x2f' '\x50\x2a\x4d'; do
	printf "$start" >short
	run 1 "$load" short-index -F lines short
	says 'simidx-load: short:1: fingerprint: expected 1 to 16 hexadecimal digits'
done

# Texts: only where the name says so. A text that breaks off is one text less.
[ -n "${SX_TEXT-}" ] || finish
seq 1 4000 | tr '\n' ' ' >one.txt
for suffix in $packers; do
	mkdir tree.$suffix
	pack $suffix <one.txt >tree.$suffix/b.$suffix
	cp one.txt tree.$suffix/a
	pack $suffix <one.txt >tree.$suffix/c.packed
	head -c 1000 tree.$suffix/b.$suffix >tree.$suffix/d.$suffix
	cp one.txt tree.$suffix/e.$suffix
	run 1 "$load" -r text.$suffix tree.$suffix
	says "simidx-load: 1 file is no text and was skipped (tree.$suffix/c.packed)"
	says "tree.$suffix/d.$suffix: "
	says 'data end too early, at byte 1000 of the file'
	sums_up 'index built with 3 documents; 1 row rejected'
	run 0 "$query" dump text.$suffix
	[ "$(cut -f 2 out | sort -u | wc -l)" -eq 1 ] || fail 'a text is another when compressed'
	run 0 "$query" search text.$suffix --text tree.$suffix/b.$suffix
	run 0 "$query" search text.$suffix --text - <tree.$suffix/b.$suffix
	[ "$(wc -l <out)" -eq 3 ] || fail 'a compressed text on standard input'
	run 0 "$load" -q named.$suffix tree.$suffix/b.$suffix
done
finish
