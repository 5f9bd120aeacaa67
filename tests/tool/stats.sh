#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
#
# simidx-query stats: the figures of an index follow from each other, and its limit from how many
# fingerprints there are.
. "$SX_SRCDIR/tests/tool/tool_lib.sh"

# member NAME: the value of the first member of this name in ./out.
member() {
	grep -o "\"$1\":[^,}]*" out | head -1 | cut -d : -f 2-
}

# is NAME VALUE; lacks NAME
is() {
	[ "$(member "$1")" = "$2" ] || fail "$1 is $(member "$1"), not $2"
}

lacks() {
	! grep -q "\"$1\":" out || fail "there is a member $1"
}

# ---- nothing is stored: figures of a document or entry are not known ----

run 0 "$load" -q -F lines none - </dev/null
run 0 "$query" --json stats none
is documents 0
is next_id 0
for name in bytes_per_document limit_bits bytes_per_entry unknown_fp2 times notes durability; do
	lacks $name
done
run 0 "$query" stats none
! grep -qE '^(bytes per document|No table|times|notes|of them not known)' out ||
	fail 'figures of nothing'
grep -qx 't01  *16  *0  *0  *0  *-  *-' out || fail 'a table of nothing'

# ---- the limit: log2(C(2^bits, n)) / n ----

# limit BITS MEMBER BYTES: of the fingerprints on standard input, in an index of so many bits.
limit() {
	rm -rf one
	run 0 "$load" -q -F lines --bits "$1" one -
	run 0 "$query" --json stats one
	is limit_bits "$2"
	run 0 "$query" stats one
	tail -1 out >last
	[ "$(cat last)" = "No table t.. of random fingerprints can be smaller than $3 bytes an entry." ] ||
		fail "not the limit $3: $(cat last)"
}

printf 'a1\n' | limit 64 64 8.00
# 2^64 (2^64 - 1) / 2 pairs: 127 bits of two.
printf 'a1\nb2\n' | limit 64 63.5 7.94
# Equal fingerprints are one entry of a table.
printf 'a1\nb2\nb2\n' | limit 64 63.5 7.94
printf 'a1\n' | limit 16 16 2.00
# All that there are: nothing is left to be told.
seq 0 65535 | awk '{ printf "%04x\n", $1 }' >all
limit 16 0 0.00 <all

# ---- a table's figures ----

# Ids, labels, second fingerprints: all tables have entries but that of fresh rows.
seq 1 3000 | awk '{ printf "{\"fp\":\"%016x\",\"fp2\":\"%016x\",\"label\":\"p%d\"}\n", $1 * 999, $1, $1 }' \
	>rows.jsonl
if [ -n "${SX_JSON-}" ]; then
	run 0 "$load" -q --fp2 ix rows.jsonl
else
	run 0 "$load" -q -F lines ix - < <(seq 1 3000 | awk '{ printf "%x\n", $1 * 999 }')
fi
run 0 "$query" --json stats ix
is documents 3000
is distinct 3000
is fill 90
if [ -n "${SX_JSON-}" ]; then
	is fp2 true
	is unknown_fp2 0
	is labels 3000
fi
cp out json
sed 's/.*"tables":\[//; s/},{/\n/g' json | tr -d '{}[]"' >tables
awk -F , -v used="$(member used_bytes)" -v page="$(member page_bytes)" \
	-v each="$(member bytes_per_document)" '
	# How far a number that is printed with six digits may be from what it is.
	function differs(printed, is) { return printed - is > is / 1e5 || is - printed > is / 1e5 }
	BEGIN { if (differs(each, used / 3000)) print "bytes_per_document is " each }
	{
		split("", m)
		for (i = 1; i <= NF; i++)
			m[substr($i, 1, index($i, ":") - 1)] = substr($i, index($i, ":") + 1)
		name = m["table"]
		n++
		if (("prefix_bits" in m) != (name ~ /^t[0-9]/))
			print name ": prefix_bits"
		if (m["entries"] == 0) {
			if ("fill" in m || "bytes_per_entry" in m)
				print name ": figures of nothing"
			next
		}
		filled++
		if (differs(m["bytes_per_entry"], m["pages"] * page / m["entries"]))
			print name ": bytes_per_entry is " m["bytes_per_entry"]
		if (differs(m["fill"], m["bytes_used"] / (m["pages"] * page)))
			print name ": fill is " m["fill"]
		if (m["fill"] > 1)
			print name ": more than full"
		if (name ~ /^t[0-9]/ && m["entries"] != 3000)
			print name ": " m["entries"] " entries"
		pages += m["pages"]
	}
	END {
		if (n < 7 || filled < 5)
			print n " tables, of which " filled " have entries"
		if (pages * page > used)
			print "pages of tables take more than is used"
	}' tables >wrong
[ ! -s wrong ] || { fail 'figures do not follow from each other'; cat wrong tables; }

# What is for people says the same, the fill in percent.
run 0 "$query" stats ix
awk 'function member(line, name) {
		if (!match(line, name ":[^,]*"))
			return "-"
		return substr(line, RSTART + length(name) + 1, RLENGTH - length(name) - 1)
	}
	function figure(value, factor) { return value == "-" ? "-" : sprintf("%.2f", value * factor) }
	{
		print member($0, "table"), member($0, "prefix_bits"), member($0, "entries"),
			member($0, "keys"), member($0, ",pages"),
			figure(member($0, "bytes_per_entry"), 1), figure(member($0, "fill"), 100)
	}' tables >expected
sed -n '/^table /,/^$/p' out | sed '1d; $d; s/  */ /g' >shown
same shown expected

# ---- what an index is ----

need_json
# Of two documents the second fingerprint is not known.
for i in 1 2 3 4 5; do
	echo "{\"fp\":\"$i\",\"fp2\":$([ $i -gt 3 ] && echo null || echo '"a"'),\"label\":\"x$i\",\"id\":$((10 * i))}"
done >unknown.jsonl
run 0 "$load" -q --fp2 --fill 80 --plan 3x22 unknown unknown.jsonl
run 0 "$query" --json stats unknown
is unknown_fp2 2
run 0 "$query" stats unknown
sed '/^format/,$d' out >shown
cat >expected <<'END'
index                 unknown
documents             5
distinct in tables    5
fresh rows            0
labels                5
next id               51
bits                  64
plan                  3x22
layout                blocks
fill of merges        80 %
ids                   yes
second fingerprints   yes
of them not known     2
texts by              -
END
same shown expected
# One is deleted: a change that waits for a merge, and the id stays used.
run 0 "$query" -q delete unknown --id 50
run 0 "$query" --json stats unknown
for is in documents:4 distinct:5 fresh_rows:1 labels:4 next_id:51 fill:80 ids:true fp2:true 'plan:"3x22"' \
	'layout:"blocks"' 'profile:""'; do
	is "${is%%:*}" "${is#*:}"
done
# Times are told where there are such.
run 0 "$load" -q --times -F lines more - <<<12
run 0 "$query" --json stats more
is times true
lacks notes
run 0 "$query" stats more
grep -qx 'times  *yes' out || fail 'no times'
# There is a next id where there are ids, and one that is left.
run 0 "$load" -q -F lines --ids none bare - <<<12
run 0 "$query" stats bare
grep -qx 'next id  *-' out || fail "a next id without ids: $(grep '^next' out)"
run 0 "$query" --json stats bare
lacks next_id
run 0 "$load" -q -F tsv full - <<<'9223372036854775807	12'
run 0 "$query" stats full
grep -qx 'next id  *-' out || fail "an id above the largest: $(grep '^next' out)"
run 0 "$query" --json stats full
is next_id null
finish
