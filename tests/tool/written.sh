#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
#
# What the tools write to: no input, and nothing that somebody has.
. "$SX_SRCDIR/tests/tool/tool_lib.sh"

seq 5 | awk '{ printf "%d\t%016x\tl%d\n", $1, $1 * 99, $1 }' >fps.tsv
run 0 "$load" -q ix fps.tsv
mkdir docs
echo 'one two three four five six seven' | tee docs/1 docs/2 >plain.txt
# What has no bytes may be written to by all.
run 0 "$load" -q --rejects /dev/null --summary /dev/null null fps.tsv
"$load" -q --mode if-new --radius 0 --on-duplicate first --emit all --rejects /dev/null null fps.tsv >/dev/null 2>err ||
	fail "/dev/null is refused: $(cat err)"

# Nothing is written over, and no input to.
cp fps.tsv mine.tsv
for option in --rejects --summary; do
	run 2 "$load" $option mine.tsv fresh mine.tsv
	says "mine.tsv: is an input, so $option cannot write to it"
	run 2 "$load" $option mine.tsv fresh --files-from mine.tsv
	says "mine.tsv: is a list of inputs, so $option cannot write to it"
	run 2 "$load" $option mine.tsv fresh fps.tsv
	says "mine.tsv: is not empty, and $option replaces nothing"
	run 2 "$load" $option ix/data.mdb ix fps.tsv
	says "ix/data.mdb: is a file of the index, so $option cannot write to it"
	[ ! -e fresh ] || fail 'an index was made'
done
cmp fps.tsv mine.tsv || fail 'what was there is changed'
run 2 "$load" --rejects new.log --summary new.log fresh fps.tsv
says '--rejects and --summary need a file each'
cp fps.tsv mine.tsv
"$load" --mode if-new --emit new fresh mine.tsv >>mine.tsv 2>err && fail 'reads what it writes'
grep -q 'mine.tsv: is an input, and standard output, too: name another file after >' err || fail "$(cat err)"
cmp fps.tsv mine.tsv || fail 'what was there is changed'
"$load" -q fresh mine.tsv >>mine.tsv || fail 'nothing is printed'
rm -r fresh
# A summary of an earlier run is replaced, and what is no file may be named twice.
run 0 "$load" -q --summary sums fresh fps.tsv
run 1 "$load" -q --summary sums fresh fps.tsv
says 'is already in use'
[ "$(wc -l <sums)" -eq 1 ] && grep -q '"rejected":5' sums || fail "$(cat sums)"
run 1 "$load" -q --rejects /dev/null --summary /dev/null fresh fps.tsv
says 'is already in use'
"$load" -q --summary /dev/stdout fresh fps.tsv 2>/dev/null | grep -q '"rejected":5' || fail 'a summary to a pipe'
rm -r fresh
if [ -n "${SX_TEXT-}" ]; then
	# What is written is no input, wherever it is.
	mkdir written
	cp docs/1 written/text
	printf '%s\n' written/text written/rejects >list
	run 0 "$load" -q --rejects written/rejects -r in-directory written
	[ "$("$query" dump in-directory | wc -l)" -eq 1 ] || fail 'a file of --rejects is an input'
	run 0 "$load" -q --rejects written/rejects --files-from list in-list
	[ "$("$query" dump in-list | wc -l)" -eq 1 ] || fail 'a file of --rejects is an input of a list'
	for i in 1 2; do
		run 0 "$load" -q --resume --summary written/sums --exclude rejects -r resumed written
		[ "$("$query" dump resumed | wc -l)" -eq 1 ] || fail "a file of --summary is an input of run $i"
	done
	rm written/sums written/rejects
	"$load" -q --mode if-new --emit new -r in-stdout written >>written/text 2>err && fail 'reads what it writes'
	grep -q 'written/text: is an input, so nothing can be written to it' err || fail "$(cat err)"

	# With --index lines are added to those of an earlier run, and to no other file.
	run 0 "$dedup" --stream --index one-text plain.txt
	says 'one-text: a new index'
	echo '{"text":"one"}' >yesterday
	run 2 "$dedup" --stream --index one-text --dups yesterday docs/1
	says 'yesterday: does not begin with a line that --dups writes: name another file'
	printf 'a\tb\tc\n' >table.tsv
	run 2 "$dedup" --stream --index one-text --dups table.tsv docs/1
	says 'table.tsv: does not begin with a line that --dups writes: name another file'
	run 2 "$dedup" --stream --index one-text --dups docs/2 docs/1
	says 'docs/2: does not begin with a line that --dups writes: name another file'
	run 2 "$dedup" --stream --index one-text --evidence yesterday docs/1
	says 'yesterday: does not begin with a line that --evidence writes: name another file'
	printf '100.0\ta\tb\n' >columns
	run 2 "$dedup" --stream --json --index one-text --dups columns docs/1
	says 'columns: does not begin with a line that --json --dups writes: name another file'
	if [ -n "${SX_ZLIB-}" ]; then
		gzip <table.tsv >table.gz
		run 2 "$dedup" --stream --index one-text --dups table.gz docs/1
		says 'table.gz: does not begin with a line that --dups writes: name another file'
		for i in 1 2; do
			run 0 "$dedup" --stream --index packed --dups lines.gz docs/1 docs/2 plain.txt
		done
		[ "$(zcat lines.gz | wc -l)" -ge 2 ] || fail 'nothing was added to what is compressed'
	fi
	for option in --dups "--json --dups" --evidence; do
		rm -rf lines again
		run 0 "$dedup" --stream --index again $option lines docs/1 docs/2 plain.txt
		run 0 "$dedup" --stream --index again $option lines plain.txt docs/2
		[ "$(wc -l <lines)" -ge 2 ] || fail "$option: nothing was added"
	done
fi
finish
