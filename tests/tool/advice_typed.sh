#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
#
# The line that a wrong command line is answered with keeps the options that were right, and works.
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
	says "Try 'simidx-$program --help'"
}

kept='dedup --stream --index seen day2.jsonl'
for option in --append --verbose --refresh -f '--append-to old.jsonl' \
	'--batch-size 1000' '--ttl 30d'; do
	# shellcheck disable=SC2086
	works "$kept" "$dedup" --stream --index seen $option day2.jsonl
done
works 'dedup -r --keep oldest --prefer texts/a texts' \
	"$dedup" -r --keep oldest --frobnicate=3 --prefer texts/a texts
works 'dedup --stream --similarity 0.9 --dups dups rows.jsonl' \
	"$dedup" --stream --similarity 0.9 --frobnicate --dups dups rows.jsonl
works 'dedup -rq texts' "$dedup" -ryq texts
works 'dedup -r --threads 2 texts/a texts/b texts' "$dedup" -r -y --threads 2 texts/a texts/b texts
works 'dedup --stream --output to rows.jsonl' "$dedup" --stream --output-to to rows.jsonl
works 'query get --id index 1' "$query" get index --id 1 --frobnicate
works 'query compact index smaller' "$query" compact index --frobnicate 5 smaller
works 'query repair smaller repaired' "$query" repair smaller --frobnicate repaired
nothing query "$query" -k 3 search index 0123456789abcdef
works 'load new rows.jsonl' "$load" --bulk new rows.jsonl
works 'load new2 rows.jsonl' "$load" --index-settings {} new2 rows.jsonl
run 2 "$query" search index --limit 3
says "Try 'simidx-query search --limit 3 index --text FILE', or"
# Of options that are right by themselves it is not known which one is to go.
nothing dedup "$dedup" --stream --index seen --pairs day2.jsonl
run 2 "$query" delete index --dry-run --label x
says "Try 'simidx-query delete --help'"
# What an option was to keep from being done is not done without it.
nothing load "$load" --dry-run -r index texts
nothing load "$load" -n -r index texts
nothing dedup "$dedup" --stream --limit 1000 rows.jsonl
says 'head -n N FILE | simidx-dedup -F FORMAT -'
for option in --mark '--add-column is_dup'; do
	# shellcheck disable=SC2086
	nothing dedup "$dedup" --stream $option rows.jsonl
	says '; no row is marked; --dups FILE lists those left out'
done
nothing dedup "$dedup" --stre --s 0.9 rows.jsonl
nothing dedup "$dedup" -r texts -p 90
says '; --similarity 0.9 is 90 percent'
cp -r seen before
for option in --no-update --dry-run --read-only; do
	works 'dedup --stream --against seen rows.jsonl' \
		"$dedup" --stream --index seen $option rows.jsonl
done
works 'dedup --stream --against=seen rows.jsonl' \
	"$dedup" --stream --index=seen --no-update rows.jsonl
run 0 "$query" dump seen
cp out dumped
run 0 "$query" dump before
cmp -s out dumped || fail 'something was remembered'
# The value of an option is no input, and an input no value.
works 'dedup -r --drop-list texts' "$dedup" -r --move-to trash texts
[ "$(wc -l <out)" -eq 3 ] || fail "$(wc -l <out) texts, not 3"
works 'dedup -r --drop-list texts' "$dedup" -r --move-to no-trash texts
works 'dedup -r --prefer texts/a texts' "$dedup" -r --keep-in texts/a texts
works 'dedup --stream --index seen --evidence FILE old.jsonl' \
	"$dedup" --stream --index seen --explain old.jsonl
works 'dedup --stream --against seen old.jsonl' "$dedup" --stream --compare-dest seen old.jsonl
works 'dedup -r --similarity 0.9 texts' "$dedup" -r --min-similarity 0.9 texts
# What was given is not given twice.
works 'dedup --stream rows.jsonl' "$dedup" --stream --in-place rows.jsonl
works 'dedup --stream rows.jsonl' "$dedup" --in-place rows.jsonl
works 'dedup --stream rows.jsonl' "$dedup" --stream=yes rows.jsonl
works 'dedup --stream rows.jsonl' "$dedup" --stream --keep last rows.jsonl
# Letters of several.
works 'dedup -r --drop-list texts' "$dedup" -rf texts
works 'dedup -r --drop-list texts' "$dedup" -rl texts
works 'dedup --stream --similarity 0.85 rows.jsonl' "$dedup" --stream -t 0.85 rows.jsonl
works 'dedup --stream rows.jsonl --text-field text' "$dedup" --stream rows.jsonl --dedup-key text
# What has another name, or does not exist.
works 'dedup -r --drop-list texts' "$dedup" -r --hardlink texts
works 'dedup -r texts' "$dedup" -r --size texts
run 2 "$dedup" -r --size texts
says '; the last line has the bytes that can be deleted'
works 'dedup -r texts' "$dedup" -r --csv texts
run 2 "$dedup" -r --csv texts
says "'--json' prints objects"
works 'dedup -r texts' "$dedup" -r --log dedup.log texts
run 2 "$dedup" -r --log dedup.log texts
says '--rejects FILE lists rejected rows, --dups FILE what --stream left out'
nothing dedup "$dedup" -r texts --output-dir deduped
says 'of whole files --drop-list prints what can be deleted'
run 2 "$dedup" -r texts index
says 'index: is an index, and INPUTs are files: --index and --against name indexes'
run 2 "$load" fixed index
says "index: is an index, and INPUTs are files; simidx-load --from takes its documents"
says "Try 'simidx-load --from INDEX NEW'"
run 2 "$query" export seen --format csv
says '; dump prints columns, and --json objects'
says "Try 'simidx-query dump INDEX'"
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
