#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
#
# Which row of a group stays, and what is said of it: identical and near, --identical.
. "$SX_SRCDIR/tests/tool/tool_lib.sh"
need_text
export TMPDIR=$tmp/temporary
mkdir "$TMPDIR"

# ---- identical and near ----

# The same bytes are 'same'; the same runs of words in other bytes are 100.0.
mkdir texts
echo 'one two three four five six' | tee texts/1 >texts/3
echo 'one two three four five SIX' | tee texts/2 >texts/4
echo 'something else that has other words' >texts/5
run 0 "$dedup" -q -r texts
output <<'END'
1	same	keep	texts/1
1	same	drop	texts/3
1	100.0	drop	texts/2
1	100.0	drop	texts/4
END
run 0 "$dedup" -q --json -r texts
output <<'END'
{"group":1,"similarity":100,"same":true,"keep":true,"path":"texts/1"}
{"group":1,"similarity":100,"same":true,"keep":false,"path":"texts/3"}
{"group":1,"similarity":100,"keep":false,"path":"texts/2"}
{"group":1,"similarity":100,"keep":false,"path":"texts/4"}
END
run 0 "$dedup" -r texts
says ' s: 3 near-duplicates in 1 group; 84 bytes can be deleted (28 identical)'
run 0 "$dedup" --identical -r texts
says ' s: 2 identical documents in 2 groups; 56 bytes can be deleted (56 identical)'
run 0 "$dedup" --stream texts/1 texts/2 texts/3 texts/5
says ' s: 2 new, 2 near-duplicates; 56 bytes left out (28 identical)'
run 0 "$dedup" texts/1 texts/5
says ' s: no near-duplicates'
grep -q bytes err && fail 'bytes of nothing'
run 0 "$dedup" -q --pairs -r texts
sort out | diff - <(printf '%s\ttexts/%s\ttexts/%s\n' 100.0 2 1 100.0 3 2 100.0 4 1 100.0 4 3 same 3 1 same 4 2) ||
	fail '--pairs'
run 0 "$dedup" -q --pairs --identical -r texts
output <<'END'
same	texts/3	texts/1
same	texts/4	texts/2
END

# Of those that are identical among themselves the best stays, though the first of the group has other bytes.
run 0 "$dedup" -q --identical -r texts
output <<'END'
1	same	keep	texts/1
1	same	drop	texts/3
2	same	keep	texts/2
2	same	drop	texts/4
END
run 0 "$dedup" -q --identical --drop-list -r texts
output <<<$'texts/3\ntexts/4'
# What is in a compressed file is not its bytes.
mkdir packed
cp texts/1 packed/1
gzip -nc texts/1 | tee packed/1.gz >packed/2.gz
run 0 "$dedup" -q --drop-list -r packed
output <<<$'packed/1.gz\npacked/2.gz'
run 0 "$dedup" --identical -r packed
[ ! -s out ] || fail 'other bytes are identical'
says '2 files are no texts and were skipped (first: packed/1.gz)'
run 0 "$dedup" -q --identical --binary --drop-list -r packed
output <<<'packed/2.gz'
touch -d '2026-11-20 10:00:00' texts/1 texts/2
touch -d '2026-11-20 10:00:01' texts/3 texts/4
run 0 "$dedup" -q --identical --keep newest --evidence evidence -r texts
output <<'END'
1	same	keep	texts/3
1	same	drop	texts/1
2	same	keep	texts/4
2	same	drop	texts/2
END
[ "$(grep -c '"rule":"equal"' evidence)" -eq 2 ] && [ "$(wc -l <evidence)" -eq 2 ] || fail 'evidence of --identical'
rm evidence

# By the time of a file, and by its directory, whatever its time is.
touch -d '2026-11-20 10:00:02' texts/2
run 0 "$dedup" -q --keep newest -r texts
output <<'END'
1	same	keep	texts/2
1	same	drop	texts/4
1	100.0	drop	texts/1
1	100.0	drop	texts/3
END
run 0 "$dedup" -q --keep oldest -r texts
head -1 out | grep -qx '1	same	keep	texts/1' || fail '--keep oldest'
run 0 "$dedup" --keep newest -F text texts/1 - < <(cat texts/3)
says '1 document has no time of modification, and so stays only where no other has'
mkdir -p dirs/a dirs/b/c dirs/bb
cp texts/1 dirs/a/1
cp texts/1 dirs/b/c/2
cp texts/1 dirs/bb/3
ln -s bb dirs/link
for prefer in dirs/b dirs/b/ ./dirs/../dirs/b "$PWD/dirs/b" dirs/b/c/2; do
	run 0 "$dedup" -q --prefer "$prefer" -r dirs
	head -1 out | grep -qx '1	same	keep	dirs/b/c/2' || fail "--prefer $prefer: $(head -1 out)"
done
run 0 "$dedup" -q --prefer dirs/b dirs/bb/3 dirs/b/c/2
head -1 out | grep -qx '1	same	keep	dirs/b/c/2' || fail '--prefer dirs/b, which dirs/bb begins with'
run 0 "$dedup" -q --prefer dirs/link --prefer dirs/a -r dirs
head -1 out | grep -qx '1	same	keep	dirs/bb/3' || fail 'the first of two --prefer'
# By any of its paths.
ln dirs/bb/3 dirs/b/3
run 0 "$dedup" -q --prefer dirs/bb dirs/a/1 dirs/b/3 dirs/bb/3
head -1 out | grep -qx '1	same	keep	dirs/b/3' || fail '--prefer of another path of a file'
# Whatever --keep says.
printf ' and more of it' >>dirs/a/1
run 0 "$dedup" -q --similarity 0.1 --prefer dirs/bb dirs/a/1 dirs/bb/3
head -1 out | grep -qx '1	same	keep	dirs/bb/3' || fail '--prefer and the longest'
run 0 "$dedup" -q --similarity 0.1 dirs/bb/3 dirs/a/1
head -1 out | grep -qx '1	same	keep	dirs/a/1' || fail 'the longest'

# A text that is changed meanwhile is in no group: nothing goes for it, and it does not go.
mkfifo pipe
mkdir changes
awk 'BEGIN { for (i = 1; i <= 40; i++) printf "w%d ", i }' | tee changes/1 changes/2 >changes/3
printf 'x y' >>changes/2
printf 'x' >>changes/3
("$dedup" -q changes/1 changes/2 changes/3 pipe >out 2>err; echo $? >code) &
{ sleep 0.5; tr w v <changes/2 >texts/new; mv texts/new changes/2; echo something else; } >pipe
wait
[ "$(cat code)" = 1 ] || fail 'exit code of a run with a text that has changed'
output <<'END'
1	same	keep	changes/3
1	97.2	drop	changes/1
END
says 'changes/2: has changed since it was read: left out'

# ---- what does not fit ----

run 2 "$dedup" --identical --stream texts/1
says '--identical is about groups, --drop-list and --pairs, so --stream does not go with it'
run 2 "$dedup" --identical --similarity 0.9 texts/1
says '--identical asks for the same bytes, so --similarity does not go with it'
run 2 "$dedup" --identical --no-verify texts/1
says '--identical is about comparing texts, which --no-verify leaves out'
for option in '--keep newest' '--prefer texts'; do
	# shellcheck disable=SC2086
	run 2 "$dedup" --stream $option texts/1
	says "--stream keeps the first, as what is written cannot be taken back, so ${option% *} does not go with it"
	# shellcheck disable=SC2086
	run 2 "$dedup" --pairs $option texts/1
	says "${option% *} is about what is left out, and with --pairs nothing is"
	# shellcheck disable=SC2086
	run 2 "$dedup" --no-verify $option texts/1
	says "${option% *} is about comparing texts, which --no-verify leaves out"
	printf '00000000000000ff\n00000000000000fe\n' >fps
	# shellcheck disable=SC2086
	run 2 "$dedup" -F lines $option fps
	says "${option% *} is about texts, and the inputs have fingerprints"
done
run 0 "$dedup" -q --stream --keep first texts/1 texts/3
run 0 "$dedup" -q --no-verify --keep first texts/1 texts/3
run 2 "$dedup" --prefer no/such texts/1
says '--prefer: no/such: No such file or directory'
for rule in '' long max max: newest:x longest: maximum:x; do
	run 2 "$dedup" --keep "$rule" texts/1
	says "--keep: expected longest, shortest, newest, oldest, first, max:FIELD or min:FIELD, found '$rule'"
done

# ---- which row stays, against brute force ----

need_json
# 600 rows of 40 to 70 words: half of them are an earlier one with words exchanged, and cut or made longer.
awk "$random"' BEGIN {
	state = 11
	for (i = 1; i <= 600; i++) {
		from = i > 1 && rnd() < .7 ? 1 + int(rnd() * (i - 1)) % 60 : 0
		edits = rnd() < .2 ? 0 : rnd() * 3
		n[i] = from ? n[from] + (rnd() < .3 ? 0 : int(rnd() * 9) - 4) : 40 + int(rnd() * 30)
		line = ""
		for (w = 1; w <= n[i]; w++) {
			if (!from || w > n[from])
				word[i, w] = "w" int(rnd() * 4000)
			else
				word[i, w] = rnd() * 60 < edits ? "x" int(rnd() * 4000) : word[from, w]
			line = line (w > 1 ? " " : "") word[i, w]
		}
		score = rnd() < .1 ? "\"none\"" : rnd() < .1 ? "null" : int(rnd() * 50) / 4 - 5
		date = sprintf("20%02d-0%d-1%dT0%d:00:00%s", rnd() * 30, 1 + rnd() * 9, rnd() * 9, rnd() * 9, rnd() < .5 ? "Z" : "+01:00")
		printf "{\"score\":%s,\"date\":\"%s\",\"label\":\"row %d\",\"text\":\"%s\"}\n", score, date, i, line
	}
}' >rows.jsonl

# The similarity of each pair that shares a run of five words, both ways: line, line, similarity times 1,000,000, 1 if equal.
make_pairs() {
	sed 's/.*"text":"//; s/"}$//' rows.jsonl | shared_runs | awk '{
		is = int(1000000 * $3 / $4 + 1e-6)
		print $1, $2, is, $5
		print $2, $1, is, $5
	}' >pairs
}
make_pairs

# check LIMIT: of all rows, the one with the largest key first (./keys), each stays unless it is near to one that does
# (./pairs). So it must be in ./out; and that each row goes for one that it is near to, by the similarity that is told.
check() {
	awk -F '\t' -v limit="$1" '
	FILENAME == "pairs" { split($0, f, " "); is[f[1], f[2]] = f[3]; same[f[1], f[2]] = f[4]; next }
	FILENAME == "keys" { split($0, f, " "); n = FNR; key[FNR] = f[1]; has[FNR] = f[1] != "-"; next }
	function better(a, b) {
		if (has[a] != has[b]) return has[a]
		if (has[a] && key[a] + 0 != key[b] + 0) return key[a] + 0 > key[b] + 0
		return a < b
	}
	# Whether b stands before c in the group of a.
	function first(a, b, c) {
		if (is[a, b] != is[a, c]) return is[a, b] > is[a, c]
		if (same[a, b] != same[a, c]) return same[a, b]
		return b < c
	}
	function end_group() {
		if (keeper && (least != group || !last)) print "group " group " of " keeper ": the first is " least
		keeper = last = 0
	}
	{ line = $4; sub(/.*[:\/]/, "", line); line += 0
		if (NF > 4 && $5 != "row " line) print "label of " line ": " $5 }
	$3 == "keep" { end_group()
		if ($1 + 0 <= group || $2 != "same") print "group after " group ": " $0
		group = $1 + 0
		keeper = least = line
		kept[line]
		next }
	{ told = same[keeper, line] ? "same" : sprintf("%.1f", int(is[keeper, line] / 1000) / 10)
		if (is[keeper, line] < limit || $2 != told || $1 != group) print "for " keeper ", " told ": " $0
		if (last && first(keeper, line, last)) print "order of " last " and " line
		last = line
		if (line < least) least = line
		if (line in gone) print "twice: " line
		gone[line] }
	END { end_group()
		for (i = 1; i <= n; i++) {
			best = 0
			for (k = 1; k <= n; k++) if (!(k in done) && (!best || better(k, best))) best = k
			done[best]
			goes = 0
			for (k = 1; k <= n_stay && !goes; k++) goes = is[stay[k], best] >= limit
			if (!goes) stay[++n_stay] = best
			if (goes != (best in gone)) print best (goes ? " stays" : " goes")
			if (goes && best in kept) print best " is told to stay"
		}
	}' pairs keys out >wrong
	[ ! -s wrong ] || { fail "$2"; head -5 wrong; }
}
run 0 "$dedup" -q --keep first rows.jsonl
cp out first
[ "$(grep -c drop first)" -gt 150 ] || fail "only $(grep -c drop first) rows are left out"
text_size() { sed 's/.*"text":"//; s/"}$//' rows.jsonl | awk '{ print length($0) }'; }
scores() { sed -E 's/.*"score":([^,]*),.*/\1/; s/("none"|null)/-/' rows.jsonl; }
dates() { sed -E 's/.*"date":"([^"]*)".*/\1/' rows.jsonl | TZ=UTC date -f - +%s; }
negative() { awk '{ print $1 == "-" ? $1 : -$1 }'; }
for rule in longest shortest max:score min:score max:date min:date; do
	case $rule in
	longest) text_size ;;
	shortest) text_size | negative ;;
	max:score) scores ;;
	min:score) scores | negative ;;
	max:date) dates ;;
	min:date) dates | negative ;;
	esac >keys
	run 0 "$dedup" --threads 1 --keep $rule rows.jsonl
	check 800000 "--keep $rule"
	mv out one
	run 0 "$dedup" --threads 3 --memory 64M --keep $rule rows.jsonl
	same one out
	cmp -s first out && fail "--keep $rule changes nothing"
	case $rule in
	*score) says "$(grep -cx -- - keys) documents have no number or date such as 2026-05-03T10:20:30Z for --keep, and so stay only where no other has" ;;
	*) ! grep -q 'no number' err || fail "$rule: values are missing" ;;
	esac
	[ $rule != longest ] || cp out longest
done
# Also by the fraction of a second, to the last digit.
text='"text":"one two three four five six seven"'
for pair in '.19Z .50Z' '.000010Z .000019Z' 'Z .1Z'; do
	for when in $pair; do echo "{\"when\":\"2026-05-03T10:20:30$when\",$text}"; done >when.jsonl
	tac when.jsonl >turned.jsonl
	run 0 "$dedup" -q --keep max:when when.jsonl
	head -1 out | grep -qx '1	same	keep	when.jsonl:2' || fail "--keep max:when of $pair: $(head -1 out)"
	run 0 "$dedup" -q --keep max:when turned.jsonl
	head -1 out | grep -qx '1	same	keep	turned.jsonl:1' || fail "--keep max:when of $pair, turned: $(head -1 out)"
done
run 0 "$dedup" -q rows.jsonl
same out longest
run 0 "$dedup" -q --drop-list rows.jsonl
awk -F '\t' '$3 == "drop" { print $5 }' longest | diff - out >difference || fail '--drop-list'

# Evidence tells of the rows that stay: these groups again. Near misses are of rows that stay.
of() {
	sed -n "s/.*[{,]\"$1\":\"\{0,1\}\([^,\"}]*\).*/\1/p;t;s/.*/-/p" "$2"
}
run 0 "$dedup" -q --accept 600 --all --near-misses 15 --evidence-texts 40 --evidence evidence rows.jsonl
cp out longest.all
grep '"keep":false' evidence >gone
grep '"keep":true' evidence >misses
paste <(of line2 gone) <(of line gone) <(of label2 gone) <(of label gone) <(of rule gone) | sort >told
awk -F '\t' '{ sub(/.*:/, "", $4) } $3 == "keep" { keeper = $4; next }
	{ printf "%s\t%s\trow %s\trow %s\t%s\n", keeper, $4, keeper, $4, $2 == "same" ? "equal" : "text" }' longest.all |
	sort | diff - told >difference || { fail 'evidence of groups'; head -3 difference; }
[ "$(wc -l <misses)" -gt 10 ] || fail "$(wc -l <misses) near misses"
{ of line misses; of line2 misses; } | sort >some
awk -F '\t' '$3 == "drop" { sub(/.*:/, "", $4); print $4 }' longest.all | sort | comm -12 - some >wrong
[ ! -s wrong ] || fail "near misses are told of rows that go: $(head -3 wrong)"
paste -d'|' <(of rule gone) <(of excerpt gone) <(of excerpt2 gone) |
	awk -F'|' '($1 == "equal") != ($2 == $3) || $2 == "-" || $3 == "-" { exit 1 }' || fail 'excerpts of groups'
run 0 "$query" -q review --sample 5 evidence

# Rows of a pipe are put aside, in the memory and on the disk that there is; without room the first stays.
for how in '' '--memory 60M --threads 1'; do
	# shellcheck disable=SC2086
	run 0 "$dedup" -q $how -F jsonl - < <(cat rows.jsonl)
	sed 's/\t-:/\trows.jsonl:/' out | diff longest - >difference || fail "rows of a pipe, $how"
done
run 0 "$dedup" --spill 40K -F jsonl - < <(cat rows.jsonl)
grep -q ' documents cannot be compared again, so the first of their groups stays' err || fail "no room: $(cat err)"
sed 's/\t-:/\trows.jsonl:/' out >short
awk -F '\t' 'FILENAME == "pairs" { split($0, f, " "); is[f[1], f[2]] = f[3]; next }
	{ sub(/.*:/, "", $4) } $3 == "keep" { keeper = $4; next }
	is[keeper, $4] < 800000 && $2 != "fp" { print "not near: " $0 } $4 in gone { print "twice: " $0 } { gone[$4] }' \
	pairs short >wrong
[ ! -s wrong ] || fail "without room: $(head -2 wrong)"

# ---- what stays is not near, in no group and in any ----

# Drafts: A without its end, A, A without its beginning, and A again. The second and the last are near to both others,
# which are not near to each other. Others that have much of the first, and are not near, come between, so that no hash
# leads to it any more, and a search finds the nearest.
awk 'function words(from, to, word,    i) { for (i = from; i <= to; i++) printf word "%d ", i }
	function put(label, from, to) {
		printf "{\"label\":\"%s\",\"text\":\"", label
		words(from, to, "item")
		if (label ~ /^o/)
			words(1, 30, label "x")
		print "\"}" }
	BEGIN { put("k1", 1, 86); put("o1", 1, 70); put("o2", 1, 70); put("o3", 1, 70)
		put("a1", 1, 100); put("k2", 13, 100); put("a2", 1, 100) }' >drafts.jsonl
run 0 "$dedup" -q --keep first drafts.jsonl
cut -f 3,5 out | tr '\n\t' ' :' | grep -qx 'keep:k1 drop:a1 keep:k2 drop:a2 ' || fail "the drafts have one group: nothing is tested: $(cat out)"
run 0 "$dedup" -q drafts.jsonl
cut -f 1-3,5 out | diff - <(printf '1\t%s\n' $'same\tkeep\ta1' $'same\tdrop\ta2' $'87.5\tdrop\tk2' $'85.4\tdrop\tk1') ||
	fail 'drafts of one text'
grep -v '"o' drafts.jsonl >few.jsonl
run 0 "$dedup" -q --near-misses 30 --evidence drafts.evidence few.jsonl
grep -c '"keep":true' drafts.evidence | grep -qx 0 || fail 'near misses name rows that go'
# A row in no group comes before and after what may stay in its place: B is near to A and C, which are not near.
for order in 'A B C' 'A C B' 'C A B' 'B A C' 'B C A' 'C B A'; do
	awk -v order="$order" 'BEGIN { split("A 1 84 B 1 100 C 17 100", f, " "); n = split(order, name, " ")
		for (k = 1; k <= n; k++) for (j = 1; j <= 7; j += 3) if (f[j] == name[k]) {
			printf "{\"label\":\"%s\",\"score\":%d,\"text\":\"", f[j], f[j] == "B" ? 1 : 0
			for (i = f[j + 1]; i <= f[j + 2]; i++) printf "term%d ", i
			print "\"}" } }' >three.jsonl
	for keep in longest max:score; do
		run 0 "$dedup" -q --keep $keep three.jsonl
		cut -f 3,5 out | sort | tr '\n\t' ' :' | grep -qx 'drop:A drop:C keep:B ' || fail "$keep of $order: $(cat out)"
	done
	# If the long one is worse, both others stay.
	run 0 "$dedup" -q --keep min:score three.jsonl
	cut -f 3,5 out | sort | tr '\n\t' ' :' | grep -qx 'drop:B keep:[AC] ' || fail "min:score of $order: $(cat out)"
done

# Families of drafts and cut copies, in any order: as rows, of a pipe, and as files by time and directory.
families() {
	awk -v seed="$1" "$random"'
	function put(from, to,    i, line) {
		for (i = from + 1; i <= to; i++) line = line " " word[i]
		printf "%.6f\t%d\t%s\n", rnd(), rnd() * 40, substr(line, 2)
	}
	BEGIN {
		state = seed
		for (f = 0; f < 40; f++) {
			n = rnd() < .5 ? 130 : 300
			for (i = 1; i <= n; i++) word[i] = sprintf("w%04x%c", rnd() * 65536, 97 + rnd() * 26)
			put(0, n); put(0, int(n * .86)); put(int(n * .12), n); put(0, n)
			for (i = 0; i < 3; i++) put(int(n * rnd() * .1), int(n * (1 - rnd() * .1)))
		}
	}' | sort | awk -F '\t' '{ printf "{\"label\":\"row %d\",\"score\":%s,\"text\":\"%s\"}\n", NR, $2, $3 }'
}
for seed in 5 2026; do
	families $seed >rows.jsonl
	make_pairs
	for keep in longest shortest max:score min:score; do
		case $keep in
		longest) text_size ;;
		shortest) text_size | negative ;;
		max:score) scores ;;
		min:score) scores | negative ;;
		esac >keys
		run 0 "$dedup" -q --threads 1 --keep $keep rows.jsonl
		check 800000 "families $seed, --keep $keep"
		mv out one
		run 0 "$dedup" -q --threads 2 --keep $keep rows.jsonl
		same one out
		run 0 "$dedup" -q --threads 2 --keep $keep -F jsonl - < <(cat rows.jsonl)
		sed 's/\t-:/\trows.jsonl:/' out | cmp - one || fail "families $seed of a pipe, --keep $keep"
	done
done
rm -rf files
mkdir -p files/a files/z
n=$(wc -l <rows.jsonl)
: >keys
while IFS= read -r row; do
	i=$((${i-0} + 1))
	file=$(printf 'files/%s/%03d' "$([ $((3 * i)) -gt $((2 * n)) ] && echo z || echo a)" "$i")
	row=${row##*\"text\":\"}
	printf '%s' "${row%\"\}}" >"$file"
	touch -d "@$((1790000000 + i * 7919 % 977))" "$file"
	echo $((i * 7919 % 977)) >>keys
done <rows.jsonl
run 0 "$dedup" -q --keep newest -r files
check 800000 'the newest of families of files'
text_size | awk -v n="$n" '{ print $1 + (3 * NR > 2 * n) * 100000 }' >keys
run 0 "$dedup" -q --prefer files/z -r files
check 800000 'families of files in a directory that is preferred'
# All that the lists of a run name can go: what is left has nothing near.
run 0 "$dedup" -q --drop-list -0 -r files
xargs -0r rm -- <out
run 0 "$dedup" -r files
says ': no near-duplicates'

# One that is near to 200 others, which are not near to each other; the worst of all. So all these stay.
awk "$random"'BEGIN { state = 4; for (k = 0; k <= 200; k++) {
	printf "{\"label\":\"row %d\",\"score\":%d,\"text\":\"", k + 1, k ? k : -1
	a = 6 + int(rnd() * 50); b = 66 + int(rnd() * 58)
	for (i = 1; i <= 130; i++) printf "%s%s", (i > 1 ? " " : ""), (k && (i == a || i == b) ? "x" k "y" i : "w" i)
	print "\"}" } }' >rows.jsonl
make_pairs
scores >keys
run 0 "$dedup" -q --all --keep max:score rows.jsonl
check 800000 'one for 200'
run 0 "$dedup" -q --all --keep min:score rows.jsonl
negative <keys >some && mv some keys
check 800000 '200 for one'
[ "$(grep -c drop out)" -gt 100 ] || fail "$(grep -c drop out) rows go for one"
cp out one
run 0 "$dedup" -q --all --keep min:score --max-group 20 rows.jsonl
[ "$(grep -c drop out)" -le 40 ] || fail "--max-group 20: $(grep -c drop out) rows go"

# The same bytes are in one group with --identical, though their firsts differ.
run 0 "$dedup" -q --identical --keep max:score rows.jsonl
[ ! -s out ] || fail 'nothing is identical'
run 0 "$dedup" -q --identical drafts.jsonl
cut -f 2,3,5 out | diff - <(printf 'same\t%s\n' $'keep\ta1' $'drop\ta2') || fail 'identical drafts'

# ---- labels ----

# A member that is named is the label, whatever "id" is; rows without one are named by their place.
cat >labels.jsonl <<'END'
{"id":"one","url":"/1","text":"one two three four five six"}
{"id":"two","url":"/2","text":"one two three four five six"}
{"id":3,"text":"one two three four five six"}
{"id":"four","url":"a\tb\nc","text":"one two three four five six"}
END
run 0 "$dedup" -q --label-field url labels.jsonl
printf '1\tsame\t%s\tlabels.jsonl:%s\n' keep $'1\t/1' drop $'2\t/2' drop 3 drop $'4\ta\\tb\\nc' | cmp - out || fail "labels of groups: $(cat out)"
run 0 "$dedup" -q --label-field url --json labels.jsonl
output <<'END'
{"group":1,"similarity":100,"same":true,"keep":true,"path":"labels.jsonl","line":1,"label":"/1"}
{"group":1,"similarity":100,"same":true,"keep":false,"path":"labels.jsonl","line":2,"label":"/2"}
{"group":1,"similarity":100,"same":true,"keep":false,"path":"labels.jsonl","line":3}
{"group":1,"similarity":100,"same":true,"keep":false,"path":"labels.jsonl","line":4,"label":"a\tb\nc"}
END
run 0 "$dedup" -q labels.jsonl
head -2 out | cut -f 5 | diff - <(printf 'one\ntwo\n') || fail 'a string "id" is no label'
run 1 "$dedup" --label-field url --drop-list labels.jsonl
output <<<$'/2\nlabels.jsonl:3'
says '1 name is not listed, because of line ends in it'
run 0 "$dedup" -q --label-field url --drop-list -0 labels.jsonl
printf '%s\0' /2 labels.jsonl:3 $'a\tb\nc' | cmp - out || fail '--drop-list -0 of labels'
sed 's/"two"/2/' labels.jsonl | sed '3s/}/,"label":"three"}/' | head -3 >mixed.jsonl
run 0 "$dedup" -q --pairs mixed.jsonl
printf 'same\tmixed.jsonl:%s\tmixed.jsonl:%s\n' 2 $'1\t\tone' 3 $'1\tthree\tone' 3 $'2\tthree' | cmp - out || fail "labels of pairs: $(cat out)"
run 0 "$dedup" -q --pairs --json mixed.jsonl
output <<'END'
{"similarity":100,"same":true,"path":"mixed.jsonl","line":2,"path2":"mixed.jsonl","line2":1,"label2":"one"}
{"similarity":100,"same":true,"path":"mixed.jsonl","line":3,"label":"three","path2":"mixed.jsonl","line2":1,"label2":"one"}
{"similarity":100,"same":true,"path":"mixed.jsonl","line":3,"label":"three","path2":"mixed.jsonl","line2":2}
END
run 0 "$dedup" -q --stream --dups left-out mixed.jsonl
printf 'same\tmixed.jsonl:%s\tmixed.jsonl:1\t%s\tone\n' 2 '' 3 three | cmp - left-out || fail "labels of --dups: $(cat left-out)"
# An index knows documents by their labels; the row has its own.
run 0 "$dedup" -q --stream --index seen --label-field url --remember text labels.jsonl
sed 's/"url":"/"url":"new/' labels.jsonl >again.jsonl
rm -f left-out
run 0 "$dedup" -q --stream --index seen --label-field url --dups left-out again.jsonl
head -1 left-out | diff - <(printf 'same\tagain.jsonl:1\t/1\tnew/1\n') || fail 'labels of a second day'
rm -f left-out
run 0 "$dedup" -q --stream --against seen --label-field url --json --dups left-out again.jsonl
head -1 left-out | diff - <(echo '{"similarity":100,"same":true,"path":"again.jsonl","line":1,"label":"new/1","label2":"/1","id2":0,"index2":"seen"}') ||
	fail 'labels of another index'
run 0 "$dedup" -q --against seen --label-field url again.jsonl
head -2 out | diff - <(printf '1\tsame\tkeep\t/1\tseen\n1\tsame\tdrop\tagain.jsonl:1\tnew/1\n') || fail 'groups of another index'

# ---- values of columns and of members in objects ----

printf '%s\n' 'id,when,text' 'a,2026-01-02,one two three four five six' 'b,2026-01-03,one two three four five six' \
	'c,,one two three four five six' >dates.csv
run 0 "$dedup" --header --keep max:when dates.csv
printf '1\tsame\t%s\tdates.csv:%s\n' keep $'3\tb' drop $'2\ta' drop $'4\tc' | cmp - out || fail "a column of csv: $(cat out)"
says '1 document has no number or date such as 2026-05-03T10:20:30Z for --keep, and so stays only where no other has'
tail -n +2 dates.csv | tr , '\t' >dates.tsv
run 0 "$dedup" -q --id-field 1 --text-field 3 --keep min:2 dates.tsv
head -1 out | cut -f 3,4 | diff - <(printf 'keep\tdates.tsv:1\n') || fail 'a column of tsv by its number'
run 2 "$dedup" --id-field 1 --text-field 3 --keep min:when dates.tsv
says '--keep: without --header a column number is expected as FIELD, from 1'
run 1 "$dedup" --header --keep max:date dates.csv
says 'the header names no column "date", but'
printf '{"meta":{"stars":%s},"text":"one two three four five six"}\n' 2 1e1 -3.5 '"4"' true >stars.jsonl
run 0 "$dedup" --keep max:meta.stars stars.jsonl
head -1 out | grep -qx '1	same	keep	stars.jsonl:2' || fail "a member of an object: $(cat out)"
says '1 document has no number or date such as 2026-05-03T10:20:30Z for --keep'
run 0 "$dedup" -q --keep min:meta.stars stars.jsonl
head -1 out | grep -qx '1	same	keep	stars.jsonl:3' || fail "the least: $(cat out)"

printf '{"stars":%s,"text":"one two three four five six"}\n' -0.0 0.0 0 >zero.jsonl
run 0 "$dedup" -q --keep max:stars zero.jsonl
head -1 out | grep -qx '1	same	keep	zero.jsonl:1' || fail "zeros are equal: $(cat out)"

# A label in a drop list names one row and no other: neither one that stays nor one that has no text.
cat >shared.jsonl <<'END'
{"label":"x","text":"one two three four five six seven eight"}
{"label":"y","text":"one two three four five six seven"}
{"label":"y","text":"completely other words that are near to nothing at all"}
{"label":"z","text":"one two three four five six seven"}
{"label":"empty","text":""}
{"label":"empty","text":"one two three four five six seven"}
END
run 0 "$dedup" --drop-list --similarity 0.5 shared.jsonl
output <<'END'
shared.jsonl:2
z
shared.jsonl:6
END
says 'simidx-dedup: 2 rows are listed by file and line, as other rows or files have the same label'
finish
