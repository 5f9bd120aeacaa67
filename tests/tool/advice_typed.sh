#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
#
# The line that a wrong command line is answered with keeps all that was typed, and does what was
# meant. Where something would be left out, none is shown.
. "$SX_SRCDIR/tests/tool/tool_lib.sh"
need_text
need_json

mkdir -p texts/a texts/b trash
for i in 1 2 3; do
	echo "text $i of some words that are the same in both directories" >texts/a/$i.txt
	cp texts/a/$i.txt texts/b/$i.txt
	printf '{"id":%d,"text":"row %d has words of its own, %d and more"}\n' $i $i $((i * 77))
done >rows.jsonl
cp rows.jsonl old.jsonl
sed 's/row/a line which/' rows.jsonl >day2.jsonl
run 0 "$dedup" --stream --index seen -q rows.jsonl
run 0 "$load" -q -r index texts
fp=$("$query" dump index | cut -f 2 | head -1)

# works RIGHT WRONG...: the command after simidx- that is right, which is typed, and a wrong one.
works() {
	local right=$1
	shift
	run 2 "$@"
	says "Try 'simidx-$right', or 'simidx-"
	# shellcheck disable=SC2086
	"$SX_BUILDDIR/tools/simidx-"$right >out 2>err </dev/null || fail "does not work: $right"
}

# nothing PROGRAM WRONG...: no line is shown, as none is known to do what is meant.
nothing() {
	local program=$1
	shift
	run 2 "$@"
	says "Try 'simidx-$program --help'."
}

# What would have to be left out may be a value, or an option that the meaning depends on.
for option in --append --verbose --refresh '--append-to old.jsonl' '--batch-size 1000' '--ttl 30d' \
	--no-update --dry-run --read-only --frobnicate --frobnicate=3 -y; do
	# shellcheck disable=SC2086
	nothing dedup "$dedup" --stream --index seen $option day2.jsonl
done
for option in --bulk '--index-settings {}'; do
	# shellcheck disable=SC2086
	nothing load "$load" $option new rows.jsonl
done
nothing dedup "$dedup" -ryq texts
says 'there are: -r DIR: groups of near texts; -r --drop-list DIR: files that can go; --stream FILE: '
nothing 'query compact' "$query" compact index --frobnicate 5 smaller
says 'there are: --plan PLAN, --fill PERCENT, '
nothing 'query stats' "$query" stats --frobnicate index
says 'there are: --json, --quiet, --color WHEN, '
nothing query "$query" -k 3 search index 0123456789abcdef
nothing dedup "$dedup" --html page.html -r texts
nothing dedup "$dedup" --in-place rows.jsonl --stream
nothing dedup "$dedup" --stream --keep last rows.jsonl
nothing dedup "$dedup" -rdN texts
nothing dedup "$dedup" -r --move trash texts
nothing dedup "$dedup" -r --move-to no-trash texts
nothing dedup "$dedup" -r --size texts
says '; the last line has the bytes that can be deleted'
nothing dedup "$dedup" -r --csv texts texts/a
says "'--json' prints objects"
nothing dedup "$dedup" -r --log dedup.log texts
says '--rejects FILE lists rejected rows, --dups FILE what --stream left out'
nothing dedup "$dedup" - </dev/null
# Of options that are right by themselves it is not known which one is to go.
nothing dedup "$dedup" --stream --index seen --pairs day2.jsonl
nothing dedup "$dedup" --stream rows.jsonl --drop-list
says 'what --stream leaves out is written by --dups FILE'
nothing dedup "$dedup" rows.jsonl --keep longest --output x
nothing dedup "$dedup" --stream --keep longest rows.jsonl
says 'sort the rows before, what is to stay first, or have the others listed: simidx-dedup --drop-list --keep'
nothing 'query delete' "$query" delete index --dry-run --label x
# What an option was to keep from being done is not done without it.
nothing load "$load" --dry-run -r index texts
nothing load "$load" -n -r index texts
nothing dedup "$dedup" --stream --limit 1000 rows.jsonl
says 'head -n N FILE | simidx-dedup -F FORMAT -'
nothing dedup "$dedup" --stream --max 10 rows.jsonl
says 'head -n N FILE | simidx-dedup -F FORMAT -'
for option in --mark '--add-column is_dup'; do
	# shellcheck disable=SC2086
	nothing dedup "$dedup" --stream $option rows.jsonl
	says '; no row is marked; --dups FILE lists those left out'
done
nothing dedup "$dedup" --stre --s 0.9 rows.jsonl
nothing dedup "$dedup" -r texts -p 90
says '; --similarity 0.9 is 90 percent'

# What is meant stands in the place of what was typed.
works 'dedup --stream --output to rows.jsonl' "$dedup" --stream --output-to to rows.jsonl
works 'dedup -r --prefer texts/a texts' "$dedup" -r --keep-in texts/a texts
works 'dedup -r --prefer texts/a texts' "$dedup" -r --keep texts/a texts
works 'dedup --stream --index seen --evidence FILE old.jsonl' \
	"$dedup" --stream --index seen --explain old.jsonl
works 'dedup --stream --against seen old.jsonl' "$dedup" --stream --compare-dest seen old.jsonl
for option in --baseline --old; do
	works 'dedup --stream --against seen day2.jsonl' "$dedup" --stream $option seen day2.jsonl
done
for option in --save --save-index --new-index; do
	works 'dedup --stream --index saved rows.jsonl' "$dedup" --stream $option saved rows.jsonl
done
works 'dedup -r --similarity 0.9 texts' "$dedup" -r --min-similarity 0.9 texts
works 'dedup --stream --similarity 0.9 rows.jsonl' "$dedup" --stream --near 0.9 rows.jsonl
for option in --filter --uniq --new --in-place; do
	works 'dedup --stream rows.jsonl' "$dedup" $option rows.jsonl
done
works 'dedup --stream rows.jsonl' "$dedup" --stream=yes rows.jsonl
works 'dedup --stream rows.jsonl' "$dedup" --stream=rows.jsonl
works 'dedup --stream --similarity 1 rows.jsonl' "$dedup" --stream --exact rows.jsonl
works 'dedup --stream --similarity 1 rows.jsonl' "$dedup" --stream --identical rows.jsonl
works 'dedup -r --identical texts' "$dedup" -r --exact texts
works 'dedup --stream --dups lost rows.jsonl' "$dedup" --stream --dropped lost rows.jsonl
works 'dedup --stream --dups lost2 rows.jsonl' "$dedup" --stream --duplicates lost2 rows.jsonl
rm FILE
works 'dedup --stream --dups FILE rows.jsonl' "$dedup" --stream --invert rows.jsonl
works 'dedup --stream --tmpdir trash rows.jsonl' "$dedup" --stream --temp trash rows.jsonl
works 'dedup --stream --memory 1G rows.jsonl' "$dedup" --stream -m 1G rows.jsonl
works 'load --memory 1G sized rows.jsonl' "$load" -m 1G sized rows.jsonl
works 'dedup --stream --text-field text rows.jsonl' "$dedup" --stream -k text rows.jsonl
works 'dedup --stream --text-field text rows.jsonl' "$dedup" --stream -f text rows.jsonl
works 'dedup --stream rows.jsonl --text-field text' "$dedup" --stream rows.jsonl --dedup-key text
for option in --drops --droplist --hardlink; do
	works 'dedup -r --drop-list texts' "$dedup" -r $option texts
done
# Letters of several.
works 'dedup -r --drop-list texts' "$dedup" -rf texts
works 'dedup -r --drop-list texts' "$dedup" -rl texts
works 'dedup --stream --similarity 0.85 rows.jsonl' "$dedup" --stream -t 0.85 rows.jsonl
# Indexes among the inputs.
works 'dedup --stream day2.jsonl --against seen' "$dedup" --stream day2.jsonl seen
works 'dedup --against seen day2.jsonl' "$dedup" seen day2.jsonl
works "query search --radius 3 index $fp" "$query" search --k 3 index "$fp"
# A value that is missing, and the next option has been taken for it.
run 2 "$dedup" --stream --index --dups x rows.jsonl
says "option '--index' needs a value: --index INDEX"
says "Try 'simidx-dedup --stream --index INDEX --dups x rows.jsonl'"
[ ! -e ./--dups ] || fail 'an index is called --dups'
run 0 "$dedup" --stream -q --index=./--dups rows.jsonl
# What has another name, or does not exist.
for option in --distance --k; do
	nothing dedup "$dedup" -r $option 3 texts
	says '; --similarity 0.9 is about texts, --radius 3 about fingerprints without texts'
done
nothing dedup "$dedup" -r --cluster texts
says '; groups are printed anyway'
nothing dedup "$dedup" --stream --lines rows.jsonl
says '; -F tsv --text-field 1 reads a text a line, -F lines a fingerprint a line'
for option in --force --overwrite; do
	nothing dedup "$dedup" --stream $option rows.jsonl
	says '; nothing is replaced: name a new FILE or DIR, or remove the old one'
done
for option in --clear --reset; do
	nothing dedup "$dedup" --stream --index seen $option rows.jsonl
	says "; 'rm -r INDEX' forgets what was remembered"
done
for option in --diff --show; do
	nothing dedup "$dedup" -r $option texts
	says "; --evidence FILE writes pairs, 'simidx-query review FILE' shows them"
done
nothing dedup "$dedup" --stream rows.jsonl --mode if-new
says "; rows that are new: --stream, or 'simidx-load --mode if-new'"
nothing dedup "$dedup" --stream rows.jsonl --gpu
says '; no GPU is used; '
nothing dedup "$dedup" --stream rows.jsonl --config c.yaml
says '; no file has options; '
nothing dedup "$dedup" --stream --strict rows.jsonl
says '; the exit status is 1 if a row could not be read'
run 2 "$dedup" --stream --fuzzy rows.jsonl
says "Try 'simidx-dedup --stream --similarity 0.8 rows.jsonl'"
for option in --against --index; do
	nothing dedup "$dedup" --stream $option rows.jsonl day2.jsonl
	says "; 'simidx-dedup -q --stream --index INDEX rows.jsonl >/dev/null' makes one of its rows"
done
nothing dedup "$dedup" -r texts --output-dir deduped
says 'of whole files --drop-list prints what can be deleted'
mkdir rows
cp rows.jsonl rows
nothing dedup "$dedup" --stream -r rows/ --output clean/
says "--output: 'clean/' is a directory; --output-dir writes a file in it for each input; "
works 'dedup --stream -F jsonl -r --output-dir clean/ rows/' \
	"$dedup" --stream -F jsonl -r --output clean/ rows/
run 2 "$dedup" compare texts/a/1.txt texts/b/1.txt
says "there is no file 'compare'; 'simidx-query similar A B' compares texts"
run 2 "$dedup" -r texts index
says 'index: is an index, and INPUTs are files: --index and --against name indexes'
run 2 "$dedup" 'a file' with blanks
says '; a path from here is expected, as ls shows it, in quotes if it has blanks'
run 2 "$dedup" --hlep
says "Try 'simidx-dedup --help'."

# What is written is told before it takes long.
run 0 "$dedup" rows.jsonl
says 'groups are written, not rows; --stream writes the rows that stay'
run 0 "$dedup" -r texts
grep -q 'groups are written' err && fail 'told of files'
# What helps is told with -q, too.
run 1 "$dedup" -q --text-field title rows.jsonl
says "the longest one: --text-field 'text'"

# simidx-load
run 2 "$load" create made texts
says "Try 'simidx-load -r made texts'"
works 'load -r made texts' "$load" made texts
run 2 "$load" --stats index
says "Try 'simidx-query stats INDEX'"
nothing load "$load" --delete index 5
says 'a few: simidx-query delete --id INDEX N'
run 2 "$load" --mode delete index 5
says '5: no such file; a few: simidx-query delete INDEX --id 5'
nothing load "$load" --mode delete index - </dev/null
says 'standard input needs its format, such as -F ids or -F labels'
nothing load "$load" --mode skip index rows.jsonl
says "found 'skip'; --on-duplicate first keeps what is stored"
works "query search index $fp" "$load" search index "$fp"
run 2 "$load" fixed index
says "index: is an index, and INPUTs are files; simidx-load --from takes its documents"
says "Try 'simidx-load --from INDEX NEW'"
run 2 "$load" --list index
says "Try 'simidx-query dump INDEX'"
run 1 "$load" index rows.jsonl
says '; --id-field none gives new ids)'
printf '{"fp": "ff", "label": "l"}\n' >label.jsonl
run 0 "$load" -q labels label.jsonl
run 1 "$load" labels label.jsonl
says ': the label is already in use ('
says '; --mode replace stores this one)'
run 0 "$load" --id-field none index rows.jsonl

# simidx-query
nothing 'query backup' "$query" backup index -o copied
says 'DEST is the operand after INDEX'
run 0 "$query" backup index copied
nothing 'query repair' "$query" repair --output f4 index
run 2 "$query" backup index copied
says 'copied: exists already; a backup needs a new name'
nothing 'query repair' "$query" repair -f index copied
says '; nothing is replaced: name a place where nothing is, or rm -r it first'
run 2 "$query" repair --in-place index
says "Try 'simidx-query repair INDEX NEW'"
run 2 "$query" repair --memory 1G index
says "Try 'simidx-query repair --memory 1G index NEW'"
works 'query help search' "$query" man search
for command in 'grep index Permission' 'near index texts/a/1.txt' 'lookup index rows.jsonl'; do
	# shellcheck disable=SC2086
	run 2 "$query" $command
	says "Try 'simidx-query search INDEX --text FILE'"
done
works "query search index $fp" "$query" find index "$fp"
nothing 'query search' "$query" search index --string 'some words'
says "echo 'WORDS' | simidx-query search --text INDEX -"
nothing 'query search' "$query" search index --text texts/a/1.txt --all
says "'simidx-query dump INDEX' prints every document"
run 2 "$query" export index --csv
says "Try 'simidx-query dump INDEX'"
run 2 "$query" review rows.jsonl texts/a/1.txt
says "Try 'simidx-query review rows.jsonl --row texts/a/1.txt'"
run 0 "$load" -q -r idx texts
run 0 "$load" -q -r idx5 texts
for name in indx idnex inde; do
	run 2 "$query" search $name --text texts/a/1.txt
	says "$name: is index meant?"
done
run 2 "$query" search index texts/{a,b}/*.txt texts/{a,b}/*.txt texts/{a,b}/*.txt texts/{a,b}/*.txt
says 'more malformed queries are only counted'
[ "$(grep -c 'to read this file' err)" -eq 20 ] || fail 'not 20 of 24 are told'
run 2 "$query" export seen --format csv
says "; 'simidx-query dump INDEX' prints columns, and --json objects"
run 2 "$query" --check index
says 'the command comes first: simidx-query verify index ...'
run 2 "$query" list
says "Try 'simidx-query dump INDEX', or"
works 'query clusters index' "$query" dups index
run 2 "$query" search index --text rows.jsonl --min-score 0.8
says '; fingerprints cannot tell percent'
run 2 "$query" merge index seen
says "Try 'simidx-load --from A --from B NEW', or"
nothing query "$query" rename index index3
says '; mv INDEX NEW renames one'

finish
