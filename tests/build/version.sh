#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
#
# Fails unless every place that tells the version tells the same one, and so with its date.
set -eu
status=0

expect() {
	if [ "$2" != "$SX_VERSION" ]; then
		echo "$1: '$2', not '$SX_VERSION'"
		status=1
	fi
}

number() {
	sed -n "s/^#define SIMIDX_VERSION_$1 \([0-9]*\)$/\1/p" "$SX_SRCDIR/include/simidx.h"
}

expect 'numbers in simidx.h' "$(number MAJOR).$(number MINOR).$(number PATCH)"
for pc in lib/libsimidx.pc lib/text/libsimidx-text.pc lib/dedup/libsimidx-dedup.pc; do
	expect $pc "$(sed -n 's/^Version: //p' "$SX_BUILDDIR/$pc")"
done
for tool in simidx-dedup simidx-load simidx-query; do
	expect $tool "$("$SX_BUILDDIR/tools/$tool" --version | sed -n '1s/.* \([0-9][0-9.]*\).*/\1/p')"
done
# The date of the changelog is that of the manual pages, which all but this one are made with.
date=$(sed -n '/^## /{s/.*(\(.*\))/\1/;s/.* //;p;q;}' "$SX_SRCDIR/CHANGELOG.md")
shown=$(LC_ALL=C date -d "$date" '+%B %-d, %Y')
if ! grep -qx "\.Dd $shown" "$SX_SRCDIR/doc/simidx.3"; then
	echo "simidx.3: another date than $shown, that of CHANGELOG.md"
	status=1
fi
exit $status
