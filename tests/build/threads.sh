#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
#
# Data races of simidx-dedup: its scripts run with a build under the thread sanitizer, whose reports
# change the exit status that they expect. Only in `make check-long`, as it takes minutes.
set -eu
skip() {
	echo "skipped: $*"
	exit 77
}
[ -n "${SIMIDX_LONG:-}" ] || skip 'only in make check-long'
printf 'int main(void) { return 0; }\n' |
	gcc -fsanitize=thread -x c - -o /dev/null 2>/dev/null || skip 'there is no thread sanitizer'

# What make was called with is not for the build here.
unset MAKEFLAGS MFLAGS MAKEOVERRIDES
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
source=$(cd "$SX_SRCDIR" && pwd)
cd "$tmp"
"$source/configure" -q --with-sanitizer=thread --disable-static
make -s
SIMIDX_LONG='' make -s check VERBOSE=1 \
	TESTS='tests/tool/dedup.sh tests/tool/dedup_fps.sh tests/tool/dedup_stream.sh'
CK_RUN_SUITE=dd_texts tests/unit/run
CK_RUN_SUITE=dd_shingles tests/unit/run
