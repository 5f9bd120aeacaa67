#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
#
# Names of rows: that of a drop list stands for one row alone, and a label may be of several kinds.
. "$SX_SRCDIR/tests/tool/tool_lib.sh"
need_text
need_json
text='the quick brown fox jumps over the lazy dog again and again today'
other='something else that has no word in common with this first one and so stays'

# row [MEMBER]...: a row of the text, or of the other one after "other"
row() {
	local of=$text members=
	[ "${1-}" != other ] || { of=$other && shift; }
	for member; do
		members+="$member,"
	done
	printf '{%s"text":"%s"}\n' "$members" "$of"
}

# A label that is FILE:LINE of another row, or the path of a file, is not used as a name.
{ row '"id":"one"'; row '"id":"rows.jsonl:3"'; row other '"id":"three"'; } >rows.jsonl
run 0 "$dedup" --drop-list rows.jsonl
output <<<'rows.jsonl:2'
says '1 row is listed by file and line, as other rows or files have the same label'
printf '%s' "$other" >other.txt
{ row '"id":"one"'; row '"id":"other.txt"'; } >two.jsonl
run 0 "$dedup" --drop-list other.txt two.jsonl
output <<<'two.jsonl:2'
# A label that looks so, and is of no input, is one.
{ row '"id":"one"'; row '"id":"http://host:80"'; } >port.jsonl
run 0 "$dedup" --drop-list port.jsonl
output <<<'http://host:80'

# FILE:LINE that another row has as its label is not listed.
{ row; row; row other '"id":"bare.jsonl:2"'; } >bare.jsonl
run 1 "$dedup" --drop-list bare.jsonl
output </dev/null
says '1 name is not listed, as it is the label of another row'
printf '%s' "$text" >text.txt
cp text.txt again.txt
row other '"id":"again.txt"' >path.jsonl
run 1 "$dedup" --keep first --drop-list text.txt again.txt path.jsonl
output </dev/null
says '1 name is not listed, as it is the label of another row'
run 0 "$dedup" --keep first --drop-list text.txt again.txt rows.jsonl
output <<'END'
again.txt
one
rows.jsonl:2
END

# Nor does a label stand for a row where one that was rejected has it, too, or may have it.
{ row '"id":"one"'; row '"id":"two"'; echo '{"id":"two","body":"of which nothing is known"}'; } >lack.jsonl
run 1 "$dedup" --drop-list lack.jsonl
output <<<'lack.jsonl:2'

# A label of JSON is a string or a whole number; null is none. "id" then is what others want.
for id in '"a"' null 2.5 -2 '[1]'; do
	{ row "\"id\":$id" '"url":null'; row '"id":1' '"url":17'; row '"id":2' '"url":"u"'; } >labels.jsonl
	run 0 "$dedup" -q --label-field url labels.jsonl
	cut -f 3- out | diff - <(printf 'keep\tlabels.jsonl:1\ndrop\tlabels.jsonl:2\t17\ndrop\tlabels.jsonl:3\tu\n') ||
		fail "--label-field beside \"id\": $id"
done
row '"id":null' >null.jsonl
run 0 "$dedup" -q --stream null.jsonl
output <null.jsonl
row '"url":1.5' >real.jsonl
run 1 "$dedup" --stream --label-field url real.jsonl
says 'real.jsonl:1: "url": expected a string or a whole number'
# Other members mean nothing, whole numbers of any size too.
row '"hash":17293822569102704640' >large.jsonl
run 0 "$dedup" -q --stream large.jsonl
output <large.jsonl

# So it is in tables: a column "id" is no label where another one is.
printf 'id,url,text\nabc,,%s\ndef,u2,%s\nghi,,%s\n' "$text" "$text" "$text" >rows.csv
run 0 "$dedup" -q --header --label-field url --drop-list rows.csv
printf 'u2\nrows.csv:4\n' | output

# A label of any length makes evidence that can be reviewed.
long=$(head -c 2000000 /dev/zero | tr '\0' 'l')
{ row "\"id\":\"$long\""; row '"id":"two"'; row '"id":"three"'; } >long.jsonl
run 0 "$dedup" -q --keep first --evidence why.jsonl long.jsonl
run 0 "$query" review why.jsonl
grep -q '2 of 2' out || fail 'review behind a long label'

# Evidence that somebody else has written leads to no file without an end, and to no more than a row has.
forged='{"similarity":90,"limit":80,"rule":"text","path":"/proc/kmsg","format":"text","hash":"0123456789abcdef","path2":"rows.jsonl","line2":1,"hash2":"0123456789abcdef","format2":"jsonl"}'
printf '%s\n' "$forged" >forged.jsonl
run 0 timeout 20 "$query" review forged.jsonl
truncate -s 4G sparse
printf '%s\n' "$forged" | sed 's|"path":"/proc/kmsg"|"path":"sparse","offset":0,"length":3000000000|' >forged.jsonl
(ulimit -v 2000000 && run 0 timeout 20 "$query" review forged.jsonl) || fail 'a length that no text has'
