#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
#
# 64 processes store rows at once, each if it is new, and near copies are spread over them: no two that are
# stored are near, and every row is stored, near to one that is, or counted as undecided. Each process tells
# of just the rows that it has stored. With SIMIDX_LONG 10^5 rows.
# shellcheck source=tests/tool/tool_lib.sh
. "$SX_SRCDIR/tests/tool/tool_lib.sh"
# shellcheck source=tests/redis/redis_lib.sh
. "$SX_SRCDIR/tests/redis/redis_lib.sh"

server main
uri=redis://127.0.0.1:$main/fleet
processes=64
rows=$([ -n "${SIMIDX_LONG-}" ] && echo 1563 || echo 120)
run 0 "$load" -q -F lines "$uri" /dev/null
# Each process has one row of each of so many groups, in an order of its own; within a group two rows
# differ in two bits.
awk -v processes=$processes -v rows="$rows" "$random"'
	function hex(a, b) { return sprintf("%04x%04x%04x%04x", a, int(rnd() * 65536), b, int(rnd() * 65536)) }
	BEGIN {
		state = 11
		for (g = 0; g < rows; g++)
			base[g] = sprintf("%04x%04x%04x", int(rnd() * 65536), int(rnd() * 65536), int(rnd() * 65536))
		for (p = 0; p < processes; p++)
			for (g = 0; g < rows; g++) {
				# Neighbours in time are of the same few groups.
				k = g - g % 8 + (g + p) % 8
				if (k >= rows) k = g
				printf "%s%04x\n", base[k], 2 ^ (p % 16) >("rows." p)
			}
	}'
for p in $(seq 0 $((processes - 1))); do
	timeout 200 "$load" -q --mode if-new --radius 3 --commit 40 --emit new --summary "summary.$p" -F lines "$uri" \
		"rows.$p" >"new.$p" 2>"err.$p" &
	loads="${loads-} $!"
done
for one in $loads; do
	wait "$one"
	status=$?
	[ $status -le 1 ] || fail "a load ends with $status: $(cat err.*)"
done
sum() {
	cat summary.* | grep -o "\"$1\":[0-9]*" | cut -d: -f2 | awk '{ n += $1 } END { print n + 0 }'
}
run 0 "$query" verify "$uri"
run 0 "$query" dump "$uri"
cut -f2 out >stored
n=$(wc -l <stored)
echo "$((processes * rows)) rows: $n stored, $(sum near) near, $(sum undecided) undecided"
[ $((n + $(sum near) + $(sum undecided))) -eq $((processes * rows)) ] || fail 'the counts do not add up'
[ "$(sum stored)" -eq "$n" ] || fail "$(sum stored) are told to be stored, and $n are"
cat new.* | sort >told
sort stored | diff - told >difference || fail "$(head -5 difference)"
# All pairs, one by one: none is near.
awk -F '\t' '{ print NR "\t" $1 "\t" }' stored >documents.tsv
"$helpers/linear_scan" search 3 documents.tsv <stored >pairs
[ "$(wc -l <pairs)" -eq "$n" ] || fail "$(($(wc -l <pairs) - n)) are near to each other"
# Each row has one that is near.
if [ "$(sum undecided)" -eq 0 ]; then
	sort -u rows.* >rows
	run 0 "$query" search "$uri" -F lines rows
	[ "$(cut -f1 out | sort -u | wc -l)" -eq "$(wc -l <rows)" ] || fail 'a row is lost'
fi
finish
