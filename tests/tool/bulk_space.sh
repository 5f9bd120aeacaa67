#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
#
# Disks that are too small, for the index or for the temporary files: told as early as it can be
# known, and everything is left as it was.
. "$SX_SRCDIR/tests/tool/tool_lib.sh"
mkdir small
mount -t tmpfs -o size=12m none small 2>/dev/null || skip 'not allowed to mount a file system'
trap 'umount -l "$tmp/small"; rm -rf "$tmp"' EXIT
"$helpers/linear_scan" documents 1200000 31 | cut -f 2 >all.fps
head -50000 all.fps >few.fps
gzip -1 -k all.fps
free() {
	df --output=avail small | tail -1
}
empty=$(free)

# left_as_it_was [FREE]: no index that was not there, no file, no byte.
left_as_it_was() {
	[ "$(ls -A small)" = "$1" ] || { fail 'something was left'; ls -A small; }
	[ "$(free)" -eq "$2" ] || fail "$(free) kB are free, not $2"
	ls -d .simidx-* index 2>/dev/null && fail 'something was left beside the index'
}

# The size of the input is known: it is not read to its end. Later rows could be shorter, so what
# is only a little too large is found out at the end.
for input in all.fps ${SX_ZLIB:+all.fps.gz}; do
	rm -f summary
	run 2 "$load" --summary summary --tmpdir . small/index -F lines $input
	says 'MB are needed beside small/index, '
	says 'simidx-load: small/index: nothing has changed'
	[ "$(grep -o '"rows":[0-9]*' summary | cut -d : -f 2)" -lt 1200000 ] ||
		fail "all of $input was read"
	left_as_it_was '' "$empty"
	run 2 "$load" --memory 64M --tmpdir small index -F lines $input
	says 'MB are needed for temporary files in small, '
	left_as_it_was '' "$empty"
done
# It is not known: the disk is full, or would be.
run 2 "$load" --tmpdir . small/index -F lines - <all.fps
says 'MB are needed beside small/index, '
left_as_it_was '' "$empty"
run 2 "$load" --memory 64M --tmpdir small index -F lines - <all.fps
grep -qE 'temporary file in small: No space left on device|for temporary files in small, ' err ||
	fail 'not told that the disk is full'
says 'simidx-load: index: nothing has changed'
left_as_it_was '' "$empty"

# Other indexes, whose sizes are known before anything is done.
run 0 "$load" -q --write insert other -F lines all.fps
run 2 "$load" --from other small/index
says 'MB are needed beside small/index, '
left_as_it_was '' "$empty"

# Their labels count, too; and labels that fit are not refused.
labelled() {
	head -"$1" all.fps | awk -v label="$(seq -s . 84)" '{ printf "%d\t%s\t%s.%d\n", NR, $1, label, NR }'
}
labelled 48000 | run 0 "$load" -q labels -F tsv -
run 2 "$load" --tmpdir . --from labels small/index
says 'MB are needed beside small/index, '
left_as_it_was '' "$empty"
labelled 25000 | run 0 "$load" -q --tmpdir . small/index -F tsv -
rm -r small/index
labelled 25000 | run 0 "$load" -q fits -F tsv -
run 0 "$load" -q --tmpdir . --from fits small/index
rm -r small/index

# So do notes, which have 100,000 bytes each.
noted() {
	awk -v n="$1" 'BEGIN {
		printf "{\"format\":\"simidx-dump\",\"version\":1,\"bits\":64,\"ids\":true,\"fp2\":false,"
		printf "\"notes\":true,\"plan\":\"4x16\",\"layout\":\"blocks\",\"fill\":90,\"profile\":\"\","
		printf "\"check_fps\":[],\"next_id\":%d,\"documents\":%d,\"labels\":0}\n", n, n
		for (i = 0; i < n; i++)
			printf "{\"id\":%d,\"fp\":\"%x\",\"note\":\"%0100000d\"}\n", i, i, i
		printf "{\"documents\":%d}\n", n
	}'
}
if [ -n "${SX_JSON-}" ]; then
	run 2 "$load" --tmpdir . small/index -F full - < <(noted 150)
	says 'MB are needed beside small/index, '
	left_as_it_was '' "$empty"
	run 0 "$load" -q --tmpdir . small/index -F full - < <(noted 80)
	rm -r small/index
fi

# Into an index that is there.
run 0 "$load" -q small/index -F lines few.fps
"$query" dump small/index >before
some=$(free)
for how in rebuild auto; do
	run 2 "$load" --write $how small/index -F lines all.fps
	says 'MB are needed beside small/index, '
	"$query" dump small/index >after; head -50000 after | cmp - before || fail "other documents: $how"
	"$query" verify small/index >/dev/null 2>&1 || fail "not sound: $how"
	[ $how = auto ] || left_as_it_was index "$some"
done
# What an insertion has committed stays.
run 2 "$load" --write insert --merge never small/index -F lines all.fps
says 'No space left on device'
says 'rows were committed; --resume goes on after them'
"$query" verify small/index >/dev/null 2>&1 || fail 'not sound: insert'
n=$("$query" dump small/index | wc -l)
[ "$n" -gt 50000 ] && [ $((n % 50000)) -eq 0 ] || fail "$n documents"
finish
