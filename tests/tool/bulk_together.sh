#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
#
# Several loads at once: those that would be in each other's way wait, and nobody's documents are
# lost; what killed ones left goes away, whatever comes next.
. "$SX_SRCDIR/tests/tool/tool_lib.sh"
export TMPDIR=$tmp
"$helpers/linear_scan" documents 130000 29 | cut -f 2 >all.fps
head -1000 all.fps >first.fps
mkfifo pipe rows
document='0123456789abcdef'

# has INDEX N: it is sound and has N documents.
has() {
	local n
	"$query" verify "$1" >/dev/null 2>&1 || fail "$1 is not sound"
	n=$("$query" dump "$1" | wc -l)
	[ "$n" -eq "$2" ] || fail "$1 has $n documents, not $2"
	ls -d .simidx-* 2>/dev/null && fail 'rubbish'
}
# reading PIPE OPTION...: a load that reads from a pipe until told to end; $loader, descriptor 3.
reading() {
	"$load" -q "${@:2}" -F lines "$1" 2>told &
	loader=$!
	exec 3>"$1"
}
# until_it_builds: it has made its private directory.
until_it_builds() {
	echo $document >&3
	while ! ls -d .simidx-?????? >/dev/null 2>&1; do sleep 0.02; done
}
# second OPTION...: a load of the first 1000 beside it; $second. It has seen what is at the path
# before it opens its input, so whatever comes then has come meanwhile.
second() {
	"$load" -q "$@" ix -F lines rows 2>told2 3>&- &
	second=$!
	cat first.fps >rows
}
ended() {
	wait "$1"
	local code=$?
	[ $code -eq "$2" ] || { fail "exit $code, not $2: $3"; cat told told2; }
}
touch told2

# Two loads that make the same index: the second one does not begin in vain. One that is to be
# made in another way waits as well.
for how in '' '--write insert' '--merge never'; do
	reading pipe ix
	until_it_builds
	run 2 "$load" $how --wait 0 ix first.fps -F lines
	says 'simidx-load: ix is being built by another process'
	run 2 "$load" $how --wait 200 ix first.fps -F lines
	says 'simidx-load: ix is being built by another process'
	[ ! -e ix ] || fail 'an index from a load that gave up'
	# shellcheck disable=SC2086
	second $how
	sleep 0.2
	exec 3>&-
	ended $loader 0 first
	ended $second 0 "second $how"
	has ix 1001
	rm -rf ix
done
# Where nobody sees progress, who is in the way is told once.
reading pipe ix
until_it_builds
run 2 "$load" --wait 2500 ix first.fps -F lines
errors <<END
simidx-load: ix: waiting for simidx-load (process $loader), which writes it
simidx-load: ix is being built by another process: simidx-load (process $loader)
END
run 2 "$load" -q --wait 1500 ix first.fps -F lines
errors <<<"simidx-load: ix is being built by another process: simidx-load (process $loader)"
exec 3>&-
ended $loader 0 first
rm -rf ix
# The first one is killed, or stopped while it waits.
reading pipe ix
until_it_builds
second
sleep 0.2
kill -9 $loader
wait $loader 2>/dev/null
exec 3>&-
ended $second 0 'after a killed one'
has ix 1000
rm -rf ix
reading pipe ix
until_it_builds
second
sleep 0.2
kill -INT $second
ended $second 2 stopped
printf 'simidx-load: %s\n' 'stopped by a signal' 'ix: nothing has changed; run the load again' |
	diff - <(grep -v 'waiting for' told2) || fail 'what is told by a load that is stopped while it waits'
exec 3>&-
ended $loader 0 first
has ix 1
# What it made is of another kind: nothing fits then.
rm -rf ix
reading pipe --bits 32 ix
echo 01234567 >&3
while ! ls -d .simidx-?????? >/dev/null 2>&1; do sleep 0.02; done
second
exec 3>&-
ended $loader 0 '32 bits'
ended $second 2 '64 bits'
grep -q 'ix: an index of another kind has been put there meanwhile' told2 || fail 'not told'
has ix 1

# Into an index that another load rebuilds meanwhile: inserted, or rebuilt again.
for how in '--write auto' '--write insert' '--write rebuild'; do
	rm -rf ix
	"$load" -q ix -F lines first.fps
	reading pipe --write rebuild ix
	until_it_builds
	run 2 "$load" $how --wait 50 ix -F lines first.fps
	says 'ix'
	# shellcheck disable=SC2086
	second $how
	sleep 0.2
	exec 3>&-
	ended $loader 0 rebuild
	ended $second 0 "$how after a rebuild"
	has ix 2001
done

# Texts: it has opened the index, and has read nothing yet.
if [ -n "${SX_TEXT-}" ] && [ -n "${SX_JSON-}" ]; then
	echo '{"text": "one of the two texts that are stored here"}' >text.jsonl
	"$load" -q texts text.jsonl
	"$load" -q --threads 2 texts -F jsonl pipe 2>told &
	loader=$!
	exec 3>pipe
	run 0 "$load" -q --write rebuild texts text.jsonl
	cat text.jsonl >&3
	exec 3>&-
	ended $loader 0 'texts into an index that was rebuilt'
	has texts 3
fi

# In the middle of a load by insertion, between two commits.
# half_way INDEX COMMAND...: 100,000 rows are committed, COMMAND has run, the rest comes.
half_way() {
	local ix=$1
	shift
	"$load" -q --write insert "$ix" -F lines pipe 2>told &
	loader=$!
	exec 3>pipe
	head -100000 all.fps >&3
	until_holds "$ix" 100000
	run 0 "$@"
	tail -n +100001 all.fps >&3
	exec 3>&-
}
half_way middle "$load" -q --write rebuild middle -F lines first.fps
ended $loader 0 'an index that was rebuilt in the middle'
has middle 131000
half_way gone "$load" -q --create truncate gone -F lines first.fps
ended $loader 2 'an index that was replaced by less'
grep -q 'gone: has been replaced meanwhile, and documents that were stored' told || fail 'not told'
has gone 1000

# What a killed load left goes with the next one of any kind: when it only inserts, into that
# index or another one beside it, or takes over others.
"$load" -q other -F lines first.fps
n=1000
for next in '--write insert other' '--write rebuild other' '--write insert ix' 'new' '--from ix new'; do
	rm -rf new
	reading pipe killed
	until_it_builds
	kill -9 $loader
	wait $loader 2>/dev/null
	exec 3>&-
	ls -d .simidx-?????? >/dev/null 2>&1 || fail 'nothing was left: the test tests nothing'
	run 0 "$load" -q $next -F lines first.fps
	ls -d .simidx-* killed 2>/dev/null && fail "rubbish after $next"
done
finish
