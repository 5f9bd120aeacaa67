#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
#
# Installs the packages that libsimidx needs (apt-get, with sudo unless root), builds it in
# build/, indexes every /usr/share/doc/*/copyright of this machine and shows which of these
# texts have the most near-duplicates.
set -eu
cd "$(dirname "$0")"
. ./.ci/build.sh

index=build/copyright.simidx
files=build/copyright.files
matches=build/copyright.matches

# show_groups MIN GROUPS: of a search for every file, show the files with the most matches at
# distance MIN or more, each with all its matches. A file that was shown as a match of another
# is not shown again.
show_groups() {
	awk -F '\t' -v min="$1" -v groups="$2" -v width=92 -v most=30 '
	function package(path) {
		sub(/\/copyright$/, "", path)
		sub(/.*\//, "", path)
		return path
	}
	function show(distance, names, n,    name, line, i) {
		line = sprintf("  distance %d:", distance)
		split(names, name, " ")
		for (i = 1; i <= n && i <= most; i++) {
			if (length(line) + 1 + length(name[i]) > width) {
				print line
				line = sprintf("%13s", "")
			}
			line = line " " name[i]
		}
		print line (n > most ? " and " n - most " more" : "")
	}
	# query, id, fingerprint, distance, label
	$1 != $5 {
		query = package($1)
		total[query]++
		if ($4 >= min)
			score[query]++
		n[query, $4]++
		names[query, $4] = names[query, $4] " " package($5)
		match_of[query, total[query]] = package($5)
	}
	END {
		for (g = 0; g < groups; g++) {
			best = ""
			for (query in score)
				if (!(query in seen) && (best == "" || score[query] > score[best] ||
				    score[query] == score[best] && query < best))
					best = query
			if (best == "")
				break
			printf "\n%s: %d near-duplicate%s\n", best, total[best],
				(total[best] == 1 ? "" : "s")
			for (d = 0; d <= 3; d++)
				if ((best, d) in n)
					show(d, names[best, d], n[best, d])
			seen[best] = 1
			for (i = 1; i <= total[best]; i++)
				seen[match_of[best, i]] = 1
		}
		if (!g)
			print "none on this machine"
	}' $matches
}

install_packages
build build

find -L /usr/share/doc -mindepth 2 -maxdepth 2 -name copyright -type f | sort >$files
if [ ! -s $files ]; then
	echo 'There is no /usr/share/doc/*/copyright on this machine.' >&2
	exit 1
fi

say "Indexing $(wc -l <$files) texts, /usr/share/doc/*/copyright"
build/tools/simidx-load --create truncate --files-from $files $index

# Every text finds itself, so there is a match for each of them.
xargs -d '\n' build/tools/simidx-query $index search -k 3 --text <$files >$matches ||
	[ -s $matches ]

echo
echo 'Packages whose copyright texts have the most near-duplicates, within 3 of 64 bits'
show_groups 0 4

echo
echo 'Those with the most that are not just the same text again, distance 1 or more'
show_groups 1 6

echo
echo 'To look further:'
cat <<EOF
build/tools/simidx-query $index search --text $(head -n 1 $files)
build/tools/simidx-query $index stats
build/tools/simidx-query --help
EOF
