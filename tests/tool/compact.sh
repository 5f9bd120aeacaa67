#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
#
# compact: in place and elsewhere, with another plan; what was deleted is not in the file; the mark of a
# load stays; and what it says when it cannot be done.
. "$SX_SRCDIR/tests/tool/tool_lib.sh"
"$helpers/linear_scan" documents 3000 21 >documents.tsv
"$load" -q index documents.tsv
# A fresh row, and the mark of the load that has brought it.
run 0 "$load" -q --write insert --merge never index -F lines - <<<0123456789abcdef
"$query" dump --format jsonl index >before
size=$(stat -c %s index/data.mdb)

run 0 "$query" compact index new --plan 3x22 --fill 100
"$query" stats new | grep -qx 'fill of merges  *100 %' || fail 'the fill that was asked for is not kept'
"$query" stats index | grep -qx 'fill of merges  *90 %' || fail 'the fill of what is only read has changed'
new_size=$(stat -c %s new/data.mdb)
count() {
	sed -E ':a; s/^([0-9]+)([0-9]{3})/\1,\2/; ta' <<<"$1"
}
errors <<<"simidx-query: new: compacted: $(count "$size") bytes before, $(count "$new_size") bytes now, 3,001 documents"
run 0 "$query" dump --format jsonl new
same out before
run 0 "$query" stats new
grep -q '^plan  *3x22' out || fail 'another plan'
run 0 "$query" verify new
[ "$(stat -c %s index/data.mdb)" = "$size" ] || fail 'the index that was only read has changed'

run 0 "$query" --json compact index
output <<<"{\"documents\":3001,\"old_bytes\":$size,\"new_bytes\":$(stat -c %s index/data.mdb)}"
errors </dev/null
run 0 "$query" dump --format jsonl index
same out before
run 0 "$query" stats index
grep -q '^plan  *4x16' out || fail 'another plan'
# The mark of the load is still there.
run 2 "$load" --resume index -F lines - <<<0123456789abcdef
says 'index: --resume: the last load finished'
run 0 "$query" dump --format jsonl index
same out before
run 0 "$query" -q compact index
errors </dev/null

# Few documents that were inserted take less room than sorted tables.
run 0 "$load" -q --write insert --merge never small -F lines - <<<"$(seq 5)"
size=$(stat -c %s small/data.mdb)
run 0 "$query" compact small
if [ "$(stat -c %s small/data.mdb)" -gt "$size" ]; then
	says ', 5 documents; it is larger, as all documents are in sorted tables now'
fi

# A reader keeps what it has; a writer that may not wait is told.
mkfifo pipe
"$load" -q --write insert index -F lines pipe 2>/dev/null &
loader=$!
exec 3>pipe
seq 1000000 1100000 >&3
until_holds index 100000
run 2 "$query" compact index --wait 0
says 'simidx-query: index is locked by another writer: simidx-load (process '
# Beside it, what is committed is copied. It is stopped, as it would commit its last row after a second.
kill -STOP $loader
rm -rf new
run 0 "$query" -q compact index new
kill -KILL $loader
wait $loader 2>/dev/null
exec 3>&-
run 0 "$query" dump new
[ "$(wc -l <out)" -eq 103001 ] || fail 'not what was committed'
run 0 "$query" -q compact index
run 0 "$query" dump index
[ "$(wc -l <out)" -eq 103001 ] || fail 'documents are lost'

# What cannot be.
run 2 "$query" compact index new
errors <<<'simidx-query: new: exists already; without NEW an index is compacted in its place'
run 2 "$query" compact index index
errors <<<'simidx-query: index: exists already; without NEW an index is compacted in its place'
rm -r new
run 2 "$query" compact index index/sub
says 'index/sub is inside the index index'
echo text >index/NOTE
run 2 "$query" compact index
errors <<<'simidx-query: index has other files, such as NOTE: move them away first'
run 2 "$load" --write rebuild index -F lines - <<<0123456789abcdef
says 'simidx-load: index has other files, such as NOTE: move them away first'
rm index/NOTE || fail 'the note is not in its place'
run 2 "$query" compact index new --plan 5x12
says '5x12'
says "'simidx-query compact --help'."
run 2 "$query" compact index --fill 49
says '--fill'
run 2 "$query" compact index --memory 1M
says '--memory'
run 2 "$query" compact missing
says 'missing: no index: No such file'
run 2 "$query" compact index nowhere/new
says 'nowhere/new'
run 2 "$query" --static compact index
says '--static: to compact in place is to write; name a NEW'
run 2 "$query" compact -
says "'-' is standard input, and INDEX is a directory"
mkdir empty
run 2 "$query" compact empty
says 'empty is not a simidx index'
[ -z "$(ls empty)" ] || fail 'something was made in a directory that is no index'

# Damage: nothing is made, and nothing exchanged.
cp -r index damaged
bytes=$(stat -c %s damaged/data.mdb)
for ((page = 2; page < bytes / 4096; page++)); do
	[ "$(od -An -tu2 -j $((page * 4096 + 10)) -N 2 damaged/data.mdb)" -ne 4 ] || break
done
printf '\377\377\377' | dd of=damaged/data.mdb bs=1 seek=$((page * 4096 + 300)) conv=notrunc status=none
cp damaged/data.mdb kept
run 2 "$query" compact damaged
says 'simidx-query: damaged: nothing has changed, as the index has '
says "'simidx-query repair damaged NEW'"
cmp -s damaged/data.mdb kept || fail 'a damaged index has changed'
run 2 "$query" compact damaged new
says 'simidx-query: damaged: nothing has changed, as the index has '
[ ! -e new ] || fail 'something was made of a damaged index'
[ -z "$(ls -d .simidx-* 2>/dev/null)" ] || fail 'something was left'
finish
