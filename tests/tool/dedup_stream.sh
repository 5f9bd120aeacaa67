#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
#
# simidx-dedup as a filter: new rows as they came, what was left out, an index that remembers, and runs
# that are killed.
. "$SX_SRCDIR/tests/tool/tool_lib.sh"
need_text
need_json
export TMPDIR=$tmp/own
mkdir "$TMPDIR"

# 3,000 rows of 100 words; each fourth is the one three before it with a word replaced at every place
# that the row's number divides by 33: three of them. So 750 rows are copies, whatever they are called.
awk 'function random(n) { x = (x * 69069 + 12345) % 4294967296; return int(x / 4294967296 * n) }
	BEGIN { x = 4
		for (d = 1; d <= 3000; d++) {
			printf "{\"n\":%d, \"text\": \"", d
			for (i = 1; i <= 100; i++) {
				if (d % 4 || i % 40 == 0) w[d % 4, i] = "w" random(5000)
				else w[0, i] = w[1, i]
				printf "%s%s", w[d % 4, i], i < 100 ? " " : "\"}\n"
			}
		}
	}' >rows.jsonl
awk 'NR % 4' rows.jsonl >new.jsonl

run 0 "$dedup" --stream --dups dups rows.jsonl
same out new.jsonl
says '3,000 documents in '
says ' s: 2,250 new, 750 near-duplicates'
# What was left out: 2 words of 100 lie in 10 of 96 runs of five: 86 of 106.
awk -F '\t' 'NR == 1 { first = $0 } $1 != "81.1" || $2 != "rows.jsonl:" 4 * NR || $3 != "rows.jsonl:" 4 * NR - 3' \
	dups >wrong
[ ! -s wrong ] && [ "$(wc -l <dups)" -eq 750 ] || { fail '--dups'; head -3 dups wrong; }
run 0 "$dedup" -q --stream --dups dups.json --json rows.jsonl
head -1 dups.json | diff - <(echo '{"similarity":81.1,"path":"rows.jsonl","line":4,"path2":"rows.jsonl","line2":1,"id2":0}') ||
	fail '--dups with --json'
for how in '--threads 1' '--threads 3 --memory 64M' '--all'; do
	# shellcheck disable=SC2086
	run 0 "$dedup" -q $how --stream -F jsonl - <rows.jsonl
	same out new.jsonl
done
# What cannot be sought is put aside; where that may not be, fingerprints decide.
rm dups
run 0 "$dedup" -q --stream --dups dups -F jsonl - < <(cat rows.jsonl)
same out new.jsonl
cut -f 1 dups | uniq -c | grep -q ' 750 81.1$' || fail 'texts of a pipe are not compared'
rm dups
run 0 "$dedup" -q --stream --dups dups --spill 0 --memory 64M -F jsonl - < <(cat rows.jsonl rows.jsonl)
cp out gone
rm dups
run 0 "$dedup" --stream --dups dups --spill 0 -F jsonl - < <(cat rows.jsonl rows.jsonl)
same out gone
cut -f 1 dups | grep -q '^fp$' || fail 'no text is gone'
says 'fingerprints decided for some'
if [ -n "${SX_ZLIB-}" ]; then
	gzip -k rows.jsonl
	run 0 "$dedup" -q --stream rows.jsonl.gz
	same out new.jsonl
	# Of an input that ends too early, what came is compared, and other inputs follow.
	head -c 20000 rows.jsonl.gz >short.jsonl.gz
	run 1 "$dedup" --stream short.jsonl.gz rows.jsonl
	grep -q '^simidx-dedup: short.jsonl.gz:[0-9]*: ' err || fail "not told: $(cat err)"
	[ "$(wc -l <out)" -eq 2250 ] || fail 'an input that ends too early'
fi
# Rows come out while the pipe is open.
mkfifo pipe
"$dedup" -q --stream -F jsonl pipe >early &
exec 5>pipe
head -5 rows.jsonl >&5
tries=100
until [ "$(wc -l <early)" -eq 4 ] || [ $((tries -= 1)) -eq 0 ]; do sleep 0.1; done
[ "$tries" -gt 0 ] || fail 'rows are not written while the input pauses'
exec 5>&-
wait $!

# Files that are one text: their paths.
mkdir files
awk -F '"' 'NR <= 8 { f = "files/" NR ".txt"; print $6 >f; close(f) }' rows.jsonl
run 0 "$dedup" -q --stream -r files
printf 'files/%d.txt\n' 1 2 3 5 6 7 | diff - out || fail 'files'

# With -0 names are read and written with a NUL byte after each.
mkdir odd
cp files/1.txt $'odd/1\n.txt'
cp files/4.txt $'odd/4\n.txt'
cp files/5.txt 'odd/5 .txt'
printf '%s\0' $'odd/1\n.txt' $'odd/4\n.txt' 'odd/5 .txt' >names
run 0 "$dedup" -q --stream -0 --files-from names
printf '%s\0' $'odd/1\n.txt' 'odd/5 .txt' | cmp - out || fail '--stream -0 of a list'
run 0 "$dedup" -q --stream -0 -r odd
printf '%s\0' $'odd/1\n.txt' 'odd/5 .txt' | cmp - out || fail '--stream -0 of files'
# Also a second time to the same file.
{ "$dedup" -q --stream -0 files/1.txt && "$dedup" -q --stream -0 files/2.txt; } >twice
printf '%s\0' files/1.txt files/2.txt | cmp - twice || fail '--stream -0 twice to one file'
# Of a run that was killed, half a name is removed, whatever is in it. The mark in the index has the length of
# what is committed; the next run writes the rest, however much that is.
mkfifo more
printf '%s\0' files/1.txt >half.names
"$dedup" -q --stream -0 --index names.ix --files-from more >>half.names &
exec 6>more
printf '%s\0' files/2.txt files/3.txt >&6
tries=100
until "$query" -q dump --format full names.ix 2>/dev/null | head -1 | grep -q '"mark":' ||
	[ $((tries -= 1)) -eq 0 ]; do sleep 0.1; done
[ "$tries" -gt 0 ] || fail 'no mark is stored'
kill -9 $!
wait $! 2>/dev/null
exec 6>&-
printf '%s' $'files/3\n.t' >>half.names
"$dedup" -q --stream -0 --index names.ix files/2.txt files/3.txt >>half.names || fail 'a run after a killed one'
printf '%s\0' files/1.txt files/2.txt files/3.txt | cmp - half.names || fail 'half a name of a killed run'

# An input may grow while it is read: its rows are there, and compared. grow WHAT CODE: WHAT is done with ./grows
# after its rows were read and before copies of them come from a pipe.
mkfifo copies
awk 'NR % 4 == 1' rows.jsonl | head -20 >originals.jsonl
awk 'NR % 4 == 0' rows.jsonl | head -20 >copies.jsonl
grow() {
	cp originals.jsonl grows.jsonl
	rm dups
	("$dedup" --stream --dups dups -F jsonl grows.jsonl copies >out 2>err; echo $? >code) &
	exec 5>copies
	# The pause after the first rows decides about what was read.
	head -1 copies.jsonl >&5
	tries=100
	until [ -s out ] || [ $((tries -= 1)) -eq 0 ]; do sleep 0.1; done
	eval "$1"
	tail -n +2 copies.jsonl >&5
	exec 5>&-
	wait $!
	[ "$(cat code)" = "$2" ] || fail "exit $(cat code), not $2, after: $1"
	[ "$(wc -l <dups)" -eq 20 ] || fail "$(wc -l <dups) copies after: $1"
}
grow 'tail -5 rows.jsonl >>grows.jsonl' 0
[ "$(cut -f 1 dups | uniq -c)" = '     20 81.1' ] || fail "rows of a file that grew are not compared: $(cat dups)"
! grep -q 'fingerprints decided' err || fail "told of a file that only grew: $(cat err)"
# Of one that was written anew, with as many bytes and more, they are not; that is told.
grow 'tr 01 10 <originals.jsonl >anew; cat anew anew >grows.jsonl' 1
[ "$(cut -f 1 dups | uniq -c | tr -s ' ')" = "$(printf ' 1 81.1\n 19 fp')" ] || fail "rows of a changed file: $(cat dups)"
says 'fingerprints decided 19 times whether a text is near to an earlier one, as its file has changed since it was read'
grow 'cp originals.jsonl other.jsonl; mv other.jsonl grows.jsonl' 1
says 'as its file has changed since it was read'
grow 'rm grows.jsonl' 1
says 'as its file has been removed since it was read'

# An index remembers, also what another tool has put there, and says of what a row is a copy.
head -2000 rows.jsonl >first.jsonl
tail -1000 rows.jsonl >second.jsonl
run 0 "$dedup" -q --stream --index ix --remember fingerprint first.jsonl
cp out both
rm dups
run 0 "$dedup" -q --stream --index ix --dups dups second.jsonl
cat out >>both
same both new.jsonl
# Now fingerprints decide. All is left out that was left out before, and all that was written.
run 0 "$dedup" -q --stream --index ix --dups dups rows.jsonl
output </dev/null
errors </dev/null
[ "$(wc -l <dups)" -eq 3250 ] || fail '--dups is not added to'
tail -1 dups | grep -qxP 'fp\trows.jsonl:3000\tid \d+' || fail 'a remembered document'
run 0 "$dedup" --stream --index ix rows.jsonl
says 'simidx-dedup: ix: documents of earlier runs are compared by their fingerprints only'
# Bits of a document that was left out are there without a label, and no more than are needed: most are
# near enough to what was kept.
kept=$(wc -l <new.jsonl)
stored=$("$query" -q dump ix | wc -l)
[ "$stored" -gt "$kept" ] && [ "$stored" -lt $((kept + 150)) ] || fail "$kept were kept, and $stored are stored"
"$query" -q verify ix >/dev/null || fail 'the index is damaged'
run 0 "$load" -q loaded -r files
run 0 "$dedup" -q --stream --index loaded --dups named rows.jsonl
diff <(head -3 named | cut -f 3) <(printf 'files/%d.txt\n' 1 2 3) || fail 'labels of a loaded index'

# A row without a label may be what an earlier run has kept: then it is near to itself, which is told.
printf '{"text":"%s"}\n' 'one two three' 'four five six seven' >plain.jsonl
run 0 "$dedup" -q --stream --index plain.ix plain.jsonl
run 0 "$dedup" --stream --index plain.ix --dups plain.dups plain.jsonl
printf '~100\tplain.jsonl:%d\tid %d\n' 1 0 2 1 | cmp - plain.dups || fail '--dups of the same rows again'
says '2 documents are near to one of an earlier run, without a label: each may be that document itself, so plain.dups is not a list of what to delete'

# What the index has by its own label is known, and not a duplicate of something else.
cp files/1.txt files/copy.txt
rm -f dups
run 0 "$dedup" -q --stream --index known --dups dups -r files
printf '81.1\tfiles/4.txt\tfiles/1.txt\n81.1\tfiles/8.txt\tfiles/5.txt\nsame\tfiles/copy.txt\tfiles/1.txt\n' |
	cmp - dups || fail '--dups of a first run'
rm dups
run 0 "$dedup" --stream --index known --dups dups -r files
[ ! -s out ] || fail 'what is known is new'
says '6 documents are in known already, with the same label: not new, and not listed'
says '9 documents in '
says ' s: 0 new, 3 near-duplicates'
printf '~%d\tfiles/%s.txt\tfiles/%s.txt\n' 80 4 1 80 8 5 100 copy 1 | cmp - dups || fail '--dups of a second run'
run 0 "$dedup" -q --stream --index known --dups dups.json --json files/copy.txt
output </dev/null
grep -qx '{"similarity":100,"estimate":true,"path":"files/copy.txt","label2":"files/1.txt","id2":0}' dups.json ||
	fail '--dups with --json of a remembered document'
rm files/copy.txt
# Texts without words are near to the same bytes alone, and empty ones to nothing, so that there is nothing
# to remember; what follows one is named by its own number.
printf '{"text": "%s"}\n' 'one two three four five' '' 'six seven eight nine ten' ', .' \
	'six seven eight nine TEN' '' 'one two three four FIVE' ', .' ', ..' >words.jsonl
for i in 1 2; do
	run 0 "$dedup" -q --stream --index words --dups words.$i words.jsonl
done
"$query" stats words | grep -Eq '^documents +4$' || fail "empty texts are stored: $("$query" stats words | grep doc)"
diff words.1 - <<'END' || fail 'what texts without words do to names'
100.0	words.jsonl:5	words.jsonl:3
100.0	words.jsonl:7	words.jsonl:1
same	words.jsonl:8	words.jsonl:4
END

# Half a line of a killed run is removed, of --dups, too; but nothing of a file that it has not written
# to, and nothing that was there before. Nothing is glued to it.
mkfifo part
for name in mine foreign; do
	rm -rf half.ix half.dups mine foreign
	printf '1\there' | tee foreign >half.dups
	"$dedup" -q --stream --index half.ix --dups half.dups -F jsonl part >>mine &
	exec 6>part
	head -8 rows.jsonl >&6
	tries=100
	until [ "$("$query" -q dump half.ix 2>/dev/null | wc -l)" -eq 6 ] || [ $((tries -= 1)) -eq 0 ]; do sleep 0.1; done
	[ "$tries" -gt 0 ] || fail 'rows are not committed while the input pauses'
	kill -9 $!
	wait $! 2>/dev/null
	exec 6>&-
	printf '{"n":9, "te' >>mine
	printf '81.1\trows.js' >>half.dups
	sed -n 12p rows.jsonl | "$dedup" -q --stream --index half.ix --dups half.dups -F jsonl - >>$name ||
		fail "a run after a killed one, >>$name"
	{ printf '1\there\n'; printf '81.1\tpart:%d\tpart:%d\n' 4 1 8 5; } | cmp - half.dups ||
		fail "half a line of a killed run in --dups: $(cat half.dups)"
	[ $name = foreign ] || sed -n '1,8p;12p' rows.jsonl | awk 'NR % 4' | cmp - mine || fail 'half a row is not removed'
done
printf '1\there\n' | cat - <(sed -n 12p rows.jsonl) | cmp - foreign || fail 'a file that the killed run has not written to'
{ sed -n '1,8p' rows.jsonl | awk 'NR % 4'; printf '{"n":9, "te'; } | cmp - mine || fail 'the file of the killed run'
# Closed output: without an index nobody misses anything; with one not all is remembered, and comes again.
"$dedup" -q --stream rows.jsonl 2>err | head -1 >one
[ "${PIPESTATUS[0]}" -eq 0 ] && [ ! -s err ] || fail "closed output: $(cat err)"
"$dedup" -q --stream --index closed rows.jsonl 2>err | head -1 >one
[ "${PIPESTATUS[0]}" -eq 2 ] || fail 'closed output with --index is no error'
grep -qx 'simidx-dedup: standard output was closed' err || fail "closed output with --index: $(cat err)"
run 0 "$dedup" -q --stream --index closed rows.jsonl
same out new.jsonl
# Temporary directories: of killed runs until the next one, of interrupted ones never.
mkfifo slow
"$dedup" -q --stream -F jsonl slow >/dev/null &
exec 6>slow
cat first.jsonl first.jsonl first.jsonl >&6
sleep 1
[ "$(find "$TMPDIR" -maxdepth 1 -name 'simidx-dedup-*' | wc -l)" -eq 1 ] || fail 'not one temporary directory'
# The library locks the directory in which it makes an index: the run must not hold that lock.
flock -n "$TMPDIR"/simidx-dedup-* true || fail 'the temporary directory is locked'
kill -9 $!
wait $! 2>/dev/null
exec 6>&-
[ -n "$(ls -A "$TMPDIR")" ] || fail 'the kill left nothing to remove'
run 0 "$dedup" -q -r files
[ -z "$(ls -A "$TMPDIR")" ] || fail 'what a killed run has left is not removed'
# Under nohup SIGHUP is ignored from the beginning, and no shell can undo that for its children.
signals='INT TERM'
[ -n "$(trap -p HUP)" ] || signals="$signals HUP"
for signal in $signals; do
	(trap - INT; exec "$dedup" -q --stream -F jsonl slow) >/dev/null 2>err &
	exec 6>slow
	cat first.jsonl >&6
	sleep 0.5
	kill -$signal $! && wait $!
	[ $? -eq 2 ] || fail "not exit 2 after SIG$signal"
	exec 6>&-
	grep -q 'stopped by a signal' err || fail "SIG$signal is not told: $(cat err)"
	[ -z "$(ls -A "$TMPDIR")" ] || fail "temporary files are left by SIG$signal"
done
# Also while a batch is decided: these are half a million pairs of long texts, which takes seconds.
awk 'BEGIN { for (d = 0; d < 1000; d++) { printf "{\"text\":\""
	for (w = 0; w < 4000; w++) printf "w%d ", w
	print d "\"}" } }' >alike.jsonl
(trap - INT; exec "$dedup" -q --pairs --threads 1 -F jsonl slow) >/dev/null 2>err &
cat alike.jsonl >slow
sleep 1
kill -INT $! && wait $!
code=$?
[ $code -eq 2 ] || fail "exit $code after SIGINT while a batch is decided"
says 'stopped by a signal'
rm alike.jsonl
# As with nohup.
(trap '' HUP; exec "$dedup" -q --stream -F jsonl slow) >out 2>err &
exec 6>slow
cat first.jsonl >&6
sleep 0.5
kill -HUP $!
cat first.jsonl >&6
exec 6>&-
wait $! || fail "an ignored SIGHUP ends the run: $(cat err)"
awk 'NR % 4' first.jsonl | cmp - out || fail "an ignored SIGHUP changes what is new"

# What does not fit.
run 2 "$dedup" --stream --index files rows.jsonl
says 'files is not a simidx index'
run 0 "$load" -q -F lines bare - <<<0123456789abcdef
run 2 "$dedup" --stream --index bare rows.jsonl
says "bare: the index holds fingerprints, so texts do not fit"
# --dups must not be an input: that would be empty.
cp rows.jsonl t.jsonl
ln t.jsonl same.jsonl
echo t.jsonl >list
run 2 "$dedup" --stream --dups same.jsonl rows.jsonl t.jsonl
says 'same.jsonl: is an input, so --dups cannot write to it'
run 2 "$dedup" --stream --dups t.jsonl -F jsonl - <t.jsonl
says 't.jsonl: is an input, so --dups cannot write to it'
run 2 "$dedup" --stream --dups list -F jsonl --files-from list
says 'list: is a list of inputs, so --dups cannot write to it'
run 2 "$dedup" --stream --dups out rows.jsonl
says 'out: is standard output, so --dups cannot write to it'
cp loaded/data.simidx data.copy 2>/dev/null || cp -r loaded data.copy
for file in loaded/*; do
	run 2 "$dedup" --stream --index loaded --dups "$file" rows.jsonl
	says "$file: is a file of the index, so --dups cannot write to it"
done
same t.jsonl rows.jsonl
[ "$(cat list)" = t.jsonl ] || fail 'a list is written to'
run 2 "$dedup" --stream --dups - rows.jsonl
says '--dups: standard output has what is new'
[ ! -e ./- ] || fail 'a file is called -'
# Nothing is replaced, as it may be an input that is not named.
run 2 "$dedup" --stream --dups t.jsonl rows.jsonl
says 't.jsonl: is not empty, and --dups replaces nothing: name another file, or move that one away'
# With an index it gets lines, but not if it is met as an input, by whatever path and in whatever list.
mkdir met
printf '90.0\tx\ty\n' | tee met/a >lines
ln -s met/a link
printf '%s\n' files/2.txt link >list
for how in '-r met' '--files-from list' '--files-from -'; do
	# shellcheck disable=SC2086
	run 2 "$dedup" --stream --index met.ix --dups met/a $how <list
	says ': is an input, so nothing can be written to it'
	cmp met/a lines || fail "an input is written to: $how"
done
# Nor is an input what standard output goes to.
"$dedup" --stream t.jsonl >>t.jsonl 2>err
[ $? -eq 2 ] || fail 'an input is standard output'
says 't.jsonl: is an input, and standard output, too: name another file after >'
"$dedup" --stream -F jsonl - <t.jsonl >>t.jsonl 2>err
[ $? -eq 2 ] || fail 'standard input is standard output'
"$dedup" --stream -r met >>met/a 2>err
[ $? -eq 2 ] || fail 'standard output is in a directory of inputs'
says 'met/a: is an input, so nothing can be written to it'
"$dedup" -q --stream -r met >met/new || fail 'standard output is new in a directory of inputs'
echo met/a | cmp - met/new || fail 'standard output is an input'
same met/a lines
same t.jsonl rows.jsonl
# A new one in a directory or list is passed over.
cp files/1.txt files/copy.txt
for _ in 1 2; do
	rm -f files/0
	run 0 "$dedup" -q --stream --dups files/0 -r files
	printf 'files/%d.txt\n' 1 2 3 5 6 7 | cmp - out || fail '--dups in a directory of inputs'
	[ "$(wc -l <files/0)" -eq 3 ] || fail '--dups in a directory is not written'
done
find files -type f | sort >list
: >files/0
run 0 "$dedup" -q --stream --dups files/0 --files-from list
printf 'files/%d.txt\n' 1 2 3 5 6 7 | cmp - out || fail '--dups in a list of inputs'
[ "$(wc -l <files/0)" -eq 3 ] || fail '--dups in a list is not written'
rm files/0 files/copy.txt
run 2 "$dedup" --stream --dups no/such rows.jsonl
says 'no/such: cannot write: No such file'
run 1 "$dedup" -q --stream -F jsonl - <<'END'
{"text": "one two three four five six"}
{"text": 5}
{"text": "one two three four five six"}
END
says '-:2: "text": expected a string'
[ "$(wc -l <out)" -eq 1 ] || fail 'a rejected row'

# A terminal shows how far it is, and how long it will take.
if command -v script >/dev/null && script -qec true /dev/null </dev/null >/dev/null 2>&1; then
	awk 'BEGIN { for (i = 0; i < 60000; i++) printf "{\"text\": \"%d %d %d %d\"}\n", i, 7 * i, i % 977, i % 5 }' >many.jsonl
	script -qec "$dedup --no-verify many.jsonl" /dev/null </dev/null 2>&1 | tr '\r' '\n' | sed 's/\x1b\[K//g' >shown
	grep -qxE '[0-9]+ %, [0-9]+ s left, [0-9.]+ K documents, [0-9.]+ K/s, [0-9.]+ K? ?near-duplicates' shown ||
		{ fail 'no progress'; sort -u shown | head; }
fi

finish
