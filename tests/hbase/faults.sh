#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
#
# Gateways that are not there, slow, talk something else or break off: a clear error within the
# deadline, and no wrong answer. And bad URIs, other transports, several gateways. No HBase is needed.
# The port of each gateway is in a variable of its name, which gateway() sets.
# shellcheck disable=SC2154
# shellcheck source=tests/tool/tool_lib.sh
. "$SX_SRCDIR/tests/tool/tool_lib.sh"
ask=$SX_BUILDDIR/tests/hbase/ask
fake=$SX_BUILDDIR/tests/hbase/fake_gateway
model=$SX_BUILDDIR/tests/hbase/model
[ -x "$ask" ] || skip 'built without --with-hbase'

trap 'kill $(cat "$tmp"/*.pid 2>/dev/null) 2>/dev/null; rm -rf "$tmp"' EXIT

# gateway NAME OPTION...: begin one; its port is then in $NAME.
gateway() {
	local name=$1
	shift
	rm -f "$name.port"
	"$fake" "$@" >"$name.port" 2>/dev/null &
	echo $! >"$name.pid"
	for _ in $(seq 100); do
		[ -s "$name.port" ] && break
		sleep 0.05
	done
	declare -g "$name=$(cat "$name.port")"
}

end() {
	kill "$(cat "$1.pid")"
	rm "$1.pid"
}

# refuses SECONDS CODE TEXT URI [WORD...]: within these seconds, with this error.
refuses() {
	local seconds=$1 code=$2 text=$3 begin=$SECONDS
	shift 3
	timeout $((seconds + 20)) "$ask" "$@" >out 2>err
	[ $? -eq 2 ] || fail "no error: $*"
	[ $((SECONDS - begin)) -le $((seconds + 1)) ] || fail "took $((SECONDS - begin)) s: $*"
	grep -q "$code" out && grep -qF -- "$text" out || { fail "not $code, $text: $*" && cat out err; }
}

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
refuses 0 E_ARG 'https is not supported by this build' 'hbase://h/t?transport=https'
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
for how in garbage huge; do
	gateway bad $how
	(ulimit -v 1000000 && refuses 3 E_IO 'this is no answer of a Thrift2 gateway' \
		"hbase://127.0.0.1:$bad/t?timeout=3" && [ $failures -eq 0 ]) || fail "$how"
	end bad
done
gateway bad large
refuses 3 E_IO 'an answer of more than 64 MiB' "hbase://127.0.0.1:$bad/t?timeout=20"
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
gateway half half=7
run 0 timeout 100 "$model" "hbase://127.0.0.1:$half/t?connections=2" 5 faulty
end half

# ---- Large batches, an index that was replaced, repairs beside writers, a gateway that is gone

gateway good
run 0 timeout 100 "$SX_BUILDDIR/tests/hbase/writers" "hbase://127.0.0.1:$good/t" "$(cat good.pid)"
kill -CONT "$(cat good.pid)"
end good

# ---- Other transports

gateway http http
run 0 timeout 100 "$model" "hbase://127.0.0.1:$http/t?transport=http" 3 faulty
end http
gateway framed framed
refuses 1 E_UNSUPPORTED 'a framed gateway cannot make tables of several regions' \
	"hbase://127.0.0.1:$framed/t?transport=framed" create
run 0 timeout 100 "$model" "hbase://127.0.0.1:$framed/t?transport=framed&regions=1" 3
end framed

# ---- Several gateways: the first one that answers. This one is gone, that one goes.

gateway one
gateway two
run 0 "$ask" "hbase://127.0.0.1:$two/ns:t" create put 100
run 0 "$ask" "hbase://127.0.0.1:$gone,127.0.0.1:$two/ns:t" find 100
mkfifo line
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

finish
