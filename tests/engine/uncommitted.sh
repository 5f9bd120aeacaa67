#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
#
# simidx-load where one call of an engine, whichever, says that the index has moved, or is busy, or fails. The
# load goes on where nothing is lost by that, or else ends with an error; what it has printed is stored, and
# where it ends with 0 all is.
. "$SX_SRCDIR/tests/tool/tool_lib.sh"
load=$SX_BUILDDIR/tests/engine/load query=$SX_BUILDDIR/tests/engine/query
[ -x "$load" ] || skip 'built without tests in C'
uri="memory://$tmp/index?conditions"

# Some are equal. One batch of the queue has 128, so each transaction has several look-ups.
awk "$random"'BEGIN { state = 1; for (i = 0; i < 400; i++) {
	if (i % 3 || !i) f = sprintf("%04x%04x%04x%04x", rnd() * 65536, rnd() * 65536, rnd() * 65536, rnd() * 65536)
	printf "\t%s\tlabel %d\n", f, i } }' >rows
load_rows() {
	rm -f index*
	run 0 "$load" -q -F tsv "$uri" /dev/null
	SIMIDX_FAIL=$1 "$load" -q --mode if-new --commit 150 --emit new -F tsv "$uri" rows >new 2>err
	status=$?
}
load_rows 1000:-13
[ "$(wc -l <new)" -eq 267 ] || fail "$(wc -l <new) rows"
sort new >all

# each WHAT CODE: after how many of the calls a load goes on is then in $on, the last one in $last, and after
# how many it ends in $ended.
each() {
	on=0 ended=0
	for n in $(seq 200); do
		load_rows "$n:$2"
		! grep -q 'the call has not come' err || break
		run 0 "$query" dump "$uri"
		cut -f2,3 out | sort >there
		cut -f2,3 new | sort | comm -23 - there >lost
		[ ! -s lost ] || fail "$1, call $n: exit $status, and $(wc -l <lost) rows that are printed are not stored"
		case $status in
		0)
			on=$((on + 1)) last=$n
			sort new | cmp -s - all || fail "$1, call $n: exit 0, and not all rows are printed"
			;;
		2) ended=$((ended + 1)) ;;
		*) fail "$1, call $n: exit $status: $(cat err)" ;;
		esac
	done
	echo "$1: after $on calls loads go on, after $ended they end"
}
each 'it has moved' -19
[ $on -gt 0 ] && [ $ended -gt 0 ] || fail 'moved: not both has happened'
each 'it is busy' -18
[ $on -gt 0 ] && [ $ended -gt 0 ] || fail 'busy: not both has happened'
each 'it fails' -13
# When all is stored, documents are counted for the last line, which need not be.
[ $on -eq 1 ] && [ $last -eq $((ended + 1)) ] || fail 'a failure is passed over'
finish
