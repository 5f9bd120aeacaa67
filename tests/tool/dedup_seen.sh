#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
#
# What an index has seen, in its file dedup.seen: the next run searches few texts and decides as one that
# searches all, also after kills. A file that does not have all of the index, or is damaged, counts for nothing.
# shellcheck source=tests/tool/tool_lib.sh
. "$SX_SRCDIR/tests/tool/tool_lib.sh"
need_text
need_json

# Three days of rows of 50 words; on the later ones each second row is an earlier one with up to two words
# replaced: its similarity is 100, 80.4 or 64.3 percent.
awk "$random"'BEGIN { state = 7
	for (d = 1; d <= 2600; d++) {
		day = d <= 1800 ? 1 : d <= 2200 ? 2 : 3
		of = day > 1 && d % 2 ? 1 + int(rnd() * (d - 1)) : 0
		k = d % 3
		text = ""
		for (i = 1; i <= 50; i++)
			text = text (w[d, i] = of && !(i % 20 == 10 && i < 20 * k) ? w[of, i] : "w" int(rnd() * 60000)) " "
		printf "{\"label\":\"%d\",\"text\":\"%s\"}\n", d, text >"day" day ".jsonl"
	} }'

# day N INDEX OPTION...: filter the rows of a day; ./out has those that are new, $unsearched how many were not
# searched, $by_hash how many were left out by a hash that led to a near one.
day() {
	rm -f summary
	run 0 "$dedup" -q --stream --index "$2" --summary summary "${@:3}" "day$1.jsonl"
	unsearched=$(grep -o '"unsearched":[0-9]*' summary | cut -d: -f2)
	by_hash=$(grep -o '"by_hash":[0-9]*' summary | cut -d: -f2)
}

# searches_few WHAT, searches_all WHAT: in the last run.
searches_few() {
	[ "$unsearched" -ge 190 ] || fail "$1: of 400 rows $unsearched are not searched"
}
searches_all() {
	[ "$unsearched" -eq 0 ] || fail "$1: $unsearched rows are not searched"
}

# The same rows with the file and without; each kind of memory.
for remember in text sketch fingerprint; do
	rm -rf ix plain
	day 1 ix --remember $remember
	[ "$(stat -c %a ix/dedup.seen)" = "$(stat -c %a ix/data.mdb)" ] || fail 'another mode than that of the data'
	cp -r ix plain
	for n in 2 3; do
		rm -f plain/dedup.seen
		day $n plain
		searches_all "$remember, without a file"
		cp out "want$n"
		[ ! -e plain/dedup.seen ] || fail 'there is a file that does not have all of the index'
		day $n ix
		searches_few "$remember, day $n"
		same out "want$n"
		# Of each day 133 rows are near to another one.
		if [ $remember = fingerprint ]; then
			[ "$by_hash" -eq 0 ] || fail "$by_hash rows by a hash, where fingerprints decide"
		else
			[ "$by_hash" -ge 115 ] || fail "$remember, day $n: $by_hash rows by a hash"
		fi
	done
	[ "$(wc -l <want2)" -gt 200 ] && [ "$(wc -l <want2)" -lt 390 ] || fail "$(wc -l <want2) rows of day 2 are new"
done

# An index of texts after the first day, and what the second one leaves.
rm -rf ix
day 1 ix --remember text
cp -r ix first
day 2 ix
cp out want2
cp -r ix second
rm second/dedup.seen
day 3 second
cp out want3
rm -rf second
cp -r ix second

# A run that puts nothing, as a day that comes again, leaves the file as good as it is.
for turn in 1 2; do
	rm -f summary
	run 0 "$dedup" -q --stream --index ix --summary summary day2.jsonl
	[ ! -s out ] || fail "day 2 again, $turn: $(wc -l <out) rows are new"
done
day 3 ix
searches_few 'after a day that came again'
same out want3

# What others delete while a run goes on is near to nothing from then on, whatever its hashes lead to. The first rows
# are committed as they are decided; then three of them go, and they come again with others.
mkfifo rows
rm -rf ix
"$dedup" -q --stream --index ix --remember text -F jsonl rows >kept 2>told &
exec 8>rows
head -1500 day1.jsonl >&8
until_holds ix 1000
for label in 3 5 8; do
	run 0 "$query" -q delete ix --label $label
done
tail -n +1501 day1.jsonl >&8
head -20 day1.jsonl | sed 's/"label":"/&again-/' >&8
exec 8>&-
wait $! || fail "$(cat told)"
[ "$(grep -o '"label":"again-[0-9]*"' kept | tr -d '\n')" = '"label":"again-3""label":"again-5""label":"again-8"' ] ||
	fail "of rows of which three were deleted come again: $(grep again kept)"

# Killed at any write or sync, and begun again: nothing is lost, and the file still counts.
if [ -e "$SX_BUILDDIR/tests/fault/.libs/libfail.so" ]; then
	need_faults
	killed=0
	for call in write sync; do
		n=$(cp -r first ix.n && count_calls $call "$dedup" -q --stream --index ix.n day2.jsonl)
		rm -rf ix.n
		[ $call != write ] || n_writes=$n
		for ((i = 1; i <= n; i += 1 + n / 12)); do
			rm -rf ix
			cp -r first ix
			with_fault $call $i kill "$dedup" -q --stream --index ix day2.jsonl >all 2>err || killed=$((killed + 1))
			day 2 ix
			sort -u all out | cmp - <(sort want2) || fail "killed at $call $i: other rows"
			searches_few "killed at $call $i"
			day 3 ix
			searches_few "the day after a kill at $call $i"
			same out want3
		done
	done
	[ $killed -gt 10 ] || fail "$killed runs were killed"

	# A disk on which there is no room for a commit: the file gives up its own for the next run.
	refused=0
	for ((i = 1; i <= n_writes; i += 1 + n_writes / 12)); do
		rm -rf ix
		cp -r first ix
		FAIL_ERRNO=28 with_fault write $i once "$dedup" -q --stream --index ix day2.jsonl >out 2>err && continue
		grep -q 'No space left' err || continue
		refused=$((refused + 1))
		[ ! -e ix/dedup.seen ] || [ "$(stat -c %s ix/dedup.seen)" -eq "$(stat -c %s first/dedup.seen)" ] ||
			fail "no room at write $i: the file stays"
	done
	[ $refused -gt 2 ] || fail "$refused runs had no room"
fi

# Each damaged byte is found, and a file that is cut off: such a file is removed.
size=$(stat -c %s first/dedup.seen)
for at in 0 8 16 40 60 4000 $((size / 3)) $((size / 2)) $((size - 300)) $((size - 1)) cut; do
	rm -rf ix
	cp -r first ix
	if [ "$at" = cut ]; then
		truncate -s -1 ix/dedup.seen
	else
		byte=$(od -An -tu1 -j "$at" -N 1 ix/dedup.seen)
		# shellcheck disable=SC2059
		printf "\\x$(printf %02x $((byte ^ 16)))" | dd of=ix/dedup.seen bs=1 seek="$at" conv=notrunc status=none
	fi
	day 2 ix
	searches_all "damaged at $at"
	same out want2
	# Without its first bytes it could be anybody's.
	[ "$at" = 0 ] || [ ! -e ix/dedup.seen ] || fail "damaged at $at: the file stays"
done
printf 'not ours' >ix/dedup.seen
day 2 ix
[ "$(cat ix/dedup.seen)" = 'not ours' ] || fail 'a file of another program is written over'
# That of an earlier format goes.
printf 'simidxS1 and more' >ix/dedup.seen
day 2 ix
[ ! -e ix/dedup.seen ] || fail 'a file of an earlier format stays'
ln -s ../first/dedup.seen ix/dedup.seen
day 3 ix
searches_all 'a link'
[ -L ix/dedup.seen ] || fail 'a link is replaced'

# What others delete leaves the file as good as it is; what they put does not.
rm -rf ix
cp -r first ix
run 0 "$query" -q delete ix --label 17
day 2 ix
searches_few 'one was deleted'
printf '0123456789abcdef\tother\n' >other.tsv
tail -1 day3.jsonl | sed 's/"label":"/&x/' >other.jsonl
for how in '--write insert' '--mode replace --write insert' '--write rebuild'; do
	rm -rf ix
	cp -r second ix
	# shellcheck disable=SC2086
	run 0 "$load" -q $how ix other.jsonl
	day 3 ix
	searches_all "simidx-load $how"
	[ ! -e ix/dedup.seen ] || fail "simidx-load $how: the file stays"
	comm -13 <(sort want3) <(sort out) | grep . && fail "simidx-load $how: rows are new that are not"
done

# The file of another index of as many documents.
head -1500 day1.jsonl >a.jsonl
tail -n +301 day1.jsonl | head -1500 >b.jsonl
for which in a b; do
	run 0 "$dedup" -q --stream --index $which --remember text $which.jsonl
done
cp a/dedup.seen b/dedup.seen
day 2 b
searches_all 'the file of another index'

# Another run has the file; then it lacks what this one has put.
if command -v flock >/dev/null; then
	rm -rf ix
	cp -r first ix
	exec 9<ix/dedup.seen
	flock 9
	day 2 ix
	searches_all 'another run has the file'
	same out want2
	exec 9<&-
	day 3 ix
	searches_all 'a run has had no file'
	same out want3
	[ ! -e ix/dedup.seen ] || fail 'a file stays that lacks documents'
fi

# Two at once: what one of them puts is not in the file of the other.
rm -rf ix
cp -r first ix
"$dedup" -q --stream --index ix day2.jsonl >one 2>err.one &
"$dedup" -q --stream --index ix day3.jsonl >two 2>err.two
wait $! || fail "$(cat err.one)"
cat err.one err.two
cat day1.jsonl one two >all.jsonl
run 0 "$dedup" -q --stream --dups left-out all.jsonl
[ ! -s left-out ] || fail "two at once keep near rows: $(head -2 left-out)"

# An empty index that had documents begins a file again.
rm -rf ix
run 0 "$dedup" -q --stream --index ix --remember text other.jsonl
run 0 "$query" -q delete ix --label x2600
day 1 ix
day 2 ix
searches_few 'an index that was empty'
finish
