# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
#
# What the programs that draw figures have in common; given to awk before one of them.

# The value of a member of the JSON object on this line; "" if there is none.
function value(name,    at, rest) {
	at = index($0, "\"" name "\":")
	if (!at)
		return ""
	rest = substr($0, at + length(name) + 3)
	sub(/^"/, "", rest)
	sub(/[",}].*/, "", rest)
	return rest
}

function begin(width, height) {
	printf "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\"", width, height
	print " font-family=\"sans-serif\" font-size=\"11\">"
	print "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>"
}

function text(x, y, anchor, what) {
	printf "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">%s</text>\n", x, y, anchor, what
}

# Of line i, from 1.
function colour(i,    all) {
	split("#1b6ca8 #d1495b #2e8b57 #8a5bb5 #c77d00 #008b8b #7a5230 #555555", all, " ")
	return all[(i - 1) % 8 + 1]
}
