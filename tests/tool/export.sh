#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
#
# export: the rows of an index in HBase, compared with what doc/hbase-design.md says that they are.
. "$SX_SRCDIR/tests/tool/tool_lib.sh"
rows=$helpers/sequence_rows

# rows_of DIR: all cells, by row.
rows_of() {
	"$rows" "$1/index/part-00000" >index.rows || fail "$1/index"
	"$rows" "$1/docs/part-00000" >docs.rows || fail "$1/docs"
}

# index_rows <TSV: the rows of the plan 4x16 for fingerprints of 64 bits, in the order of the documents.
index_rows() {
	awk '{ for (t = 0; t < 4; t++) printf "%s0000%02x%s%016x d  \n", substr($2, 4 * t + 1, 4), t + 1, $2, $1 }'
}

# The hashes of labels are what 'printf %s LABEL | xxhsum -H2' prints. The second byte of a document's row
# is worked out from the formula for ids 0, 1 and 258: 0, 5 and 10.
printf '%s\n' '0	00000000000000ff	plain' '1	123456789abcdef0	' '258	ffffffffffffffff	\xff\t\x00' >small.tsv
run 0 "$load" -q small small.tsv
run 0 "$query" export small rows # --format is that by default
errors <<'END'
simidx-query: rows: 3 documents for HBase: 12 rows for the table that is searched, 7 for that of the documents
END
diff <(find rows | sort) \
	<(printf '%s\n' rows rows/docs rows/docs/part-00000 rows/index rows/index/part-00000) || fail files
rows_of rows
same index.rows <(index_rows <small.tsv)
cat >want.rows <<'END'
64000000000000000000 d  010200000000000000ff706c61696e
6cd1abdb249339a98e1f0dc959ee0b5f59 d 0000000000000000 31
64050000000000000001 d  0100123456789abcdef0
640a0000000000000102 d  0102ffffffffffffffffff0900
6c17ed5b58daad029ee2506e3d853b6214 d 0000000000000102 31
770000 d 6e 00000000000000030000000000000002
63 d  0000000000000103
END
same docs.rows want.rows

# Ids of documents that were deleted stay used up. Fresh rows are there, and nothing but those of documents.
run 0 "$load" -q --mode delete small -F ids - <<<258
run 0 "$query" -q export --format hbase-sequence small deleted
rows_of deleted
same index.rows <(head -2 small.tsv | index_rows)
same docs.rows <(sed '4,5d; s/0000000000000003\(0*\)2$/0000000000000002\11/' want.rows)
run 0 "$load" -q empty -F lines - </dev/null
run 0 "$query" -q export --format hbase-sequence empty none
rows_of none
[ ! -s index.rows ] || fail 'rows of no documents'
same docs.rows <(printf '%s\n' '770000 d 6e 00000000000000000000000000000000' '63 d  0000000000000000')

# Prefixes are aligned to the left: of 17 bits, in blocks of 5, 4, 4 and 4: 11010 1011 1100 1101.
run 0 "$load" -q --bits 17 narrow -F lines - <<<1abcd
run 0 "$query" -q export --format hbase-sequence narrow narrow.rows
rows_of narrow.rows
end=000000000001abcd0000000000000000
same index.rows <(printf '%s d  \n' d000000001$end b000000002$end c000000003$end d000000004$end)

# Other plans have other tables, whichever plan the index has: 20 choices of 3 of 6 blocks, of which the
# first one begins with 11 bits each.
run 0 "$query" -q export --format hbase-sequence --plan 20x31 small more
rows_of more
[ "$(wc -l <index.rows)" -eq 40 ] || fail 'rows of 20x31'
same <(cut -c 9-10 index.rows | sort | uniq -c) <(printf '      2 %02x\n' $(seq 20))
grep -q '^1234567801123456789abcdef00000000000000001 ' index.rows || fail 'the first table of 20x31'
run 0 "$load" -q --plan 3x22 large -F lines - <<<aa
run 2 "$query" export --format hbase-sequence large large.rows
says 'the plan 3x22 is none for HBase: --plan 4x16, 10x26, 16x28 or 20x31'
run 2 "$query" export --format hbase-sequence --plan 2x32 small large.rows
says 'the plan 2x32 is none for HBase'
run 0 "$query" -q export --format hbase-sequence --plan 10x26 large large.rows

# Many: a second reader of the same file goes on from a marker, and misses nothing.
"$helpers/linear_scan" documents 60000 9 >many.tsv
run 0 "$load" -q many many.tsv
run 0 "$query" -q export --format hbase-sequence many many.rows
rows_of many.rows
same index.rows <(index_rows <many.tsv)
same <(grep -c '^64' docs.rows) <(wc -l <many.tsv)
for offset in 200 3000000 17000000; do
	"$rows" many.rows/index/part-00000 $offset >second.rows || fail "from byte $offset"
	same second.rows <(tail -n "$(wc -l <second.rows)" index.rows)
	# A row takes 75 bytes, and a marker comes every 100,000.
	less=$((240000 - offset / 75 - $(wc -l <second.rows)))
	[ $less -ge 0 ] && [ $less -le 1400 ] || fail "from byte $offset $less rows less"
done

# ---- what is refused, or fails: nothing is left ----

run 2 "$query" export --format hbase-sequence small rows
says 'rows: exists already'
[ -e rows/index/part-00000 ] || fail 'what was there is gone'
run 2 "$query" export --format hbase-tsv small new
says "--format: expected one of hbase-sequence, found 'hbase-tsv'"
run 2 "$query" export --format hbase-sequence small no/new
says 'no/new: cannot be made: No such file or directory'
run 0 "$load" -q --ids none bare -F lines - <<<aa
run 2 "$query" export --format hbase-sequence bare new
says 'bare: has no ids, and rows in HBase need them'
run 0 "$load" -q --times timed -F lines - <<<aa
run 2 "$query" export --format hbase-sequence timed new
says 'timed: keeps times, and an index in HBase keeps no times'
(
	ulimit -f 1000
	run 2 "$query" export --format hbase-sequence many new
	says 'new: cannot write: File too large'
	[ "$failures" -eq 0 ]
) || fail 'with a limit'
# The rows of documents are longer here, and the last ones do not fit: the other part is complete by then.
seq 40 | awk '{ printf "%d\t%016x\t%0400d\n", $1, $1, $1 }' >long.tsv
run 0 "$load" -q long long.tsv
run 0 "$query" -q export --format hbase-sequence long whole
documents=$(stat -c %s whole/docs/part-00000) limit=$(((documents - 1) / 4096 * 4))
[ "$(stat -c %s whole/index/part-00000)" -le $((limit * 1024)) ] || fail 'the index is too long'
(
	ulimit -f $limit
	run 2 "$query" export --format hbase-sequence long new
	says 'new'
	[ "$failures" -eq 0 ]
) || fail 'with a limit for the documents'
[ ! -e new ] || fail 'something is left'
"$query" -q export --format hbase-sequence many new &
exporter=$!
until [ -e new/docs ] || ! kill -0 $exporter 2>/dev/null; do :; done
kill $exporter 2>/dev/null
if wait $exporter; then
	rm -r new
fi
[ ! -e new ] || fail 'something is left'

[ -n "${SX_JSON-}" ] || finish
# Second fingerprints, one of which is not known, and the mark of a program.
{
	echo '{"format":"simidx-dump","version":1,"bits":64,"ids":true,"fp2":true,"profile":"","check_fps":[],"next_id":9,"documents":2,"mark":"page 7"}'
	echo '{"id":0,"label":"plain","fp":"00000000000000aa","fp2":"ffffffffffffffff"}'
	echo '{"id":1,"fp":"00000000000000ab","fp2":null}'
	echo '{"documents":2}'
} >two.full
sed '1s/"fp2":true/&,"notes":true/' two.full >noted.full
run 0 "$load" -q noted -F full noted.full
run 2 "$query" export --format hbase-sequence noted new
says 'noted: keeps notes, and an index in HBase keeps no notes'
[ ! -e new ] || fail 'something is left'
run 0 "$load" -q two -F full two.full
run 0 "$query" -q export --format hbase-sequence two two.rows
rows_of two.rows
same docs.rows - <<'END'
64000000000000000000 d  010300000000000000aaffffffffffffffff706c61696e
6cd1abdb249339a98e1f0dc959ee0b5f59 d 0000000000000000 31
64050000000000000001 d  010400000000000000ab
770000 d 6e 00000000000000020000000000000001
63 d  0000000000000009
770000 d 6b 706167652037
END
finish
