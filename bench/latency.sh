#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
#
# Measures what doc/latency.svg shows, and prints the lines that it is drawn from: results/README.md
# in this folder.
set -euo pipefail
src=$(cd "$(dirname "$0")" && pwd)

usage='usage: latency.sh [OPTIONS] >latency.jsonl
Measure single queries of the library and of what it competes with, for growing numbers of
documents. Prints JSON lines; the first one names commit and date.
  --bench DIR      where the programs are (bench)
  --dir DIR        for indexes (.)
  --documents LIST sizes (10000,100000,1000000,10000000,100000000)
  --queries N      distinct ones (100000)
  --rounds N       (5)
  --mih PROGRAM    what bench/mih.sh has built; without it mih-rs is left out
  --help
Memory: 16 GB at 10^8 documents, with mih-rs 20 GB. The environment variable BN_RUN may start the
programs, such as "taskset -c 1".'

bench=bench dir=. sizes=10000,100000,1000000,10000000,100000000 queries=100000 rounds=5 mih=''
while [ $# -gt 0 ]; do
	[ "$1" != --help ] || { echo "$usage" && exit 0; }
	[ $# -ge 2 ] || { echo "latency.sh: $1: see --help" >&2 && exit 2; }
	case $1 in
	--bench) bench=$2 ;;
	--dir) dir=$2 ;;
	--documents) sizes=$2 ;;
	--queries) queries=$2 ;;
	--rounds) rounds=$2 ;;
	--mih) mih=$2 ;;
	*) echo "latency.sh: $1: see --help" >&2 && exit 2 ;;
	esac
	shift 2
done

printf '{"figure":"latency","commit":"%s","date":"%s"}\n' \
	"$(git -C "$src" describe --always --dirty 2>/dev/null || echo unknown)" "$(date -u +%F)"
for n in ${sizes//,/ }; do
	# One after the other: together they need more memory.
	for who in simidx,arrays,scan probes ${mih:+mih-rs}; do
		# shellcheck disable=SC2086 # words of a command
		${BN_RUN-} "$bench/bn_search" --documents "$n" --dir "$dir" --queries "$queries" \
			--rounds "$rounds" --work single --only "$who" ${mih:+--peers "$mih"}
	done
done
