#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
#
# README's comparison: libsimidx and what else finds all fingerprints within 3 bits, in turns.
set -euo pipefail
peers=$(cd "$(dirname "$0")" && pwd)
src=${peers%/bench/peers}

usage='usage: search.sh [OPTIONS]
Search random fingerprints with libsimidx and with what is installed of the others, by bench/bn_search: in
turns, the same documents and queries, all answers compared. Prints a table in Markdown: the CPU time of one
query, of client and server together, the median of the rounds, and bytes a document.
  --documents LIST  sizes (100000,1000000)
  --queries N       distinct ones (100000); what is slow takes the first 20,000, 1,000, 500 or 200
  --rounds N        (5)
  --only LIST       contestants, by the names in the table (all)
  --bench DIR       where bn_search is (bench)
  --dir DIR         for indexes, and a folder "peers" with the programs, which stays (.)
  --lines FILE      where the JSON lines go (DIR/peers/lines.jsonl)
  --help
What takes part:
  mih-rs           needs cargo, which fetches it
  faiss-multihash, faiss-flat   libfaiss-dev and a C++ compiler. Debian compiles Faiss for any CPU; with
                   FAISS_SOURCE=FOLDER, source of the same version, its binary indexes are compiled for this one
  sqlite           libsqlite3-dev
  redis            redis-server, libhiredis-dev
  1e0ng-simhash    pip install simhash
What is not installed, or needs more than 16 GiB or 30 minutes to build its index, is named and left out. The
environment variable BN_RUN may start the programs, such as "taskset -c 1".'

bench=bench dir=. sizes=100000,1000000 queries=100000 rounds=5 lines='' only=''
while [ $# -gt 0 ]; do
	[ "$1" != --help ] || { echo "$usage" && exit 0; }
	[ $# -ge 2 ] || { echo "search.sh: $1: see --help" >&2 && exit 2; }
	case $1 in
	--bench) bench=$2 ;;
	--dir) dir=$2 ;;
	--documents) sizes=$2 ;;
	--queries) queries=$2 ;;
	--rounds) rounds=$2 ;;
	--only) only=$2 ;;
	--lines) lines=$2 ;;
	*) echo "search.sh: $1: see --help" >&2 && exit 2 ;;
	esac
	shift 2
done
to=$dir/peers
lines=${lines:-$to/lines.jsonl}
mkdir -p "$to"
names='' programs=''
printf '{"figure":"peers","commit":"%s","date":"%s"}\n' \
	"$(git -C "$src" describe --always --dirty 2>/dev/null || echo unknown)" "$(date -u +%F)" >"$lines"

# add NAME NEEDS COMMAND...: a contestant, if the command succeeds; its program is $to/NAME or $program.
add() {
	local name=$1 needs=$2 program=$to/$1

	[ -z "$only" ] || [[ ,$only, == *,$name,* ]] || return 0
	shift 2
	if "$@" >"$to/$name.log" 2>&1; then
		names=$names,$name programs=$programs,$program
	else
		echo "{\"contestant\":\"$name\",\"skipped\":\"needs $needs: $name.log\"}" >>"$lines"
	fi
}

flags=(-O3 -march=native -I "$src/include" -I "$src/bench")
common() {
	local file

	for file in "$peers/peer.c" "$src"/bench/bn_{pass,rival,util}.c; do
		"${CC:-cc}" "${flags[@]}" -c -o "$to/$(basename "$file" .c).o" "$file"
	done
}
objects=("$to"/{peer,bn_pass,bn_rival,bn_util}.o)

build_c() { # NAME LIBRARY...
	"${CC:-cc}" "${flags[@]}" -o "$to/$1" "$peers/$1.c" "${objects[@]}" "${@:2}" -pthread
}

build_faiss() { # NAME FLAG...
	local native=()

	[ -z "${FAISS_SOURCE-}" ] ||
		native=("$FAISS_SOURCE"/faiss/{IndexBinary{Flat,Hash},utils/hamming}.cpp)
	"${CXX:-c++}" "${flags[@]}" "${@:2}" -fopenmp -o "$to/$1" "$peers/faiss.cc" "${native[@]}" \
		"${objects[@]}" -lfaiss -llapack -lblas
}

build_mih() { "$src/bench/mih.sh" "$to/mih" && ln -sf mih/target/release/mih-rs "$to/mih-rs"; }
build_redis() { command -v redis-server && build_c redis -lhiredis; }
build_python() { python3 -c 'import simhash' && ln -sf "$peers/1e0ng-simhash.py" "$to/1e0ng-simhash"; }

common
add mih-rs cargo build_mih
add faiss-multihash libfaiss-dev build_faiss faiss-multihash
add faiss-flat libfaiss-dev build_faiss faiss-flat -DFLAT
add sqlite libsqlite3-dev build_c sqlite -lsqlite3
add redis 'redis-server and libhiredis-dev' build_redis
add 1e0ng-simhash 'pip install simhash' build_python

for n in ${sizes//,/ }; do
	# shellcheck disable=SC2086 # words of a command
	${BN_RUN-} "$bench/bn_search" --documents "$n" --dir "$dir" --queries "$queries" \
		--rounds "$rounds" --work single --only "${only:-simidx,scan$names}" \
		--peers "${programs#,}" >>"$lines"
done
awk -f "$peers/table.awk" "$lines"
