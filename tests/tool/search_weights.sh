#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
#
# Masks, weights and second fingerprints: the same answers as a linear scan by the same rule.
. "$SX_SRCDIR/tests/tool/tool_lib.sh"
need_json
scan=$helpers/linear_scan

# The labels are the second fingerprints; they are not loaded as such.
"$scan" pairs 20000 41 >documents.tsv
"$scan" doubles 200 42 documents.tsv >doubles
cut -d ' ' -f 1 doubles >queries
awk '{ printf "{\"fp\":\"%s\",\"fp2\":\"%s\"}\n", $1, $2 }' doubles >queries.jsonl
awk '{ printf "{\"id\":%s,\"fp\":\"%s\",\"fp2\":\"%s\"}\n", $1, $2, $3 }' documents.tsv \
	>documents.jsonl
cut -f 1,2 documents.tsv >documents.bare
run 0 "$load" -q --fp2 ix documents.jsonl
run 0 "$load" -q --fp2 --plan 3x22 ix3 documents.jsonl
run 0 "$load" -q --fp2 --merge never fresh documents.jsonl
run 0 "$load" -q --plan 10x26 single -F tsv documents.bare
run 0 "$load" -q narrow --bits 32 -F lines - <<<00000000

# near RADIUS RADIUS2 BITS WEIGHTS: what a linear scan finds; the same without the weight.
near() {
	"$scan" near "$1" "$2" "$3" "$4" documents.tsv <doubles |
		awk -F '\t' -v OFS='\t' '{ $5 = ""; print }' >expected
	cut -f 1-5 expected >expected.bits
	[ "$(wc -l <expected)" -gt 20 ] || fail "the scan finds little: near $*"
}

# Second fingerprints: k bits of the first, 16 of both.
near 6 16 64 -
for index in ix ix3 fresh; do
	run 0 "$query" search $index -k 6 -F jsonl queries.jsonl
	same out expected
done
near 6 9 64 -
run 0 "$query" search ix -k 6 --accept 9 -F jsonl queries.jsonl
same out expected
near 3 -1 64 -
run 0 "$query" search ix - <queries
same out expected.bits
# An index that has none compares the first ones.
run 0 "$query" search single -F jsonl queries.jsonl
same out expected
near 6 16 64 -
read -r fp fp2 < <(head -1 doubles)
run 0 "$query" search ix -k 6 --second "$fp2" "$fp"
grep "^$fp" expected | cmp - out || fail '--second'
# The nearest by both.
near 16 16 64 -
awk -F '\t' 'n[$1]++ < 2' expected >expected.near
run 0 "$query" search ix --nearest 2 -F jsonl queries.jsonl
same out expected.near

# weights MASK: 0 where the mask has a bit, else 1; the lowest bit first.
weights() {
	local b
	for ((b = 0; b < 64; b++)); do
		echo $((~(0x$1 >> b) & 1))
	done
}
for mask in 00000000000000ff 8000000000000001 ffff000000000000 0000000000000000; do
	weights $mask >mask
	near 3 -1 64 mask
	for index in ix ix3 fresh single; do
		run 0 "$query" search $index --ignore $mask - <queries
		same out expected
	done
done
weights 00000000000000ff >mask
near 5 12 64 mask
run 0 "$query" search ix --ignore 00000000000000ff -k 5 --accept 12 -F jsonl queries.jsonl
same out expected

# With weights, too, bits that are ignored may differ besides the 14.
yes 1 | head -64 >ones
echo 0123456789ab3210 | "$load" -q -F lines wide -
run 0 "$query" search wide --bit-weights ones --ignore 000000000000ffff 0123456789abcdef
output <<<$'0123456789abcdef\t0\t0123456789ab3210\t16\t\t0'

# Weights from a file. A match differs in at most 14 bits that have a weight.
awk "$random"'
	BEGIN { state = 7919 * 43 + 1; for (i = 0; i < 128; i++) print i % 16 == 5 ? 0 : int(rnd() * 60) }' \
	>weights
zeros=$(head -64 weights | grep -cx 0)
head -64 weights | tr '\n' ',' >weights.first
near 70 -1 $((14 + zeros)) weights
for index in ix ix3 fresh single; do
	run 0 "$query" search $index --bit-weights weights.first --accept 70 --complete 70 - <queries
	same out expected
done
near 59 -1 $((14 + zeros)) weights
run 0 "$query" search single --bit-weights weights.first --complete 59 - <queries
same out expected
near 144 144 $((14 + zeros)) weights
for index in ix fresh; do
	run 0 "$query" search $index --bit-weights weights --complete 144 -F jsonl queries.jsonl
	same out expected
done
sort expected >expected.sorted
# So many probes find some of these, and all that is near enough.
for probes in 1 64 1000; do
	# That they may not find everything is no cut.
	run 0 "$query" search ix --strict --bit-weights weights --probes $probes -F jsonl \
		queries.jsonl
	errors </dev/null >&2
	sort out | comm -23 - expected.sorted >wrong
	[ -s wrong ] && fail 'probes find what does not match'
	wc -l <out
done >found
sort -n found | cmp - found || fail 'more probes find less'
[ "$(tail -1 found)" -gt $(($(wc -l <expected) / 2)) ] || fail '1,000 probes find little'
# By default 64 probes of 4x16, where 128 documents for each are less than 20,000.
run 0 "$query" search ix --bit-weights weights -F jsonl queries.jsonl
[ "$(wc -l <out)" -eq "$(sed -n 2p found)" ] || fail 'not 64 probes by default'
run 0 "$query" --json search ix --bit-weights weights -F jsonl queries.jsonl
grep -q '"complete_to":144' out && fail '64 probes of 20,000 documents are complete'
run 0 "$query" search ix --explain --bit-weights weights -F jsonl queries.jsonl
[ "$(grep -c '^  chosen *64 patterns by weight, ' out)" -eq 200 ] || fail 'not 64 patterns'
# And 256 of 3x22, which are no less work than all documents: --json and --explain say so.
run 0 "$query" search ix3 --bit-weights weights -F jsonl queries.jsonl
same out expected
run 0 "$query" --json search ix3 --bit-weights weights -F jsonl queries.jsonl
[ "$(grep -c '"complete_to":144' out)" -eq 200 ] || fail 'does not say that nothing is missed'
run 0 "$query" --json search ix3 --explain --bit-weights weights -F jsonl queries.jsonl
[ "$(grep -c '"chosen":{"access":"scan of t01",' out)" -eq 200 ] || fail 'is not a scan'
run 0 "$query" --json search ix --bit-weights weights --complete 20 -F jsonl queries.jsonl
[ "$(grep -c '"complete_to":2[0-9]' out)" -eq 200 ] || fail 'not complete as far as was asked'
[ "$(grep -o '"distance2":' out | wc -l)" -eq "$(grep -o '"id":' out | wc -l)" ] ||
	fail 'matches without distance2'

# The same weights as members.
list() {
	paste -s -d , "$@"
}
first=$(head -64 weights | list) second=$(tail -64 weights | list)
sed "s/}\$/,\"weights\":[$first],\"weights2\":[$second]}/" queries.jsonl >weighted.jsonl
run 0 "$query" search ix --complete 144 -F jsonl weighted.jsonl
same out expected
# Asked for plain distances, weights mean nothing.
near 6 16 64 -
run 0 "$query" search ix -k 6 -F jsonl weighted.jsonl
same out expected
# They mean nothing to a load, whatever they are.
run 0 "$load" -q other -F jsonl - <<<'{"fp": "0123456789abcdef", "weights": "heavy"}'

# What is not a weight.
bad() {
	run 2 "$query" search ix -F jsonl - <<<"$1"
	says "simidx-query: -:1: \"$2"
}
fp='"fp": "0123456789abcdef"'
bad "{$fp, \"weights\": 7}" 'weights": expected a list of 64 integers in 0..255'
bad "{$fp, \"weights\": [1, 2]}" 'weights": expected a list of 64 integers in 0..255'
bad "{$fp, \"weights\": [${first%,*},256]}" 'weights": expected a list of 64 integers'
bad "{$fp, \"weights\": [${first%,*},1.5]}" 'weights": expected a list of 64 integers'
bad "{$fp, \"weights\": [${first%,*},-1]}" 'weights": expected a list of 64 integers'
bad "{$fp, \"weights2\": [$second]}" 'weights2" goes with "weights" only'
bad "{$fp, \"weights\": [$first], \"weights2\": [$second]}" 'weights": "fp2" and "weights2" go'
bad "{$fp, \"fp2\": \"0123456789abcdef\", \"weights\": [$first]}" 'weights": "fp2" and "weights2"'
bad "{\"text\": \"a b\", \"weights\": [$first]}" 'weights" goes with "fp" only'
for content in '' '1 2 3' "$first,x" "$first,1" "${first%,*},256" "${first%,*},-1"; do
	printf '%s' "$content" >wrong
	run 2 "$query" search ix --bit-weights wrong - <queries
	says 'simidx-query: wrong: expected 64 weights in 0..255'
done
head -c 5000 /dev/zero >wrong
run 2 "$query" search ix --bit-weights wrong - <queries
says 'simidx-query: wrong: no list of weights'
run 2 "$query" search ix --bit-weights missing - <queries
says 'simidx-query: missing: cannot open: No such file or directory'
run 2 "$query" search ix --bit-weights weights.first --second 0123456789abcdef 0123456789abcdef
says 'simidx-query: weights.first: has no weights for --second'
run 2 "$query" search narrow --bit-weights weights 00000000
says 'expected 32 weights in 0..255, the first for the lowest bit, or 96'
for mask in '' 00000000000000fg 0123456789abcdef0; do
	run 2 "$query" search ix --ignore "$mask" 0123456789abcdef
	says 'simidx-query: --ignore: expected 1 to 16 hexadecimal digits'
done
run 2 "$query" search ix --second 123g 0123456789abcdef
says 'simidx-query: --second: expected 1 to 16 hexadecimal digits'
finish
