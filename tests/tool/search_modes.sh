#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
#
# Any radius, how much is wanted, and how searches work: the same answers as a linear scan.
. "$SX_SRCDIR/tests/tool/tool_lib.sh"
scan=$helpers/linear_scan

"$scan" documents 30000 31 >documents.tsv
"$scan" queries 300 32 documents.tsv >queries
"$scan" search 12 documents.tsv <queries >expected.12
# Nearer ones come first, so that what a smaller radius finds are lines of these, in the same order.
for k in 0 3 4 6 7 9; do
	awk -F '\t' -v k=$k '$4 <= k' expected.12 >expected.$k
done
head -10 queries >few
"$scan" search 64 documents.tsv <few >expected.all

for plan in 4x16 10x26 16x28 20x31 3x22 2x32; do
	run 0 "$load" -q --plan $plan p$plan documents.tsv
	for k in 3 4 7 9; do
		run 0 "$query" search p$plan -k $k - <queries
		same out expected.$k
	done
done
run 0 "$load" -q --layout rows rows documents.tsv
run 0 "$load" -q --merge never fresh documents.tsv
head -20000 documents.tsv >half.tsv
tail -n +20001 documents.tsv >rest.tsv
run 0 "$load" -q both half.tsv
run 0 "$load" -q --merge never both rest.tsv
for index in p4x16 rows fresh both; do
	for k in 0 3 6 12; do
		run 0 "$query" search $index -k $k - <queries
		same out expected.$k
	done
	run 0 "$query" search $index --radius 64 - <few
	same out expected.all
done

# How the work is done changes nothing.
for how in '--threads 1' '--threads 3' '--block-index never' '--block-index 1M' '--block-index auto' \
	'--kernel scalar'; do
	# shellcheck disable=SC2086
	run 0 "$query" $how search p4x16 -k 7 - <queries
	same out expected.7
done
run 2 "$query" --kernel abacus search p4x16 -k 7 - <queries
says "found 'abacus'"
for size in '' 0 K 1P 1.5M -1; do
	run 2 "$query" --block-index "$size" search p4x16 -k 7 - <queries
	says "--block-index: expected auto, never or a size such as 400M, found '$size'"
done
run 2 "$query" --threads 0 search p4x16 -k 7 - <queries
says "--threads: expected a number in 1..256, found '0'"

# The nearest, at any distance or within a radius.
awk -F '\t' 'n[$1]++ < 5' expected.all >expected.near
run 0 "$query" search p4x16 --nearest 5 - <few
same out expected.near
errors </dev/null
awk -F '\t' 'n[$1]++ < 3' expected.9 >expected.near
run 0 "$query" search p4x16 --nearest 3 -k 9 - <queries
same out expected.near
errors </dev/null

# Counts, for each query in its order.
awk -F '\t' 'NR == FNR { n[$1]++; next } { print $1 "\t" n[$1] + 0 }' expected.7 queries >counts
run 0 "$query" search p4x16 -k 7 --count - <queries
same out counts
awk -F '\t' '{ print $1 "\t" ($2 > 0) }' counts >exist
run 0 "$query" search p4x16 -k 7 --exists - <queries
same out exist
grep -q '	0$' exist || fail 'all queries find something'
run 1 "$query" search p4x16 --exists 5555555555555555
output <<<'5555555555555555	0'

# The first one found is one of the matches, and there is one wherever something matches.
run 0 "$query" search p4x16 -k 7 --first - <queries
sort out >first
sort expected.7 | comm -13 - first >other
[ -s other ] && fail 'first finds what does not match'
[ "$(cut -f 1 first | uniq | wc -l)" -eq "$(wc -l <first)" ] || fail 'first finds more than one'
[ "$(wc -l <first)" -eq "$(grep -vc '	0$' counts)" ] || fail 'first does not find all'
errors </dev/null

# Cut answers are told, and are trouble if the caller says so.
one=$(awk -F '\t' '$2 > 1 { print $1; exit }' counts)
run 0 "$query" search p4x16 -k 7 --limit 1 "$one"
grep "^$one" expected.7 | head -1 | cmp - out || fail 'not the nearest one'
errors </dev/null
run 2 "$query" search p4x16 -k 7 --limit 1 --strict "$one"
errors <<<'simidx-query: 1 answer was cut at 1 match'
[ "$(wc -l <out)" -eq 1 ] || fail 'what was found is not printed'
run 0 "$query" search p4x16 -k 7 --limit 1000 --strict "$one"
"$query" search p4x16 -k 7 --max-candidates 1 - <queries >out 2>err
[ $? -le 1 ] || fail 'trouble for a cut answer'
says 'answers were cut at 1 candidate'
sort out >cut
sort expected.7 | comm -13 - cut >other
[ -s other ] && fail 'cut answers have what does not match'
run 2 "$query" search p4x16 -k 7 --max-candidates 1 --strict - <queries
says 'simidx-query: 300 answers were cut at 1 candidate'
run 0 "$query" --json search p4x16 -k 7 --limit 1 "$one"
grep -q '"truncated":true' out || fail 'cut, but not said in JSON'
run 0 "$query" --json search p4x16 -k 7 --count "$one"
grep -q "\"count\":$(awk -v q="$one" '$1 == q { print $2 }' counts),\"truncated\":false,\"complete_to\":7}" out ||
	fail 'count in JSON'
run 0 "$query" --json search p4x16 -k 7 --exists "$one"
grep -q '"exists":true,' out || fail 'exists in JSON'

near=$(head -1 expected.3 | cut -f 1)
# What is looked up: 4x16 needs four ranges for k = 3 (Manku et al., section 3).
run 0 "$query" search p4x16 --explain "$near"
for word in chosen rejected took complete kernel; do
	grep -q " $word " out || fail "explain does not tell: $word"
done
grep -q '^  took  *probes 4, ' out || fail 'not four probes'
grep -q '^  complete  *to distance 3$' out || fail 'not complete to 3'
run 1 "$query" search p4x16 --explain -k 0 5555555555555555
grep -qE 'probes 1, .*documents 0, measured [0-9.]+ us$' out || fail 'one exact look-up'
run 0 "$query" --json search p4x16 --explain - <few
[ "$(wc -l <out)" -eq 10 ] || fail 'not one object for each query'
[ "$(grep -c '"chosen":{"access":.*"rejected":\[.*"probes":4,.*"microseconds":[0-9.]*,"kernel":"' out)" -eq 10 ] ||
	fail 'explain in JSON'

# What makes no sense together.
while IFS='|' read -r options message; do
	case $options-${SX_TEXT-} in
	*--text*-) continue ;;
	esac
	# shellcheck disable=SC2086
	run 2 "$query" search p4x16 $options "$one"
	says "simidx-query: $message"
	says "'simidx-query search --help'"
done <<'END'
--limit 1 --first|--limit, --first, --count, --exists and --nearest exclude each other
--count --exists|--limit, --first, --count, --exists and --nearest exclude each other
--nearest 2 --limit 2|--limit, --first, --count, --exists and --nearest exclude each other
--probes 4|--probes goes with texts or weights
--complete 4|--complete goes with texts or weights
--accept 4|--accept goes with weights or second fingerprints
--bit-weights w -k 3|-k asks for the plain distance, which --bit-weights has no use for
--probes 4 -k 3 --text|-k asks for the plain distance, which --probes has no use for
--text --bit-weights w|--bit-weights is for fingerprints; texts have their own
--text --probes 4 --complete 4|--probes and --complete exclude each other
--second 0 -F lines|--second goes with one fingerprint
--text -k 3 --accept 4|--accept goes with weights or second fingerprints
END
run 2 "$query" search p4x16 --ignore xyz "$one"
says "--ignore: expected 1 to 16 hexadecimal digits, found 'x' in place of digit 1"
says "'simidx-query search --help'"
# Options about texts, where nothing is one.
for option in '--weights sqrt' '--short exact' '--min-tokens 7' '--stop en' '--seed 1' \
	'--extractor words1' '--grams 1' '--stem english' '--top 5'; do
	# shellcheck disable=SC2086
	run 2 "$query" search p4x16 $option "$one"
	says "simidx-query: ${option% *} goes with texts, and the queries are fingerprints"
	# shellcheck disable=SC2086
	run 2 "$query" search p4x16 $option -F lines queries
	says "simidx-query: ${option% *} goes with texts, and the queries are fingerprints"
	[ -s out ] && fail 'answers in spite of a usage error'
done
run 2 "$query" search p4x16 --features-by me "$one"
says 'simidx-query: --features-by goes with features, and the queries are fingerprints'
run 2 "$query" search p4x16 --second 0123456789abcdef "$one"
says 'p4x16: has no second fingerprints, so --second does not fit'
finish
