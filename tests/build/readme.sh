#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
#
# README.md and the pages in doc/: what they link to is there, their shell sessions print what they
# show, and their C programs compile without warnings. doc/text-quality.md is left to bench.sh,
# because it runs benchmarks.
set -eu
cd "$SX_SRCDIR"
status=0

if grep -n '@[A-Z_]*@' README.md; then
	echo 'README.md has a place that was not filled in'
	status=1
fi
for page in *.md */*.md */*/README.md; do
	for link in $(grep -o '](\([^)#:]*\)[)#]' "$page" | tr -d ']()#'); do
		[ -e "$(dirname "$page")/$link" ] || {
			echo "$page links to $link, which is not there"
			status=1
		}
	done
	# Headings that are linked to, by the names that they have in HTML.
	for anchor in $(grep -o ']([^):]*#[^)]*)' "$page" | tr -d ']()'); do
		target=${anchor%%#*}
		[ -z "$target" ] && target=$page || target=$(dirname "$page")/$target
		sed -n 's/^##* *//p' "$target" | tr 'A-Z ' 'a-z-' | tr -cd 'a-z0-9_\n-' |
			grep -qxF -- "${anchor#*#}" || {
			echo "$page: no heading $anchor"
			status=1
		}
	done
done

for option in TEXT JSON ZLIB ZSTD; do
	variable=SX_$option
	[ -n "${!variable-}" ] || {
		echo "skipped: the sessions of documents need a build with everything; SX_$option is not set"
		[ $status -ne 0 ] || status=77
		exit $status
	}
done
documents=$(find README.md doc -name '*.md' ! -name text-quality.md | sort)
# shellcheck disable=SC2086 # a list
bash tests/build/sessions.sh $documents || status=1
# No session may stand on one that is left out where a program is missing.
# shellcheck disable=SC2046 # a list
bash tests/build/sessions.sh --bare $(grep -l '^```console needs' $documents) || status=1
exit $status
