#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
#
# simidx-dedup on texts: groups against a comparison of all with all, for any number of threads and
# size of a batch; which files count; what does not fit.
. "$SX_SRCDIR/tests/tool/tool_lib.sh"
need_text
export TMPDIR=$tmp/own
mkdir "$TMPDIR"

# Texts of 80 to 200 words of 2,000. Every third is an earlier one with up to every fourth word replaced,
# or with some taken away at the end. One text a line.
awk 'function random(n) { x = (x * 69069 + 12345) % 4294967296; return int(x / 4294967296 * n) }
	BEGIN { x = 17
		for (d = 1; d <= 240; d++) {
			if (d % 3 == 0) {
				from = 1 + random(d - 1); n = size[from] - random(2) * random(30)
				every = 4 + random(60)
			} else {
				from = 0; n = 80 + random(120); every = 1
			}
			size[d] = n
			for (i = 1; i <= n; i++) {
				new = random(every) == 0
				word[d, i] = new ? "w" random(2000) : word[from, i]
				printf "%s%s", word[d, i], i < n ? " " : "\n"
			}
		}
	}' >texts
# similarity OTHERS TEXTS: by runs of five words: which text, which other one, and their similarity
# times 1,000, rounded down.
awk '{ for (i = 5; i <= NF; i++) {
		s = $(i - 4) " " $(i - 3) " " $(i - 2) " " $(i - 1) " " $i
		if (!((NR, s) in has)) { has[NR, s]; list[NR, ++n[NR]] = s } } }
	END { for (a = 2; a <= NR; a++) for (b = 1; b < a; b++) {
			both = 0
			for (i = 1; i <= n[a]; i++) if ((b, list[a, i]) in has) both++
			either = n[a] + n[b] - both
			if (both * 2 > either) print a, b, int(both * 1000 / either) } }' texts >similar
mkdir texts.d
awk '{ f = sprintf("texts.d/%03d", NR); print >f; close(f) }' texts

# check_groups LEAST: the groups in ./out are such that each dropped text has the similarity that is
# printed, of LEAST in 1,000 and more, to its keeper; that no two kept ones have that; and that
# the keeper is first, and the others are ordered by their similarity.
check_groups() {
	awk -F '\t' -v least="$1" '
		FILENAME == "similar" { split($0, f, " "); s[f[1], f[2]] = f[3]; next }
		{ doc = substr($4, 9) + 0 }
		$3 == "keep" { if ($1 != doc || $2 != "same" || $1 <= group) print "keeper: " $0
			group = $1; before = 1001; next }
		{ got = $2 == "same" ? 1000 : $2 * 10
			if ($3 != "drop" || $1 != group || sprintf("%d", s[doc, group]) != sprintf("%d", got) ||
			    got < least || got > before) print "member: " $0
			before = got; dropped[doc] }
		END { for (a = 1; a <= 240; a++) for (b = 1; b < a; b++)
			if (s[a, b] >= least && !(a in dropped) && !(b in dropped)) print "kept both: " a, b }
	' similar out >wrong
	[ ! -s wrong ] || { fail "groups are not right"; cat wrong; }
}
run 0 "$dedup" --keep first -r texts.d
cp out groups
[ "$(grep -c drop out)" -ge 20 ] || fail "only $(grep -c drop out) texts are near to others"
check_groups 800
grep -q '^simidx-dedup: 240 documents in .* s: [0-9]* near-duplicates in [0-9]* groups; [0-9,]* bytes can be deleted ([0-9,]* identical)$' err ||
	fail "summary: $(cat err)"
for how in '--threads 1' '--threads 2' '--threads 5' '--memory 64M' '--all'; do
	# shellcheck disable=SC2086
	run 0 "$dedup" -q --keep first $how -r texts.d
	same out groups
	[ ! -s err ] || fail "-q says: $(cat err)"
done
run 0 "$dedup" -r --keep first --similarity 0.6 --accept 400 texts.d
check_groups 600
run 0 "$dedup" -q --keep first --drop-list -r texts.d
sort out >sorted
awk -F '\t' '$3 == "drop" { print $4 }' groups | sort | cmp - sorted || fail '--drop-list'
run 0 "$dedup" -q --keep first --drop-list -0 -r texts.d
tr '\0' '\n' <out | sort | cmp - sorted || fail '--drop-list -0'
# Without the dropped ones there is nothing to do.
tr '\n' '\0' <sorted | xargs -0 rm
run 0 "$dedup" -r texts.d
[ ! -s out ] || fail 'dropped, and there are still duplicates'
[ -z "$(ls -A "$TMPDIR")" ] || fail 'temporary files are left'

# One file by two names is one document, an empty text is near to nothing, and what is no text is left
# out; exit 1 for what was named and cannot be had.
mkdir names
head -1 texts >names/a
ln names/a names/b
ln -s a names/c
cp names/a names/d
printf ', .\n' >names/empty1
: >names/empty2
printf 'a\0b' >names/binary
run 0 "$dedup" -r names names/c names
output <<'END'
1	same	keep	names/a
1	same	drop	names/d
END
says '4 documents'
run 1 "$dedup" names/a names/binary names/d
says 'names/binary: contains a NUL byte, so it is no text'
[ "$(wc -l <out)" -eq 2 ] || fail 'the others are not compared'
# Nothing may be removed that has changed: a pipe is read while the file is exchanged.
mkfifo pipe
("$dedup" names/a names/d pipe >out 2>err; echo $? >code) &
{ sleep 0.5; echo 'quite another text' >names/d; sed -n 2p texts; } >pipe
wait
[ "$(cat code)" = 1 ] && [ ! -s out ] || fail 'a file that has changed is printed'
says 'names/d: has changed since it was read: left out'
says '3 documents in '
says ': no near-duplicates'
says 'texts are near if they have 80 % of their runs of five words in common: --similarity 0.6 finds less similar ones'
run 0 "$dedup" --similarity 0.7 names/a texts
! grep -q 'in common' err || fail 'told of --similarity who has chosen it'
# So it is with one that has as many bytes, and its time put back.
cp names/a names/d
touch -r names/d time
("$dedup" --drop-list names/a names/d pipe >out 2>err; echo $? >code) &
{ sleep 0.5; tr w x <names/a >names/d; touch -r time names/d; sed -n 2p texts; } >pipe
wait
[ "$(cat code)" = 1 ] && [ ! -s out ] || fail 'a file that has changed, but for its time, is printed'
says 'names/d: has changed since it was read: left out'

# Of a file that could go all its paths are printed; and files that are found and are no texts are told.
mkdir paths
head -1 texts >paths/a
cp paths/a paths/b
ln paths/b paths/c
ln -s b paths/link
run 0 "$dedup" -r paths paths/link
output <<'END'
1	same	keep	paths/a
1	same	drop	paths/b
1	same	drop	paths/c
1	same	drop	paths/link
END
says '2 documents in '
says ': 1 near-duplicate in 1 group'
printf 'a\0b' >paths/no-text
printf 'a\0c' >paths/other
run 0 "$dedup" --drop-list -0 -r paths
says '2 files are no texts and were skipped (first: paths/no-text)'
printf '%s\0' paths/b paths/c | cmp - out || fail '--drop-list of hard links'
xargs -0 rm <out
run 0 "$dedup" -q -r paths
[ ! -s out ] || fail 'a path of what was dropped is left'
# Another path that leads to something else by now is not printed.
cp paths/a paths/b
("$dedup" -q --drop-list paths/a paths/b paths/link pipe >out; echo $? >code) &
{ sleep 0.5; ln -sfn a paths/link; sed -n 2p texts; } >pipe
wait
[ "$(cat code)" = 0 ] || fail 'exit code of a run with another path that has changed'
output <<<paths/b
# A file with fewer hard links than before counts as changed.
ln paths/b paths/c
("$dedup" -q --drop-list paths/a paths/b paths/c pipe >out 2>err; echo $? >code) &
{ sleep 0.5; sed -n 3p texts >paths/new; mv paths/new paths/c; sed -n 2p texts; } >pipe
wait
[ "$(cat code)" = 1 ] && [ ! -s out ] || fail 'a file that has lost a hard link is printed'
says 'paths/b: has changed since it was read: left out'

# What reads a drop list may remove what it names: a name with a line end would be two names, and what
# came by standard input is no file.
mkdir ends
for name in a $'q\nvictim' z; do head -1 texts >"ends/$name"; done
run 1 "$dedup" --drop-list -r ends
output <<<ends/z
says '1 name is not listed, because of line ends in it: -0 lists names that have them'
run 0 "$dedup" -q --drop-list -0 -r ends
printf '%s\0' $'ends/q\nvictim' ends/z | cmp - out || fail '--drop-list -0 of a name with a line end'
run 0 "$dedup" -q --drop-list -F text ends/a - < <(cat ends/a)
[ ! -s out ] || fail 'standard input is in a drop list'

# What the run itself makes in a directory of inputs is no input.
run 0 "$dedup" --tmpdir ends -r ends
says '3 documents in '
! grep -q 'no text' err || fail "own files are inputs: $(cat err)"
run 0 "$dedup" -q --stream --tmpdir ends -r ends
output <<<ends/a

# The reason is that of the write, whatever has failed after it.
"$dedup" -q ends/a ends/z >/dev/full 2>err
[ $? -eq 2 ] || fail 'a full disk is no error'
says 'cannot write to standard output: No space left on device'

# Three copies: the last one has two pairs.
for n in 1 2 3; do head -1 texts >paths/$n; done
run 0 "$dedup" -q --pairs --json paths/1 paths/2 paths/3
output <<'END'
{"similarity":100,"same":true,"path":"paths/2","path2":"paths/1"}
{"similarity":100,"same":true,"path":"paths/3","path2":"paths/1"}
{"similarity":100,"same":true,"path":"paths/3","path2":"paths/2"}
END

# What fingerprints alone have decided is in no drop list, unless that is asked for.
if [ -n "${SX_JSON-}" ]; then
	awk '{ for (i = 0; i < 3; i++) printf "{\"text\":\"%s\"}\n", $0; exit }' texts >three.jsonl
	run 0 "$dedup" -q --spill 0 -F jsonl - < <(cat three.jsonl)
	printf '1\t%s\t-:%d\n' same$'\t'keep 1 fp$'\t'drop 2 fp$'\t'drop 3 | cmp - out || fail 'no text is gone'
	run 0 "$dedup" --spill 0 --drop-list -F jsonl - < <(cat three.jsonl)
	[ ! -s out ] || fail 'what fingerprints alone have decided is in a drop list'
	says '2 documents are near by fingerprints alone: not listed, as no texts were compared'
	run 0 "$dedup" -q --no-verify --drop-list -F jsonl three.jsonl
	output < <(printf 'three.jsonl:%d\n' 2 3)
fi

# What cannot be had does not keep others from being compared.
mkdir operands
cp names/a operands/1
cp names/a operands/2
mkdir operands/directory
mkdir operands/directory/below
run 1 "$dedup" no-such-file operands/*
output <<'END'
1	same	keep	operands/1
1	same	drop	operands/2
END
says 'no-such-file: cannot open: No such file or directory'
says 'operands/directory: is a directory (-r reads'
run 2 "$dedup" no-such-file
says 'no-such-file: cannot open: No such file or directory'
# Of directories: files that are no texts are counted.
printf 'b\0c' >operands/directory/one
run 0 "$dedup" -r operands
says '1 file is no text and was skipped (first: operands/directory/one)'
printf 'b\0c' >operands/directory/two
run 0 "$dedup" -r operands
says '2 files are no texts and were skipped (first: operands/directory/one)'

# All pairs of equal texts, though there are more than a text is compared with for groups.
head -1 texts >one
awk '{ for (i = 0; i < 100; i++) print }' one >equal.txt
mkdir equal.d
awk '{ f = sprintf("equal.d/%03d", NR); print >f; close(f) }' equal.txt
for how in '' '--threads 3 --memory 64M'; do
	# shellcheck disable=SC2086
	run 0 "$dedup" -q --pairs $how -r equal.d
	[ "$(sort -u out | wc -l)" -eq 4950 ] || fail "$(sort -u out | wc -l) pairs of 100 texts"
done

# Fewer than five words.
mkdir short
echo 'one two three' >short/1
echo 'ONE, two; three.' >short/2
echo 'one two' >short/3
run 0 "$dedup" -q -r short
output <<'END'
1	same	keep	short/2
1	100.0	drop	short/1
END

# What does not fit.
run 2 "$dedup"
says 'INPUT is missing'
run 2 "$dedup" --files-from no-such-list
says 'no-such-list: cannot open: No such file or directory'
run 2 "$dedup" -
says 'standard input needs its format'
for similarity in 0 1.1 -1 x 0x1 '' ' 1'; do
	run 2 "$dedup" --similarity "$similarity" names/a
	says "--similarity: expected a number above 0 and at most 1, such as 0.8, found '$similarity'"
done
run 2 "$dedup" --pairs --drop-list names/a
says 'only one of --pairs, --drop-list and --stream can be given'
run 2 "$dedup" --index ix names/a
says '--index goes with --stream'
run 2 "$dedup" --json --drop-list names/a
says '--json does not fit --drop-list'
run 2 "$dedup" -k 3 names/a
says '--radius is about fingerprints; for texts it goes with --no-verify'
for option in '--similarity 0.9' --all '--spill 1M'; do
	# shellcheck disable=SC2086
	run 2 "$dedup" --no-verify $option names/a
	says "${option% *} is about comparing texts, which --no-verify leaves out"
done
run 2 "$dedup" --bits 32 names/a
says '--bits is about bare fingerprints, and the inputs have texts'
run 2 "$dedup" -0 names/a
says '-0 is about --files-from, --drop-list, --list-binary and --stream, and none is given'
run 2 "$dedup" --spill 100k names/a
says "--spill: found '100k'; is 100K meant?"
run 2 "$dedup" --spill much names/a
says "--spill: expected a size, such as 500K, 400M or 2G, found 'much'"
run 2 "$dedup" --memory 1M names/a
says '--memory: '
run 2 "$dedup" --tmpdir no-such-directory names/a
says 'no-such-directory: no temporary file can be made: No such file or directory'

# Of what is in the directory of temporary files, only what a run has made is removed: neither what is
# called nearly so, nor what is in a directory with a marker and is not of an index.
for name in results abc123 x; do
	mkdir "$TMPDIR/simidx-dedup-$name"
	echo 'keep me' >"$TMPDIR/simidx-dedup-$name/notes"
done
mkdir -p "$TMPDIR/simidx-dedup-Empty1" "$TMPDIR/simidx-dedup-AbCd12/index" "$TMPDIR/simidx-dedup-AbCd13/index" "$TMPDIR/simidx-dedup-AbCd13/own"
touch "$TMPDIR"/simidx-dedup-AbCd1{2,3}/{simidx-dedup.run,index/data.mdb,index/lock.mdb,index/write.lock}
ln -s "$tmp/names" "$TMPDIR/simidx-dedup-AbCd13/own/link"
run 0 "$dedup" names/a
[ "$(cat "$TMPDIR"/simidx-dedup-{results,abc123,x}/notes | grep -c 'keep me')" = 3 ] || fail 'the directory of somebody else is removed'
[ ! -e "$TMPDIR/simidx-dedup-AbCd12" ] && [ ! -e "$TMPDIR/simidx-dedup-Empty1" ] || fail 'the directory of a run that is gone is left'
[ -L "$TMPDIR/simidx-dedup-AbCd13/own/link" ] && [ -e names/a ] || fail 'what no run has made is removed'
rm -r "$TMPDIR"/simidx-dedup-*
[ -z "$(ls -A "$TMPDIR")" ] || fail 'temporary files are left'

# What is as similar as it must be is near: 8 of 10 runs of five words, and of 11 it is not.
for words in 12 14 15; do
	seq -s ' ' -f 'word%g' "$words" >"limit.$words"
done
run 0 "$dedup" -q --keep first limit.12 limit.14 limit.15
output <<'END'
1	same	keep	limit.12
1	80.0	drop	limit.14
END
run 0 "$dedup" -q --keep first --similarity 0.801 limit.12 limit.14
output </dev/null
finish
