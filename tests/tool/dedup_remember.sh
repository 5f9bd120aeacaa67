#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
#
# What simidx-dedup remembers of texts in an index: a second day is compared with the first one by sketches,
# by texts and by fingerprints.
. "$SX_SRCDIR/tests/tool/tool_lib.sh"
need_text
need_json
export TMPDIR=$tmp/own
mkdir "$TMPDIR"

# 1,500 rows of 100 words, each tenth of 1,000. The second day has 600; each third is a row of the first day
# in which words are replaced, no two of them within five: each of the k takes five runs of 100 words away, and
# the similarity is (96 - 5 k) / (96 + 5 k): 100, 90.0, 81.1, 73.0, 65.5 percent.
awk 'function random(n) { x = (x * 69069 + 12345) % 4294967296; return int(x / 4294967296 * n) }
	function row(file, d, text) { printf "{\"label\":\"%s%d\",\"text\":\"%s\"}\n", file, d, text >file ".jsonl" }
	BEGIN { x = 4
		for (d = 1; d <= 1500; d++) {
			n[d] = d % 10 ? 100 : 1000
			text = ""
			for (i = 1; i <= n[d]; i++) text = text (w[d, i] = "w" random(60000)) " "
			row("first", d, text)
		}
		for (d = 1; d <= 600; d++) {
			text = ""
			of = random(1500) + 1
			k = d / 3 % 5
			for (i = 1; i <= n[of]; i++)
				text = text (d % 3 ? "v" random(60000) : i % 100 > 20 && i % 100 <= 20 + 10 * k && i % 10 == 0 ? "x" random(60000) : w[of, i]) " "
			row("second", d, text)
		}
	}'
cat first.jsonl second.jsonl >both.jsonl
run 0 "$dedup" -q --stream --dups exact --similarity 0.6 both.jsonl
sed 's/both.jsonl:\([0-9]*\)\t.*/\1/' exact | awk '{ print $2 - 1500, $1 == "same" ? 100 : $1 }' | sort -n >true
awk '$2 >= 85' true >clear
awk '$2 < 75' true >apart
[ "$(wc -l <clear)" -eq 80 ] && [ "$(wc -l <apart)" -eq 80 ] || fail "$(wc -l <clear) near, $(wc -l <apart) apart"
run 0 "$dedup" -q --stream both.jsonl
grep second out >new.jsonl

# Texts: as one run over all. Then all is known, or left out again.
run 0 "$dedup" --stream --index text.ix --remember text first.jsonl
same out first.jsonl
says 'simidx-dedup: text.ix: remembers 1,500 texts more, in '
cp -r text.ix damaged.ix
run 0 "$dedup" -q --stream --index text.ix --dups text.dups second.jsonl
same out new.jsonl
# The pages of labels are damaged: that is told, and not what comes of it; with -q, too.
run 0 "$load" -q --merge-only damaged.ix
size=$(getconf PAGESIZE)
for page in $(grep -abo 'first7[0-9][0-9]' damaged.ix/data.mdb | awk -F: -v size="$size" '{ print int($1 / size) }' | sort -nu); do
	printf '\377\377' | dd of=damaged.ix/data.mdb bs=1 seek=$((page * size + 10)) conv=notrunc status=none
done
run 2 "$dedup" -q --stream --index damaged.ix --dups damaged.dups --output damaged.new second.jsonl
says 'simidx-dedup: damaged.ix: cannot read: a page is of the wrong type'
says "damaged.ix: 'simidx-query verify damaged.ix' lists what is damaged; restore a backup, or save what is sound"
says 'damaged.new is not complete; with --resume the same command goes on'
# In rows of 1,000 words the runs at their ends do not count so much.
cut -f 1 text.dups | sort | uniq -c | tr -s ' ' |
	diff - <(printf ' %d %s\n' 33 81.1 7 81.7 37 90.0 3 90.4 40 same) || fail 'similarities of texts'
run 0 "$dedup" -q --stream --index text.ix both.jsonl
output </dev/null

# Sketches, which are what a new index has: clear cases are decided as by texts, and the estimate is near.
run 0 "$dedup" -q --stream --index sketch.ix first.jsonl
run 0 "$dedup" --stream --index sketch.ix --dups dups second.jsonl
grep -q 'compared by their fingerprints' err && fail 'sketches do not decide'
cp out sketch.out
sed 's/second.jsonl:\([0-9]*\)\t.*/\1/' dups | awk '{ print $2, $1 }' | sort -n >left
awk 'NR == FNR { left[$1] = 1; next } !left[$1]' left clear >lost
[ ! -s lost ] || fail "$(wc -l <lost) near ones are let through: $(head -2 lost)"
awk 'NR == FNR { left[$1] = 1; next } left[$1]' left apart >wrong
[ ! -s wrong ] || fail "$(wc -l <wrong) are left out wrongly: $(head -2 wrong)"
awk 'NR == FNR { true[$1] = $2; next } !true[$1] || $2 !~ /^~[0-9]+$/ { print; next }
	{ e = substr($2, 2) + .5 - true[$1]; if (e < -4 || e > 4) print }' true left >wrong
[ ! -s wrong ] || fail "estimates: $(head -3 wrong)"
[ "$(wc -l <left)" -gt 100 ] || fail "only $(wc -l <left) are left out"
run 0 "$dedup" -q --stream --index sketch.ix second.jsonl
output </dev/null
# Also what was left out by the texts of one run, and what estimates would let through, is left out again:
# it is remembered itself, without its label. The rows of 81.7 percent are such.
run 0 "$dedup" -q --stream --index all.ix --similarity 0.817 both.jsonl
kept=$(wc -l <out)
run 0 "$dedup" -q --stream --index all.ix --similarity 0.817 both.jsonl
output </dev/null
stored=$("$query" -q dump all.ix | wc -l)
[ "$stored" -gt "$kept" ] && [ "$stored" -le $((kept + 7)) ] || fail "$kept were kept, and $stored are stored"
"$query" -q dump --format full all.ix | sed -n 's/.*"note_hex":"\([0-9a-f]*\)".*/\1/p' >notes
[ "$(wc -l <notes)" -eq "$("$query" -q dump all.ix | wc -l)" ] || fail 'a document has no note'
"$query" -q dump --json all.ix | grep '"note' && fail 'notes in a dump that is not full'
awk 'length($0) > 400' notes >long
[ ! -s long ] || fail 'sketches of more than 200 bytes'
"$query" -q verify all.ix >/dev/null || fail 'the index is damaged'
# What is left out for a row of an earlier run is not remembered, however far it is from it: that row stays.
run 0 "$dedup" -q --stream --index far.ix --similarity 0.6 first.jsonl
for n in 400 0; do
	run 0 "$dedup" -q --stream --index far.ix --similarity 0.6 second.jsonl
	[ "$(wc -l <out)" -eq $n ] || fail "$(wc -l <out) rows of the second day are new at 60 percent, not $n"
	[ "$("$query" -q dump far.ix | wc -l)" -eq 1900 ] || fail "$("$query" -q dump far.ix | wc -l) documents of 1,900"
done
for how in '--threads 1' '--threads 3 --memory 64M'; do
	rm -rf again.ix
	for file in first second; do
		# shellcheck disable=SC2086
		run 0 "$dedup" -q $how --stream --index again.ix $file.jsonl
	done
	same out sketch.out
done
rm -f dups
run 0 "$dedup" -q --stream --index sketch.ix --dups dups --json -F jsonl - <<<"$(sed -n 9p second.jsonl | sed 's/second9/other/')"
grep -Eq '^\{"similarity":[0-9]+,"estimate":true,"path":"-","line":1,"label":"other","label2":"[a-z]+[0-9]+","id2":[0-9]+\}$' dups ||
	fail "JSON of an estimate: $(cat dups)"

# Fingerprints. What an index has been made for stays.
run 0 "$dedup" -q --stream --index fp.ix --remember fingerprint first.jsonl
run 0 "$dedup" --stream --index fp.ix --dups fp.dups second.jsonl
says 'fp.ix: documents of earlier runs are compared by their fingerprints only'
cut -f 1 fp.dups | sort -u | grep -qx fp || fail 'fingerprints do not decide'
for pair in 'text sketch' 'text fingerprint' 'sketch text' 'sketch fingerprint' 'fp text' 'fp sketch'; do
	run 2 "$dedup" --stream --index "${pair% *}.ix" --remember "${pair#* }" second.jsonl
	is=${pair% *}
	says "$is.ix: remembers texts by --remember ${is/fp/fingerprint}, which was chosen when it was made: --remember ${pair#* } needs another INDEX"
done
for pair in 'text text' 'sketch sketch' 'fp fingerprint'; do
	run 0 "$dedup" -q --stream --index "${pair% *}.ix" --remember "${pair#* }" second.jsonl
	output </dev/null
done
# Where texts are not compared, nothing is remembered of them, and the index stays what it is.
run 0 "$dedup" -q --stream --index text.ix --no-verify -F jsonl - <<<'{"text":"one two three four five six seven"}'
rm -f dups
run 0 "$dedup" --stream --index text.ix --dups dups -F jsonl - <<<'{"text":"one two three four five six seven"}'
output </dev/null
tail -1 dups | grep -q '^fp' || fail 'a document without a note'
says 'fingerprints decided 1 time, as an index had no note of a text that can be compared'
run 0 "$dedup" --stream --index text.ix -F jsonl - <<<'{"text":"eight nine ten eleven twelve thirteen"}'
says 'text.ix: remembers 1 text more, in '
run 2 "$dedup" --stream --index none.ix --no-verify --remember text first.jsonl
says '--remember is about comparing texts, which --no-verify leaves out'
run 2 "$dedup" --remember text first.jsonl
says '--remember is about the index of --index'
run 2 "$dedup" --stream --index none.ix --remember all first.jsonl
says '--remember'
run 2 "$dedup" --stream --index none.ix --remember text -F lines - <<<0123456789abcdef
says '--remember is about texts, and the inputs have fingerprints'
[ ! -e none.ix ] || fail 'an index was made in vain'

# Texts without words, and one that is too long to be kept.
printf '{"text":"%s"}\n' '...' '?!' '' '...' >words.jsonl
for what in sketch text; do
	run 0 "$dedup" -q --stream --index words.$what --remember $what words.jsonl
	head -3 words.jsonl | cmp - out || fail "texts without words, $what"
	run 0 "$dedup" -q --stream --index words.$what words.jsonl
	echo '{"text":""}' | cmp - out || fail "texts without words again, $what"
done
awk 'BEGIN { printf "{\"text\":\""; for (i = 0; i < 1010000; i++) printf "word%03d ", i * i % 211; print "\"}" }' >long.jsonl
run 0 "$dedup" --stream --index long.ix --remember text long.jsonl first.jsonl
says 'long.ix: of these 1 is too long, and remembered by a sketch'
rm -f dups
run 0 "$dedup" -q --stream --index long.ix --dups dups long.jsonl first.jsonl
output </dev/null
grep -q '^~100.long.jsonl' dups || fail "a long text: $(cat dups)"

# A similarity of exactly the limit is near: a sketch knows its own text, whatever the label.
echo '{"label":"a","text":"one two three four five six seven"}' >a.jsonl
run 0 "$dedup" -q --similarity 1 --stream --index limit.ix a.jsonl
run 0 "$dedup" --similarity 1 --stream --index limit.ix -F jsonl - < <(sed 's/"a"/"b"/' a.jsonl)
says '0 new, 1 near-duplicate'
output </dev/null

# What simidx-load stores beside it is compared with nothing; that is told, unless it compares itself.
sed 's/"a"/"c"/' a.jsonl >c.jsonl
run 0 "$load" limit.ix c.jsonl
says "limit.ix: is kept by simidx-dedup, but this stores all rows, near ones too: 'simidx-dedup --stream --index limit.ix' stores what is new"
run 0 "$dedup" -q --stream --index limit.ix a.jsonl
run 0 "$load" --mode if-new limit.ix -F jsonl - < <(sed 's/"a"/"d"/' a.jsonl)
grep -q 'kept by' err && fail 'told of rows that are compared'

# A label that is too long for an index is not stored; the row is.
awk 'BEGIN { printf "{\"label\":\"%070000d\",\"text\":\"one two three four five six seven\"}\n", 1 }' >label.jsonl
run 0 "$dedup" -q --stream --index label.ix label.jsonl
same out label.jsonl
"$query" -q dump label.ix | cut -f 3 | cmp - <(echo) || fail 'a label that is too long'

# Notes of other programs say nothing, damaged ones neither; those of another rule are refused.
dump() { "$query" -q dump --format full sketch.ix; }
dump | sed 's/"note_hex":"d5/"note_hex":"d6/' >foreign.dump
dump | sed 's/"note_hex":"d50101/"note_hex":"d50110/; s/,"mark":"[^"]*"//' >cut.dump
dump | sed 's/"note_hex":"d501/"note_hex":"d502/' >rule.dump
dump | sed 's/\("note_hex":"[0-9a-f]*\)00"/\100"/; s/"note_hex":"\(d50101[0-9a-f]\{40\}\)[0-9a-f]*"/"note_hex":"\1"/' >short.dump
for kind in foreign short; do
	run 0 "$load" -q -F full $kind.ix $kind.dump
	run 0 "$dedup" --stream --index $kind.ix first.jsonl
	says 'as an index had no note of a text that can be compared'
	[ "$(wc -l <out)" -lt 15 ] || fail "$kind notes: $(wc -l <out) are new"
done
run 0 "$load" -q -F full rule.ix rule.dump
run 2 "$dedup" --stream --index rule.ix first.jsonl
says 'what the index remembers of its texts was made by another rule'
# The mark of another program says nothing of what is remembered.
run 0 "$load" -q -F full cut.ix cut.dump
run 0 "$dedup" -q --stream --index cut.ix --remember text -F jsonl - <<<'{"text":"one two three four five six seven"}'
run 2 "$dedup" --stream --index cut.ix --remember sketch first.jsonl
says 'cut.ix: remembers texts by --remember text'

# What fingerprints had to decide, as a text could not be had again, is not new to the next run.
for what in sketch text; do
	for i in 1 2; do
		run 0 "$dedup" -q --stream --spill 0 --dups gone.$i -F jsonl --index spill.$what --remember $what - < <(cat first.jsonl both.jsonl)
		[ $i -eq 1 ] || [ ! -s out ] || fail "$(wc -l <out) rows come back with --remember $what"
	done
	grep -q '^fp' gone.1 || fail 'fingerprints have decided nothing: the test tests nothing'
done
finish
