#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
#
# Bad URIs, passwords, servers that are not there, silent, slow, full, or talk something else, or that end in
# the middle of an answer: a clear error within the deadline, and nothing half stored.
# shellcheck disable=SC2154 # server() and fake() set variables
# shellcheck source=tests/tool/tool_lib.sh
. "$SX_SRCDIR/tests/tool/tool_lib.sh"
# shellcheck source=tests/redis/redis_lib.sh
. "$SX_SRCDIR/tests/redis/redis_lib.sh"

# ---- URIs ----

refuses 0 'the URI has no name of an index' "$query" dump redis://host
refuses 0 'the URI has no host' "$query" dump redis:///x
refuses 0 'bad port' "$query" dump redis://host:70000/x
refuses 0 'letters, digits and any' "$query" dump 'redis://host/a*b'
refuses 0 'option that is not known' "$query" dump 'redis://host/x?speed=1'
refuses 0 'a bad value of timeout' "$query" dump 'redis://host/x?timeout=0'
refuses 0 'a bad value of timeout' "$query" dump 'redis://host/x?timeout=3601'
refuses 0 'a [ without a ]' "$query" dump 'redis://[::1/x'
refuses 0 'bad port' "$query" dump 'redis://[::1]6379/x'
refuses 0 'bad port' "$query" dump redis://host:0/x
refuses 0 'the password has blanks' "$query" dump 'redis://:se cret@host/x'
long=$(printf '%064d' 0)
refuses 0 'letters, digits and any' "$query" dump "redis://host/0$long"
refuses 0 'the path of a socket' "$query" dump "unix:///${long:0:43}${long}?name=x"
refuses 0 'No such file' "$query" dump "unix:///${long:0:42}${long}?name=$long"
refuses 0 'the URI has no name=NAME' "$query" dump 'unix:///tmp/no-such-socket'
refuses 0 'a user and no password' "$query" dump redis://me@host/x
refuses 0 'the file with the password' "$query" dump "redis://host/x?password-file=$tmp/none"
printf '\nsecret\n' >later
refuses 0 'its first line is no password' "$query" dump "redis://host/x?password-file=$tmp/later"
printf '%01023d' 0 >long
refuses 0 'its first line is no password' "$query" dump "redis://host/x?password-file=$tmp/long"
SIMIDX_REDIS_PASSWORD=$(printf '%01024d' 0) refuses 0 'SIMIDX_REDIS_PASSWORD is too long' "$query" dump redis://host/x

# ---- passwords: none is shown ----

server closed --requirepass 'se@cr/et:1'
uri=redis://127.0.0.1:$closed/x
refuses 1 'it wants a password' "$load" -q -F lines "$uri" /dev/null
echo 'se@cr/et:1' >password
run 0 "$load" -q -F lines "$uri?password-file=$tmp/password" /dev/null
run 0 "$load" -q -F lines "unix://$tmp/closed.sock?name=y&password-file=$tmp/password" /dev/null
# As editors of other systems end lines.
printf 'se@cr/et:1\r\n' >returns
run 0 "$query" dump "$uri?password-file=$tmp/returns"
SIMIDX_REDIS_PASSWORD='se@cr/et:1' run 0 "$query" dump "$uri"
SIMIDX_REDIS_PASSWORD=other run 0 "$query" dump "$uri?password-file=$tmp/password"
with=redis://:se@cr/et:1@127.0.0.1:$closed/x
SIMIDX_REDIS_PASSWORD=other run 0 "$query" dump "$with?password-file=$tmp/later"
echo 00000000000000ff >fp
run 0 "$load" -F lines "$with" fp
cat out err >all
run 0 "$query" verify "$with"
cat out err >>all
run 0 "$query" stats "$with"
cat out err >>all
run 0 "$query" stats --json "$with"
cat out err >>all
refuses 1 'there is no index' "$query" dump "redis://:se@cr/et:1@127.0.0.1:$closed/none"
cat out err >>all
refuses 1 'not for an index of Redis' "$query" pairs "$with"
cat out err >>all
refuses 0 'a bad value' "$query" dump "$with?db=x"
cat out err >>all
grep -F 'se@cr' all && fail 'a password is shown'
grep -qF "redis://:***@127.0.0.1:$closed/x" all || fail "$(cat all)"
refuses 1 'WRONGPASS' "$query" dump "redis://:wrong@127.0.0.1:$closed/x"
grep -F 'wrong@' out err && fail 'a wrong password is shown'
cli closed -a 'se@cr/et:1' --no-auth-warning acl setuser reader on '>pw' '~*' +@read +info >/dev/null
SIMIDX_REDIS_PASSWORD=pw run 0 "$query" search "redis://reader@127.0.0.1:$closed/x" 00000000000000ff
[ -s out ] || fail 'one who may only read finds nothing'
SIMIDX_REDIS_PASSWORD=pw refuses 1 NOPERM "$load" -q -F lines "redis://reader@127.0.0.1:$closed/x" fp
# One of two letters, for which three stars have no room.
run 0 "$query" stats "redis://reader:pw@127.0.0.1:$closed/x"
grep -q "^index  *redis://reader:\*\*@127.0.0.1:$closed/x$" out || fail "a short password: $(cat out)"
# Each of two in one line.
run 2 "$query" dump 'redis://a:1@host redis://b:long@host/y/z'
says 'redis://a:*@host redis://b:***@host/y/z'
end closed

# ---- nobody is there ----

refuses 1 'Connection refused' "$query" dump "$uri"
refuses 1 'No such file' "$query" dump "unix://$tmp/none.sock?name=x"

# ---- keys of others ----

server main
uri=redis://127.0.0.1:$main/x
cli main set '{x}' something >/dev/null
refuses 1 'is no index' "$query" dump "$uri"
refuses 1 'is no index' "$load" -q --create truncate -F lines "$uri" fp
cli main del '{x}' >/dev/null
cli main hset '{x}' some thing >/dev/null
refuses 1 'is no index' "$load" -q -F lines "$uri" fp
cli main del '{x}' >/dev/null
run 0 "$load" -q -F lines "$uri" fp
cli main hset '{x}' simidx 2 >/dev/null
refuses 1 'format 2' "$query" dump "$uri"
cli main hset '{x}' simidx 1 >/dev/null
# damaged FIELD VALUE: of the header.
damaged() {
	local was
	was=$(cli main hget '{x}' "$1")
	cli main hset '{x}' "$1" "$2" >/dev/null
	run 1 "$query" dump "$uri"
	says 'the header of the index "x" is damaged'
	cli main hset '{x}' "$1" "$was" >/dev/null
}
damaged tables 0
damaged tables 33
damaged gen abcde
damaged documents -1
damaged next 18446744073709551616
for next in 9223372036854775807:'there are no more ids' 9223372036854775808:'no id above the largest'; do
	cli main hset '{x}' next "${next%%:*}" >/dev/null
	run 1 "$load" -q -F lines "$uri" fp
	says "${next#*:}"
done
cli main hset '{x}' next 1 >/dev/null
keys=$(keys_of main x)
for key in 0:00000000 d:0000000000000000 b l; do
	cli main rename "$keys$key" saved >/dev/null 2>&1
	cli main xadd "$keys$key" '*' a b >/dev/null
	refuses 1 'holds something else' "$load" -q -F lines "$uri" fp
	cli main del "$keys$key" >/dev/null
	cli main rename saved "$keys$key" >/dev/null 2>&1
	run 0 "$query" verify "$uri"
done
cli main config set maxmemory-policy allkeys-lru >/dev/null
refuses 1 'set that to noeviction' "$query" dump "$uri"
cli main config set maxmemory-policy noeviction >/dev/null

# What begins a commit is lost, as after a day: it is begun again.
run 0 "$load" -q -F lines "$uri-lost" /dev/null
mkfifo rows
"$load" -q --commit 1 -F lines "$uri-lost" - <rows 2>err &
loader=$!
exec 3>rows
echo 0000000000000001 >&3
until_holds "$uri-lost" 1
for key in $(cli main --scan --pattern "$(keys_of main x-lost)w:*"); do
	cli main del "$key" >/dev/null
done
echo 0000000000000002 >&3
exec 3>&-
wait $loader || fail "a commit after a day: $(cat err)"
run 0 "$query" dump "$uri-lost"
[ "$(wc -l <out)" -eq 2 ] || fail "$(wc -l <out) of 2 documents"

# ---- full memory: nothing half there, and searches go on ----

awk 'BEGIN { for (i = 1; i <= 60000; i++) printf "%08x%08x\n", i * 2654435761 % 4294967296, i * 40503 }' >many
cli main config set maxmemory 4mb >/dev/null
refuses 30 'memory is full' "$load" -q -F lines "$uri" many
run 0 "$query" search "$uri" 00000000000000ff
run 0 "$query" verify "$uri"
cli main config set maxmemory 0 >/dev/null
run 0 "$load" -q -F lines "$uri" many

# ---- a server that is stopped ----

kill -STOP "$(cat main.pid)"
refuses 2 'no answer within 1 s' "$query" dump "$uri?timeout=1"
kill -CONT "$(cat main.pid)"
run 0 "$query" search "$uri?timeout=5" 00000000000000ff

# ---- other servers ----

command -v python3 >/dev/null || finish

# fake NAME HOW...: its port is then in $NAME.
fake() {
	local name=$1
	shift
	rm -f "$name.port"
	python3 "$SX_SRCDIR/tests/redis/fake.py" "$@" >"$name.port" 2>/dev/null &
	echo $! >"$name.pid"
	until [ -s "$name.port" ]; do sleep 0.05; done
	declare -g "$name=$(head -1 "$name.port")"
}

# told HOW TEXT: by a look-up, and by a load.
told() {
	fake bad "$1"
	refuses "${3-1}" "$2" "$query" dump "redis://127.0.0.1:$bad/x?timeout=1"
	refuses "${3-1}" "$2" "$load" -q -F lines "redis://127.0.0.1:$bad/x?timeout=1" fp
	end bad
}
told silent 'no answer within 1 s'
told drip 'no answer within 1 s'
told garbage 'does not speak as Redis does'
told huge "127.0.0.1:"
told many 'garbage'
told moved 'the index is on the node 10.1.2.3:6381'
told asks 'the index is on the node 10.1.2.4:6382'
told old 'it is Redis 6.2.1, and 7.0 is needed'
told evicts 'maxmemory-policy is allkeys-lru'
told loading 'still loading'
fake bad replica
refuses 1 'name its master' "$load" -q -F lines "redis://127.0.0.1:$bad/x?timeout=1" fp
end bad

# An answer that repeats what was sent is not shown where that was a password.
fake bad repeats
for user in '' me; do
	refuses 1 "127.0.0.1:$bad: it refuses AUTH" "$query" dump "redis://$user:se@cr/et:1@127.0.0.1:$bad/x?timeout=1"
	grep -F 'se@cr' out err && fail "a password that is repeated is shown, user '$user'"
done
refuses 1 "unknown command 'SELECT'" "$query" dump "redis://127.0.0.1:$bad/x?timeout=1&db=3"
end bad

# Wherever an answer is cut off, an error tells, and nothing is half there: by the whole load, and by a look-up.
head -300 many >some
for at in $(seq 1 "$([ -n "${SIMIDX_LONG-}" ] && echo 37 || echo 450)" 9000); do
	run 0 "$load" -q --create truncate -F lines "redis://127.0.0.1:$main/cut" /dev/null
	fake cut cut "$main" "$at"
	timeout 20 "$load" -q --commit 100 -F lines "redis://127.0.0.1:$cut/cut?timeout=2" some >out 2>err
	status=$?
	end cut
	run 0 "$query" verify "redis://127.0.0.1:$main/cut"
	run 0 "$query" dump "redis://127.0.0.1:$main/cut"
	n=$(wc -l <out)
	[ $status -eq 0 ] && [ "$n" -eq 300 ] && continue
	[ $status -eq 2 ] && [ $((n % 100)) -eq 0 ] || fail "after $at bytes: exit $status and $n documents: $(cat err)"
	failed=yes
done
[ -n "${failed-}" ] || fail 'no load has failed'
finish
