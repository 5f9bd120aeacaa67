#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
#
# One flipped bit in a block: verify names the table, and exits 1.
. "$SX_SRCDIR/tests/tool/tool_lib.sh"

"$helpers/linear_scan" documents 20000 5 >documents.tsv
run 0 "$load" -q good documents.tsv
run 0 "$query" verify good
says 'simidx-query: good: sound: '
says ' 20,000 documents'
output </dev/null

# A copy has no free pages, so every block in it is in use.
run 0 "$query" backup good tight
blocks_of tight >blocks
[ "$(wc -l <blocks)" -ge 200 ] || fail "only $(wc -l <blocks) blocks found"

# What is to be done is told, and it helps: a document that is damaged in one place is not lost.
"$query" dump tight >documents
: >named
for page in $(awk 'NR % 6 == 1' blocks); do
	damage tight "$page"
	run 1 "$query" verify copy
	[ "$(wc -l <out)" -ne 1 ] || says 'simidx-query: copy: damaged: 1 problem'
	grep -q 'damaged: 1 problems' err && fail '1 problems'
	table=$(head -1 out | cut -f 1)
	echo "$table" >>named
	says "copy: restore a backup, or save what is sound with 'simidx-query repair copy NEW'"
	rm -rf new
	run 0 "$query" repair copy new
	says 'simidx-query: new: made, with 20,000 documents; lost: nothing'
	run 0 "$query" verify new
	"$query" dump new | cmp - documents || fail "other documents than before the damage of $table"
done
sort named | uniq -c
for table in t01 t02 t03 t04 postings docs; do
	grep -qx $table named || fail "no damage was found in $table"
done

# Pages that are damaged themselves: all of them are listed, each with its table and number, not the
# first alone. Nothing is searched for below them, so there is one problem for each.
rm -rf copy
cp -r tight copy
awk 'NR % 50 == 7' blocks >gone
while read -r page; do
	dd if=/dev/zero of=copy/data.mdb bs=4096 count=1 seek="$page" conv=notrunc status=none
done <gone
run 1 "$query" verify copy
while read -r page; do
	grep -qE "^(t0[1-4]|postings|docs)	page $page " out || fail "page $page is not listed"
done <gone
[ "$(wc -l <out)" -eq "$(wc -l <gone)" ] || fail "other problems: $(cat out)"
says "simidx-query: copy: damaged: $(wc -l <gone) problems"
says 'simidx-query: copy: what is in the pages was not checked, as some are damaged: more may be'
says "copy: restore a backup, or save what is sound with 'simidx-query repair copy NEW'"
grep -q 'cannot be opened' err && fail 'called an index that cannot be opened'
run 1 "$query" --json verify copy
[ "$(grep -c '^{"table":"' out)" -eq "$(wc -l <gone)" ] || fail 'other problems with --json'

# One of the two headers, which come after the one in front: the next commit mends it, so nothing has to be
# saved.
at=$(grep -abo headersimidx tight/data.mdb | sed -n '2s/:.*//p')
rm -rf copy
cp -r tight copy
printf x | dd of=copy/data.mdb bs=1 seek=$((at + 60)) conv=notrunc status=none
run 1 "$query" verify copy
says 'copy: damaged: 1 problem'
says 'copy: nothing is lost, as another copy of it is sound; the next commit of simidx-load to the index mends it'
grep -q repair err && fail 'a repair is advised'
grep -q 'not checked' err && fail 'all was checked'
run 0 "$load" -q --write insert copy - -F lines <<<0123456789abcdef
run 0 "$query" verify copy
# And a block besides: that is not mended so.
damage tight "$(head -1 blocks)"
printf x | dd of=copy/data.mdb bs=1 seek=$((at + 60)) conv=notrunc status=none
run 1 "$query" verify copy
says "copy: restore a backup, or save what is sound with 'simidx-query repair copy NEW'"

# With --json an object each.
damage tight "$(head -1 blocks)"
run 1 "$query" --json verify copy
grep -q '^{"table":"' out || fail 'no JSON'

# Rows layout, and an index with fresh rows only: sound too.
run 0 "$load" -q --layout rows rows documents.tsv
run 0 "$query" verify rows
run 0 "$load" -q --merge never fresh documents.tsv
run 0 "$query" verify fresh
run 2 "$query" verify missing
says 'simidx-query: missing: no index: No such file'
finish
