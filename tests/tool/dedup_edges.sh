#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
#
# Edges of simidx-dedup: the limit of similarity, texts without words, inputs that are all wrong, a full
# disk, and an index that is damaged.
. "$SX_SRCDIR/tests/tool/tool_lib.sh"
need_text
export TMPDIR=$tmp/temporary
mkdir "$TMPDIR"

# The limit itself is near: 10 runs of 5 words and 8 of them, and then 7. The longer texts have 999 and 1,000.
words() { seq -f 'w%g' "$1" | tr '\n' ' '; }
words 14 >a
words 12 >b
run 0 "$dedup" --accept 30000 a b
output <<<$'1\tsame\tkeep\ta\n1\t80.0\tdrop\tb'
words 11 >b
run 0 "$dedup" --accept 30000 a b
output </dev/null
words 1004 >a
words 803 >b
run 0 "$dedup" --accept 30000 a b
output </dev/null
words 804 >b
run 0 "$dedup" --accept 30000 a b
output <<<$'1\tsame\tkeep\ta\n1\t80.0\tdrop\tb'
run 0 "$dedup" --accept 30000 --similarity 0.801 a b
output </dev/null

# What is compared follows --similarity: with another word at every 10th place, 100 of 196 runs are in
# both, which is a similarity of 0.342. That far apart texts are not compared by default.
seq 200 | awk '{ print "w" $1 }' >far1
seq 200 | awk '{ print (NR % 10 ? "w" : "other") $1 }' >far2
run 0 "$dedup" far1 far2
output </dev/null
run 0 "$dedup" --similarity 0.3 far1 far2
grep -q '^1	34.2	drop	far1$' out || fail 'a similarity of 0.342'
run 0 "$dedup" --similarity 0.3 --accept 200 far1 far2
output </dev/null
rm far1 far2

# The same bytes are always near: without words for the comparison, and without words at all. Empty
# files are near to nothing.
printf ': : @ | :::' | tee few1 >few2
printf '@ @ @ @ @ !' >few3
printf '\360\237\230\200' | tee none1 >none2
printf '\360\237\230\201' >none3
: >empty1
: >empty2
run 0 "$dedup" few1 few2 few3 none1 none2 none3 empty1 empty2
output <<<$'1\tsame\tkeep\tfew1\n1\tsame\tdrop\tfew2\n4\tsame\tkeep\tnone1\n4\tsame\tdrop\tnone2'
says ' texts have no words: of these an empty one is near to nothing, another only to the same bytes'
for i in 1 2; do
	run 0 "$dedup" --stream --index nowords few1 few3 none1 none3
	[ "$(wc -l <out)" -eq $((i == 1 ? 4 : 0)) ] || fail "run $i: $(cat out)"
done

# So it is where more texts than are compared have the same fingerprints, as of the same symbols in another order.
if [ -n "${SX_JSON-}" ]; then
	orders() {
		local i
		[ -n "$2" ] || echo "{\"text\":\"${1# }\"}"
		for ((i = 0; i < ${#2}; i++)); do
			orders "$1 ${2:i:1}" "${2:0:i}${2:i+1}"
		done
	}
	orders '' ':@|#^' >orders
	cat orders orders >twice.jsonl
	for how in '--threads 1' '--memory 64M' '--index crowded'; do
		run 0 "$dedup" -q --stream $how twice.jsonl
		cmp orders out || fail "$how: $(wc -l <out) of 120 texts"
	done
	run 0 "$dedup" twice.jsonl
	says ': 120 near-duplicates in 120 groups'
fi

# A directory without -r is no input; among others it does not keep them from being read.
mkdir directory
cp a directory
run 2 "$dedup" directory
says 'directory: is a directory: -r reads the files in it'
run 0 "$load" -q -F lines an-index - <<<00000000000000ff
run 2 "$dedup" an-index
says 'an-index: is an index, and INPUTs are files: --index and --against name indexes'
run 2 "$dedup" --stream lines.jsonl an-index
says 'an-index: is an index, and INPUTs are files: --index and --against name indexes'
output </dev/null
# With -r a folder may have a file of that name.
mkdir with-data && : >with-data/data.mdb && cp a with-data
run 0 "$dedup" -r with-data
run 2 "$dedup" 'none*.txt'
says 'none*.txt: cannot open: No such file or directory; a shell replaces * and ? where files match, and not in quotes'
run 1 "$dedup" directory a
says 'directory: is a directory (-r reads'

# Where all rows are wrong, it is the options; where some are, they are counted.
if [ -n "${SX_JSON-}" ]; then
	seq 5000 | sed 's/.*/{"content":"a text of some words, number &"}/' >rows.jsonl
	run 2 "$dedup" --stream rows.jsonl
	says 'the first 1,000 rows were all rejected, the last one because: '
	[ "$(grep -c '^simidx-dedup: rows.jsonl:' err)" -eq 3 ] || fail 'the file was read to its end'
	{ echo '{"text":"of this row there is one"}' && cat rows.jsonl; } >mixed.jsonl
	run 1 "$dedup" --stream mixed.jsonl
	output <<<'{"text":"of this row there is one"}'
	says '1 document in '
	says ': 1 new, 0 near-duplicates, 5,000 rejected'
fi

# In a group the most similar come first, and of those that have all in common the identical ones.
words='one two three four five six seven eight'
printf '%s\n' "$words" "$words nine" "${words^^}" "$words" "${words^}" >order
run 0 "$dedup" -q --keep first --similarity 0.7 -F tsv --text-field 1 order
output <<'END'
1	same	keep	order:1
1	same	drop	order:4
1	100.0	drop	order:3
1	100.0	drop	order:5
1	80.0	drop	order:2
END

# No room for temporary files.
if [ -e "$SX_BUILDDIR/tests/fault/.libs/libfail.so" ]; then
	need_faults
	n=$(count_calls allocate "$dedup" a b)
	[ "$n" -gt 0 ] || fail 'nothing reserves room'
	export FAIL_ERRNO=28
	run 2 with_fault allocate 1 on "$dedup" a b
	unset FAIL_ERRNO
	says "simidx-dedup: no room in $TMPDIR for temporary files: --tmpdir names another directory"
fi

# An index that is damaged in a few bytes, 60 times: checked before it is used it ends no run by a signal, and
# neither does one of another user.
seq 3000 | awk '{ printf "%016x\n", $1 * 2654435761 * 40503 }' >fps
run 0 "$load" -q -F lines seen fps
echo ffffffffffff0000 >new
run 2 "$dedup" --untrusted -F lines new
says '--untrusted is about the indexes of --index and --against'
run 0 "$dedup" -q --stream --untrusted --index seen -F lines new
output <new
size=$(stat -c %s seen/data.mdb)
refused=0
for ((seed = 1; seed <= 60; seed++)); do
	rm -rf bad
	cp -r seen bad
	for ((i = 1; i <= 6; i++)); do
		at=$(((seed * 7919 + i * 104729 + seed * seed * i * 31) % size))
		# Half of them where pages say what they are.
		[ $((i % 2)) -eq 0 ] || at=$((at / 4096 * 4096 + at % 40))
		printf "\\$(printf %o $(((seed * 37 + i * 101) % 256)))\\$(printf %o $(((seed * 53 + i * 29) % 256)))" |
			dd of=bad/data.mdb bs=1 seek=$at conv=notrunc status=none
	done
	option=--untrusted
	if [ $((seed % 2)) -eq 0 ] && chown 12345 bad/data.mdb 2>/dev/null; then option=; fi
	timeout 60 "$dedup" -q $option --stream --index bad -F lines new >out 2>err
	code=$?
	[ $code -le 2 ] || fail "seed $seed: exit $code"
	refused=$((refused + (code == 2)))
done
[ $refused -ge 20 ] || fail "$refused of 60 damaged indexes were refused"

finish
