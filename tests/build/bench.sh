#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
#
# Each benchmark runs with little data, all contestants give the same answers, and the figures
# are printed. A contestant that gives other answers must not get through.
set -eu

# Another test builds programs of bench, too: one after the other.
flock "$SX_BUILDDIR" "$SX_MAKE" -C "$SX_BUILDDIR" bench >/dev/null
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

# What --help tells of an option, and command lines that are wrong.
[ "$("$bench/bn_search" --help | grep -A 1 -e '-s, --set')" = "\
  -s, --set NAME     uniform, clustered, hot16, hot5m, equal, blocks3
                     (uniform)" ]
refuse() {
	status=0
	"$bench/$1" $2 >"$dir/out" 2>"$dir/said" || status=$?
	[ $status -eq 2 ] && [ ! -s "$dir/out" ] && grep -q -e "$3" "$dir/said" || {
		echo "$1 $2: status $status"
		cat "$dir/said"
		exit 1
	}
}
refuse bn_search '--rounds 0' "rounds: '0' is not a number above 0"
refuse bn_search '-n -3' "documents: '-3' is not a number above 0"
refuse bn_live '--writer-cpu 4294967296' 'writer-cpu: 4294967296 is too large'
refuse bn_live '--nonsense' 'see --help'
refuse bn_planner '-k' 'see --help'
refuse bn_check '-k' 'see --help'
refuse bn_covers '-p 5x5' 'there is no plan 5x5'
refuse bn_search 'operand' 'only options expected'
refuse bn_index '' 'DIR expected'

for how in '--plan 4x16' '--plan 10x26 --rows' '--insert' '--no-ids --no-scan --plan 3x22'; do
	# shellcheck disable=SC2086 # options are words
	"$bench/bn_index" --documents 2000 --queries 300 $how "$dir/index" >"$dir/out"
	grep -q '"query_mean_us":[0-9].*"matches":0.500,.*"missed":0[,}]' "$dir/out"
	rm -rf "$dir/index"
done

search --documents 20000 --queries 400 --plan 4x16,3x22,2x32,10x26 --simd scalar,avx2,avx512 \
	--only scan,arrays,simidx,rows,onephase --work single,batch-100,threads-2,cold
lines_of single:scan@scalar single:arrays-3x22@scalar single:simidx-4x16 single:simidx-10x26 \
	single:simidx-3x22@scalar \
	batch-100:simidx-4x16 threads-2:simidx-4x16 threads-2:arrays-4x16@scalar single:rows-4x16
for set in clustered hot16 hot5m equal blocks3; do
	search --documents 20000 --queries 200 --set $set --work single,limit-10 \
		--only arrays,simidx
	lines_of single:simidx-4x16
done
lines_of limit-10:simidx-4x16
search --documents 30 --queries 20 --radius 2 --only neighbours,simidx,probes --work single,swept
lines_of single:neighbours single:probes swept:simidx-4x16

search --documents 20000 --queries 200 --plan 4x16 --radius 4 --only simidx \
	--work single,weighted-32,text-64
lines_of single:simidx-4x16 weighted-32:simidx-4x16 text-64:simidx-4x16

"$bench/bn_planner" -n 30000 -k 3 -r 1 -d "$dir" >"$dir/out" 2>"$dir/table"
if grep -v '^{".*}$' "$dir/out"; then exit 1; fi
[ "$(grep -c '"best_us":[0-9.]*,"typical_us":[0-9.]*,"typical_predicted_us"' "$dir/out")" -eq 4 ]

# The rows that stand in the code, all of them.
"$bench/bn_covers" >"$dir/out" 2>"$dir/table" || {
	grep '/\*' "$dir/out"
	exit 1
}
grep '^	{ "[0-9]' "$SX_SRCDIR/lib/plan/sx_cover_table.c" | diff -u - "$dir/out"

# 5 % have a near one, besides those of the clusters. All contestants find the same, or it fails.
for set in copies skewed prefix2 clustered; do
	"$bench/bn_pairs" -n 20000 -s $set -p 4x16,3x22 -x scalar -r 1 -t 2 -d "$dir" >"$dir/out" 2>"$dir/table"
	if grep -v '^{".*}$' "$dir/out"; then exit 1; fi
	for who in simidx-4x16 simidx-3x22 simidx-3x22-scalar arrays-4x16 arrays-3x22 blocks-4 blocks-5; do
		grep -q "\"contestant\":\"$who\",.*\"seconds\":[0-9.]*,.*\"over_arrays\":[0-9]" "$dir/out"
	done
	grep -q '"contestant":"simidx-4x16","threads":2,.*"predicted_seconds":[0-9.]*,"memory_mb":' "$dir/out"
	[ "$(find "$dir" -type d | wc -l)" -eq 1 ]
done
"$bench/bn_pairs" -n 20000 -r 1 -d "$dir" -o simidx >"$dir/out" 2>"$dir/table"
grep -q '"groups":1000,"pairs":1000,' "$dir/out"
refuse bn_pairs '-k 8' 'radius 7'

"$bench/bn_search" -n 20000 -q 100 -r 1 -w single -o simidx -p 4x16 -d "$dir" -K >"$dir/out" \
	2>"$dir/table"
"$bench/bn_check" -n 20000 -q 100 -r 2 "$dir/bench-simidx-4x16-uniform-20000-1" >"$dir/out"
grep -q '^{"bench":"check",.*"us":[0-9.]*,"checked_us":[0-9.]*,"ratio":[0-9.]*,.*}$' "$dir/out"
rm -rf "$dir"/bench-*

# Finds nothing, whatever is asked.
cat >"$dir/mih-rs.sh" <<'END'
#!/bin/sh
echo '{"build_s":0.1,"bytes":1,"blocks":1}'
while read -r line; do
	echo '{"mean_us":0.1,"p50_us":0.1,"p99_us":0.1,"n":0,"sum":"0"}'
done
END
chmod +x "$dir/mih-rs.sh"
status=0
"$bench/bn_search" --dir "$dir" --documents 1000 --queries 100 --only simidx,mih-rs \
	--peers "$dir/mih-rs.sh" >"$dir/out" 2>"$dir/table" || status=$?
[ $status -eq 1 ]
grep -q 'mih-rs finds 0 documents' "$dir/table"
rm -rf "$dir"/bench-*

# Other libraries, where they are installed: their answers are the same, or it fails.
bash "$SX_SRCDIR/bench/peers/search.sh" --bench "$bench" --dir "$dir/peers" --documents 1000 --queries 100 \
	--rounds 1 --only simidx,sqlite,redis >"$dir/out" 2>"$dir/table" || {
	cat "$dir/table"
	exit 1
}
for who in simidx-4x16 simidx-3x22 sqlite redis; do
	grep -q "^| $who | [0-9.]* ([0-9]*) |\$" "$dir/out" || grep "^Left out: $who, needs" "$dir/out"
done
[ "$(ls "$dir/peers")" = peers ]
rm -r "$dir/peers"
# The table in README is what was measured.
awk -f "$SX_SRCDIR/bench/peers/table.awk" "$SX_SRCDIR/bench/results/peers.jsonl" >"$dir/out"
grep -c '^| ' "$dir/out" | grep -qx 10
grep -vxFf "$SX_SRCDIR/README.md" "$dir/out" && exit 1
for writer in '' --in-process; do
	# shellcheck disable=SC2086
	"$bench/bn_live" --dir "$dir" --documents 20000 --queries 500 --rounds 2 --threshold 3000 \
		--commits 20 --seconds 1 $writer >"$dir/out" 2>"$dir/table"
	lines_of fresh-half:live fresh-full:live text-full:live merged-0-1:live merged-1-1000:apart stream:static stream:live
	grep -q '"merges":[1-9]' "$dir/out"
	[ "$(find "$dir" -type d | wc -l)" -eq 1 ]
done

# Whoever takes part comes to the same decisions; the program checks how many documents there are. 800
# changes are enough for a merge of 200 rows, but not where 30 of 100 documents are not new.
write() { "$bench/bn_write" --dir "$dir" --documents 2000 --rows 50 --threshold 200 "$@" >"$dir/out"; }
write --merges 1
for op in insert if-new replace delete replace-label delete-label; do
	grep -q "\"op\":\"$op\",.*\"contestant\":\"simidx\",\"per_second\":[0-9].*\"merges\":1," "$dir/out"
done
grep -q '"op":"insert",.*"contestant":"lmdb"' "$dir/out"
grep -q '"op":"if-new-text",.*"contestant":"simidx",.*"merges":0,' "$dir/out"
grep -q '"op":"if-new",.*"contestant":"single"' "$dir/out"
[ "$(find "$dir" -type d | wc -l)" -eq 1 ]
write --merges 1 --background --normal --op delete-label --only simidx
grep -q '"durability":"normal","contestant":"simidx-background",.*"merges":1,' "$dir/out"
write --merges 100 --changes 400 --op if-new
[ "$(sed -n 's/.*"changes":400,"changed":\([0-9]*\),.*/\1/p' "$dir/out" | sort -u | wc -l)" -eq 1 ]

# All figures of one size. The median of 2 and 3 is 2.5; there is a goal from 10^6 documents on.
figures=$SX_SRCDIR/bench/figures
mkdir "$dir/figures"
bash "$figures.sh" --dir "$dir/figures" --bench "$bench" --documents 3000 --queries 20 --runs 1 \
	--rounds 1 --threshold 1000 --parts uniform,live,equal >"$dir/out" 2>"$dir/said"
for figure in 'single, 4x16 / arrays' 'stream of commits / static' 'equal, others, 4x16, p99'; do
	grep -q "^$figure .* 3\*10^3  *[0-9.]*  *-  *[0-9.]*  *[0-9.]*\.\.[0-9]" "$dir/out"
done
grep -q '^2 threads, 4x16 / 1 .* skipped$' "$dir/out"
[ "$(ls "$dir/figures")" = figures.jsonl ]
{
	echo '{"figures":"run","part":"uniform","documents":1000000,"run":1,"seconds":1}'
	line='{"set":"uniform","class":"all","work":"single","contestant":"simidx-4x16","us":1.5'
	echo "$line,\"p99_us\":4,\"over_arrays\":3,\"over_arrays_min\":2.9,\"over_arrays_max\":3.2}"
	echo '{"figures":"run","part":"uniform","documents":1000000,"run":2,"seconds":1}'
	echo "$line,\"p99_us\":6,\"over_arrays\":2,\"over_arrays_min\":2.0,\"over_arrays_max\":2.1}"
	echo '{"figures":"run","part":"equal","documents":1000000,"run":2,"seconds":1}'
	echo "$line,\"p99_us\":9}" | sed -e 's/uniform/equal/' -e 's/"all"/"other"/'
	echo "$line,\"matches\":200}" | sed -e 's/uniform/equal/' -e 's/"all"/"hot"/' \
		-e 's/single/limit-100/' -e 's/1\.5/6/'
} >"$dir/lines"
awk -f "$figures.awk" "$figures.goals" "$dir/lines" >"$dir/out"
grep -q '^single, 4x16 / arrays  *10^6  *1.50  *2.3  *2.500  *2.000..3.200  *MISSED$' "$dir/out"
grep -q '^equal, others, 4x16, p99 / unif.  *10^6  *9.00  *1.5  *1.500  *1.500..1.500  *met$' "$dir/out"
grep -q '^equal, hot, 4x16, 100 / uniform  *10^6  *6.00  *20  *4.000  *4.000..4.000  *met$' "$dir/out"

# A line each, from 10 us at 10^3 documents to 1 ms at 10^5: two decades down 60 a decade.
for who in simidx-4x16 scan@avx2; do
	for n in 100000 1000; do
		echo '{"set":"uniform","documents":'$n',"class":"all","work":"single",' \
			'"contestant":"'$who'","us":'$((n / 100))'}' | tr -d ' '
	done
done >"$dir/lines"
awk -f "$SX_SRCDIR/bench/svg.awk" -f "$SX_SRCDIR/bench/latency.awk" "$dir/lines" >"$dir/svg"
[ "$(grep -c '<polyline .*points="60.0,150.0 620.0,30.0 "' "$dir/svg")" -eq 2 ]
grep -q '>scan</text>$' "$dir/svg"
tail -n 1 "$dir/svg" | grep -q '^</svg>$'

# What latency.sh prints is what the picture is drawn from, and the committed one was.
bash "$SX_SRCDIR/bench/latency.sh" --bench "$bench" --dir "$dir" --documents 1000,2000 --queries 20 \
	--rounds 1 >"$dir/lines" 2>"$dir/said"
head -n 1 "$dir/lines" | grep -q '^{"figure":"latency","commit":"[^"]*","date":"[0-9-]*"}$'
awk -f "$SX_SRCDIR/bench/svg.awk" -f "$SX_SRCDIR/bench/latency.awk" "$dir/lines" >"$dir/svg"
for who in simidx-4x16 simidx-3x22 arrays-4x16 arrays-3x22 scan probes; do
	grep -q ">$who</text>" "$dir/svg"
done
measured=$SX_SRCDIR/bench/results/latency.jsonl
awk -f "$SX_SRCDIR/bench/svg.awk" -f "$SX_SRCDIR/bench/latency.awk" "$measured" |
	diff - "$SX_SRCDIR/doc/latency.svg"

# Six lines of code: neither those of comments nor those that look like comments inside of strings.
mkdir -p "$dir/tree/lib/a" "$dir/tree/include" "$dir/tree/tools" "$dir/tree/tests" "$dir/tree/bench"
cat >"$dir/tree/lib/a/x.c" <<'END'
int /* a */ a;
/* b */ // c

/* d
int d; */ int e;
char *f = "/* \" // */"; /* g
*/
char h = '"'; // "
char *i = "/*\
*/";
END
printf 'int a;\nint b; // c\n' >"$dir/tree/lib/a/x.cc"
printf '/* c */\nint a;\n' >"$dir/tree/lib/a/x.hh"
sh "$SX_SRCDIR/bench/loc.sh" "$dir/tree" "$dir/tree" >"$dir/out"
grep -q '^lib/a  *6  *6$' "$dir/out"
grep -q '^lib but text  *6  *6$' "$dir/out"
grep -q '^lib/a, C++  *3  *3$' "$dir/out"
grep -q '^all, C++  *3  *3$' "$dir/out"

[ -n "${SX_TEXT-}" ] || exit 0
printf 'Two words, and “two” more: don’t count 3.14 as two.\n' >"$dir/one"
printf '我们喜欢音乐。' >"$dir/two"
: >"$dir/empty"
"$SX_BUILDDIR/bench/bn_text" --rounds 2 "$dir/one" "$dir/two" "$dir/empty" >"$dir/out"
grep -q '"texts":3,"bytes":79,"rounds":2,"words":13,"features":22,"icu_words":13,' "$dir/out"
grep -q '"ratio":[0-9]' "$dir/out"

# Three texts of 13 bytes, the last of which is the first one again.
printf 'one two threefour five sixone two three' >"$dir/bytes"
printf '\0\0\0\0\015\0\0\0\032\0\0\0\047\0\0\0' >"$dir/offsets"
"$SX_BUILDDIR/bench/bn_columns" dedup "$dir/columns" "$dir/offsets" "$dir/bytes" 2 >"$dir/out"
grep -q '"work":"dedup","rows":3,"kept":2,"sum":1,"cpu_s":[0-9]' "$dir/out"
printf '\001\0\0\0\0\0\0\0' >"$dir/fps"
printf 'ffffffffffffffff\n0000000000000003\n' | "$SX_BUILDDIR/tools/simidx-load" -q -F lines "$dir/found" -
"$SX_BUILDDIR/bench/bn_columns" search "$dir/found" "$dir/fps" 3 2 >"$dir/out"
grep -q '"work":"search","queries":1,"found":1,"sum":1,"cpu_s":[0-9]' "$dir/out"
refuse bn_columns 'search' 'see --help'

[ -n "${SX_JSON-}" ] && [ -n "${SX_ZSTD-}" ] || exit 0
quality=$SX_BUILDDIR/bench/bn_quality

# Of 5-shingles a has two, b those and a third one, c those of a, d and e others: 2/3 and 1.
cat >"$dir/own.jsonl" <<'END'
{"id":"a","body":"one two three four five six"}
{"id":2,"body":"One, two, three, four, five, six, SEVEN!"}
{"body":"ONE TWO THREE FOUR FIVE SIX"}
{"id":"d","body":"six five four three two one"}
{"id":"e","body":"one two"}
END
label() { # OPTION...: the pairs that are listed, with label and Jaccard index
	"$bench/bn_label" --text-field body "$@" "$dir/own" 2>"$dir/said" | tail -n +2 |
		tr '\t\n' ' ,'
}
[ "$(label)" = 'a 2 grey 0.666667,a 3 grey 1.000000,2 3 grey 0.666667,' ]
grep -q '^own: documents 5, near pairs 0, pairs with equal shingles 1$' "$dir/said"
[ "$(label --near 66)" = 'a 2 near 0.666667,a 3 grey 1.000000,2 3 near 0.666667,' ]
[ "$(label --near 67 --grey 67)" = 'a 2 not 0.666667,a 3 grey 1.000000,2 3 not 0.666667,' ]
[ "$(label --near 80 --grey 80 --least 67)" = 'a 3 grey 1.000000,' ]
[ "$(label --words 6)" = 'a 2 grey 0.500000,a 3 grey 1.000000,2 3 grey 0.500000,' ]
refuse bn_label "--near 20 $dir/own" 'least <= grey <= near'
refuse bn_label "$dir/own" 'line 1: expected an object with a string "text"'
# What it prints is what bn_quality reads.
"$bench/bn_label" -t body -n 66 "$dir/own" >"$dir/own.pairs.tsv" 2>"$dir/said"
"$quality" --dir "$dir" --seeds 1 --text-field body "$dir/own" >"$dir/out" 2>"$dir/table"
grep -q '^own: 5 documents, 2 near pairs, ' "$dir/table"

# The page about the quality shows how that is done.
bash "$SX_SRCDIR/tests/build/sessions.sh" doc/text-quality.md

# Twelve texts of 150 different words each, and of each a copy with a word more, which is to be
# found, and one of which the first half is new, which is not. The twelve share no word.
awk 'BEGIN {
	for (i = 0; i < 12; i++) {
		old = fresh = ""
		for (j = 0; j < 150; j++) {
			word = sprintf("w%dx%d ", i, j)
			old = old word
			fresh = fresh (j < 75 ? "n" word : word)
		}
		printf "{\"id\":\"a%d\",\"text\":\"%s\"}\n", i, old
		printf "{\"id\":\"b%d\",\"text\":\"%send\"}\n", i, old
		printf "{\"id\":\"c%d\",\"text\":\"%s\"}\n", i, fresh
	}
}' >"$dir/made.jsonl"
cp "$dir/made.jsonl" "$dir/edits.jsonl"
awk 'BEGIN {
	print "#id1\tid2\tlabel"
	for (i = 0; i < 12; i++)
		printf "a%d\tb%d\tnear\na%d\tc%d\t%s\n", i, i, i, i, i < 6 ? "grey" : "not"
}' >"$dir/made.pairs.tsv"
sed -e 's/near$/edit:end/' -e 's/grey$/edit:half/' -e 's/not$/edit:half/' \
	"$dir/made.pairs.tsv" >"$dir/edits.pairs.tsv"
if command -v zstd >/dev/null; then zstd -q --rm "$dir/made.jsonl" "$dir/made.pairs.tsv"; fi
"$quality" --dir "$dir" --seeds 2 --extractors words12 "$dir/made" "$dir/edits" >"$dir/out" \
	2>"$dir/table"
[ -z "$(find "$dir" -name 'quality-*')" ]
if grep -v '^{".*}$' "$dir/out"; then exit 1; fi
figures() {
	grep "\"set\":\"$1\",.*\"rule\":\"$2\",\"limit\":$3,\"seed\":\"mean\"" "$dir/out" |
		grep -q "$4"
}
figures made weights+fp2 232 '"near":12.00,"wrong":0.00,"missed":0.00,"grey":0.00,'
figures made weights 59 '"near":12.00,"wrong":0.00,"missed":0.00,"grey":0.00,'
figures made k 10 '"near":12.00,"wrong":0.00,"missed":0.00,"grey":0.00,'
figures edits weights+fp2 232 '"recall":{"end":1.0000,"half":0.0000}'
figures all weights+fp2 232 '"pooled_f1":1.0000,'
grep -q '^  words12 weights+fp2 <= 232 .* 1.000 ' "$dir/table"

# Five equal texts: each of the 10 pairs is found. One is near, one does not count, 8 are wrong:
# precision 1/9, recall 1, F1 1/5.
for i in 1 2 3 4 5; do
	printf '{"id":"%s","text":"the same words for all of them"}\n' $i
done >"$dir/same.jsonl"
printf '5\t1\tnear\n2\t4\tgrey\n' >"$dir/same.pairs.tsv"
"$quality" --dir "$dir" --seeds 1 --extractors words12 "$dir/same" >"$dir/out" 2>"$dir/table"
figures same weights+fp2 232 '"near":1.00,"wrong":8.00,"missed":0.00,"grey":1.00,.*"f1":0.2000,'
# Wilson: 1 of 9 lies in 0.0199..0.4350.
figures same k 1 '"precision":0.1111,"precision_low":0.0199,"precision_high":0.4350,'
awk -f "$SX_SRCDIR/bench/svg.awk" -f "$SX_SRCDIR/bench/quality/plot.awk" "$dir/out" \
	>"$dir/f1.svg"
[ "$(grep -c '<polyline' "$dir/f1.svg")" -eq 3 ]
tail -n 1 "$dir/f1.svg" | grep -q '^</svg>$'

# Stored one after another, if new: all but the twelve copies, of which the halves that are grey do
# not count. Of equal texts the first is stored; the near one of the others is told rightly, what is
# grey beside what was kept does not count, and here nothing is.
if_new() {
	"$bench/bn_if_new" --dir "$dir" --seeds 2 "$@" >"$dir/out" 2>"$dir/table"
	if grep -v '^{".*}$' "$dir/out"; then exit 1; fi
	[ -z "$(find "$dir" -name 'if-new-*')" ]
}
if_new "$dir/made"
grep -q '"set":"made",.*"seed":"mean","documents":36,"stored":24.0,"right":12.0,"wrong":0.0,"missed":0.0,"grey":6.0,' \
	"$dir/out"
if_new --no-fp2 "$dir/same"
grep -q '"set":"same",.*"seed":"1","documents":5,"stored":1.0,"right":1.0,"wrong":3.0,"missed":0.0,"grey":0.0,"precision":0.2500,' \
	"$dir/out"
refuse bn_if_new "$dir/edits" 'edits: a collection of edits'

# Pairs that are proposed by an index and confirmed by the texts. The twelve copies have 146 of 147
# shingles, and the halves too few. If all 630 pairs are proposed, 618 of them are wrong without a look
# at the texts. Of five equal texts all 10 pairs are confirmed, and what is grey counts as wrong.
dedup() {
	"$bench/bn_dedup" --dir "$dir" --seeds 2 "$@" >"$dir/out" 2>"$dir/table"
	if grep -v '^{".*}$' "$dir/out"; then exit 1; fi
	[ -z "$(find "$dir" -name 'dedup-*')" ]
}
dedup --accept 192,32640 --probes 0 --max-bits 64 "$dir/made"
grep -q '"set":"made",.*"seed":"mean","accept":192,.*"confirmed":12.0,"wrong":0.0,"missed":0.0,"unfound":0.0,' \
	"$dir/out"
grep -q '"set":"all",.*"accept":32640,.*"proposed":630.0,"confirmed":12.0,.*"wrong_fp":618.0,"missed_fp":0.0,' \
	"$dir/out"
dedup --similarity 0.995 "$dir/made"
grep -q '"accept":256,.*"confirmed":0.0,"wrong":0.0,"missed":12.0,"unfound":0.0,' "$dir/out"
dedup --accept 192 --probes 32 --plan 3x22 "$dir/same"
grep -q '"seed":"1",.*"near":1,"proposed":10.0,"confirmed":10.0,"wrong":9.0,"missed":0.0,.*"precision":0.10000,"recall":1.00000,' \
	"$dir/out"
refuse bn_dedup "$dir/edits" 'edits: a collection of edits'
refuse bn_dedup "--accept 112,x $dir/made" 'numbers with commas between them'

# What a filter has decided about rows. By hand: row 2 is a copy of 1, and 4 of 3; 3 has nothing to do
# with 1, is left out for it all the same, and so 4 is rightly kept. 5 is a copy of 1 that is kept.
for i in one one two two one; do
	printf '{"text":"%s"}\n' "$(seq -f "$i%g" -s ' ' 40)"
done >"$dir/rows.jsonl"
printf '100.0\trows:2\trows:1\n90.0\trows:3\trows:1\n' >"$dir/dups"
[ "$("$bench/bn_dups" "$dir/rows.jsonl" "$dir/dups")" = '{"bench":"dups","rows":5,"kept":3,"left_out":2,"wrongly":1,"misnamed":1,"mistold":1,"let_through":1,"let_through_share":0.50000}' ]
refuse bn_dups "$dir/rows.jsonl $dir/rows.jsonl" 'not what simidx-dedup --dups has written'
# What was printed about these rows as a labelled collection. Of the pairs 2, 1 and 3, 1 the first is right, and
# of the two that are dropped for 1 row 3 is wrong. Of the four similar pairs 1, 2 and 2, 5 and 3, 4 have a
# dropped one; of 1, 5 both are kept.
printf '1\t2\tnear\n' >"$dir/rows.pairs.tsv"
printf '1\t%s\t%s\trows:%d\n' 100.0 keep 1 100.0 drop 2 90.0 drop 3 >"$dir/groups"
"$bench/bn_judge" --pairs "$dir/dups" --groups "$dir/groups" "$dir/rows" >"$dir/out" 2>"$dir/said"
diff "$dir/out" - <<'END'
{"bench":"judge","set":"rows","documents":5,"near":1,"similar":4,"pairs":2,"wrong":1,"missed":0,"below":1,"precision":0.50000,"recall":1.00000}
{"bench":"judge","set":"rows","documents":5,"dropped":2,"below":1,"both_kept":1,"near_both_kept":0}
END
grep -qx 'both kept: 5 and 1, similarity 1.0000' "$dir/said"
refuse bn_judge "--pairs $dir/rows.jsonl $dir/rows" 'not what simidx-dedup has printed about this collection'
refuse bn_judge "--groups $dir/dups $dir/rows" 'not'
# And what simidx-dedup does print.
"$SX_BUILDDIR/tools/simidx-dedup" -q --pairs --all "$dir"/made.jsonl* >"$dir/dups"
"$SX_BUILDDIR/tools/simidx-dedup" -q "$dir"/made.jsonl* >"$dir/groups"
"$bench/bn_judge" --pairs "$dir/dups" --groups "$dir/groups" "$dir/made" >"$dir/out"
diff "$dir/out" - <<'END'
{"bench":"judge","set":"made","documents":36,"near":12,"similar":12,"pairs":12,"wrong":0,"missed":0,"below":0,"precision":1.00000,"recall":1.00000}
{"bench":"judge","set":"made","documents":36,"dropped":12,"below":0,"both_kept":0,"near_both_kept":0}
END

# Generated rows, the same each time, and the filter itself: what it leaves out is similar.
"$bench/bn_rows" --rows 400 --copies 40 >"$dir/rows.jsonl"
"$bench/bn_rows" --rows 400 --copies 40 | cmp - "$dir/rows.jsonl"
"$SX_BUILDDIR/tools/simidx-dedup" -q --stream --dups "$dir/left-out" "$dir/rows.jsonl" >"$dir/new"
n=$(awk 'END { print NR }' "$dir/new")
[ "$n" -gt 200 ] && [ "$n" -lt 300 ]
"$bench/bn_dups" "$dir/rows.jsonl" "$dir/left-out" >"$dir/out"
grep -q '"rows":400,"kept":'$n',"left_out":'$((400 - n))',"wrongly":0,"misnamed":0,"mistold":0,' "$dir/out"
if command -v python3 >/dev/null; then
	python3 "$SX_SRCDIR/bench/peers/dedup.py" -r 1 "$SX_BUILDDIR" "$dir/rows.jsonl" >"$dir/out" 2>"$dir/said"
	awk -v n=$((400 - n)) '$1 == "load" { load = NF == 4 } $1 == "dedup" { dedup = $5 == n && $6 == 0 }
		END { exit !load || !dedup }' "$dir/out"
fi

# Unrelated: all pairs but those of a text and its copies. Equal texts that are listed nowhere
# match by any rule, in both directions and under each seed. By bits alone, 43745 of 2^64
# fingerprints are within 3 of one.
: >"$dir/same.pairs.tsv"
"$quality" --unrelated --seeds 2 --documents 1000000000 --extractors words12,words12:stop=en:top=5 \
	"$dir/same" "$dir/made" >"$dir/out" 2>"$dir/table"
if grep -v '^{".*}$' "$dir/out"; then exit 1; fi
unrelated() {
	grep "\"set\":\"$1\",\"extractor\":\"$2\",\"rule\":\"$3\",\"limit\":$4," "$dir/out" |
		grep -q "$5"
}
unrelated same words12 k 7 '"unrelated":10,"matched":40,"expected":40,"alike":0,'
unrelated same words12 weights+fp2 232 '"matched":40,"expected":40,.*"wrong":1e+09,'
unrelated made words12 k 3 '"documents":1e+09,"by_bits":2.37e-06,'
# Of the 630 pairs of 36 texts those are related that near and grey pairs link: six times three
# texts and six times two, which makes 24; and six are alike, listed as `not`.
unrelated made words12 k 3 '"unrelated":600,"matched":0,.*"alike":6,"alike_matched":0,'
unrelated made words12:stop=en:top=5 weights 59 '"unrelated":600,'
grep -q '^  words12:stop=en:top=5 weights+fp2 <= 112 ' "$dir/table"

printf '1\tnobody\tnear\n' >"$dir/same.pairs.tsv"
status=0
"$quality" --dir "$dir" "$dir/same" >"$dir/out" 2>"$dir/table" || status=$?
[ $status -eq 2 ]
grep -q 'names nobody' "$dir/table"

# What 1e0ng/simhash 2.1.2 computes for these texts.
"$quality" --help | grep -q 'words12,1e0ng' || exit 0
cat >"$dir/ref.jsonl" <<'END'
{"id":"fine","text":"How are you? I AM fine. Thanks. And you?"}
{"id":"old","text":"How old are you ? :-) i am fine. Thanks. And you?"}
{"id":"han","text":"你好　世界！　　呼噜。"}
{"id":"han2","text":"你好，世界　呼噜"}
{"id":"empty","text":""}
{"id":"one","text":"a"}
{"id":"cat","text":"the cat sat on the mat"}
{"id":"odd","text":"İstanbul ΣΑΣ ½ ²x Ⅷ_y é 𝟘 〇"}
END
: >"$dir/ref.pairs.tsv"
"$quality" --extractors 1e0ng --sketches "$dir/ref" | cut -f 2,3 >"$dir/out"
printf '%s\t%s\n' fine bff3cd8a201e681a old 97f3cd80601e4812 han db8c51c7172ea364 \
	han2 db8c51c7172ea364 empty e9800998ecf8427e one 31c399e269772661 \
	cat a70a20c0b82b14d5 odd b1496319996d2a41 | diff - "$dir/out"
