#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
#
# The engine on a gateway that keeps its rows in memory: its functions against a model, a writer that is
# killed at each of its requests, repairs beside writers, batches that are half there, damaged rows,
# writers that race, and the oracle that local indexes pass, too. No HBase is needed.
# shellcheck source=tests/tool/tool_lib.sh
. "$SX_SRCDIR/tests/tool/tool_lib.sh"
tests=$SX_BUILDDIR/tests/hbase
case " ${SX_ENGINES-} " in *' hbase '*) ;; *) skip 'built without --with-hbase' ;; esac

"$tests/fake_gateway" >port 2>/dev/null &
gateway=$!
trap 'kill $gateway; rm -rf "$tmp"' EXIT
until [ -s port ]; do sleep 0.05; done
port=$(cat port)

run 0 timeout 300 "$tests/model" "hbase://127.0.0.1:$port/model" 1
run 0 timeout 300 "$tests/model" "hbase://127.0.0.1:$port/space:model?connections=1" 2
run 0 timeout 300 "$tests/crash" "$port" crash "$([ -n "${SIMIDX_LONG-}" ] && echo 3 || echo 1)" "$load"
run 0 timeout 300 "$tests/beside" "$port" beside
run 0 timeout 300 "$tests/unsure" "$port" unsure
run 0 timeout 300 "$tests/left" "$port" left left_tools "$query"
run 0 timeout 300 "$tests/damage" "$port" damage
# Writers of near-duplicates: never two of a group. Without leases there are some.
for commit in 1 10 100; do
	run 0 timeout 200 "$tests/race" "hbase://127.0.0.1:$port/race" 2 200 $commit
	run 0 timeout 200 "$tests/race" "hbase://127.0.0.1:$port/race" 4 200 $commit
done
run 1 timeout 200 "$tests/race" "hbase://127.0.0.1:$port/race" 2 200 1 unleased
grep -qE '; [0-9]+ stored, [1-9][0-9]* pairs are near$' out || fail "without leases: $(cat out)"
# By the tool, in which each has what the other one wants next: both must come to their end.
awk 'BEGIN { for (i = 1; i <= 600; i++) printf "%08x%08x\n", i * 2654435761 % 4294967296, i * 40503 }' >there
tac there >back
run 0 "$load" -q --mode if-new -F lines "hbase://127.0.0.1:$port/two" /dev/null
for input in there back; do
	timeout 60 "$load" -q --mode if-new --radius 0 --commit 50 -F lines "hbase://127.0.0.1:$port/two" $input &
	loads="${loads-} $!"
done
for one in $loads; do
	wait "$one" || fail 'a load beside another one has failed'
done
run 0 "$query" dump "hbase://127.0.0.1:$port/two"
[ "$(cut -f2 out | sort -u | wc -l)" -eq 600 ] && [ "$(wc -l <out)" -eq 600 ] || fail "$(wc -l out)"
oracle=$SX_BUILDDIR/tests/engine/oracle
if [ -x "$oracle" ]; then
	SIMIDX_TEST_URI="hbase://127.0.0.1:$port/oracle" run 0 timeout 600 "$oracle"
fi
SIMIDX_TEST_URI="hbase://127.0.0.1:$port/tools_" run 0 timeout 600 "$SX_SRCDIR/tests/tool/engine.sh"
[ $failures -eq 0 ] || cat out
finish
