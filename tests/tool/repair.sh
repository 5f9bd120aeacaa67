#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
#
# The command repair: what it prints, its status, and the way there from an error message. Which
# documents survive which damage is for the suite "repair" of the unit tests.
. "$SX_SRCDIR/tests/tool/tool_lib.sh"

"$helpers/linear_scan" documents 3000 5 >documents.tsv
run 0 "$load" -q loose documents.tsv
run 0 "$query" backup loose good

# flip INDEX OFFSET: one bit of its file.
flip() {
	local byte
	byte=$(od -An -tu1 -j "$2" -N 1 "$1/data.mdb")
	# shellcheck disable=SC2059
	printf "\\x$(printf %02x $((byte ^ 16)))" |
		dd of="$1/data.mdb" bs=1 seek="$2" conv=notrunc status=none
}

# blocks_of INDEX TABLE: the pages of its blocks, found by what verify says of each one that is
# damaged.
pages=$(($(stat -c %s good/data.mdb) / 4096))
for ((page = 2; page < pages; page++)); do
	[ "$(od -An -tu8 -j $((page * 4096)) -N 8 good/data.mdb)" -eq $page ] || continue
	[ "$(od -An -tu2 -j $((page * 4096 + 10)) -N 2 good/data.mdb)" -eq 4 ] || continue
	rm -rf copy
	cp -r good copy
	flip copy $((page * 4096 + 80))
	"$query" -q verify copy 2>/dev/null | sed "s/\t.*/ $page/"
done | sort -u >blocks
for table in t01 t02 t03 t04 postings docs; do
	grep -q "^$table " blocks || fail "no block of $table found"
done

# A sound index: a copy of it, and nothing to tell.
run 0 "$query" repair good new
output </dev/null
says 'simidx-query: new: made, with 3,000 documents; lost: nothing'
says "new: takes the old one's place by: mv good good.damaged && mv new good"
"$query" dump new | cmp - documents.tsv || fail 'a sound index has changed'
run 2 "$query" repair good new
errors <<<'simidx-query: new: exists already; the new index needs another name'
cp -r good damaged
flip damaged 200000
run 2 "$query" repair damaged new
output </dev/null
errors <<<'simidx-query: new: exists already; the new index needs another name'
rm -r damaged
run 2 "$query" repair good missing/new
says 'simidx-query: '
run 2 "$query" repair good good/new
says 'good/new is inside the index good'
mkdir good/sub
run 2 "$query" repair good good/sub/../sub/new
says 'is inside the index good'
run 2 "$query" backup good good/new
says 'good/new is inside the index good'
rmdir good/sub || fail 'something was made inside the index'
run 2 "$query" repair missing other
says 'missing: no index: No such file'
run 2 "$query" repair good other --memory 1M
says '--memory'
[ ! -e other ] || fail 'made after an error'

# All of postings and docs: the documents are lost. What is known of them is their fingerprints,
# and the ids and labels of those that have a label.
rm -rf copy new
cp -r good copy
grep -E '^(postings|docs) ' blocks | while read -r _ page; do
	flip copy $((page * 4096 + 80))
done
cp copy/data.mdb before
run 1 "$query" repair copy new
cmp -s copy/data.mdb before || fail 'the damaged index has changed'
says 'simidx-query: new: made, with 0 documents; lost: 3,000 documents'
cut -f 2 documents.tsv | sort -u >fingerprints
grep '^document' out | cut -f 4 | grep . | sort | cmp - fingerprints || fail 'other fingerprints'
awk -F '\t' '$3 != "" { print $1 "\t" $3 }' documents.tsv | sort >labels
grep '^document' out | cut -f 3,5 | awk -F '\t' '$1 != ""' | sort | cmp - labels ||
	fail 'other labels'
[ "$(grep -c '^damage' out)" -eq "$(grep -cE '^(postings|docs) ' blocks)" ] || fail 'other damage'
cp out lines
rm -rf new
run 1 "$query" --json repair copy new
[ "$(wc -l <out)" -eq "$(wc -l <lines)" ] || fail 'JSON has another number of lines'
id=$(head -1 labels | cut -f 1)
label=$(head -1 labels | cut -f 2)
grep -qF "{\"kind\":\"document\",\"table\":\"labels\",\"id\":$id,\"label\":\"$label\",\"text\":\"" out ||
	fail 'no JSON of a lost document'
run 0 "$query" verify new
# The list is cut off, and the index is made all the same.
rm -rf new
{ (trap '' PIPE; "$query" -q repair copy new 2>err; echo $? >code) | :; }
[ "$(cat code)" -eq 1 ] || fail "exit $(cat code): $(cat err)"
run 0 "$query" verify new
# A terminal is not filled with it.
if command -v script >/dev/null && script -qec true /dev/null </dev/null >/dev/null 2>&1; then
	rm -rf new
	script -qec "'$query' -q repair copy new" /dev/null </dev/null >shown
	[ "$(grep -c '^document\|^damage' shown)" -eq 20 ] || fail 'not 20 lines on a terminal'
	grep -q 'a terminal shows 20 lines; all of them: > FILE' shown || fail 'nothing tells of the others'
fi

# A merge meets damage: what was committed before stays, but to go on would only meet it again.
rm -rf insert
cp -r copy insert
run 2 "$load" -q --write insert --merge always -F lines insert - <<<0123456789abcdef
says 'insert: holds 3,001 documents; of this input 1 row was committed'
grep -q resume err && fail 'to resume is advised'

# Little address space: the old index, the new one and the memory to work in must fit in.
if (ulimit -v 300000 && "$query" --version) >/dev/null 2>&1; then
	rm -rf new
	(
		ulimit -v 300000
		run 0 "$query" repair good new --memory 128M
		[ "$failures" -eq 0 ]
	) || fail 'not with 300 MB of address space'
fi

# Other commands say what to do, once.
run 1 "$query" dump copy
says ": 'simidx-query verify copy' lists what is damaged; restore a backup, or save what is sound with 'simidx-query repair copy NEW'"
[ "$(grep -c 'repair copy' err)" -eq 1 ] || fail 'said twice'
run 2 "$load" --from copy other
says "'simidx-query repair copy NEW'"

# Changes that were not merged: a block of the log is damaged, and what it has deleted comes back.
rm -rf new
cp -r good changed
run 0 "$load" -q --merge never --mode delete changed -F ids <(head -700 documents.tsv | cut -f 1)
pages=$(($(stat -c %s changed/data.mdb) / 4096))
for ((page = 2; page < pages; page++)); do
	[ "$(od -An -tu2 -j $((page * 4096 + 10)) -N 2 changed/data.mdb)" -eq 4 ] || continue
	rm -rf lossy
	cp -r changed lossy
	flip lossy $((page * 4096 + 80))
	"$query" -q verify lossy 2>/dev/null | grep -q '^fresh' && break
done
[ $page -lt $pages ] || fail 'no block of fresh rows found'
run 1 "$query" repair lossy new
cp out lines
lost=$(sed -n "s/^changes\tfresh\t\t\t\t\([0-9]*\) changes are lost, numbers .*/\1/p" lines)
[ "$lost" -gt 0 ] || { fail 'no word of lost changes'; cat lines; }
says "simidx-query: new: made, with 2,$((300 + lost)) documents; lost: at most $lost documents, $lost changes"
says 'simidx-query: new: documents that the lost changes deleted or replaced may be as they were before'
run 0 "$query" verify new
rm -rf new
run 1 "$query" --json repair lossy new
grep -qF "{\"kind\":\"changes\",\"table\":\"fresh\",\"text\":\"$lost changes are lost, numbers" out ||
	fail 'no JSON of lost changes'

# A file that is cut short cannot be opened. In a backup no page is free: so all that is there counts, and the
# last page, which leads to the others, is not missed.
rm -rf new cut
cp -r good cut
truncate -s -4096 cut/data.mdb
run 2 "$query" stats cut
says "'simidx-query repair cut NEW'"
run 0 "$query" repair cut new
says 'simidx-query: new: made, with 3,000 documents; lost: nothing'
"$query" dump new | cmp - documents.tsv || fail 'documents before the cut have changed'

# Here the header and the list of free pages are lost. The documents are in front of it.
rm -rf new cut
cp -r loose cut
truncate -s -32768 cut/data.mdb
run 1 "$query" repair cut new
grep -q '^doubt	basis				the header of the last commit is lost' out || fail 'no word of the lost header'
grep -q '^doubt	free pages				the list of free pages is damaged' out || fail 'no word of old blocks'
says 'simidx-query: new: made, with 3,000 documents; lost: not known, as the header that counts what there was is lost'
says 'simidx-query: new: 2 things are not certain'
"$query" dump new | cmp - documents.tsv || fail 'documents before the cut have changed'
run 0 "$query" verify new
rm -rf new
run 1 "$query" --json repair cut new
grep -qF '{"kind":"doubt","table":"basis","text":"the header of the last commit is lost' out ||
	fail 'no JSON of a lost header'

# Without the header documents may be known by what they left elsewhere, but nobody knows how many there were.
seq 8000 | awk '{ printf "%d\t%016x\tlabel %d\n", $1, $1 * 2654435761, $1 }' >labelled.tsv
rm -rf loose-labels
run 0 "$load" -q loose-labels -F tsv - < <(head -4000 labelled.tsv)
run 0 "$load" -q --write insert --merge never loose-labels -F tsv - < <(tail -4000 labelled.tsv)
rm -rf new cut
cp -r loose-labels cut
truncate -s $(($(stat -c %s cut/data.mdb) / 4096 * 9 / 10 * 4096)) cut/data.mdb
run 1 "$query" repair cut new
grep -qE '^simidx-query: new: made, with [45],[0-9]+ documents; lost: [0-9,]+ documents by what they left \(some may count twice\), .*perhaps more, as the header' err ||
	fail "what is lost of labelled documents: $(cat err)"

# Where nothing is left, repair does not advise itself.
for bytes in 5000 8192 20000; do
	rm -rf cut
	cp -r loose cut
	truncate -s "$bytes" cut/data.mdb
	run 2 "$query" repair cut other
	says 'cut: cannot be repaired: '
	says 'cut: restore a backup, or load the documents again'
	[ ! -e other ] || fail 'made from nothing'
done
says 'neither the header of the last commit nor any document is left'
truncate -s 0 cut/data.mdb
run 2 "$query" repair cut other
says 'cut/data.mdb is not of a simidx index'

# The page that leads to all tables: all others are there. Of the two meta
# pages that of the later transaction, whose number is at byte 144, has at byte 128 which page it is.
at() {
	od -An -tu8 -j "$1" -N 8 good/data.mdb
}
meta=0
[ "$(at 144)" -gt "$(at $((4096 + 144)))" ] || meta=4096
page=$(($(at $((meta + 128)))))
rm -rf new
cp -r good unreachable
dd if=/dev/zero of=unreachable/data.mdb bs=4096 count=1 seek=$page conv=notrunc status=none
run 0 "$query" repair unreachable new
says 'simidx-query: new: made, with 3,000 documents; lost: nothing'
grep -q '^damage	postings				the list of tables is damaged' out || fail 'no word of the damage'
"$query" dump new | cmp - documents.tsv || fail 'documents without a list of tables have changed'
run 0 "$query" verify new
# Times and second fingerprints stand in one table only: what a damaged block of it had is lost, line by line, and
# told in sum. The documents are kept.
seq 1 600 | awk '{ printf "%d\t%016x\tl%d\t2026-01-01T00:00:00Z\n", $1, $1 * 7777, $1 }' >times.dump
run 0 "$load" -q --times timed -F dump times.dump
lost=0
for block in $(blocks_of timed); do
	damage timed "$block"
	rm -rf new
	"$query" repair copy new >out 2>err
	code=$? n=$(grep -c '^time	' out)
	lost=$((lost + n))
	[ "$n" -eq 0 ] && told=nothing code=$((code + 1)) || told="$n times"
	grep '^damage' out | cut -f 4 | grep -q . && fail 'a block has a fingerprint'
	[ $code -eq 1 ] || fail "exit $code with $n times lost"
	says "simidx-query: new: made, with 600 documents; lost: $told"
	"$query" dump new >dumped
	[ "$(grep -c '	$' dumped)" -eq "$n" ] || fail 'not the times that are told are lost'
	cut -f 1-3 dumped | diff -q - <(cut -f 1-3 times.dump) >/dev/null || fail 'a document of lost times'
done
[ $lost -eq 600 ] || fail "$lost times lost of 600"
[ -n "${SX_JSON-}" ] || finish
seq 1 600 | awk '{ printf "{\"fp\":\"%016x\",\"fp2\":\"%016x\"}\n", $1 * 7777, $1 * 3 }' >second.jsonl
run 0 "$load" -q --fp2 second second.jsonl
lost=0
for block in $(blocks_of second); do
	damage second "$block"
	rm -rf new
	"$query" --json repair copy new >out 2>err
	code=$? n=$(grep -c '"kind":"fp2"' out)
	lost=$((lost + n))
	[ "$n" -eq 0 ] && told=nothing code=$((code + 1)) || told="$n second fingerprints"
	[ $code -eq 1 ] || fail "exit $code with $n second fingerprints lost"
	says "simidx-query: new: made, with 600 documents; lost: $told"
	[ "$("$query" --json dump new | grep -c '"fp2":null')" -eq "$n" ] || fail 'not the second fingerprints that are told'
	# Of damage no document is known, of a loss it is.
	grep -q '"kind":"damage".*"fp":' out && fail 'a block has a fingerprint'
	[ "$(grep -c '"kind":"fp2".*"fp":"' out)" -eq "$n" ] || fail 'a lost second fingerprint of nobody'
done
[ $lost -eq 600 ] || fail "$lost second fingerprints lost of 600"
finish
