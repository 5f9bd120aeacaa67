#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
#
# simidx-dedup --resume: killed at random moments and gone on with, a run writes what one does that nobody has
# disturbed: shards, --output, standard output, --dups and --evidence. SIMIDX_LONG=1 kills more often.
. "$SX_SRCDIR/tests/tool/tool_lib.sh"
need_text
need_json
export TMPDIR=$tmp/own
mkdir "$TMPDIR"
RANDOM=47
kills=5
[ -z "${SIMIDX_LONG-}" ] || kills=100
gz='' zst=''
[ -z "${SX_ZLIB-}" ] || gz=.gz
[ -z "${SX_ZSTD-}" ] || ! command -v zstd >/dev/null || zst=.zst

# plain FILE: what is in it, decompressed by another program.
plain() {
	case $1 in
	*.gz) gzip -dc "$1" ;;
	*.zst) zstd -qdc "$1" ;;
	*) cat "$1" ;;
	esac
}

# 3,000 rows of 100 words in five files, two of them compressed and one empty. Each third of the last 1,500 is an
# earlier one in which words are replaced, no two of them within five. The label of a row is its place.
mkdir -p in/c
awk "$random"' function random(n) { return int(rnd() * n) }
	BEGIN { state = 4
		for (d = 1; d <= 3000; d++) {
			of = d > 1500 && d % 3 == 0 ? random(1500) + 1 : 0
			k = d / 3 % 5
			text = ""
			for (i = 1; i <= 100; i++)
				text = text (w[d, i] = of && !(i > 20 && i <= 20 + 10 * k && i % 10 == 0) ? w[of, i] : "w" random(60000)) " "
			file = d <= 900 ? "in/a.jsonl" : d <= 1800 ? "in/b.jsonl" : d <= 2700 ? "in/c/d.jsonl" : "in/c/e.jsonl"
			n[file]++
			printf "{\"label\":\"%s%s:%d\",\"text\":\"%s\"}\n", file,
				file == "in/b.jsonl" ? "'$gz'" : file == "in/c/d.jsonl" ? "'$zst'" : "", n[file], text >file
		}
	}'
: >in/c/f.jsonl
find in -type f | sort | xargs cat | awk '{ sub(/"label":"[^"]*"/, "\"label\":\"-:" NR "\""); print }' >rows.jsonl
[ -z $gz ] || gzip in/b.jsonl
[ -z $zst ] || zstd -q --rm in/c/d.jsonl

# And each row as a file, whose label is its path.
mkdir texts
(cd texts && sed 's/.*"text":"//; s/"}$//' ../rows.jsonl | awk '{ printf "%s", $0 >sprintf("%04d", NR); close(sprintf("%04d", NR)) }')

# Of evidence, what it says of a keeper of before a kill: the label alone.
evidence_of() {
	plain "$1" | sed 's/,"path2":.*"label2":"\([^"]*\)".*/ \1/; s/,"label2":"\([^"]*\)","id2":.*/ \1/'
}

# start WHAT: a run, with what is in ./how besides.
start() {
	case $1 in
	shards)
		exec "$dedup" -q --stream --memory 64M --threads 2 --index ix --remember text "${how[@]}" \
			--output-dir out --dups "dups$gz" --evidence "why$zst" -F jsonl -r in/ ;;
	file)
		exec "$dedup" -q --stream --memory 64M --index ix --remember text "${how[@]}" \
			--output "out$zst" --dups dups --evidence "why$gz" -F jsonl -r in ;;
	texts)
		exec "$dedup" -q --stream --memory 64M --index ix --remember text "${how[@]}" \
			--output out --dups "dups$gz" --evidence why -r texts ;;
	pipe)
		exec "$dedup" -q --stream --memory 64M --index ix --remember text "${how[@]}" \
			--dups dups --evidence why -F jsonl - >>out < <(cat rows.jsonl) ;;
	esac
}

# results: what a run has written, in one file.
results() {
	if [ -d out ]; then
		# What the next run has found of later shards is moved aside.
		rm -f out/*.uncommitted.* out/c/*.uncommitted.*
		(cd out && find . -type f | sort) >shards
		cat shards
		while read -r file; do
			echo "== $file"
			plain "out/$file"
		done <shards
	else
		plain out*
	fi
	echo '== dups'
	# The label of a keeper stands in place of where it is, or behind it, too.
	plain dups* | cut -f 1-4
	echo '== evidence'
	evidence_of why*
}

for what in shards file texts pipe; do
	how=()
	rm -rf ix out* dups* why*
	begun=$EPOCHREALTIME
	(start $what) 2>err || fail "$what: $(head -3 err)"
	took=$(awk -v a="$begun" -v b="$EPOCHREALTIME" 'BEGIN { print b - a }')
	results >want
	[ "$(grep -cE '^([0-9.]+|same)	' want)" -gt 200 ] || fail "$what: few rows are left out"
	n_killed=0 n_resumed=0 tries=0
	how=(--resume)
	rm -rf ix out* dups* why*
	while [ $n_killed -lt $kills ] && [ $((tries += 1)) -lt $((5 * kills)) ]; do
		delay=$(awk -v r=$RANDOM -v t="$took" 'BEGIN { printf "%.3f", r / 32768 * t }')
		(start $what) 2>err &
		sleep "$delay"
		kill -9 $! 2>/dev/null
		wait $! 2>/dev/null
		code=$?
		# It may have been killed behind its last commit.
		if [ $code -eq 0 ] || grep -q 'came to its end, so there is nothing to resume' err; then
			results | cmp - want || fail "$what, after $n_killed kills: not what one run writes"
			rm -rf ix out* dups* why*
		else
			[ $code -eq 137 ] || fail "$what: $(head -3 err)"
			n_killed=$((n_killed + 1))
		fi
	done
	[ $n_killed -eq $kills ] || fail "$what: only $n_killed runs were killed"
	(start $what) 2>err || grep -q 'came to its end, so there' err || fail "$what: the last run: $(head -3 err)"
	results | cmp - want || fail "$what, after $n_killed kills: not what one run writes"
	"$query" -q verify ix >/dev/null || fail "$what: the index is damaged by a kill"
	echo "$what: $n_killed runs were killed"
	# There is nothing left to do.
	if [ $what = pipe ]; then
		(start $what) 2>err && fail 'a pipe after a run that came to its end'
		says 'ix: the last run came to its end, so there is nothing to resume: without --resume these inputs are read'
	else
		(start $what) 2>err || fail "$what again: $(head -3 err)"
	fi
	results | cmp - want || fail "$what: --resume after a run that came to its end writes something"
done
finish
