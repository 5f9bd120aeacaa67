# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
#
# Read by the tests of the tools: a directory of their own, and checks that tell what is wrong.
# shellcheck shell=bash
set -u
export LC_ALL=C
load=$SX_BUILDDIR/tools/simidx-load
query=$SX_BUILDDIR/tools/simidx-query
dedup=$SX_BUILDDIR/tools/simidx-dedup
helpers=$SX_BUILDDIR/tests/tool
# For programs of awk: some cannot repeat their rand(). Set `state` to a number above 0, then call rnd().
random='function rnd() { return (state = state * 16807 % 2147483647) / 2147483647 }'
failures=0
unseen=
tmp=$(mktemp -d)
trap 'chmod -R u+rwx "$tmp"; rm -rf "$tmp"' EXIT
cd "$tmp" || exit 99
ulimit -c 0

skip() {
	echo "skipped: $*"
	exit 77
}

need_json() {
	[ -n "${SX_JSON-}" ] || skip 'built without JSON support'
}

need_text() {
	[ -n "${SX_TEXT-}" ] || skip 'built without text support'
}

fail() {
	echo "FAILED: $*"
	failures=$((failures + 1))
}

# run CODE COMMAND...: stdout goes to ./out, stderr to ./err. After run 2 one of the functions below
# must look at the message before the next run: the status alone is the same for another error.
run() {
	local want=$1 got
	shift
	all_looked_at
	"$@" >out 2>err
	got=$?
	[ "$want" -ne 2 ] || unseen="$* says: $(head -2 err)"
	if [ "$got" -ne "$want" ]; then
		fail "exit $got, not $want: $*"
		head -5 out err
	fi
}

all_looked_at() {
	[ -z "$unseen" ] || fail "nothing looks at the message of $unseen"
	unseen=
}

# with_fault CALL N HOW COMMAND...: the command, of which the Nth call of this kind fails
# (tests/fault/fail.c); N = 0: none. Without a sanitizer that insists on being loaded first.
with_fault() {
	FAIL_CALL=$1 FAIL_AT=$2 FAIL_HOW=$3 FAIL_COUNTS=$tmp/counts LD_PRELOAD=$fault_library \
		ASAN_OPTIONS=${ASAN_OPTIONS-}:verify_asan_link_order=0 "${@:4}"
}

need_faults() {
	fault_library=$SX_BUILDDIR/tests/fault/.libs/libfail.so
	[ -e "$fault_library" ] || skip 'no shared library was built to make calls fail'
}

# count_calls CALL COMMAND...: how many calls of this kind a command makes, which must succeed.
count_calls() {
	rm -f "$tmp/counts"
	with_fault none 0 once "${@:2}" >out 2>err || fail "not counted: ${*:2}"
	awk -v call="$1" '$1 == call { n = $2 } END { print n + 0 }' "$tmp/counts"
}

# output: stdout of the last run must equal standard input; errors: stderr likewise.
output() {
	diff - out >difference && return
	fail "standard output is not as expected (<)"
	cat difference
}

errors() {
	unseen=
	diff - err >difference && return
	fail "standard error is not as expected (<)"
	cat difference
}

# says TEXT: stderr of the last run must contain it.
says() {
	unseen=
	grep -qF -- "$1" err || { fail "not told: $1"; cat err; }
}

# sums_up TEXT: the last line of stderr must be this summary of simidx-load, without the time that
# it took.
sums_up() {
	unseen=
	tail -1 err | sed -E 's/ in [0-9.]+ s( \([0-9.]+( [KMG])? (rows|texts)\/s\))?//' >last
	diff - last >difference <<<"simidx-load: $1" && return
	fail "the summary is not as expected (<)"
	cat difference
}

# same FILE FILE
same() {
	cmp "$1" "$2" || fail "$1 and $2 differ"
}

# until_holds INDEX N: wait until an index that somebody loads has N documents, a minute at most.
until_holds() {
	local tries=600
	while [ "$("$query" -q dump "$1" 2>/dev/null | wc -l)" -lt "$2" ]; do
		[ $((tries -= 1)) -gt 0 ] || { fail "$1 has not got $2 documents"; return; }
		sleep 0.1
	done
}

# blocks_of INDEX: the numbers of the pages of blocks in an index without free pages, one a line. Blocks are on
# overflow pages, which begin with their own number and have the flag 4 at byte 10.
blocks_of() {
	od -An -v -tu8 -w4096 "$1/data.mdb" |
		awk 'NR > 2 && $1 == NR - 1 && int($2 / 65536) % 65536 == 4 { print $1 }'
}

# damage INDEX PAGE: ./copy is INDEX but for one bit, behind the header of the page, where the entries of even a
# small block are.
damage() {
	local offset=$(($2 * 4096 + 16 + $2 * 37 % 200)) byte
	rm -rf copy
	cp -r "$1" copy
	byte=$(od -An -tu1 -j $offset -N 1 copy/data.mdb)
	# shellcheck disable=SC2059
	printf "\\x$(printf %02x $((byte ^ 1 << $2 % 8)))" |
		dd of=copy/data.mdb bs=1 seek=$offset conv=notrunc status=none
}

finish() {
	all_looked_at
	[ "$failures" -eq 0 ] || { echo "$failures failures"; exit 1; }
	exit 0
}

# shared_runs: of each two lines of standard input that have a run of five words in common: the number of the later
# one, that of the earlier one, how many runs are in both, how many in either, and 1 if they are equal.
shared_runs() {
	awk '{
		text[NR] = $0
		n[NR] = 0
		split("", seen)
		split("", shared)
		for (i = 1; i + 4 <= NF; i++) {
			run = $i " " $(i+1) " " $(i+2) " " $(i+3) " " $(i+4)
			if (run in seen)
				continue
			seen[run]
			n[NR]++
			count = split(rows[run], with, " ")
			for (k = 1; k <= count; k++)
				shared[with[k]]++
			rows[run] = rows[run] " " NR
		}
		for (other in shared)
			print NR, other, shared[other], n[NR] + n[other] - shared[other], text[NR] == text[other]
	}'
}

# summary_has NAME:VALUE...: what ./summary must have, which is of one run.
summary_has() {
	local is
	for is in "$@"; do
		grep -qF "\"${is%%:*}\":${is#*:}," summary || fail "not $is: $(cat summary)"
	done
}
