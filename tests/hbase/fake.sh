#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
#
# The engine on a gateway that keeps its rows in memory: its functions against a model, a writer that is
# killed at each of its requests, repairs beside writers, writers that race, and the oracle that local
# indexes pass, too. No HBase is needed.
# shellcheck source=tests/tool/tool_lib.sh
. "$SX_SRCDIR/tests/tool/tool_lib.sh"
tests=$SX_BUILDDIR/tests/hbase
[ -n "${SX_HBASE-}" ] || skip 'built without --with-hbase'

"$tests/fake_gateway" >port 2>/dev/null &
gateway=$!
trap 'kill $gateway; rm -rf "$tmp"' EXIT
until [ -s port ]; do sleep 0.05; done
port=$(cat port)

run 0 timeout 100 "$tests/model" "hbase://127.0.0.1:$port/model" 1
run 0 timeout 100 "$tests/model" "hbase://127.0.0.1:$port/space:model?connections=1" 2
run 0 timeout 100 "$tests/crash" "$port" crash "$([ -n "${SIMIDX_LONG-}" ] && echo 3 || echo 1)" "$load"
run 0 timeout 100 "$tests/beside" "$port" beside
# Writers of near-duplicates: never two of a group. Without leases there are some.
for commit in 1 10 100; do
	run 0 timeout 60 "$tests/race" "hbase://127.0.0.1:$port/race" 2 200 $commit
	run 0 timeout 60 "$tests/race" "hbase://127.0.0.1:$port/race" 4 200 $commit
done
run 1 timeout 60 "$tests/race" "hbase://127.0.0.1:$port/race" 2 200 1 unleased
oracle=$SX_BUILDDIR/tests/engine/oracle
if [ -x "$oracle" ]; then
	SIMIDX_TEST_URI="hbase://127.0.0.1:$port/oracle" run 0 timeout 140 "$oracle"
fi
SIMIDX_TEST_URI="hbase://127.0.0.1:$port/tools_" run 0 timeout 200 "$SX_SRCDIR/tests/tool/engine.sh"
[ $failures -eq 0 ] || cat out
finish
