#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
#
# What the tools say of operands, indexes and inputs that are not what was meant: what to type instead.
. "$SX_SRCDIR/tests/tool/tool_lib.sh"

seq 5 | awk '{ printf "%d\t%016x\tl%d\n", $1, $1 * 99, $1 }' >fps.tsv
run 0 "$load" -q ix fps.tsv
mkdir docs
echo 'one two three four five six seven' | tee docs/1 docs/2 >plain.txt
run 2 "$query" repair new ix
says "repair: 'new' is no index, and 'ix' is one: INDEX comes first"
run 2 "$query" plan --size 1000000
says "unknown option '--size'; '--documents' says how many"
run 2 "$query" plan 1000000
says 'plan: --documents 1000000 says how many there are'
for index in hbase:pages redis:pages; do
	run 2 "$load" $index fps.tsv
	says "'$index' is a directory; an index in an engine is named ${index%pages}//HOST/NAME"
	run 2 "$query" stats $index
	says "'$index' is a directory; an index in an engine is named ${index%pages}//HOST/NAME"
	run 2 "$dedup" --stream --index $index fps.tsv
	says "'$index' is a directory; an index in an engine is named ${index%pages}//HOST/NAME"
	[ ! -e $index ] || fail 'a directory was made'
done
# A directory that is called so is one.
mv ix hbase:pages
run 0 "$query" stats hbase:pages
mv hbase:pages ix
run 2 "$query" stats ixx
says 'ixx: is ix meant?'
run 2 "$query" stats ix2
says "ix2: 'simidx-load ix2 INPUT' makes an index"
printf '1\t%016x\tmillion\n' 5 >words.tsv
run 0 "$load" -q worded words.tsv
run 0 "$query" get worded --label million
run 0 "$load" -q million words.tsv
run 2 "$query" pairs fps.tsv docs/1
says "pairs: 'fps.tsv' is a file and no index; 'simidx-query similar A B' compares two texts"
run 2 "$query" delete ix --id 1,2
says '; several with blanks between'
run 1 "$query" delete ix --label -
says "-: not found; 'simidx-load --mode delete -F labels INDEX FILE' deletes what a list has"
run 1 "$query" delete ix --label l8,l9
says 'l8,l9: not found; several labels stand with blanks between'
run 1 "$query" delete ix --label fps.tsv
says 'fps.tsv: not found; labels are compared whole, and dump lists them'
cp -r ix gone && rm gone/data.mdb
run 2 "$query" verify gone
says 'gone: its data.mdb is gone: restore a backup, or load the documents again'
for name in $'\xe2\x80\x9cfps.tsv\xe2\x80\x9d' host:/fps.tsv a.tsv,b.tsv .text; do
	run 2 "$load" ix "$name"
	case $name in
	host*) says 'files of this machine are read: ssh HOST cat FILE' ;;
	a*) says 'several INPUTs stand with blanks between' ;;
	.text) says '--text-field names a member or column' ;;
	*) says 'a shell has other quotes' ;;
	esac
done
run 2 "$query" review docs
says 'review shows the pairs of a file that simidx-dedup --evidence has written'
run 2 "$query" search ix 18446744073709551615
says '; of a decimal number: --fp-encoding dec'
run 2 "$query" search -F csv ix 0123456789abcdef
says '; -F is the format of a file of queries, and --json prints objects'
run 2 "$query" search ix l3
says 'l3: fingerprint: expected 1 to 16 hexadecimal digits, found '"'l'"' in place of digit 1; of a label: simidx-query get --label'
run 1 "$query" get ix d0
says 'd0: not found as a fingerprint; --label reads it as a label'
run 1 "$query" get ix --label 'l*'
says 'l*: not found; labels are compared whole, and dump lists them'
run 2 "$query" delete ix
says "one of --older-than, --id and --label says what is deleted; 'rm -r INDEX' deletes all"
run 2 "$load" --plan 3x22 ix fps.tsv
says 'ix: has the plan 4x16, not 3x22; simidx-query compact --plan changes it'
run 2 "$load" --wait 5s ix fps.tsv
says "--wait: expected a number of milliseconds in 0..2147483647, found '5s'"
run 2 "$query" delete ix --older-than 30d
says 'ix: keeps no times, so --older-than does not fit; an index that simidx-load --times makes keeps them'
run 2 "$dedup" - </dev/null
says 'standard input needs its format, such as -F jsonl; of a list of names: --files-from -'
run 2 "$dedup" </dev/null
says "INPUT is missing: '-' is standard input, and --files-from - a list of names there"
run 2 "$load" --files-from docs new
says 'docs: is a directory (-r reads the files in it)'
run 2 "$load" new https://example.org/a
says 'nothing is fetched: curl -s URL | ... -F FORMAT -'

for tool in dups summary rejects; do
	run 2 "$dedup" --$tool plain.txt
	says "INPUT is missing: --$tool has taken 'plain.txt'"
done
run 2 "$dedup" -r --summary docs
says "INPUT is missing: --summary has taken 'docs'"
run 2 "$load" --from ix
says "INDEX is missing: --from has taken 'ix'"
run 2 "$load" plain.txt
says 'INDEX is missing: it comes before INPUT'
says "Try 'simidx-load INDEX plain.txt'"
for tool in rejects summary stem text-field; do
	run 2 "$load" --$tool new plain.txt
	says "INDEX is missing: --$tool has taken 'new'"
done
run 2 "$dedup" --stream --output new </dev/null
says "INPUT is missing: '-' is standard input"
run 2 "$query" clusters docs/1 docs/2
says "clusters: 'docs/1' is a file and no index; simidx-dedup compares files"
run 2 "$query" search --accept ix plain.txt
says "--accept: expected a number in 0..32640, found 'ix', the name of a file or index: the value is missing"
for index in localhost:6379 redis.example.org:9090; do
	run 2 "$dedup" --stream --index $index fps.tsv
	says "'$index': an index in an engine is named redis://HOST:PORT/NAME or hbase://HOST:PORT/NAME"
	[ ! -e $index ] || fail 'a directory was made'
done
run 2 "$dedup" --stream --output-dir ix fps.tsv
says "--output-dir: 'ix' is an index, and --index names one"
run 2 "$dedup" -r docs // empty
says "'//' is the root directory, and separates nothing; --prefer DIR says what stays"
run 2 "$load" --mode delete ix docs/1
says '; of a label: simidx-query delete --label INDEX docs/1'
run 2 "$load" -r=docs ix
says "a letter has its value without '=': '-r=docs'"
run 1 "$load" --force ix fps.tsv
says '--force is about network file systems; --create truncate replaces an index'
run 0 "$load" --force forced -F lines - <<<ff
grep -q 'network file systems' err && fail 'advice about --force that has done no harm'
run 2 "$dedup" filter fps.tsv
says "there is no file 'filter'; there are no commands"
printf '%s\n' 'id,text' '1,one two' >commas.tsv
run 1 "$load" new commas.tsv
says 'found one column; of columns between commas: -F csv'
printf 'ff\n' | run 1 "$load" --mode replace -F lines ix -
says '; --label-field names a member that is one'
for index in sqlite:new.db file:///new lmdb:new; do
	run 2 "$load" $index fps.tsv
	says "'$index': an index is a directory, named without ${index%%:*}:; ./$index is one"
done
run 1 "$query" search ix 0123456789abcde
says '0123456789abcde has 15 of 16 digits: searched as 00123456789abcde'
run 2 "$query" dump ix out.tsv
says "dump: one argument too many: 'out.tsv'; results go to standard output: > FILE"
run 2 "$query" backup ix -
says "backup: '-' is standard output, and DEST is a directory"
[ ! -e ./- ] || fail 'a directory was made'
run 2 "$query" backup ix copy more
says "backup: one argument too many: 'more'"
grep -q 'standard output' err && fail 'a copy goes to standard output'
mkdir empty
run 2 "$load" empty </dev/null
says 'INPUT is missing'
run 2 "$dedup" --stream --index ix </dev/null
says "INPUT is missing: '-' is standard input"
# Its files of locks are no documents.
run 2 "$load" -r new ix
says 'ix: is an index, and INPUTs are files'
run 2 "$dedup" -r ix
says 'ix: is an index, and INPUTs are files'
run 2 "$dedup" @list
says '; --files-from FILE reads a list of names'
run 2 "$dedup" –r
says "; an option begins with '-', and this with another dash"

# ---- what is not there, or is something else ----

run 2 "$query" stats no-index
says "no-index: 'simidx-load no-index INPUT' makes an index"
run 2 "$query" stats docs
says "docs: an index is a directory that simidx-load or 'simidx-dedup --index' has made of files: 'simidx-load INDEX -r docs'"
run 2 "$query" stats plain.txt
says "has made of files: 'simidx-load INDEX plain.txt'"
mkdir nothing
run 2 "$query" stats nothing
says "nothing: 'simidx-load nothing INPUT' makes an index"
run 2 "$query" stats ix/data.mdb
says 'ix/data.mdb: the index is the directory: ix'
run 2 "$query" stats 'i*x'
says 'i*x: a shell replaces * and ? where files match, and not in quotes'
run 2 "$query" backup ix no-dir/copy
says "no-dir/copy: 'mkdir -p no-dir' makes that directory"
run 2 "$query" backup ix s3://host/copy
says 's3://host/copy: only a directory of this machine can be written to'
run 2 "$query" backup ix user@host:/copy
says 'user@host:/copy: only a directory of this machine can be written to'
run 2 "$query" compact ix no-dir/copy
says "ix: 'mkdir -p no-dir' makes that directory"
run 1 "$load" --mode delete -F ids ix plain.txt
says '; of labels: -F labels'
run 2 "$load" nosuch://here fps.tsv
says "without one an index is a directory: 'simidx-load INDEX INPUT'"
run 2 "$load" -r docs new
says "'docs' is no index, and 'new' is not there: INDEX comes first"
run 2 "$load" docs ix
says "'docs' is no index, and 'ix' is one: INDEX comes first"
run 2 "$load" new no-dir/file
says 'no-dir/file: cannot open: No such file or directory; a path from here'
run 2 "$load" new plan.txt
says 'plan.txt: cannot open: No such file or directory; is plain.txt meant?'
run 2 "$load" new docs/11
says 'docs/11: cannot open: No such file or directory; is '
home='~'
run 2 "$load" new "$home/rows.csv"
says '; a shell replaces ~ where it begins a word, and not in quotes'
ln -s nowhere broken
run 2 "$load" new broken
says 'broken: cannot open: No such file or directory; it is a link to what is not there'
run 2 "$load" no-dir/new fps.tsv
says 'no-dir/new: cannot be made, as there is no directory no-dir: mkdir -p no-dir'
run 2 "$load" --rejects no-dir/file new fps.tsv
says 'no-dir/file: cannot write: No such file or directory; mkdir -p makes its directory'
run 2 "$load" --summary docs new fps.tsv
says 'docs: cannot write: Is a directory; name a file in it'
run 2 "$load" --create must ix fps.tsv
says 'ix: exists already; without --create documents are added to it'
run 2 "$load" --bits 32 ix fps.tsv
says 'ix: has fingerprints of 64 bits, not of 32: leave --bits out'
run 1 "$load" ix fps.tsv
says '; --mode replace stores this one)'
cp fps.tsv why.jsonl
run 2 "$query" review whi.jsonl
says 'whi.jsonl: cannot open: No such file or directory; is why.jsonl meant?'
run 2 "$query" review no-file
says "no-file: cannot open: No such file or directory; 'simidx-dedup --evidence no-file INPUT' makes it"
run 2 "$query" get ix --id 1,2
says '; several with blanks between; a label: --label'
run 1 "$query" get ix --id 99
says '99: not found; dump lists all ids'
run 2 "$query" export ix docs
says 'docs: exists already; DIR is to be a new one'
run 2 "$query" export ix ix.csv
says "ix.csv: is a name of rows, and DIR a directory for HBase; 'simidx-query dump INDEX' prints rows"
[ ! -e ix.csv ] || fail 'a directory with the name of rows'
run 2 "$query" backup ix ix.tar.gz
says 'ix.tar.gz: a backup is a directory: tar -czf FILE.tar.gz packs it'
run 2 "$query" search ix docs
says 'docs: is a directory; name the files in it: --text DIR/*'
run 0 "$load" -q --times timed fps.tsv
run 0 "$query" delete timed --older-than 30
says '--older-than: 30 is taken as seconds since 1970; 30d are as many days before now'
run 0 "$query" delete timed --older-than 1000000000
grep -q 'as many days' err && fail 'a date of 2001'
printf '%s\n' 1234567890123 98765432109876 >decimal.txt
run 0 "$load" -F lines new decimal.txt
says 'decimal.txt: has decimal numbers, read as hexadecimal ones without --fp-encoding dec'
for numbers in '1234567890123 9876543210987a' '1234 5678' 1234567890123 '0012345678901234 1234567890123456'; do
	rm -rf new
	printf '%s\n' $numbers >hex.txt
	run 0 "$load" -F lines new hex.txt
	grep -q 'has decimal' err && fail "$numbers"
done
rm -rf new
run 0 "$load" -F lines --fp-encoding dec new decimal.txt
grep -q 'has decimal' err && fail 'advice that was taken'
rm -rf new
printf 'a\tb\n' >tabs.txt
run 1 "$load" -F csv new tabs.txt
says 'found one column; of columns between tabs: -F tsv'

# ---- inputs of another kind ----

printf '%s\n' 81985529216486895 -2 >decimal
run 1 "$load" -F lines new decimal
says 'decimal:1: fingerprint: expected 1 to 16 hexadecimal digits, found 17; of decimal numbers: --fp-encoding dec or sdec'
says 'decimal:2: fingerprint: expected 1 to 16 hexadecimal digits, found '"'-'"' in place of digit 1; of decimal numbers: --fp-encoding dec or sdec'

run 1 "$load" -F lines new plain.txt
says "plain.txt:1: fingerprint: expected 1 to 16 hexadecimal digits, found 'o' in place of digit 1; of a text in each line: -F tsv --text-field 1"
for rows in 'one	two:tabs: -F tsv' 'one,two:commas: -F csv'; do
	echo "${rows%%:*}" >table.txt
	run 1 "$load" -F lines new table.txt
	says "; of columns between ${rows#*:}"
done
printf '\377\376a\0' >wide.csv
run 2 "$load" new wide.csv
says 'wide.csv: is UTF-16: iconv -f UTF-16 -t UTF-8 FILE | ... -F csv - reads it'
# Bytes may be anything: these are a number.
printf '\377\376\0\0\0\0\0\0\1\0\0\0\0\0\0\0' >wide.bin
run 0 "$load" -q -F bin numbers wide.bin
run 1 "$load" -F lines --fp-encoding dec new - <<<99999999999999999999
grep -q 'of decimal numbers' err && fail 'advice that was taken'
[ ! -e new ] || fail 'an index was made of nothing'

if [ -n "${SX_JSON-}" ]; then
	echo '{"fp":"00000000000000ff","n":1}' >rows.jsonl
	for format in csv tsv lines features; do
		run 1 "$load" -F $format new rows.jsonl
		says 'rows.jsonl: has a JSON object in its first line: -F jsonl reads a row a line'
	done
	run 2 "$load" -F bin new rows.jsonl
	says 'rows.jsonl: has a JSON object in its first line: -F jsonl reads a row a line'
	run 1 "$load" -F jsonl new table.txt
	says '; of columns between commas: -F csv'
	echo 00000000000000ff >hex
	run 1 "$load" -F jsonl new hex
	says '; of a fingerprint in each line: -F lines'
	[ ! -e new ] || fail 'an index was made of nothing'
	if [ -n "${SX_TEXT-}" ]; then
		echo '{"id":1,"body":"some words"}' >number.jsonl
		run 1 "$dedup" --text-field id number.jsonl
		says "1 row has a \"id\" that is no string (number.jsonl:1, whose strings are \"body\"; the longest one: --text-field 'body')"
	fi
	run 0 "$load" --label-field nope new rows.jsonl
	says 'simidx-load: no row has "nope" (--label-field); the first one has "fp", "n"'
	echo '{"fp":"ff00000000000000","nope":"x"}' >more.jsonl
	run 0 "$load" --label-field nope new rows.jsonl more.jsonl
	grep -q 'no row has' err && fail 'told, though a row has the member'
	rm -rf new
	run 0 "$load" --label-field nope new more.jsonl rows.jsonl
	grep -q 'no row has' err && fail 'told, though a row of the first file has the member'
	rm -rf new
	run 0 "$load" --times --time nope --id-field n new rows.jsonl
	says 'no row has "nope" (--time): all times are unknown; the first one has "fp", "n"'
	grep -q 'id-field' err && fail 'a member is there'
	echo '{"title":"one two three four five","body":"six seven eight nine"}' >titles.jsonl
	if [ -n "${SX_TEXT-}" ]; then
		run 0 "$dedup" --text-field 'title, body' titles.jsonl
		says 'no row has " body" (--text-field); the first one has "title", "body"'
		run 0 "$dedup" --text-field body --keep max:nope titles.jsonl
		says 'no row has "nope" (--keep); the first one has "title", "body"'
		# A pipe has no name that tells its format.
		for tool in "$dedup" "$dedup --stream" "$load fresh"; do
			run 1 $tool <(cat titles.jsonl)
			says ': has a JSON object in its first line: -F jsonl reads a row a line'
		done
		run 1 "$dedup" <(echo '[{"title":1},{"title":2}]')
		says ": is a JSON array, and rows are objects, one a line: jq -c '.[]' makes such lines"
		run 0 "$dedup" -F text <(cat titles.jsonl)
		run 0 "$dedup" <(echo one two)
		run 0 "$dedup" --text-field title,body titles.jsonl
		grep -q 'no row has' err && fail 'both members are there'
	fi
fi

if [ -n "${SX_TEXT-}" ]; then
	for weights in '--weights tfidf' '--extractor tfidf' '--weights tfidf --idf fps.tsv'; do
		run 2 "$load" $weights fresh -r docs
		says "; 'simidx-query idf FILE >words.idf' makes one, --idf words.idf names it"
	done
	run 2 "$load" --idf plain.txt fresh -r docs
	says 'is for the weights tfidf; --weights tfidf uses what --idf names'
	printf 'PK\0' | tee some.xlsx >some.bin
	run 1 "$dedup" some.xlsx some.bin
	says 'some.xlsx: contains a NUL byte, so it is no text; soffice --headless --convert-to txt FILE'
	says 'some.bin: contains a NUL byte, so it is no text; simidx-dedup --binary compares bytes'
	run 0 "$load" -q -r texts docs
	run 2 "$query" search --text ix docs/1
	says "ix: 'simidx-query stats ix' shows what it holds"
	run 2 "$load" ix docs/1
	says "ix: 'simidx-query stats ix' shows what it holds; another name makes a new index"
	run 2 "$load" --from texts --from ix joined
	says 'joined: ix: it has other columns (second fingerprints)'
	run 2 "$load" --from texts --from ix joined
	says "joined: 'simidx-query stats INDEX' shows what it holds"
	run 2 "$query" search --text texts docs
	says 'docs: is a directory; name the files in it: --text DIR/*'
	run 2 "$query" search --text texts texts
	says "is a directory and an index; 'simidx-query pairs INDEX OTHER' compares two"
	if [ -n "${SX_JSON-}" ]; then
		# Of many rows that are no queries some are told, and at the end why.
		seq -f '{"body":"words %g"}' 30 >others.jsonl
		run 2 "$query" search texts -F jsonl others.jsonl
		[ "$(grep -c 'expected one of' err)" -eq 3 ] || fail "$(cat err)"
		says 'more rows that are no queries of this kind are only counted'
		says "30 rows have no \"text\" (first: others.jsonl:1, whose strings are \"body\"; the longest one: --text-field 'body')"
		run 1 "$query" search texts -F jsonl --text-field body others.jsonl
		[ ! -s out ] || fail "found: $(cat out)"
		run 1 "$query" search --text texts - <others.jsonl
		says '-: has a JSON object in its first line: -F jsonl reads a row a line'
	fi
	run 2 "$query" search --text texts words
	says '; if it is the text: echo TEXT | ... --text -'
	run 2 "$query" search --text --top 5 texts docs/1
	says '--top is about features; --nearest N prints the N nearest'
	run 2 "$query" search --text -k 3 --accept 100 texts docs/1
	says '--accept goes with weights or second fingerprints: leave --radius out'
	run 2 "$load" --extractor words1 texts docs/1
	says 'was made by the extractor words12, not by words1: leave --extractor out'
	run 2 "$load" --stop de new -r docs
	says "simidx-load: --stop: 'en' and 'zh' are lists of words, or a FILE has one a line"
	run 2 "$query" similar 'one two' docs/1
	says "; A and B are files: <(echo 'some words') is one"
	run 2 "$query" similar docs docs/1
	says "'simidx-dedup -r --binary' compares all files of directories, and by bytes those that are no texts"
	run 2 "$query" similar ix docs/1
	says "'simidx-query pairs INDEX OTHER' compares indexes, 'simidx-query search --text INDEX FILE' searches one"
	run 2 "$query" search --top 5 ix 0123456789abcdef
	says '--top goes with texts, and the queries are fingerprints; --nearest N prints the N nearest'
	run 0 "$dedup" plain.txt
	each='each file is one text; a text in each line is read by -F tsv --text-field 1, columns between commas by -F csv --text-field NAME'
	says "$each"
	run 0 "$load" whole plain.txt
	says "$each"
	run 0 "$load" whole docs/1
	grep -q 'each file is one' err && fail 'one more text'
	run 0 "$load" two-texts docs/1 plain.txt
	grep -q 'each file is one' err && fail 'two files are not one'
	echo docs/1 >names
	run 0 "$dedup" names
	says 'names: has names of files: --files-from names reads these'
	run 0 "$query" idf plain.txt
	says "$each"
	run 0 "$dedup" -r --prefer empty docs
	says '--prefer empty: no INPUT is below it'
	for place in docs docs/1 .; do
		run 0 "$dedup" -r --prefer $place docs
		grep -q 'no INPUT is below' err && fail "$place has inputs"
	done
	printf 'a,b\n1,one two three\n' >header.csv
	run 1 "$dedup" -F tsv --header --text-field b header.csv
	says '; of columns between commas: -F csv'
	cp header.csv rows.dat
	run 2 "$dedup" --text-field b rows.dat
	says 'rows.dat: --text-field is for the formats tsv, csv and jsonl: -F tells which it is'
	run 0 "$dedup" --exclude '{a,b}' -r docs
	says "--exclude '{a,b}' left out nothing: a pattern has *, ? and [...] alone; --exclude may be given again"
	cp header.csv rows.csv
	run 0 "$dedup" --exclude rows.csv -r docs
	says "--exclude 'rows.csv' left out nothing: it is a pattern for names; --against INDEX of simidx-dedup leaves out rows"
	run 2 "$dedup" --exclude rows.csv rows.csv
	says '--exclude is about what -r and --files-from find; --against INDEX of simidx-dedup leaves out rows'
	run 0 "$query" idf --min-texts 1000 docs/1
	says 'no word is in 1,000 texts (--min-texts)'
	run 0 "$dedup" --stream plain.txt
	says "$each"
	run 0 "$dedup" --stream -F text - <plain.txt
	says "$each"
	run 0 "$dedup" --stream --index one-text plain.txt
	grep -q 'each file is one' err && fail 'an index is something'
	says 'one-text: a new index, in which new documents are remembered'
	run 0 "$dedup" --stream --index one-tex docs/1
	says 'one-tex: a new index; is one-text meant?'
	run 0 "$dedup" --stream --index one-text docs/1
	grep -q 'a new index' err && fail 'an index that is there'
	run 0 "$dedup" docs/1 docs/2
	grep -q 'each file is one' err && fail 'two files are not one'
	seq 5 >numbers.txt
	run 0 "$dedup" --stream docs/1 numbers.txt
	says "$each"
	run 0 "$dedup" --stream docs/1 docs/2 plain.txt docs/1
	grep -q 'each file is one' err && fail 'a stream of files'
	run 2 "$dedup" --stream --output-dir plain.txt docs/1
	says "--output-dir: 'plain.txt' is a file, and DIR is a directory"
	printf '1,one two three\n' >bare.csv
	run 1 "$dedup" bare.csv
	says '; if column 2 has texts: --text-field 2'
	if [ -n "${SX_JSON-}" ]; then
		echo "{'text': 'one two'}" >python.jsonl
		run 1 "$dedup" python.jsonl
		says '; JSON has double quotes: json.dumps() of Python writes them'
		echo '{"text":"one"} {"text":"two"}' >double.jsonl
		run 1 "$dedup" double.jsonl
		says '; jq -c . FILE | ... -F jsonl - reads several objects a line'
		printf '{"text":"caf\xe9"}\n' >latin.jsonl
		run 1 "$dedup" latin.jsonl
		says '; rows are UTF-8: iconv -f FROM -t UTF-8 makes it'
		echo '{"text":"one two"},' >comma.jsonl
		run 1 "$dedup" comma.jsonl
		says "; sed 's/,\$//' FILE | ... -F jsonl - reads lines with commas between"
		echo '{"text":["one","two"]}' >list.jsonl
		run 1 "$dedup" list.jsonl
		says "; jq can join a list: jq -c '.text |= join(\" \")'"
		echo '{"text":"one two"}' >one.jsonl
		run 0 "$dedup" -F text one.jsonl
		says 'one.jsonl: has a JSON object in its first line: -F jsonl reads a row a line'
		run 1 "$query" similar one.jsonl plain.txt
		says "one.jsonl has rows, and is compared as one text; 'simidx-dedup --pairs' compares rows"
		grep -q 'plain.txt has rows' err && fail 'a text is one text'
	fi
	run 1 "$dedup" --drop-list list.out plain.txt
	says 'list.out: is not there; --drop-list goes to standard output: > FILE'
	# Rows stay what they are, and are as old as their file.
	printf 'one two three four five\none two three four five\n' >two.tsv
	for name in out.csv out.jsonl.gz out.parquet; do
		run 0 "$dedup" --stream --text-field 1 --output $name two.tsv
		says "--output $name: rows are written as they came, in the format tsv: name it .tsv"
	done
	for name in rows.tsv rows.out rows.tsv.gz; do
		run 0 "$dedup" --stream --text-field 1 --output $name two.tsv
		grep -q 'as they came' err && fail "told of $name"
	done
	for rule in newest oldest; do
		run 0 "$dedup" --text-field 1 --keep $rule two.tsv
		says 'go by files, and rows of one are equally old, so the first stays; --keep max:FIELD'
		run 0 "$dedup" --keep $rule docs/1 docs/2
		grep -q 'equally old' err && fail 'told of files'
	done
	printf 'url,Body\nhttp://a,one two three\n' >rows.csv
	run 0 "$dedup" --text-field 2 rows.csv
	says '1 line looks like a header, and was taken as a text: --header (rows.csv:1)'
	run 0 "$dedup" --header --text-field Body rows.csv
	grep -q 'like a header' err && fail 'a header is taken for a text'
	printf 'SQLite format 3\0and more' >some.db
	printf 'PK\3\4\0\0' >some.zip
	run 1 "$dedup" some.db some.zip
	says 'some.db: is an SQLite database: sqlite3 -csv FILE '"'SELECT ...' | ... -F csv -"
	says 'some.zip: is an archive: unpack it, and give -r its directory'
	run 1 "$dedup" rows.csv --header --text-field Body clean.csv
	says 'clean.csv: is not there; what is found is not written to it, but to standard output: > FILE'
	run 1 "$dedup" docs/1 docs/no
	grep -q 'is not there; ' err && fail 'told of a name that is mistyped'
	run 0 "$dedup" -F tsv --text-field 1 rows.csv - </dev/null
	grep -q 'is not there; ' err && fail 'told of standard input'
	# Endings say the same in capitals.
	cp rows.csv ROWS.CSV
	run 0 "$dedup" --header --text-field Body ROWS.CSV
	grep -q '^simidx-dedup: 1 document ' err || fail "ROWS.CSV: $(cat err)"
	run 2 "$dedup" --index ix rows.csv
	says '--index goes with --stream: give that, too'
	printf '{"text":"one two"},\n{"text":"three"},\n' >commas.jsonl
	run 1 "$dedup" --stream commas.jsonl
	says '2 lines are no JSON objects (first: commas.jsonl:1; a line is one object, such as {"text": "some words"})'
	for i in $(seq 10); do
		echo "{\"id\":\"$i\",\"text\":\"one two three four five six seven $i\"}"
	done >ids.jsonl
	run 0 "$dedup" --stream --text-field id ids.jsonl
	says 'texts have fewer than 32 bytes on average: --text-field names another member or column'
	run 0 "$dedup" --stream ids.jsonl
	grep -q 'on average' err && fail 'told of texts'
	"$query" dump --format full ix >full.dump
	for format in tsv csv lines; do
		run 1 "$load" -F $format from-dump full.dump
		says 'full.dump: is a full dump: simidx-load -F full reads it'
	done
	for format in tsv csv lines dump; do
		run 1 "$load" -F $format from-dump - <full.dump
		says '; a full dump is read by -F full'
	done
	run 2 "$dedup" full.dump
	says 'full.dump: is a full dump: simidx-load -F full reads it'
	"$query" dump ix >plain.dump
	run 2 "$load" -F full from-dump plain.dump
	says '; of columns between tabs: -F tsv'
	"$query" dump --json ix >json.dump
	run 1 "$load" -F dump from-dump json.dump
	says '; of JSON objects: -F jsonl'
	run 1 "$load" -F jsonl from-dump full.dump
	says '; a full dump is read by -F full'
	# Options are looked at before a header is written.
	run 2 "$dedup" --stream -k 2 --header --text-field Body rows.csv
	says '--radius is about fingerprints; for texts it goes with --no-verify'
	[ ! -s out ] || fail 'a header was written'
	# Of a long stream that has nothing near the limit is told.
	seq -f '{"text":"%g some words"}' 1000 >long.jsonl
	run 0 "$dedup" --stream long.jsonl
	says 'texts are near if they have 80 % of their runs of five words in common'
	head -n 999 long.jsonl >shorter.jsonl
	run 0 "$dedup" --stream shorter.jsonl
	grep -q 'texts are near' err && fail 'told of a short stream'
	run 2 "$dedup" --files-from commas.jsonl
	says 'commas.jsonl: has rows and no names: name it as INPUT, without --files-from'
	[ "$(wc -l <err)" -le 2 ] || fail "$(cat err)"
	# Objects may be what a column has.
	echo '{"a":1}' >objects.tsv
	run 0 "$dedup" --text-field 1 objects.tsv
	says 'objects.tsv: has a JSON object in its first line: -F jsonl reads a row a line'
fi
finish
