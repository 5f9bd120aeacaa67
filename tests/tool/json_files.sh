#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
#
# Files of JSON that are no rows, an object a line, or whose names do not say that they are: refused with
# what to do. In directories and lists they are texts.
. "$SX_SRCDIR/tests/tool/tool_lib.sh"
need_json
need_text

printf '[{"text":"one two three"},\n {"text":"four"}]\n' >array.json
printf '{"text":"one two three"}\n{"text":"four"}\n' >rows.json
printf '\xef\xbb\xbf{\n  "text": "one two three"\n}\n' >pretty.json
printf ' \n\t[1,\n2]\n' >numbers.json
cp array.json array.jsonl
cp array.json array.ndjson
cp pretty.json pretty.jsonl
cp array.json array
cp rows.json 'rows of today'
cp pretty.json pretty.txt

of_array="is a JSON array, and rows are objects, one a line: jq -c '.[]'"
as_text='; -F text takes the file as one text'
refused() {
	run 2 "$dedup" "$1"
	errors <<<"simidx-dedup: $1: $2"
	run 2 "$load" index rows.jsonl "$1"
	says "simidx-load: $1: ${2//simidx-dedup/simidx-load}"
	run 2 "$query" idf "$1"
	says "simidx-query: $1: ${2//simidx-dedup/simidx-query}"
}
cp rows.json rows.jsonl
for name in array.json array numbers.json; do
	refused $name "$of_array $name | simidx-dedup ... -F jsonl - reads them$as_text"
done
for name in array.jsonl array.ndjson; do
	refused $name "$of_array $name | simidx-dedup ... -F jsonl - reads them"
done
for name in rows.json 'rows of today'; do
	refused "$name" "has a JSON object in its first line: -F jsonl reads a row a line$as_text"
done
refused pretty.json "is a JSON object of several lines, and rows are objects, one a line: jq -c '.' pretty.json | simidx-dedup ... -F jsonl - reads them$as_text"
refused pretty.jsonl "is a JSON object of several lines, and rows are objects, one a line: jq -c '.' pretty.jsonl | simidx-dedup ... -F jsonl - reads them"
cp array.json 'an array.json'
refused 'an array.json' "$of_array \"an array.json\" | simidx-dedup ... -F jsonl - reads them$as_text"
[ ! -e index ] || fail 'an index was made'
# Compressed, the command would be another one.
if [ -n "${SX_ZLIB-}" ]; then
	gzip -k array.json rows.json
	refused array.json.gz "$of_array makes such lines$as_text"
	refused rows.json.gz "has a JSON object in its first line: -F jsonl reads a row a line$as_text"
fi
# A first line that is longer than what is looked at.
{ printf '{"text":"'; head -c 200000 /dev/zero | tr '\0' a; printf '"}\n{"text":"b"}\n'; } >long-rows
refused long-rows "has a JSON object in its first line: -F jsonl reads a row a line$as_text"

# With -F jsonl, and where it comes through a pipe.
run 2 "$dedup" -F jsonl array
says "simidx-dedup: array: $of_array array | simidx-dedup ... -F jsonl - reads them"
run 1 "$dedup" -F jsonl - <array.json
says "simidx-dedup: -:1: $of_array makes such lines"
run 2 "$load" index -F jsonl - <array.json
says "simidx-load: -:1: $of_array makes such lines"
run 1 "$dedup" -F jsonl - <pretty.json
says "simidx-dedup: -:1: is a JSON object of several lines"
if command -v jq >/dev/null; then
	jq -c '.[]' array.json | "$dedup" -q --stream -F jsonl - | diff - rows.json || fail 'the rows of an array'
fi

# Who says that they are texts gets texts. Directories and lists have texts by themselves.
run 0 "$dedup" -q -F text array.json rows.json
[ "$(cut -f 4 out)" = "$(printf 'array.json\nrows.json')" ] || fail "-F text: $(cat out)"
mkdir tree
cp array.json rows.json pretty.json tree
run 0 "$dedup" -r tree
says 'simidx-dedup: 3 documents'
ls tree/*.json >list
run 0 "$dedup" --files-from list
says 'simidx-dedup: 3 documents'
run 0 "$load" -r index tree
says 'simidx-load: 3 files with names in .json were taken as one text each'

# What only looks a little like it: texts, and rows of which the first is broken.
printf '[link](url) and more\n' >a.md
printf '[1] a note\n' >b.txt
printf '{ a block }\n{ another }\n' >c.txt
printf '{"a quotation"} of a text\n' >d.txt
printf '"a string"\n' >e.json
: >f.json
run 0 "$dedup" a.md b.txt c.txt d.txt e.json f.json pretty.txt
says 'simidx-dedup: 7 documents'
printf '{"text":"one\n{"text":"two"}\n' >broken.jsonl
run 1 "$dedup" broken.jsonl
says 'broken.jsonl:1: malformed JSON'
says 'simidx-dedup: 1 document in'
finish
