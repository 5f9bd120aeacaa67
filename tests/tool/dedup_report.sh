#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
#
# --rejects and --summary of simidx-dedup.
. "$SX_SRCDIR/tests/tool/tool_lib.sh"
need_text
need_json
export TMPDIR=$tmp/temporary
mkdir "$TMPDIR"

printf '{"text":"one two three four five six"}\n%.0s' 1 2 >rows.jsonl
printf '{"text":"one two three four five SIX"}\n[]\n{"text":"other words, and enough of them"}\n{"text":\n' >>rows.jsonl

# of KEY: a member of ./summary.
of() {
	sed -n "s/.*[{,]\"$1\":\"\{0,1\}\([^,\"}]*\).*/\1/p" summary
}

run 1 "$dedup" --rejects rejects --summary summary rows.jsonl no/such/file
[ "$(cut -f 1 rejects | tr '\n' ' ')" = 'rows.jsonl:4 rows.jsonl:6 no/such/file ' ] || fail "--rejects: $(cat rejects)"
grep -qx 'rows.jsonl:4	expected a JSON object' rejects || fail "a reason: $(cat rejects)"
grep -v '^no/such' rejects | sed 's/\t/: /' | while read -r line; do
	grep -qF -- "$line" err || fail "not told: $line"
done
for is in exit:1 write:groups rows:7 documents:4 rejected:3 near:2 groups:1 near_bytes:54 identical_bytes:27 \
	empty_texts:0 unsearched:2 bytes:"$(stat -c %s rows.jsonl)"; do
	[ "$(of "${is%:*}")" = "${is#*:}" ] || fail "$is: $(cat summary)"
done
says 'this lists groups of rows; --stream writes the rows that are new'
[ "$(of peak_rss)" -gt 1000000 ] || fail 'no memory'
rm rejects summary
run 1 "$dedup" -q --stream --rejects rejects --summary summary rows.jsonl
for is in exit:1 write:stream new:2 near:2 known:0; do
	[ "$(of "${is%:*}")" = "${is#*:}" ] || fail "$is: $(cat summary)"
done
rm rejects summary
run 1 "$dedup" --pairs --summary summary rows.jsonl
tail -1 err | grep -q ' s: 3 pairs, 2 rejected$' || fail "the last line of --pairs: $(tail -1 err)"
[ "$(of pairs)" = 3 ] || fail "--pairs: $(cat summary)"
rm summary
# Of three texts of 40 words the third is like the first: a hash leads to that, and the others are not searched. A
# hash leads also to what an index remembers by a text or a sketch: to all rows of the next run.
for n in 1 2 1; do
	seq -f "$n%g" -s ' ' 40 | sed 's/.*/{"text":"&"}/'
done >long.jsonl
run 0 "$dedup" -q --stream --summary summary long.jsonl
[ "$(of unsearched) $(of by_hash)" = '2 1' ] || fail "unsearched: $(cat summary)"
rm summary
for remember in sketch:1:3 text:1:3 fingerprint:0:0; do
	how="--index ix-${remember%%:*} --remember ${remember%%:*}"
	first=${remember#*:}
	# shellcheck disable=SC2086
	run 0 "$dedup" -q --stream --summary summary $how long.jsonl
	[ "$(of unsearched) $(of by_hash)" = "2 ${first%:*}" ] || fail "unsearched, new $how: $(cat summary)"
	rm summary
	# shellcheck disable=SC2086
	run 0 "$dedup" -q --stream --summary summary $how long.jsonl
	[ "$(of unsearched) $(of by_hash)" = "0 ${first#*:}" ] || fail "unsearched, $how: $(cat summary)"
	rm summary
done
# A run that fails has one, too.
run 2 "$dedup" --bits 32 --summary summary rows.jsonl
says '--bits is about bare fingerprints'
[ "$(of exit)" = 2 ] || fail "a run that failed: $(cat summary)"
rm summary

# Nothing is replaced, and no file has two uses.
cp rows.jsonl saved
echo text >full
for option in --rejects --summary; do
	run 2 "$dedup" $option full rows.jsonl
	says "full: is not empty, and $option replaces nothing: name another file, or move that one away"
	run 2 "$dedup" --stream --index seen $option full rows.jsonl
	says "full: is not empty, and $option replaces nothing"
	run 2 "$dedup" $option rows.jsonl rows.jsonl
	says "rows.jsonl: is an input, so $option cannot write to it"
	run 2 "$dedup" $option - rows.jsonl
	says "$option: standard output has what is found; name a file"
	run 2 "$dedup" --evidence both $option both rows.jsonl
	says "--evidence and $option need a file each"
	run 2 "$dedup" $option no/such/dir rows.jsonl
	says 'no/such/dir: cannot write: No such file or directory'
done
run 2 "$dedup" --rejects both --summary both rows.jsonl
says '--rejects and --summary need a file each'
same saved rows.jsonl
[ "$(cat full)" = text ] || fail 'a file was written over'
[ ! -e seen ] || fail 'an index was made'
[ -e /dev/full ] && { run 2 "$dedup" -q --summary /dev/full rows.jsonl; says '/dev/full: cannot write the summary: '; }

# Texts of 400 words, of which each has ten of its own: too many have fingerprints that are close. From the 66th
# on the 64 nearest are compared in vain, and that is told. The last row is near to the one before, so whatever
# else is close does not matter to it.
awk "$random"' BEGIN { state = 3; for (i = 0; i < 400; i++) w[i] = "w" int(rnd() * 90000)
	for (k = 1; k <= 120; k++) { text = ""
		for (i = 0; i < 400; i++) text = text (i % 40 == 7 ? "own" k "x" i : w[i]) " "
		print "{\"text\":\"" text "\"}" }
	sub(w[200], "other", text); print "{\"text\":\"" text "\"}" >"last.jsonl" }' >crowd.jsonl
vain='simidx-dedup: 55 documents were compared with the 64 nearest without a match; more may be near (--all compares with all)'
run 0 "$dedup" --stream --summary vain.1 crowd.jsonl
says "$vain"
same out crowd.jsonl
run 0 "$dedup" --stream --summary vain.2 crowd.jsonl last.jsonl
says "$vain"
same out crowd.jsonl
grep -q '"exhausted":55,' vain.2 || fail 'exhausted in the summary'
run 0 "$dedup" --all --stream --summary vain.3 crowd.jsonl last.jsonl
same out crowd.jsonl
grep -q '"exhausted":0,' vain.3 || fail 'exhausted with --all'
# The same with what another index has.
head -119 crowd.jsonl >others.jsonl
run 0 "$dedup" -q --all --stream --index others --remember text others.jsonl
tail -1 crowd.jsonl >alone.jsonl
run 0 "$dedup" --stream --against others --summary vain.4 alone.jsonl
says 'simidx-dedup: 1 document was compared with the 64 nearest without a match; more may be near (--all compares'
same out alone.jsonl
grep -q '"exhausted":1,' vain.4 || fail 'exhausted with --against'
finish
