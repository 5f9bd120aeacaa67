#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
#
# Groups are decided again, the best row first: what meets there with other groups, --identical, --max-group,
# --near-misses and files that change meanwhile.
. "$SX_SRCDIR/tests/tool/tool_lib.sh"
need_text
need_json
export TMPDIR=$tmp/temporary
mkdir "$TMPDIR"

# row LABEL SCORE PLACE...: 100 words, at some places other ones, no two of them within ten words. Two rows that differ in
# two places are 81.1 near, in three 72.9.
row() {
	awk -v label="$1" -v score="$2" -v places="${*:3}" 'BEGIN {
		n = split(places, at, " ")
		for (i = 1; i <= n; i++) is[at[i] * 12 + 8]
		for (i = 0; i < 100; i++) text = text (i ? " " : "") (i in is ? "other" : "word") i
		printf "{\"label\":\"%s\",\"score\":%d,\"text\":\"%s\"}\n", label, score, text }'
}

# groups: of ./out each line as "keep:LABEL" or "drop:LABEL", in one line.
groups() { cut -f 3,5 out | tr '\n\t' ' :'; }

# A chain of which only neighbours are near: A - B - C - D. A and B are a group, and D and C; the better ones are near.
{ row A 1; row D 1 0 1 2 3 4 5; row B 3 0 1; row C 5 0 1 2 3; } >chain.jsonl
run 0 "$dedup" -q --pairs chain.jsonl
[ "$(wc -l <out)" -eq 3 ] || fail 'the chain has other pairs'
run 0 "$dedup" -q --keep first chain.jsonl
groups | grep -qx 'keep:A drop:B keep:D drop:C ' || fail "the chain has other groups: $(groups)"
for how in 'chain.jsonl' '--threads 2 chain.jsonl' '-F jsonl -'; do
	# shellcheck disable=SC2086
	run 0 "$dedup" -q --keep max:score $how <chain.jsonl
	[ "$(groups | tr ' ' '\n' | sort | tr '\n' ' ')" = 'drop:B drop:D keep:C ' ] || fail "a chain, $how: $(groups)"
done

# Equal rows in the group of one that has other bytes, also where texts cannot be read again.
{ row A 1; row B 1 | tr w W; row C 1 | tr w W; row D 1 | tr w W; row E 1; } >equal.jsonl
for keep in first longest; do
	run 0 "$dedup" -q --identical --keep $keep equal.jsonl
	[ "$(groups | tr ' ' '\n' | grep -c drop)" -eq 3 ] || fail "equal rows, --keep $keep: $(groups)"
	mv out one
	run 0 "$dedup" -q --identical --keep $keep -F jsonl - <equal.jsonl
	sed 's/\t-:/\tequal.jsonl:/' out | cmp - one || fail "equal rows of a pipe, --keep $keep"
done
# What cannot be read is counted once, however many others have its hash.
{ row A 1; for i in $(seq 40); do row "B$i" 1 | tr w W; done; } >many.jsonl
for keep in first longest; do
	run 0 "$dedup" --identical --keep $keep --spill 0 -F jsonl - <many.jsonl
	says '40 documents cannot be compared again, and so stay'
	[ ! -s out ] || fail "texts that are not there are equal, --keep $keep"
done
# Nor are texts of near rows there: only where another row would stay it matters, and those that it is about are counted.
{ row A 9; row B 1 0; row C 5 1; } >unread.jsonl
{ row D 2; row E 1 0; row F 8 1; row G 2 2; } | sed s/word/bird/g >>unread.jsonl
run 0 "$dedup" --keep max:score --spill 0 -F jsonl - <unread.jsonl
groups | grep -qx 'keep:A drop:B drop:C keep:D drop:E drop:F drop:G ' || fail "groups without texts: $(groups)"
says '3 documents cannot be compared again, so the first of their groups stays, whatever --keep says'
sed -n 4,5p unread.jsonl | sed 's/"score":1/"score":9/' >one.jsonl
run 0 "$dedup" --keep max:score --spill 0 -F jsonl - <one.jsonl
says '1 document cannot be compared again, so the first of its group stays, whatever --keep says'
head -3 unread.jsonl >read.jsonl
run 0 "$dedup" --keep max:score --spill 0 -F jsonl - <read.jsonl
grep -q 'cannot be compared again' err && fail 'told where the best row stays anyway'

# --max-group counts what is identical.
run 0 "$dedup" -q --identical --max-group 2 equal.jsonl
[ "$(groups | tr ' ' '\n' | grep -c drop)" -eq 3 ] || fail "--max-group 2 of equal rows: $(groups)"
run 0 "$dedup" --identical --max-group 1 equal.jsonl
[ "$(groups | tr ' ' '\n' | grep -c drop)" -eq 2 ] || fail "--max-group 1 of equal rows: $(groups)"
says '1 document stays, though near to others, as --max-group is reached'

# A row stays as its group is full: then it has its near miss.
{ row Y 1 2 3 4 5 6; row A 1 0 1; row H 1 2 3; row B 9; } >misses.jsonl
run 0 "$dedup" -q --keep max:score --max-group 1 --near-misses 15 --evidence misses misses.jsonl
groups | grep -qx 'keep:B drop:A ' || fail "--max-group 1: $(groups)"
grep '"keep":true' misses | grep -F '"similarity":72.9,' | grep -F '"line":3,' | grep -qF '"line2":1,' ||
	fail 'a near miss of a row that stays'
rm -f misses
run 0 "$dedup" -q --keep max:score --near-misses 15 --evidence misses misses.jsonl
[ "$(grep -c '"keep":true' misses)" -eq 0 ] || fail 'near misses of a row that goes'

# A file changes while others are read: what is in it takes no part, and what was near to it does.
mkfifo pipe
{ row A 1; row H 2 0 1 2 3; row B 9 0 1; } >x.jsonl
row M 1 0 1 2 3 4 5 >y.jsonl
(
	exec 3>pipe
	# Both files are read when the last one is opened.
	touch -d 2001-01-01 y.jsonl
	echo '{"label":"other","score":3,"text":"something else"}' >&3
) &
run 1 "$dedup" --keep max:score x.jsonl y.jsonl -F jsonl pipe
wait
[ "$(groups | tr ' ' '\n' | sort | tr '\n' ' ')" = 'drop:A drop:H keep:B ' ] || fail "a file that changes: $(groups)"
says 'y.jsonl: has changed since it was read: left out'

# A read that fails when groups are decided again: where other rows stay for that, it is told.
fault_library=$SX_BUILDDIR/tests/fault/.libs/libfail.so
if [ -e "$fault_library" ]; then
	told=0
	n=$(count_calls read "$dedup" --keep max:score chain.jsonl)
	cp out chain.groups
	for ((i = 1; i <= n; i++)); do
		with_fault read $i once "$dedup" --keep max:score chain.jsonl >out 2>err || continue
		if grep -q ' cannot be compared again, so the first of ' err; then
			told=$((told + 1))
		else
			cmp -s out chain.groups || fail "other groups where read $i of $n fails: $(cat err)"
		fi
	done
	[ "$told" -gt 0 ] || fail 'no read fails where groups are decided again'
fi
finish
