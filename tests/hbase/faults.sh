#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
#
# Gateways that are not there, slow, talk something else or break off: a clear error within the
# deadline, and no wrong answer. And bad URIs, several gateways. No HBase is needed.
# shellcheck disable=SC2154 # gateway() sets a variable
# shellcheck source=tests/tool/tool_lib.sh
. "$SX_SRCDIR/tests/tool/tool_lib.sh"
# shellcheck source=tests/hbase/gateway_lib.sh
. "$SX_SRCDIR/tests/hbase/gateway_lib.sh"

# ---- URIs

refuses 0 E_ARG 'no table' 'hbase://host'
refuses 0 E_ARG '"70000" is not a port' 'hbase://host:70000/t'
refuses 0 E_ARG 'a host is missing' 'hbase://a,/t'
refuses 0 E_ARG '"a/b" is not a name of a table' 'hbase://h/a/b'
refuses 0 E_ARG '"n-s" is not a name of a namespace' 'hbase://h/n-s:t'
refuses 0 E_ARG 'there is no option "speed"' 'hbase://h/t?speed=1'
refuses 0 E_ARG '"timeout" has no value' 'hbase://h/t?timeout'
refuses 0 E_ARG 'timeout must be above 0' 'hbase://h/t?timeout=0'
refuses 0 E_ARG 'timeout=1.0005 is not a number of seconds' 'hbase://h/t?timeout=1.0005'
refuses 0 E_ARG 'transport=udp is none of binary' 'hbase://h/t?transport=udp'
refuses 0 E_ARG 'ca is for transport=https' 'hbase://h/t?transport=http&ca=/ca.pem'
refuses 0 E_ARG 'connections=65 is not a number from 1 to 64' 'hbase://h/t?connections=65'
refuses 0 E_ARG 'it does not begin with hbase://' 'redis://h/t'

# ---- Nobody is there

refuses 20 E_IO 'the host is not found' 'hbase://no-such-host.invalid/t'
gateway gone
end gone
refuses 5 E_IO "127.0.0.1:$gone: cannot connect: Connection refused" "hbase://127.0.0.1:$gone/t"

# ---- Somebody else is there. Memory is limited, because sizes are believed at first sight by some.

for how in silent endless; do
	gateway bad $how
	refuses 1 E_IO 'no answer within 1.000 s' "hbase://127.0.0.1:$bad/t?timeout=1"
	end bad
done
for how in framed http; do
	gateway bad $how
	refuses 1 E_IO 'does it speak another transport' "hbase://127.0.0.1:$bad/t?timeout=1"
	end bad
done
# A sanitizer needs more than that for itself.
limit=1000000
(ulimit -v $limit && exec "$query" --version) >/dev/null 2>&1 || limit=unlimited
for how in garbage huge; do
	gateway bad $how
	(ulimit -v $limit && refuses 3 E_IO 'this is no answer of a Thrift2 gateway' \
		"hbase://127.0.0.1:$bad/t?timeout=3" && [ $failures -eq 0 ]) || fail "$how"
	end bad
done
gateway bad large
refuses 3 E_IO "127.0.0.1:$bad: an answer of more than 64 MiB" "hbase://127.0.0.1:$bad/t?timeout=20"
end bad
gateway bad thrift1
refuses 1 E_IO 'a gateway of Thrift 1' "hbase://127.0.0.1:$bad/t"
end bad
gateway bad 'error=org.apache.hadoop.hbase.security.AccessDeniedException: no'
refuses 1 E_PERMISSION 'AccessDeniedException' "hbase://127.0.0.1:$bad/t"
end bad
gateway bad table=foreign
refuses 1 E_NOT_FOUND 'there is no such index' "hbase://127.0.0.1:$bad/t"
refuses 1 E_NOT_INDEX 'a table foreign, which is no index' "hbase://127.0.0.1:$bad/foreign"
refuses 1 E_NOT_INDEX 'a table foreign, which is no index' "hbase://127.0.0.1:$bad/foreign" create
refuses 1 E_NOT_INDEX 'a table foreign, which is no index' "hbase://127.0.0.1:$bad/foreign" truncate
end bad

# An empty table that only has the right name: no index has left it there.
gateway bad table=foreign_docs
refuses 1 E_NOT_INDEX 'a table foreign_docs, which is no index' "hbase://127.0.0.1:$bad/foreign" create
refuses 1 E_NOT_INDEX 'a table foreign_docs, which is no index' "hbase://127.0.0.1:$bad/foreign" truncate
end bad

# ---- Slow, and not ready yet

gateway slow slow=300
refuses 1 E_IO 'no answer within 0.200 s' "hbase://127.0.0.1:$slow/t?timeout=0.2" create
run 0 "$ask" "hbase://127.0.0.1:$slow/t?timeout=5" create put 10 find 10
end slow
gateway starting down=4
run 0 "$ask" "hbase://127.0.0.1:$starting/t" create put 10 find 10
end starting

# ---- Connections that end: idle ones, and in the middle of every 7th answer

gateway idle idle=300
run 0 "$ask" "hbase://127.0.0.1:$idle/t" create put 1000 find 1000 sleep 700 find 1000 sleep 700 put 1000
awk '$1 == "find" && $2 > 250 { print "a new connection took " $2 " ms"; bad = 1 } END { exit bad }' out ||
	fail 'it is not opened anew at once'
end idle
if [ -n "${SIMIDX_LONG-}" ]; then
	# This side does not use what has been idle for 40 s, because a gateway closes it after 60.
	gateway idle log
	run 0 "$ask" "hbase://127.0.0.1:$idle/t?connections=1" create put 10 find 10 sleep 1000 find 10 sleep 45000 find 10
	[ "$(grep -c connected idle.port)" -eq 2 ] || fail "connections: $(grep -c connected idle.port)"
	end idle
fi
gateway half half=7
run 0 timeout 100 "$model" "hbase://127.0.0.1:$half/t?connections=2" 5 faulty
end half

# Each answer to one that drops an index and makes it anew may be lost: it is asked again.
for n in $(seq 6 30); do
	gateway half half="$n"
	run 0 "$ask" "hbase://127.0.0.1:$half/t?connections=1" create put 10
	run 0 "$ask" "hbase://127.0.0.1:$half/t?connections=1" truncate put 10 find 10
	end half
done

# ---- Tables that are gone while a handle is open; HBase says "t" where "default:t" was asked for

mkfifo default
for uri in t default:t; do
	gateway gone
	: >held # not what the last one has printed
	"$ask" "hbase://127.0.0.1:$gone/$uri" create wait find 10 <default >held &
	held=$!
	exec 4>default
	until grep -q open held; do sleep 0.05; done
	end gone
	gateway gone "$gone"
	echo >&4
	wait $held
	exec 4>&-
	grep -qF "find SIMIDX_E_NOT_FOUND: 127.0.0.1:$gone: there is no table t_docs" held || fail "$uri: $(cat held)"
	end gone
done

# ---- Allocations that fail

gateway good
run 0 timeout 100 "$SX_BUILDDIR/tests/hbase/memory" "hbase://127.0.0.1:$good/t?connections=2&timeout=5"
end good

# ---- Large batches, an index that was replaced, repairs beside writers, a gateway that is gone

gateway good
run 0 timeout 100 "$SX_BUILDDIR/tests/hbase/writers" "hbase://127.0.0.1:$good/t" "$(cat good.pid)"
kill -CONT "$(cat good.pid)"
end good

# ---- A gateway that ends after the last commit: nobody knows how many documents there are

echo 00000000000000ff >one
for at in $(seq 80 -1 20); do
	gateway last end=$at
	"$load" -F lines "hbase://127.0.0.1:$last/t?connections=1&timeout=1" one 2>err
	status=$?
	kill "$(cat last.pid)" 2>/dev/null
	rm last.pid
	! grep -q 'could not be asked' err || break
	[ $status -eq 0 ] || break
done
grep -q '^simidx-load: 1 document inserted.*; how many the index has could not be asked$' err ||
	fail "end=$at: $(cat err)"

# ---- A gateway that hangs in a load that is stopped then: it is not asked how many documents there are

mkfifo rows
gateway hangs
hbase="hbase://127.0.0.1:$hangs/t?regions=1&connections=1"
"$load" -F lines --commit 1 "$hbase&write-timeout=2&timeout=4" rows 2>err &
held=$!
exec 3>rows
echo 0000000000000001 >&3
until "$query" search "$hbase" 0000000000000001 >out 2>/dev/null && [ -s out ]; do sleep 0.05; done
kill -STOP "$(cat hangs.pid)"
echo 0000000000000002 >&3
sleep 0.5
kill -TERM $held
exec 3>&-
SECONDS=0
wait $held
status=$?
[ $status -eq 2 ] || fail "exit $status"
# 4 s for how many documents there are before the commit, 2 s for what is given back; no other 4 s.
[ $SECONDS -lt 9 ] || fail "it took $SECONDS s to stop"
grep -q 'stopped by a signal' err || fail "$(cat err)"
kill -CONT "$(cat hangs.pid)"
end hangs

# ---- Several gateways: the first one that answers. This one is gone, that one goes.

gateway one
gateway two
run 0 "$ask" "hbase://127.0.0.1:$two/ns:t" create put 100
run 0 "$ask" "hbase://127.0.0.1:$gone,127.0.0.1:$two/ns:t" find 100
mkfifo line
: >held
"$ask" "hbase://127.0.0.1:$one,127.0.0.1:$two/ns:t" create wait find 100 <line >held &
held=$!
exec 3>line
until grep -q open held; do sleep 0.05; done
end one
echo >&3
wait $held
# The other gateway has an index of that name, too.
grep -q '^find' held || { fail 'the other gateway was not asked' && cat held; }
end two

# One that hangs, after the first use of both: one call waits for half of its time, and the next ones ask the
# other gateway at once. Gateway one begins late, so that there are connections to both.
gateway data
gateway one
end one
gateway two relay="$data"
run 0 "$ask" "hbase://127.0.0.1:$two/t" create put 3000
: >held
"$ask" "hbase://127.0.0.1:$one,127.0.0.1:$two/t?timeout=4" sleep 5100 find 3000 wait find 3000 find 3000 find 10 \
	<line >held &
held=$!
exec 3>line
gateway one relay="$data" "$one"
until grep -q find held; do sleep 0.05; done
kill -STOP "$(cat one.pid)"
sleep 0.5 # all of its threads are to have stopped
echo >&3
wait $held || { fail 'a gateway that hangs was asked again' && cat held; }
awk '$1 == "find" { took[++n] = $2 }
	END { exit !(n == 4 && took[1] < 1000 && took[2] >= 2000 && took[3] < 1000 && took[4] < 1000) }' held ||
	{ fail 'one call waits for a gateway that hangs' && cat held; }
kill -CONT "$(cat one.pid)"
for name in one two data; do end $name; done

# One that has never answered costs 2 s and not half of the time, also where the other one needs longer than
# that for its first answer; and where all are silent, each is asked in turn until the time is over.
gateway mute silent
gateway good
run 0 "$ask" "hbase://127.0.0.1:$good/t" create put 10
began=$SECONDS
run 0 "$ask" "hbase://127.0.0.1:$mute,127.0.0.1:$good/t?timeout=60" find 10
[ $((SECONDS - began)) -lt 20 ] || fail "a silent gateway cost $((SECONDS - began)) s"
# A load opens the index several times, and waits for it once. Milliseconds, as it is 2 s of 4.
echo 00000000000000ff >one
began=$(date +%s%3N)
run 0 "$load" -q --create if-missing -F lines "hbase://127.0.0.1:$mute,127.0.0.1:$good/loaded" one
took=$(($(date +%s%3N) - began))
[ $took -ge 1900 ] && [ $took -lt 3800 ] || fail "a silent gateway cost a load $took ms"
end good
gateway slow slow=2500
refuses 30 E_NOT_FOUND 'there is no such index' "hbase://127.0.0.1:$mute,127.0.0.1:$slow/t?timeout=60"
end slow
refuses 3 E_IO 'no answer within 3.000 s' "hbase://127.0.0.1:$mute,127.0.0.1:$mute/t?timeout=3"
# The tools do not ask it a second time.
echo 00000000000000ff >one
began=$SECONDS
run 2 "$load" -F lines "hbase://127.0.0.1:$mute/t?timeout=6" one
says 'no answer within 6.000 s'
[ $((SECONDS - began)) -lt 11 ] || fail "two times the timeout: $((SECONDS - began)) s"
end mute

# ---- An answer that comes twice is not taken for that of the next request. That one is asked again; but
# where each retry meets another one, it is told.

for nth in 4 7 8 11; do
	gateway twice twice=$nth
	"$ask" "hbase://127.0.0.1:$twice/t?connections=1&timeout=2" create put 10 find 10 >out 2>err ||
		grep -q 'it has the number of another request' out || fail "twice=$nth"
	end twice
done

# ---- A table that is named and not there yet, as another process makes it, is waited for

gateway late late=3
run 0 "$ask" "hbase://127.0.0.1:$late/t?timeout=10" create put 10 find 10
end late

# ---- A host with two addresses, of which the first one never answers

run 0 timeout 20 "$SX_BUILDDIR/tests/hbase/addresses"

finish
