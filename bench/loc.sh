#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
#
# Lines of code, without blank lines and comments, by folder: a column for each tree. Files of C++ (.cc,
# .hh) have rows and a total of their own; the other rows are of C. Usage: loc.sh [TREE...]
set -eu
[ $# -gt 0 ] || set -- "$(dirname "$0")/.."

n=0
for tree; do
	n=$((n + 1))
	(cd "$tree" && find lib include tools tests bench \( -name '*.[ch]' -o -name '*.cc' -o -name '*.hh' \) -exec awk -v tree=$n '
	# What is open at the end of a line: "/", a quote, or nothing.
	FNR == 1 {
		open = ""
		split(FILENAME, part, "/")
		folder = part[1] == "lib" ? part[1] "/" part[2] : part[1]
		if (FILENAME ~ /\.(cc|hh)$/)
			folder = folder ", C++"
	}
	{
		rest = $0
		code = 0
		while (rest != "") {
			if (open == "/") {
				if (!(at = index(rest, "*/")))
					break
				rest = substr(rest, at + 2)
				open = ""
			} else if (open != "") {
				code = 1
				# To the next backslash, with what it escapes, or to the end.
				if (!match(rest, open == "\"" ? "[\\\\\"]" : "[\\\\\047]"))
					break
				if (substr(rest, RSTART, 1) == "\\")
					RSTART++
				else
					open = ""
				rest = substr(rest, RSTART + 1)
			} else {
				if (!match(rest, "/\\*|//|[\"\047]")) {
					code = code || rest ~ /[^ \t\r\f]/
					break
				}
				before = substr(rest, 1, RSTART - 1)
				code = code || before ~ /[^ \t\r\f]/
				start = substr(rest, RSTART, RLENGTH)
				if (start == "//")
					break
				open = substr(start, 1, 1)
				rest = substr(rest, RSTART + RLENGTH)
				code = code || open != "/"
			}
		}
		lines[folder] += code
	}
	END {
		for (folder in lines)
			print tree ":" folder ":" lines[folder]
	}' {} +)
done | awk -F : -v trees=$# '
function row(name, counts,    i, text) {
	text = sprintf("%-17s", name)
	for (i = 1; i <= trees; i++)
		text = text sprintf(" %7d", counts[name, i])
	return text
}
{
	lines[$2, $1] += $3
	folders[$2] = 1
	if ($2 ~ /C\+\+$/) {
		lines["all, C++", $1] += $3
		next
	}
	if ($2 != "include")
		lines["all but include", $1] += $3
	if ($2 ~ /^lib\// && $2 != "lib/text")
		lines["lib but text", $1] += $3
}
END {
	for (folder in folders)
		print row(folder, lines) | "sort"
	close("sort")
	print row("lib but text", lines)
	print row("all but include", lines)
	print row("all, C++", lines)
}'
