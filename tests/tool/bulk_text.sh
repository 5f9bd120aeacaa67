#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
#
# Texts in bulk: whatever the threads, ids in the order of the input, and rejected rows told in
# their order with their places.
. "$SX_SRCDIR/tests/tool/tool_lib.sh"
need_text
need_json

# Texts of very different lengths, fingerprints, bad rows, and one text larger than any batch.
awk "$random"'
	BEGIN {
	state = 7919 * 3 + 1
	for (i = 0; i < 6000; i++) {
		n = i % 500 == 7 ? 4000 : int(rnd() * 60)
		text = ""
		for (k = 0; k < n; k++)
			text = text "word" int(rnd() * 3000) " "
		if (i % 97 == 5)
			print "{\"text\": 7}"
		else if (i % 31 == 3)
			printf "{\"fp\": \"%016x\", \"fp2\": \"%016x\"}\n", i * 7919, i * 104729
		else
			print "{\"label\": \"" (i % 1013 == 1012 ? "twice" : "l" i) "\", \"text\": \"" text "\"}"
	}
}' >texts.jsonl
{
	printf '{"label": "large", "text": "'
	yes 'one large text' | head -100000 | tr '\n' ' '
	printf '"}\n'
} >large.jsonl
mkdir files
for ((i = 0; i < 400; i++)); do
	echo "file number $i is a short text, and no other has the number $i" >files/$i
done
printf 'a\0b' >files/binary
inputs=(texts.jsonl large.jsonl texts.jsonl)

for mode in auto insert; do
	for threads in 1 2 7; do
		rm -f rejects-$threads summary
		run 1 "$load" --write $mode --threads $threads --rejects rejects-$threads \
			--summary summary ix-$mode-$threads "${inputs[@]}"
		tail -n +22 err | sed -E 's/ in [0-9.]+ s( \([^)]*\))?//' >told-$threads
		"$query" verify ix-$mode-$threads 2>/dev/null || fail 'not sound'
		"$query" dump ix-$mode-$threads --format jsonl >dump-$mode-$threads
		sed 's/"id":[0-9]*//' dump-$mode-$threads >documents-$mode-$threads
		rm summary
		run 0 "$load" -q --write $mode --threads $threads --summary summary \
			files-$mode-$threads files/[0-9]*
		grep -q '"short_texts":400,' summary || fail 'short texts are not counted'
		"$query" dump files-$mode-$threads >files-dump-$mode-$threads
	done
	same rejects-1 rejects-2
	same rejects-1 rejects-7
	same told-1 told-7
	same dump-$mode-1 dump-$mode-2
	same dump-$mode-1 dump-$mode-7
done
for threads in 2 7; do
	for mode in auto insert; do
		# Rows that are left out at the end have got an id.
		same documents-auto-1 documents-$mode-$threads
		same files-dump-auto-1 files-dump-$mode-$threads
	done
done
# 62 rows of each pass are bad, and all labels of the second one are in use.
grep -c '^texts.jsonl:[0-9]*	"text"' rejects-1 >bad
[ "$(cat bad)" -eq 124 ] || fail 'not 124 bad rows'
head -1 rejects-1 | grep -q '^texts.jsonl:6	' || fail 'not the first bad row'
[ "$(wc -l <files-dump-auto-1)" -eq 400 ] || fail 'not 400 files'

# The same fingerprints as one by one.
for i in 0 17 399; do
	run 0 "$query" search files-auto-7 -k 0 --text files/$i
	grep -q "	files/$i\$" out || fail "files/$i has another fingerprint"
done
# A queue full of work is dropped when something fails.
run 2 "$load" -q --threads 4 --max-errors 0 new texts.jsonl
says 'simidx-load: more than 0 rows were rejected (--max-errors)'
[ ! -e new ] || fail 'an index in spite of --max-errors'
# An input that is named and no text: exit 1, and the others are stored.
run 1 "$load" --threads 3 skipped files/1 files/binary files/2
says 'simidx-load: files/binary: skipped: contains a NUL byte, so it is no text'
sums_up 'index built with 2 documents; 1 file skipped'
# A text among fingerprints is a bad row like any other.
printf '%s\n' '{"fp": "0123456789abcdef"}' '{"text": "a"}' >mixed.jsonl
run 1 "$load" mixed mixed.jsonl
says 'mixed.jsonl:2: a text, and the index holds bare fingerprints; name another INDEX for it'
sums_up 'index built with 1 document; 1 row rejected'
# Rows that the index refuses in the end are told by their own lines, behind rejected short texts.
cat >short.jsonl <<-'END'
	{"id": 1, "text": "one two three four"}
	{"id": 2, "text": "short"}
	{"id": 1, "text": "five six seven eight"}
	{"id": 3, "text": "short"}
	{"id": 4, "text": "nine ten eleven twelve"}
	{"id": 4, "text": "thirteen fourteen fifteen sixteen"}
END
run 1 "$load" -q --min-tokens 3 --short reject --rejects rejected short short.jsonl
grep -q '^short.jsonl:3	id 1 is already in use$' rejected || fail 'another line than the third'
grep -q '^short.jsonl:6	id 4 is already in use$' rejected || fail 'another line than the sixth'
finish
