#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
#
# simidx-dedup --against: what is near to documents of other indexes is left out, by what these have.
. "$SX_SRCDIR/tests/tool/tool_lib.sh"
need_text
need_json
export TMPDIR=$tmp/own
mkdir "$TMPDIR"

# 400 documents a.1 .. and 400 b.1 .. of 100 words. Of 900 rows, each ninth is a.N with two words replaced,
# the next one b.N just so, the next one the row before.
awk 'function random(n) { x = (x * 69069 + 12345) % 4294967296; return int(x / 4294967296 * n) }
	BEGIN { x = 7
		for (s = 1; s <= 2; s++) for (d = 1; d <= 400; d++) {
			text = ""
			for (i = 1; i <= 100; i++) text = text (w[s, d, i] = "w" random(60000)) " "
			printf "{\"label\":\"%s.%d\",\"text\":\"%s\"}\n", substr("ab", s, 1), d, text >substr("ab", s, 1) ".jsonl"
		}
		for (d = 1; d <= 900; d++) {
			kind = d % 9
			n = int(d / 9) + 1
			if (kind != 2) for (i = 1; i <= 100; i++) v[i] = "v" random(60000)
			for (i = 1; i <= 100 && kind < 2; i++) v[i] = i % 40 ? w[kind + 1, n, i] : "x" random(60000)
			text = ""
			for (i = 1; i <= 100; i++) text = text v[i] " "
			printf "{\"n\":%d,\"text\":\"%s\"}\n", d, text >"rows.jsonl"
		}
	}'
# A row that is left out is no keeper: the row after it is near to the document, too.
for set in a b; do
	for what in fingerprint sketch text; do
		run 0 "$dedup" -q --stream --index $set.$what --remember $what $set.jsonl
	done
done
awk 'NR % 9 > 2' rows.jsonl >new.jsonl
awk 'NR % 9 > 2 || NR % 9 == 0' rows.jsonl >not.b

# As one run over all of them.
cat a.jsonl b.jsonl rows.jsonl >all.jsonl
run 0 "$dedup" -q --stream all.jsonl
tail -n +801 out | cmp - new.jsonl || fail 'these rows are no test'

# By texts and by sketches, in the order of the indexes; the index is named.
for what in text sketch; do
	[ $what = text ] && is=81.1 || is='~8[0-5]'
	rm -f dups
	run 0 "$dedup" --stream --against a.$what --against b.$what --dups dups rows.jsonl
	cp out $what.out
	says 's: '
	[ "$(wc -l <dups)" -gt 280 ] || fail "only $(wc -l <dups) are left out"
	grep -vxP "$is\trows.jsonl:\d+\t[ab]\.\d+\t[ab]\.$what|same\trows.jsonl:\d+\trows.jsonl:\d+" dups >wrong
	[ ! -s wrong ] || fail "--dups, $what: $(head -2 wrong)"
	head -1 dups | grep -qxP "$is\trows.jsonl:1\tb\.1\tb\.$what" || fail "the first: $(head -1 dups)"
	run 0 "$dedup" -q --stream --threads 3 --memory 64M --against a.$what --against b.$what rows.jsonl
	same out $what.out
done
rm -f dups
same text.out new.jsonl
comm -23 <(sort new.jsonl) <(sort sketch.out) | grep . && fail 'sketches leave out what is new'
[ "$(wc -l <sketch.out)" -lt 620 ] || fail "sketches let $(wc -l <sketch.out) through"
run 0 "$dedup" -q --stream --against b.text rows.jsonl
awk 'NR % 9 != 1 && NR % 9 != 2' rows.jsonl | cmp - out || fail 'one index'
run 0 "$dedup" -q --stream --against a.text --threads 3 --memory 64M rows.jsonl
awk 'NR % 9 && NR % 9 != 2' rows.jsonl | cmp - out || fail 'one index, threads'

# Fingerprints.
run 0 "$dedup" --stream --against a.fingerprint --dups dups rows.jsonl
says 'a.fingerprint: its documents are compared by their fingerprints only'
grep -qxP 'fp\trows.jsonl:\d+\ta\.\d+\ta.fingerprint' dups || fail 'fingerprints do not decide'
run 0 "$dedup" -q --stream --no-verify --against a.text --dups nv.dups rows.jsonl
cut -f 1 nv.dups | sort -u | diff - <(echo fp) || fail '--no-verify compares texts'
[ "$(grep -c a.text nv.dups)" -eq "$(grep -c a.fingerprint dups)" ] || fail '--no-verify decides in another way'
rm dups nv.dups

# With --index, nothing of them goes into it, and they stay as they are.
cp -r a.text copy
run 0 "$dedup" -q --stream --index ix --against a.text --against b.sketch rows.jsonl
cmp a.text/data.mdb copy/data.mdb || fail 'an index that is only read has changed'
[ "$("$query" -q dump ix | wc -l)" -eq "$(wc -l <out)" ] || fail 'what is left out is in the index'
run 0 "$dedup" -q --stream --index ix rows.jsonl
[ "$(wc -l <out)" -ge 200 ] || fail "what another index has is known without it: $(wc -l <out)"

# Groups: a document of an index is the one that is kept.
run 0 "$dedup" --against a.text --against b.text rows.jsonl
says ' s: 300 near-duplicates in 200 groups'
grep -A 1 -P '\tkeep\ta\.2\ta.text$' out | diff - <(printf '9\tsame\tkeep\ta.2\ta.text\n9\t81.1\tdrop\trows.jsonl:9\n') ||
	fail 'a group of an index'
grep -A 2 -P '\tkeep\tb\.2\tb.text$' out | diff - <(printf '10\tsame\tkeep\tb.2\tb.text\n10\t81.1\tdrop\trows.jsonl:10\n10\t81.1\tdrop\trows.jsonl:11\n') ||
	fail 'a group of two'
run 0 "$dedup" -q --json --against a.sketch rows.jsonl
grep -A 1 '"label":"a.2"' out >two
grep -Eqx '\{"group":9,"similarity":100,"same":true,"keep":true,"label":"a.2","id":[0-9]+,"index":"a.sketch"\}' two &&
	grep -Eqx '\{"group":9,"similarity":8[0-5],"estimate":true,"keep":false,"path":"rows.jsonl","line":9\}' two ||
	fail "groups with --json: $(cat two)"
run 0 "$dedup" -q --drop-list --against a.text --against b.text rows.jsonl
sort -t : -k 2n out | diff - <(awk 'NR % 9 <= 2 { print "rows.jsonl:" NR }' rows.jsonl) || fail '--drop-list'
# A label may be that of a document of the other index, too, which stays.
sed 's/^{/{"id":"a.2",/' rows.jsonl | sed -n 2p >today.jsonl
run 0 "$dedup" --drop-list --against a.text --against b.text today.jsonl
output <<<'today.jsonl:1'
run 0 "$dedup" --drop-list --against a.fingerprint rows.jsonl
says 'near by fingerprints alone: not listed'
grep -qx rows.jsonl:9 out && fail 'what fingerprints have decided is listed'

# In another index a label may mean another document. One without a label is named by its id.
run 0 "$dedup" --stream --against a.text --dups dups a.jsonl
output </dev/null
[ "$(grep -c '^same' dups)" -eq 400 ] || fail "the same texts in another index: $(head -3 dups)"
rm dups
"$query" -q dump --format full a.text | sed 's/"label":"[^"]*",//' >bare.dump
run 0 "$load" -q -F full bare bare.dump
run 0 "$dedup" -q --stream --against bare --dups dups --json rows.jsonl
grep -qxP '\{"similarity":81.1,"path":"rows.jsonl","line":9,"id2":1,"index2":"bare"\}' dups ||
	fail "a document without a label: $(head -3 dups)"

# Features and bare fingerprints.
echo 00000000000000ff | "$load" -q -F lines fps - || fail 'no index of fingerprints'
printf '%s\n' 00000000000000fe 0f0f0f0f0f0f0f0f >fps.txt
run 0 "$dedup" -q --stream --against fps --dups fps.dups -F lines fps.txt
output <<<0f0f0f0f0f0f0f0f
printf '1\tfps.txt:1\tid 0\tfps\n' | cmp - fps.dups || fail 'bare fingerprints'

# What does not fit.
run 2 "$dedup" --stream --index ix --against ix rows.jsonl
says "--against: 'ix' is the index of --index"
ln -s ix link
run 2 "$dedup" --stream --index ix --against link rows.jsonl
says "--against: 'link' is the index of --index"
run 2 "$dedup" --stream --against none rows.jsonl
says 'none: '
[ ! -e none ] || fail 'an index that is only read was made'
run 2 "$dedup" --stream --against rows.jsonl rows.jsonl
says "--against: 'rows.jsonl' is a file and no index; 'simidx-dedup -q --stream --index INDEX rows.jsonl >/dev/null'"
run 2 "$dedup" --stream --against fps rows.jsonl
says "fps: has the profile 'none'"
run 2 "$dedup" --stream --against a.text fps.txt -F lines
says 'a.text: has the profile'
run 2 "$dedup" --pairs --against a.text rows.jsonl
says '--pairs are pairs of inputs, so --against does not go with it'
run 0 "$load" -q --extractor char-4 other a.jsonl
run 2 "$dedup" --stream --against other rows.jsonl
says 'other: has the profile '
# No new index is left then.
for what in other none fps; do
	run 2 "$dedup" --stream --index new.ix --against $what rows.jsonl
	says "$what: "
	[ ! -e new.ix ] || fail "an index is made though --against $what is refused"
done
"$query" -q dump --format full a.sketch | sed 's/"note_hex":"d501/"note_hex":"d502/' >rule.dump
run 0 "$load" -q -F full rule rule.dump
run 2 "$dedup" --stream --against rule rows.jsonl
says 'was made by another rule'
# An index is no input, wherever it lies.
mkdir dir
cp rows.jsonl dir
cp -r a.text dir/index
run 0 "$dedup" -q --stream --against dir/index -r dir
output <<<dir/rows.jsonl
finish
