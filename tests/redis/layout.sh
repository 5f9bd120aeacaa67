#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
#
# What is on the server: the client of doc/redis.md reads it, times are kept, dumps go there and back,
# stats tells how long it lasts, and verify finds and repair mends what somebody has damaged.
# shellcheck source=tests/tool/tool_lib.sh
. "$SX_SRCDIR/tests/tool/tool_lib.sh"
# shellcheck source=tests/redis/redis_lib.sh
. "$SX_SRCDIR/tests/redis/redis_lib.sh"

server main
uri=redis://127.0.0.1:$main/pages
"$helpers/linear_scan" documents 3000 5 >documents.tsv
awk -F '\t' '{ print $1 "\t" $2 "\t" $3 "\t" 1700000000 + NR }' documents.tsv >timed.tsv
run 0 "$load" -q --times --id-field 1 --fp-field 2 --label-field 3 --time 4 -F tsv "$uri" timed.tsv

# ---- another client ----

if command -v python3 >/dev/null; then
	sed -n '/^```python$/,/^```$/p' "$SX_SRCDIR/doc/redis.md" | sed '1d; $d' >client.py
	[ "$(grep -c . client.py)" -le 20 ] || fail "the client has $(grep -c . client.py) lines"
	for fp in $(cut -f2 documents.tsv | sed -n '1~300p'); do
		python3 client.py 127.0.0.1 "$main" pages "$fp" | sort >client.out
		run 0 "$query" search "$uri" --radius 3 "$fp"
		cut -f2,3 out | tr '\t' ' ' | sort | diff - client.out >difference || fail "$(cat difference)"
	done
	[ -s client.out ] || fail 'the client finds nothing'
fi

# ---- times ----

keys=$(keys_of main pages)
[ "$(cli main zcard "${keys}t")" -eq "$(cut -f1 timed.tsv | sort -u | wc -l)" ] || fail 'not all have a time'
cli main zrange "${keys}t" -inf '(1700000101' byscore | sort >old
head -100 timed.tsv | cut -f1 | sort >expected
same old expected
run 0 "$query" delete "$uri" --older-than 1700000101
says "$uri: 100 documents older than 2023-11-14T22:15:01Z deleted"
[ "$(cli main zcard "${keys}t")" -eq 2900 ] || fail 'times of deleted documents are left'
run 0 "$query" delete "$uri" --older-than 1700000101
says "$uri: 0 documents older than"
# More than one transaction takes; and what another program has left in the list of times does no harm.
run 0 "$load" -q --times --id-field 1 --fp-field 2 --label-field 3 --time 4 -F tsv "$uri-2" timed.tsv
keys2=$(keys_of main "${uri##*/}-2")
for i in $(seq 50); do echo "zadd ${keys2}t $i $((90000000 + i))"; done | redis-cli -s "$tmp/main.sock" >/dev/null
run 0 "$query" delete "$uri-2" --older-than 1700002501
says "$uri-2: 2,500 documents older than"
run 0 "$query" dump "$uri-2"
[ "$(grep -c . out)" -eq 500 ] || fail "$(grep -c . out) documents are left of 3,000"
for i in $(seq 51 1000); do echo "zadd ${keys2}t $i $((90000000 + i))"; done | redis-cli -s "$tmp/main.sock" >/dev/null
run 2 "$query" delete "$uri-2" --older-than 1700000101
says 'its list of times names documents that are not there, or not old'
cli main zremrangebyscore "${keys2}t" 0 2000 >/dev/null
run 0 "$query" verify "$uri-2"
run 1 "$query" search --newer-than 2030-01-01 "$uri" 00
output </dev/null
run 0 "$query" verify "$uri"

# ---- dumps ----

if [ -n "${SX_JSON-}" ]; then
	run 0 "$query" dump "$uri" --format full
	cp out full.jsonl
	sed 's/"layout":"rows",//' out >far.jsonl
	run 0 "$load" -q -F full near full.jsonl
	run 0 "$query" dump near --format full
	sed 's/"fill":90,//; s/"layout":"blocks",//' out | diff - far.jsonl >difference || fail "$(head -5 difference)"
	run 0 "$load" -q -F full "$uri-again" full.jsonl
	run 0 "$query" dump "$uri-again" --format full
	sed 's/"layout":"rows",//' out | diff - far.jsonl >difference || fail "$(head -5 difference)"
fi

# ---- how long it lasts ----

run 0 "$query" stats "$uri"
grep -q '^durability  *appendonly no, save never$' out || fail "stats: $(cat out)"
server kept --appendonly yes --appendfsync always
run 0 "$load" -q -F lines "redis://127.0.0.1:$kept/x" /dev/null
run 0 "$query" stats --json "redis://127.0.0.1:$kept/x"
grep -q '"durability":"appendonly yes, appendfsync always"' out || fail "stats: $(cat out)"

# ---- an index in the place of another one ----

old=$(keys_of main pages-again)
run 0 "$load" -q --create truncate "$uri-again" documents.tsv
[ "$(cli main --scan --pattern "$old*" | wc -l)" -eq 0 ] || fail 'keys of the old index are left'
run 0 "$query" verify "$uri-again"

# ---- how long a step takes ----

# calls COMMAND...: of the script.
calls() {
	cli main config resetstat >/dev/null
	run 0 "$@"
	cli main info commandstats | sed -n 's/^cmdstat_evalsha:calls=\([0-9]*\).*/\1/p'
}
# In the last table all of these have one prefix, whose key has 320,000 bytes. What changes rows there copies them, so
# few documents go together.
crowd=redis://127.0.0.1:$main/crowd
seq 1 20000 | awk '{ printf "%d\t%08x%04xffff\n", $1, ($1 * 2654435761) % 4294967296, $1 }' >crowd.tsv
run 0 "$load" -q -F tsv "$crowd" crowd.tsv
head -100 crowd.tsv | cut -f1 >first
[ "$(calls "$load" -q --mode delete -F tsv "$crowd" first)" -ge 15 ] || fail 'a step deletes too much'
run 0 "$query" verify "$crowd"

# ---- damage ----

# wrong TEXT COMMAND...: verify finds that after this, and repair mends it.
wrong() {
	local text=$1
	shift
	cli main "$@" >/dev/null
	run 1 "$query" verify "$uri"
	grep -qF -- "$text" out err || { fail "verify does not say: $text"; head -5 out err; }
	run 1 "$query" repair "$uri" --dry-run
	says ', and nothing has changed'
	run 0 "$query" repair "$uri"
	run 0 "$query" verify "$uri"
}
document=$(sed -n 500p timed.tsv)
id=$(cut -f1 <<<"$document") fp=$(cut -f2 <<<"$document")
labeled=$(awk -F '\t' 'NR > 600 && $3 != ""' timed.tsv | head -1)
bucket=$(printf '%016x' $((id / 64)))
run 0 "$query" search "$uri" "$fp"
cp out found
wrong 'a row is missing' del "${keys}0:${fp:0:4}0000"
wrong 'it holds something else than rows' set "${keys}1:${fp:4:4}0000" short
cli main del "${keys}2:${fp:8:4}0000" >/dev/null
wrong 'it holds something else than rows' lpush "${keys}2:${fp:8:4}0000" x
wrong 'its label is missing' hdel "${keys}l" "$(cut -f3 <<<"$labeled")"
wrong 'a label is left over' hset "${keys}l" nobody "$id"
wrong 'its time is missing' zrem "${keys}t" "$id"
wrong 'a time is left over' zadd "${keys}t" 7 987654321
wrong 'is not in the list of keys' zrem "${keys}b" "$bucket"
labels=$(cli main hget '{pages}' labels)
wrong "2907 documents and $labels labels are counted, and there are 2900 and $labels" hincrby '{pages}' documents 7
# One repair mends the counts beside what it has removed and added.
cli main hset "${keys}l" nobody "$id" >/dev/null
cli main del "${keys}0:${fp:0:4}0000" >/dev/null
wrong 'are counted' hincrby '{pages}' labels 7
# Other keys with its tag are not its own.
cli main mset '{pages}user' x '{pages}user-x' x '{pages}USER:x' x >/dev/null
run 0 "$query" verify "$uri"
# Two documents with the fingerprint of a set of ids that is none: nothing of them is stored.
cli main set "${keys}i:ABCDEFGH" junk >/dev/null
printf '4142434445464748\n4142434445464748\n' >twice
run 2 "$load" -q -F lines "$uri" twice
says 'a key of the index holds something else'
[ "$(cli main exists "${keys}0:41420000")" -eq 0 ] || fail 'a step is half stored'
cli main del "${keys}i:ABCDEFGH" >/dev/null
wrong 'of an index that was replaced' set '{pages}abcd:0:00000000' x
run 0 "$query" search "$uri" "$fp"
same out found
# What a server that evicts keys takes: the documents are lost, and all that is left of them.
kept_by=$(cli main hlen "${keys}d:$bucket")
cli main del "${keys}d:$bucket" >/dev/null
run 1 "$query" verify "$uri"
grep -q 'is left over' out || fail "verify after an eviction: $(cat out)"
run 0 "$query" repair "$uri"
run 0 "$query" verify "$uri"
run 0 "$query" stats --json "$uri"
grep -q "\"documents\":$((2900 - kept_by))," out || fail "stats: $(cat out)"
# Searches and look-ups tell what is damaged, too.
id=$(tail -1 documents.tsv | cut -f1) fp=$(tail -1 documents.tsv | cut -f2)
bucket=$(printf %016x $((id / 64)))
# odd TEXT KEY COMMAND...: a command fails so, while this key has something else.
odd() {
	local text=$1 key=$2 set=$3
	shift 3
	cli main copy "$key" '{pages}saved' replace >/dev/null
	# shellcheck disable=SC2086
	cli main $set >/dev/null
	"$@" >out 2>err && fail "not refused: $*"
	says "$text"
	cli main copy '{pages}saved' "$key" replace >/dev/null
}
odd 'rows of a table are cut off' "${keys}0:${fp:0:4}0000" "append ${keys}0:${fp:0:4}0000 x" \
	"$query" search "$uri" "$fp"
odd 'a label has no id' "${keys}l" "hset ${keys}l odd 9223372036854775808" "$query" get --label "$uri" odd
odd 'the list of keys with documents' "${keys}b" "zadd ${keys}b 0 ff" "$query" dump "$uri"
odd 'the list of keys with documents' "${keys}b" "zadd ${keys}b 0 ffffffffffffffff" "$query" dump "$uri"
odd 'a key with documents has something else in it' "${keys}d:$bucket" "hset ${keys}d:$bucket 64 x" \
	"$query" dump "$uri"
odd 'the header has no version' '{pages}' 'hset {pages} version x' "$query" dump "$uri"
# A record that is damaged is told by its id.
cli main hset "${keys}d:$bucket" $((id % 64)) broken >/dev/null
refuses 1 "document $id" "$query" search "$uri" "$fp"
for record in '"\16........"' '"\5................"' '"\0........x"' '"\2........"' '"\8........\0\0\0\0"' '""' \
	'"\2........" .. string.rep("x", 65536)'; do
	cli main eval "redis.call('HSET', KEYS[1], ARGV[1], $record)" 1 \
		"${keys}d:$bucket" $((id % 64)) >/dev/null
	run 1 "$query" dump "$uri"
	says "document $id"
done
run 1 "$query" repair "$uri"
grep -qF "document $id: its record is damaged" out || fail "repair of a record: $(cat out)"
grep -q 'labels are counted' out || fail "counts after a record was removed: $(cat out)"
run 0 "$query" repair "$uri"
run 0 "$query" verify "$uri"

# Two documents say that a label is theirs: it is the one's whom the list names, and that of the other cannot be mended.
printf '0\t00000000000000aa\tmine\n1\t00000000000000ab\tother\n' >two.tsv
run 0 "$load" -q -F tsv "$uri-two" two.tsv
cli main eval 'redis.call("HSET", KEYS[1], "1", redis.call("HGET", KEYS[1], "0"))' \
	1 "$(keys_of main pages-two)d:0000000000000000" >/dev/null
run 1 "$query" repair "$uri-two"
says ', not all mended'
for command in verify repair; do
	run 1 "$query" $command "$uri-two"
	[ "$(cat out)" = $'labels\tdocument 1: another one has its label' ] || fail "$command of a label: $(cat out)"
done
says "$uri-two: 1 problem, not all mended"
run 0 "$query" get --label "$uri-two" mine
cut -f2 out | grep -qx 0 || fail "the label leads to $(cat out)"
run 0 "$query" delete "$uri-two" --id 1
run 0 "$query" verify "$uri-two"
run 0 "$query" get --label "$uri-two" mine

# ---- crowds ----

{ seq 50 | sed 's/.*/00000000000000ff/'; echo 00000000000000fe; } >crowd
run 0 "$load" -q -F lines "$uri-crowd" crowd
run 0 "$query" search "$uri-crowd" 00000000000000fe
[ "$(wc -l <out)" -eq 51 ] || fail "$(wc -l <out) of 51"
keys=$(keys_of main pages-crowd)
[ "$(cli main strlen "${keys}0:00000000")" -eq 40 ] || fail 'equal fingerprints have more than one row'
printf '%s\n' 0 1 3 $(seq 6 50) >more
run 0 "$load" -q --mode delete -F ids "$uri-crowd" more
run 0 "$query" dump "$uri-crowd"
cut -f1 out | tr '\n' ' ' | grep -qx '2 4 5 ' || fail "$(cat out)"
run 0 "$query" verify "$uri-crowd"

# ---- checks beside a writer find nothing ----

cut -f1,2 documents.tsv | awk -F '\t' '{ print $1 "\t" substr($2, 9) substr($2, 1, 8) "\t" }' >others.tsv
run 0 "$load" -q "$uri-beside" documents.tsv
for changes in others.tsv documents.tsv others.tsv documents.tsv; do
	"$load" -q --mode replace --commit 50 "$uri-beside" "$changes" || echo failed >failed
done &
writer=$!
for _ in 1 2 3; do
	run 0 "$query" verify "$uri-beside"
	run 0 "$query" repair "$uri-beside"
done
wait $writer
[ ! -e failed ] || fail 'a load beside a check has failed'
run 0 "$query" verify "$uri-beside"
finish
