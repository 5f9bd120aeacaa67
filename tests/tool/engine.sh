#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
#
# The tools on an index that an engine holds, by its URI: the same options, output and exit codes as on
# one in a directory; what an engine cannot do is refused by name.
. "$SX_SRCDIR/tests/tool/tool_lib.sh"

[ -x "$SX_BUILDDIR/tests/engine/query" ] || skip 'built without tests in C'
local_load=$load local_query=$query far_dedup=$dedup
# The tools with an engine in memory, unless there is another one.
if [ -z "${SIMIDX_TEST_URI-}" ]; then
	load=$SX_BUILDDIR/tests/engine/load
	query=$SX_BUILDDIR/tests/engine/query
	far_dedup=$SX_BUILDDIR/tests/engine/dedup
fi

# far NAME: an index that the engine holds, in memory or, with SIMIDX_TEST_URI, elsewhere.
far() {
	local base=${SIMIDX_TEST_URI:-memory://$tmp/} name
	name=${base%%\?*}
	echo "$name$1${base#"$name"}"
}
uri=$(far far)

# both CODE TOOL ARGUMENT...: with INDEX for the index. The same status and output from both.
both() {
	local code=$1 tool=$2 there here
	shift 2
	if [ "$tool" = load ]; then there=$load here=$local_load; else there=$query here=$local_query; fi
	run "$code" "$here" "${@//INDEX/near}"
	cp out expected
	run "$code" "$there" "${@//INDEX/$uri}"
	same out expected
}

# ---- fingerprints with ids and labels ----

"$helpers/linear_scan" documents 3000 5 >documents.tsv
both 0 load -q --write insert --commit 700 INDEX documents.tsv
both 0 query dump INDEX
same out documents.tsv
both 0 query dump INDEX --format jsonl
cut -f2 documents.tsv | sed -n '1~50p' >queries
both 0 query search INDEX -F lines queries
for k in 0 5 7 20; do
	both 0 query search INDEX --radius $k --limit 5 -F lines queries
done
both 0 query search INDEX --json "$(head -1 queries)"
first=$(sed -n 1p documents.tsv | cut -f1)
second=$(sed -n 900p documents.tsv | cut -f1)
both 0 query get INDEX --id "$first" "$second"
both 1 query get INDEX --id 999999
label=$(cut -f3 documents.tsv | grep . | head -1)
both 0 query get INDEX --label "$label"

# ---- changes ----

printf '%s\n' "$first	00000000000000ff	five" '999999	00000000000000fe	new' >changes.tsv
both 0 load -q --mode replace INDEX changes.tsv
echo "$second" >ids
both 0 load -q --mode delete -F ids INDEX ids
both 1 load -q --mode delete -F ids INDEX ids
printf '%s\n' 00000000000000fe 00000000ffff00fe >more
both 0 load -q --mode if-new --radius 2 -F lines --emit all INDEX more
both 1 load -q INDEX changes.tsv
third=$(sed -n 901p documents.tsv | cut -f1)
both 1 query --json delete INDEX --id "$third" 999998 "$second"
says "$second: not found"
both 0 query --json delete INDEX --label new
both 1 query --json delete INDEX --label new
both 0 query dump INDEX
run 0 "$query" verify "$uri"
run 0 "$query" stats "$uri" --json
grep -q '"documents":2999,' out || fail "stats: $(cat out)"
run 0 "$query" stats "$uri"
grep -q '^plan  *4x16$' out || fail "stats: $(cat out)"
run 0 "$query" search "$uri" --explain 00000000000000fe
grep -q 'round trips [12],' out || fail "explain: $(cat out)"

# ---- full dumps, both ways ----

run 0 "$query" dump "$uri" --format full
cp out full.jsonl
if [ -n "${SX_JSON-}" ]; then
	run 0 "$local_load" -q -F full back full.jsonl
	run 0 "$local_query" dump back --format full
	sed 's/"fill":90,//; s/"layout":"blocks",//' out >back.jsonl
	sed 's/"layout":"rows",//' full.jsonl | diff - back.jsonl >difference ||
		fail "$(head -5 difference)"
	run 0 "$load" -q -F full "$(far again)" full.jsonl
	run 0 "$query" dump "$(far again)" --format full
	same out full.jsonl
fi

# ---- what dedup asks for: the candidates of each document, and the labels of all together ----

if [ -z "${SIMIDX_TEST_URI-}" ]; then
	awk '$1 % 3 == 0 { print "\t" $2 "\tlabel" $1 }' documents.tsv >seen.tsv
	run 0 env SIMIDX_CALLS=calls "$far_dedup" --stream --index "$(far far-labels)" --radius 0 \
		--format tsv seen.tsv
	documents=$(wc -l <seen.tsv)
	[ "$(cat calls)" -ge "$documents" ] || fail "$(cat calls) look-ups for $documents documents"
	[ "$(wc -l <out)" -gt $((documents / 2)) ] || fail "only $(wc -l <out) documents are new"
	# Some fingerprints are there twice: then the document is looked up, too.
	[ "$(cat calls)" -lt $((documents * 3 / 2)) ] ||
		fail "$(cat calls) look-ups for $documents documents: labels are looked up one by one"
fi

# ---- features go through the queue, too ----

if [ -n "${SX_JSON-}" ]; then
	for i in 1 2 3 4; do
		echo "{\"id\":$i,\"features\":[[\"a$i\",2],[\"b\",1],[\"c$((i * i))\",0.5]]}"
	done >features.jsonl
	run 0 "$local_load" -q --features-by me features features.jsonl
	run 0 "$load" -q --features-by me "$(far far-features)" features.jsonl
	run 0 "$local_query" dump features
	cp out expected
	run 0 "$query" dump "$(far far-features)"
	same out expected
fi

# ---- texts ----

if [ -n "${SX_TEXT-}" ]; then
	for i in $(seq 300); do
		echo "text number $((i / 3)) says $((i * 7919 % 101)) things about $((i / 3 * 13)) words and more"
	done >texts
	mkdir files
	split -l 1 -a 3 -d texts files/ --additional-suffix .txt
	run 0 "$local_load" -q -r --write insert near-texts files
	run 0 "$load" -q -r "$(far far-texts)" files
	run 0 "$local_query" search near-texts --text files/007.txt files/299.txt
	cp out expected
	run 0 "$query" search "$(far far-texts)" --text files/007.txt files/299.txt
	same out expected
	[ -s expected ] || fail 'no text is found'
	run 0 "$local_query" dump near-texts
	cp out expected
	run 0 "$query" dump "$(far far-texts)"
	same out expected
	run 0 "$dedup" --stream --index near-seen files/00*.txt
	cp out expected
	run 0 "$far_dedup" --stream --index "$(far far-seen)" files/00*.txt
	same out expected
	"$far_dedup" --stream --index "$(far far-seen)" files/0*.txt >out
	"$dedup" --stream --index near-seen files/0*.txt >expected
	same out expected
fi

# ---- a commit that was cut off: others are cut off by tests of their own ----

if [ -z "${SIMIDX_TEST_URI-}" ]; then
	run 2 env SIMIDX_BREAK=150 "$load" -q "$(far cut)" documents.tsv
	grep -q 'broken off' err || fail "$(cat err)"
	unseen=
	run 1 "$query" verify "$(far cut)"
	says ': damaged: '
	run 1 "$query" repair "$(far cut)" --dry-run
	says ' problems, and nothing'
	run 0 "$query" repair "$(far cut)"
	run 0 "$query" verify "$(far cut)"
	run 0 "$query" repair "$(far cut)"
fi

# ---- refusals ----

# refused WORDS COMMAND...
refused() {
	run 2 "${@:2}"
	grep -qF -- "$1" err || fail "$(cat err)"
	unseen=
}

name=Memory
case ${SIMIDX_TEST_URI-} in hbase:*) name=HBase ;; redis:*) name=Redis ;; esac
refused 'no engine for elsewhere://' "$query" search elsewhere://localhost:1/x:y 00
if [[ " $SX_ENGINES " != *hbase* ]]; then
	refused "'./configure --with-hbase' builds it with one" "$local_query" stats hbase://localhost:1/x
fi
for scheme in redis rediss unix; do
	[[ " $SX_ENGINES " != *redis* ]] || break
	refused "'./configure --with-redis' builds it with one" "$local_load" $scheme://localhost:1/x documents.tsv
done
refused 'no engine for nothing://' "$load" nothing://here documents.tsv
refused 'there is n' "$query" dump "$(far missing)"
refused "not for an index of $name" "$query" pairs "$uri"
refused "not for an index of $name" "$query" clusters "$uri"
refused "not for an index of $name" "$query" backup "$uri" copy
refused "not for an index of $name" "$query" compact "$uri"
refused 'keeps no times, so --older-than does not fit' "$query" delete "$uri" --older-than 1d
refused 'keeps no times, so --newer-than does not fit' "$query" search "$uri" --newer-than 1d 00
refused 'no NEW' "$query" repair "$uri" new
refused 'NEW is missing' "$query" repair near
refused 'dry-run' "$query" repair near new --dry-run
refused '--from' "$load" --from near "$(far x)"
refused '--from' "$load" --from "$uri" new
refused 'rebuild' "$load" --write rebuild "$uri" documents.tsv
refused 'has one of 4x16' "$load" --plan 3x22 "$(far x)" documents.tsv
refused 'has ids' "$load" --ids none "$(far x)" documents.tsv
refused 'exists already' "$load" --create must "$uri" documents.tsv
run 0 "$load" -q --create truncate --plan 10x26 "$uri" documents.tsv
run 0 "$query" stats "$uri"
grep -q '^plan  *10x26$' out || fail "stats: $(cat out)"

finish
