#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
#
# Standard output that takes nothing: exit 2 with a message, for every command that prints.
. "$SX_SRCDIR/tests/tool/tool_lib.sh"
"$helpers/linear_scan" documents 20000 3 >documents.tsv
run 0 "$load" -q index documents.tsv
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

# A reader that goes away is no reason to die of a signal.
{
	"$query" dump index 2>err
	echo $? >code
} | head -1 >/dev/null
[ "$(cat code)" -eq 2 ] || fail "exit $(cat code) for a closed pipe"
says 'cannot write to standard output: Broken pipe'

# Data on stdout, all else on stderr; -q leaves only errors.
run 0 "$load" other documents.tsv
output </dev/null
sums_up 'index built with 20,000 documents'
run 0 "$query" -q verify index
errors </dev/null
output </dev/null
run 1 "$query" -q get index --id 99999999
errors </dev/null
# No progress where nobody looks.
grep -q $'\r' err && fail 'a progress line'
finish
