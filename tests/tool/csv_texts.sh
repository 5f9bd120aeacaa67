#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
#
# Texts in columns of CSV and TSV: read, read again at their places, and written as they came.
. "$SX_SRCDIR/tests/tool/tool_lib.sh"
need_text

fox='the quick, ""brown"" fox'
dog='jumps over the lazy dog'
printf '%s\r\n' 'nr,id,"the body",note' "1,u1,\"$fox
$dog\",x" '2,7,plain and other words,"a
b"' '3,u3,one two three,' >rows.csv
printf '4,u4,"%s\r\n%s",y\n\n\r\n5,,one two three,"z"\n' "$fox" "$dog" >more
cat rows.csv more >all.csv
sed 1d rows.csv >nameless.csv

# The line is where a row begins. Empty lines are no rows.
run 0 "$dedup" --header --text-field 'the body' all.csv
output <<'END'
1	same	keep	all.csv:7	u4
1	100.0	drop	all.csv:2	u1
3	same	keep	all.csv:6	u3
3	same	drop	all.csv:11
END
says 'simidx-dedup: 5 documents in'
run 0 "$dedup" -q --text-field 3 -F csv <(sed 1d all.csv)
[ "$(wc -l <out)" -eq 4 ] || fail "columns by number: $(cat out)"

# A filter writes rows as they came, and the header once.
head -6 all.csv >first
{ sed 's/$/\r/' <<<'nr,id,"the body",note'; printf '9,,something else,\r\n'; } >second.csv
run 0 "$dedup" -q --stream --header --text-field 'the body' all.csv second.csv
cat first <(sed 1d second.csv) | cmp - out || fail 'the rows of a filter'
# A header with a mark before it, which is no part of it; a last line without an end.
printf '\xef\xbb\xbf' | cat - rows.csv >marked.csv
printf 'nr,id,"the body",note\n9,,something else,' >short.csv
run 0 "$dedup" -q --stream --header --text-field 'the body' short.csv marked.csv
{ cat short.csv; echo; sed 1d rows.csv; } | cmp - out || fail 'a row without an end'
run 0 "$dedup" -q --stream --header --text-field note -F csv <(printf 'a,note')
output <<<'a,note'
# Rows below another header would be in other columns.
printf 'note,the body\nx,new words here\n' >other.csv
run 1 "$dedup" --stream --header --text-field 'the body' rows.csv other.csv
same out rows.csv
says 'simidx-dedup: other.csv: its header is not that of rows.csv, so its rows do not fit below that'
# What is added to a file has its header already.
run 0 "$dedup" -q --stream --header --text-field 'the body' rows.csv
cp out added.csv
"$dedup" -q --stream --header --text-field 'the body' second.csv >>added.csv || fail 'a second day'
cat rows.csv <(sed 1d second.csv) | cmp - added.csv || fail 'a header is written twice'
"$dedup" -q --stream --header --text-field 'the body' other.csv >>added.csv 2>err
[ $? -eq 2 ] || fail 'rows were added below another header'
says 'simidx-dedup: other.csv: its header is not the first line of the output'
if [ -n "${SX_ZLIB-}" ]; then
	rm -rf days
	gzip -c rows.csv >packed.csv.gz
	run 2 "$dedup" -q --stream --header --text-field 'the body' --index days --output packed.csv.gz other.csv
	says 'simidx-dedup: other.csv: its header is not the first line of the output'
	run 0 "$dedup" -q --stream --header --text-field 'the body' --index days --output packed.csv.gz second.csv
	gzip -dc packed.csv.gz | cmp - <(cat rows.csv <(sed 1d second.csv)) || fail 'a second day, compressed'
	rm -rf days
fi
cat rows.csv <(sed 1d second.csv) | cmp - added.csv || fail 'a file was changed'

# What is in the columns. A word as id is a label; "text" needs no option where there is no "fp".
run 0 "$load" -q --header --text-field 'the body' ix all.csv
"$query" dump ix | cut -f 1,3 | diff - <(printf '%s\n' '0	u1' '7	' '8	u3' '9	u4' '10	') >difference ||
	{ fail 'ids and labels'; cat difference; }
run 0 "$load" -q --header --text-field 'the body' --label-field note labels all.csv
"$query" dump labels | cut -f 1,3 | diff - <(printf '%s\n' '0	x' '7	a\nb' '8	' '9	y' '10	z') >difference ||
	{ fail 'ids and labels'; cat difference; }
printf 'text,id\none two three,5\n' >text.csv
run 0 "$load" -q --header text text.csv
"$query" dump text | cut -f 2 | diff - <("$query" dump ix | sed -n 's/^8	\([^	]*\).*/\1/p') || fail 'another text'
run 0 "$load" -q --text-field 2 --label-field 1 number -F csv - <<<'me,one two three'
"$query" dump number | cut -f 2,3 | diff - <("$query" dump text | sed 's/^5	\([^	]*\).*/\1	me/') || fail 'by number'
printf 'fp,text\n00000000000000aa,one two\n' >both.csv
run 0 "$load" -q --header both both.csv
[ "$("$query" dump both | cut -f 2)" = 00000000000000aa ] || fail '"text" beside "fp"'
run 0 "$query" search --header --text-field 'the body' -F csv text all.csv
[ "$(cut -f 1,2,4 out)" = "$(printf '%s\t5\t0\n' u3 "$("$query" dump text | cut -f 2)")" ] || fail "a search by texts of a table: $(cat out)"
run 0 "$query" idf -F csv --header text.csv
[ "$(wc -l <out)" -eq 3 ] || fail 'words of a table'

# Several columns are joined; a name with a comma comes first.
printf 'title,body,"title,body"\none,two,x y\nx,y,"one
two"\n' >joined.csv
run 0 "$load" -q --header --text-field body,title --label-field title joined joined.csv
run 0 "$load" -q --header --text-field title,body --label-field title whole joined.csv
printf 'a,b\n"two\none",one\n"y\nx",x\n' >plain.csv
run 0 "$load" -q --header --text-field a --label-field b plain plain.csv
diff <("$query" dump joined) <("$query" dump plain) || fail 'joined texts'
run 0 "$dedup" -q --text-field 1,2 --evidence numbers -F csv joined.csv text.csv
run 0 "$load" -q --text-field 3 --label-field 1 third -F csv <(sed 1d joined.csv)
diff <("$query" dump whole) <("$query" dump third) || fail 'a name with a comma'

# What does not fit.
refused() {
	run 2 "$load" "${@:2}"
	says "$1"
}
refused 'all.csv:1: the header names no column "nobody", but "nr", "id", "the body", "note"' \
	never --header --text-field nobody all.csv
refused 'all.csv:1: the header names no column "nobody"' never --header --text-field nr,nobody all.csv
refused '--text-field: without --header column numbers are expected, from 1' never --text-field a all.csv
refused '--text-field: without --header column numbers are expected' never --text-field 1,0 all.csv
refused '--text-field: at most 16 fields are joined' never --text-field "$(seq -s , 17)" all.csv
refused '--text-field and --fp-field exclude each other' never --text-field 1 --fp-field 2 all.csv
refused '--text-field is for the formats tsv, csv and jsonl' never --text-field 1 -F lines all.csv
run 1 "$dedup" --header --text-field note <(printf 'nr,note\n1\n2,"open\n3,x\n4,y"z\n5,last words\n') -F csv
says ':2: expected 2 columns or more, found 1'
says ':3: text after the quote that ends a field'
says ':5: a quote in a field that does not begin with one'
says 'simidx-dedup: 2 documents in'

# TSV has escapes; what has other backslashes is taken as it is.
printf 'id\ttext\n1\tone\\ntwo\\\\\n2\tC:\\one\\two\n' >rows.tsv
run 0 "$load" -q --header tsv rows.tsv
printf 'id,text\n1,"one\ntwo\\"\n2,C:\\one\\two\n' >same.csv
run 0 "$load" -q --header csv same.csv
diff <("$query" dump tsv) <("$query" dump csv) || fail 'escapes of TSV'

[ -n "${SX_JSON-}" ] || finish
# Evidence has what is needed to read the rows again: at their bytes, and of compressed files by lines.
reviewed() {
	run 0 "$query" review evidence
	[ "$(grep -c 'The texts have the same bytes\.' out)" -eq "$1" ] || fail "texts of $2: $(cat out)"
	rm evidence
}
run 0 "$dedup" -q --header --text-field 'the body' --evidence evidence marked.csv all.csv
reviewed 3 'a table'
sed 's/,/;/g' rows.csv >semi.csv
run 0 "$dedup" -q --delimiter ';' --header --text-field 'the body' --evidence evidence semi.csv <(cat semi.csv) -F csv
grep -q '"delimiter":";"' evidence || fail 'no delimiter'
cp semi.csv again.csv
rm evidence
run 0 "$dedup" -q --delimiter ';' --header --text-field 'the body' --evidence evidence semi.csv again.csv
reviewed 3 'another delimiter'
if [ -n "${SX_ZLIB-}" ]; then
	gzip -kf all.csv
	run 0 "$dedup" -q --header --text-field 'the body' --evidence evidence all.csv.gz
	reviewed 1 'a compressed table'
fi

# Against another reader. What is in a row, and that its bytes alone give the same again: of tables that a
# program has written, and of such with bytes that do not belong there. SIMIDX_LONG=1 does it more often.
command -v python3 >/dev/null || finish
cat >fuzz.py <<'END'
import csv, io, json, random, subprocess, sys
dedup, seed = sys.argv[1], int(sys.argv[2])
random.seed(seed)
csv.field_size_limit(1 << 30)
soup = 'ab ,;"\n\t\\\'\u00e9\ufeff'
damage = random.choice([0, 0, 3, 30])
# A carriage return by itself, unquoted, ends a row for Python and is a byte like others here.
ends = '\n' if damage else random.choice(['\n', '\r\n'])
soup += '\r' if ends == '\r\n' else ''
def field(n):
    return ''.join(random.choice(soup) for i in range(random.randrange(n)))
def write(name, rows, damage):
    out = io.StringIO(newline='')
    how = random.choice([csv.QUOTE_ALL, csv.QUOTE_MINIMAL, csv.QUOTE_NONNUMERIC])
    csv.writer(out, quoting=how, lineterminator=ends).writerows(rows)
    text = out.getvalue()
    head = text.index('end of header') + 30
    for i in range(damage):
        at = random.randrange(head, len(text))
        text = text[:at] + random.choice(soup) + text[at + random.randrange(2):]
    mark = random.choice([b'', b'\xef\xbb\xbf'])
    open(name, 'wb').write(mark + text.encode())
    return mark + text.encode()
n = random.randrange(1, 60)
header = ['a', field(random.choice([8, 9000])) + 'x', 'text', 'end of header']
rows = [['%d' % i, field(9), 'w%d v%d u%d ' % (i, i, i) + field(random.choice([3, 30, 3000])), field(5)]
        for i in range(n)]
files = {'f.csv': write('f.csv', [header] + rows, damage)}
files['g.csv'] = write('g.csv', [header] + rows, 0)
subprocess.run([dedup, '-q', '--header', '--text-field', 'text', '--evidence', 'f.ev', '--evidence-texts',
                '10000', 'f.csv', 'g.csv'], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=not damage)
seen = 0
for line in open('f.ev'):
    pair = json.loads(line)
    for end in ['', '2']:
        at, size = pair['offset' + end], pair['length' + end]
        bytes = files[pair['path' + end]][at:at + size]
        assert files[pair['path' + end]][:at].count(b'\n') + 1 == pair['line' + end]
        parsed = list(csv.reader(io.StringIO(bytes.decode(), newline='')))
        assert len(parsed) == 1, parsed
        if pair['rule'] == 'equal':
            assert parsed[0][2] == pair['excerpt' + end], (parsed, pair)
            seen += 1
assert damage or seen == 2 * n, (seen, n)
END
runs=15
[ -z "${SIMIDX_LONG-}" ] || runs=500
for ((seed = 1; seed <= runs; seed++)); do
	rm -f f.ev
	python3 fuzz.py "$dedup" "$seed" || fail "seed $seed"
done
finish
