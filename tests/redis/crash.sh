#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
#
# kill -9 of clients, and of the server, which logs each commit (appendfsync always): nothing that was
# acknowledged is lost, and nothing is half there. With SIMIDX_LONG at 200 moments and at 20.
# shellcheck source=tests/tool/tool_lib.sh
. "$SX_SRCDIR/tests/tool/tool_lib.sh"
# shellcheck source=tests/redis/redis_lib.sh
. "$SX_SRCDIR/tests/redis/redis_lib.sh"

durable=(--appendonly yes --appendfsync always)
server main "${durable[@]}"
uri=redis://127.0.0.1:$main/crash
run 0 "$load" -q -F lines "$uri" /dev/null
moments=$([ -n "${SIMIDX_LONG-}" ] && echo 200 || echo 20)

# rows N: labels and fingerprints, of which some are near to each other.
rows() {
	awk -v n="$1" "$random"'BEGIN { state = n + 1; for (i = 0; i < 2000; i++) {
		if (i % 3 || !i) f = sprintf("%04x%04x%04x%04x", rnd() * 65536, rnd() * 65536, rnd() * 65536, rnd() * 65536)
		printf "\t%s\tlabel %d-%d\n", f, n, i } }'
}

# check: what was acknowledged is there, all that is there was put, and it is sound.
check() {
	run 0 "$query" verify "$uri"
	run 0 "$query" dump "$uri"
	cut -f2,3 out | sort >there
	sort acknowledged | uniq -d >twice
	[ ! -s twice ] || fail "$(wc -l <twice) are acknowledged twice: $(head -3 twice)"
	sort -u acknowledged | comm -23 - there >lost
	[ ! -s lost ] || fail "$(wc -l <lost) of $(wc -l <acknowledged) are lost: $(head -3 lost)"
	sort given | comm -13 - there >strange
	[ ! -s strange ] || fail "half there, or never given: $(head -3 strange)"
	run 0 "$query" stats --json "$uri"
	grep -q "\"documents\":$(wc -l <there)," out || fail 'the count is wrong'
}
: >acknowledged
: >given

# begin GATE: load ./now in the background, as $one, once GATE can be read.
begin() {
	cut -f2,3 now >>given
	# Not what the last one has printed: this one may be killed before it has opened the file itself.
	: >new
	"$load" -q --mode if-new --commit 30 --emit new -F tsv "$uri" now <"$1" >new 2>err &
	one=$!
}

# server_again: after a crash. A log that ends within a step is to be written anew (doc/redis.md, "Durability").
server_again() {
	server main "${durable[@]}"
	grep -q 'short read' main.log || return 0
	cli main bgrewriteaof >/dev/null
	until cli main info persistence | tr -d '\r' | grep -cxE 'aof_rewrite_(in_progress|scheduled):0' | grep -qx 2; do
		sleep 0.05
	done
	cli main info persistence | grep -q '^aof_last_bgrewrite_status:ok' || fail 'the log cannot be written anew'
}

# kill_client: what it has printed until then is acknowledged.
kill_client() {
	kill -9 $one 2>/dev/null
	wait $one 2>/dev/null
	# A line may be cut off.
	[ ! -s new ] || [ -z "$(tail -c 1 new)" ] || sed -i '$d' new
	cut -f2,3 new >>acknowledged
}

for moment in $(seq "$moments"); do
	rows "$moment" >now
	begin /dev/null
	sleep "0.0$((RANDOM % 9))$((RANDOM % 10))"
	kill_client
	[ $((moment % 20)) -ne 0 ] || check
done
[ -s acknowledged ] || fail 'no load has come to anything'

# One that comes to its end, and then one that is killed before its first step.
rows 1000 >now
begin /dev/null
wait $one || fail "exit $?: $(cat err)"
cut -f2,3 new >>acknowledged
mkfifo closed
rows 1001 >now
begin closed
kill_client
[ ! -s new ] || fail 'a load that has not begun has printed rows'
check

for moment in $(seq $((moments / 10))); do
	rows $((2000 + moment)) >now
	begin /dev/null
	sleep "0.$((RANDOM % 3))$((RANDOM % 10))"
	end main KILL
	wait $one
	status=$?
	[ $status -eq 2 ] || [ $status -eq 0 ] || fail "exit $status: $(cat err)"
	cut -f2,3 new >>acknowledged
	server_again
	check
done

# A log that ends within a step: Redis 7.0 would store the first part of it when it begins once more.
rows 3000 | head -60 >now
begin /dev/null
wait $one || fail "exit $?: $(cat err)"
end main KILL
log=$(printf '%s\n' main.dir/appendonlydir/*.incr.aof | tail -1)
step=$(grep -aob $'^MULTI\r' "$log" | tail -2 | head -1 | cut -d: -f1)
truncate -s $((step + 1500)) "$log"
server_again
grep -q 'short read' main.log || fail 'the log does not end within a step'
check
rows 3001 | head -60 >now
begin /dev/null
wait $one || fail "exit $?: $(cat err)"
cut -f2,3 new >>acknowledged
end main KILL
server_again
check
finish
