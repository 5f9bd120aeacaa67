#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
#
# Each benchmark runs with little data, finds what a scan finds, and prints its figures.
set -eu

"$SX_MAKE" -C "$SX_BUILDDIR" bench >/dev/null
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
for how in '--plan 4x16' '--plan 10x26 --rows' '--insert'; do
	# shellcheck disable=SC2086 # options are words
	"$SX_BUILDDIR/bench/bn_index" --documents 2000 --queries 300 $how "$dir/index" >"$dir/out"
	grep -q '"query_mean_us":[0-9]' "$dir/out"
	rm -rf "$dir/index"
done

[ -n "${SX_TEXT-}" ] || exit 0
printf 'Two words, and “two” more: don’t count 3.14 as two.\n' >"$dir/one"
printf '我们喜欢音乐。' >"$dir/two"
: >"$dir/empty"
"$SX_BUILDDIR/bench/bn_text" --rounds 2 "$dir/one" "$dir/two" "$dir/empty" >"$dir/out"
grep -q '"texts":3,"bytes":79,"rounds":2,"words":13,"features":22,"icu_words":13,' "$dir/out"
grep -q '"ratio":[0-9]' "$dir/out"
