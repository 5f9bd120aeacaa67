#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
#
# The counts that --summary of simidx-dedup and its last lines have: each of them where it is not 0.
. "$SX_SRCDIR/tests/tool/tool_lib.sh"
need_text
need_json

# summed CODE ARGUMENT...: a run with a new ./summary.
summed() {
	rm -f summary
	run "$1" "$dedup" --summary summary "${@:2}"
}

# text WORD...: a row, with ten words more that all have.
text() {
	echo "{\"text\":\"$* one two three four five six seven eight nine ten\"}"
}

# ---- files of a directory: two are no texts, one is not UTF-8, two have no words ----

mkdir tree
printf 'a\0b' >tree/1
printf 'a\0b' >tree/2
printf 'one two three four five \xff six seven' >tree/3
printf ', .\n' >tree/4
printf '; ;\n' >tree/5
printf 'other words than those, and enough of them' >tree/6
summed 0 -r tree
summary_has rows:4 documents:4 rejected:0 skipped:2 binary:0 not_utf8:1 empty_texts:2 near:0 groups:0
says '2 files are no texts and were skipped (first: tree/1)'
says '2 texts have no words: of these an empty one is near to nothing'
says '1 text is not UTF-8 (tree/3): convert'
summed 0 -r --binary tree
summary_has rows:6 documents:6 rejected:0 skipped:0 binary:2 not_utf8:1 empty_texts:2 near:1 groups:1 near_bytes:3 \
	identical_bytes:3
says '2 files are no texts and were compared by bytes alone'

# ---- who stays ----

text >rows.jsonl
text >>rows.jsonl
text >>rows.jsonl
text other words that make a difference >>rows.jsonl
summed 0 --max-group 1 rows.jsonl
summary_has near:1 groups:1 spared:1 unread:0 valueless:0 changed:0
says '1 document stays, though near to others, as --max-group is reached'
summed 0 rows.jsonl
summary_has near:2 groups:1 spared:0
# Two of the three that are alike have no number, and so has one that is near to none.
for score in '"score":1' '"score":null' '"other":1'; do
	text | sed "s/^{/{$score,/"
done >scores.jsonl
summed 0 --keep max:score scores.jsonl
summary_has near:2 groups:1 valueless:2
says '2 documents have no number or date such as 2026-05-03T10:20:30Z for --keep, and so stay only where no other has'
grep -qx '1	same	keep	scores.jsonl:1' out || fail "$(cat out)"
head -2 scores.jsonl >fewer.jsonl
summed 0 --keep max:score fewer.jsonl
summary_has near:1 groups:1 valueless:1
says '1 document has no number or date such as 2026-05-03T10:20:30Z for --keep, and so stays only where no other has'

# A file that has changed since it was read: the pipe comes last.
echo 'one two three four five six seven' | tee first second >third
mkfifo pipe
rm summary
("$dedup" --summary summary first second third pipe >out 2>err; echo $? >code) &
{ sleep 0.5; echo 'quite another text' >second; cat third; } >pipe
wait
[ "$(cat code)" = 1 ] || fail "a file that has changed: exit $(cat code)"
summary_has exit:1 changed:1 near:2 groups:1 documents:4
says 'second: has changed since it was read: left out'

# ---- an index: what it knows, what it remembers, what it says nothing of ----

for i in 1 2 3; do
	text "$i $((i + 10)) $((i + 20)) $((i + 30)) $((i + 40)) $((i + 50)) $((i + 60)) $((i + 70))" |
		sed "s/^{/{\"label\":\"l$i\",/"
done >labelled.jsonl
summed 0 --stream --index ix --remember text labelled.jsonl
summary_has new:3 near:0 known:0 foreign:0 too_long:0
bytes=$(sed -n 's/.*ix: remembers 3 texts more, in \([0-9,]*\) bytes$/\1/p' err | tr -d ,)
[ "${bytes:-0}" -gt 0 ] || fail "bytes of notes: $(cat err)"
summary_has note_bytes:"$bytes"
# One is new; the others are there by their labels.
{ cat labelled.jsonl; text 9 8 7 6 5 4 3 2 1 0 11 12 13 14; } >more.jsonl
summed 0 --stream --index ix more.jsonl
summary_has rows:4 documents:4 new:1 near:0 known:3
says '3 documents are in ix already, with the same label: not new, and not listed'
says ': 1 new, 0 near-duplicates'
# What was stored without a note: fingerprints decide of two.
for i in 6 7; do
	text "$i$i $i 1$i 2$i 3$i 4$i 5$i 6$i 7$i"
done >noteless.jsonl
summed 0 --stream --index ix --no-verify noteless.jsonl
summary_has new:2 note_bytes:0 foreign:0
summed 0 --stream --index ix noteless.jsonl
summary_has new:0 near:2 known:0 foreign:2 note_bytes:0
says 'fingerprints decided 2 times, as an index had no note of a text that can be compared'
says "another program has put it, or 'simidx-query verify INDEX' tells what is damaged"

# Bytes that are the same are not known where a sketch decides: what is counted is said to be the least.
for text in "$(seq 400)" "$(seq 403)"; do
	printf '{"text":"%s"}\n' "$(tr '\n' ' ' <<<"$text")"
done >first.jsonl
head -1 first.jsonl >second.jsonl
run 0 "$dedup" --stream --index seen first.jsonl
says ' bytes left out (0 identical)'
run 0 "$dedup" --stream --index seen second.jsonl
says ' 1,492 bytes left out'
! grep -q identical err || fail 'nobody knows of identical ones'
row=$(printf '{"text":"%s"}' "$(seq 500 800 | tr '\n' ' ')")
printf '%s\n%s\n' "$row" "$row" >>second.jsonl
run 0 "$dedup" --stream --index seen second.jsonl
says ' 2,696 bytes left out (at least 1,204 identical)'
head -1 first.jsonl >second.jsonl
cat second.jsonl second.jsonl >twice.jsonl
run 0 "$dedup" --stream twice.jsonl
says '; 1,492 bytes left out (1,492 identical)'
finish
