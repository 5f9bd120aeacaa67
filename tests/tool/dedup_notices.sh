#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
#
# What simidx-dedup tells who has found nothing, or may have asked for something else: from which
# number on, and to whom not.
. "$SX_SRCDIR/tests/tool/tool_lib.sh"
need_text
need_json

short='simidx-dedup: texts have fewer than 32 bytes on average: --text-field names another member or column'
limit='% of their runs of five words in common: --similarity 0.6 finds less similar ones'
groups='simidx-dedup: this lists groups of rows; --stream writes the rows that are new'
whole='simidx-dedup: each file is one text; a text in each line is read by -F tsv --text-field 1'

# told TEXT / untold TEXT: what the last run has, or has not, on standard error.
told() {
	grep -qF -- "$1" err || { fail "not told: $1"; cat err; }
}

untold() {
	! grep -qF -- "$1" err || { fail "told: $1"; cat err; }
}

# rows N SIZE: texts of so many bytes, of which no two are near.
rows() {
	awk -v n="$1" -v size="$2" 'BEGIN { for (i = 1; i <= n; i++) {
		text = i
		while (length(text) < size)
			text = text " " i * (length(text) + 7)
		print "{\"text\":\"" substr(text, 1, size) "\"}" } }'
}

# ---- short texts: fewer than 32 bytes each, in ten rows or more ----

rows 10 31 >short.jsonl
run 0 "$dedup" short.jsonl
output </dev/null
told "$short"
# The average counts: 31 of 32 bytes more are too many for nine texts of 31.
{ rows 9 31; rows 1 40; } >average.jsonl
run 0 "$dedup" average.jsonl
told "$short"
{ rows 9 31; rows 1 41; } >average.jsonl
run 0 "$dedup" average.jsonl
untold "$short"
rows 9 31 >few.jsonl
run 0 "$dedup" few.jsonl
untold "$short"
rows 10 32 >long.jsonl
run 0 "$dedup" long.jsonl
untold "$short"
# Files are texts themselves.
for i in 0 1 2 3 4 5 6 7 8 9; do
	echo "$i" >$i.txt
done
run 0 "$dedup" ?.txt
untold "$short"

# ---- what near means: two texts, or a thousand of a stream ----

run 0 "$dedup" long.jsonl
told "$limit"
head -1 long.jsonl >one.jsonl
run 0 "$dedup" one.jsonl
untold "$limit"
head -2 long.jsonl >two.jsonl
run 0 "$dedup" two.jsonl
told "$limit"
for how in --identical --no-verify '--similarity 0.8'; do
	# shellcheck disable=SC2086
	run 0 "$dedup" $how long.jsonl
	untold "$limit"
done
rows 1000 40 >many.jsonl
run 0 "$dedup" --stream many.jsonl
same out many.jsonl
told "$limit"
head -999 many.jsonl >fewer.jsonl
run 0 "$dedup" --stream fewer.jsonl
untold "$limit"
# Who has found something needs no advice.
{ cat many.jsonl; head -1 many.jsonl; } >found.jsonl
run 0 "$dedup" --stream found.jsonl
untold "$limit"
untold "$short"

# ---- groups of rows in a file: rows that stay may be meant ----

cat two.jsonl one.jsonl >three.jsonl
run 0 "$dedup" three.jsonl
told "$groups"
run 0 "$dedup" two.jsonl
untold "$groups"
for how in --stream --pairs --drop-list --json; do
	run 0 "$dedup" $how three.jsonl
	untold "$groups"
done
cp 1.txt 1.copy
run 0 "$dedup" 1.txt 1.copy
untold "$groups"

# ---- files that are one text each: one alone, or three of a stream ----

run 0 "$dedup" 1.txt
told "$whole"
run 0 "$dedup" 1.txt 2.txt
untold "$whole"
run 0 "$dedup" --stream 1.txt 2.txt 3.txt
told "$whole"
run 0 "$dedup" --stream 1.txt 2.txt 3.txt 4.txt
untold "$whole"
run 0 "$dedup" --stream --index ix 1.txt
untold "$whole"
run 0 "$dedup" --against ix 2.txt
untold "$whole"
# Other advice is given in its place.
printf '0123456789abcdef\n1123456789abcdef\n2123456789abcdef\n' >list.txt
run 0 "$dedup" list.txt
told 'simidx-dedup: 1 text looks like a list of fingerprints (list.txt): -F lines reads one a line'
untold "$whole"
finish
