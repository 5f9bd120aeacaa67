#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
#
# Memory is short while the tools read their inputs: each allocation fails once, and from some on all
# that follow do. A run stores and prints what it should, or it says so, ends with 2 and has stored
# nothing. No input has texts: ICU may crash without memory (SECURITY.md).
. "$SX_SRCDIR/tests/tool/tool_lib.sh"
need_faults
need_json
grep -qE '__(asan|tsan)_init' "$load" && skip 'a sanitizer has an allocator of its own'

# Strings that the parser's buffer must grow for, what the parser refuses, and what is decoded.
cat >rows.jsonl <<'END'
{"id":1,"label":"abcdefghijklmno","fp":"81985529216486895"}
{"id":2,"label":"0123456789012345678901234567890123456789","fp":18446744073709551615}
{"id":3,"label_hex":"ff00616263","fp":255,"passed over":[1.5,{"a":null}]}
{"fp":254}
END
printf '9\t00112233445566ff\told\n' >old.tsv
run 0 "$load" -q old old.tsv
run 0 "$load" -q other old.tsv
run 0 "$load" -q --write insert --fp-encoding dec other rows.jsonl
json=(-F jsonl --fp-encoding dec)

# The content of an index, and the mark by which a load is resumed.
content() {
	[ ! -e "$1" ] || "$query" dump --format full "$1"
}

# fails COMMAND...: the allocation `at` fails, in the manner `how`. 0 if it was done all the same; else
# the tool must have said that memory is short, and 1.
fails() {
	with_fault memory "$at" "$how" "$@" >out 2>err
	status=$?
	[ $status -ne "$good" ] || return 0
	[ $status -eq 2 ] || fail "exit $status where allocation $at fails ($how): $*"
	grep -qE 'out of memory|Cannot allocate memory|cannot start a thread' err ||
		fail "allocation $at fails ($how), and it says: $(head -1 err)"
	return 1
}

# each_fails FUNCTION COMMAND...: the function tries the command with each allocation that fails, or one
# of `step`, and with some from which on all do.
each_fails() {
	local try=$1 n
	shift
	before
	n=$(count_calls memory "$@")
	[ "$n" -gt 20 ] || fail "$n allocations only: $*"
	for ((at = 1; at <= n; at += step)); do
		how=once
		$try "$@"
		how=on
		[ $((at % 8)) -gt 0 ] || $try "$@"
	done
}

before() {
	rm -rf index
	[ -z "$begin" ] || cp -r "$begin" index
}

# Stored are all rows or none of them, and if they are, a load that is resumed knows its inputs again.
store() {
	local want=there
	before
	if fails "$@"; then
		"$@" --resume 2>err || fail "allocation $at failed ($how), then: $(head -c 300 err)"
	else
		want=before.content
	fi
	content index | cmp -s - "$want" || fail "wrong content where allocation $at fails ($how): $*"
}

# The mark holds a digest of the names, here of more of them than fit into the first buffer.
long=$(printf './%.0s' {1..2000})none.jsonl
names=("$long" "$long" "$long")
touch none.jsonl

# Most of what makes an index is not about its input.
good=0
for begin in '' old; do
	if [ -n "$begin" ]; then step=1; else step=4; fi
	before
	content index >before.content
	run 0 "$load" -q --threads 1 "${json[@]}" index rows.jsonl "${names[@]}"
	content index >there
	each_fails store "$load" -q --threads 1 "${json[@]}" index rows.jsonl "${names[@]}"
done

# Printed is the answer, or the beginning of it.
ask() {
	if fails "$@"; then
		cmp -s out want
	else
		head -c "$(stat -c %s out)" want | cmp -s - out
	fi || fail "wrong output where allocation $at fails ($how): $*"
}

# each_asks COMMAND...: the same for one that prints.
each_asks() {
	run "$good" "$@"
	cp out want
	[ "$(wc -l <want)" -ge 2 ] || fail "no answers: $*"
	each_fails ask "$@"
}

begin=
each_asks "$query" search -q --threads 1 "${json[@]}" other rows.jsonl
each_asks "$dedup" -q --threads 1 "${json[@]}" rows.jsonl
for packer in ${SX_ZLIB:+gzip} ${SX_ZSTD:+zstd}; do
	command -v $packer >/dev/null || continue
	printf 'ff\nfe\n' | $packer -q -c >rows
	each_asks "$query" search -q --threads 1 -F lines other rows
done

# Answers of one thread wait in memory, as the other one cannot print: nobody reads for now. Each is
# longer than a stream's first buffer, and the other thread takes the last 14 of them.
seq 1 100 | awk '{ printf "%d\t1\t%080d\n", $1, $1 }' >many.tsv
run 0 "$load" -q many many.tsv
yes 1 | head -270 >same
run 0 "$query" search -q --threads 2 many -F lines same
cp out want
mkfifo pipe
n=$(count_calls memory "$query" search -q --threads 2 many -F lines same)

# sleeps PID: whether all its threads do, or it has ended.
sleeps() {
	! cat "/proc/$1/task/"*/status 2>/dev/null | grep -q '^State:	[^SZ]'
}

for ((at = n - 60; at < n + 10; at++)); do
	FAIL_CALL=memory FAIL_AT=$at FAIL_HOW=once LD_PRELOAD=$fault_library \
		"$query" search -q --threads 2 many -F lines same >pipe 2>err &
	searcher=$!
	exec 4<pipe
	until sleeps $searcher; do sleep 0.01; done
	cat <&4 >out
	exec 4<&-
	if wait $searcher; then
		cmp -s out want || fail "wrong output where allocation $at of $n fails"
	else
		grep -qE 'out of memory|Cannot allocate memory' err || fail "no message for allocation $at"
	fi
done

# The parser asks for memory again with each byte of a string for which there is none: that must not
# keep it busy.
{
	printf '{"fp":"ff","passed over":"'
	head -c 500000 /dev/zero | tr '\0' x
	echo '"}'
} >long.jsonl
n=$(count_calls memory "$query" search -q --threads 1 other -F jsonl long.jsonl)
for ((at = 1; at <= n; at += 3)); do
	rm counts
	with_fault memory "$at" on "$query" search -q --threads 1 other -F jsonl long.jsonl >out 2>err
	[ "$(awk '$1 == "memory" { print $2 }' counts)" -lt $((n + 1000)) ] ||
		fail "busy where allocations fail from number $at on"
done
finish
