# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
#
# A table in Markdown of what search.sh has measured: a line for each contestant, a column for each
# number of documents. Of runs of the same size the last one counts:
#   awk -f bench/peers/table.awk LINES...

# Of a member of the JSON object.
function value(name,    at) {
	at = index($0, "\"" name "\":")
	if (!at)
		return ""
	at = substr($0, at + length(name) + 3)
	sub(/^"/, "", at)
	sub(/[",}].*/, "", at)
	return at
}

function number(x,    text) {
	x += 0
	if (x < 10)
		return sprintf("%.2f", x)
	if (x < 100)
		return sprintf("%.1f", x)
	text = sprintf("%.0f", x)
	return x < 1000 ? text : substr(text, 1, length(text) - 3) "," substr(text, length(text) - 2)
}

function power(n,    text) {
	text = sprintf("%d", n)
	return text ~ /^10*$/ ? "10^" (length(text) - 1) : text
}

function line(name,    j) {
	printf "| %s |", name
	for (j = 1; j <= n_sizes; j++)
		if ((name, size[j]) in us)
			printf " %s (%.0f) |", number(us[name, size[j]]), bytes[name, size[j]]
		else
			printf " - |"
	print ""
}

value("skipped") {
	skipped[value("contestant")] = $0
	sub(/.*"skipped":"/, "", skipped[value("contestant")])
	sub(/"}$/, "", skipped[value("contestant")])
}
value("bytes_per_document") { bytes[value("contestant"), value("documents")] = value("bytes_per_document") }
value("work") == "single" {
	who = value("contestant")
	documents = value("documents")
	if (!(who in seen))
		name[++n_names] = who
	seen[who] = 1
	if (!(documents in has_size))
		size[++n_sizes] = documents
	has_size[documents] = 1
	us[who, documents] = value("us")
}

END {
	printf "| us a query (bytes a document) |"
	for (j = 1; j <= n_sizes; j++)
		printf " %s |", power(size[j])
	printf "\n|---|"
	for (j = 1; j <= n_sizes; j++)
		printf "---|"
	print ""
	for (i = 1; i <= n_names; i++)
		if (name[i] ~ /^simidx/)
			line(name[i])
	for (i = 1; i <= n_names; i++)
		if (name[i] !~ /^simidx/)
			line(name[i])
	for (who in skipped)
		if (!(who in seen))
			print "\nLeft out: " who ", " skipped[who]
}
