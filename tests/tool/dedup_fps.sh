#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
#
# simidx-dedup on bare fingerprints, and on texts by their fingerprints alone: decisions, pairs and
# groups against a replay that compares all with all.
. "$SX_SRCDIR/tests/tool/tool_lib.sh"
export TMPDIR=$tmp/own
mkdir "$TMPDIR"

# Fingerprints in hex; half of them are earlier ones with 0 to 8 bits flipped, each a digit.
awk 'function random(n) { x = (x * 69069 + 12345) % 4294967296; return int(x / 4294967296 * n) }
	BEGIN { x = 3
		for (d = 1; d <= 600; d++) {
			from = d > 1 && random(2) ? 1 + random(d - 1) : 0
			for (i = 1; i <= 16; i++) {
				digit[d, i] = from ? digit[from, i] : random(16)
				if (from && random(4) == 0)
					digit[d, i] = (digit[d, i] + 8) % 16
				printf "%x", digit[d, i]
			}
			print ""
		}
	}' >fps

# replay RADIUS: the decisions one by one: number, number of its keeper (its own if it is kept), bits.
# The nearest that was kept, of several the first.
replay() {
	awk -v radius="$1" 'BEGIN { for (a = 0; a < 16; a++) for (b = 0; b < 16; b++) {
			n = 0
			for (p = 1; p < 16; p *= 2) n += int(a / p) % 2 != int(b / p) % 2
			bits[sprintf("%x%x", a, b)] = n } }
		{ best = radius + 1; to = NR
			for (k = 1; k <= kept && best > 0; k++) {
				n = 0
				for (i = 1; i <= 16 && n < best; i++) n += bits[substr($1, i, 1) substr(fp[k], i, 1)]
				if (n < best) { best = n; to = number[k] }
			}
			if (to == NR) { fp[++kept] = $1; number[kept] = NR; best = 0 }
			print NR, to, best }' fps
}
for radius in 3 0 6; do
	replay $radius >decisions
	run 0 "$dedup" -q -k $radius -F lines fps
	# Group, bits, keep or drop, place: those of groups, ordered by group, bits and number.
	awk '{ line[NR] = $0; n[$2]++ } END { for (i = 1; i <= NR; i++) { split(line[i], f, " ")
		if (n[f[2]] > 1) print f[2] "\t" f[3] "\t" (f[1] == f[2] ? "keep" : "drop") "\tfps:" f[1] } }' decisions |
		sort -t '	' -k 1,1n -k 3,3r -k 2,2n -s >want
	same out want
	for how in '--threads 1' '--threads 3 --memory 64M'; do
		# shellcheck disable=SC2086
		run 0 "$dedup" -q $how -k $radius -F lines fps
		same out want
	done
	rm -f dups
	run 0 "$dedup" -q --stream --dups dups -k $radius -F lines fps
	awk '$1 == $2 { print $1 }' decisions | awk 'NR == FNR { is[$1]; next } FNR in is' - fps >want
	same out want
	awk '$1 != $2 { print $3 "\tfps:" $1 "\tfps:" $2 }' decisions | cmp - dups || fail "--dups -k $radius"
done
run 0 "$dedup" -q -F lines fps
cp out three
run 0 "$dedup" -q -k 3 -F lines fps
same out three
# All pairs, as simidx-query finds them too.
run 0 "$load" -q -F lines ix fps
"$query" -q pairs -k 3 ix | awk -F '\t' '{ print $1 "\tfps:" $3 + 1 "\tfps:" $2 + 1 }' | sort >want
[ "$(wc -l <want)" -ge 20 ] || fail 'few pairs'
run 0 "$dedup" -q --pairs -F lines fps
sort out | cmp - want || fail '--pairs'
run 0 "$dedup" -q --json --pairs -F lines fps
[ "$(wc -l <out)" -eq "$(wc -l <want)" ] || fail '--pairs --json'
grep -q '^{"distance":[0-3],"path":"fps","line":[0-9]*,"path2":"fps","line2":[0-9]*}$' out || fail 'JSON of pairs'
run 0 "$dedup" -q --json -F lines fps
head -1 out | grep -q '^{"group":[0-9]*,"distance":0,"keep":true,"path":"fps","line":[0-9]*}$' || fail 'JSON of groups'

# Other widths, and an index that remembers them.
cut -c 1-8 fps >short
run 0 "$dedup" -q --stream --bits 32 -k 1 --index i32 -F lines short
cp out new
run 0 "$dedup" -q --stream --bits 32 -k 1 --index i32 -F lines short
[ ! -s out ] || fail 'fingerprints are not remembered'
run 2 "$dedup" -q --stream --index i32 -F lines fps
says 'i32: its fingerprints have 32 bits: --bits 32 is needed'
run 1 "$dedup" -q --bits 32 -F lines fps
says 'fps:1: '
run 2 "$dedup" -q --accept 5 -F lines fps
says '--accept is about texts, and the inputs have fingerprints'
for option in '--similarity 0.9' --all '--spill 1M'; do
	# shellcheck disable=SC2086
	run 2 "$dedup" -q $option -F lines fps
	says "${option% *} is about texts, and the inputs have fingerprints"
done
run 2 "$dedup" --stream -F npy fps
says '--stream writes lines, and the rows of npy are none'

# Rows with features: the decisions of simidx-load, which looks for the nearest that was kept by both
# fingerprints and the same weights.
if [ -n "${SX_JSON-}" ]; then
	awk 'function random(n) { x = (x * 69069 + 12345) % 4294967296; return int(x / 4294967296 * n) }
		BEGIN { x = 5
			for (d = 1; d <= 400; d++) {
				from = d > 1 && random(2) ? 1 + random(d - 1) : 0
				every = 5 + random(60)
				printf "{\"label\": \"d%d\", \"features\": [", d
				for (i = 1; i <= 80; i++) {
					w[d, i] = from && random(every) ? w[from, i] : "w" random(3000)
					printf("%s[\"%s\", %d]", (i > 1) ? ", " : "", w[d, i], 1 + i % 3)
				}
				print "]}"
			} }' >features.jsonl
	run 0 "$load" -q --mode if-new --features-by words --emit new by.load features.jsonl
	cp out want
	n=$(wc -l <want)
	[ "$n" -gt 150 ] && [ "$n" -lt 380 ] || fail "$n of 400 rows of features are new"
	for how in '' '--threads 3 --memory 64M'; do
		rm -f dups
		# shellcheck disable=SC2086
		run 0 "$dedup" -q $how --stream --dups dups features.jsonl
		same out want
		[ "$(cut -f 1 dups | sort | uniq -c | tr -s ' ')" = " $((400 - n)) fp" ] || fail '--dups of features'
	done
	run 0 "$dedup" -q --drop-list features.jsonl
	[ "$(wc -l <out)" -eq $((400 - n)) ] || fail '--drop-list of features'
	run 0 "$dedup" -q --stream --accept 0 features.jsonl
	[ "$(wc -l <out)" -gt "$n" ] || fail '--accept 0 of features'
	run 0 "$dedup" -q --stream --index features features.jsonl
	same out want
	run 0 "$dedup" --stream --index features features.jsonl
	[ ! -s out ] || fail 'features are not remembered'
	run 2 "$dedup" -q --stream --index by.load features.jsonl
	says 'by.load: the index holds what "features words" has made, so features do not fit'
	run 2 "$dedup" -q --similarity 0.9 features.jsonl
	says '--similarity is about texts, and the inputs have features'
	run 2 "$dedup" -q --bits 32 features.jsonl
	says '--bits is about bare fingerprints, and the inputs have features'
	echo '{"fp": "0123456789abcdef"}' | cat features.jsonl - >mixed.jsonl
	run 1 "$dedup" -q --stream mixed.jsonl
	says 'mixed.jsonl:401: a fingerprint, and the inputs before have features'
	same out want
fi

# Texts by their first fingerprint and a radius: the same as its fingerprints by themselves.
if [ -n "${SX_TEXT-}" ]; then
	mkdir texts
	awk 'function random(n) { x = (x * 69069 + 12345) % 4294967296; return int(x / 4294967296 * n) }
		BEGIN { x = 8
			for (d = 1; d <= 200; d++) {
				f = sprintf("texts/%03d", d); from = d > 1 && random(2) ? 1 + random(d - 1) : 0
				for (i = 1; i <= 150; i++) {
					w[d, i] = from && random(30) ? w[from, i] : "w" random(3000)
					printf "%s ", w[d, i] >f
				}
				close(f)
			} }'
	run 0 "$load" -q texts.ix -r texts
	"$query" -q dump texts.ix | cut -f 2 >fps
	replay 6 | awk '$1 != $2 { printf "texts/%03d\ttexts/%03d\n", $1, $2 }' >want
	[ "$(wc -l <want)" -ge 10 ] || fail 'few texts are near to others'
	rm -f dups
	run 0 "$dedup" -q --no-verify -k 6 --stream --dups dups -r texts
	cut -f 2- dups | cmp - want || fail '--no-verify with a radius'
	grep -v '^fp	' dups && fail 'the similarity is not fp'
	run 0 "$dedup" -q --no-verify -r texts
	cut -f 2 out | sort -u | tr '\n' ' ' | grep -qx 'fp same ' || fail '--no-verify'
fi
finish
