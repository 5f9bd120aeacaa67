#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
#
# Files that are no texts: those of the same bytes with --binary, their names with --list-binary.
. "$SX_SRCDIR/tests/tool/tool_lib.sh"
need_text
export TMPDIR=$tmp/temporary
mkdir "$TMPDIR"

# ---- groups ----

# Two sizes: of one there are two files, of the other more, with equal bytes and without.
mkdir -p disk/sub
printf 'a\0b' >disk/1
echo 'one two three four five six' | tee disk/2 >disk/6
printf 'ab\0c' | tee disk/3 >disk/sub/5
printf 'a\0c' >disk/4
printf 'a\0c' >disk/sub/1
printf 'a\0b' >disk/sub/2
printf 'ab\0d and more' >disk/sub/3
: | tee disk/empty1 >disk/empty2
run 0 "$dedup" --binary -r disk
output <<'END'
2	same	keep	disk/2
2	same	drop	disk/6
1	same	keep	disk/1
1	same	drop	disk/sub/2
3	same	keep	disk/3
3	same	drop	disk/sub/5
4	same	keep	disk/4
4	same	drop	disk/sub/1
END
says 'simidx-dedup: 7 files are no texts and were compared by bytes alone'
says 'simidx-dedup: 11 documents in '
says ' s: 4 near to others, in 4 groups; 38 bytes could go (38 identical)'
cp out groups
grep -q skipped err && fail 'what is compared is skipped'
for how in '--identical' '--no-verify' '--threads 1 --memory 58M' '--json'; do
	# shellcheck disable=SC2086
	run 0 "$dedup" -q --binary $how -r disk
	[ "$how" != --json ] || sed -i -E 's/.*"group":([0-9]+),.*"keep":(true|false),"path":"(.*)"}/\1 same \2 \3/; s/ true / keep /; s/ false / drop /; s/ /\t/g' out
	sed 's/\tfp\t/\tsame\t/' out | diff groups - >difference || { fail "$how"; cat difference; }
done
run 0 "$dedup" -q --binary --drop-list -0 -r disk
awk -F '\t' '$3 == "drop" { printf "%s%c", $4, 0 }' groups | cmp - out || fail '--drop-list -0'
# Without it they are skipped.
run 0 "$dedup" -r disk
head -2 groups | sed 's/^2/1/' | diff - out || fail 'without --binary'
says '7 files are no texts and were skipped (first: disk/1)'
# Files alone that are no texts, named or found; one alone is a document and in no group.
run 0 "$dedup" --binary disk/1 disk/sub/2
output <<'END'
1	same	keep	disk/1
1	same	drop	disk/sub/2
END
run 0 "$dedup" --binary disk/1
says '1 file is no text and was compared by bytes alone'
says '1 document in '
run 1 "$dedup" disk/1 disk/sub/2
says 'disk/1: contains a NUL byte, so it is no text'

# Which one stays, why, and in numbers.
touch -d '2026-11-20 10:00:00' disk/1
touch -d '2026-11-20 10:00:01' disk/sub/2
run 0 "$dedup" -q --binary --keep newest disk/1 disk/sub/2
head -1 out | grep -qx '1	same	keep	disk/sub/2' || fail '--keep newest'
run 0 "$dedup" -q --binary --prefer disk/sub -r disk
grep -c '	keep	disk/sub/' out | grep -qx 3 || fail '--prefer'
run 0 "$dedup" -q --binary --max-group 1 disk/1 disk/sub/2 disk/1 disk/4
[ "$(wc -l <out)" -eq 2 ] || fail '--max-group'
run 0 "$dedup" -q --binary --evidence why --evidence-texts 20 --summary summary -r disk
[ "$(grep -c '"rule":"equal"' why)" -eq 4 ] || fail 'evidence'
grep -qF '"keep":false,"path":"disk/sub/2","format":"binary","path2":"disk/1","format2":"binary"}' why ||
	fail "evidence of a file that is no text: $(cat why)"
grep -qF '"documents":11,"rejected":0,"skipped":0,"binary":7,"near":4,"groups":4,' summary || fail "$(cat summary)"
if [ -n "${SX_JSON-}" ]; then
	run 0 "$query" -q review why
	[ "$(grep -c 'it is no text' out)" -eq 6 ] || fail 'a review of files that are no texts'
fi

# ---- the same file ----

# By another path it counts once, and each path goes. Links that -r finds are not followed.
mkdir links
printf 'l\0' | tee links/a >links/b
ln links/b links/c
ln -s b links/link
run 0 "$dedup" -q --binary -r links
output <<'END'
1	same	keep	links/a
1	same	drop	links/b
1	same	drop	links/c
END
run 0 "$dedup" --binary links/b links/c links/link
[ ! -s out ] || fail 'hard links are copies'
says '1 document in '
# What is no file is not read again: it is rejected as before.
mkfifo pipe
(printf 'l\0' >pipe) &
run 1 "$dedup" --binary links/a pipe links/b
says 'pipe: contains a NUL byte, so it is no text'
output <<'END'
1	same	keep	links/a
1	same	drop	links/b
END
wait
run 1 "$dedup" --binary -F text - <links/a
says 'contains a NUL byte, so it is no text'

# ---- against sums ----

# Files of 1 to 4 sizes that differ in one byte or in none, some of them longer than what is read at once.
mkdir many
head -c 600000 /dev/zero >zeros
awk "$random"' BEGIN {
	state = 5
	for (i = 1; i <= 120; i++) {
		size = i % 4 == 0 ? 262144 : i % 4 == 1 ? 262145 : i % 4 == 2 ? 600000 : 2 + int(rnd() * 6)
		at = rnd() < .3 ? 0 : rnd() < .5 ? size - 1 : int(rnd() * size)
		print i, size, at, 1 + int(rnd() * 2)
	}
}' | while read -r i size at byte; do
	head -c "$size" zeros >"many/$i"
	# shellcheck disable=SC2059
	printf "\\x0$byte" | dd of="many/$i" bs=1 seek="$at" conv=notrunc status=none
done
run 0 "$dedup" -q --binary -r many
grep -q '	drop	' out || fail 'no copies were made'
awk -F '\t' '{ if ($3 == "keep") keeper = $4; print keeper, $4 }' out | sort >told
(cd many && sha256sum ./* | sed 's/ .*\// /' | LC_ALL=C sort -k 2,2) |
	awk '{ sum[NR] = $1; name[NR] = $2; n[$1]++; if (!($1 in first)) first[$1] = $2 }
	END { for (i = 1; i <= NR; i++) if (n[sum[i]] > 1) print "many/" first[sum[i]], "many/" name[i] }' | sort >expected
diff expected told >difference || { fail 'groups are not those of equal sums'; head -5 difference; }

# ---- what is changed or cannot be read ----

# changed COMMAND: two copies are met, then one is changed by the command while a pipe is read.
changed() {
	printf 'c\0opy' | tee copy1 >copy2
	touch -d '2026-11-20 10:00:00' copy1 copy2
	rm -f rejects
	(timeout 60 "$dedup" --binary --rejects rejects copy1 copy2 pipe >out 2>err; echo $? >code) &
	{ sleep 0.5; eval "$1"; echo 'one two three four five six'; } >pipe
	wait
	[ "$(cat code)" = 1 ] && [ ! -s out ] || fail "$1: exit $(cat code): $(cat out)"
	says "copy2: $2"
	says '2 documents in '
	says ', 1 rejected'
	grep -q "^copy2	$2" rejects || fail "--rejects: $(cat rejects)"
	rm -f copy2
}
changed 'printf x >>copy2' 'has changed since it was found'
changed 'printf "c\0opx" >copy2; touch -r copy1 copy2' 'has changed since it was found'
changed 'rm copy2' 'cannot open: No such file or directory'
changed 'rm copy2; mkfifo copy2' 'has changed since it was found'
changed 'ln -sf copy1 copy2' 'has changed since it was found'

# Each read fails in turn: that file is told and in no group, and the other groups are right. A read that
# brings less than it was asked for changes nothing.
if [ -e "$SX_BUILDDIR/tests/fault/.libs/libfail.so" ]; then
	need_faults
	cp groups expected
	rm -f rejects
	command=("$dedup" --threads 1 --binary --rejects rejects -r disk)
	reads=$(count_calls read "${command[@]}")
	[ "$reads" -ge 20 ] || fail "only $reads reads"
	lost=0
	for ((n = 1; n <= reads; n++)); do
		rm -f rejects
		with_fault read "$n" once "${command[@]}" >out 2>err
		code=$?
		[ $code -ne 0 ] || { diff expected out >difference || fail "read $n failed, exit 0, and groups differ"; }
		lost=$((lost + (code == 1)))
		[ $code -ne 1 ] || [ -s rejects ] || fail "read $n failed, exit 1, and nothing is rejected"
		awk -F '\t' '$3 == "drop" { print $4 }' out | grep -vxF -f <(cut -f 4 expected) && fail "read $n: these are no copies"
		rm -f rejects
		# LMDB does not read again what is short.
		with_fault read "$n" short "${command[@]}" >out 2>err ||
			grep -q 'a header page could not be read whole' err || fail "read $n is short: $(head -2 err)"
		[ -s err ] && grep -q 'a header page' err || diff expected out >difference || fail "read $n is short"
	done
	[ $lost -ge 12 ] || fail "of $reads reads that fail only $lost were told"
fi

# What is known of files is in --memory: when that is full, reading ends, and what was read is compared.
# Long names fill it with fewer files.
mkdir full
awk 'BEGIN { for (i = 1; i <= 9000; i++) { f = sprintf("full/%0240d", i); printf "%c%d", 0, i % 4500 >f; close(f) } }'
run 2 "$dedup" --threads 1 --memory 58M --binary --drop-list -r full
says '--memory is used up by '
n=$(sed -n 's/.* used up by \([0-9,]*\) documents.*/\1/p' err | tr -d ,)
[ "$n" -gt 4500 ] && [ "$(wc -l <out)" -eq $((n - 4500)) ] || fail "of $n files $(wc -l <out) are copies"

# ---- names ----

printf 'n\0' | tee $'disk/line\nend' >'disk/a\b'
run 0 "$dedup" -q --list-binary names -r disk
head -2 groups | sed 's/^2/1/' | diff - <(sed 's/^[0-9]*/1/' out) || fail 'groups beside --list-binary'
diff - names <<'END' || fail '--list-binary'
disk/1
disk/3
disk/4
disk/a\\b
disk/line\nend
disk/sub/1
disk/sub/2
disk/sub/3
disk/sub/5
END
rm names
# It is written in a directory that is read, in each way of printing, and of files that are named.
run 1 "$dedup" -q -0 --stream --list-binary disk/names disk/1 $'disk/line\nend' disk/2
printf '%s\0' disk/1 $'disk/line\nend' | cmp - disk/names || fail '--list-binary -0'
rm disk/names
run 0 "$dedup" -q --pairs --list-binary disk/names -r disk
[ "$(wc -l <disk/names)" -eq 9 ] || fail '--list-binary beside --pairs'
rm disk/names
run 0 "$dedup" -q --binary --list-binary names disk/4 disk/2 links/b links/c
diff - names <<<$'disk/4\nlinks/b' || fail '--list-binary beside --binary'

# ---- what does not fit ----

for option in --stream --pairs; do
	run 2 "$dedup" --binary $option disk/1
	says "--binary is about groups and --drop-list, so $option does not go with it"
done
run 2 "$dedup" --list-binary names disk/1
says 'names: is not empty, and --list-binary replaces nothing'
run 2 "$dedup" --list-binary disk/1 disk/1
says 'disk/1: is an input, so --list-binary cannot write to it'
run 2 "$dedup" --list-binary - disk/1
says '--list-binary: standard output has what is found; name a file'
run 2 "$dedup" --rejects both --list-binary both disk/1
says 'need a file each'
[ -e /dev/full ] && { run 2 "$dedup" -q --list-binary /dev/full -r disk; says '/dev/full: cannot write all names of files that are no texts'; }
printf '1\t00000000000000ff\tlabel\n' >some.tsv
run 1 "$dedup" --binary some.tsv disk/1
says 'disk/1: a text, and the inputs before have fingerprints'
finish
