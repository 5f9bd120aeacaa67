#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
#
# The break tests of the Unicode Standard: skipped where their file is not, as tests/unit/run
# passes over them then.
set -eu

[ -n "${SX_TEXT-}" ] || { echo 'skipped: built without text support'; exit 77; }
file=${SIMIDX_WORD_BREAK_TEST-/usr/share/unicode/auxiliary/WordBreakTest.txt}
if [ ! -r "$file" ]; then
	echo "skipped: no $file: install the package unicode-data, or get the file from"
	echo "unicode.org and have SIMIDX_WORD_BREAK_TEST name it"
	exit 77
fi
ran=$(CK_RUN_SUITE=text_ascii CK_RUN_CASE=test_unicode_break_tests "$SX_BUILDDIR/tests/unit/run") || {
	echo "$ran"
	exit 1
}
case $ran in
*'100%: Checks: 1,'*) ;;
*) echo "$ran"; exit 1 ;;
esac
