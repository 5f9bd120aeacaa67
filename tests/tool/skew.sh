#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
#
# stats --skew beside what sort and uniq count.
. "$SX_SRCDIR/tests/tool/tool_lib.sh"

# 300 fingerprints share their first 16 bits, 200 their last 22; one has 40 documents.
{
	seq 300 | awk '{ printf "beef%04x%04x%04x\n", $1 * 211, $1 * 131, $1 * 77 }'
	seq 200 | awk '{ printf "%04x%04x%02x3abcde\n", $1 * 199, $1 * 61, $1 }'
	seq 40 | sed 's/.*/0123456789abcdef/'
} >rows

# fullest CHARACTERS: the value of these digits that most different fingerprints have, and how many.
fullest() {
	sort -u rows | cut -c "$1" | sort | uniq -c | sort -k 1,1nr -k 2,2 | head -1
}

run 0 "$load" -q -F lines --plan 4x16 four rows
run 0 "$query" stats --skew four
grep -q '^-  *0123456789abcdef  40 documents$' out || fail 'the fullest fingerprint'
table=0
for digits in 1-4 5-8 9-12 13-16; do
	table=$((table + 1))
	read -r n prefix < <(fullest $digits)
	printf -v fp '%0*d%s%0*d' $(((table - 1) * 4 + 1)) 0 "$prefix" $(((4 - table) * 4 + 1)) 0
	grep "^t0$table  *${fp:1:16}  $n fingerprints*, evenly spread" out >/dev/null ||
		fail "table $table has not $n of ${fp:1:16}"
done
grep -q '^t01 .*  300 fingerprints, evenly spread 0.00764$' out || fail 'what is even' # 501 / 2^16

run 0 "$query" stats --skew --json four
grep -q '"fullest":{"fp":"0123456789abcdef","documents":40}' out || fail 'JSON of the fingerprint'
grep -q '"fullest":{"fp":"beef000000000000","fingerprints":300}' out || fail 'JSON of a table'

run 0 "$load" -q -F lines --plan 3x22 three rows
run 0 "$query" stats --skew three
grep -q '  200 fingerprints, evenly' out || fail 'the prefix of 22 bits'

run 0 "$load" -q -F lines --plan 4x16 one - <<<0123456789abcdef
run 0 "$query" stats --skew one
grep -q '^-  *0123456789abcdef  1 document$' out || fail 'one document'
grep -q '^t02  *0000456700000000  1 fingerprint, evenly spread' out || fail 'one fingerprint'

: >nothing
run 0 "$load" -q -F lines --plan 4x16 empty nothing
run 0 "$query" stats --skew empty
grep -qx none out || fail 'an empty index has a fullest fingerprint'
run 0 "$query" stats --skew --json empty
grep -q fullest out && fail 'JSON of an empty index has a fullest fingerprint'
run 0 "$query" stats four
grep -q evenly out && fail 'it reads all documents unasked'
finish
