#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
#
# Notes in full dumps, by a loader and by a writer, and what copies of all kinds keep of them.
. "$SX_SRCDIR/tests/tool/tool_lib.sh"
need_json

# Documents 0 to 39; every third has a note: of one byte, of some, of many, and some that are no UTF-8.
awk 'BEGIN {
	printf "{\"format\":\"simidx-dump\",\"version\":1,\"bits\":64,\"ids\":true,\"fp2\":false,"
	printf "\"notes\":true,\"plan\":\"4x16\",\"layout\":\"blocks\",\"fill\":90,\"profile\":\"\","
	print "\"check_fps\":[],\"next_id\":40,\"documents\":40,\"labels\":1}"
	for (i = 0; i < 40; i++) {
		printf "{\"id\":%d,%s\"fp\":\"%016x\"", i, i == 7 ? "\"label\":\"seven\"," : "", 2^40 * i
		if (i % 3 == 0) {
			note = "n"
			for (j = 0; j < i; j++)
				note = note (i == 39 ? sprintf("%200s", j) : "\\u0001\\n") j
			if (i == 6)
				printf ",\"note_hex\":\"ff00fe\""
			else
				printf ",\"note\":\"%s\"", note
		}
		print "}"
	}
	print "{\"documents\":40}"
}' >all.full

# is_all INDEX: it has all documents, and is sound.
is_all() {
	run 0 "$query" verify "$1"
	"$query" dump --format full "$1" >found.full
	diff all.full found.full >difference && return
	fail "$1 has other documents (>)"
	head -c 1000 difference
}

run 0 "$load" -q bulk -F full all.full
is_all bulk
run 0 "$query" stats bulk
grep -qx 'notes  *14' out || fail 'stats do not count notes'
run 0 "$query" stats --json bulk
grep -qF '"notes":14,' out || fail 'stats for programs do not count notes'

# By insertion, in two parts.
head -1 all.full >first.full
sed -n 2,21p all.full >>first.full
echo '{"documents":20}' >>first.full
head -1 all.full >second.full
sed -n 22,41p all.full >>second.full
echo '{"documents":20}' >>second.full
run 0 "$load" -q grown -F full first.full
run 0 "$load" -q --write insert --merge never --commit 3 grown -F full second.full
is_all grown
run 0 "$load" --merge-only -q grown
is_all grown

run 0 "$query" compact bulk small
is_all small
run 0 "$query" compact grown
is_all grown
run 0 "$query" backup grown copy
is_all copy
run 0 "$query" repair grown repaired
is_all repaired
run 0 "$load" -q from --from bulk
is_all from

# A note of a document that is deleted is nobody's, now and after the merge.
run 0 "$query" delete bulk --id 6 9
run 0 "$load" -q bulk -F tsv --id-field 1 --fp-field 2 - <<<$'6\t06'
for merged in no yes; do
	run 0 "$query" verify bulk
	run 0 "$query" stats bulk
	grep -qx 'notes  *12' out || fail "stats do not count notes (merged: $merged)"
	"$query" dump --format full bulk | grep -q '"id":6,.*note' && fail 'document 6 has a note'
	run 0 "$load" --merge-only -q bulk
done

# ---- what is refused ----

run 0 "$load" -q plain -F lines - <<<aa
run 2 "$load" plain -F full all.full
says 'all.full:1: the dump has notes, and plain no notes'
"$query" dump --format full plain >plain.full
run 2 "$load" copy -F full plain.full
says 'plain.full:1: the dump has no notes, and copy notes'
sed '1s/"notes":true/"notes":2/' all.full >wrong.full
run 2 "$load" new -F full wrong.full
says 'wrong.full:1: "notes": expected true or false'
sed '5s/"note":"[^"]*"/"note":3/; 8s/}/,"note":"six"}/' all.full >wrong.full
run 1 "$load" -q new -F full wrong.full
says 'wrong.full:5: expected one string, "note" or "note_hex"'
says 'wrong.full:8: expected one string, "note" or "note_hex"'
sed '8s/ff00fe/ff00f/' all.full >wrong.full
run 1 "$load" -q new2 -F full wrong.full
says 'wrong.full:8: "note_hex": expected an even number of hexadecimal digits'
sed '5s/"note":"[^}]*}/"note":""}/' all.full >wrong.full
run 1 "$load" -q new3 -F full wrong.full
says 'wrong.full:5: a note has 1 to 8388608 bytes, this one 0'
# What says of itself that it has no notes has none.
sed '1s/"notes":true,//' all.full >none.full
run 1 "$load" -q none -F full none.full
says 'none.full:2: has a note, against what the first line of the dump says'
run 2 "$load" new4 --from plain --from copy
says 'copy: it has other columns'

# ---- damage ----

# A byte of a long note, which has pages of its own.
cp -r copy hurt
at=$(grep -abo '                 20' hurt/data.mdb | head -1 | cut -d: -f1)
printf x | dd of=hurt/data.mdb bs=1 seek="$at" conv=notrunc status=none
run 1 "$query" verify hurt
grep -q 'the note of document 39 is not the one that was stored' out || fail 'verify does not tell'
run 1 "$query" dump --format full hurt
says 'the note of document 39 is not the one that was stored'
run 1 "$query" repair hurt mended
says 'lost: 1 note'
grep -q $'^note\tnotes\t' out || fail 'the loss is not listed'
run 0 "$query" verify mended
"$query" dump --format full mended >found.full
sed -E 's/("id":39,.*),"note":"[^"]*"/\1/' all.full | diff - found.full >difference ||
	fail 'not all but the note of document 39 is there'

finish
