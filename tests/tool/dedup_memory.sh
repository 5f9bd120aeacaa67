#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
#
# simidx-dedup with little memory: what is too little is refused at the start, what is used up on the way
# loses nothing that was decided, and a run takes no more than --memory says.
. "$SX_SRCDIR/tests/tool/tool_lib.sh"
export TMPDIR=$tmp/own
mkdir "$TMPDIR"

# 56M and 2M for each thread.
: >empty
run 2 "$dedup" --threads 1 --memory 57M -F lines empty
says '--memory: 1 thread needs at least 58M'
run 2 "$dedup" --threads 9 --memory 73M -F lines empty
says '--memory: 9 threads need at least 74M'
run 2 "$dedup" --memory 57M -F lines empty
says 'at least'
run 0 "$dedup" --threads 1 --memory 58M -F lines empty
# As many threads as fit, if their number is not asked for.
run 0 "$dedup" --memory 58M -F lines empty

# Fingerprints that differ in many bits: the number, and a hash of it; every tenth is the one five before.
awk 'BEGIN { for (i = 0; i < 200000; i++) { x = (x * 69069 + 12345) % 4294967296
	if (i % 10 == 9) print old; else printf "%08x%08x\n", x, (i * 40503) % 4294967296
	if (i % 10 == 4) old = sprintf("%08x%08x", x, (i * 40503) % 4294967296) } }' >fps
[ "$(sort -u fps | wc -l)" -eq 180000 ] || fail "$(sort -u fps | wc -l) different fingerprints"

# With 58M, 4M are for the tables, and a document may need 56 bytes: 74,898. For 200,000 it is 10.7M, so
# 71.4M in all.
least=(--threads 1 --memory 58M -k 0 -F lines)
run 2 "$dedup" "${least[@]}" fps
says '--memory is likely to be too small: there are about 200 K documents, which may need --memory 72M'
says 'all before fps:'
place=$(sed -n 's/.* by \([0-9,]*\) documents: all before fps:\([0-9]*\) is decided, and nothing from there on was read$/\1 \2/p' err)
read -r n next <<<"${place//,/}"
[ "$next" -eq $((n + 1)) ] && [ "$n" -gt 74000 ] && [ "$n" -le 74898 ] || fail "ends where: $(tail -1 err)"
mv out ended
head -"$n" fps >prefix
run 0 "$dedup" -q -k 0 -F lines prefix
sed 's/prefix:/fps:/' out | cmp - ended || fail 'the groups of what was read'
[ "$(wc -l <ended)" -eq $((n / 10 * 2)) ] || fail "$(wc -l <ended) lines of groups"
run 0 "$dedup" --memory 72M --threads 1 -k 0 -F lines fps
! grep -q 'memory' err || fail "told of memory: $(cat err)"
# A filter writes what is new up to there. With an index it goes on from there with the next run. A document
# may need 12 bytes: 349,525.
cp fps half
awk '{ print substr($0, 9) substr($0, 1, 8) }' half >>fps
run 2 "$dedup" -q "${least[@]}" --stream --dups dups --index ix fps
says 'is decided, and nothing from there on was read'
mv out all
next=$(sed -n 's/.*all before fps:\([0-9]*\) .*/\1/p' err)
tail -n +"$next" fps >rest
run 0 "$dedup" -q -k 0 -F lines --stream --dups dups --index ix rest
cat out >>all
awk '!seen[$0]++' fps | cmp - all || fail 'what is written before and after the memory is used up'
[ "$(wc -l <dups)" -eq 40000 ] || fail '--dups before and after the memory is used up'
# Without --dups a filter needs nothing to be known of fingerprints.
run 0 "$dedup" "${least[@]}" --stream fps
awk '!seen[$0]++' fps | cmp - out || fail 'a filter of fingerprints'
! grep -q 'memory' err || fail "told of memory: $(cat err)"
mv half fps

# The number of files is known beforehand: nothing is read, and nothing printed.
head -2 fps | tee one >two
awk 'BEGIN { for (i = 0; i < 20000; i++) { print "one"; print "two" } }' >list
run 2 "$dedup" "${least[@]}" --files-from list
says '--memory is too small: there are 40,000 files, which need at least --memory '
[ ! -s out ] || fail 'files were read'
enough=$(sed -n 's/.*--memory \([0-9]*M\)$/\1/p' err)
run 0 "$dedup" --threads 1 --memory "$enough" -k 0 -F lines --files-from list
# What a list from a pipe has is seen as it comes. A path that comes again needs nothing; others do.
run 0 "$dedup" "${least[@]}" --files-from - < <(cat list)
[ "$(wc -l <out)" -eq 4 ] || fail 'groups of files that come again and again'
mkdir no-rows
awk -v long="$(printf 'x%.0s' {1..150})" 'BEGIN { for (i = 0; i < 16000; i++) {
	f = "no-rows/" long i; printf "" >f; close(f); print f } }' >list
run 2 "$dedup" "${least[@]}" --files-from - < <(printf '%s\n' one two; cat list)
says '--memory is used up by 4 documents: all before '
[ "$(wc -l <out)" -eq 4 ] || fail 'groups before a list was too long'

# What the process has for itself stays below --memory, and a megabyte of stack for each thread.
awk 'BEGIN { while (n++ < 250000) { x = (x * 69069 + 12345) % 4294967296
	printf "%08x%08x\n", x, (n * 40503) % 4294967296 } }' >many
limited() {
	(ulimit -s 1024 && ulimit -d $(((64 + 2) * 1024)) && exec "$dedup" --threads 2 --memory 64M "$@")
}
if limited --version >/dev/null 2>&1; then
	run 2 limited -q -k 0 -F lines many
	says '--memory is used up by'
	run 0 limited -q --stream -k 0 -F lines many
	if [ -n "${SX_TEXT-}" ] && [ -n "${SX_JSON-}" ]; then
		awk 'BEGIN { for (i = 0; i < 30000; i++) { printf "{\"text\": \""
			for (w = 0; w < 60; w++) { x = (x * 69069 + 12345) % 4294967296; printf "w%d ", x / 100000 }
			print "\"}" } }' >rows.jsonl
		for how in --stream --pairs --drop-list; do
			run 0 limited -q $how rows.jsonl
		done
		rm -f dups
		run 0 limited -q --stream --dups dups -F jsonl - < <(cat rows.jsonl)
	fi
	# The same of long texts: 40 times 9M would be 360M. Nothing changes.
	if [ -n "${SX_TEXT-}" ]; then
		awk 'BEGIN { while (n++ < 160000) { x = (x * 69069 + 12345) % 4294967296
			printf "%08x request %d of user%d took %d ms: %08x\n", x, n, x % 9973, x % 101,
				(n * 40503) % 4294967296 } }' >long.1
		awk 'NR % 40 == 7 { $2 = "edited" } 1' long.1 >long.2
		[ "$(wc -c <long.1)" -gt 8000000 ] || fail "a long text of $(wc -c <long.1) bytes"
		run 0 "$dedup" -q --threads 1 --memory 1G long.1 long.2
		[ "$(wc -l <out)" -eq 2 ] || fail "long texts that are not near: $(cat out)"
		mv out whole
		run 0 limited -q --threads 1 long.1 long.2
		cmp out whole || fail "long texts in little memory: $(cat out whole)"
		# One that does not fit at all.
		run 1 "$dedup" --threads 1 --memory 58M long.1
		says 'text is longer than the 7 MiB that there is memory for'
	fi
else
	echo 'not limited: this system or build does not allow it'
fi

# Rows of a large index wait until they are an eighth of it, if the memory is enough for them: of 36,000 that
# are put, all wait, or those that have come since fewer were merged.
awk 'BEGIN { for (i = 0; i < 336000; i++) printf "%08x%08x\n", i * 2654435761 % 4294967296, i }' >many
head -n 300000 many >first
tail -n 36000 many >second
run 0 "$load" -q -F tsv --fp-field 1 large first
cp -r large small
waiting=()
for how in '1G large' '70M small'; do
	read -r memory index <<<"$how"
	run 0 "$dedup" -q --threads 1 --memory "$memory" -k 0 -F lines --stream --index "$index" second
	run 0 "$query" stats --json "$index"
	waiting[${#waiting[@]}]=$(grep -o '"fresh_rows":[0-9]*' out | cut -d : -f 2)
done
[ "${waiting[0]}" -eq 36000 ] && [ "${waiting[1]}" -lt 8000 ] || fail "${waiting[*]} rows wait"
finish
