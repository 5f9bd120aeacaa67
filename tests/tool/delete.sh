#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
#
# simidx-query delete: by age, id and label; what it tells; a signal, a kill, and others who write.
. "$SX_SRCDIR/tests/tool/tool_lib.sh"

# fill INDEX: five documents, and times of four.
fill() {
	rm -rf "$1"
	run 0 "$load" -q --times -F dump "$1" - <<'END'
1	00000000000000a1	one	2026-01-01T00:00:00Z
2	00000000000000a2	two	2026-01-02T00:00:00Z
3	00000000000000a3		2026-01-03T00:00:00Z
4	00000000000000a4	four	
5	00000000000000a5	five	2026-01-05T00:00:00Z
END
}

# left INDEX ID...: the documents that are left; the index must be sound.
left() {
	run 0 "$query" verify "$1"
	run 0 "$query" dump "$1"
	[ "$(cut -f 1 out | paste -sd ' ')" = "${*:2}" ] || { fail "not the documents ${*:2}"; cat out; }
}

# ---- what is old ----

fill ix
run 0 "$query" delete ix --older-than 2026-01-03 --dry-run
output </dev/null
errors <<<'simidx-query: ix: 2 documents older than 2026-01-03T00:00:00Z; nothing has changed'
run 0 "$query" --json delete ix --older-than 2026-01-03 --dry-run
output <<<'{"older_than":"2026-01-03T00:00:00Z","old":2}'
errors </dev/null
left ix 1 2 3 4 5
run 0 "$query" delete ix --older-than 2026-01-03
output </dev/null
errors <<<'simidx-query: ix: 2 documents older than 2026-01-03T00:00:00Z deleted'
left ix 3 4 5
run 0 "$query" delete ix --older-than 2026-01-03
errors <<<'simidx-query: ix: 0 documents older than 2026-01-03T00:00:00Z deleted'
run 0 "$query" delete ix --json --older-than 2026-01-03T00:00:01Z
output <<<'{"older_than":"2026-01-03T00:00:01Z","deleted":1}'
# A label is free again. What has no time never grows old.
printf '9\t00000000000000a9\tone\t2026-01-04T00:00:00Z\n' | run 0 "$load" -q -F dump ix -
left ix 4 5 9
run 0 "$query" -q delete ix --older-than 1s
errors </dev/null
left ix 4

# ---- what is named ----

fill ix
run 1 "$query" delete ix --id 2 77 5
output </dev/null
errors <<'END'
simidx-query: 77: not found
simidx-query: ix: 2 documents deleted
END
left ix 1 3 4
run 1 "$query" --json delete --label ix two one
output <<<'{"deleted":1,"missing":1}'
errors <<<'simidx-query: two: not found; labels are compared whole, and dump lists them'
left ix 3 4
run 0 "$query" delete ix --id -- 3
errors <<<'simidx-query: ix: 1 document deleted'
run 0 "$query" -q delete ix --label four
errors </dev/null
left ix
# An index without times has ids and labels, too.
printf '1\ta1\ta\\tb\n2\ta2\n' | run 0 "$load" -q -F tsv plain -
run 0 "$query" delete plain --label $'a\tb'
left plain 2

# ---- what does not fit ----

fill ix
refused() { # MESSAGE ARGUMENT...
	run 2 "$query" delete "${@:2}"
	says "simidx-query: $1"
}
refused 'one of --older-than, --id and --label says what is deleted' ix
refused 'one of --older-than, --id and --label says what is deleted' ix 1
refused 'one of --older-than, --id and --label says what is deleted' ix --id --label 1
refused 'one of --older-than, --id and --label says what is deleted' ix --id --older-than 1d 1
# What says already what is deleted needs no example of something else.
refused 'one of --older-than' ix
says "Try 'simidx-query delete INDEX --label LABEL', or 'simidx-query delete --help'."
refused "--older-than: expected 30d" ix --older-than soon
says "Try 'simidx-query delete --help'."
refused 'KEY is missing' ix --label
refused "--older-than DATE is all that is asked for, such as 30d; '1' does not fit" ix --older-than 1d 1
refused '--dry-run goes with --older-than' ix --dry-run --id 1
refused '--static: to delete is to write' ix --static --id 1
refused 'x: expected an id, a decimal number in 0..9223372036854775807' ix --id 1 x
refused 'expected a label of 1 to 65535 bytes, found one of 0' ix --label one ''
# A label has 65535 bytes at most: one of so many is looked for, and a longer one is none.
longest=$(printf '%065535d' 0)
run 1 "$query" delete ix --label "$longest"
says 'simidx-query: ix: 0 documents deleted'
refused 'expected a label of 1 to 65535 bytes, found one of 65536' ix --label one "${longest}0"
left ix 1 2 3 4 5
# To count is to read.
run 0 "$query" --static delete ix --older-than 2026-01-03 --dry-run
errors <<<'simidx-query: ix: 2 documents older than 2026-01-03T00:00:00Z; nothing has changed'
refused '--static: to delete is to write' ix --static --older-than 2026-01-03
refused "--older-than: expected 30d, 12h, 2026-11-26, 2026-11-26T08:15:00Z or seconds since 1970, found '1y'" \
	ix --older-than 1y
refused 'plain: keeps no times, so --older-than does not fit' plain --older-than 1d
refused 'plain: keeps no times, so --older-than does not fit' plain --older-than 1d --dry-run
refused 'nowhere: no index: No such file' nowhere --id 1
left ix 1 2 3 4 5
run 0 "$load" -q --ids none bare -F lines - <<<12
refused 'bare: the index holds no ids and no labels' bare --id 1

# ---- others who write ----

mkfifo pipe
"$load" -q --write insert --commit 1000000 ix -F lines pipe &
loader=$!
exec 3>pipe
echo 0123456789abcdef >&3
# The loader is halted while it has the lock, which is seen by who does not wait for it.
is_locked() {
	"$query" -q delete ix --id 77 --wait 0 2>err
	[ $? -eq 2 ]
}
for ((tries = 600; tries; tries--)); do
	seq 1000000 1000999 >&3
	is_locked && kill -STOP $loader && is_locked && break
	kill -CONT $loader
	sleep 0.1
done
[ "$tries" -gt 0 ] || fail 'the loader never has the lock'
refused 'ix is locked by another writer: simidx-load (process ' ix --id 1 --wait 0
refused 'ix is locked by another writer: simidx-load (process ' ix --older-than 1d --wait 20
# A signal ends the wait.
stopped() { # ARGUMENT...: of delete, with SIGTERM as soon as the index is open
	# shellcheck disable=SC2016 # it is for another shell
	run 2 env SX_WHEN_OPEN='kill -TERM $PPID' "$helpers/moved_query" delete "$@"
}
stopped ix --id 1
errors <<<'simidx-query: stopped by a signal; nothing has changed'
stopped ix --older-than 1d
errors <<'END'
simidx-query: stopped by a signal
simidx-query: ix: 0 old documents were deleted; some may be left
END
"$query" delete ix --older-than 2026-01-03 2>err &
waiting=$!
kill -CONT $loader
exec 3>&-
wait $loader || fail 'the load failed'
wait $waiting || fail 'what has waited was not done'
errors <<<'simidx-query: ix: 2 documents older than 2026-01-03T00:00:00Z deleted'
run 0 "$query" get ix --id 3 4 5
run 1 "$query" get ix --id 1
errors <<<'simidx-query: 1: not found; dump lists all ids'

# Another index takes the place of the one that was opened: documents of that one are deleted.
fill ix
cat >exchange <<END
[ "\$SX_OPENING" -ne 1 ] || printf '7\t07\tone\t2026-01-01T00:00:00Z\n8\t08\ttwo\n' |
	'$load' -q --create truncate --times -F dump ix -
END
for what in '--older-than 2026-01-02' '--id 7' '--label one'; do
	fill ix
	# shellcheck disable=SC2086
	run 0 env SX_WHEN_OPEN='sh ./exchange' "$helpers/moved_query" delete ix $what
	left ix 8
done

# ---- a signal and a kill ----

# Nothing of what is named is deleted when a signal comes before the commit.
fill ix
stopped ix --label one two
errors <<<'simidx-query: stopped by a signal; nothing has changed'
left ix 1 2 3 4 5
# By age what is done stays: here fresh rows are looked at first, and committed.
printf '6\ta6\t\t2026-01-01T00:00:00Z\n7\ta7\t\t2026-01-09T00:00:00Z\n' |
	run 0 "$load" -q --write insert --merge never -F dump ix -
stopped ix --older-than 2026-01-03
errors <<'END'
simidx-query: stopped by a signal
simidx-query: ix: 1 old document was deleted; some may be left
END
left ix 1 2 3 4 5 7
run 0 "$query" delete ix --older-than 2026-01-03
errors <<<'simidx-query: ix: 2 documents older than 2026-01-03T00:00:00Z deleted'
left ix 3 4 5 7

# Killed at some of the moments there are, and done again: as if it had not been.
need_faults
"$helpers/linear_scan" documents 150000 3 |
	awk -F '\t' -v OFS='\t' '{ print $1, $2, $3, $1 % 4 ? $1 % 4 * 1000 : "" }' >many.tsv
run 0 "$load" -q --times -F dump many many.tsv
cp -r many kept
syncs=$(count_calls sync "$query" delete many --older-than 3000)
[ "$syncs" -ge 6 ] || fail "only $syncs calls of sync"
locks=$(awk '$1 == "lock" { print $2 }' counts)
awk -F '\t' '$1 % 4 == 0 || $1 % 4 == 3 { print $1 }' many.tsv >expected
run 0 "$query" dump many
cut -f 1 out | cmp - expected || fail 'not what is left of many'
for n in 1 2 3 $((syncs / 2)) "$syncs"; do
	rm -rf killed
	cp -r kept killed
	(with_fault sync "$n" kill "$query" -q delete killed --older-than 3000) 2>/dev/null
	[ $? -eq 137 ] || fail "not killed at call $n of sync"
	run 0 "$query" -q delete killed --older-than 3000
	run 0 "$query" verify killed
	run 0 "$query" dump killed
	cut -f 1 out | cmp - expected || fail "not what is left after a kill at call $n of sync"
done
# One that fails midway tells how far it has come, and that this is not all.
rm -rf killed
cp -r kept killed
run 2 with_fault sync $((syncs - 1)) once "$query" delete killed --older-than 3000
says ' old documents were deleted; some may be left'
grep -q '^simidx-query: killed: [1-9]' err || fail 'not told how many are deleted'
# So does one that another writer, who is in the way from some moment on, lets wait too long (11 is
# EAGAIN): of all documents that are gone then. The moment is the last one at which that matters.
for ((n = locks; n; n--)); do
	rm -rf killed
	cp -r kept killed
	FAIL_ERRNO=11 with_fault lock "$n" on "$query" delete killed --older-than 3000 --wait 10 2>err || break
done
says 'simidx-query: killed is locked by another writer'
gone=$((150000 - $("$query" dump killed | wc -l)))
[ "$gone" -gt 0 ] && [ "$(grep ' deleted; some may be left$' err | tr -cd 0-9)" = "$gone" ] ||
	fail "$gone documents are gone beside another writer: $(cat err)"
run 2 with_fault sync 1 once "$query" delete kept --older-than 3000
says 'simidx-query: kept'
! grep deleted err || fail 'nothing was deleted, and something is told of it'
# Of a disk that is full it says why deleting needs room.
FAIL_ERRNO=28 run 2 with_fault sync 1 once "$query" delete kept --older-than 3000
says "simidx-query: kept: deleting needs room, too: make some, or write a smaller index to another disk with 'simidx-query compact kept NEW'"
run 0 "$query" -q delete killed --older-than 3000
run 0 "$query" dump killed
cut -f 1 out | cmp - expected || fail 'not what is left after a failure'
finish
