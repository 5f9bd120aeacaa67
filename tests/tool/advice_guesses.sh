#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
#
# Guesses that used to lead astray, to nothing or to files that nobody asked for.
. "$SX_SRCDIR/tests/tool/tool_lib.sh"
need_text
need_json

mkdir -p texts/sub
echo 'one two three four five six seven' | tee texts/a.txt >texts/sub/b.html
printf '{"id":%d,"text":"row %d has words of its own"}\n' 1 1 2 2 >rows.jsonl
seq 5 | awk '{ printf "%016x\n", $1 * 99991 }' >fps
run 0 "$load" -q -r index texts
run 0 "$load" -q fidx -F lines fps

# shows RIGHT WRONG...: the command after simidx- that is right, and one that is not.
shows() {
	local right=$1
	shift
	run 2 "$@"
	says "Try 'simidx-$right', or 'simidx-"
}

# none PROGRAM WRONG...: no line is shown.
none() {
	local program=$1
	shift
	run 2 "$@"
	says "Try 'simidx-$program --help'."
}

# ---- what can be deleted is never a list of what stays ----

for null in -0 --null; do
	shows "dedup --drop-list -r $null texts" "$dedup" -r texts $null
done
shows 'dedup -r texts --drop-list --null' "$dedup" -r texts --print0
shows 'dedup -r texts --drop-list' "$dedup" -r texts --list
for option in -o --output --out; do
	none dedup "$dedup" -r texts $option groups.txt
	says 'groups go to standard output: > FILE'
done
shows 'dedup rows.jsonl --stream --output new' "$dedup" rows.jsonl -o new
shows 'dedup rows.jsonl --stream --index INDEX' "$dedup" rows.jsonl --cache
shows 'dedup --no-verify -r -k 3 texts' "$dedup" -r texts -k 3
none dedup "$dedup" -r texts --text-field text
none dedup "$dedup" --files-from nosuch
none dedup "$dedup" -F jsonl - -
none dedup "$dedup" -r texts --memory 1
none dedup "$dedup" --stream rows.jsonl --reference rows.jsonl
says "is --against meant?"

# ---- values ----

# An option is no file; behind '=' anything is one.
for option in summary rejects evidence; do
	shows "dedup --$option FILE -r texts" "$dedup" --$option -r texts
	says "option '--$option' needs a value: --$option FILE, found '-r'"
done
shows 'load --summary FILE -q index fps' "$load" --summary -q index fps
[ ! -e ./-q ] && [ ! -e ./-r ] || fail 'a file is called as an option is'
run 0 "$dedup" --summary=-q -r texts
[ -s ./-q ] || fail 'no summary'
while read -r value right; do
	shows "dedup -r texts --similarity $right" "$dedup" -r texts --similarity "$value"
done <<'LIST'
100 1
100% 1
80pct 0.8
1e-1 0.1
90 0.9
LIST
for value in 8 8/10 0 high; do
	none dedup "$dedup" -r texts --similarity $value
	says "such as 0.8, found '$value'"
done
# An example stands where a value is missing, and nothing in what is deleted.
shows 'dedup -r texts --similarity 0.8' "$dedup" -r texts --similarity
shows 'dedup -r texts --keep newest' "$dedup" -r texts --keep
shows 'dedup --keep newest INPUT' "$dedup" --keep
shows 'dedup --stream rows.jsonl --text-field text' "$dedup" --stream rows.jsonl --text-field
shows 'dedup --stream rows.jsonl -F jsonl' "$dedup" --stream rows.jsonl -F
shows 'load --mode if-new INDEX INPUT' "$load" --mode
shows 'load -r new texts --stem english' "$load" new -r texts --stem
shows 'load -r new texts --durability normal' "$load" new -r texts --no-sync
shows 'query search -k 3 INDEX QUERY' "$query" search -k
none 'query delete' "$query" delete index --older-than
none 'query delete' "$query" delete index --before
shows 'query delete --older-than 30d index' "$query" delete --older-then 30d index
shows 'query delete index --older-than 30d' "$query" delete index --before 30d
shows 'query delete --wait 500 index' "$query" delete --wati 500 index
run 2 "$query" delete --older-than 30 days index
says '--older-than 30 days: times are such as 30d, 4w or 12h'
shows 'dedup -r texts --threads 4' "$dedup" -r texts -T 4
shows 'dedup -r texts' "$dedup" --files-from texts
shows 'dedup --recursive texts' "$dedup" -d texts
shows 'dedup -r --drop-list texts' "$dedup" -r -d texts
shows 'query delete index --id 0' "$query" delete index --ids 0
shows 'dedup -r texts --similarity 0.9' "$dedup" -r texts -s 0.9
shows 'dedup rows.jsonl --text-field body' "$dedup" rows.jsonl -t body
shows 'dedup --drop-list -r texts' "$dedup" -f -r texts
shows 'load --times new fps' "$load" --timse new fps
while read -r option value meant; do
	shows "load --$option $meant index fps" "$load" --$option $value index fps
done <<'LIST'
create yes if-missing
create auto if-missing
merge yes always
merge no never
LIST
none dedup "$dedup" -r texts -i
says 'upper and lower case are one in texts'
none dedup "$dedup" -r texts -f json
says 'is --json meant?'
none dedup "$dedup" -r texts --name '*.txt'
says "find DIR -name '*.txt' | ... --files-from - chooses by names"
none dedup "$dedup" --stream -F parquet rows.jsonl
says '(FORMAT json)" | ... -F jsonl - reads Parquet'

# ---- options of another tool ----

# What one tool has and the other has not is known there.
names() {
	"$@" -h | grep -oE -- '--[a-z][a-z0-9-]+' | sort -u
}
names "$load" >of_load
names "$dedup" >of_dedup
for option in $(comm -13 of_load of_dedup | grep -vE 'all|near-misses|evidence-texts'); do
	run 2 "$load" "$option" index fps
	grep -q 'there are: ' err && fail "not known to simidx-load: $option"
	says "unknown option '$option'"
done
for option in $(comm -23 of_load of_dedup | grep -vE 'seed|features-by|touch|merge-only|idf'); do
	run 2 "$dedup" "$option" fps
	grep -q 'there are: ' err && fail "not known to simidx-dedup: $option"
	says "unknown option '$option'"
done
none dedup "$dedup" --stream rows.jsonl --max-errors 10
says "'--max-errors'; rows that cannot be read are skipped, and counted; --rejects FILE lists them"
shows 'dedup --keep newest INPUT' "$query" search --keep longest index fps
shows 'query search --radius 3 --text INDEX FILE' "$query" stats --radius 3 index
run 2 "$load" --similarity 0.8 index fps
says "unknown option '--similarity'; --mode if-new with --radius K or --accept A; percent: simidx-dedup"
run 2 "$dedup" --frobnicate fps
says 'pairs; --similarity S, --keep RULE, --exclude PATTERN, --threads N, --json'
run 2 "$load" --frobnicate index fps
says '; --accept A, --radius K, --stem LANGUAGE, --bits F, --max-errors N, --wait MS, --threads N'

# ---- operands ----

for word in help version; do
	run 2 "$load" $word
	says "there is no file '$word'; --$word prints "
done
shows 'dedup --version' "$dedup" version
shows 'load -r INDEX texts' "$load" texts
none load "$load" -r texts new
says "'texts' is no index, and 'new' is not there: INDEX comes first"
shows 'load new fps' "$load" create new fps
none load "$load" index add fps
says "there is no file 'add'; there are no commands"
run 2 "$load" new -r index
says 'index: is an index, and INPUTs are files; simidx-load --from takes its documents'
run 2 "$dedup" -r index
says 'index: is an index, and INPUTs are files: --index and --against name indexes'
run 2 "$load" fps/index fps
says 'fps/index: cannot be made, as fps is a file'
run 2 "$dedup" fps/x
says '; a file stands where its directory is to be'
run 2 "$load" fidx 0123456789abcdef
says '; of fingerprints: echo FP | ... -F lines -'
run 1 "$dedup" -r texts groups
says 'groups: is not there; what is found is not written to it, but to standard output: > FILE'
for pattern in .html html; do
	run 0 "$dedup" -r texts --exclude $pattern
	says "--exclude '$pattern' left out nothing: is '*$pattern' meant?"
done
run 0 "$dedup" -r texts --exclude nosuch
grep -q exclude err && fail 'a name that is not there'
run 2 "$dedup" -0 </dev/null
says "Try 'simidx-dedup --files-from - -0'"
run 2 "$dedup" --stream -F jsonl <rows.jsonl
says "Try 'simidx-dedup --stream -F jsonl -'"
run 0 "$dedup" --stream -F jsonl - <rows.jsonl

# ---- commands ----

shows 'query get --id index 0' "$query" exists index 0
shows 'query delete --id index 0' "$query" remove index 0
shows 'query repair index NEW' "$query" fix index
shows 'query clusters index' "$query" dedup index
shows 'query delete --older-than 30d INDEX' "$query" prune index
shows 'load --help' "$query" help simidx-load
none 'query search' "$query" search help
says "search: there is no 'help'; --help explains the command"
run 0 "$query" --help search
head -1 out | grep -q 'simidx-query search' || fail 'help of the program'
none 'query search' "$query" search --csv index 0
says '--json prints objects, columns are separated by tabs; -F is about rows of queries'
none 'query search' "$query" search -i index fps
says 'INDEX is the first operand of a command'
run 1 "$query" search fidx 0
says '0 is taken as a fingerprint with zeros before it; an id: simidx-query get --id'
run 2 "$query" export index no/such
says 'no/such: cannot be made: No such file or directory; mkdir -p makes its directory'

# ---- many rows with one mistake ----

yes 'a text' | head -50 >lines
run 1 "$load" fidx -F lines lines
[ "$(grep -c ': lines:' err)" -eq 3 ] || fail "$(cat err)"
says 'more rejected rows of this kind are only counted'
says '50 rows rejected'

# ---- what a newcomer typed ----

rm -rf new
echo 'some,rows' >rows.csv
cp rows.jsonl day2.jsonl
run 0 "$load" -q --times timed rows.jsonl
fp=$(sed -n 3p fps)
# RIGHT = WRONG
while IFS='=' read -r right program wrong; do
	# shellcheck disable=SC2086
	shows "$right" "${!program}" $wrong
done <<LIST
dedup -r texts --threads 2=dedup=-r texts -t 2
dedup --pairs rows.jsonl=dedup=-p rows.jsonl
dedup --binary -r texts=dedup=-b -r texts
dedup --header rows.csv=dedup=--csv-header rows.csv
dedup --header rows.csv=dedup=--header true rows.csv
dedup -0 --files-from list=dedup=--files0-from list
dedup --stream --rejects bad rows.jsonl=dedup=--stream --errors bad rows.jsonl
dedup --evidence FILE rows.jsonl day2.jsonl=dedup=--explain rows.jsonl day2.jsonl
dedup --summary FILE rows.jsonl day2.jsonl=dedup=--stats rows.jsonl day2.jsonl
dedup --keep newest rows.jsonl=dedup=--keep rows.jsonl
dedup --stream --index newindex rows.jsonl=dedup=--stream newindex rows.jsonl
load -r new texts=load=create new texts
load --mode if-new --emit new index rows.jsonl=load=--mode if-new --emit yes index rows.jsonl
load --on-duplicate first index rows.jsonl=load=--ignore-existing index rows.jsonl
load --on-duplicate first index rows.jsonl=load=--if-not-exists index rows.jsonl
load --create truncate index rows.jsonl=load=--recreate index rows.jsonl
load --write rebuild index rows.jsonl=load=--rebuild index rows.jsonl
load --merge-only INDEX=load=--merge index
load --merge-only INDEX=load=--merge always index
load --time seen --times new rows.jsonl=load=--timestamp seen --times new rows.jsonl
query delete --label index texts/a.txt=load=delete index texts/a.txt
query search INDEX $fp=query=search $fp
query search fidx QUERY=query=search fidx
query search --text index texts/a.txt=query=search -t index texts/a.txt
query plan --documents 1M=query=plan --expect 1M
query delete --older-than 30d timed=query=delete timed --older-than 30days
query delete --older-than 30d timed=query=delete timed --older-than 1M
query delete --older-than 365d timed=query=delete timed --older-than 1y
query delete --older-than 30d timed=query=delete timed --older-than P30D
query delete --older-than 30d timed=query=delete timed --older-than -30d
query delete --older-than 1d timed=query=delete timed --older-than yesterday
query delete --older-than 1w timed=query=delete timed --older-than 1week
query delete --older-than 2026-06-01 timed=query=delete timed --older-than 2026/06/01
query delete --older-than 2026-06-01 timed=query=delete timed --older-than 01.06.2026
query delete --older-than 2026-06-01 timed=query=delete timed --older-than 20260601
query delete --older-than 2026-06-01 timed=query=delete timed --older-than 2026-06
query delete --older-than 2026-06-01T08:00:00Z timed=query=delete timed --older-than 2026-06-01T08:00:00
LIST
shows 'dedup -F csv rows.csv' "$dedup" -F=csv rows.csv
shows "query search -k 5 fidx $fp" "$query" search -k=5 fidx "$fp"
says "a letter has its value without '=': '-k=5'"
shows 'load --times --time seen new rows.jsonl' "$load" --times=seen new rows.jsonl
# What is said, where no line can be shown.
while IFS='=' read -r told program wrong; do
	# shellcheck disable=SC2086
	run 2 "${!program}" $wrong
	says "$told"
	! grep -q "^Try 'simidx.*', or" err || fail "a line is shown: $wrong"
done <<LIST
; the last line is a summary=dedup=-m -r texts
is --similarity meant?=dedup=--threshold=80 -r texts
found 512 bytes: a unit stands right behind the number, as in 512M=dedup=--memory 512 rows.jsonl
; files are read so by their names=dedup=--csv rows.csv
; --delimiter is what separates columns=dedup=-F ; rows.csv
; --evidence FILE, then simidx-query review --html PAGE FILE=dedup=--report out.html -r texts
; the exit status is 1 if a row could not be read=dedup=--stream --strict rows.jsonl
; nothing is replaced: name a new FILE=dedup=--stream -f --output o rows.jsonl
is --index meant?=dedup=--stream --previous new.jsonl rows.jsonl
; near texts are found anyway=dedup=--near-duplicates rows.jsonl
; there is nothing to choose=dedup=--chunk-size 1000 rows.jsonl
'simidx-dedup --stream --index nope INPUT' makes an index=dedup=--stream --against nope rows.jsonl
; truncate replaces an index that is there, must refuses it=load=--create always -r new texts
standard input cannot be read twice=dedup=--stream -F jsonl - -
; --mode replace stores this one=load=--on-duplicate replace index rows.jsonl
; --create truncate replaces an index=load=--write overwrite index rows.jsonl
of a label: simidx-query get --label=query=search fidx ${fp}aa
; reject leaves such texts out=load=--short skip new rows.jsonl
; a file that is one text has its path as its label=load=--name doc new texts/a.txt
; a file that is one text has its path as its label=load=--label doc new texts/a.txt
; a file is one text without an option=load=-t new texts/a.txt
--text-field has taken 'new'; a file is one text without it=load=--text new texts/a.txt
'fidx', the name of a file or index: the value is missing=query=search -k fidx $fp
; of fingerprints: --radius K=query=search --accept 100 fidx $fp
; the digits stand alone=query=search fidx ${fp}h
; the digits stand alone=query=search fidx ${fp:0:8}:${fp:8}
; of a label: simidx-query get --label=query=search index doc-3
; --radius K finds what differs in K bits, --nearest N the N nearest=query=search --k 5 --text index texts/a.txt
--limit N prints so many=query=search -5 fidx $fp
; without NEW it is compacted in its place=query=compact --in-place index
'simidx-query get INDEX FP' shows ids=query=delete fidx $fp
; xargs simidx-query get --id INDEX reads a list=query=get --id fidx rows.csv
'simidx-load --mode delete -F ids INDEX FILE' deletes what a list has=query=delete fidx --id -
--version prints the version=query=-v
LIST
run 2 "$query" similar "$fp" "$fp"
says 'A and B are files'
! grep -q -e '-F lines' err || fail 'an option that similar has not'
run 2 "$load" new 'some text to store here'
says "; of a text: printf '%s' 'TEXT' | ... -F text -"
run 2 "$query" search fidx " $fp"
says '; the digits stand alone'
shows 'query delete --older-than 2026-06-01 timed' "$query" delete timed --older-than '2026-06-01 00:00'
run 1 "$load" -q --mode delete -F labels index texts/a.txt
run 1 "$load" --mode delete -F labels index texts/a.txt
says '0 documents deleted; index has 2; 1 not there (texts/a.txt:1)'
run 0 "$load" --wait 5 waits rows.jsonl
says '--wait 5 is in milliseconds'
run 0 "$load" indexx texts/a.txt
says 'indexx: a new index; is index meant?'
run 0 "$load" --stem English stemmed texts/a.txt
run 0 "$query" search -k 10 --text index texts/a.txt
says '-k 10 finds what differs in so many bits; --nearest 10 finds the 10 nearest'

# ---- what rows look like ----

(echo; cat rows.jsonl; printf '\n \n') >empty.jsonl
run 0 "$dedup" --stream empty.jsonl
cmp -s out rows.jsonl || fail 'empty lines are no rows'
run 0 "$load" empty empty.jsonl
says 'index built with 2 documents'
(echo '# rows'; cat rows.jsonl) >comment.jsonl
run 1 "$dedup" --stream comment.jsonl
says "malformed JSON at column 1: '{' expected near '#'; JSON has no comments: grep -v '^#'"
sed 's/./& /8' fps >apart
run 1 "$load" -F lines apartx apart
says "; tr -d ' :-' takes away what stands between digits"
printf '%064d\n' 1 10 >binary
run 1 "$load" -F lines binaryx binary
says "; of binary digits: printf '%x\n' \$((2#DIGITS)) makes hexadecimal ones"
sed 's/.*/{"hash":"&"}/' fps >hash.jsonl
run 1 "$load" hashx hash.jsonl
says "whose strings are \"hash\"; a fingerprint: --fp-field 'hash'"
run 0 "$load" hashx --text-field hash hash.jsonl
says '5 texts are fingerprints (first: hash.jsonl:1): --fp-field NAME reads them as such'
run 0 "$dedup" --stream --text-field hash hash.jsonl
says '5 texts are fingerprints (first: hash.jsonl:1): --fp-field NAME reads them as such'
echo '{"fp":123}' >number.jsonl
run 1 "$load" numberx number.jsonl
says '; of whole numbers: --fp-encoding dec'
gzip -c texts/a.txt >packed.txt
run 1 "$load" packedx packed.txt
says 'is compressed: name it .gz, or gzip -dc FILE | ... -F text -'

# A dump that is loaded again: second fingerprints are taken over.
"$query" dump --format jsonl index >index.jsonl
run 0 "$load" again.jsonl index.jsonl
"$query" dump --format jsonl again.jsonl | cmp -s - index.jsonl || fail 'another index'

# Of inputs none can be read, or some.
for path in nope.jsonl '*.jsonl' https://example.org/rows.jsonl; do
	run 2 "$dedup" --stream "$path"
	says "$path: cannot open: No such file"
	run 1 "$dedup" --stream "$path" rows.jsonl
	says "$path: cannot open: No such file"
done
run 2 "$dedup" -r nowhere
says 'nowhere: cannot open: No such file'
finish
