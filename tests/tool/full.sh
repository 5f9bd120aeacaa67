#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
#
# dump --format full -> load -F full makes the same index again: documents, labels of any bytes, second
# fingerprints, profile, next id and mark. A dump that was cut or changed is refused.
. "$SX_SRCDIR/tests/tool/tool_lib.sh"

# line_of BITS IDS FP2 PROFILE REST: a first line of an index in the default form.
line_of() {
	printf '{"format":"simidx-dump","version":1,"bits":%s,"ids":%s,"fp2":%s,"plan":"4x16",' "${@:1:3}"
	printf '"layout":"blocks","fill":90,"profile":"%s","check_fps":[],%s}\n' "${@:4:2}"
}

printf '%s\n' '3	00000000000000aa	plain' '4	00000000000000aa	tab\tnewline\nreturn\r' \
	'5	00000000000000ab	back\\slash "quoted" {json}' '6	ffffffffffffffff	\xff\xfe\x00\x01\x7f' \
	'7	8000000000000000	' '8	0000000000000000	\x00' '9	00000000000000ac	Grüße 世界 𝔸' >labels.tsv
run 0 "$load" -q labels labels.tsv
run 0 "$query" dump --format full labels
{
	line_of 64 true false '' '"next_id":10,"documents":7,"labels":6'
	cat <<'END'
{"id":3,"label":"plain","fp":"00000000000000aa"}
{"id":4,"label":"tab\tnewline\nreturn\r","fp":"00000000000000aa"}
{"id":5,"label":"back\\slash \"quoted\" {json}","fp":"00000000000000ab"}
{"id":6,"label_hex":"fffe00017f","fp":"ffffffffffffffff"}
{"id":7,"fp":"8000000000000000"}
{"id":8,"label":"\u0000","fp":"0000000000000000"}
{"id":9,"label":"Grüße 世界 𝔸","fp":"00000000000000ac"}
{"documents":7}
END
} | output
run 0 "$query" dump --json --format full labels
cp out labels.full
run 0 "$query" dump --format jsonl labels
same out <(sed '1d;$d' labels.full)
if [ -z "${SX_JSON-}" ]; then
	run 2 "$load" copy -F full labels.full
	says 'built without JSON support'
	finish
fi

# again INDEX OPTION...: an index is made of a dump.
again() {
	rm -rf copy
	"$query" dump --format full "$1" >dumped || fail "dump $1"
	run 0 "$load" -q "${@:2}" -F full copy - <dumped
	"$query" dump --format full copy >copied || fail "dump of the copy of $1"
	"$query" -q verify copy >/dev/null || fail "the copy of $1 is damaged"
}

# is_same INDEX: so it is in every way to write it, and in others only where options say so.
is_same() {
	local how
	for how in '' '--write insert' '--write insert --merge never --commit 2'; do
		# shellcheck disable=SC2086
		again "$1" $how
		same dumped copied
	done
	again "$1" --layout rows --plan 20x31 --fill 100
	same <(tail -n +2 dumped) <(tail -n +2 copied)
	same <(head -1 dumped | sed -E 's/"plan":"[^"]*","layout":"[a-z]*","fill":[0-9]*,/@/') \
		<(head -1 copied | sed 's/"plan":"20x31","layout":"rows","fill":100,/@/')
}

is_same labels
run 0 "$load" -q --layout rows --plan 10x26 --fill 70 rows labels.tsv
is_same rows
same <(tail -n +2 dumped) <(tail -n +2 labels.full)
run 0 "$load" -q --bits 17 narrow -F lines - <<<$'00000\n1ffff\n0abcd'
is_same narrow
run 0 "$load" -q --merge never fresh labels.tsv
is_same fresh
run 0 "$load" -q empty -F lines - </dev/null
is_same empty
run 0 "$query" dump --format full empty
{
	line_of 64 true false '' '"next_id":0,"documents":0,"labels":0'
	echo '{"documents":0}'
} | output
run 0 "$load" -q --ids none bare -F lines - <<<$'00000000000000bb\n00000000000000aa\nffffffffffffffff'
is_same bare
run 0 "$query" dump --format full bare
{
	line_of 64 false false '' '"documents":3'
	printf '{"fp":"%s"}\n' 00000000000000aa 00000000000000bb ffffffffffffffff
	echo '{"documents":3}'
} | output
"$helpers/linear_scan" documents 100000 7 >large.tsv
run 0 "$load" -q large large.tsv
again large
same dumped copied
run 0 "$query" dump copy
same out large.tsv
# Into an index that is there: by then most of it is for a rebuild.
run 0 "$load" -q grown labels.tsv
sed 's/"id":\([0-9]*\)/"id":9\1/' dumped >moved.full
run 0 "$load" -q grown -F full moved.full
run 0 "$query" dump grown
same out <(cat labels.tsv <(sed 's/^/9/' large.tsv))

# Second fingerprints, also one that is not known, and features that others made.
line_of 64 true true 'features mine-1' '"next_id":3,"documents":3,"labels":1' >two.full
cat >>two.full <<'END'
{"id":0,"label":"a","fp":"00000000000000aa","fp2":"ffffffffffffffff"}
{"id":1,"fp":"00000000000000aa","fp2":null}
{"id":2,"fp":"00000000000000ac","fp2":"0000000000000000"}
{"documents":3}
END
run 0 "$load" -q two -F full two.full
run 0 "$query" dump --format full two
same out two.full
again two
same dumped copied
# Built alone: a writer takes a document without only where there are some.
rm -rf copy
run 1 "$load" --write insert copy -F full two.full
says 'its second fingerprint is not known'
run 0 "$load" -q two -F full --write insert - <<<"$(head -1 two.full)"$'
{"id":9,"fp":"00000000000000aa","fp2":null}\n{"documents":1}'
run 0 "$query" get two --id 9

# Documents that were deleted at the end leave their ids used up, with a writer and with a loader.
run 0 "$load" -q --mode delete labels -F ids - <<<$'8\n9'
is_same labels
head -1 copied | grep -qF '"next_id":10,"documents":5,"labels":4' || fail 'the next id'
run 0 "$load" -q copy -F lines - <<<00000000000000cc
run 0 "$query" get copy --id 10
run 0 "$load" -q low -F lines - <<<00000000000000ee
run 0 "$load" -q low -F full - < <("$query" dump --format full labels)
run 0 "$load" -q low -F lines - <<<00000000000000cc
run 0 "$query" get low --id 10
# One that is larger already stays, and the largest id may have been used.
run 0 "$load" -q copy -F full - <<<"$(line_of 64 true false '' '"next_id":2,"documents":0')"$'\n{"documents":0}'
run 0 "$load" -q copy -F lines - <<<00000000000000cd
run 0 "$query" get copy --id 11
run 0 "$load" -q largest -F tsv - <<<'9223372036854775807	00000000000000aa	'
is_same largest
head -1 copied | grep -qF '"next_id":null' || fail 'no next id is left'
# Also when the document that had it is gone: the dump says so, and its id is not given again.
run 0 "$load" -q --mode delete largest -F ids - <<<9223372036854775807
is_same largest
head -1 copied | grep -qF '"next_id":null,"documents":0,' || fail 'ids are left'
run 1 "$load" -q copy -F lines - <<<00000000000000cc
says 'there is no id above the largest one'
run 0 "$load" -q copy -F tsv - <<<'5	00000000000000cc	'

# Several dumps go into one index, and the ids that were used up in any of them stay so. The mark of
# a program comes along, that of simidx-load does not.
run 0 "$load" -q marked -F full - <<<"$(line_of 64 true false '' '"next_id":7,"documents":0,"mark":"page 7"')"$'\n{"documents":0}'
is_same marked
head -1 copied | grep -qF '"documents":0,"labels":0,"mark":"page 7"}' || fail 'the mark'
sed 's/"mark":"page 7"/"mark_hex":"ff00"/' dumped >marked.full
"$query" dump --format full labels >deleted.full
for dumps in 'deleted.full marked.full' 'marked.full deleted.full'; do
	rm -rf copy
	# shellcheck disable=SC2086
	run 0 "$load" -q copy -F full $dumps
	run 0 "$query" dump --format full copy
	same <(head -1 out) <(line_of 64 true false '' \
		'"next_id":10,"documents":5,"labels":4,"mark_hex":"ff00"')
done
run 0 "$load" -q copy -F lines - <<<00000000000000cc
run 0 "$query" dump --format full copy
same <(head -1 out) <(line_of 64 true false '' '"next_id":11,"documents":6,"labels":4')

# A load that was stopped goes on behind the first line.
sed 's/"id":5,.*"fp"/"id":5,"fp"/; s/00ab"/wrong"/' labels.full >wrong.full
rm -rf copy
run 2 "$load" --write insert --commit 1 --max-errors 0 copy -F full wrong.full
says '--resume goes on after'
run 1 "$load" --write insert --resume copy -F full wrong.full
says 'wrong.full:4:'
run 0 "$query" dump --format full copy
same <(grep -v '"id":5' labels.full | sed 's/"documents":7,"labels":6/"documents":6,"labels":5/; s/:7}$/:6}/') out

if [ -n "${SX_TEXT-}" ]; then
	mkdir texts
	for i in 1 2 3; do
		printf 'text number %d has words of its own, and some that all have\n' $i >texts/$i.txt
	done
	run 0 "$load" -q -r texts.index texts
	is_same texts.index
	head -1 copied | grep -q '"check_fps":\["' || fail 'no check fingerprints'
	run 0 "$query" similar --index copy texts/1.txt texts/1.txt
	run 0 "$query" search --text copy texts/2.txt
	grep -q 'texts/2.txt' out || fail 'a text is not found in the copy'
	head -1 copied | sed 's/"check_fps":\["./&0/; s/\(\["..\)./\1/' >other.full
	echo '{"documents":0}' >>other.full
	run 2 "$load" texts.index -F full other.full
	says 'the fingerprints of the check texts differ'
fi

# ---- what is refused ----

# refused MESSAGE LINE...: a dump of these lines is not loaded, and no index is made of it.
refused() {
	local message=$1
	shift
	rm -rf new
	printf '%s\n' "$@" >bad.full
	run 2 "$load" new -F full bad.full
	says "simidx-load: bad.full$message"
	[ ! -e new ] || fail "an index was made: $message"
}

first=$(line_of 64 true false '' '"next_id":1,"documents":1')
row='{"id":0,"fp":"00000000000000aa"}'
: >bad.full
run 2 "$load" new -F full bad.full
says 'bad.full: is empty: expected the first line of a full dump'
refused ':1: no full dump: expected a first line' "$row" '{"documents":1}'
refused ':1: malformed JSON' 'nonsense'
refused ':1: expected a JSON object' '[1]'
refused ':2: ends after this without its last line' "$first" "$row"
refused ':1: ends after this without its last line' "$first"
refused ':3: "documents" is 2, but 1 came before' "$first" "$row" '{"documents":2}'
refused ':2: "documents" is 1, but 0 came before' "$first" '{"documents":1}'
refused ':3: "documents": expected a number in' "$first" "$row" '{"documents":"1"}'
refused ':3: "documents": expected a number in' "$first" "$row" '{"documents":-1}'
refused ':4: comes after the last line of the dump' "$first" "$row" '{"documents":1}' "$first"
refused ':4: comes after the last line of the dump' "$first" "$row" '{"documents":1}' ''
refused ':2: a second first line, inside the dump' "$first" "$first" "$row" '{"documents":1}'
refused ':3: a second first line, inside the dump' "$first" "$row" "$first" '{"documents":1}'
printf '%s\n%s\n{"id":1,"fp":"00000' "$first" "$row" >cut.full
run 2 "$load" new -F full cut.full
says 'cut.full:3: malformed JSON'
says 'cut.full:3: ends after this without its last line'
[ ! -e new ] || fail 'an index was made of a dump that was cut'

# broken MESSAGE SED: the first line with something in it changed.
broken() {
	refused ":1: $1" "$(sed "$2" <<<"$first")" "$row" '{"documents":1}'
}

for key in bits ids fp2 profile check_fps next_id documents version; do
	broken "\"$key\": expected" "s/\"$key\"/\"other\"/"
	broken "\"$key\": expected" "s/\"$key\":[^,}]*/\"$key\":{}/"
done
for key in plan layout fill; do
	broken "\"$key\": expected" "s/\"$key\":[^,}]*/\"$key\":[7]/"
	sed "s/\"$key\":[^,}]*/\"other\":7/" <<<"$first" >good.full
	printf '%s\n' "$row" '{"documents":1}' >>good.full
	rm -rf new
	run 0 "$load" -q new -F full good.full
done
broken 'no full dump' 's/simidx-dump/simidx-other/'
broken 'a full dump of version 2, and this program reads version 1' 's/"version":1/"version":2/'
broken '"version": expected a number in' 's/"version":1/"version":99999999999/'
broken '"version": expected a number in' 's/"version":1/"version":1.5/'
broken '"bits": expected a number in 16..64' 's/"bits":64/"bits":65/'
broken '"bits": expected a number in 16..64' 's/"bits":64/"bits":0/'
broken '"ids": expected true or false' 's/"ids":true/"ids":1/'
broken '"next_id" does not go with "ids":false' 's/"ids":true/"ids":false/'
broken '"next_id": expected a number in' 's/"next_id":1/"next_id":-1/'
broken 'malformed JSON' 's/"next_id":1/"next_id":18446744073709551616/'
broken 'malformed JSON' 's/"next_id":1/"next_id":1,"next_id":2/'
broken '"fill": expected a number in 50..100' 's/"fill":90/"fill":101/'
broken '"layout": expected "blocks" or "rows"' 's/blocks/heaps/'
broken '"plan": expected a short string' "s/4x16/$(printf '%032d' 0)/"
broken '"plan": expected a short string' 's/4x16/4x16\\u0000/'
broken '"profile": expected a string without NUL' 's/"profile":""/"profile":"a\\u0000b"/'
broken '"profile_hex": expected an even number' 's/"profile":""/"profile_hex":"0"/'
broken '"profile": longer than 4096 bytes' "s/\"profile\":\"\"/\"profile\":\"$(printf '%04097d' 0)\"/"
broken '"check_fps": expected a list' 's/\[\]/[7]/'
broken '"check_fps": expected a list' 's/\[\]/["xyz"]/'
broken '"check_fps": expected a list' "s/\\[\\]/[$(yes '"00",' | head -65 | tr -d '\n')\"00\"]/"
broken '"mark": longer than 1024 bytes' "s/}\$/,\"mark\":\"$(printf '%01025d' 0)\"}/"
broken '"mark": expected a string' 's/}$/,"mark":1}/'
sed 's/4x16/7x19/' labels.full >unknown.full
rm -rf new
run 2 "$load" new -F full unknown.full
says 'new: unknown plan "7x19"; known are'
[ ! -e new ] || fail 'an index was made with an unknown plan'
run 0 "$load" -q new --plan 4x16 -F full unknown.full

# A row that means nothing is left out, as in any other input, and the others are stored.
printf '%s\n' "$first" "$row" '{"id":1,"text":"word"}' '{"id":2,"fp":7}' '{"documents":3}' >rows.full
rm -rf new
run 1 "$load" new -F full rows.full
says 'rows.full:3: expected a member "fp"'
says 'rows.full:4: "fp": expected a string'
sums_up 'index built with 1 document; 2 rows rejected'

# ---- what does not fit ----

# misfit MESSAGE OPTION...: labels.full does not go where the options say, and nothing changes there.
misfit() {
	local message=$1
	shift
	"$query" dump --format full there >before 2>&1
	run 2 "$load" there -F full labels.full "$@"
	says "labels.full:1: $message"
	"$query" dump --format full there >after 2>&1
	same before after
}

# there OPTION...: make an index of one document.
there() {
	rm -rf there
	run 0 "$load" -q there "$@" -F lines - <<<0aa
}

rm -rf there
misfit 'the dump has fingerprints of 64 bits, so --bits 32 does not fit' --bits 32
misfit 'the dump has ids, so --ids none does not fit' --ids none
misfit 'the dump has no second fingerprints, so --fp2 does not fit' --fp2
there --bits 32
misfit 'the dump has fingerprints of 64 bits, and there of 32'
there --ids none
misfit 'the dump has ids, and there no ids'
rm -rf there
run 0 "$load" -q there -F full two.full
misfit 'the dump has no second fingerprints, and there second fingerprints'
rm -rf there
run 0 "$load" -q there -F full - <<<"$(line_of 64 true false 'features mine-1' '"next_id":0,"documents":0')"$'\n{"documents":0}'
misfit "the dump is of 'bare fingerprints', and there of 'features mine-1'"
rm -rf new
run 2 "$load" new -F full two.full labels.full
says "labels.full:1: the dump has no second fingerprints, and the dump before it second fingerprints"
run 2 "$load" new2 --from bare -F full labels.full
says 'labels.full:1: the dump has ids, and bare no ids'
run 0 "$load" -q new2 --from rows --on-duplicate first -F full labels.full
run 0 "$query" dump new2
same out labels.tsv

run 2 "$load" new3 -F full --features-by mine labels.full
says '-F full: the first line says how texts have become fingerprints, so --features-by does not fit'
run 2 "$load" labels --mode delete -F full labels.full
says 'not full'
run 2 "$load" new3 -F full --header labels.full
says '--header is for the formats tsv and csv'
run 2 "$query" search labels -F full labels.full
says '--format'
run 2 "$dedup" -F full labels.full
says "jsonl, bin, npy, dump, features, found 'full'"
run 2 "$query" dump --json --format tsv labels
says '--json and --format tsv exclude each other'
finish
