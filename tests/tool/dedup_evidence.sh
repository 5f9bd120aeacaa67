#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
#
# Why rows are left out: --evidence, --near-misses, --evidence-texts, the largest groups and --max-group of
# simidx-dedup, and simidx-query review. Each pair is compared with the similarity that awk computes of all
# pairs of rows.
. "$SX_SRCDIR/tests/tool/tool_lib.sh"
need_text
need_json
export TMPDIR=$tmp/temporary
mkdir "$TMPDIR"

# 400 rows of 60 words; half of them are an earlier one, as it is or with words exchanged.
awk "$random"' BEGIN {
	state = 5
	for (i = 1; i <= 400; i++) {
		from = i > 1 && rnd() < .5 ? 1 + int(rnd() * (i - 1)) : 0
		edits = rnd() < .2 ? 0 : rnd() * 3
		line = ""
		for (w = 1; w <= 60; w++) {
			if (!from)
				word[i, w] = "w" int(rnd() * 4000)
			else
				word[i, w] = rnd() * 60 < edits ? "x" int(rnd() * 4000) : word[from, w]
			line = line (w > 1 ? " " : "") word[i, w]
		}
		printf "{\"label\":\"row %d\",\"text\":\"%s\"}\n", i, line
	}
}' >rows.jsonl

# The similarity of each pair that shares a run of five words: later line, earlier line, percent rounded down to
# a tenth, and 1 if the texts are equal.
sed 's/.*"text":"//; s/"}$//' rows.jsonl | shared_runs |
	awk '{ printf "%d %d %.1f %d\n", $1, $2, int(1000 * $3 / $4 + 1e-9) / 10, $5 }' | sort >pairs

# of KEY: the values of a member of each line of ./evidence, or - where there is none.
of() {
	sed -n "s/.*[{,]\"$1\":\"\{0,1\}\([^,\"}]*\).*/\1/p;t;s/.*/-/p" evidence
}

# confirm: each line of ./evidence that was compared names a pair with this similarity, near where it was left out.
confirm() {
	paste -d' ' <(of line) <(of line2) <(of similarity) <(of rule) <(of keep) >told
	awk -v least="$1" 'NR == FNR { percent[$1, $2] = $3; equal[$1, $2] = $4; next }
		$3 != percent[$1, $2] || ($4 == "equal") != equal[$1, $2] || ($4 != "equal" && $4 != "text") ||
		($5 == "true") != ($3 < 80) || $3 < least { print; bad = 1 } END { exit bad }' \
		pairs told || fail 'these lines of evidence are wrong'
}

# Every row is either new or in the evidence, once; every pair is right; whatever the threads.
for how in '--threads 1' '--threads 4 --memory 64M'; do
	rm -f evidence
	# shellcheck disable=SC2086
	run 0 "$dedup" $how --stream --evidence evidence rows.jsonl
	says 'evidence: tells of '
	cp out new
	confirm 80
	{ sed 's/.*"row \([0-9]*\)".*/\1/' new && of line; } | sort -n | cmp - <(seq 400) ||
		fail 'a row is neither new nor in the evidence once'
	[ "$(grep -c '"rule":"equal"' evidence)" -gt 10 ] || fail 'no equal texts'
	[ "$(grep -c '"rule":"text"' evidence)" -gt 25 ] || fail "no near texts"
done
cp evidence evidence.stream

# A line in full: places, labels and hashes; the keeper's hash is that of its own row.
head -1 evidence | grep -qE '^\{"similarity":[0-9.]+,"limit":80,"rule":"(text|equal)","keep":false,"path":"rows.jsonl","line":[0-9]+,"offset":[0-9]+,"length":[0-9]+,"label":"row [0-9]+","format":"jsonl","hash":"[0-9a-f]{16}","path2":"rows.jsonl","line2":[0-9]+,"offset2":[0-9]+,"length2":[0-9]+,"label2":"row [0-9]+","format2":"jsonl","hash2":"[0-9a-f]{16}"\}$' ||
	fail "a line: $(head -1 evidence)"
paste -d' ' <(of label2) <(of line2) <(of rule) <(of hash) <(of hash2) |
	awk '$2 != $3 || ($4 == "equal") != ($5 == $6) { exit 1 }' || fail 'labels or hashes of keepers'
paste -d' ' <(of offset2) <(of length2) <(of line2) | sort -u | head -20 >places
while read -r offset length line; do
	tail -c +$((offset + 1)) rows.jsonl | head -c "$length" | cmp -s - <(sed -n "${line}p" rows.jsonl) ||
		fail "row $line is not at byte $offset"
done <places

# Groups and drop lists that keep the first have the same evidence, and compressed files hold it.
for how in '' --drop-list --json; do
	rm -f evidence
	# shellcheck disable=SC2086
	run 0 "$dedup" -q $how --keep first --evidence evidence rows.jsonl
	sort evidence | cmp - <(sort evidence.stream) || fail "evidence of groups, $how"
done
for suffix in gz zst; do
	tool=${suffix/zst/zstd} tool=${tool/gz/gzip}
	rm -f "evidence.$suffix"
	if ! "$dedup" --stream --evidence "evidence.$suffix" rows.jsonl >out 2>err; then
		grep -q 'cannot be written compressed by' err || fail "$suffix: $(cat err)"
		continue
	fi
	command -v "$tool" >/dev/null || continue
	"$tool" -dc <"evidence.$suffix" | cmp - evidence.stream || fail "another evidence in evidence.$suffix"
	run 0 "$query" review "evidence.$suffix"
done

# Rows of a pipe have no place, but a line.
run 0 "$dedup" -q --stream --evidence piped -F jsonl - <rows.jsonl
same new out
[ "$(grep -c '"path":"-","line":[0-9]*,"label"' piped)" -eq "$(wc -l <evidence.stream)" ] || fail 'rows of a pipe'

# Near misses: the nearest of what a kept row was compared with.
rm -f evidence
run 0 "$dedup" -q --stream --accept 600 --all --evidence evidence --near-misses 15 rows.jsonl
same new out
confirm 65
grep -v '"keep":true' evidence | cmp - evidence.stream || fail 'other rows are left out'
grep '"keep":true' evidence >misses
[ "$(wc -l <misses)" -gt 10 ] || fail "$(wc -l <misses) near misses"
# Of the kept rows, all whose most similar kept one is in 65..80.
sed 's/.*"row \([0-9]*\)".*/\1/' new >kept
awk 'NR == FNR { kept[$1]; next } ($1 in kept) && ($2 in kept) && $2 < $1 && $3 > best[$1] { best[$1] = $3 }
	END { for (i in best) if (best[i] >= 65) print i }' kept pairs | sort -n >expected
mv misses evidence
of line | sort -n | cmp - expected || fail 'near misses are missing'

# Excerpts: both have the first difference; those of equal texts are how these begin.
rm -f evidence
run 0 "$dedup" -q --stream --evidence evidence --evidence-texts 30 rows.jsonl
[ "$(of excerpt | awk 'length($0) <= 30' | wc -l)" -eq "$(wc -l <evidence)" ] || fail 'long excerpts'
paste -d'|' <(of rule) <(of excerpt) <(of excerpt2) |
	awk -F'|' '($1 == "equal") != ($2 == $3) || $2 == "-" || $3 == "-" { exit 1 }' || fail 'excerpts'
sed 's/.*"text":"//; s/"}$//' rows.jsonl | cut -c 1-30 >begins
paste -d'|' <(of rule) <(of line) <(of excerpt) |
	awk -F'|' 'NR == FNR { begin[NR] = $0; next } $1 == "equal" && $3 != begin[$2] { exit 1 }' begins - ||
	fail 'excerpts of equal texts'

# No character is cut, however many bytes it has: eleven before what differs.
letters=$(printf '\360\220\214\260%.0s' 1 2 3 4 5 6 7 8 9 10 11)
for word in one two; do
	echo "{\"text\":\"$(seq -f 'w%g' -s ' ' 50) $letters$letters$word $(seq -f 'w%g' -s ' ' 51 100)\"}"
done >wide.jsonl
rm -f evidence
run 0 "$dedup" -q --stream --evidence evidence --evidence-texts 33 wide.jsonl
grep -qF "\"excerpt\":\"${letters}two w51 " evidence && grep -qF "\"excerpt2\":\"${letters}one w51 " evidence ||
	fail "a character of an excerpt: $(cat evidence)"

# Earlier runs and other indexes: by sketches, texts and fingerprints.
head -200 rows.jsonl >first.jsonl
tail -200 rows.jsonl | sed 's/"label":"[^"]*",//' >second.jsonl
for remember in sketch text fingerprint; do
	rm -rf seen evidence
	run 0 "$dedup" -q --stream --index seen --remember $remember first.jsonl
	cp -r seen other
	run 0 "$dedup" -q --stream --index seen --evidence evidence second.jsonl
	mv out new2
	grep -v '"path2"' evidence >earlier
	[ "$(grep -c . earlier)" -gt 20 ] || fail "$remember: nothing is near to an earlier run"
	[ "$(grep -c '"index2":"seen"' earlier)" -eq "$(wc -l <earlier)" ] || fail "$remember: no index"
	[ "$(grep -c '"label2":"row [0-9]*","id2":[0-9]*' earlier)" -gt 20 ] || fail "$remember: no labels"
	rule=$remember
	[ $rule != text ] || rule='\(text\|equal\)'
	[ "$(grep -c "\"rule\":\"$rule\"" earlier)" -eq "$(wc -l <earlier)" ] || fail "$remember: other rules"
	[ $(($(wc -l <new2) + $(wc -l <evidence))) -eq 200 ] || fail "$remember: not each row once"
	rm evidence
	run 0 "$dedup" -q --stream --against other --evidence evidence --evidence-texts 20 second.jsonl
	same out new2
	[ "$(grep -c '"index2":"other"' evidence)" -ge "$(wc -l <earlier)" ] || fail "$remember: --against"
	# Near misses of an index.
	rm -f misses
	run 0 "$dedup" -q --stream --against other --evidence misses --near-misses 15 --accept 600 --all second.jsonl
	[ $remember = fingerprint ] || [ "$(grep '"keep":true' misses | grep -c '"index2":"other"')" -gt 5 ] ||
		fail "$remember: no near misses of an index"
	# The texts that an index remembers whole are there.
	[ $remember != text ] || [ "$(grep '"index2"' evidence | grep -c '"excerpt2"')" -gt 20 ] ||
		fail 'no excerpts of an index'
	rm -rf other
done
rm -f evidence
run 0 "$dedup" -q --no-verify --evidence evidence rows.jsonl
[ "$(grep -c '"similarity":null,"rule":"fingerprint"' evidence)" -gt 50 ] || fail 'no fingerprints'
rm -f evidence
printf '%s\n' 00000000000000ff 00000000000000fe ffffffff00000000 | run 0 "$dedup" -q -F lines --evidence evidence -
grep -q '^{"distance":1,"rule":"fingerprint","keep":false,"path":"-","line":2,' evidence || fail 'bare fingerprints'

# A run that was killed: what is not committed comes again, and a compressed file can be read on.
for suffix in jsonl zst; do
	[ -n "$(command -v zstd)" ] || [ $suffix != zst ] || continue
	rm -rf seen "killed.$suffix"
	run 0 "$dedup" -q --stream --index seen --evidence "killed.$suffix" first.jsonl
	[ -s "killed.$suffix" ] || continue
	cp "killed.$suffix" whole
	# The mark of a run that goes on is known only while it does: it is stopped between two batches.
	mkfifo rows
	"$dedup" -q --stream --index seen --evidence "killed.$suffix" -F jsonl rows >killed.out 2>err &
	exec 3>rows
	cat second.jsonl >&3
	tries=300
	while [ "$(stat -c %s "killed.$suffix")" -eq "$(stat -c %s whole)" ] && [ $((tries -= 1)) -gt 0 ]; do
		sleep 0.1
	done
	kill -9 $!
	wait $! 2>/dev/null
	exec 3>&-
	rm rows
	if [ $suffix = zst ]; then
		# What somebody else has added since stays.
		cp killed.zst added.zst
		echo '{"added":1}' | zstd -q >>added.zst
		cp -r seen seen2
		cp killed.zst half.zst
		cat added.zst >killed.zst
		run 0 "$dedup" -q --stream --index seen2 --evidence killed.zst second.jsonl
		[ "$(zstd -dqc killed.zst | grep -c '"added":1')" -eq 1 ] || fail 'a member of another program is lost'
		cat half.zst >killed.zst
		rm -r seen2
	fi
	printf 'half a ' >>"killed.$suffix"
	run 0 "$dedup" -q --stream --index seen --evidence "killed.$suffix" second.jsonl
	if [ $suffix = zst ]; then
		zstd -dqc "killed.zst" >evidence || fail 'the evidence of a killed run cannot be read'
	else
		cp killed.jsonl evidence
	fi
	[ "$(grep -c '^{.*}$' evidence)" -eq "$(wc -l <evidence)" ] || fail "$suffix: half a line is left"
done

# ---- the largest groups ----

# A template of 1,200 rows among 3,000: 60 words that are the same and one that is not.
awk "$random"' BEGIN {
	state = 9
	for (w = 1; w <= 60; w++)
		template = template "t" w " "
	for (i = 1; i <= 3000; i++) {
		line = ""
		if (i % 5 < 2)
			line = template "number" i
		else
			for (w = 1; w <= 30; w++)
				line = line "w" int(rnd() * 90000) " "
		printf "{\"text\":\"%s\"}\n", line
	}
}' >template.jsonl
run 0 "$dedup" --stream --dups dups template.jsonl
says '1,199 of all documents (40.0 %) are left out for one, template.jsonl:1: if that is a template'
says 'the largest groups, by how many are left out for one document:'
says '    1,199  template.jsonl:1  t1 t2 t3 t4'
# A filter keeps no names, so it tells which one was left out first.
run 0 "$dedup" --stream template.jsonl
says '    1,199  one near to template.jsonl:5  t1 t2 t3 t4'
says ' 1,199 of all documents (40.0 %) are left out for one, one near to template.jsonl:5: if that is a template'
run 0 "$dedup" -q template.jsonl
says 'warning: 1,199 of all documents'
# More than 4,096 that are counted: then it may be more.
awk 'BEGIN {
	for (i = 1; i <= 10000; i++)
		for (k = 0; k < 2; k++)
			printf "{\"text\":\"a%d b%d c%d d%d e%d f%d\"}\n", i, i, i, i, i, i
	for (i = 1; i <= 100; i++)
		print "{\"text\":\"one two three four five six seven\"}"
}' >many.jsonl
run 0 "$dedup" --stream many.jsonl
grep -qE '^simidx-dedup: at least +9[0-9]  one near to many.jsonl:200' err || fail "not at least: $(tail -4 err)"
run 0 "$dedup" --stream --dups dups.many many.jsonl
says '       99  many.jsonl:20001  one two'
head -50 template.jsonl >small.jsonl
run 0 "$dedup" small.jsonl
says 'the largest groups'
says '       19  small.jsonl:10  t1 t2'
! grep -q warning err || fail 'a warning for 50 rows'
# One of which ten are left out is told, and none of which nine are.
seq 11 | sed 's/.*/{"text":"one two three four five six"}/' >eleven.jsonl
head -10 eleven.jsonl >ten.jsonl
run 0 "$dedup" eleven.jsonl
says '       10  eleven.jsonl:1  one two'
run 0 "$dedup" ten.jsonl
! grep -q 'the largest groups' err || fail 'a group of nine is told'
# For a document of an earlier run, which has a label or an id.
for first in '{"label":"licence","text":"one two three four five six"}' '{"text":"one two three four five six"}'; do
	rm -rf ix
	echo "$first" >day1.jsonl
	run 0 "$dedup" --stream --index ix day1.jsonl
	run 0 "$dedup" --stream --index ix eleven.jsonl
	case $first in
	*licence*) says '       11  licence' ;;
	*) says '       11  id 0' ;;
	esac
	! grep -q ix: err || fail "more is told: $(cat err)"
done
run 0 "$dedup" --stream rows.jsonl
! grep -q 'the largest groups' err || fail 'small groups are told'

# What is beyond --max-group stays, and is no keeper.
run 0 "$dedup" --stream --max-group 100 template.jsonl
[ "$(wc -l <out)" -eq 2900 ] || fail "--max-group: $(wc -l <out) rows"
says '1,099 documents stay, though near to others, as --max-group is reached'
! grep -q warning err || fail 'a warning in spite of --max-group'
rm -f evidence
run 0 "$dedup" -q --stream --max-group 1 --evidence evidence rows.jsonl
confirm 80
[ "$(wc -l <evidence)" -lt "$(wc -l <evidence.stream)" ] || fail 'no row stays with --max-group 1'
[ "$(of line2 | sort | uniq -d | wc -l)" -eq 0 ] || fail 'two rows are left out for one'
paste -d' ' <(of label2) <(of line2) | awk '$2 != $3 { exit 1 }' || fail 'other names of keepers'
run 0 "$dedup" --max-group 100 --drop-list template.jsonl
[ "$(wc -l <out)" -eq 100 ] || fail "--max-group of groups: $(wc -l <out) rows"
# Keepers of an earlier run and of other indexes are counted, too.
head -1 template.jsonl >one.jsonl
rm -rf seen
run 0 "$dedup" -q --stream --index seen one.jsonl
run 0 "$dedup" -q --stream --against seen template.jsonl
says "warning: 1,200 of all documents (40.0 %) are left out for one, id 0"
run 0 "$dedup" -q --stream --index seen template.jsonl
says 'warning: 1,200 of all documents'

# ---- what does not fit ----

run 2 "$dedup" --pairs --evidence e rows.jsonl
says '--evidence is about what is left out, and with --pairs nothing is'
run 2 "$dedup" --near-misses 5 rows.jsonl
says '--near-misses goes with --evidence'
run 2 "$dedup" --no-verify --evidence e --near-misses 5 rows.jsonl
says '--near-misses is about comparing texts, which --no-verify leaves out'
run 2 "$dedup" --stream --index seen --max-group 5 rows.jsonl
says '--max-group counts within one run'
run 2 "$dedup" --evidence rows.jsonl rows.jsonl
says 'rows.jsonl: is an input, so --evidence cannot write to it'
run 2 "$dedup" --evidence evidence.stream rows.jsonl
says 'evidence.stream: is not empty, and --evidence replaces nothing'
run 2 "$dedup" --stream --evidence e --dups e rows.jsonl
says '--dups and --evidence need a file each'
run 2 "$dedup" --evidence - rows.jsonl
says '--evidence: standard output has what is found; name a file'
run 2 "$dedup" --evidence no/such/file rows.jsonl
says 'no/such/file: cannot write: '
[ -e /dev/full ] && { run 2 "$dedup" --evidence /dev/full rows.jsonl; says '/dev/full: cannot write: '; }

# What could not be read behind what is there is not added to it; a file of nothing is whole, too.
printf '{"text":"one two three four five six"}\n%.0s' 1 2 >twice.jsonl
head -1 twice.jsonl >once.jsonl
for suffix in gz zst; do
	run 0 "$dedup" -q --stream --evidence none.$suffix once.jsonl
	run 0 "$query" -q review none.$suffix
	run 0 "$dedup" -q --stream --evidence whole.$suffix twice.jsonl
	head -c -3 whole.$suffix >cut.$suffix
	run 2 "$dedup" -q --stream --index added --evidence cut.$suffix twice.jsonl
	says "simidx-dedup: cut.$suffix: is not whole ("
	says 'remove it, or name another file'
	rm -f lines
	run 0 "$dedup" -q --stream --evidence lines twice.jsonl
	cp lines plain.$suffix
	run 2 "$dedup" -q --stream --index added --evidence plain.$suffix twice.jsonl
	says "simidx-dedup: plain.$suffix: is not whole (it is not compressed as its name says)"
done
run 2 "$dedup" -q --stream --index same --evidence same twice.jsonl
says '--evidence and the index have the same name'
[ ! -e same ] || fail 'a file was made in the place of the index'
# The advice to keep a group is for one of this run, and where there is no index.
run 0 "$load" -q -F jsonl --text-field text of-one once.jsonl
seq 1200 | sed 's/.*/{"text":"one two three four five six"}/' >many.jsonl
run 0 "$dedup" -q --stream many.jsonl
says '(--evidence shows them, --max-group keeps them)'
run 0 "$dedup" -q --stream --against of-one many.jsonl
says 'are left out for one, id 0 in of-one: if that is a template, they may be no copies (--evidence shows them)'
finish
