#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
#
# simidx-load --mode if-new and --emit: the decisions of a scan of all that was kept, in the order
# of the input, whatever the transactions and threads; and after kills. SIMIDX_LONG=1: a million rows.
. "$SX_SRCDIR/tests/tool/tool_lib.sh"
export TMPDIR=$tmp
rows=20000 rounds=4
[ -z "${SIMIDX_LONG-}" ] || rows=1000000 rounds=40
RANDOM=5

# A stream of which three of ten rows are near to an earlier one, but none of the first ten.
"$helpers/linear_scan" stream $rows 41 >stream.tsv
"$helpers/linear_scan" replay stream.tsv >expected
near=$(grep -c ^dup expected)
[ $near -eq $((rows * 3 / 10 - 3)) ] ||
	fail "$near of $rows rows are near to others"
sums="$((rows - near)) documents inserted"
for commit in 1000 $rows; do
	rm -rf ix
	run 0 "$load" --commit "$commit" --mode if-new --emit all ix stream.tsv
	tail -1 err | tr -d , | grep -q "$sums.*; $near near-duplicates$" || { fail 'the summary'; cat err; }
	same expected out
	run 0 "$query" verify ix
done
# A commit each: all rows where syncs can be made to do nothing, which decide nothing; and the first
# rows with the disk's time for each.
fault_library=$SX_BUILDDIR/tests/fault/.libs/libfail.so
if [ -e "$fault_library" ]; then
	rm -rf ix
	run 0 with_fault none 0 once "$load" -q --commit 1 --mode if-new --emit all ix stream.tsv
	same expected out
	run 0 "$query" verify ix
fi
rm -rf ix
head -1000 stream.tsv | run 0 "$load" -q --commit 1 --mode if-new --emit all -F tsv ix -
head -1000 expected | sed 's/\tstream.tsv:/\t-:/' | output
sed -n 's/^dup\t//p' expected >dups
grep ^new expected | cut -f 3 >kept
awk -F '\t' 'NR == FNR { kept[$1]; next } $3 in kept' kept stream.tsv >news
rm -rf ix
run 0 "$load" -q --mode if-new --emit dup ix stream.tsv
same dups out
rm -rf ix
run 0 "$load" -q --mode if-new --emit new ix stream.tsv
same news out
# Nothing of it is new now: labels that are in use are no news of either kind.
run 0 "$load" --mode if-new --emit all --on-duplicate first ix stream.tsv
[ "$(grep -c ^new out)" -eq 0 ] || fail 'rows that are new twice'
cut -f 1,2 stream.tsv >bare.tsv
run 0 "$load" -q --mode if-new --emit new ix bare.tsv
output </dev/null

# Lines as they came, from all formats that have some.
first() {
	rm -rf few
	run 0 "$load" -q --mode if-new --emit new "$@"
}
printf '0xFF\r\nfe\nff00000000000000' >few.fps
first few few.fps -F lines
printf '0xFF\r\nff00000000000000\n' | output
printf 'fp;url\n00ff;"a;\n""b"\n00fe;c\nff00;d\n' >few.csv
first --header --delimiter ';' --label-field url few few.csv
printf '00ff;"a;\n""b"\nff00;d\n' | output
if [ -n "${SX_JSON-}" ]; then
	printf '{"fp": "ff", "more": [1]}\n{"fp":"fe"}\n{ "fp":"ff00" }\n' >few.jsonl
	first few few.jsonl
	sed -n '1p;3p' few.jsonl | output
fi
if [ -n "${SX_JSON-}${SX_ZLIB-}" ] && [ -n "${SX_ZLIB-}" ]; then
	gzip -c few.fps >few.gz
	first few few.gz -F lines
	printf '0xFF\r\nff00000000000000\n' | output
fi
# Binary rows are decided, too: all and dup tell their numbers.
printf '\1\0\0\0\0\0\0\0\5\0\0\0\0\0\0\0\3\0\0\0\0\0\0\0\6\0\0\0\0\0\0\0' >few.bin
rm -rf few
run 0 "$load" -q --mode if-new --emit all -F bin few few.bin
printf 'new\tfew.bin:1\t\t5\t\t\t\ndup\tfew.bin:2\t\t5\t1\t1\t\n' | output
# The radius; the nearest one, and of several the one with the smallest id.
printf '1\tf\n2\tff00\n3\tf0\n' >three.tsv
rm -rf few
run 0 "$load" -q few three.tsv
run 0 "$load" -q --mode if-new -k 4 --emit all few -F lines - <<<$'0\n1f\nf01'
printf 'dup\t-:1\t\t1\t4\t4\t\ndup\t-:2\t\t1\t1\t1\t\nnew\t-:3\t\t4\t\t\t\n' | output
run 0 "$load" -q --mode if-new -k 0 --emit all few -F lines - <<<$'f\n0'
printf 'dup\t-:1\t\t1\t0\t0\t\nnew\t-:2\t\t5\t\t\t\n' | output
run 2 "$load" --mode if-new --radius 3 --accept 4 few -F lines /dev/null
says '--radius asks for the plain distance, which --accept has no use for'
# A stream may begin with what is there, in whatever number: it is not stopped as one of wrong rows.
seq 1001 | awk '{ printf "%d\t%x\n", $1, $1 * 65537 }' >again.tsv
run 0 "$load" -q again again.tsv
run 1 "$load" --mode if-new again again.tsv
says ': id 1 is already in use (--on-duplicate first keeps the stored one, without an error; '
sums_up '0 documents inserted; index has 1,001; 1,001 rows rejected'
# Without ids, and a row that is rejected: neither new nor near.
run 1 "$load" -q --ids none --mode if-new --emit all none -F lines - <<<$'f\nx\n7'
printf 'new\t-:1\t\t\t\t\t\ndup\t-:3\t\t\t1\t1\t\n' | output
# Every line is written; if not, nothing of it is remembered.
if [ -e /dev/full ]; then
	rm -rf full
	"$load" -q --mode if-new --emit new full stream.tsv >/dev/full 2>err
	[ $? -eq 2 ] || fail 'a full device is no error'
	errors <<'END'
simidx-load: cannot write to standard output: No space left on device
simidx-load: full: holds 0 documents; of this input 0 rows were committed
END
	[ "$("$query" dump full | wc -l)" -eq 0 ] || fail 'remembered in spite of it'
fi

# Texts, by several threads: the same rows in the same order as by one.
if [ -n "${SX_TEXT-}" ]; then
	mkdir texts
	awk 'BEGIN {
		for (i = 0; i < 400; i++) {
			file = "texts/" i + 1000
			for (word = int(i / 2) * 1000; word <= int(i / 2) * 1000 + 200; word++)
				print "word" word >file
			print "end " i >file
			close(file)
		}
	}'
	for threads in 1 2 5; do
		rm -rf words
		run 0 "$load" -q --threads $threads --commit 7 --mode if-new --emit all -r words texts
		cp out out.$threads
		[ "$(grep -c ^new out)" -eq 200 ] || fail "of 200 pairs $(grep -c ^new out) are new"
		awk -F '\t' '{ n = substr($2, 7); if ($1 == "dup" && ($7 != "texts/" n - 1 || $6 > 112)) exit 1
			     if (($1 == "new") != (n % 2 == 0)) exit 1 }' out || fail 'not each second one'
		same out.1 out.$threads
		run 0 "$query" verify words
	done
	rm -rf words
	run 0 "$load" -q --mode if-new --emit new -r words texts
	for ((i = 1000; i < 1400; i += 2)); do echo texts/$i; done | output
	# By weights everything but a copy is new with --accept 0 where bits of weight differ.
	rm -rf words
	cp texts/1000 copy
	run 0 "$load" -q --mode if-new --accept 0 --emit dup words -r texts copy
	grep -q '^copy	copy	0	0	0	texts/1000$' out || fail 'a copy is new'
	# The default is --accept 112.
	for accept in '' '--accept 112'; do
		rm -rf words
		# shellcheck disable=SC2086
		run 0 "$load" -q --mode if-new $accept --emit all -r words texts
		cp out "said$accept"
	done
	same said "said--accept 112"
	rm -rf words
	run 0 "$load" -q --no-fp2 --mode if-new --emit dup words texts/1000 copy
	printf 'copy\tcopy\t0\t0\t0\ttexts/1000\n' | output
	# The limit is the one of the index: 160 where second fingerprints are made from runs of words,
	# and 112 where they are made from the same features. These two weigh 138 and more by the second.
	mkdir edited
	awk 'BEGIN {
		for (i = 0; i < 200; i++) {
			word = "w" (i * i * 7919 + i * 31) % 3001
			printf " %s", word >"edited/1"
			printf " %s", i % 30 == 9 && i < 175 ? "new" i : word >"edited/2"
		}
	}'
	weight=$("$query" similar edited/1 edited/2 | sed -n 's/^weight .* \([0-9]*\) by the second$/\1/p')
	[ "$weight" -gt 112 ] && [ "$weight" -le 160 ] || fail "the texts weigh $weight"
	rm -rf words
	run 0 "$load" -q --mode if-new --emit new words edited/1 edited/2
	printf 'edited/1\n' | output
	run 0 "$load" -q --mode if-new --accept 112 --create truncate --emit new words edited/1 edited/2
	printf 'edited/1\nedited/2\n' | output
	# A text without words is near to nothing.
	: >texts/none1
	: >texts/none2
	run 0 "$load" -q --mode if-new --emit new words texts/none1 texts/none2
	printf 'texts/none1\ntexts/none2\n' | output
fi

# Half a line that a killed load has left is ended before others follow.
rm -rf ix
printf half >lines
"$load" -q --mode if-new --emit new ix stream.tsv >>lines || fail 'with half a line'
{ echo half; cat news; } >want
same want lines

# With --resume half a line is of the load that was killed, and its row comes again.
for whole in '' 'before\n' "$(seq -s x 3000)\n"; do
	rm -rf ix
	# shellcheck disable=SC2059 # of newlines
	printf "$whole" >want
	cp want lines
	head -c 5000 /dev/zero | tr '\0' h >>lines
	"$load" -q --resume --mode if-new --emit new ix stream.tsv >>lines || fail 'resumed'
	cat news >>want
	same want lines
done

# While the input pauses, what has come is written and stored, and others can write.
rm -rf ix
: >lines # the loader's shell opens it when the pipe has been opened here
mkfifo pipe
"$load" -q --mode if-new --emit new -F lines ix - <pipe >lines 2>err &
loader=$!
exec 9>pipe
printf 'f\n7\nff00\n' >&9
for ((tries = 0; tries < 300; tries++)); do
	[ "$(wc -l <lines)" -lt 2 ] || break
	sleep 0.1
done
printf 'f\nff00\n' | diff - lines || fail 'nothing was written in a pause'
echo ff0000 | run 0 "$load" -q --wait 20000 -F lines ix -
printf 'ff0000\nff000000\n' >&9
exec 9>&-
wait $loader || fail 'after a pause'
printf 'f\nff00\nff000000\n' | diff - lines || fail 'after a pause'

# Others may delete, and put a compacted index in its place.
rm -rf ix
for ((i = 1; i <= 200; i++)); do printf '%x\n' $((i * 0x1234567)); done >some.fps
head -100 some.fps | run 0 "$load" -q -F lines ix -
"$load" -q --commit 1 --mode if-new -k 0 -F lines ix - <pipe 2>err &
loader=$!
exec 9>pipe
sed -n 101,150p some.fps >&9
until_holds ix 150
seq 0 99 | run 0 "$load" -q --mode delete -F ids ix -
run 0 "$query" -q compact ix
sed -n 151,200p some.fps >&9
exec 9>&-
wait $loader || { fail 'after a deletion and a compaction'; cat err; }
[ "$("$query" dump ix | wc -l)" -eq 100 ] || fail 'not those that were not deleted'

# A feed that begins with many rows that are there already is no hopeless one.
awk '{ printf "%d\t%x\tl%d\n", NR, NR * 65537, NR }' <(seq 1500) >feed.tsv
rm -rf ix
run 0 "$load" -q ix feed.tsv
printf '\tff00ff00ff00ff00\tlast\n' >>feed.tsv
run 1 "$load" --mode if-new --emit new ix feed.tsv
printf '\tff00ff00ff00ff00\tlast\n' | output

# A radius above the bits of a fingerprint.
run 2 "$load" --bits 16 --mode if-new -k 17 bits few.fps -F lines
says '--radius 17: a fingerprint of the index has 16 bits'

# Killed at any moment and resumed: no line is lost, and the index has what all rows at once leave.
# Some lines may come twice.
started=$(date +%s%N)
rm -rf ix
run 0 "$load" -q --commit 500 --mode if-new --emit new ix stream.tsv
"$query" dump ix >whole
span=$((($(date +%s%N) - started) / 1000000 + 1))
killed=0
for ((round = 0; round < rounds || (killed == 0 && round < 20 * rounds); round++)); do
	rm -rf ix lines
	code=137
	for ((tries = 0; tries < 4 && code == 137; tries++)); do
		pause=$((RANDOM * span / 32768))
		"$load" -q --commit 500 --resume --mode if-new --emit new ix stream.tsv >>lines 2>/dev/null &
		loader=$!
		sleep $((pause / 1000)).$(printf %03d $((pause % 1000)))
		kill -9 $loader 2>/dev/null
		wait $loader 2>/dev/null
		code=$?
		[ $code -ne 137 ] || killed=$((killed + 1))
	done
	[ $code -ne 137 ] ||
		"$load" -q --commit 500 --resume --mode if-new --emit new ix stream.tsv >>lines
	run 0 "$query" verify ix
	"$query" dump ix >dumped
	same whole dumped
	# Whole lines only: half of one that was killed is removed by the load that goes on.
	awk 'NR == FNR { news[$0]; next } !seen[$0]++' news lines >once
	same news once
done
[ $killed -gt 0 ] || fail 'no load was killed'
echo "$round rounds, $killed killed, $(($(wc -l <lines) - $(wc -l <news))) lines twice in the last one"
finish
