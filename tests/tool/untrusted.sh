#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
#
# A page of the file that says that it is three pages: no command uses such an index with
# --untrusted, and verify never does.
. "$SX_SRCDIR/tests/tool/tool_lib.sh"

"$helpers/linear_scan" documents 20000 5 >documents.tsv
head -40 documents.tsv >more.tsv
cut -f 2 documents.tsv >fps
run 0 "$load" -q --ids none -F lines bare fps
run 0 "$load" -q good documents.tsv
run 0 "$query" verify good

# The first block: an overflow page, which begins with its own number and has the flag 4 at byte 10;
# at byte 12 it says how many pages its value has.
pages=$(($(stat -c %s good/data.mdb) / 4096))
for ((page = 2; page < pages; page++)); do
	[ "$(od -An -tu8 -j $((page * 4096)) -N 8 good/data.mdb)" -eq $page ] || continue
	[ "$(od -An -tu2 -j $((page * 4096 + 10)) -N 2 good/data.mdb)" -ne 4 ] || break
done
[ "$page" -lt "$pages" ] || fail 'no block found'
cp -r good bad
printf '\3' | dd of=bad/data.mdb bs=1 seek=$((page * 4096 + 12)) conv=notrunc status=none
cp bad/data.mdb before

# refused CODE COMMAND...: the page is named, and the file is as it was.
refused() {
	run "$@"
	says ': bad: '
	says ': page '
	says ' is used, or free, a second time'
	cmp -s bad/data.mdb before || fail "changed by ${*:2}"
}

refused 2 "$query" search --untrusted bad 0123456789abcdef
refused 2 "$query" get --untrusted bad 5
refused 1 "$query" dump --untrusted bad
refused 2 "$query" stats --untrusted bad
refused 1 "$query" backup --untrusted bad copy
[ ! -e copy ] || fail 'a copy was made'
refused 2 "$query" plan --untrusted bad
refused 2 "$load" --untrusted bad more.tsv
refused 2 "$load" --untrusted --write rebuild bad more.tsv
refused 2 "$load" --untrusted --create truncate bad more.tsv
says 'bad: only an index that can be read is replaced: remove this one first'
refused 2 "$load" --create truncate bad more.tsv
refused 2 "$load" --untrusted --from bad new
[ ! -e new ] || fail 'an index was made'

# verify does without the option.
run 1 "$query" verify bad
says 'simidx-query: bad: damaged'
grep -q ' is used, or free, a second time' out || fail 'verify does not name the page'
cmp -s bad/data.mdb before || fail 'changed by verify'

# Without the option a page of nonsense can end a program, which says what helps.
for ((page = 2; page < pages; page++)); do
	[ "$(od -An -tu2 -j $((page * 4096 + 10)) -N 2 good/data.mdb)" -eq 2 ] || continue
	cp good/data.mdb bad/data.mdb
	yes nonsense | head -c 4080 | dd of=bad/data.mdb bs=1 seek=$((page * 4096 + 16)) conv=notrunc status=none
	"$query" stats bad >out 2>err && continue
	code=$?
	[ $code -ge 128 ] || continue
	says "ended while an index was open, which may be damaged: 'simidx-query verify bad' tells"
	run 1 "$query" verify bad
	says 'bad: damaged: '
	run 2 "$query" stats --untrusted bad
	says 'impossible place or size'
	break
done
[ "$page" -lt "$pages" ] || fail 'no page of nonsense ends a program'

# What is sound is used as without it.
for index in good bare; do
	run 0 "$query" dump "$index"
	mv out documents
	run 0 "$query" dump --untrusted "$index"
	cmp -s out documents || fail "another dump of $index"
	run 0 "$query" backup --untrusted "$index" "$index.copy"
	run 0 "$query" verify "$index.copy"
done
cut -f 2 more.tsv >new
run 0 "$load" -q -F lines --untrusted --merge always good new
run 0 "$query" verify good
says ' 20,040 documents'
finish
