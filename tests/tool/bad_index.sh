#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
#
# What is no index, or cannot be read or written: exit 2, a message, and nothing changed.
. "$SX_SRCDIR/tests/tool/tool_lib.sh"
printf '0123456789abcdef\n' >fps
run 0 "$load" -q -F lines good fps

# refused PATH WORDS: neither tool takes it.
refused() {
	run 2 "$query" stats "$1"
	says "simidx-query: $1"
	says "$2"
	run 2 "$load" -F lines "$1" fps
	says "simidx-load: $1"
}

run 2 "$query" stats missing
says 'simidx-query: missing'
echo text >file
refused file ''
mkdir directory
echo text >directory/data.mdb
refused directory ''
cp -r good cut
size=$(stat -c %s cut/data.mdb)
for keep in 100 4096 $((size / 2)) $((size - 1)); do
	cp good/data.mdb cut/data.mdb
	truncate -s "$keep" cut/data.mdb
	refused cut ''
done
cp -r good noise
head -c "$size" /dev/urandom >noise/data.mdb
refused noise ''
cmp -s noise/data.mdb good/data.mdb && fail 'no noise'

# Plans that are not defined.
for plan in 5x13 ''; do
	run 2 "$load" -F lines --plan "$plan" new fps
	says 'simidx-load: new: '
	[ ! -e new ] || fail 'a refused index was left behind'
done

# No room: the commit fails, the load says so, and the index is as it was.
seq 1 300000 | awk '{ printf "%08x%08x\n", ($1 * 48271) % 2147483647, $1 }' >many
(
	trap '' XFSZ
	ulimit -f 2000
	run 2 "$load" -F lines good many
	says 'simidx-load: good: '
	grep -qi 'no space' err || fail 'not told: no space'
	says 'rows were committed'
	[ "$failures" -eq 0 ]
) || fail 'no space'
run 0 "$query" verify good
"$query" dump good | cut -f 2 >stored
stored=$(($(wc -l <stored) - 1))
[ $((stored % 100000)) -eq 0 ] || fail "$stored documents are no whole batches"
{ cat fps; head -$stored many; } >expected
same stored expected

# No permission.
[ "$(id -u)" -ne 0 ] || finish
chmod 0 good
refused good ''
finish
