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
create always if-missing
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
for option in $(comm -13 of_load of_dedup | grep -vE 'all|near-misses|evidence-texts|remember'); do
	run 2 "$load" "$option" index fps
	grep -q 'there are: ' err && fail "not known to simidx-load: $option"
	says "unknown option '$option'"
done
for option in $(comm -23 of_load of_dedup | grep -vE 'seed|features-by|touch|merge-only|idf'); do
	run 2 "$dedup" "$option" fps
	grep -q 'there are: ' err && fail "not known to simidx-dedup: $option"
	says "unknown option '$option'"
done
shows 'load --max-errors 10 INDEX INPUT' "$dedup" --stream rows.jsonl --max-errors 10
says "unknown option '--max-errors'; it is an option of simidx-load, which stores rows in an index"
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

finish
