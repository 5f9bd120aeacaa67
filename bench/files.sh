#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
#
# How many source files of the library a search passes through: README.md in this folder.
set -eu
src=$(cd "$(dirname "$0")/.." && pwd)
usage='usage: files.sh [--build DIR | --program FILE]
Count the instructions of searches by source file of the library.
  --build DIR     a build directory that was configured with
                  --disable-shared CFLAGS="-O2 -g" (a new one, removed afterwards)
  --program FILE  a bn_index that was built like this
  --documents N   to search (200000)
  --queries N     how many searches (20000)
  --help'

build='' program='' documents=200000 queries=20000
while [ $# -gt 0 ]; do
	case $1 in
	--help) echo "$usage" && exit 0 ;;
	esac
	[ $# -ge 2 ] || { echo "files.sh: $1: see --help" >&2 && exit 2; }
	case $1 in
	--build) build=$2 ;;
	--program) program=$2 ;;
	--documents) documents=$2 ;;
	--queries) queries=$2 ;;
	*) echo "files.sh: $1: see --help" >&2 && exit 2 ;;
	esac
	shift 2
done
command -v valgrind >/dev/null || {
	echo 'files.sh: valgrind is not there' >&2
	exit 1
}

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
if [ -z "$program" ]; then
	if [ -z "$build" ]; then
		build=$tmp/build
		mkdir "$build"
		(cd "$build" && "$src/configure" -q --disable-shared CFLAGS='-O2 -g') >&2
	fi
	make -s -C "$build" bench/bn_index >&2
	program=$build/bench/bn_index
fi

# What is collected is in measured_pass(), which the compiler may have given a suffix.
valgrind --tool=callgrind --callgrind-out-file="$tmp/out" --collect-atstart=no \
	--toggle-collect='measured_pass*' --compress-strings=no --compress-pos=no \
	"$program" --documents "$documents" --queries "$queries" --plan 4x16 "$tmp/index" \
	>"$tmp/said" 2>"$tmp/errors" || {
	cat "$tmp/errors" >&2
	exit 1
}

# The cost behind a line "calls=" is that of the function that is called, and counted there.
awk -v queries="$queries" -v share=0.5 '
/^(fl|fi|fe)=/ {
	file = substr($0, 4)
	ours = match(file, /(^|\/)lib\/[a-z]+\/sx_[a-z0-9_]+\.[ch]$/)
	if (ours) {
		file = substr(file, RSTART)
		sub(/^\//, "", file)
	}
	next
}
/^calls=/ { called = 1; next }
/^[0-9]+ [0-9]+$/ {
	if (!called) {
		sum += $2
		if (ours && $2 > 0) {
			count[file] += $2
			lib += $2
		}
	}
	called = 0
}
END {
	if (!lib) {
		print "files.sh: no instruction of lib: is there debug information?"
		exit 1
	}
	for (file in count) {
		percent = 100 * count[file] / lib
		printf "%6.2f %% %8.0f  %s\n", percent, count[file] / queries, file | "sort -rn"
		touched++
		passed += percent >= share
	}
	close("sort -rn")
	printf "instructions a query: %.0f of lib, %.0f in all\n", lib / queries, sum / queries
	printf "files of lib with %s %% or more of its instructions: %d, touched: %d\n", share,
		passed, touched
}' "$tmp/out"
