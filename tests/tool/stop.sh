#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
#
# SIGINT and SIGTERM: what was committed stays, what was not goes, and both are told.
. "$SX_SRCDIR/tests/tool/tool_lib.sh"
"$helpers/linear_scan" documents 250000 13 >documents.tsv
mkfifo pipe

for signal in TERM INT; do
	rm -rf index
	# It reads 250,000 rows and then waits for more.
	"$load" --write insert index -F tsv pipe 2>stopped &
	loader=$!
	exec 3>pipe
	cat documents.tsv >&3
	until_holds index 200000
	# Once row 200,001 has been put the write lock is held, and another load does not wait for it.
	# Before, it finds that what it brings is there.
	while "$load" -q --wait 0 index -F tsv - < <(head -1 documents.tsv) 2>err; [ $? -eq 1 ]; do
		sleep 0.1
	done
	run 2 "$load" --wait 0 index -F lines - <<<0123456789abcdef
	says 'simidx-load: index is locked by another writer: simidx-load (process '
	kill -$signal $loader
	wait $loader
	code=$?
	exec 3>&-
	[ $code -eq 2 ] || fail "exit $code after SIG$signal"
	cp stopped err
	errors <<'END'
simidx-load: stopped by a signal
simidx-load: index: holds 200,000 documents; of this input 200,000 rows were committed; --resume goes on after them
END
	run 0 "$query" verify index
	run 0 "$query" dump index
	head -200000 documents.tsv | cmp - out || fail 'other documents'
	# It was rolled back, not left locked.
	run 0 "$load" --wait 0 -q index -F lines - <<<0123456789abcdef
done

# A load of standard input that has paused, and so shows what there is: that is committed, too.
rm -rf index
"$load" index -F tsv - <pipe 2>stopped &
loader=$!
exec 3>pipe
head -1000 documents.tsv >&3
until_holds index 1000
kill -TERM $loader
wait $loader
code=$?
exec 3>&-
[ $code -eq 2 ] || fail "exit $code in a pause"
cp stopped err
says 'of this input 1,000 rows were committed; --resume goes on after them'
finish
