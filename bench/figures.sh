#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
#
# Measures the figures of bench/figures.goals and prints them beside their goals: --help and
# README.md in this folder.
set -euo pipefail
src=$(cd "$(dirname "$0")" && pwd)

usage='usage: figures.sh [OPTIONS]
Measure the figures of searches and print them beside their goals.
  --dir DIR        for indexes, and figures.jsonl with all that was measured (.)
  --bench DIR      where the programs are (bench)
  --documents LIST sizes (1000000,10000000,100000000)
  --runs N         of each program (3)
  --rounds N       in each run (5)
  --queries N      distinct ones (100000)
  --parts LIST     uniform, kernels, threads, cold, weighted, rows, mih, live, clustered,
                   hot16, hot5m, equal, blocks3 (all)
  --plans LIST     of the skewed sets: 4x16,3x22 (both)
  --mih PROGRAM    what bench/mih.sh has built
  --threshold N    bn_live --threshold
  --writer-cpu N   bn_live --writer-cpu
  --keep           leave indexes there, and use those that are
  --help
What the programs are started by may be in the environment: BN_RUN, such as "taskset -c 1", and
for two threads and for an index that changes BN_RUN_THREADS and BN_RUN_LIVE.'

dir=. bench=bench sizes=1000000,10000000,100000000 runs=3 rounds=5 queries=100000 plans=4x16,3x22
parts=uniform,kernels,threads,cold,weighted,rows,mih,live,clustered,hot16,hot5m,equal,blocks3
mih='' keep='' live=()
while [ $# -gt 0 ]; do
	case $1 in
	--help) echo "$usage" && exit 0 ;;
	--keep) keep=1 && shift && continue ;;
	esac
	[ $# -ge 2 ] || { echo "figures.sh: $1: see --help" >&2 && exit 2; }
	case $1 in
	--dir) dir=$2 ;;
	--bench) bench=$2 ;;
	--documents) sizes=$2 ;;
	--runs) runs=$2 ;;
	--rounds) rounds=$2 ;;
	--queries) queries=$2 ;;
	--parts) parts=$2 ;;
	--plans) plans=$2 ;;
	--mih) mih=$2 ;;
	--threshold | --writer-cpu) live+=("$1" "$2") ;;
	*) echo "figures.sh: $1: see --help" >&2 && exit 2 ;;
	esac
	shift 2
done
all=$dir/figures.jsonl
: >"$all"

wanted() { # PART
	case ,$parts, in *,"$1",*) ;; *) false ;; esac
}

note() { # KIND PART MORE
	printf '{"figures":"%s","part":"%s","documents":%s%s}\n' "$1" "$2" "$n" "${3-}" >>"$all"
}

skip() { # PART REASON
	note skip "$1" ",\"reason\":\"$2\""
	echo "  $n $1: skipped: $2" >&2
}

# Run a program for a part, started by what is in $start; its lines are left in $dir/figures.run.
run() { # PART PROGRAM OPTION...
	local part=$1 program=$2 began=$SECONDS
	shift 2
	# shellcheck disable=SC2086 # words of a command
	$start "$bench/$program" --documents "$n" --dir "$dir" --keep "$@" \
		>"$dir/figures.run" 2>"$dir/figures.said" || {
		tail -n 3 "$dir/figures.said" >&2
		return 1
	}
	note run "$part" ",\"run\":$r,\"seconds\":$((SECONDS - began))"
	cat "$dir/figures.run" >>"$all"
	echo "  $n $part, run $r: $((SECONDS - began)) s" >&2
}

search() { # PART OPTION...
	local part=$1
	shift
	wanted "$part" || return 0
	run "$part" bn_search --queries "$queries" --rounds "$rounds" "$@"
}

# Indexes of a set, made before anything is measured.
build() { # SET PLANS
	start='' run build bn_search --set "$1" --plan "$2" --only simidx --queries 10 --rounds 1 \
		--work single
}

# What is called auto is called by the name of its plan, too.
build_uniform() {
	local prefix=$dir/bench-simidx suffix=uniform-$n-1
	build uniform auto
	auto=$(sed -n 's/.*"contestant":"simidx-\([^"]*\)","build_s".*/\1/p' "$dir/figures.run")
	note auto build ",\"plan\":\"$auto\""
	if [ ! -L "$prefix-auto-$suffix" ]; then
		mv "$prefix-auto-$suffix" "$prefix-$auto-$suffix"
		ln -s "bench-simidx-$auto-$suffix" "$prefix-auto-$suffix"
	fi
	build uniform 4x16,3x22
}

measure_uniform() {
	local both='--plan 4x16,3x22'
	# shellcheck disable=SC2086
	search uniform $both --only arrays,simidx \
		--work single,batch-10,batch-1000,batch-10000,batch-100000,swept
	# shellcheck disable=SC2086
	search kernels $both --only arrays,simidx --simd scalar,avx2,avx512 --work single
	for level in avx2 avx512; do
		if wanted kernels && [ "$r" = 1 ] && ! grep -q "@$level" "$dir/figures.run"; then
			skip kernels "this CPU has no $level"
		fi
	done
	# shellcheck disable=SC2086
	start=${BN_RUN_THREADS-} search threads $both --only simidx --work threads-1,threads-2
	# shellcheck disable=SC2086
	search cold $both --only simidx,onephase --work cold
	if wanted cold && [ "$r" = 1 ] && ! grep -q '"work":"cold"' "$dir/figures.run"; then
		skip cold 'files do not leave memory here'
	fi
	search weighted --plan 4x16 --radius 4 --only simidx --work single,weighted-32
	if [ "$n" -le 1000000 ]; then
		search rows --plan 4x16 --only simidx,rows --work single
	elif [ "$r" = 1 ]; then
		skip rows 'up to 1000000 documents'
	fi
	if [ -n "$mih" ]; then
		# shellcheck disable=SC2086
		search mih $both --only simidx,mih-rs --work single --peers "$mih"
	elif [ "$r" = 1 ]; then
		skip mih 'no --mih PROGRAM'
	fi
	if wanted live; then
		start=${BN_RUN_LIVE-} run live bn_live --queries "$queries" --rounds "$rounds" \
			--plan 4x16 "${live[@]}"
	fi
}

measure_skewed() { # SET
	wanted "$1" || return 0
	[ "$r" -gt 1 ] || build "$1" "$plans"
	search "$1" --set "$1" --plan "$plans" --only arrays,simidx --work single,limit-100
	# Room for the next one.
	[ -n "$keep" ] || [ "$r" -lt "$runs" ] || rm -rf "$dir"/bench-simidx-*"-$1-$n-1"
}

for n in ${sizes//,/ }; do
	start=${BN_RUN-} r=0
	build_uniform
	for ((r = 1; r <= runs; r++)); do
		measure_uniform
		for set in clustered hot16 hot5m equal blocks3; do
			measure_skewed $set
		done
	done
	[ -n "$keep" ] || rm -rf "$dir"/bench-*-"$n"-1
done
rm -f "$dir/figures.run" "$dir/figures.said"
awk -f "$src/figures.awk" "$src/figures.goals" "$all"
