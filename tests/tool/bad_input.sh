#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
#
# Rows that mean nothing: told with file and line, left out, the others stored, exit 1. Inputs
# that are not there: exit 2 before anything is made.
. "$SX_SRCDIR/tests/tool/tool_lib.sh"
good=00000000000000aa

run 0 "$load" -q base -F tsv - <<<"5	$good	five"
"$query" dump base >before

# The index must be as it was.
unchanged() {
	run 0 "$query" dump base
	same out before
}

printf '%s\n' "$good	$good" "-1	$good" "9223372036854775808	$good" "6" "6	" "6	0x" \
	"6	${good}0" "6	0x${good}0" "6	0000000000000_aa" "6	$good	x	y" "6	$good	\\q" \
	"6	$good	\\x4" "6 	$good" "" >rows.tsv
run 1 "$load" -q base rows.tsv
errors <<'END'
simidx-load: rows.tsv:1: id: expected a decimal number in 0..9223372036854775807, or nothing
simidx-load: rows.tsv:2: id: expected a decimal number in 0..9223372036854775807, or nothing
simidx-load: rows.tsv:3: id: expected a decimal number in 0..9223372036854775807, or nothing
simidx-load: rows.tsv:4: expected the columns id, fingerprint, label, found one column
simidx-load: rows.tsv:5: fingerprint: expected 1 to 16 hexadecimal digits, found 0
simidx-load: rows.tsv:6: fingerprint: expected 1 to 16 hexadecimal digits, found 0
simidx-load: rows.tsv:7: fingerprint: expected 1 to 16 hexadecimal digits, found 17
simidx-load: rows.tsv:8: fingerprint: expected 1 to 16 hexadecimal digits, found 17
simidx-load: rows.tsv:9: fingerprint: expected 1 to 16 hexadecimal digits, found '_' in place of digit 14
simidx-load: rows.tsv:10: expected the columns id, fingerprint, label, found more than three columns
simidx-load: rows.tsv:11: label: a backslash that begins none of \t \n \r \\ \xHH
simidx-load: rows.tsv:12: label: a backslash that begins none of \t \n \r \\ \xHH
simidx-load: rows.tsv:13: id: expected a decimal number in 0..9223372036854775807, or nothing
simidx-load: rows.tsv:14: expected the columns id, fingerprint, label, found one column
END
unchanged

# What only the index can know: a used id, a used label, the same inside one load; a label that
# is too long.
{
	printf '%s\n' "5	$good" "	$good	five" "	$good	same" "	$good	same" "9	$good"
	printf '9\t%s\n\t%s\t%070000d\n' "$good" "$good" 1
} >used.tsv
run 0 "$load" -q used -F tsv - <before
run 1 "$load" used used.tsv
for line in 1 2 4 6 7; do
	says "simidx-load: used.tsv:$line: "
done
sums_up '2 documents inserted; index has 3; 5 rows rejected'
[ "$(grep -c ': used.tsv:' err)" -eq 5 ] || fail 'other lines were rejected'
run 0 "$query" get used --label five same
output <<END
five	5	$good	0	five
same	6	$good	0	same
END

# Of the same mistake the first three are told, the rest counted.
yes zz | head -999 >many
run 1 "$load" base -F lines many
[ "$(grep -c ': many:' err)" -eq 3 ] || fail 'not 3 told'
says 'simidx-load: more rejected rows of this kind are only counted'
# Of several mistakes it is the first 20.
yes zz$'\n'12345678901234567 | head -999 >many
run 1 "$load" base -F lines many
[ "$(grep -c ': many:' err)" -eq 20 ] || fail 'not 20 told'
says 'simidx-load: more rejected rows are only counted'
sums_up '0 documents inserted; index has 1; 999 rows rejected'
unchanged
# Where the first 1,000 are all wrong, the load is: it stops, and the index is as it was.
yes zz | head -5000 >wrong
run 2 "$load" --summary summary base -F lines wrong
says "simidx-load: the first 1,000 rows were all rejected, the last one because: fingerprint: expected 1 to 16 hexadecimal digits, found 'z' in place of digit 1; nothing was stored"
[ "$(tail -1 err | grep -c 'the first 1,000')" -eq 1 ] || fail 'something after the last message'
grep -q '"rows":1000,.*"rejected":1000,' summary || fail 'more rows than 1,000'
unchanged
run 2 "$load" -q nothing -F lines wrong
says 'the first 1,000 rows were all rejected'
[ ! -e nothing ] || fail 'an index was made of wrong rows'
# One good row among them, and it goes on.
{ head -999 wrong; echo 1; cat wrong; } >one-good
run 1 "$load" one -F lines one-good
sums_up 'index built with 1 document; 5,999 rows rejected'
# 6K is 6,000, and one more is one too many.
run 1 "$load" -q --max-errors 6K six -F lines one-good
says 'simidx-load: more rejected rows of this kind are only counted'
{ cat one-good; echo z; echo z; } >six-and-one
run 2 "$load" -q --max-errors 6K seven -F lines six-and-one
says 'simidx-load: more than 6,000 rows were rejected (--max-errors)'
[ ! -e seven ] || fail 'an index in spite of --max-errors'

# A line that is too long is passed over, and the next one is read.
{
	head -c $((70 << 20)) /dev/zero | tr '\0' a
	printf '\n%s\nz\n' 00000000000000bb
} >long
run 1 "$load" longs -F lines long
says 'simidx-load: long:1: line is longer than 64 MiB'
says 'simidx-load: long:3: '
sums_up 'index built with 1 document; 2 rows rejected'

# Inputs that cannot be had.
mkdir directory
printf '%s\n' "$good" >good
printf '1\t%s\n' "$good" >good.tsv
for input in missing.tsv directory table.csv vector.npy rows.tsv.gz rows.tsv.zst; do
	run 2 "$load" fresh good.tsv "$input"
	says "simidx-load: $input: "
	[ ! -e fresh ] || fail "an index without $input"
	run 2 "$load" fresh "$input"
	says "simidx-load: $input: "
done
run 2 "$load" fresh '*.txt'
says "*.txt: cannot open: No such file or directory; a shell replaces * and ? where files match, and not in quotes"
run 2 "$load" fresh -F lines --files-from missing
says 'simidx-load: missing: cannot open: No such file'
run 2 "$load" fresh -F lines -r missing
says 'simidx-load: missing: cannot open: No such file or directory'
run 2 "$load" fresh directory
says 'simidx-load: directory: is a directory (-r reads the files in it)'
# Directories without a file, as a script gives them that has made the wrong one.
mkdir -p vain/deep hides
echo text >hides/.hidden
for directories in vain 'vain directory' hides; do
	# shellcheck disable=SC2086
	run 2 "$load" -F lines -r fresh $directories
	errors <<<"simidx-load: ${directories%% *}: no files were found (--hidden reads those whose names begin with a dot, too)"
done
run 2 "$load" -F lines -r --hidden fresh vain
errors <<<'simidx-load: vain: no files were found'
run 2 "$load" -F lines -r base vain
says 'simidx-load: vain: no files were found'
unchanged
# In a list they are inputs that were skipped, as files are that hold no text.
printf 'directory\ngood\n' >list
run 1 "$load" -F lines --files-from list listed
says 'simidx-load: directory: skipped: is a directory (-r loads the files in one that is an INPUT)'
sums_up 'index built with 1 document; 1 file skipped'
# Standard input has one end.
for inputs in '- -' '--files-from - -' '--files-from - --files-from -'; do
	# shellcheck disable=SC2086
	run 2 "$load" -F lines fresh $inputs
	says 'simidx-load: standard input cannot be read twice'
	says "'simidx-load --help'."
done
run 1 "$load" fresh -F lines many
says "simidx-load: many:1: fingerprint: expected 1 to 16 hexadecimal digits, found 'z'"
# A file that breaks off is the end of the load; a text that does is one text less.
if [ -r /proc/self/mem ]; then
	printf 'good\n/proc/self/mem\n' >breaks-off
	run 2 "$load" fresh -F lines --files-from breaks-off
	errors <<'END'
simidx-load: /proc/self/mem: cannot read: Input/output error
simidx-load: fresh: nothing has changed
END
	run 2 "$load" fresh -F lines /proc/self/mem
	says 'simidx-load: /proc/self/mem: cannot read: '
fi
[ ! -e fresh ] || fail 'an index was made of nothing'
run 2 "$load" no/such/parent -F lines good
errors <<<'simidx-load: no/such/parent: cannot be made, as there is no directory no/such: mkdir -p no/such'
run 2 "$load" good -F lines good
says 'simidx-load: good'
run 2 "$load" directory/../base -F lines good/x
says 'simidx-load: good/x: cannot open: Not a directory'

# A report on standard output, and one only.
run 1 "$load" -q --rejects - base -F lines many
[ "$(wc -l <out)" -eq 999 ] || fail 'not 999 rows on standard output'
run 2 "$load" --rejects - --summary - base -F lines good
says 'of --rejects, --summary and --emit only one can go to standard output'
run 0 "$load" -q --summary - base -F lines /dev/null
grep -q '^{"exit":0,"write":"insert","rows":0,.*}$' out || fail 'no summary on standard output'
[ ! -e - ] || fail "a file named '-'"
if [ -w /dev/full ]; then
	"$load" -q --summary - base -F lines /dev/null >/dev/full 2>err
	[ $? -eq 2 ] || fail 'not exit 2 when the summary finds no room'
	errors <<<'simidx-load: cannot write to standard output: No space left on device'
fi

# Control bytes of names do not reach the terminal.
run 2 "$load" fresh $'bad\033[31m\x9b\n.tsv'
says 'bad\x1b[31m\x9b\n.tsv: cannot open'

# Queries.
run 2 "$query" search base $good 国12 -F lines
says 'simidx-query: 国12: cannot open: No such file'
run 2 "$query" search base $good 国12
output <<<"$good	5	$good	0	five"
errors <<<"simidx-query: 国12: fingerprint: expected 1 to 16 hexadecimal digits, found '国' in place of digit 1; of a label: simidx-query get --label"
# Bytes that a terminal cannot show are told by their number.
run 2 "$query" search base $'a\tb'
says 'expected 1 to 16 hexadecimal digits, found byte 0x09 in place of digit 2'
run 2 "$query" search base $'\xe5'
says 'expected 1 to 16 hexadecimal digits, found byte 0xe5 in place of digit 1'
printf '%s\n' $good x 00000000000000ab >lines
run 2 "$query" search base -F lines lines missing
output <<END
$good	5	$good	0	five
00000000000000ab	5	$good	1	five
END
errors <<'END'
simidx-query: lines:2: fingerprint: expected 1 to 16 hexadecimal digits, found 'x' in place of digit 1
simidx-query: missing: cannot open: No such file or directory; a path from here is expected, as ls shows it, in quotes if it has blanks
END
run 2 "$query" search base - -
says 'simidx-query: standard input cannot be read twice'
run 1 "$query" search base ffffffffffffffff
output </dev/null

# A build without jansson names the file that it cannot read.
if [ -z "${SX_JSON-}" ]; then
	run 2 "$load" fresh good.tsv -F jsonl
	errors <<<'simidx-load: good.tsv: this program was built without JSON support'
	run 2 "$query" search base $good rows.jsonl
	errors <<<'simidx-query: rows.jsonl: this program was built without JSON support'
	finish
fi
# What only the loader rejects makes no index either.
run 1 "$load" fresh -F jsonl - <<<'{"id": "", "fp": "00000000000000aa"}'
says 'simidx-load: -:1: '
sums_up 'no document was stored, and no index was made; 1 row rejected'
[ ! -e fresh ] || fail 'an index of nothing but rejected rows'

cat >rows.jsonl <<'END'
{"id": 6
{"id": 6} x
[6]
{"id": 6}
{"id": 6, "fp": "12g"}
{"id": 6, "fp": 12}
{"id": -6, "fp": "00000000000000aa"}
{"id": 6.0, "fp": "00000000000000aa"}
{"id": 9223372036854775808, "fp": "00000000000000aa"}
{"id": "a", "label": "b", "fp": "00000000000000aa"}
{"id": 6, "id": 7, "fp": "00000000000000aa"}
{"label_hex": "abc", "fp": "00000000000000aa"}
{"label": 7.5, "fp": "00000000000000aa"}
{"features": []}
{"features": [["a", 1], ["b", 0]]}
{"features": [["a", 65536]]}
{"features": [["a"]]}
{"fp": "00000000000000aa", "text": "a"}
{"text": "a", "fp2": "00000000000000aa"}
{"fp": "00000000000000aa", "fp2": "00000000000000aa0"}
END
run 1 "$load" -q base rows.jsonl
sed -E 's/(malformed JSON at column [0-9]+): .*/\1/' err >told
diff - told <<'END' || fail 'messages about JSON'
simidx-load: rows.jsonl:1: malformed JSON at column 8
simidx-load: rows.jsonl:2: malformed JSON at column 11
simidx-load: rows.jsonl:3: expected a JSON object
simidx-load: rows.jsonl:4: expected one of "text", "fp" and "features"; --text-field and --fp-field name others
simidx-load: rows.jsonl:5: "fp": expected 1 to 16 hexadecimal digits, found 'g' in place of digit 3
simidx-load: rows.jsonl:6: "fp": expected a string of 1 to 16 hexadecimal digits; of whole numbers: --fp-encoding dec
simidx-load: rows.jsonl:7: "id": expected a number in 0..9223372036854775807
simidx-load: rows.jsonl:8: "id": expected an integer or a string
simidx-load: rows.jsonl:9: "id": expected an integer or a string
simidx-load: rows.jsonl:10: more than one label: a string "id", "label" and "label_hex" exclude each other
simidx-load: rows.jsonl:11: malformed JSON at column 14
simidx-load: rows.jsonl:12: "label_hex": expected an even number of hexadecimal digits
simidx-load: rows.jsonl:13: "label": expected a string or a whole number
simidx-load: rows.jsonl:14: "features": expected a list of ["word", weight]
simidx-load: rows.jsonl:15: "features": number 2: expected ["word", weight] with a weight of 1/65536 and more and below 65536
simidx-load: rows.jsonl:16: "features": number 1: expected ["word", weight] with a weight of 1/65536 and more and below 65536
simidx-load: rows.jsonl:17: "features": number 1: expected ["word", weight] with a weight of 1/65536 and more and below 65536
simidx-load: rows.jsonl:18: expected only one of "text", "fp" and "features"
simidx-load: rows.jsonl:19: "fp2" goes with "fp" only
simidx-load: rows.jsonl:20: "fp2": expected 1 to 16 hexadecimal digits, found 17
END
unchanged
finish
