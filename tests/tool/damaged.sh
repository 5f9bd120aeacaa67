#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
#
# One flipped bit in a block: dump, backup, --from and searches with --check end with an error that
# names the table and the command that says more, and leave nothing that could be taken for sound.
. "$SX_SRCDIR/tests/tool/tool_lib.sh"

"$helpers/linear_scan" documents 20000 5 >documents.tsv
cut -f 2 documents.tsv >queries
run 0 "$load" -q good documents.tsv
run 0 "$query" backup good tight
run 0 "$query" verify tight
run 0 "$query" dump tight
cp out dump
run 0 "$query" search --check -k 0 good - <queries
[ "$(wc -l <out)" -ge 20000 ] || fail 'a search with --check finds less'

# Nothing that could be saved is left: a backup is what helps.
for size in 0 8192; do
	rm -rf gone
	cp -r tight gone
	truncate -s 0 gone/data.mdb
	truncate -s $size gone/data.mdb
	for command in 'stats gone' 'repair gone new' 'verify gone'; do
		# shellcheck disable=SC2086
		run 2 "$query" $command
		says 'it is no LMDB file'
		says 'gone: if it was an index, restore a backup, or load the documents again'
	done
done

blocks_of tight >blocks

: >named
for page in $(awk 'NR % 12 == 1' blocks); do
	damage tight "$page"
	run 1 "$query" verify copy
	table=$(head -1 out | cut -f 1)
	echo "$table" >>named

	run 1 "$query" backup copy copied
	says "table $table, block with key"
	says "'simidx-query verify copy' lists what is damaged"
	[ ! -e copied ] || fail "a backup of a damaged $table was left"

	case $table in
	docs)
		run 1 "$query" dump copy
		says "table docs, block with key"
		says "'simidx-query verify copy' lists what is damaged"
		# What was printed before is right.
		head -c "$(stat -c %s out)" dump | cmp - out || fail 'a wrong document was dumped'
		run 2 "$load" -q --from copy new
		says 'table docs, block with key'
		[ ! -e new ] || fail 'an index was made from a damaged one'
		run 1 "$query" export --format hbase-sequence copy new
		says 'table docs, block with key'
		[ ! -e new ] || fail 'rows of a damaged index were left'
		run 1 "$query" dump --format full copy
		says 'table docs, block with key'
		tail -1 out | grep -q '^{"documents"' && fail 'a dump of a damaged index looks whole'
		;;
	*)
		run 0 "$query" dump copy
		same out dump
		run 2 "$query" search --check --threads 1 copy - <queries
		says "table $table, block with key"
		says "'simidx-query verify copy' lists what is damaged"
		;;
	esac
done
# A command that is named can be typed as it stands, whatever the path has.
mv copy 'a $(copy)'
run 1 "$query" backup 'a $(copy)' copied
says "'simidx-query verify \"a \\\$(copy)\"' lists what is damaged"
sort named | uniq -c
for table in t01 t02 t03 t04 postings docs; do
	grep -qx $table named || fail "no damage was found in $table"
done
finish
