#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
#
# simidx-load --write insert killed at any moment: no index, or one that opens, is sound and holds whole
# batches. SIMIDX_LONG=1 does it more often.
. "$SX_SRCDIR/tests/tool/tool_lib.sh"
rounds=20
[ -z "${SIMIDX_LONG-}" ] || rounds=200
RANDOM=1
"$helpers/linear_scan" documents 210000 11 >documents.tsv

# How long it takes when nobody disturbs it, in milliseconds.
started=$(date +%s%N)
run 0 "$load" -q --write insert whole documents.tsv
whole=$((($(date +%s%N) - started) / 1000000 + 1))

none=0 empty=0 part=0 all=0 killed=0
# check: what is at ./index after a kill. Leaves its number of documents in $lines.
check() {
	lines=0
	if [ ! -e index ]; then
		none=$((none + 1))
		return
	fi
	run 0 "$query" verify index
	run 0 "$query" dump index
	lines=$(wc -l <out)
	case $lines in
	210000) all=$((all + 1)) ;;
	0) empty=$((empty + 1)) ;;
	100000 | 200000) part=$((part + 1)) ;;
	*) fail "$lines documents are no whole batches" ;;
	esac
	head -"$lines" documents.tsv | cmp -s - out || fail 'other documents than the first'
}

# On a machine with other work it may take more rounds until one is killed between its commits.
for ((round = 0; round < rounds || ((killed == 0 || part == 0) && round < 20 * rounds); round++)); do
	# Every third round goes on with what the one before left.
	if [ $((round % 3)) -eq 0 ] || [ ! -e index ] || [ "$lines" -eq 210000 ]; then
		rm -rf index
		lines=0
	fi
	tail -n +$((lines + 1)) documents.tsv >rest.tsv
	"$load" -q --write insert index rest.tsv 2>/dev/null &
	loader=$!
	# Now and then in the first moments, when the index is being made.
	span=$whole
	[ $((round % 4)) -ne 0 ] || span=40
	pause=$((RANDOM * span / 32768))
	sleep $((pause / 1000)).$(printf %03d $((pause % 1000)))
	kill -9 $loader 2>/dev/null
	wait $loader 2>/dev/null
	[ $? -eq 137 ] && killed=$((killed + 1))
	check
done
[ $killed -gt 0 ] || fail 'no load was killed'
[ $part -gt 0 ] || fail 'no load was killed between two commits'
echo "$round rounds, $killed killed: no index $none, empty $empty, part $part, all $all"

# And the next load finishes the work, merges included.
[ -e index ] || lines=0
if [ "$lines" -lt 210000 ]; then
	tail -n +$((lines + 1)) documents.tsv >rest.tsv
	run 0 "$load" -q --merge always index rest.tsv
fi
run 0 "$query" verify index
run 0 "$query" dump index
same out documents.tsv
finish
