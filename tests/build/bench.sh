#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
#
# Each benchmark runs with little data, all contestants give the same answers, and the figures
# are printed. A contestant that gives other answers must not get through.
set -eu

"$SX_MAKE" -C "$SX_BUILDDIR" bench >/dev/null
bench=$SX_BUILDDIR/bench
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# Whether all lines are JSON objects, and those of each work and contestant are there.
lines_of() {
	if grep -v '^{".*}$' "$dir/out"; then exit 1; fi
	for word in "$@"; do
		work=${word%%:*} who=${word#*:}
		grep -q "\"work\":\"$work\",\"contestant\":\"$who\",\"us\":[0-9]" "$dir/out" || {
			echo "no figure for $word"
			exit 1
		}
	done
}

search() {
	"$bench/bn_search" --dir "$dir" --rounds 1 "$@" >"$dir/out" 2>"$dir/table" || {
		status=$?
		cat "$dir/table"
		return $status
	}
	[ "$(find "$dir" -type d | wc -l)" -eq 1 ] # indexes are gone
}

for how in '--plan 4x16' '--plan 10x26 --rows' '--insert'; do
	# shellcheck disable=SC2086 # options are words
	"$bench/bn_index" --documents 2000 --queries 300 $how "$dir/index" >"$dir/out"
	grep -q '"query_mean_us":[0-9]' "$dir/out"
	rm -rf "$dir/index"
done

search --documents 20000 --queries 400 --plan 4x16,3x22,2x32,10x26 --simd scalar,avx2,avx512 \
	--only scan,arrays,simidx,rows --work single,batch-100,threads-2,cold
lines_of single:scan@scalar single:arrays-3x22@scalar single:simidx-4x16 single:simidx-10x26 \
	batch-100:simidx-4x16 threads-2:simidx-4x16 threads-2:arrays-4x16@scalar single:rows-4x16
for set in clustered hot16 equal blocks3; do
	search --documents 20000 --queries 200 --set $set --work single,limit-10 \
		--only arrays,simidx
	lines_of single:simidx-4x16
done
lines_of limit-10:simidx-4x16
search --documents 30 --queries 20 --radius 2 --only neighbours,simidx,probes --work single,swept
lines_of single:neighbours single:probes swept:simidx-4x16

# Finds nothing, whatever is asked.
cat >"$dir/none" <<'END'
#!/bin/sh
echo '{"build_s":0.1,"bytes":1,"blocks":1}'
while read -r line; do
	echo '{"mean_us":0.1,"p50_us":0.1,"p99_us":0.1,"n":0,"sum":"0"}'
done
END
chmod +x "$dir/none"
status=0
"$bench/bn_search" --dir "$dir" --documents 1000 --queries 100 --only simidx,mih-rs \
	--mih "$dir/none" >"$dir/out" 2>"$dir/table" || status=$?
[ $status -eq 1 ]
grep -q 'mih-rs finds 0 documents' "$dir/table"

rm -rf "$dir"/bench-*
for writer in '' --in-process; do
	# shellcheck disable=SC2086
	"$bench/bn_live" --dir "$dir" --documents 20000 --queries 500 --rounds 2 --threshold 3000 \
		--commits 20 --seconds 1 $writer >"$dir/out" 2>"$dir/table"
	lines_of fresh-half:live fresh-full:live merged-0-100:live stream:static stream:live
	grep -q '"merges":[1-9]' "$dir/out"
	[ "$(find "$dir" -type d | wc -l)" -eq 1 ]
done

[ -n "${SX_TEXT-}" ] || exit 0
printf 'Two words, and “two” more: don’t count 3.14 as two.\n' >"$dir/one"
printf '我们喜欢音乐。' >"$dir/two"
: >"$dir/empty"
"$SX_BUILDDIR/bench/bn_text" --rounds 2 "$dir/one" "$dir/two" "$dir/empty" >"$dir/out"
grep -q '"texts":3,"bytes":79,"rounds":2,"words":13,"features":22,"icu_words":13,' "$dir/out"
grep -q '"ratio":[0-9]' "$dir/out"
