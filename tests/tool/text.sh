#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
#
# Texts: files, trees, lists, JSON; what is skipped; extractors that do not agree.
. "$SX_SRCDIR/tests/tool/tool_lib.sh"
if [ -z "${SX_TEXT-}" ]; then
	echo text >1
	run 2 "$load" ix 1
	says 'simidx-load: 1: this program was built without text support'
	run 2 "$query" similar 1 1
	says 'simidx-query: this program was built without text support'
	finish
fi

# words N SEED: a text of N words.
words() {
	awk -v n="$1" -v seed="$2" "$random"'
	BEGIN {
		state = 7919 * seed + 1
		for (i = 0; i < n; i++)
			printf "%s%c", "w" int(rnd() * 5000), i % 12 == 11 ? 10 : 32
	}'
}
mkdir -p tree/a/b tree/c
for i in 1 2 3 4; do
	words 400 $i >tree/a/$i.txt
done
words 400 5 >tree/a/b/five
cp tree/a/b/five tree/c/same
words 20 6 >tree/c/short
printf 'text\0text' >tree/c/binary
: >tree/empty
words 300 7 >"tree/c/new
line.tsv"
ln -s ../a/1.txt tree/c/link
printf 'late\0' | cat tree/a/1.txt tree/a/2.txt tree/a/3.txt tree/a/4.txt - >tree/c/late

run 0 "$load" ix -r tree
errors <<END
simidx-load: 1 file with the name of rows was taken as a text (tree/c/new\\nline.tsv): -F jsonl, csv or tsv reads their rows
simidx-load: 1 file is no text and was skipped (tree/c/binary)
simidx-load: 1 text has no words: nothing is near to it
simidx-load: 1 text is shorter than 64 tokens: one edit moves its fingerprint far
$(tail -1 err)
END
sums_up 'index built with 10 documents'
run 0 "$query" dump ix
cut -f 3 out >labels
diff - labels <<'END' || fail 'labels, in the order of the names'
tree/a/1.txt
tree/a/2.txt
tree/a/3.txt
tree/a/4.txt
tree/a/b/five
tree/c/late
tree/c/new\nline.tsv
tree/c/same
tree/c/short
tree/empty
END
run 2 "$query" search ix --text tree/a/b/five tree/a/1.txt tree/c/binary
cut -f 1,4,5 out >found
diff - found <<'END' || fail 'search by text'
tree/a/b/five	0	tree/a/b/five
tree/a/b/five	0	tree/c/same
tree/a/1.txt	0	tree/a/1.txt
END
says 'simidx-query: tree/c/binary: contains a NUL byte, so it is no text'
run 2 "$query" search ix --text missing
says 'simidx-query: missing: cannot open: No such file or directory'
words 400 99 >other
run 1 "$query" search ix --text other
output </dev/null
run 0 "$query" search ix --text - <tree/a/1.txt
grep -q '^-	0	.*tree/a/1.txt	0$' out || fail 'text on standard input'

# An edited copy is near by the weights of its text, with and without second fingerprints; that
# takes nothing else with it, and -k asks for plain distances.
mkdir edits
cp tree/a/1.txt edits/same
awk '{ for (i = 1; i <= NF; i++) printf "%s ", ++n % 25 ? $i : "new" n }' tree/a/1.txt >edits/edited
words 400 98 >edits/other
run 0 "$load" -q edits.two -r edits
run 0 "$load" -q --no-fp2 edits.one -r edits
for index in edits.two edits.one; do
	run 0 "$query" search $index --text tree/a/1.txt
	[ "$(cut -f 5 out | tr '\n' ' ')" = 'edits/same edits/edited ' ] || fail "weights: $index"
	run 0 "$query" search $index --accept 0 --text tree/a/1.txt
	[ "$(cut -f 4,5 out)" = '0	edits/same' ] || fail "weights up to 0: $index"
	run 0 "$query" search $index --complete 59 --count --text tree/a/1.txt
	output <<<'tree/a/1.txt	2'
	run 0 "$query" search $index --nearest 1 --text edits/edited
	[ "$(cut -f 4,5 out)" = '0	edits/edited' ] || fail "the nearest: $index"
	run 0 "$query" search $index -k 64 --text tree/a/1.txt
	[ "$(wc -l <out)" -eq 3 ] || fail "plain distances: $index"
	run 0 "$query" search $index --explain --text tree/a/1.txt
	grep -q 'chosen *scan of t01: ' out || fail "not all that is there: $index"
	grep -q 'probes 1, .*documents 2, measured ' out || fail "more than a scan: $index"
done
printf 'word\t2\nother\t1\n' >features
run 0 "$load" -q --features-by us featured -F features features
run 0 "$query" search featured -F features --features-by us --complete 10 features
run 2 "$query" search edits.two -F features features
errors <<<'simidx-query: edits.two: holds texts by words12, so features do not fit'
run 0 "$query" search edits.two --explain --probes 7 --text tree/a/1.txt
grep -q 'probes 7, .*documents' out || fail '7 probes'

# The same by other ways: operands, lists with and without NUL.
run 0 "$load" -q operands tree/a/1.txt tree/a/b/five
printf 'tree/a/1.txt\n\ntree/a/b/five\n' >list
run 0 "$load" -q ix-list --files-from list
printf 'tree/a/1.txt\0tree/a/b/five\0' | run 0 "$load" -q ix-list0 -0 --files-from -
"$query" dump operands >expected
for index in ix-list ix-list0; do
	run 0 "$query" dump $index
	same out expected
done
# With -r a directory is an input like any other, in its place; what is hidden is left out.
mkdir -p hidden/.git hidden/sub
cp tree/a/1.txt hidden/.git/config
cp tree/a/2.txt hidden/.profile
cp tree/a/3.txt hidden/sub/seen
run 0 "$load" -q -r in-place tree/a/1.txt hidden tree/c/short
"$query" dump in-place | cut -f 1,3 | diff - <(printf '%s\n' '0	tree/a/1.txt' \
	'1	hidden/sub/seen' '2	tree/c/short') || fail 'inputs in their order, hidden ones left out'
run 0 "$load" -q -r --hidden all-of-them hidden
"$query" dump all-of-them | cut -f 3 | diff - <(printf '%s\n' hidden/.git/config hidden/.profile \
	hidden/sub/seen) || fail '--hidden'
# A hidden name that is given is not left out.
run 0 "$load" -q -r given hidden/.git hidden/.profile
[ "$("$query" dump given | wc -l)" -eq 2 ] || fail 'hidden names that were given'

# A .tsv in a list or a tree is a text like any other; one that is gone is a rejected row.
printf 'tree/c/new\nline.tsv\0gone\0' >names
run 1 "$load" -q ix-gone -0 --files-from names
errors <<<'simidx-load: gone: cannot open: No such file or directory; a path from here is expected, as ls shows it, in quotes if it has blanks'
run 0 "$query" get ix-gone --label $'tree/c/new\nline.tsv'
# The same path twice is the same label.
run 1 "$load" ix tree/a/1.txt
says 'simidx-load: tree/a/1.txt: '

# Texts that are not UTF-8 are stored, and told with the first bad byte. By hand: GBK, where the
# text begins with six ASCII bytes; one that breaks off in a character; a surrogate.
printf 'title \xb9\xfa\xbc\xd2 and more' >gbk
printf 'broken off \xe5\x9b' >broken
printf '\xed\xa0\x80' >surrogate
printf '%s' '国家 is right' >right
run 0 "$load" encodings right gbk broken surrogate
says 'simidx-load: 3 texts are not UTF-8 (first: gbk, byte 7): convert such files before, for example with iconv'
sums_up 'index built with 4 documents'
run 0 "$load" one-encoding right broken
says 'simidx-load: 1 text is not UTF-8 (broken, byte 12): convert such files before, for example with iconv'
run 0 "$load" no-encoding right
grep -q UTF-8 err && fail 'a text in UTF-8 is said to be none'
run 0 "$query" search encodings --text right gbk broken
says 'simidx-query: 2 texts are not UTF-8 (first: gbk, byte 7): convert such files before, for example with iconv'
run 0 "$query" search encodings --text right
grep -q UTF-8 err && fail 'a query in UTF-8 is said to be none'

# Files that are hardly one text each are taken for that, but told.
mkdir named
echo '{"text": "one"}' >named/rows.json
cp named/rows.json named/more.json
printf '%s\n' 91b7584a2265b1f5 0x1b7584a2265b1f6 1b7584a2265b1f7 >fps.txt
printf '%s\n' 91b7584a2265b1f5 'and words' >words.txt
run 0 "$load" -r doubtful named fps.txt words.txt
says 'simidx-load: 2 files with names in .json were taken as one text each (first: named/more.json): -F jsonl reads an object a line'
says 'simidx-load: 1 text looks like a list of fingerprints (fps.txt): -F lines reads one a line'
mv named/rows.json named/rows.jsonl
cp named/more.json named/more.ndjson
for program in "$load doubtful2" "$dedup"; do
	# shellcheck disable=SC2086
	run 0 $program -r named
	says "$(basename "${program%% *}"): 2 files with names of rows were taken as one text each (first: named/more.ndjson): -F jsonl, csv or tsv reads their rows"
done
run 1 "$query" search ix --text named/rows.jsonl
says 'simidx-query: named/rows.jsonl is searched as one text; without --text its rows are searched'
# Who says what they are is not told.
run 0 "$load" told -F text named/rows.jsonl fps.txt
grep -q 'names of rows\|json\|fingerprints (' err && fail 'a doubt about -F text'

# What is named and no text: the others are stored, exit 1. Nothing is made of such files alone.
printf 'PK\003\004\0\0' >arrays.npz
cp tree/c/binary some.bin
run 1 "$load" skips arrays.npz some.bin tree/a/1.txt
errors <<END
simidx-load: arrays.npz: skipped: is an archive of NumPy arrays; unpack it and load its .npy files
simidx-load: some.bin: skipped: contains a NUL byte, so it is no text; simidx-dedup --binary compares bytes
$(tail -1 err)
END
sums_up 'index built with 1 document; 2 files skipped'
run 1 "$load" none-of-these arrays.npz
sums_up 'no document was stored, and no index was made; 1 file skipped'
[ ! -e none-of-these ] || fail 'an index was made of nothing'
# What leads to a text is named.
printf '\377\376a\0b\0' >wide.txt
printf '%%PDF-1.4\n\0' >paper.pdf
run 1 "$load" none-there wide.txt paper.pdf
errors <<'END'
simidx-load: wide.txt: skipped: is UTF-16: 'iconv -f UTF-16 -t UTF-8' makes a text of it that can be read
simidx-load: paper.pdf: skipped: contains a NUL byte, so it is no text; doc/use.md has programs that take texts out of it
simidx-load: no document was stored, and no index was made; 2 files skipped
END
# Those that a directory has are counted, whatever their number.
mkdir many
for i in 1 2 3; do cp tree/c/binary "many/$i"; done
run 0 "$load" -r of-directories many tree/a
says 'simidx-load: 3 files are no texts and were skipped (first: many/1)'
sums_up 'index built with 5 documents'

# Texts and bare fingerprints do not mix, nor do extractors.
run 0 "$load" -q bare -F lines - <<<0123456789abcdef
run 2 "$load" bare tree/a/1.txt
says 'simidx-load: bare: '
run 2 "$query" search bare --text tree/a/1.txt
says 'simidx-query: bare: the index holds bare fingerprints'
run 2 "$load" --extractor words12 bare -F lines - <<<0123456789abcdef
says 'simidx-load: bare: holds bare fingerprints, so --extractor words12 does not fit'
run 2 "$load" --extractor words99 new tree/a/1.txt
says 'words99'
says 'words12'
run 0 "$load" -q --extractor words12 ix tree/c/link
run 2 "$load" --extractor words99 ix other
says 'simidx-load: ix: was made by the extractor words12, not by words99'
run 2 "$load" ix -F lines - <<<0123456789abcdef
errors <<'END'
simidx-load: -:1: a bare fingerprint does not fit: ix keeps a second one for each document, as indexes of texts do; name another INDEX for it
END

run 0 "$helpers/foreign_index" foreign 'words99 v1 bits=64' 1
run 2 "$load" --extractor words12 foreign other
says 'simidx-load: foreign: was made by the extractor words99, not by words12'
run 2 "$load" foreign other
says 'simidx-load: foreign: '
run 2 "$query" search foreign --text other
says 'simidx-query: foreign: the index needs the extractor "words99 v1 bits=64", unknown here'
# Same name, other fingerprints: another version of the word boundaries.
profile=$("$query" stats ix | sed -n 's/^texts by *//p')
run 0 "$helpers/foreign_index" drifted "$profile" 1
run 2 "$load" drifted other
says 'simidx-load: drifted: '
for index in foreign drifted; do
	run 0 "$query" dump $index
	output </dev/null
done

# Narrow fingerprints are made from texts too.
run 0 "$load" -q --bits 32 narrow tree/a/1.txt
run 0 "$query" search narrow --text tree/a/1.txt
awk -F '\t' 'length($3) != 8' out | grep -q . && fail 'not 8 digits'

# Without ids there are no labels to keep, and no place for a second fingerprint.
run 0 "$load" -q --ids none plain -r tree
run 0 "$query" search plain --text tree/a/2.txt
[ "$(cut -f 1,2,4,5 out)" = "tree/a/2.txt		0	" ] || fail 'index without ids'

printf 'hello world, hello' >greeting
run 0 "$load" -q file greeting
"$query" dump file --format jsonl | grep -q '"fp2":"' || fail 'no fp2 in an index of texts'
run 0 "$load" -q --no-fp2 single greeting
"$query" dump single --format jsonl | grep -q fp2 && fail 'fp2 in spite of --no-fp2'
[ -n "${SX_JSON-}" ] || finish
# The member of texts may have another name; then it is what counts.
run 1 "$load" -q content --text-field content -F jsonl - <<'END'
{"id": 1, "content": "hello world, hello", "text": 5, "fp": "00", "features": 7}
{"id": 2, "text": "hello"}
{"id": 3, "content": null}
END
errors <<'END'
simidx-load: -:2: expected a member "content"
simidx-load: -:3: "content": expected a string
END
run 0 "$load" -q text -F jsonl - <<<'{"id": 1, "text": "hello world, hello"}'
[ "$("$query" dump content)" = "$("$query" dump text)" ] || fail '--text-field'
run 2 "$load" never --text-field content other
says 'simidx-load: other: --text-field is for the formats tsv, csv and jsonl'
run 2 "$load" never --text-field content --fp-field fp -F jsonl other
says 'simidx-load: other: --text-field and --fp-field exclude each other'

# A text is the same whether it comes as a file or as JSON.
run 0 "$load" -q json -F jsonl - <<<'{"id": "greeting", "text": "hello world, hello"}'
[ "$("$query" dump json | cut -f 2)" = "$("$query" dump file | cut -f 2)" ] ||
	fail 'JSON text has another fingerprint'
# A dump taken back with its extractor is an index of texts again.
run 0 "$query" dump ix --format jsonl
cp out dumped
run 0 "$load" -q --extractor words12 back -F jsonl dumped
run 0 "$query" dump back --format jsonl
same out dumped
run 0 "$query" search back --text tree/a/1.txt
finish
