#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
#
# 200,000 fingerprints by TSV, in every layout and with fresh rows only: the same answers as a
# linear scan. Prints what an entry takes beside what it must take.
. "$SX_SRCDIR/tests/tool/tool_lib.sh"
scan=$helpers/linear_scan

"$scan" documents 200000 20 >documents.tsv
"$scan" queries 600 21 documents.tsv >queries
"$scan" search 3 documents.tsv <queries >expected.3
# Nearer ones come first, so that what a smaller radius finds are lines of these, in the same order.
for k in 0 1 2; do
	awk -F '\t' -v k=$k '$4 <= k' expected.3 >expected.$k
done
[ "$(wc -l <expected.3)" -gt "$(wc -l <expected.0)" ] || fail 'the queries find nothing near'

run 0 "$load" --layout blocks blocks documents.tsv
run 0 "$load" --layout rows rows documents.tsv
run 0 "$load" --merge never fresh documents.tsv
# The second half goes into an index that is there.
head -100000 documents.tsv >half.tsv
tail -n +100001 documents.tsv >rest.tsv
run 0 "$load" grown half.tsv
run 0 "$load" grown rest.tsv
run 0 "$load" --plan 10x26 pairs documents.tsv

for index in blocks rows fresh grown pairs; do
	for k in 0 1 2 3; do
		run 0 "$query" search $index -k $k - <queries
		same out expected.$k
	done
	run 0 "$query" verify $index
	run 0 "$query" dump $index
	same out documents.tsv
done
run 0 "$query" search blocks $(cat queries)
same out expected.3

# The nearest ones; that answers were cut is told where it matters.
awk -F '\t' '{ if (n[$1]++ < 2) print }' expected.3 >expected.limit
run 0 "$query" search blocks --limit 2 - <queries
same out expected.limit
errors </dev/null
run 2 "$query" search blocks --limit 2 --strict - <queries
same out expected.limit
cut=$(awk -F '\t' '{ n[$1]++ } END { for (q in n) c += n[q] > 2; print c + 0 }' expected.3)
says "simidx-query: $cut answers were cut at 2 matches"

# All stay whole without labels and ids: each distinct fingerprint once.
cut -f 2 documents.tsv >lines
run 0 "$load" -F lines --ids none plain lines
sort -u lines | sed 's/^/	/; s/$/	/' >expected.plain
run 0 "$query" dump plain
same out expected.plain
cut -f 1,3,4 expected.3 | sort -u >expected.distinct
"$query" search plain - <queries | cut -f 1,3,4 | sort -u >out
same out expected.distinct

for index in blocks rows; do
	echo "layout $index:"
	"$query" stats $index | grep -E '^(bytes per|table|t0|postings|docs|Limit)'
done
finish
