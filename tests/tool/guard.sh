#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
#
# What could hurt an index from outside its own code: messages that land in its files, and
# inputs that are its files.
. "$SX_SRCDIR/tests/tool/tool_lib.sh"

printf '1\t00112233445566ff\ta\n2\t00112233445566fe\tb\n' >documents.tsv
run 0 "$load" -q index documents.tsv

# With all standard descriptors closed, the files of the index would get their numbers.
"$load" index documents.tsv <&- >&- 2>&-
[ $? -eq 1 ] || fail 'a load with closed descriptors: the rows are known already, so exit 1'
"$query" search index 00112233445566ff 0011 <&- >&- 2>&-
[ $? -eq 2 ] || fail 'a search with closed descriptors cannot print, so exit 2'
run 0 "$query" verify index
run 0 "$query" search index -k 0 00112233445566ff

# To open and close lock.mdb would drop the locks of the process.
locks() {
	grep -c ":$(stat -c %i index/lock.mdb) " /proc/locks
}
mkfifo names
"$load" -F lines --files-from names index 2>err &
pid=$!
exec 9>names
printf 'documents.tsv\nindex/lock.mdb\n' >&9
until grep -q 'is a file of the index itself' err || ! kill -0 $pid 2>/dev/null; do
	sleep 0.05
done
says 'index/lock.mdb: is a file of the index itself'
[ "$(locks)" -gt 0 ] || fail 'the locks of lock.mdb are gone'
exec 9>&-
wait $pid
[ $? -eq 1 ] || fail 'rejected inputs, so exit 1'

if [ -n "${SX_TEXT-}" ]; then
	mkdir texts
	for word in one two three; do
		yes "$word of these is a text" | head -30 >texts/$word
	done
	run 0 "$load" -r texts/index texts
	sums_up 'index built with 3 documents'
	run 1 "$load" -r texts/index texts
	sums_up '0 documents inserted; index has 3; 3 rows rejected'
	run 2 "$query" search texts/index --text texts/index/lock.mdb
	says 'texts/index/lock.mdb: is a file of the index itself'
fi

# A signal ends the waiting for another writer.
(
	exec 8<>index/write.lock
	flock 8
	touch locked
	exec sleep 3600
) &
holder=$!
while [ ! -e locked ]; do sleep 0.05; done
printf '9\t00112233445566f0\n' >more.tsv
"$load" index more.tsv 2>err &
pid=$!
# It has the file open while it tries, a moment at a time.
until ls -l /proc/$pid/fd 2>/dev/null | grep -q 'index/write\.lock$' ||
	! kill -0 $pid 2>/dev/null; do
	sleep 0.02
done
kill -TERM $pid
wait $pid
[ $? -eq 2 ] || fail 'stopped while waiting, so exit 2'
says 'stopped by a signal'
run 2 "$load" --wait 100 index more.tsv
says 'locked by another writer'
kill $holder
wait $holder 2>/dev/null

# Each file of an index is one, by whatever name.
for file in data.mdb lock.mdb write.lock; do
	[ -e index/$file ] || fail "an index has no $file"
	ln -sf index/$file link
	for input in index/$file link; do
		run 1 "$load" -F lines index $input
		says "$input: is a file of the index itself"
	done
done
finish
