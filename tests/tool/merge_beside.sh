#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
#
# simidx-load --merge beside: a thread merges while rows are inserted; and --merge-only beside such
# loads. What is stored is what the same load stores without.
. "$SX_SRCDIR/tests/tool/tool_lib.sh"

# stats INDEX NAME
stats() {
	"$query" stats --json "$1" | sed "s/.*\"$2\":\([0-9]*\).*/\1/"
}

awk 'BEGIN { srand(3); for (i = 0; i < 300000; i++)
	printf "%d\t%08x%08x\tl%d\n", i, rand() * 2^32, rand() * 2^32, i }' >rows.tsv
head -n 1000 rows.tsv >first.tsv
tail -n +1001 rows.tsv >rest.tsv

# The threshold is 65,536 rows.
for how in 'beside --commit 2000' 'beside --commit 100000' 'never --commit 2000'; do
	rm -rf ix
	run 0 "$load" -q -F tsv ix first.tsv
	run 0 "$load" --write insert --merge $how -F tsv ix rest.tsv
	sums_up '299,000 documents inserted; index has 300,000'
	fresh=$(stats ix fresh_rows)
	case $how in
	never*) [ "$fresh" = 299000 ] || fail "--merge $how: $fresh fresh rows" ;;
	*) [ "$fresh" -lt 299000 ] || fail "--merge $how: nothing was merged" ;;
	esac
	run 0 "$query" verify ix
	run 0 "$query" dump ix
	cmp -s rows.tsv out || fail "--merge $how: other documents"
done

# So much comes that the load builds the index anew, while a merge may be at work.
rm -rf ix
run 0 "$load" -q -F tsv ix first.tsv
run 0 timeout 120 "$load" --merge beside -F tsv ix rest.tsv
sums_up '299,000 documents added by a rebuild; index has 300,000'
run 0 "$query" dump ix
cmp -s rows.tsv out || fail '--merge beside and a rebuild: other documents'

# Another process merges while two load.
rm -rf ix
run 0 "$load" -q -F tsv ix first.tsv
split -n l/2 rest.tsv half.
for half in half.aa half.ab; do
	"$load" -q --write insert --merge beside --commit 3000 -F tsv ix $half 2>$half.err &
	loads+=($!)
done
for ((i = 0; i < 5; i++)); do
	"$load" -q --merge-only ix || fail '--merge-only beside loads'
done
for pid in "${loads[@]}"; do
	wait "$pid" || fail "a load beside a merge: $(cat half.*.err)"
done
run 0 "$query" verify ix
run 0 "$query" dump ix
cmp -s rows.tsv out || fail 'two loads and merges: other documents'
finish
