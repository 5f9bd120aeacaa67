#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
#
# Lists lines of more than 100 columns, with tabs of 8, and comments that begin after code and go on
# after the code of the next line. Fails when there is one.
# Usage: lines.sh [TREE]
set -eu
cd "${1:-${SX_SRCDIR:-.}}"
max=100

files=$(find lib include tools tests bench examples python -name '*.[ch]' -o -name '*.cc' -o -name '*.hh' | sort)
[ -n "$files" ]

# Columns are characters: bytes of UTF-8 that go on are not counted. A comment of one line that ends in
# a comma, a colon or "and", or below which one begins with "and" or "or", is taken for a first half.
# shellcheck disable=SC2086
LC_ALL=C awk -v max=$max '
function columns(line,    n, i, part, parts) {
	gsub(/[\200-\277]/, "", line)
	parts = split(line, part, "\t")
	for (i = 1; i <= parts; i++) {
		n += length(part[i])
		if (i < parts)
			n += 8 - n % 8
	}
	return n
}

# The text of a comment that stands after code and ends in its line, or "".
function after_code(line,    text) {
	if (line ~ /^[ \t]*\/\*/ || line !~ /[ \t;,({})]\/\*.*\*\/$/)
		return ""
	text = line
	sub(/.*[ \t;,({})]\/\*[*!<]* */, "", text)
	sub(/ *\*\/$/, "", text)
	return text
}

# Whether the second of two such comments, one below the other, is the rest of the first.
function goes_on(text, below) {
	return text ~ /([,:;(]| (and|or|nor))$/ || below ~ /^(and|nor|but|or [a-z])/
}

function told(line, what) {
	print FILENAME ":" line ": " what
	failures++
}

FNR == 1 { before = "" }
{
	n = columns($0)
	if (n > max) {
		told(FNR, n " columns")
		long++
	}
	text = after_code($0)
	if (before != "" && text != "" && goes_on(before, text)) {
		told(FNR - 1, "a comment goes on after the code of the next line")
		cut++
	}
	before = text
}
END {
	printf "%d lines are too long, %d comments are in two lines of code\n", long, cut
	exit failures > 0
}
' $files
