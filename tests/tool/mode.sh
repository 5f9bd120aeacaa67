#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
#
# simidx-load --mode replace and delete, and --merge-only: every format that they take, what is
# not there, and options that do not fit. mode_if_new.sh has the rest.
. "$SX_SRCDIR/tests/tool/tool_lib.sh"

# holds INDEX, and the rows that "dump" is to print on standard input; the index must be sound.
holds() {
	run 0 "$query" verify "$1"
	run 0 "$query" dump "$1"
	output
}

fill() {
	rm -rf ix
	for ((i = 1; i <= 6; i++)); do printf '%d\t%016x\tl%d\n' $i $i $i; done |
		run 0 "$load" -q -F tsv ix -
}

# Replace: by id; by label, which keeps the id; of two rows of one load the last one stays. What is
# not there is added. A label that another document has is an error.
fill
printf '2\t%016x\ttwo\n\t%016x\tl3\n9\t%016x\n\t%016x\tten\n2\t%016x\tzwei\n4\t%016x\tl5\n' \
	32 33 39 40 34 36 >new.tsv
run 1 "$load" --mode replace ix new.tsv
says 'simidx-load: new.tsv:6: the label is already in use'
sums_up '5 documents added or replaced; index has 8; 1 row rejected'
holds ix <<END
1	0000000000000001	l1
2	0000000000000022	zwei
3	0000000000000021	l3
4	0000000000000004	l4
5	0000000000000005	l5
6	0000000000000006	l6
9	0000000000000027	
10	0000000000000028	ten
END
# The same rows from csv and as a new index; of fingerprints alone nobody knows what they replace.
rm -rf made
head -5 new.tsv | tr '\t' , | run 0 "$load" -q --mode replace -F csv made -
holds made <<END
2	0000000000000022	zwei
3	0000000000000021	l3
9	0000000000000027	
10	0000000000000028	ten
END
run 1 "$load" --mode replace ix -F lines - <<<0123456789abcdef
says 'simidx-load: -:1: it has no id and no label, and --mode replace and delete need one'
if [ -n "${SX_JSON-}" ]; then
	printf '{"id":"l1","fp":"a1"}\n{"id":6,"fp":"a6"}\n{"label_hex":"ff","fp":"af"}\n' |
		run 0 "$load" -q --mode replace -F jsonl ix -
	"$query" dump ix >dumped
	grep -E '^(1|6|11)	' dumped >some
	printf '1\t00000000000000a1\tl1\n6\t00000000000000a6\t\n11\t00000000000000af\t\\xff\n' >want
	same want some
fi

# Delete: of several inputs all that is there, and what is not is counted.
fill
printf '2\n9\n' >two.ids
run 1 "$load" --mode delete -F ids ix two.ids - <<<$'3\n77'
sums_up '2 documents deleted; index has 4; 2 not there (first: two.ids:2)'
holds ix < <(for i in 1 4 5 6; do printf '%d\t%016x\tl%d\n' $i $i $i; done)
# Names that say the format need no -F.
printf '\t\tl4\n' >some.tsv
printf '5,1\n' >some.csv
run 0 "$load" --mode delete ix some.tsv some.csv
sums_up '2 documents deleted; index has 2'
holds ix < <(for i in 1 6; do printf '%d\t%016x\tl%d\n' $i $i $i; done)
# Each format.
deletes() { # FORMAT OPTION...: standard input names documents 2 and 5
	fill
	run 0 "$load" --mode delete "${@:2}" -F "$1" ix -
	sums_up '2 documents deleted; index has 4'
	holds ix < <(for i in 1 3 4 6; do printf '%d\t%016x\tl%d\n' $i $i $i; done)
}
deletes ids <<<$'2\n5'
deletes ids -0 < <(printf '2\0005\000')
deletes labels <<<$'l2\nl5'
deletes labels < <(printf 'l\\x32\r\nl5')
deletes labels -0 < <(printf 'l2\0l5\0')
deletes tsv <<<$'2\n5'
deletes tsv <<<$'2\t\tl1\n\tanything\tl5'
deletes tsv --header <<<$'title\tlabel\nx\tl2\ny\tl5'
deletes tsv --label-field 2 <<<$'x\tl2\ny\tl5'
deletes csv <<<$'2\n"5"'
deletes csv --delimiter ';' --header --id-field nr <<<$'nr;x\n2;"a\nb"\n5;c'
deletes dump < <(printf '2\t%016x\tl2\n5\t%016x\t\n' 2 5)
[ -z "${SX_JSON-}" ] || deletes jsonl <<<$'{"id":2,"text":7}\n{"label":"l5"}'
[ -z "${SX_JSON-}" ] || deletes jsonl --id-field key <<<$'{"key":"l2"}\n{"key":5}'
printf '2\t%016x\tl2\n5\t%016x\t\n' 2 5 >named.tsv
fill
run 0 "$load" -q --mode delete -F tsv ix named.tsv
[ "$("$query" dump ix | wc -l)" -eq 4 ] || fail 'a file that was named with -F'
# A label with a backslash or a line break: escaped in lines, as it is with -0.
printf '20\t14\ta\\\\b\n21\t15\tc\\nd\n' | run 0 "$load" -q --mode replace -F tsv ix -
run 1 "$load" -q --mode delete -F labels ix - <<<'a\b'
says 'simidx-load: -:1: label: a backslash that begins none of \t \n \r \\ \xHH (-0 reads labels without escapes)'
printf 'a\\b\0c\nd\0' | run 0 "$load" --mode delete -0 -F labels ix -
sums_up '2 documents deleted; index has 4'
run 1 "$load" --mode delete -F ids ix - <<<$'x\n\n'
says 'simidx-load: -:1: id: expected a decimal number in 0..9223372036854775807'
sums_up '0 documents deleted; index has 4; 3 rows rejected'
run 1 "$load" --mode delete -F labels ix - <<<''
says 'simidx-load: -:1: an empty label'
run 2 "$load" --mode delete -F tsv --header ix - <<<$'fp\tx'
says 'simidx-load: -:1: the header names no column "id" and none "label", but "fp", "x"'
# The id or label is free at once for others, and an id that was deleted is not given again.
fill
printf 'l6\nl5\n' >labels
run 0 "$load" -q --mode delete -F labels ix labels
printf '\t%016x\tl6\n' 66 | run 0 "$load" -q -F tsv ix -
run 0 "$query" dump ix
tail -1 out >last
printf '7\t%016x\tl6\n' 66 | cmp - last || fail 'an id that is used again'
# What is deleted is the input of a load that goes on, too.
printf 'l1\nl2\n' >labels
echo l9 >more
run 1 "$load" --commit 1 --rejects rejects --summary summary --mode delete -F labels ix labels more
printf 'more:1\tis not there\n' | diff - rejects || fail 'which label is not there'
sums_up '2 documents deleted; index has 3; 1 not there (more:1)'
grep -q '"stored":2.*"mode":"delete".*"missing":1' summary || fail 'the summary of a deletion'
run 0 "$load" --resume --mode delete -F labels ix labels more
says 'simidx-load: ix: going on after row 3 of this input'
run 2 "$load" --resume --mode delete -F labels ix more
says 'simidx-load: ix: --resume: the last load finished, and it had other inputs'

# --merge-only: the fresh rows go into the tables, and the mark of a load stays.
fill
printf '10\taa\n' >day.tsv
"$load" -q --merge never --write insert ix day.tsv
run 0 "$load" --merge-only --summary summary ix
grep -q '"mode":"merge-only"' summary || fail 'the summary has another mode'
sums_up 'merged; index has 7'
run 0 "$query" stats --json ix
if ! grep -q '"fresh_rows":0' out; then
	fail 'fresh rows after a merge'
	cat out
fi
run 0 "$load" --resume ix day.tsv
sums_up '0 documents inserted; index has 7'

# What does not fit is named.
refused() { # MESSAGE OPTION...
	run 2 "$load" "${@:2}"
	says "simidx-load: $1"
}
"$load" -q --ids none bare -F lines - <<<1234
echo 1234 >fps
refused '--mode replace changes the index row by row, so --write rebuild does not fit' \
	--mode replace --write rebuild ix new.tsv
refused '--mode delete changes the index row by row, so --write rebuild does not fit' \
	--mode delete --write rebuild -F labels ix more
refused '--mode if-new changes the index row by row, so --from does not fit' \
	--mode if-new --from bare ix
refused '--mode replace needs ids, so --ids none does not fit' --mode replace --ids none none new.tsv
refused 'bare: has no ids, so --mode replace does not fit' --mode replace bare new.tsv
refused 'bare: has no ids, so --mode delete does not fit' --mode delete -F labels bare more
refused '--on-duplicate goes with --mode add and if-new' --mode replace --on-duplicate first ix new.tsv
refused '--radius goes with --mode if-new' -k 2 ix new.tsv
refused '--accept goes with --mode if-new' --mode replace --accept 2 ix new.tsv
refused '--emit goes with --mode if-new' --mode delete --emit all -F labels ix more
refused '--radius asks for the plain distance' --mode if-new -k 2 --accept 9 ix new.tsv
refused '--accept goes with texts, and no input has any' --mode if-new --accept 9 ix new.tsv
refused '--emit new writes lines, and the rows of bin are none' --mode if-new --emit new -F bin ix new.tsv
refused 'of --rejects, --summary and --emit only one can go to standard output' \
	--mode if-new --emit new --rejects - ix new.tsv
refused '-F ids goes with --mode delete' -F ids ix new.tsv
refused '--mode delete reads ids, labels, tsv, csv, jsonl or dump, not lines' --mode delete -F lines ix fps
refused '--mode delete: -r finds files to store, so it does not fit' --mode delete -F ids -r ix .
refused '--mode delete: --files-from finds files to store, so it does not fit' \
	--mode delete -F ids --files-from fps ix
refused '--mode delete needs an existing index, so --create does not fit' \
	--mode delete --create truncate -F labels ix more
refused 'none: no index: No such file or directory' --mode delete -F labels none more
refused 'more: --mode delete reads ids, labels, tsv, csv, jsonl or dump, not text: -F tells what it is' \
	--mode delete ix more
refused 'standard input needs its format, such as -F ids or -F labels' --mode delete ix -
refused 'l1: no such file; a few: simidx-query delete INDEX --label l1' --mode delete -F labels ix l1
refused 'none: no index: No such file or directory' --merge-only none
refused '--merge-only stores nothing, so it takes no INPUT' --merge-only ix new.tsv
refused '--merge-only: options about storing documents do not fit' --merge-only --mode if-new ix
refused '--mode: expected one of add, if-new, replace, delete' --mode upsert ix new.tsv
[ ! -e none ] || fail 'an index was made'
finish
