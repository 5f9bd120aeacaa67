#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
#
# An index on a redis-server: searches are those of a linear scan, changes those of a directory, many
# writers never store two near documents, and the tools do what they do with a directory. A call of the
# script takes less than 5 ms.
# shellcheck source=tests/tool/tool_lib.sh
. "$SX_SRCDIR/tests/tool/tool_lib.sh"
# shellcheck source=tests/redis/redis_lib.sh
. "$SX_SRCDIR/tests/redis/redis_lib.sh"

server main
oracle=$SX_BUILDDIR/tests/engine/oracle
if [ -x "$oracle" ]; then
	for suite in engine_oracle engine_twins engine_crowd; do
		SIMIDX_TEST_URI="redis://127.0.0.1:$main/oracle" CK_RUN_SUITE=$suite run 0 timeout 600 "$oracle"
	done
	[ $failures -eq 0 ] || cat out
	each=$(cli main info commandstats | sed -n 's/^cmdstat_evalsha:.*usec_per_call=\([0-9]*\).*/\1/p')
	[ "$each" -lt 5000 ] || fail "a call of the script takes $each us"
fi
SIMIDX_TEST_URI="redis://127.0.0.1:$main/tools_" run 0 timeout 600 "$SX_SRCDIR/tests/tool/engine.sh"
[ $failures -eq 0 ] || cat out
finish
