#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
#
# Standard output that takes nothing: exit 2 with a message, for every command that prints.
. "$SX_SRCDIR/tests/tool/tool_lib.sh"
"$helpers/linear_scan" documents 20000 3 >documents.tsv
run 0 "$load" -q index documents.tsv
run 0 "$load" -q other -F lines - <<<ffffffffffffffff
fp=$(head -1 documents.tsv | cut -f 2)

full() {
	"$@" >/dev/full 2>err
	[ $? -eq 2 ] || fail "not exit 2 on a full disk: $*"
	says 'cannot write to standard output: No space left on device'
}
if [ -w /dev/full ]; then
	full "$query" search index "$fp"
	full "$query" get index "$fp"
	full "$query" stats index
	full "$query" dump index
	full "$query" --help
	full "$query" --version
	full "$load" --help
fi

# left_alone CODE COMMAND...: the reader goes away after a line. Nothing is told of that, and the
# status is that of what was found until then.
left_alone() {
	local want=$1
	shift
	{
		"$@" 2>err
		echo $? >code
	} | head -1 >out
	[ "$(cat code)" -eq "$want" ] || fail "exit $(cat code), not $want, with a closed pipe: $*"
	errors </dev/null
	[ "$(wc -l <out)" -eq 1 ] || fail 'nothing was printed before'
}
cut -f 2 documents.tsv >queries
for json in '' --json; do
	left_alone 0 "$query" $json dump index
	left_alone 0 "$query" $json search index - <queries
	left_alone 0 "$query" $json search index --count - <queries
	# All documents in one answer, of which nobody reads the end.
	[ -n "$json" ] || left_alone 0 "$query" search index -k 64 0
	left_alone 1 "$query" $json search other -k 0 --count - <queries
done

cut -f 2 documents.tsv | head -1000 >fps
left_alone 0 "$dedup" --pairs --radius 64 -F lines fps

# A file that may grow no further is one on a full disk.
if (ulimit -f 100) 2>/dev/null; then
	(ulimit -f 100 && "$query" dump index) >limited 2>err
	[ $? -eq 2 ] || fail 'not exit 2 for a file that may not grow'
	says 'cannot write to standard output: File too large'
	(ulimit -f 100 && "$load" limited.index documents.tsv) 2>err
	[ $? -eq 2 ] || fail 'not exit 2 for an index that may not grow'
	says 'File too large'
fi

mkfifo pieces.fifo
# Data on stdout, all else on stderr; -q leaves only errors.
{ head -10000 documents.tsv; sleep 0.5; tail -n +10001 documents.tsv; } >pieces.fifo &
run 0 "$load" new -F tsv pieces.fifo
output </dev/null
sums_up 'index built with 20,000 documents'
# No progress where nobody looks, however long it takes.
grep -q $'\r' err && fail 'a progress line'
run 0 "$query" -q verify index
errors </dev/null
output </dev/null
run 1 "$query" -q get index --id 99999999
errors </dev/null
finish
