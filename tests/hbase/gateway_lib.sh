# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
#
# What tests with fake gateways share, after tests/tool/tool_lib.sh. Gateways that are left are ended with
# the test.
ask=$SX_BUILDDIR/tests/hbase/ask
fake=$SX_BUILDDIR/tests/hbase/fake_gateway
model=$SX_BUILDDIR/tests/hbase/model
[ -x "$ask" ] || skip 'built without --with-hbase'

trap 'kill $(cat "$tmp"/*.pid 2>/dev/null) 2>/dev/null; rm -rf "$tmp"' EXIT

# gateway NAME OPTION...: begin one; its port is then in $NAME, and what it prints in NAME.port.
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
	declare -g "$name=$(head -1 "$name.port")"
}

# end NAME: when this returns, nobody listens there any more.
end() {
	local pid
	pid=$(cat "$1.pid")
	kill "$pid"
	wait "$pid" 2>/dev/null
	rm "$1.pid"
}

# refuses SECONDS CODE TEXT URI [WORD...]: within these seconds, with this error.
refuses() {
	local seconds=$1 code=$2 text=$3 begin=$SECONDS
	shift 3
	timeout $((seconds + 20)) "$ask" "$@" >out 2>err
	[ $? -eq 2 ] || fail "no error: $*"
	[ $((SECONDS - begin)) -le $((seconds + 1)) ] || fail "took $((SECONDS - begin)) s: $*"
	[ ! -s err ] || { fail "a library prints nothing: $*" && cat err; }
	grep -q "$code" out && grep -qF -- "$text" out || { fail "not $code, $text: $*" && cat out err; }
}
