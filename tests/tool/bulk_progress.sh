#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
#
# What a load shows on a terminal while it works.
. "$SX_SRCDIR/tests/tool/tool_lib.sh"
command -v script >/dev/null || skip 'without script(1) there is no terminal'
script -qec true /dev/null </dev/null >/dev/null 2>&1 || skip 'no pseudo-terminal is to be had'

# on_terminal NAME COMMAND...: in the background, with what is shown in NAME; $! is its number.
on_terminal() {
	local name=$1
	shift
	script -qec "$*" /dev/null </dev/null 2>&1 3>&- | tr '\r' '\n' | sed 's/\x1b\[K//g' >"$name" &
}
# shows NAME PATTERN
shows() {
	grep -qxE "$2" "$1" || { fail "not shown: $2"; sort "$1" | uniq -c | head -20; }
}

# The size is known, and how much is left.
yes 0123456789abcdef | head -4000000 >all.fps
on_terminal file "$load" --ids none --memory 64M ix1 -F lines all.fps
wait $!
shows file '1 of 4: reading: [0-9]+ %, [0-9]+ s left, [0-9.]+ [KM] rows, [0-9.]+ [KM] rows/s, [0-9.]+ MB'
shows file 'simidx-load: index built with 1 document in [0-9.]+ s \([0-9.]+ [KM] rows/s\)'
on_terminal quiet "$load" -q --create truncate --ids none --memory 64M ix1 -F lines all.fps
wait $!
[ ! -s quiet ] || fail 'something is shown in spite of -q'

# A terminal of 40 columns: every line is cut to one fewer.
on_terminal narrow "stty cols 40; $load --create truncate --ids none --memory 64M ix1 -F lines all.fps"
wait $!
grep -q '^1 of 4: reading: ' narrow || fail 'no progress on a narrow terminal'
grep 'of 4: ' narrow | grep -q '.\{40\}' && fail 'a line that is too long'

# It is not. The moment at which the line is drawn again is past each time.
mkfifo pipe
on_terminal pipe1 "$load" ix2 -F lines pipe
first=$!
exec 3>pipe
for i in 1 2 3; do
	head -100000 all.fps >&3
	sleep 0.3
done
# Another load waits for this one, and shows it.
on_terminal waiting "$load" --wait 1000 ix2 -F lines all.fps
wait $!
shows waiting 'waiting for simidx-load \(process [0-9]+\): [0-9]+ s'
shows waiting 'simidx-load: ix2 is being built by another process: simidx-load \(process [0-9]+\)'
exec 3>&-
wait $first
shows pipe1 '1 of 4: reading: [0-9.]+ K rows, [0-9.]+ [KM] rows/s, [0-9.]+ MB'
shows pipe1 '2 of 4: writing documents: 0 %, 0 of 300 K rows'
shows pipe1 'simidx-load: index built with 300,000 documents in [0-9.]+ s \([0-9.]+ [KM] rows/s\)'
finish
