#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
#
# simidx-dedup killed at random moments, in each mode, and run again: each row is kept, or near to one that
# is; nothing is kept twice, no row is cut, and the index is sound. SIMIDX_LONG=1 does it more often.
. "$SX_SRCDIR/tests/tool/tool_lib.sh"
need_text
need_json
export TMPDIR=$tmp/own
mkdir "$TMPDIR"
RANDOM=36
rounds=5
[ -z "${SIMIDX_LONG-}" ] || rounds=100

# 3,000 rows of 100 words; each third of the last 600 is an earlier one in which words are replaced, no two of
# them within five: its similarity is 100, 90.0, 81.1, 73.0 or 65.5 percent. And 300 such rows of another index.
awk "$random"' function random(n) { return int(rnd() * n) }
	function row(file, d, text) { printf "{\"label\":\"%s%d\",\"text\":\"%s\"}\n", file, d, text >file ".jsonl" }
	BEGIN { state = 4
		for (d = 1; d <= 3300; d++) {
			of = d > 2400 && d % 3 == 0 ? random(2400) + 1 : 0
			k = d / 3 % 5
			text = ""
			for (i = 1; i <= 100; i++)
				text = text (w[d, i] = of && !(i > 20 && i <= 20 + 10 * k && i % 10 == 0) ? w[of, i] : "w" random(60000)) " "
			row(d > 3000 ? "other" : "rows", d, text)
		}
	}'
run 0 "$dedup" -q --stream rows.jsonl
sort out >rows.new
comm -23 <(sort rows.jsonl) rows.new >copies
[ "$(wc -l <copies)" -gt 100 ] || fail "$(wc -l <copies) copies"
run 0 "$dedup" -q --stream --index other.ix --remember text other.jsonl
cat rows.jsonl other.jsonl >all.jsonl

# killed COMMAND...: start it, and kill it at a random moment of the time that it takes, mostly: on a machine
# that others use it may take less than when it was measured. Its output is added to ./all.
killed() {
	local delay
	delay=$(awk -v r=$RANDOM -v t="$took" 'BEGIN { printf "%.3f", r / 32768 * t * .7 }')
	"$@" >>all 2>err &
	sleep "$delay"
	kill -9 $! 2>/dev/null
	wait $! 2>/dev/null || n_killed=$((n_killed + 1))
}

# measure COMMAND...: how long it takes, in seconds, and what it prints, in order.
measure() {
	local start=$EPOCHREALTIME
	"$@" >out 2>err || fail "$* : $(head -2 err)"
	took=$(awk -v a="$start" -v b="$EPOCHREALTIME" 'BEGIN { print b - a }')
	sort out >want
}

# check WHAT SIMILARITY MOST INPUT: what came out, ./all, are rows of the input, of which at most MOST are near
# to another one of them; and what did not come out is near to one that did, at this similarity.
check() {
	local what=$1 similarity=$2 most=$3 input=$4
	sort -u all >kept
	comm -23 kept <(sort "$input") | grep . && fail "$what: these are no rows"
	comm -13 kept <(sort "$input") >lost
	cat kept lost >together.jsonl
	run 0 "$dedup" -q --stream --similarity "$similarity" "${others[@]}" together.jsonl
	comm -12 lost <(sort out) | grep . && fail "$what: rows are lost that are near to nothing"
	cp kept kept.jsonl
	run 0 "$dedup" -q --stream --dups twice kept.jsonl
	[ "$(wc -l <twice)" -le "$most" ] || fail "$what: $(wc -l <twice) rows are kept twice"
	rm -f twice
	"$query" -q verify ix >/dev/null || fail "$what: the index is damaged by a kill"
}

# A filter with an index: five kills, then a run to the end, and again.
for what in text sketch fingerprint dups against; do
	n_killed=0 input=rows.jsonl similarity=0.8 most=0
	how=(--remember text) others=()
	case $what in
	sketch) how=(--remember sketch) similarity=0.74 most=20 ;;
	fingerprint) how=(--remember fingerprint) similarity=0.6 most=60 ;;
	dups) how+=(--dups dups) ;;
	against) how+=(--against other.ix) others=(--against other.ix) input=all.jsonl ;;
	esac
	rm -rf ix dups
	measure "$dedup" -q --stream --memory 64M --index ix "${how[@]}" $input
	for ((round = 0; round < rounds; round += 5)); do
		rm -rf ix dups
		: >all
		for _ in 1 2 3 4 5; do
			killed "$dedup" -q --stream --memory 64M --index ix "${how[@]}" $input
		done
		"$dedup" -q --stream --memory 64M --index ix "${how[@]}" $input >>all 2>err ||
			fail "$what: a run after killed ones: $(head -2 err)"
		check $what $similarity $most $input
		[ $what = sketch ] || [ $what = fingerprint ] || sort -u all | cmp - want || fail "$what: other rows than in one run"
		run 0 "$dedup" -q --stream --index ix "${how[@]}" $input
		output </dev/null
		# Each row that is not new has a line; a batch that was not committed has it twice.
		[ $what != dups ] || cut -f 2 dups | sed 's/.*://' | sort -nu |
			cmp - <(awk 'NR == FNR { new[$0]; next } !($0 in new) { print FNR }' rows.new rows.jsonl) || fail 'lines of --dups are lost'
	done
	echo "$what: $n_killed of $rounds runs were killed"
	[ $n_killed -gt $((rounds / 5)) ] || fail "$what: $n_killed of $rounds runs were killed"
done

# What prints at its end has nothing that lasts: the next run is as any other, and removes what is left.
for what in groups pairs list; do
	n_killed=0
	case $what in
	groups) how=() ;;
	pairs) how=(--pairs) ;;
	list) how=(--drop-list) ;;
	esac
	measure "$dedup" -q --memory 64M "${how[@]}" rows.jsonl
	for ((round = 0; round < rounds; round++)); do
		killed "$dedup" -q --memory 64M "${how[@]}" rows.jsonl
	done
	run 0 "$dedup" -q --memory 64M "${how[@]}" rows.jsonl
	sort out | cmp - want || fail "$what after killed runs"
	[ -z "$(ls -A "$TMPDIR")" ] || fail "$what: what killed runs have left is not removed: $(ls "$TMPDIR")"
	[ $n_killed -gt $((rounds / 5)) ] || fail "$what: $n_killed of $rounds runs were killed"
	echo "$what: $n_killed of $rounds runs were killed"
done
finish
