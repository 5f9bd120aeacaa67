#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
#
# simidx-query review: what differs is marked, whatever bytes a text has; texts that are gone or changed are told;
# the sample.
. "$SX_SRCDIR/tests/tool/tool_lib.sh"
need_text
need_json
export TMPDIR=$tmp/temporary
mkdir "$TMPDIR"

words() { seq -f "$1%g" "$2" "$3" | tr '\n' ' '; }

# Rows that differ in a known way from the first one.
row() { printf '{"label":"%s","text":"%s"}\n' "$1" "$2" >>rows.jsonl; }
row first "$(words w 1 60)"
row one "$(words w 1 29)other $(words w 31 60)"
row script "$(words w 1 40)<script>alert('1')</script> & \\u001b[31m\\u009b5m $(words w 41 60)"
row removed "$(words w 1 10)$(words w 13 60)"
row '<b>spaces\u001b</b>' "$(words w 1 60 | tr ' ' '\t' | sed 's/\t/\\t/g')"
row equal "$(words w 1 60)"
run 0 "$dedup" -q --stream --similarity 0.7 --evidence ev rows.jsonl
[ "$(wc -l <ev)" -eq 5 ] || fail "$(wc -l <ev) rows are left out"

run 0 "$query" review ev
cp out shown
grep -qx '    \.\.\. (17 words) \.\.\. w18 w19 w20 w21 w22 w23 w24 w25 w26 w27 w28 w29 \[-w30-\]' out ||
	fail 'a word that differs'
grep -qF '{+other+}' out || fail 'the word in its place'
tr '\n' ' ' <out | grep -qE "w40 +\{\+<script>alert\('1'\)</script> & +.x1b\[31m.xc2.x9b5m\+\} +w41" || fail 'ESC is not escaped'
tr '\n' ' ' <out | grep -qE 'w10 +\[-w11 w12-\] +w13' || fail 'words that are removed'
grep -qF '(No word differs, only what is between words.)' out || fail 'spaces'
grep -qF '(The texts have the same bytes.)' out || fail 'equal texts'
grep -qF '<b>spaces\x1b</b>' out || fail 'a label'
[ "$(tr -d '\n -~' <out | wc -c)" -eq 0 ] || fail 'there are control bytes'
[ -z "$(awk 'length($0) > 80' out)" ] || fail 'lines of more than 80 columns'
run 0 "$query" review - <ev
sed 's/^-:/ev:/' out | cmp - shown || fail 'standard input'

# One row, by any of its names, and the rows that went for one.
for name in one rows.jsonl:2; do
	run 0 "$query" review --row "$name" ev
	grep -qF '1 of 1: ' out && grep -qF '{+other+}' out || fail "--row $name"
done
for name in first rows.jsonl:1 rows.jsonl; do
	run 0 "$query" review --row "$name" ev
	grep -qF '5 of 5: ' out || fail "--row $name"
done
for name in rows.jsonl:21 rows.jsonl: rows.jsonl:02 ows.jsonl:2 18446744073709551615 0; do
	run 1 "$query" review --row "$name" ev
	says "ev: has no row '$name': --row takes its label, FILE:LINE, FILE or id"
	[ ! -s out ] || fail "--row $name shows something"
done
run 0 "$query" review --row 77 <(sed 's/"line":2,/"id":77,&/' ev)
grep -qF '{+other+}' out && grep -qF '1 of 1: ' out || fail '--row of an id'
run 1 "$query" review --row nobody --html nobody.html ev
[ ! -e nobody.html ] || fail 'a page of no row'
run 2 "$query" review --row '' ev
says '--row: NAME is empty'

# Colours in place of marks, and no others.
run 0 "$query" review --color always ev
grep -qF $'\e[9;31mw30\e[m' out || fail 'no colour'
grep -qF '[-' out && fail 'marks besides colours'
[ "$(sed 's/\x1b\[[0-9;]*m//g' out | tr -d '\n -~' | wc -c)" -eq 0 ] || fail 'there are control bytes'
NO_COLOR=1 run 0 "$query" review ev
same out shown

# A page: nothing of a text becomes HTML, and there is no script.
run 0 "$query" review --html page.html ev
says 'page.html: has 5 pairs'
grep -qF '&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;' page.html || fail 'no text in the page'
grep -qF '&lt;b&gt;spaces\x1b&lt;/b&gt;' page.html || fail 'no label in the page'
grep -qF '<del>w30</del> <ins>other</ins>' page.html || fail 'no marks in the page'
grep -qiE '<(script|img|link|iframe|a|b)[ >]|https?:|url\(' page.html && fail 'the page has more than text'
grep -q 'prefers-color-scheme: dark' page.html || fail 'no dark page'
[ "$(tr -d '\n -~' <page.html | sed 's/…\|–//g' | wc -c)" -eq 0 ] || fail 'control bytes in the page'
[ "$(grep -o '<section>' page.html | wc -l)" -eq "$(grep -o '</section>' page.html | wc -l)" ] || fail 'sections'
run 2 "$query" review --html page.html ev
says 'page.html: exists already: remove it, or name another file'
run 2 "$query" review --html - ev
says '--html: the page is written to a file; name one'
[ ! -e - ] || fail 'a page is called -'
run 2 "$query" review --html no/such/page ev
says 'no/such/page: cannot write: '
# Half a page is none: nothing is there, so the same command can be run again.
if (ulimit -f 1) 2>/dev/null; then
	(trap '' XFSZ; ulimit -f 1; exec "$query" review --html half.html ev) >out 2>err
	[ $? -eq 2 ] || fail 'a page has no room'
	says 'half.html: cannot write: File too large'
	[ ! -e half.html ] || fail 'half a page is left'
	run 0 "$query" review --html half.html ev
	same half.html page.html
fi

# What has changed or is gone: nothing of what is there now is shown; excerpts are.
rm -f ev2
run 0 "$dedup" -q --keep first --evidence ev2 --evidence-texts 40 rows.jsonl
cp rows.jsonl rows.saved
sed 's/other/OTHER/' rows.saved >rows.jsonl
run 0 "$query" review ev
[ "$(grep -c 'the text has changed: another one is in its place' out)" -eq 1 ] || fail 'a change is not told'
grep -qi 'OTHER+' out && fail 'a text is shown that nobody has compared'
run 0 "$query" review ev2
grep -qF '[-w30-] {+other+}' out || fail 'no excerpts'
grep -qF '(This is from the excerpts in the evidence.)' out || fail 'excerpts are not told'
head -1 rows.saved >rows.jsonl
run 0 "$query" review ev
[ "$(grep -c 'the text has changed' out)" -eq 5 ] || fail 'a file that is shorter'
rm rows.jsonl
run 0 "$query" review ev
[ "$(grep -c 'the text is gone: its file is not there' out)" -eq 10 ] || fail 'a file that is gone'
run 0 "$query" review --html gone.html ev
[ "$(grep -c '<strong>the text is gone' gone.html)" -eq 10 ] || fail 'a page of texts that are gone'
# What is there and cannot be read is not gone. Root reads whatever it wants.
unreadable() {
	for evidence in ev ev.lines; do
		run 0 timeout 20 "$query" review "$evidence"
		[ "$(grep -c 'the text cannot be read: its file' out)" -eq 10 ] || fail "$1 of $evidence is not told"
	done
}
sed -E 's/"(offset|length)2?":[0-9]+,//g' ev >ev.lines
mkfifo rows.jsonl
unreadable 'a fifo'
rm rows.jsonl
mkdir rows.jsonl
unreadable 'a directory'
rmdir rows.jsonl
cp rows.saved rows.jsonl
chmod 000 rows.jsonl
[ -r rows.jsonl ] || unreadable 'a file without permission'
rm -f rows.jsonl
run 0 "$query" review ev.lines
[ "$(grep -c 'the text is gone: its file is not there' out)" -eq 10 ] || fail 'a file that is gone, by lines'
sed 's/"jsonl"/"new"/g' ev >ev.format
run 0 "$query" review ev.format
[ "$(grep -c 'the text cannot be read again: its format is not known' out)" -eq 10 ] || fail 'an unknown format'
cp rows.saved rows.jsonl
run 0 "$query" review ev
same out shown
# Rows of compressed files are read by their lines; those of whole files, too.
if gzip <rows.jsonl >packed.jsonl.gz; then
	run 0 "$dedup" -q --keep first --evidence ev3 packed.jsonl.gz
	run 0 "$query" review ev3
	[ "$(grep -c '\[-w30-\]' out)" -eq 1 ] && ! grep -q 'the text' out || fail 'rows of a compressed file'
fi
words w 1 60 >a.txt
{ words w 1 29; echo other; words w 31 60; } >b.txt
run 0 "$dedup" -q --keep first --evidence ev4 a.txt b.txt
run 0 "$query" review ev4
grep -qF '[-w30-]' out || fail 'whole files'
[ "$(grep -c 'a\.txt' out)" -eq 1 ] || fail 'the path of a file is told twice'
run 0 "$query" review --html files.html ev4
grep -q 'a\.txt (' files.html && fail 'the path of a file is told twice in the page'
# Fields of other names, and texts of pipes.
sed 's/"text"/"body"/' rows.saved >body.jsonl
run 0 "$dedup" -q --keep first --text-field body --evidence ev5 body.jsonl
run 0 "$query" review ev5
grep -qF '[-w30-]' out || fail '--text-field'
# Members that the run did not read may be anything.
sed 's/"text"/"id":{"x":1},"text"/; 2s/{"x":1}/-5/; s/"label":"[^"]*"/"label":[3],"label_hex":7,"name":"n"/' rows.saved >odd.jsonl
sed 's/"id":[^,]*,/"id":18446744073709551615,/' odd.jsonl >large.jsonl
for odd in odd large; do
	encoding=$([ $odd = odd ] || echo '--fp-encoding dec')
	# shellcheck disable=SC2086
	run 0 "$dedup" -q --keep first $encoding --id-field number --label-field name --evidence ev.$odd $odd.jsonl
	run 0 "$query" review ev.$odd
	grep -qF '[-w30-]' out && ! grep -q 'the text has changed' out || fail "members that were not read: $odd"
	sed -E 's/"(offset|length)2?":[0-9]+,//g' ev.$odd >ev.lines
	run 0 "$query" review ev.lines
	grep -qF '[-w30-]' out && ! grep -q 'the text has changed' out || fail "members that were not read, by lines: $odd"
done
# Fingerprints alone have decided: of equal texts no blanks differ.
run 0 "$dedup" -q --no-verify --evidence ev.fp rows.jsonl
run 0 "$query" review ev.fp
grep -qF '(The texts have the same bytes.)' out || fail 'equal texts by their fingerprints'
grep -qF '(No word differs, only what is between words.)' out || fail 'spaces by fingerprints'
run 0 "$dedup" -q --keep first --evidence ev6 -F jsonl - <rows.jsonl
run 0 "$query" review ev6
grep -qF '(the text cannot be read again: it came from standard input)' out || fail 'a pipe'

# Characters that are not seen or turn the direction are shown as bytes, wherever they stand.
turned=$'x\xe2\x80\xaey.jsonl'
sed 's/other/oth\\u202eer\\u200b\\u2066\\u061c/; s/"one"/"o\\u202ene"/' rows.saved >"$turned"
run 0 "$dedup" -q --keep first --evidence ev.turned "$turned"
run 0 "$query" review ev.turned
tr -d '\n ' <out | grep -qF '{+oth\xe2\x80\xaeer\xe2\x80\x8b\xe2\x81\xa6\xd8\x9c+}' || fail 'a text that turns'
grep -qF 'o\xe2\x80\xaene' out || fail 'a label that turns'
grep -qF 'x\xe2\x80\xaey.jsonl' out || fail 'a path that turns'
[ "$(tr -d '\n -~' <out | wc -c)" -eq 0 ] || fail 'there are characters that are not seen'
run 0 "$query" review --html turned.html ev.turned
grep -qF 'oth\xe2\x80\xaeer' turned.html || fail 'a text that turns in the page'
[ "$(tr -d '\n -~' <turned.html | sed 's/…\|–//g' | wc -c)" -eq 0 ] || fail 'characters in the page that are not seen'

# A signal ends the command, and it says so.
mkfifo slow
"$query" review slow >out 2>err &
reader=$!
exec 3>slow
cat ev >&3
sleep 0.5
kill -TERM $reader
wait $reader
[ $? -eq 2 ] || fail 'a signal while evidence is read'
exec 3>&-
unseen=yes
says 'stopped by a signal'
grep -q 'cannot read' err && fail 'a signal is an error of reading'

# The sample: most pairs near the limit, some of each kind, always the same.
awk 'BEGIN {
	for (i = 0; i < 3000; i++) {
		similarity = 75 + i % 25
		printf "{\"similarity\":%d,\"limit\":80,\"rule\":\"text\",\"keep\":%s,\"path\":\"x\",\"line\":%d,\"path2\":\"x\",\"line2\":1}\n",
			similarity, similarity < 80 ? "true" : "false", i
	}
	for (i = 0; i < 3000; i++)
		print "{\"similarity\":100,\"limit\":80,\"rule\":\"equal\",\"keep\":false,\"path\":\"x\",\"line\":3,\"path2\":\"x\",\"line2\":1}"
	print "{\"similarity\":null,\"rule\":\"fingerprint\",\"keep\":false,\"path\":\"x\",\"line\":3,\"id2\":7,\"index2\":\"ix\"}"
}' >many
run 0 "$query" review many
cp out first
grep -q '^1 of 50: ' out && grep -q '^50 of 50: ' out || fail 'not 50 pairs'
cat >division <<'END'
600 near misses, below the limit: 20
600 up to 5 points above the limit: 15
600 5 to 10 points above the limit: 7
1200 more than 10 points above the limit: 5
3000 the same bytes: 2
1 by fingerprints alone: 1
END
divides() { sed -n 's/^ *\([0-9]*\)  \(.*\), \([0-9]*\) shown$/\1 \2: \3/p' out | diff - division || fail "another division: $1"; }
divides 'as they come'
tac many >last_first
run 0 "$query" review last_first
divides 'the last first'
run 0 "$query" review --sample 50 many
same out first
run 0 "$query" review --sample 3 many
[ "$(grep -c ' of 3: ' out)" -eq 3 ] || fail 'not three pairs'
run 0 "$query" review --sample 6 many
[ "$(sed -n 's/.*, \([0-9]*\) shown$/\1/p' out | paste -sd ' ')" = '1 1 1 1 1 1' ] || fail 'a small sample has not one of each kind'
run 0 "$query" review --sample 1000 many
[ "$(grep -c ' of 1000: ' out)" -eq 1000 ] || fail 'not 1,000 pairs'

# Nor does the name of an index become HTML.
echo '{"similarity":null,"rule":"fingerprint","keep":false,"path":"x","line":3,"id2":7,"index2":"<b>&ix"}' >named
run 0 "$query" review --html named.html named
grep -qF 'id 7 in &lt;b&gt;&amp;ix' named.html || fail 'the name of an index in the page'

# What is no evidence.
run 2 "$query" review rows.jsonl
errors <<'END'
simidx-query: rows.jsonl: is no evidence (line 1: it has no rule or no similarity); give the file that simidx-dedup --evidence FILE has written
END
seq 100 >groups
run 2 "$query" review groups
errors <<'END'
simidx-query: groups: is no evidence (line 1: it is no JSON object); give the file that simidx-dedup --evidence FILE has written
END
for wrong in 100.5 1e308 -3 '"90"' true '[]'; do
	{ head -2 ev; head -1 ev | sed "s/\"similarity\":[^,]*/\"similarity\":$wrong/"; } >mixed
	run 1 "$query" review mixed
	says 'mixed:3: no evidence: its similarity is no number in 0..100'
	{ head -2 ev; head -1 ev | sed "s/\"limit\":[^,]*/\"limit\":$wrong/"; } >mixed
	run 1 "$query" review mixed
	says 'mixed:3: no evidence: its limit is no number in 0..100'
done
{ head -1 ev | sed 's/"similarity":[^,]*/"distance":-1/'; cat ev; } >mixed
run 1 "$query" review mixed
says 'mixed:1: no evidence: its distance is no number from 0'
{ head -3 ev; echo '{"similarity":'; echo '[]'; tail -2 ev; } >mixed
run 1 "$query" review mixed
says 'mixed:4: no evidence: it is no JSON object'
[ "$(grep -c ' of 5: ' out)" -eq 5 ] || fail 'the other lines'
run 2 "$query" review no-such-file
says 'no-such-file: cannot open: '
run 2 "$query" --json review ev
says 'review is for people; EVIDENCE itself is JSON'
run 2 "$query" review --sample 0 ev
says '--sample: expected a number in 1..1000'
printf '{"similarity":90,"limit":80,"rule":"<i>\\u001b","keep":false,"path":"/etc/passwd","line":1,"offset":0,"length":99999999999,"format":"jsonl","hash":"0123456789abcdef","path2":"a\\u0000b","id2":5}\n' >forged
run 0 "$query" review forged
[ "$(tr -d '\n -~' <out | wc -c)" -eq 0 ] || fail 'control bytes of a rule'
grep -q 'root' out && fail 'a file that nobody has compared is shown'

# Of a long text the first megabyte is shown, without the character that would be cut.
mkdir long.texts
for word in one two; do
	{
		seq -f 'w%g' 200000 | tr '\n' ' ' | head -c 1048571
		echo " ${word}é and more"
	} >long.texts/$word
done
run 0 "$dedup" -q -r --evidence ev.long long.texts
run 0 "$query" review ev.long
tr '\n' ' ' <out | grep -qE '\[-one-\] +\{\+two\+\} +\(Only the first megabyte of each text ' ||
	fail 'the end of the first megabyte'
# Whichever of both is so long.
head -c 1048000 long.texts/one >long.texts/two
for keep in longest shortest; do
	run 0 "$dedup" -q -r --keep $keep --evidence ev.$keep long.texts
	run 0 "$query" review ev.$keep
	tr '\n' ' ' <out | grep -qF '(Only the first megabyte of each text ' || fail "one long text: --keep $keep"
done

# No line of evidence has more than 1 MiB: reading ends there, also of what never ends.
run 2 timeout 60 "$query" review /dev/zero
errors <<'END'
simidx-query: /dev/zero: is no evidence (line 1: it is longer than 1 MiB); give the file that simidx-dedup --evidence FILE has written
END
{ cat ev; head -c 3000000 /dev/zero; } >long
run 2 "$query" review long
says 'long:6: no evidence: it is longer than 1 MiB'
# Of 300 lines that are nearly as long, the memory for 50 is enough.
wide() {
	awk 'BEGIN {
		x = "x"
		while (length(x) < 1000000)
			x = x x
		x = substr(x, 1, 1000000)
		for (i = 0; i < 300; i++)
			printf "{\"similarity\":%s,\"limit\":80,\"rule\":\"%s\",\"keep\":%s,\"path\":\"x\",\"path2\":\"y\",\"x\":\"%s\"}\n",
				i % 6 == 5 ? "null" : 79 + i % 5 * 4, i % 6 == 4 ? "equal" : "text", i % 5 ? "false" : "true", x
	}'
}
if (ulimit -v 110000 && "$query" --version) >/dev/null 2>&1; then
	wide | (ulimit -v 110000; exec "$query" review -) >out 2>err || fail "more than 110 MB: $(head -2 err)"
	[ "$(grep -c ' of 50: ' out)" -eq 50 ] || fail 'not 50 pairs of long lines'
fi

# Of what fingerprints have decided the farthest come first, and else what stands first in the evidence;
# so do texts that are as similar.
n=0
for bits in 3 1 2 1 3 1; do
	n=$((n + 1))
	echo "{\"distance\":$bits,\"rule\":\"fingerprint\",\"keep\":false,\"path\":\"a\",\"line\":$n,\"path2\":\"b\",\"line2\":1}"
done >bits.jsonl
run 0 "$query" review bits.jsonl
[ "$(sed -n 's/^  + a:/ /p' out | tr -d '\n')" = ' 1 5 3 2 4 6' ] || { fail 'the order of fingerprints'; cat out; }
sed 's/"distance":[0-9]/"similarity":84,"limit":80/; s/fingerprint/text/' bits.jsonl >alike.jsonl
run 0 "$query" review alike.jsonl
[ "$(sed -n 's/^  + a:/ /p' out | tr -d '\n')" = ' 1 2 3 4 5 6' ] || { fail 'the order of texts'; cat out; }
grep -qE 'up to 5 points above the limit, 6 shown' out || { fail 'which kind 84 % are'; cat out; }
finish
