#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
#
# The engine in memory with conditions of commits: searches are those of a linear scan, and changes those of
# a directory, where nobody else writes.
# shellcheck source=tests/tool/tool_lib.sh
. "$SX_SRCDIR/tests/tool/tool_lib.sh"
oracle=$SX_BUILDDIR/tests/engine/oracle
[ -x "$oracle" ] || skip 'built without the tests in C'

for suite in engine_oracle engine_twins; do
	SIMIDX_TEST_URI='memory://test?conditions' CK_RUN_SUITE=$suite run 0 timeout 140 "$oracle"
done
[ $failures -eq 0 ] || cat out
finish
