#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
#
# Queries that come through a pipe: many are answered together, in their order, and one that
# comes alone is answered before the next one is there.
. "$SX_SRCDIR/tests/tool/tool_lib.sh"
scan=$helpers/linear_scan

"$scan" documents 10000 51 >documents.tsv
"$scan" queries 1000 52 documents.tsv >queries
"$scan" search 3 documents.tsv <queries >expected
run 0 "$load" -q ix documents.tsv

# One at a time, the answer first; the last one without an end of its line until then.
one_at_a_time() {
	local line answer i
	for ((i = 1; i <= 5; i++)); do
		line=$(sed -n "$((2 * i - 1))p" queries)
		printf '%s\n' "$line" >&"$in"
		read -r -t 60 -u "$out" answer || fail "no answer to query $i"
		[ "${answer%%	*}" = "$line" ] || fail "another query's answer: $answer"
	done
	printf '%s' "$line" >&"$in"
	exec {in}>&-
	read -r -t 60 -u "$out" answer || fail 'no answer to the last query'
}
coproc "$query" search ix --exists -
in=${COPROC[1]} out=${COPROC[0]} child=$COPROC_PID
one_at_a_time
wait "$child" || fail "exit $? after single queries"
if [ -n "${SX_JSON-}" ]; then
	coproc "$query" --threads 2 --json search ix --first -F jsonl -
	in=${COPROC[1]} out=${COPROC[0]} child=$COPROC_PID
	printf '{"fp":"%s","id":"me"}\n{"fp":' "$(sed -n 1p queries)" >&"$in"
	read -r -t 60 -u "$out" answer || fail 'no answer while half a row is there'
	case $answer in
	'{"query":"me",'*) ;;
	*) fail "another answer: $answer" ;;
	esac
	exec {in}>&-
	wait "$child"
	[ $? -eq 2 ] || fail 'half a row is no trouble'
fi

# The index is exchanged for another one between two queries: that one answers from then on. One
# of other fingerprints does not.
"$scan" documents 3000 53 >other.tsv
awk '{ print $1 "\t" substr($2, 13) }' other.tsv >narrow.tsv
first=$(sed -n 1p queries)
for how in --first --explain; do
	run 0 "$load" -q --create truncate moving documents.tsv
	coproc "$query" search moving $how - 2>err.moving
	in=${COPROC[1]} out=${COPROC[0]} child=$COPROC_PID
	printf '%s\n' "$first" >&"$in"
	read -r -t 60 -u "$out" answer || fail 'no answer before the exchange'
	run 0 "$load" -q --create truncate moving other.tsv
	fp=$(sed -n 7p other.tsv | cut -f 2)
	printf '%s\n' "$fp" >&"$in"
	while read -r -t 60 -u "$out" answer; do
		case $answer in "$fp"*) break ;; esac
	done
	case $answer in
	"$fp"*) ;;
	*) fail "$how: no answer after the exchange: $(cat err.moving)" ;;
	esac
	[ "$how" != --first ] || [ "$(cut -f 2 <<<"$answer")" = "$(sed -n 7p other.tsv | cut -f 1)" ] ||
		fail "another answer after the exchange: $answer"
	run 0 "$load" -q --create truncate --bits 16 moving narrow.tsv
	printf '%s\n' "$fp" >&"$in"
	exec {in}>&-
	cat <&"$out" >/dev/null
	wait "$child"
	[ $? -eq 2 ] || fail "$how: an answer by other fingerprints"
	grep -q 'of other fingerprints' err.moving || fail "$how: $(cat err.moving)"
done

# Many: 60,000 from a file and through pipes, whatever the pieces they come in.
for ((i = 0; i < 60; i++)); do
	cat queries
done >many
for ((i = 0; i < 60; i++)); do
	cat expected
done >expected.many
for threads in 1 2; do
	run 0 "$query" --threads $threads search ix -F lines many
	same out expected.many
done
"$query" search ix - < <(cat many) >out || fail 'a pipe'
same out expected.many
"$query" search ix - < <(head -100 many; sleep 0.2; tail -n +101 many | head -20000) >out ||
	fail 'a pipe that stands'
head -20100 many | "$query" search ix -F lines - >expected.part
same out expected.part
# Names and weights of many lie together and are kept.
awk '{ print NR "\t" $1 "\tname-" NR }' many | head -50000 >named.tsv
run 0 "$query" search ix --ignore 0000000000000001 -F tsv named.tsv
cut -f 1 out | uniq | sed 's/name-//' | sort -n -c || fail 'names out of order'
run 0 "$query" search ix -F tsv named.tsv
awk -F '\t' 'NR == FNR { fp["name-" $1] = $2; next } { print fp[$1] "\t" $2 "\t" $3 "\t" $4 "\t" $5 }' \
	named.tsv out >renamed
head -n "$(wc -l <renamed)" expected.many | cmp - renamed || fail 'other answers under names'

# Answers of several pieces among small ones, in the order of the queries, from several threads.
awk 'BEGIN {
	for (id = 0; id < 140000; id++)
		print id "\t0123456789abcdef"
	print 140000 "\tfedcba9876543210"
}' >heavy.tsv
awk 'BEGIN {
	for (i = 0; i < 600; i++)
		print (i % 150 == 7 || i == 8 ? "0123456789abcdef" : "fedcba9876543210")
}' >heavy.queries
awk '/^f/ { print $1 "\t140000\t" $1 "\t0\t"; next } {
	for (id = 0; id < 140000; id++)
		print $1 "\t" id "\t" $1 "\t0\t"
}' heavy.queries >heavy.expected
awk '{
	line = "{\"query\":\"" $1 "\",\"fingerprint\":\"" $1 "\",\"matches\":["
	id = /^f/ ? 140000 : 0
	end = /^f/ ? 140001 : 140000
	printf "%s", line
	for (; id < end; id++)
		printf "{\"id\":%d,\"fp\":\"%s\",\"distance\":0,\"weight\":0}%s", id, $1,
		       id < end - 1 ? "," : ""
	print "],\"truncated\":false,\"complete_to\":3}"
}' heavy.queries >heavy.json
run 0 "$load" -q heavy heavy.tsv
for threads in 1 3; do
	run 0 "$query" --threads $threads search heavy - <heavy.queries
	same out heavy.expected
	run 0 "$query" --threads $threads --json search heavy - <heavy.queries
	same out heavy.json
done

# The program that reads the answers ends while the queries wait.
# await FILE: up to a minute.
await() {
	local i
	for ((i = 0; i < 600; i++)); do
		[ -s "$1" ] && return
		sleep 0.1
	done
}
mkfifo answers
{
	head -1 queries
	await gone
	head -1 queries
	await code
} | { "$query" search ix - >answers 2>err; echo $? >code; } &
head -1 answers >/dev/null
echo yes >gone
await code
[ -s code ] || fail 'it reads on though nobody takes the answers'
wait
[ "$(cat code)" -eq 0 ] || fail "exit $(cat code) though the first query found something"
[ -s err ] && fail "a message though nobody takes the answers: $(cat err)"
finish
